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
use crate::graph::params::{BodyForm, Options, Prefer};
use crate::graph::people::{self, Person};
use crate::graph::zones::time;
use crate::store::head::{self, Field};
use crate::store::letter::Letter;
use crate::store::mime;

/// The properties of a message, in the order of the wire.
pub(crate) const PROPERTIES: [&str; 31] = [
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
    "conversationIndex",
    "isDeliveryReceiptRequested",
    "isReadReceiptRequested",
    "isRead",
    "isDraft",
    "webLink",
    "inferenceClassification",
    "internetMessageHeaders",
    "body",
    "uniqueBody",
    "sender",
    "from",
    "toRecipients",
    "ccRecipients",
    "bccRecipients",
    "replyTo",
    "flag",
];

/// Properties that come only when they are named.
const ON_DEMAND: [&str; 2] = ["internetMessageHeaders", "uniqueBody"];

/// What parts an answer from what it quotes.
pub(crate) const LINE: &str = "<hr tabindex=\"-1\" style=\"display:inline-block; width:98%\">";

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

/// `focused`, but for the tabs that Gmail takes out of the inbox, and for what
/// somebody has said.
pub(super) fn inference(letter: &Letter, notes: &Notes) -> &'static str {
    match notes.inference.as_deref() {
        Some("focused") => return "focused",
        Some(_) => return "other",
        None => {}
    }
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
    let mut maker = Maker {
        store,
        letter,
        prefer,
        notes: store.notes(letter),
        fields: head::fields(section),
        bodies: None,
    };
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
        let wanted = match ON_DEMAND.contains(&name) {
            true => options.names(name),
            false => name == "id" || options.wants(name),
        };
        if let Some(value) = wanted.then(|| maker.property(name)).flatten() {
            message.insert(name.to_owned(), value);
        }
    }
    Ok(message)
}

/// The texts of a letter: HTML where it has some, and plain text.
struct Bodies {
    html: Option<String>,
    plain: Option<String>,
}

/// What a message is made of.
struct Maker<'a> {
    store: Store<'a>,
    letter: &'a Letter,
    prefer: &'a Prefer,
    notes: Notes,
    fields: Vec<Field<'a>>,
    bodies: Option<Bodies>,
}

impl Maker<'_> {
    /// One property; nothing for what this letter does not have at all.
    fn property(&mut self, name: &str) -> Option<Value> {
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
            "conversationIndex" => {
                let thread = store.mailbox.thread(letter.thread).unwrap_or_default();
                let place = thread.iter().position(|other| other.id == letter.id);
                let place = place.unwrap_or_default();
                ids.conversation_index(letter.thread, place).into()
            }
            "isDeliveryReceiptRequested" => self.has("Return-Receipt-To").into(),
            "isReadReceiptRequested" => self.has("Disposition-Notification-To").into(),
            "isRead" => (!letter.has("UNREAD")).into(),
            "isDraft" => letter.has("DRAFT").into(),
            "webLink" => {
                let id = store.message_id(letter, self.prefer.immutable);
                pages::web_link(&id).into()
            }
            "inferenceClassification" => inference(letter, &self.notes).into(),
            "internetMessageHeaders" => {
                let fields = self.fields.iter();
                fields
                    .map(|field| json!({ "name": field.name, "value": field.received_by("") }))
                    .collect()
            }
            "body" => self.body(),
            "uniqueBody" => self.unique_body(),
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

    fn has(&self, field: &str) -> bool {
        head::find(&self.fields, field).is_some()
    }

    fn recipients(&self, field: &str) -> Value {
        let people = people::persons(&self.fields, field);
        people.iter().map(Person::json).collect()
    }

    fn bodies(&mut self) -> &Bodies {
        let letter = self.letter;
        self.bodies.get_or_insert_with(|| {
            let (plain, html) = letter.shown_texts();
            let join = |texts: Vec<String>| (!texts.is_empty()).then(|| texts.join("\r\n"));
            Bodies { html: join(html), plain: join(plain) }
        })
    }

    /// The body, in the form that was asked for: its type and its content.
    fn content(&mut self) -> (&'static str, String) {
        let form = self.prefer.body;
        let bodies = self.bodies();
        match (form, &bodies.html, &bodies.plain) {
            (BodyForm::Text, _, Some(plain)) => ("text", plain.clone()),
            (BodyForm::Text, Some(html), None) => ("text", crate::store::words::visible(html)),
            (_, Some(html), _) => ("html", html.clone()),
            (BodyForm::Html, None, Some(plain)) => {
                let plain = html_escape::encode_text(plain);
                ("html", format!("<html><body><pre>{plain}</pre></body></html>"))
            }
            (_, None, Some(plain)) => ("text", plain.clone()),
            (BodyForm::Html, None, None) => ("html", String::new()),
            (_, None, None) => ("text", String::new()),
        }
    }

    fn body(&mut self) -> Value {
        let (kind, content) = self.content();
        json!({ "contentType": kind, "content": content })
    }

    /// The body without what it quotes from earlier letters.
    fn unique_body(&mut self) -> Value {
        let (kind, content) = self.content();
        let content = match kind {
            "html" => {
                let quote = ["<blockquote", "<div class=\"gmail_quote", LINE];
                let starts = quote.iter().filter_map(|start| content.find(start));
                let end = starts.min().unwrap_or(content.len());
                content.get(..end).unwrap_or_default().to_owned()
            }
            _ => {
                let own = content.lines().take_while(|line| !line.starts_with('>'));
                let mut own: Vec<&str> = own.collect();
                let quotes = own.len() < content.lines().count();
                // The line that says whom the quote is from belongs to it.
                while quotes && own.last().is_some_and(|line| line.trim().is_empty()) {
                    own.pop();
                }
                if quotes && own.last().is_some_and(|line| line.trim_end().ends_with(':')) {
                    own.pop();
                }
                own.join("\r\n")
            }
        };
        json!({ "contentType": kind, "content": content })
    }
}
