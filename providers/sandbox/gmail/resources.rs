//! Gmail's JSON: messages, threads and labels, built from messages on request.
//!
//! This file decides only about shapes. As in the real service, `labelIds`, `data` and `parts` are
//! omitted if they are empty.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use html_escape::encode_text_to_string;
use serde_json::{Value, json};

use super::attachment_id::AttachmentIds;
use super::query::matching::is_primary;
use crate::google::fields::{FieldShape, shape};
use crate::json::{listed, merge, present};
use crate::store::head;
use crate::store::labels::{SYSTEM, UserLabel};
use crate::store::mailbox::Mailbox;
use crate::store::message::Message;
use crate::store::mime::{self, ParsedPart};

/// The maximum size of text parts in a message. Larger ones have an attachment id.
const MAX_INLINE: usize = 5_000_000;

/// The type of `users.getProfile`.
pub(super) static PROFILE: FieldShape = shape! {
    "emailAddress", "messagesTotal", "threadsTotal", "historyId",
};

/// The type of a label.
pub(super) static LABEL: FieldShape = shape! {
    "id", "name", "type", "messageListVisibility", "labelListVisibility", "messagesTotal",
    "messagesUnread", "threadsTotal", "threadsUnread",
    "color": &shape! { "textColor", "backgroundColor" },
};

/// The type of `labels.list`.
pub(super) static LABELS: FieldShape = shape! { "labels": &LABEL };

/// The type of a message.
pub(super) static MESSAGE: FieldShape = shape! {
    "id", "threadId", "labelIds", "snippet", "historyId", "internalDate", "payload": &PART,
    "sizeEstimate", "raw", "classificationLabelValues": &shape! { "labelId" },
};

/// The type of a draft.
pub(super) static DRAFT: FieldShape = shape! { "id", "message": &MESSAGE };

/// The type of `drafts.list`.
pub(super) static DRAFTS: FieldShape =
    shape! { "drafts": &DRAFT, "nextPageToken", "resultSizeEstimate" };

/// The type of a message part.
static PART: FieldShape = shape! {
    "partId", "mimeType", "filename", "headers": &shape! { "name", "value" }, "body": &BODY,
    "parts": &PART,
};

/// The type of a part's body, and of an attachment.
pub(super) static BODY: FieldShape = shape! { "attachmentId", "size", "data" };

/// The type of `messages.list`.
pub(super) static MESSAGES: FieldShape =
    shape! { "messages": &MESSAGE, "nextPageToken", "resultSizeEstimate" };

/// The type of a thread.
pub(super) static THREAD: FieldShape =
    shape! { "id", "snippet", "historyId", "messages": &MESSAGE };

/// The type of `threads.list`.
pub(super) static THREADS: FieldShape =
    shape! { "threads": &THREAD, "nextPageToken", "resultSizeEstimate" };

/// The requested format of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageFormat {
    /// Everything, split into parts.
    Full,
    /// The header fields.
    Metadata,
    /// Ids, labels, snippet.
    Minimal,
    /// The raw bytes.
    Raw,
}

/// Returns an id in its wire form.
pub(super) fn id(id: u64) -> String {
    format!("{id:016x}")
}

/// Returns a draft's id in its wire form.
pub(super) fn draft_id(id: u64) -> String {
    format!("r{id}")
}

/// Returns a message as the writing methods do: ids and labels.
pub(super) fn brief(message: &Message) -> Value {
    present(json!({
        "id": id(message.id),
        "threadId": id(message.thread),
        "labelIds": listed(&message.labels),
    }))
}

/// Returns a message. `headers` names the fields of the metadata format; an empty list is all.
pub(super) fn message(
    message: &Message,
    format: MessageFormat,
    headers: &[&str],
    attachment_ids: &AttachmentIds,
) -> Value {
    let root = || ParsedPart::of_message(&message.raw);
    let payload = match format {
        MessageFormat::Full => {
            MessageParts { message, attachment_ids, next: 0 }.part_json(&root(), "")
        }
        MessageFormat::Metadata => {
            let root = root();
            let head = mime::slice(&message.raw, &root.head);
            let includes = |name: &str| {
                headers.is_empty() || headers.iter().any(|known| known.eq_ignore_ascii_case(name))
            };
            json!({
                "mimeType": root.mime_type,
                "headers": header_fields(head, &message.raw, includes),
            })
        }
        MessageFormat::Minimal | MessageFormat::Raw => Value::Null,
    };
    present(json!({
        "id": id(message.id),
        "threadId": id(message.thread),
        "labelIds": listed(&message.labels),
        "snippet": escape(message.snippet()),
        "payload": payload,
        "raw": (format == MessageFormat::Raw).then(|| URL_SAFE.encode(&message.raw)),
        "sizeEstimate": message.raw.len(),
        "historyId": message.history.to_string(),
        "internalDate": message.facts.date.to_string(),
    }))
}

/// Returns a snippet's text, escaped for HTML as in Gmail.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    encode_text_to_string(text, &mut out);
    // The crate does not escape quotes in text, but Gmail does.
    out.replace('"', "&quot;").replace('\'', "&#39;")
}

/// Returns header fields as a list of names and values.
fn header_fields(head: &[u8], raw: &[u8], includes: impl Fn(&str) -> bool) -> Vec<Value> {
    // Gmail's `Authentication-Results` begin with its own receiving server.
    head::received_by(&head::fields(head, raw), "mx.google.com;", includes)
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect()
}

