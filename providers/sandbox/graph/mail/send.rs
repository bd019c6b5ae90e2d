//! Sending through Graph: a draft, a letter at once, an answer at once, and what
//! waits for its time.
//!
//! What is to be sent later stands in the outbox as a draft. Nothing looks at
//! the clock by itself: a request that comes later finds what is due.

use hyper::StatusCode;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::body::Paper;
use super::context::Context;
use super::drafts;
use super::quote::How;
use crate::delivery::{self, Manner, Sent, Unsent};
use crate::graph::error::{
    Refusal, bad_request, invalid_recipients, not_draft, not_found, send_as_denied, wrong_body,
};
use crate::graph::exchange::folders::{self, OUTBOX};
use crate::graph::people::Person;
use crate::graph::response::{Reply, accepted};
use crate::graph::types::mail::SEND_MAIL;
use crate::graph::types::read::read;
use crate::graph::user;
use crate::state::State;
use crate::store::letter::Letter;
use crate::store::mailbox::change::Change;

/// The property that says when a message is to be sent.
const DEFERRED: &str = "systemtime 0x3fef";

/// Sends a draft.
pub(super) fn send(context: &Context<'_>, id: &str) -> Result<Reply, Refusal> {
    let letter = context.current(id)?;
    if !letter.has("DRAFT") {
        return Err(not_draft());
    }
    send_draft(context, letter.id)?;
    Ok(accepted())
}

/// Sends an answer to a message.
pub(super) fn answer(context: &Context<'_>, id: &str, how: How) -> Result<Reply, Refusal> {
    let draft = drafts::answered(context, id, how)?;
    send_or_forget(context, draft)?;
    Ok(accepted())
}

/// Sends what the request holds.
pub(super) fn send_mail(context: &Context<'_>) -> Result<Reply, Refusal> {
    if let Some(raw) = drafts::mime(context)? {
        let entry = drafts::entry(context, raw, vec!["DRAFT".to_owned()], None)?;
        let draft = context.change(Change::Enters(Box::new(entry)))?;
        send_or_forget(context, draft)?;
        return Ok(accepted());
    }
    let mut members = read(context.request, &SEND_MAIL, true)?;
    let kept = members.get("saveToSentItems").and_then(Value::as_bool);
    let Some(Value::Object(message)) = members.remove("message") else {
        return Err(wrong_body("The parameter 'message' is required."));
    };
    let paper = drafts::written(context, &message)?;
    let paper = signed(context, paper)?;
    let deferred = deferred_in(&message)?.is_some();
    if kept == Some(false) && !deferred {
        let manner = Manner { kept: false, ..Manner::EXCHANGE };
        let sent = Sent::Bytes(paper.bytes(true), None);
        delivery::deliver(context.state, &context.address, sent, manner).map_err(unsent)?;
        return Ok(accepted());
    }
    let raw = paper.bytes(true);
    let entry = drafts::entry(context, raw, vec!["DRAFT".to_owned()], None)?;
    let draft = context.change(Change::Enters(Box::new(entry)))?;
    let ready = drafts::arrange(context, draft, &message);
    ready.and_then(|()| send_or_forget(context, draft))?;
    Ok(accepted())
}

/// Sends a draft that was made for that alone; where it cannot be, it goes.
fn send_or_forget(context: &Context<'_>, draft: u64) -> Result<(), Refusal> {
    send_draft(context, draft).inspect_err(|_| {
        // It was there a moment ago, and what it says is told already.
        let _ = context.change(Change::Goes(vec![draft]));
    })
}

/// Sends a draft, or puts it into the outbox until its time.
fn send_draft(context: &Context<'_>, draft: u64) -> Result<(), Refusal> {
    let store = context.store()?;
    let letter = store.mailbox.letter(draft).ok_or_else(not_found)?;
    let paper = signed(context, Paper::of(letter))?;
    let recipients = paper.recipients();
    if recipients.is_empty() || recipients.iter().any(|address| !address.contains('@')) {
        return Err(invalid_recipients());
    }
    drafts::rewrite(context, letter, &paper)?;
    let notes = store.notes(letter);
    let due = notes.properties.iter();
    let due = due
        .filter_map(|(id, value)| deferred(id, value).ok().flatten())
        .next()
        .filter(|due| *due > Timestamp::now().as_millisecond());
    match due {
        Some(due) => {
            let labels = folders::labels_in(&letter.labels, OUTBOX);
            context.change(Change::Labels(draft, labels))?;
            context.note(draft, |notes| notes.due = Some(due));
            Ok(())
        }
        None => go(context.state, &context.address, letter),
    }
}

