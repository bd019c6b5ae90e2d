//! Moving, copying and deleting messages.
//!
//! A common id contains the folder, so it changes with a move. An immutable id does not.

use hyper::StatusCode;
use serde_json::Value;

use crate::graph::error::{GraphError, wrong_body};
use crate::graph::exchange::folders::{self, DELETED, MailFolder};
use crate::graph::exchange::state::MessageNotes;
use crate::graph::request::RequestContext;
use crate::graph::response::{GraphResponse, no_content};
use crate::graph::types::mail::MOVE;
use crate::graph::types::read::read;
use crate::store::mailbox::change::{MailboxChange, MailboxEntry};
use crate::store::message::Message;

/// Moves a message.
pub(crate) fn relocate(
    context: &RequestContext<'_>,
    id: &str,
) -> Result<GraphResponse, GraphError> {
    let message = context.current(id)?;
    let folder = destination(context)?;
    move_to_folder(context, message, folder.number)?;
    context.reply(message.id, StatusCode::CREATED)
}

/// Copies a message.
pub(crate) fn copy(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let message = context.message(id)?;
    let folder = destination(context)?;
    let notes = context.present()?.notes(message);
    let mut facts = message.facts.as_ref().clone();
    // These are the labels of the file that the message was loaded from, not its present ones.
    facts.labels = None;
    let entry = MailboxEntry {
        raw: message.raw.clone(),
        facts,
        labels: folders::labels_in(&message.labels, folder.number),
        thread: Some(message.thread),
    };
    let copy = context.change(MailboxChange::Enters(Box::new(entry)))?;
    // A copy of a message that is waiting to be sent must not be sent as well.
    context.note(copy, |new| *new = MessageNotes { due: None, ..notes });
    context.reply(copy, StatusCode::CREATED)
}

/// Deletes a message: moves it to Deleted Items, or deletes it permanently if it is in there.
pub(crate) fn delete(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let message = context.current(id)?;
    if folders::number_of(message) == DELETED {
        delete_for_good(context, message)?;
    } else {
        move_to_folder(context, message, DELETED)?;
    }
    Ok(no_content())
}

/// Deletes a message permanently.
pub(crate) fn erase(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let message = context.current(id)?;
    delete_for_good(context, message)?;
    Ok(no_content())
}

/// Moves a message to a folder.
pub(super) fn move_to_folder(
    context: &RequestContext<'_>,
    message: &Message,
    folder: u16,
) -> Result<(), GraphError> {
    let labels = folders::labels_in(&message.labels, folder);
    context.change(MailboxChange::Labels(message.id, labels))?;
    Ok(())
}

fn delete_for_good(context: &RequestContext<'_>, message: &Message) -> Result<(), GraphError> {
    context.change(MailboxChange::Goes(vec![message.id]))?;
    // Notes are kept apart from the mailbox, so they do not end with the message.
    context.with(|exchange| exchange.notes.remove(&message.id));
    Ok(())
}

/// Returns the folder that a request names.
pub(super) fn destination(context: &RequestContext<'_>) -> Result<MailFolder, GraphError> {
    let members = read(context.request, &MOVE, true)?;
    let id = members.get("destinationId").and_then(Value::as_str);
    let id = id.filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| wrong_body("The parameter 'destinationId' is required."))?;
    context.present()?.folder(id)
}