/// The parts of one message while they are converted to JSON.
struct MessageParts<'a> {
    message: &'a Message,
    attachment_ids: &'a AttachmentIds,
    /// The index of the next part in reading order.
    next: u32,
}

impl MessageParts<'_> {
    /// Returns a part. Its id is the path to it, such as `1.0`.
    fn part_json(&mut self, part: &ParsedPart, path: &str) -> Value {
        let raw = &self.message.raw;
        // Counted before the parts below it, in the order of `ParsedPart::walk`, by which `attachment`
        // looks parts up.
        let place = self.next;
        self.next += 1;
        let body = self.body(part, place);
        let below = part.parts.iter().enumerate().map(|(index, part)| match path {
            "" => self.part_json(part, &index.to_string()),
            _ => self.part_json(part, &format!("{path}.{index}")),
        });
        let below: Vec<Value> = below.collect();
        present(json!({
            "partId": path,
            "mimeType": part.mime_type,
            "filename": part.filename,
            "headers": header_fields(mime::slice(raw, &part.head), raw, |_| true),
            "body": body,
            "parts": listed(&below),
        }))
    }

    /// Returns a part's body: inline for text, by attachment id for everything else.
    fn body(&self, part: &ParsedPart, place: u32) -> Value {
        if part.is_multipart() {
            return json!({ "size": 0 });
        }
        let bytes = content(part, &self.message.raw);
        let size = bytes.len();
        if !part.is_inline_text() || size > MAX_INLINE {
            let id = self.attachment_ids.make(self.message.id, place);
            return json!({ "attachmentId": id, "size": size });
        }
        match size {
            // Gmail omits `data` of an empty part.
            0 => json!({ "size": 0 }),
            _ => json!({ "size": size, "data": URL_SAFE.encode(&bytes) }),
        }
    }
}

/// Returns a part's content: displayed text in UTF-8, everything else unchanged.
fn content<'a>(part: &ParsedPart, raw: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
    let bytes = part.decode(raw);
    if part.is_inline_text() { head::to_utf8(bytes, part.charset.as_deref(), raw) } else { bytes }
}

/// Returns an attachment's bytes, by the part's index in reading order.
pub(super) fn attachment(message: &Message, place: u32) -> Option<Value> {
    let root = ParsedPart::of_message(&message.raw);
    let part = root.walk().into_iter().nth(usize::try_from(place).ok()?)?;
    let bytes = content(part, &message.raw);
    Some(json!({ "size": bytes.len(), "data": URL_SAFE.encode(&bytes) }))
}

/// Returns the profile of a mailbox.
pub(super) fn profile(mailbox: &Mailbox) -> Value {
    json!({
        "emailAddress": mailbox.address,
        "messagesTotal": mailbox.messages.len(),
        "threadsTotal": mailbox.thread_count(),
        "historyId": mailbox.history.to_string(),
    })
}

/// Returns all labels of a mailbox, without counts.
pub(super) fn labels(mailbox: &Mailbox) -> Vec<Value> {
    let system = SYSTEM.iter().map(|(id, hidden)| {
        // In the API, only labels that are hidden from lists state their visibility.
        present(json!({
            "id": id,
            "name": id,
            "messageListVisibility": hidden.then_some("hide"),
            "labelListVisibility": hidden.then_some("labelHide"),
            "type": "system",
        }))
    });
    let own = mailbox.labels.own().map(own_label);
    system.chain(own).collect()
}

/// Returns a user's label, without counts.
pub(super) fn own_label(label: &UserLabel) -> Value {
    let colour = label.colour.as_ref();
    let colour = colour.map(|(text, back)| json!({ "textColor": text, "backgroundColor": back }));
    present(json!({
        "id": label.id,
        "name": label.name,
        "messageListVisibility": label.message_list,
        "labelListVisibility": label.label_list,
        "type": "user",
        "color": colour,
    }))
}

/// Returns one label with its counts.
pub(super) fn label(mailbox: &Mailbox, id: &str) -> Option<Value> {
    let mut label = labels(mailbox).into_iter().find(|label| label["id"] == id)?;
    // Gmail sets this label itself; messages in the sandbox need not have it.
    let is_of = |message: &Message| match id {
        "CATEGORY_PERSONAL" => is_primary(message),
        _ => message.has(id),
    };
    let of_label = mailbox.messages.iter().filter(|message| is_of(message));
    let (mut total, mut unread) = (0usize, 0usize);
    let mut threads = std::collections::HashSet::new();
    let mut unread_threads = std::collections::HashSet::new();
    for message in of_label {
        total += 1;
        threads.insert(message.thread);
        if message.has("UNREAD") {
            unread += 1;
            unread_threads.insert(message.thread);
        }
    }
    let counts = json!({
        "messagesTotal": total,
        "messagesUnread": unread,
        "threadsTotal": threads.len(),
        "threadsUnread": unread_threads.len(),
    });
    merge(&mut label, counts);
    Some(label)
}

/// Returns a thread as shown in lists.
pub(super) fn listed_thread(thread: u64, messages: &[&Message]) -> Value {
    let snippet = messages.last().map(|message| escape(message.snippet()));
    let history = messages.iter().map(|message| message.history).max();
    json!({
        "id": id(thread),
        "snippet": snippet.unwrap_or_default(),
        "historyId": history.unwrap_or_default().to_string(),
    })
}