/// Sends a draft that is ready; what it is marked with stays.
fn go(state: &State, address: &str, letter: &Letter) -> Result<(), Refusal> {
    let marks: Vec<String> = letter.labels.clone();
    let sent = delivery::deliver(state, address, Sent::Draft(letter.id), Manner::EXCHANGE);
    let sent = sent.map_err(unsent)?;
    state.graph.office(address, |office| {
        office.note(sent, |notes| notes.due = None);
    });
    let marks: Vec<String> =
        marks.into_iter().filter(|label| label != "DRAFT").chain(["SENT".to_owned()]).collect();
    let labels = folders::labels_in(&marks, folders::SENT);
    state.change(address, |_| Some(Change::Labels(sent, labels)));
    Ok(())
}

/// Sends what has waited long enough, in all mailboxes.
pub(crate) fn send_due(state: &State) {
    let now = Timestamp::now().as_millisecond();
    let addresses: Vec<String> = state.mailboxes().map(|mailbox| mailbox.address.clone()).collect();
    for address in addresses {
        let due: Vec<u64> = state.graph.office(&address, |office| {
            let notes = office.notes.iter();
            notes
                .filter(|(_, notes)| notes.due.is_some_and(|due| due <= now))
                .map(|(id, _)| *id)
                .collect()
        });
        for id in due {
            let letter = state.mailbox(&address).and_then(|it| it.letter(id));
            // Who takes it out of the outbox does not want it sent.
            let waits =
                letter.filter(|letter| letter.has("DRAFT") && folders::number_of(letter) == OUTBOX);
            if let Some(letter) = waits {
                // What cannot be sent stays where it is, as in Exchange.
                let _ = go(state, &address, letter);
            }
            state.graph.office(&address, |office| {
                office.notes.entry(id).or_default().due = None;
            });
        }
    }
}

/// A letter with who it is from, if they may send it.
fn signed(context: &Context<'_>, mut paper: Paper) -> Result<Paper, Refusal> {
    let store = context.store()?;
    let me = Person { name: user::name(store).to_owned(), address: store.mailbox.address.clone() };
    let own = user::addresses(store);
    let is_own = |person: &Person| own.iter().any(|it| it.eq_ignore_ascii_case(&person.address));
    let from = match paper.from.take() {
        None => me.clone(),
        Some(from) if is_own(&from) => from,
        Some(from) => {
            let shared = context.access.has("Mail.Send.Shared");
            if !shared || context.state.mailbox(&from.address).is_none() {
                return Err(send_as_denied());
            }
            paper.sender = Some(me.clone());
            from
        }
    };
    if paper.sender.as_ref().is_some_and(|sender| !is_own(sender)) {
        return Err(send_as_denied());
    }
    paper.from = Some(from);
    paper.date = Timestamp::now().as_second();
    Ok(paper)
}

/// The time in a body at which its message is to be sent.
fn deferred_in(members: &Map<String, Value>) -> Result<Option<i64>, Refusal> {
    let list = members.get("singleValueExtendedProperties").and_then(Value::as_array);
    for property in list.into_iter().flatten() {
        let part = |name: &str| property.get(name).and_then(Value::as_str);
        if let Some((id, value)) = part("id").zip(part("value"))
            && let Some(due) = deferred(id, value)?
        {
            return Ok(Some(due));
        }
    }
    Ok(None)
}

/// The time of a property that says when to send.
fn deferred(id: &str, value: &str) -> Result<Option<i64>, Refusal> {
    if !id.trim().eq_ignore_ascii_case(DEFERRED) {
        return Ok(None);
    }
    let time = value.parse::<Timestamp>();
    let time = time.map_err(|_| bad_request("The value of the extended property is no time."))?;
    Ok(Some(time.as_millisecond()))
}

/// Why nothing was sent, as Exchange says it.
fn unsent(why: Unsent) -> Refusal {
    match why {
        Unsent::NotThere => not_found(),
        Unsent::NoRecipient | Unsent::NoAddress => invalid_recipients(),
        Unsent::NoLetter(_) => Refusal::new(
            StatusCode::BAD_REQUEST,
            "ErrorMimeContentInvalid",
            "Invalid MIME content.",
        ),
    }
}
