//! Drafts: created, changed, and created as replies to messages.
//!
//! Other messages can only be marked: as read, flagged, categorised, and more or less important.

use std::sync::Arc;

use hyper::StatusCode;
use serde_json::{Map, Value};

use super::body::EditableMessage;
use super::file::MessageFile;
use super::flag;
use super::reply_body::{self, ReplyKind};
use crate::delivery::facts_at;
use crate::graph::error::{GraphError, bad_request, not_draft};
use crate::graph::exchange::folders::{self, DRAFTS};
use crate::graph::request::RequestContext;
use crate::graph::response::GraphResponse;
use crate::graph::types::mail::{ANSWER, MESSAGE};
use crate::graph::types::read::read;
use crate::json::object;
use crate::store::mailbox::change::{MailboxChange, MailboxEntry};
use crate::store::message::Message;

/// The properties that can be set on drafts alone.
const OF_DRAFTS: [&str; 9] = [
    "subject", "body", "toRecipients", "ccRecipients", "bccRecipients", "replyTo", "from",
    "sender", "internetMessageId",
];

/// Creates a draft.
pub(crate) fn create(context: &RequestContext<'_>) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &MESSAGE, true)?;
    let mut editable = blank(context);
    editable.apply(&members)?;
    editable.files = enclosed(&members)?;
    let id = store_draft(context, editable.bytes(), None)?;
    arrange(context, id, &members)?;
    context.reply(id, StatusCode::CREATED)
}

/// Returns an empty message with a new Message-ID.
fn blank(context: &RequestContext<'_>) -> EditableMessage {
    let number = context.with(super::super::exchange::state::ExchangeState::number);
    let (local, domain) = context.address().split_once('@').unwrap_or((context.address(), ""));
    let date = context.state.tick();
    let id = format!("{number:04X}.{date:X}.{local}@{domain}");
    EditableMessage::new(id, date.div_euclid(1_000))
}

/// Returns the attachments in the body of a message.
fn enclosed(members: &Map<String, Value>) -> Result<Vec<MessageFile>, GraphError> {
    let files = members.get("attachments").and_then(Value::as_array);
    let files = files.into_iter().flatten().filter_map(Value::as_object);
    files.map(MessageFile::from_members).collect()
}

/// Stores a draft, in the conversation of another message if there is one.
fn store_draft(
    context: &RequestContext<'_>,
    raw: Vec<u8>,
    thread: Option<u64>,
) -> Result<u64, GraphError> {
    let labels = folders::labels_in(&["DRAFT".to_owned()], DRAFTS);
    let entry = entry(context, raw, labels, thread)?;
    context.change(MailboxChange::Enters(Box::new(entry)))
}

/// Returns a message to be stored with the present time.
pub(super) fn entry(
    context: &RequestContext<'_>,
    raw: Vec<u8>,
    labels: Vec<String>,
    thread: Option<u64>,
) -> Result<MailboxEntry, GraphError> {
    let raw: Arc<[u8]> = raw.into();
    let wrong = |_| bad_request("The message can't be read.");
    let facts = facts_at(&raw, context.state.tick()).map_err(wrong)?;
    Ok(MailboxEntry { raw, facts, labels, thread })
}

/// Replaces the contents of a draft.
pub(super) fn rewrite(
    context: &RequestContext<'_>,
    message: &Message,
    editable: &EditableMessage,
) -> Result<(), GraphError> {
    let mut entry = entry(context, editable.bytes(), message.labels.clone(), None)?;
    // A changed draft keeps its time, as the order of lists depends on it.
    entry.facts.date = message.facts.date;
    context.change(MailboxChange::Rewrites(message.id, Box::new(entry)))?;
    // Changes the version even if the labels stay the same.
    context.note(message.id, |_| {});
    Ok(())
}

/// Changes a message.
pub(crate) fn change(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &MESSAGE, true)?;
    let message = context.current(id)?;
    let content = OF_DRAFTS.iter().any(|name| members.contains_key(*name));
    // Of other messages, the importance is a mark and not in their bytes.
    let importance = members.contains_key("importance") && message.has("DRAFT");
    if content && !message.has("DRAFT") {
        return Err(not_draft());
    }
    // An invalid flag is reported before anything changes.
    flag::read_flag(&members)?;
    if content || importance {
        let mut editable = EditableMessage::from_message(message);
        editable.apply(&members)?;
        rewrite(context, message, &editable)?;
    }
    arrange(context, message.id, &members)?;
    context.reply(message.id, StatusCode::OK)
}

/// Sets the properties of a message that are not part of its contents.
pub(super) fn arrange(
    context: &RequestContext<'_>,
    id: u64,
    members: &Map<String, Value>,
) -> Result<(), GraphError> {
    let store = context.present()?;
    let message = store.mailbox.message(id).ok_or_else(not_draft)?;
    let mut labels = message.labels.clone();
    let mut set = |label: &str, add: bool| {
        labels.retain(|known| known != label);
        if add {
            labels.push(label.to_owned());
        }
    };
    if let Some(read) = members.get("isRead").and_then(Value::as_bool) {
        set("UNREAD", !read);
    }
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    if let Some(importance) = text("importance") {
        set("IMPORTANT", importance == "high");
    }
    let flag = flag::read_flag(members)?;
    if let Some(flag) = &flag {
        set("STARRED", flag.set);
    }
    if let Some(names) = members.get("categories").and_then(Value::as_array) {
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        labels = flag::categorised(context, &labels, &names)?;
    }
    let properties = members.get("singleValueExtendedProperties").and_then(Value::as_array);
    if members.contains_key("importance") || flag.is_some() || properties.is_some() {
        context.note(id, |notes| {
            if let Some(importance) = text("importance") {
                notes.low = importance == "low";
            }
            if let Some(flag) = flag {
                flag.note(notes);
            }
            for property in properties.into_iter().flatten() {
                let part = |name: &str| property.get(name).and_then(Value::as_str);
                if let Some((id, value)) = part("id").zip(part("value")) {
                    notes.properties.retain(|(known, _)| known != id);
                    notes.properties.push((id.to_owned(), value.to_owned()));
                }
            }
        });
    }
    if labels != message.labels {
        context.change(MailboxChange::Labels(id, labels))?;
        context
            .with(|exchange| exchange.notes.entry(id).or_default().changed = Some(context.now()));
    }
    Ok(())
}

/// Creates a draft that replies to a message. Properties in the request replace those of the reply.
pub(crate) fn answer(
    context: &RequestContext<'_>,
    id: &str,
    how: ReplyKind,
) -> Result<GraphResponse, GraphError> {
    let mut parameters = read(context.request, &ANSWER, false)?;
    let members = object(parameters.remove("message").unwrap_or_default());
    let original = context.message(id)?;
    let mut editable = blank(context);
    reply_body::begin(context, &mut editable, original, how)?;
    editable.apply(&members)?;
    // The conversation is the original's whatever subject the client chose.
    let id = store_draft(context, editable.bytes(), Some(original.thread))?;
    arrange(context, id, &members)?;
    context.reply(id, StatusCode::CREATED)
}
