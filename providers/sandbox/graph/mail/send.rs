//! Sending: drafts, and messages that are sent later.
//!
//! A message to be sent later is a draft in the outbox. There is no timer: the next request sends
//! the messages that are due.

use jiff::Timestamp;

use super::body::EditableMessage;
use super::drafts;
use crate::delivery::{self, SendOptions, UnsentReason};
use crate::graph::error::{
    GraphError, bad_request, invalid_mime, invalid_recipients, not_draft, not_found, send_as_denied,
};
use crate::graph::exchange::folders::{self, OUTBOX};
use crate::graph::people::EmailAddress;
use crate::graph::request::RequestContext;
use crate::graph::response::{GraphResponse, accepted};
use crate::graph::user;
use crate::state::RequestState;
use crate::store::mailbox::change::MailboxChange;
use crate::store::message::Message;

/// The property with the time to send a message (PidTagDeferredSendTime).
const DEFERRED: &str = "systemtime 0x3fef";

/// Sends a draft.
pub(crate) fn send(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let message = context.current(id)?;
    if !message.has("DRAFT") {
        return Err(not_draft());
    }
    send_draft(context, message.id)?;
    Ok(accepted())
}

/// Sends a draft, or moves it to the outbox until its time.
fn send_draft(context: &RequestContext<'_>, draft: u64) -> Result<(), GraphError> {
    let store = context.present()?;
    let message = store.mailbox.message(draft).ok_or_else(not_found)?;
    let editable = signed(context, EditableMessage::from_message(message))?;
    let recipients = editable.recipients();
    if recipients.is_empty() || recipients.iter().any(|address| !address.contains('@')) {
        return Err(invalid_recipients());
    }
    // The sender and date are only now known, and belong in the stored message.
    drafts::rewrite(context, message, &editable)?;
    let notes = store.notes(message);
    let mut due = notes.properties.iter();
    let due = due
        .find_map(|(id, value)| deferred(id, value).ok().flatten())
        // A time in the past means at once.
        .filter(|due| *due > context.state.clock.now().as_millisecond());
    match due {
        Some(due) => {
            let labels = folders::labels_in(&message.labels, OUTBOX);
            context.change(MailboxChange::Labels(draft, labels))?;
            context.note(draft, |notes| notes.due = Some(due));
            Ok(())
        }
        None => go(context.state, context.address(), message),
    }
}

/// Sends a draft that is complete. Its categories and flags stay.
fn go(state: &RequestState, address: &str, message: &Message) -> Result<(), GraphError> {
    let marks: Vec<String> = message.labels.clone();
    let sent = delivery::deliver(state, address, message.id, SendOptions::EXCHANGE);
    let sent = sent.map_err(unsent)?;
    state.graph.exchange(address, |exchange| {
        exchange.note(sent, |notes| notes.due = None);
    });
    let marks: Vec<String> =
        marks.into_iter().filter(|label| label != "DRAFT").chain(["SENT".to_owned()]).collect();
    // A deferred message comes from the outbox, whose label must not stay.
    let labels = folders::labels_in(&marks, folders::SENT);
    state.change(address, |_| Some(MailboxChange::Labels(sent, labels)));
    Ok(())
}

/// Sends the messages that are due, in all mailboxes.
pub(crate) fn send_due(state: &RequestState) {
    let now = state.clock.now().as_millisecond();
    let addresses: Vec<String> = state.mailboxes().map(|mailbox| mailbox.address.clone()).collect();
    for address in addresses {
        // Collected first, because sending takes the same lock.
        let due: Vec<u64> = state.graph.exchange(&address, |exchange| {
            let notes = exchange.notes.iter();
            notes
                .filter(|(_, notes)| notes.due.is_some_and(|due| due <= now))
                .map(|(id, _)| *id)
                .collect()
        });
        for id in due {
            let message = state.mailbox(&address).and_then(|it| it.message(id));
            // A message that was moved out of the outbox is no longer to be sent.
            let waits = message
                .filter(|message| message.has("DRAFT") && folders::number_of(message) == OUTBOX);
            if let Some(message) = waits {
                // A message that cannot be sent stays in the outbox, as in Exchange.
                let _ = go(state, &address, message);
            }
            state.graph.exchange(&address, |exchange| {
                exchange.notes.entry(id).or_default().due = None;
            });
        }
    }
}

/// Returns a message with its sender, if the caller may send as them.
fn signed(
    context: &RequestContext<'_>,
    mut editable: EditableMessage,
) -> Result<EditableMessage, GraphError> {
    let store = context.present()?;
    let me =
        EmailAddress { name: user::name(store).to_owned(), address: store.mailbox.address.clone() };
    let own = user::addresses(store);
    let is_own =
        |person: &EmailAddress| own.iter().any(|it| it.eq_ignore_ascii_case(&person.address));
    let from = match editable.from.take() {
        None => me.clone(),
        Some(from) if is_own(&from) => from,
        Some(from) => {
            // Every mailbox of the sandbox counts as one that allows others to send on its behalf.
            let shared = context.access.has("Mail.Send.Shared");
            if !shared || context.state.mailbox(&from.address).is_none() {
                return Err(send_as_denied());
            }
            editable.sender = Some(me.clone());
            from
        }
    };
    if editable.sender.as_ref().is_some_and(|sender| !is_own(sender)) {
        return Err(send_as_denied());
    }
    editable.from = Some(from);
    editable.date = context.state.clock.seconds();
    Ok(editable)
}

/// Returns the time to send in milliseconds since 1970, if the property has it.
fn deferred(id: &str, value: &str) -> Result<Option<i64>, GraphError> {
    if !id.trim().eq_ignore_ascii_case(DEFERRED) {
        return Ok(None);
    }
    let time = value.parse::<Timestamp>();
    let time = time.map_err(|_| bad_request("The value of the extended property is no time."))?;
    Ok(Some(time.as_millisecond()))
}

/// Returns Exchange's error for a message that was not sent.
fn unsent(why: UnsentReason) -> GraphError {
    match why {
        UnsentReason::NotThere => not_found(),
        UnsentReason::NoRecipient | UnsentReason::NoAddress => invalid_recipients(),
        UnsentReason::NoMessage(_) => invalid_mime(),
    }
}
