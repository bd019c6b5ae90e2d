//! Graph's JSON of a message.
//!
//! Everything is read from the letter on request. What takes decoding is only
//! made where it is wanted, so that a list of subjects costs no bodies.

use serde_json::{Map, Value, json};

use crate::graph::error::Refusal;
use crate::graph::exchange::Store;
use crate::graph::exchange::folders;
use crate::graph::exchange::office::Notes;
use crate::graph::pages;
use crate::graph::params::{Options, Prefer};
use crate::graph::people::{self, Person};
use crate::graph::zones::time;
use crate::store::head::{self, Field};
use crate::store::letter::Letter;
use crate::store::mime;

/// The properties of a message, in the order of the wire.
pub(crate) const PROPERTIES: [&str; 27] = [
    "id",
    "createdDateTime",
    "lastModifiedDateTime",
    "changeKey",
    "categories",
    "receivedDateTime",
    "sentDateTime",
    "hasAttachments",
    "internetMessageId",
    "subject",
    "bodyPreview",
    "importance",
    "parentFolderId",
    "conversationId",
    "isRead",
    "isDraft",
    "webLink",
    "inferenceClassification",
    "internetMessageHeaders",
    "body",
    "sender",
    "from",
    "toRecipients",
    "ccRecipients",
    "bccRecipients",
    "replyTo",
    "flag",
];

/// How much a letter matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Importance {
    Low,
    Normal,
    High,
}

impl Importance {
    /// By the label that Gmail gives.
    pub fn of(letter: &Letter) -> Self {
        match letter.has("IMPORTANT") {
            true => Self::High,
            false => Self::Normal,
        }
    }

    /// By that, and by what was said of it here.
    pub fn noted(letter: &Letter, notes: &Notes) -> Self {
        match (Self::of(letter), notes.low) {
            (Self::Normal, true) => Self::Low,
            (known, _) => known,
        }
    }

    /// The word on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }
}

/// `focused`, but for the tabs that Gmail takes out of the inbox.
fn inference(letter: &Letter) -> &'static str {
    let aside = |id: &String| id.starts_with("CATEGORY_") && id != "CATEGORY_PERSONAL";
    match letter.labels.iter().any(aside) {
        true => "other",
        false => "focused",
    }
}

/// The state of the flag.
pub(crate) fn flag(letter: &Letter, notes: &Notes) -> &'static str {
    match (letter.has("STARRED"), notes.complete) {
        (true, _) => "flagged",
        (false, true) => "complete",
        (false, false) => "notFlagged",
    }
}

/// The flag of a message as it is told.
fn flag_json(letter: &Letter, notes: &Notes) -> Value {
    let status = flag(letter, notes);
    let mut flag = Map::new();
    flag.insert("flagStatus".to_owned(), status.into());
    if status != "notFlagged" {
        flag.extend(notes.flag.clone());
    }
    flag.into()
}

/// The Message-ID with its brackets, where there is one.
pub(super) fn internet_message_id(letter: &Letter) -> Option<String> {
    let id = &letter.facts.message_id;
    (!id.is_empty()).then(|| format!("<{id}>"))
}

/// When a letter was changed last, in milliseconds since 1970.
pub(super) fn changed(letter: &Letter, notes: &Notes) -> i64 {
    let date = letter.facts.date;
    notes.changed.map_or(date, |changed| changed.max(date))
}

/// A message with the properties that are wanted.
pub(crate) fn message(
    store: Store<'_>,
    letter: &Letter,
    options: &Options<'_>,
    prefer: &Prefer,
) -> Result<Map<String, Value>, Refusal> {
    let section = mime::header_section(&letter.raw);
    let (notes, fields) = (store.notes(letter), head::fields(section));
    let maker = Maker { store, letter, prefer, notes, fields };
    let mut message = Map::new();
    if let Some(method) = letter.calendar_method() {
        let kind = match method.to_ascii_uppercase().as_str() {
            "REQUEST" => "eventMessageRequest",
            "REPLY" | "COUNTER" => "eventMessageResponse",
            _ => "eventMessage",
        };
        let name = format!("#microsoft.graph.{kind}");
        message.insert("@odata.type".to_owned(), name.into());
    }
    let etag = format!("W/\"{}\"", store.change_key(letter));
    message.insert("@odata.etag".to_owned(), etag.into());
    for name in PROPERTIES {
        let wanted = match name {
            "id" => true,
            // Comes only when it is named.
            "internetMessageHeaders" => options.names(name),
            _ => options.wants(name),
        };
        if let Some(value) = wanted.then(|| maker.property(name)).flatten() {
            message.insert(name.to_owned(), value);
        }
    }
    Ok(message)
}

/// What a message is made of.
struct Maker<'a> {
    store: Store<'a>,
    letter: &'a Letter,
    prefer: &'a Prefer,
    notes: Notes,
    fields: Vec<Field<'a>>,
}

impl Maker<'_> {
    /// One property; nothing for what this letter does not have at all.
    fn property(&self, name: &str) -> Option<Value> {
        let (store, letter) = (self.store, self.letter);
        let ids = store.ids();
        Some(match name {
            "id" => store.message_id(letter, self.prefer.immutable).into(),
            "createdDateTime" | "receivedDateTime" | "sentDateTime" => {
                time(letter.facts.date).into()
            }
            "lastModifiedDateTime" => time(changed(letter, &self.notes)).into(),
            "changeKey" => store.change_key(letter).into(),
            "categories" => store.categories(letter).into(),
            "hasAttachments" => (!letter.filenames().is_empty()).into(),
            "internetMessageId" => internet_message_id(letter).into(),
            "subject" => letter.facts.subject.as_str().into(),
            "bodyPreview" => letter.preview().into(),
            "importance" => Importance::noted(letter, &self.notes).name().into(),
            "parentFolderId" => ids.folder(folders::number_of(letter)).into(),
            "conversationId" => ids.conversation(letter.thread).into(),
            "isRead" => (!letter.has("UNREAD")).into(),
            "isDraft" => letter.has("DRAFT").into(),
            "webLink" => {
                let id = store.message_id(letter, self.prefer.immutable);
                pages::web_link(&id).into()
            }
            "inferenceClassification" => inference(letter).into(),
            "internetMessageHeaders" => {
                let fields = self.fields.iter();
                fields
                    .map(|field| json!({ "name": field.name, "value": field.received_by("") }))
                    .collect()
            }
            "body" => self.body(),
            // A draft that nobody has begun to send has neither.
            "from" => store.from(letter)?.json(),
            "sender" => store.sender(letter)?.json(),
            "toRecipients" => self.recipients("To"),
            "ccRecipients" => self.recipients("Cc"),
            "bccRecipients" => self.recipients("Bcc"),
            "replyTo" => self.recipients("Reply-To"),
            _ => flag_json(letter, &self.notes),
        })
    }

    fn recipients(&self, field: &str) -> Value {
        let people = people::persons(&self.fields, field);
        people.iter().map(Person::json).collect()
    }

    /// The body as it was written: HTML where there is some, else plain text.
    fn body(&self) -> Value {
        let (plain, html) = self.letter.shown_texts();
        let (kind, texts) = match html.is_empty() {
            true => ("text", plain),
            false => ("html", html),
        };
        json!({ "contentType": kind, "content": texts.join("\r\n") })
    }
}
