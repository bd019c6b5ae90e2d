//! Graph's attachments: files, and messages inside messages.
//!
//! These are the same parts as in Gmail's half, and also pictures that the text shows, which are
//! marked as inline. `contentBytes` exists only for files, so `$select` names it with the type.

use std::borrow::Cow;
use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::graph::error::{GraphError, malformed_id, not_found};
use crate::graph::exchange::ExchangeMailbox;
use crate::graph::exchange::folders;
use crate::graph::ids::MailboxIds;
use crate::graph::params::{PreferHeader, QueryOptions};
use crate::graph::zones::time;
use crate::json::object;
use crate::store::head;
use crate::store::message::Message;
use crate::store::mime::{self, ParsedPart};

/// The properties that can be selected.
pub(crate) const PROPERTIES: [&str; 9] = [
    "id",
    "lastModifiedDateTime",
    "name",
    "contentType",
    "size",
    "isInline",
    "microsoft.graph.fileAttachment/contentId",
    "microsoft.graph.fileAttachment/contentLocation",
    "microsoft.graph.fileAttachment/contentBytes",
];

/// The header field with the number of a part.
pub(crate) const NUMBER: &str = "X-Part-Number";

/// The type of files.
const FILE: &str = "#microsoft.graph.fileAttachment";

/// The properties that only files have.
const OF_FILES: [&str; 3] = ["contentId", "contentLocation", "contentBytes"];

/// Returns the attachments of a message with the selected properties.
pub(crate) fn list(
    store: ExchangeMailbox<'_>,
    message: &Message,
    options: &QueryOptions<'_>,
    prefer: &PreferHeader,
) -> Vec<Value> {
    let root = ParsedPart::of_message(&message.raw);
    let found = numbered_attachments(message, &root).into_iter();
    found
        .map(|(number, part)| {
            let folder = folders::number_of(message);
            let ids = store.ids();
            let id = ids.attachment(message, folder, number, prefer.immutable);
            Value::Object(attachment(message, part, id, options))
        })
        .collect()
}

/// Returns the attachment with a common or immutable id.
pub(crate) fn read_attachment(
    store: ExchangeMailbox<'_>,
    message: &Message,
    id: &str,
    options: &QueryOptions<'_>,
) -> Result<Map<String, Value>, GraphError> {
    let root = ParsedPart::of_message(&message.raw);
    let (_, part) = find(store, message, &root, id)?;
    Ok(attachment(message, part, id.to_owned(), options))
}

/// Returns the content of an attachment.
pub(crate) fn bytes(
    store: ExchangeMailbox<'_>,
    message: &Message,
    id: &str,
) -> Result<Vec<u8>, GraphError> {
    let root = ParsedPart::of_message(&message.raw);
    let (_, part) = find(store, message, &root, id)?;
    Ok(part.decode(&message.raw).into_owned())
}

/// Returns the position of an attachment within its message.
pub(crate) fn place(
    store: ExchangeMailbox<'_>,
    message: &Message,
    id: &str,
) -> Result<usize, GraphError> {
    find(store, message, &ParsedPart::of_message(&message.raw), id).map(|(place, _)| place)
}

/// Returns the id of a message's last attachment.
pub(crate) fn last_id(store: ExchangeMailbox<'_>, message: &Message) -> Option<String> {
    let root = ParsedPart::of_message(&message.raw);
    let all = numbered_attachments(message, &root);
    let (number, _) = all.last()?;
    let folder = folders::number_of(message);
    Some(store.ids().attachment(message, folder, *number, false))
}

/// Returns the attachments with their numbers. Drafts store the numbers, so that they stay when
/// another attachment is removed; in other messages, they are positions in reading order.
pub(crate) fn numbered_attachments<'a>(
    message: &Message,
    root: &'a ParsedPart,
) -> Vec<(u32, &'a ParsedPart)> {
    let mut parts: Vec<(u32, &ParsedPart)> = (0u32..)
        .zip(root.own())
        .filter(|(_, part)| !part.filename.is_empty() || part.embedded)
        .collect();
    let given = parts.iter().map(|(_, part)| {
        let fields = head::fields(mime::slice(&message.raw, &part.head), &message.raw);
        head::find(&fields, NUMBER)?.value().parse().ok()
    });
    let given: Option<Vec<u32>> = given.collect();
    let given = given.unwrap_or_default();
    let distinct: HashSet<u32> = given.iter().copied().collect();
    // Only if all parts have different numbers: the field may come from a message that was
    // received.
    if distinct.len() == parts.len() {
        for ((number, _), given) in parts.iter_mut().zip(given) {
            *number = given;
        }
    }
    parts
}

/// Returns the part with an attachment's id, and its position.
fn find<'a>(
    store: ExchangeMailbox<'_>,
    message: &Message,
    root: &'a ParsedPart,
    id: &str,
) -> Result<(usize, &'a ParsedPart), GraphError> {
    if !MailboxIds::is_attachment(id) {
        return Err(malformed_id());
    }
    let folder = folders::number_of(message);
    let is = |number, immutable| store.ids().attachment(message, folder, number, immutable) == id;
    let mut parts = numbered_attachments(message, root).into_iter().enumerate();
    parts
        // A client may have read the id with another preference than this request has.
        .find(|(_, (number, _))| is(*number, false) || is(*number, true))
        .map(|(place, (_, part))| (place, part))
        .ok_or_else(not_found)
}

/// Returns an attachment's JSON.
fn attachment(
    message: &Message,
    part: &ParsedPart,
    id: String,
    options: &QueryOptions<'_>,
) -> Map<String, Value> {
    let fields = head::fields(mime::slice(&message.raw, &part.head), &message.raw);
    let bytes: Cow<'_, [u8]> = part.decode(&message.raw);
    let is_file = !part.is_message();
    let members = json!({
        "@odata.type": if is_file { FILE } else { "#microsoft.graph.itemAttachment" },
        "@odata.mediaContentType": part.mime_type,
        "id": id,
        "lastModifiedDateTime": time(message.facts.date),
        "name": name(message, part),
        "contentType": is_file.then_some(&part.mime_type),
        "size": bytes.len(),
        "isInline": part.embedded,
    });
    let mut members = options.cut(object(members));
    if !is_file {
        // An item attachment has neither a media type nor bytes.
        members.shift_remove("@odata.mediaContentType");
        return members;
    }
    let field = |name| head::find(&fields, name).map(|field| field.value());
    for name in OF_FILES {
        if !options.wants(&format!("microsoft.graph.fileAttachment/{name}")) {
            continue;
        }
        let value = match name {
            "contentId" => {
                field("Content-ID").map(|id| id.trim_matches(['<', '>']).to_owned()).into()
            }
            "contentLocation" => field("Content-Location").into(),
            _ => STANDARD.encode(&bytes).into(),
        };
        members.insert(name.to_owned(), value);
    }
    members
}

/// Returns the displayed name: a file's, or a message's subject.
fn name(message: &Message, part: &ParsedPart) -> String {
    let inner = part.parts.first().filter(|_| part.is_message());
    let subject = inner.and_then(|inner| {
        let fields = head::fields(mime::slice(&message.raw, &inner.head), &message.raw);
        Some(head::find(&fields, "Subject")?.value())
    });
    match subject.filter(|subject| !subject.is_empty()) {
        Some(subject) => subject,
        None if part.filename.is_empty() => "image".to_owned(),
        None => part.filename.clone(),
    }
}
