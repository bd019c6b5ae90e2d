//! Graph's JSON of a message.
//!
//! It is built from the message on each request. Properties that need decoding are built only if
//! they are selected, so that a list of subjects decodes no bodies.

use serde_json::{Map, Value, json};

use crate::graph::exchange::ExchangeMailbox;
use crate::graph::exchange::folders;
use crate::graph::exchange::state::MessageNotes;
use crate::graph::pages;
use crate::graph::params::{PreferHeader, QueryOptions};
use crate::graph::people::{self, EmailAddress};
use crate::graph::types::mail::MESSAGE;
use crate::graph::zones::time;
use crate::store::head::{self, HeaderField};
use crate::store::message::Message;
use crate::store::mime;

/// The importance of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageImportance {
    Low,
    Normal,
    High,
}

impl MessageImportance {
    /// Returns the importance according to Gmail's label.
    pub fn from_message(message: &Message) -> Self {
        if message.has("IMPORTANT") { Self::High } else { Self::Normal }
    }

    /// Returns the importance according to Gmail's label and the notes of this half.
    pub fn from_notes(message: &Message, notes: &MessageNotes) -> Self {
        match (Self::from_message(message), notes.low) {
            (Self::Normal, true) => Self::Low,
            (known, _) => known,
        }
    }

    /// Returns Graph's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }
}

/// Returns `other` for messages in the tabs that Gmail keeps out of the primary inbox, and
/// `focused` for all others.
fn inference(message: &Message) -> &'static str {
    let aside = |id: &String| id.starts_with("CATEGORY_") && id != "CATEGORY_PERSONAL";
    if message.labels.iter().any(aside) { "other" } else { "focused" }
}

/// Returns the state of the flag.
pub(crate) fn flag(message: &Message, notes: &MessageNotes) -> &'static str {
    match (message.has("STARRED"), notes.complete) {
        (true, _) => "flagged",
        (false, true) => "complete",
        (false, false) => "notFlagged",
    }
}

/// Returns the flag of a message in Graph's format.
fn flag_json(message: &Message, notes: &MessageNotes) -> Value {
    let status = flag(message, notes);
    let mut flag = Map::new();
    flag.insert("flagStatus".to_owned(), status.into());
    // Gmail's half may have removed the star since the times were set.
    if status != "notFlagged" {
        flag.extend(notes.flag.clone());
    }
    flag.into()
}

/// Returns the Message-ID with its angle brackets, if there is one.
pub(super) fn internet_message_id(message: &Message) -> Option<String> {
    let id = &message.facts.message_id;
    (!id.is_empty()).then(|| format!("<{id}>"))
}

/// Returns the time of a message's last change, in milliseconds since 1970.
pub(super) fn last_modified(message: &Message, notes: &MessageNotes) -> i64 {
    let date = message.facts.date;
    notes.changed.map_or(date, |changed| changed.max(date))
}

/// Returns a message with the selected properties.
pub(crate) fn json(
    store: ExchangeMailbox<'_>,
    message: &Message,
    options: &QueryOptions<'_>,
    prefer: &PreferHeader,
) -> Map<String, Value> {
    let section = mime::header_section(&message.raw);
    let (notes, fields) = (store.notes(message), head::fields(section, &message.raw));
    let serializer = MessageSerializer { store, message, prefer, notes, fields };
    let mut json = Map::new();
    if let Some(method) = message.calendar_method() {
        let kind = match method.to_ascii_uppercase().as_str() {
            // Clients recognise meeting messages by this type, because the calendar part is not in
            // the body.
            "REQUEST" => "eventMessageRequest",
            "REPLY" | "COUNTER" => "eventMessageResponse",
            _ => "eventMessage",
        };
        let name = format!("#microsoft.graph.{kind}");
        json.insert("@odata.type".to_owned(), name.into());
    }
    let etag = format!("W/\"{}\"", store.change_key(message));
    json.insert("@odata.etag".to_owned(), etag.into());
    for name in MESSAGE.names() {
        let included = match name {
            "id" => true,
            // Returned only if it is selected by name.
            "internetMessageHeaders" => options.names(name),
            _ => options.wants(name),
        };
        if let Some(value) = included.then(|| serializer.property(name)).flatten() {
            json.insert(name.to_owned(), value);
        }
    }
    if options.sizes {
        // Exchange writes the property's number without its leading zero.
        let size = json!({"id": "Integer 0xe08", "value": message.raw.len().to_string()});
        json.insert("singleValueExtendedProperties".to_owned(), json!([size]));
    }
    json
}

/// The source of a message's properties.
struct MessageSerializer<'a> {
    store: ExchangeMailbox<'a>,
    message: &'a Message,
    prefer: &'a PreferHeader,
    notes: MessageNotes,
    fields: Vec<HeaderField<'a>>,
}

impl MessageSerializer<'_> {
    /// Returns a property; `None` if the message does not have it at all.
    fn property(&self, name: &str) -> Option<Value> {
        let (store, message) = (self.store, self.message);
        let ids = store.ids();
        Some(match name {
            "id" => store.message_id(message, self.prefer.immutable).into(),
            "createdDateTime" | "receivedDateTime" | "sentDateTime" => {
                time(message.facts.date).into()
            }
            "lastModifiedDateTime" => time(last_modified(message, &self.notes)).into(),
            "changeKey" => store.change_key(message).into(),
            "categories" => store.categories(message).into(),
            "hasAttachments" => (!message.filenames().is_empty()).into(),
            "internetMessageId" => internet_message_id(message).into(),
            "subject" => message.facts.subject.as_str().into(),
            "bodyPreview" => message.preview().into(),
            "importance" => MessageImportance::from_notes(message, &self.notes).name().into(),
            "parentFolderId" => ids.folder(folders::number_of(message)).into(),
            "conversationId" => ids.conversation(message.thread).into(),
            "isRead" => (!message.has("UNREAD")).into(),
            "isDraft" => message.has("DRAFT").into(),
            "webLink" => {
                let id = store.message_id(message, self.prefer.immutable);
                pages::web_link(&id).into()
            }
            "inferenceClassification" => inference(message).into(),
            "internetMessageHeaders" => head::received_by(&self.fields, "", |_| true)
                .map(|(name, value)| json!({ "name": name, "value": value }))
                .collect(),
            "body" => self.body(),
            // A draft has neither until it is sent.
            "from" => store.from(message)?.json(),
            "sender" => store.sender(message)?.json(),
            "toRecipients" => self.recipients("To"),
            "ccRecipients" => self.recipients("Cc"),
            "bccRecipients" => self.recipients("Bcc"),
            "replyTo" => self.recipients("Reply-To"),
            "flag" => flag_json(message, &self.notes),
            _ => return None,
        })
    }

    fn recipients(&self, field: &str) -> Value {
        let people = people::persons(&self.fields, field);
        people.iter().map(EmailAddress::json).collect()
    }

    /// Returns the body: HTML if there is one, or else plain text.
    fn body(&self) -> Value {
        let (plain, html) = self.message.shown_texts();
        let (kind, texts) = if html.is_empty() { ("text", plain) } else { ("html", html) };
        json!({ "contentType": kind, "content": texts.join("\r\n") })
    }
}
