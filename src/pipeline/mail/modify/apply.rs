//! Applies planned actions to the messages of an account, and compares their states.
//!
//! A change whose response was lost is looked up, and never made again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use daysheet_core::call::doubt::look_for;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::MessageId;
use daysheet_core::provider::Mailbox;
use daysheet_core::provider::mail::MailState;

use super::actions::PlannedAction;
use super::work::{AccountBatch, MessageChange, MessageOutcome, UnmetState};

/// Reads the states of the messages, and adds those not in the expected state to the changes.
pub(super) async fn find_changes(work: &mut AccountBatch) {
    let ids = std::mem::take(&mut work.chosen.ids);
    let mut states = work.chosen.mailbox.states(&ids).await.into_iter();
    for id in &ids {
        match states.next() {
            Some(Ok(state)) if work.actions.iter().all(|action| action.is_met_by(id, &state)) => {
                work.unchanged += 1;
            }
            Some(Ok(state)) => work.changes.push(MessageChange {
                now: Some(state.clone()),
                before: state,
                outcome: MessageOutcome::Planned,
            }),
            Some(Err(error)) => work.miss(id, "failed", error.to_string()),
            None => work.miss(id, "failed", "the provider did not report its state"),
        }
    }
    work.chosen.ids = ids;
}

/// The messages that one action is applied to; the lists have the same order.
#[derive(Default)]
struct ActedMessages {
    /// Their positions among the changes.
    places: Vec<usize>,
    /// Their original ids.
    ids: Vec<MessageId>,
    /// Their states before the action.
    states: Vec<MailState>,
}

impl ActedMessages {
    /// Returns the messages of a batch that an action is about to change.
    fn new(work: &AccountBatch, action: &PlannedAction) -> Self {
        let mut sent = Self::default();
        for (at, change) in work.changes.iter().enumerate() {
            // Later actions assume the earlier ones, so messages that failed or are in doubt get
            // none.
            let going_on = matches!(change.outcome, MessageOutcome::Planned | MessageOutcome::Done);
            match &change.now {
                Some(now) if going_on && !action.is_met_by(&change.before.id, now) => {
                    sent.places.push(at);
                    sent.ids.push(change.before.id.clone());
                    sent.states.push(now.clone());
                }
                _ => {}
            }
        }
        sent
    }
}

/// Applies the actions in order, and compares the states. Changes in doubt are looked up for the
/// time `look`.
pub(super) async fn apply_actions(work: &mut AccountBatch, look: Duration) {
    let mut misses = Vec::new();
    for action in &work.actions {
        let sent = ActedMessages::new(work, action);
        if sent.states.is_empty() {
            continue;
        }
        let mailbox = &*work.chosen.mailbox;
        let mut answers = mailbox.apply(&sent.states, &action.step).await;
        look_again(mailbox, action, &sent, &mut answers, look).await;
        let mut answers = answers.into_iter();
        for at in sent.places {
            if let Some(change) = work.changes.get_mut(at) {
                let error = record_answer(change, action, answers.next());
                misses.extend(error.map(|error| unmet_state(change, action, &error)));
            }
        }
    }
    work.misses.append(&mut misses);
    // A state that was right before any action needed it counts as done.
    for change in &mut work.changes {
        if change.outcome == MessageOutcome::Planned {
            change.outcome = MessageOutcome::Done;
        }
    }
}

/// Records the provider's answer to an action on one message; returns the reason if the message is
/// not in the expected state.
fn record_answer(
    change: &mut MessageChange,
    action: &PlannedAction,
    answer: Option<Result<Option<MailState>>>,
) -> Option<Error> {
    let began = change.outcome == MessageOutcome::Done;
    let (outcome, error) = match answer {
        Some(Ok(now)) => {
            let done = action.is_done(&change.before.id, now.as_ref());
            let missing = now.is_none();
            change.now = now;
            match (done, missing) {
                (true, _) => (MessageOutcome::Done, None),
                (false, true) => (MessageOutcome::Failed, Some(deleted_meanwhile())),
                (false, false) => (MessageOutcome::Open, Some(not_so())),
            }
        }
        Some(Err(error)) if error.is_open() => (MessageOutcome::Open, Some(error)),
        // An earlier action was carried out, so the message is partly changed.
        Some(Err(error)) if began => (MessageOutcome::Open, Some(error)),
        Some(Err(error)) => (MessageOutcome::Failed, Some(error)),
        None => (MessageOutcome::Open, Some(unanswered())),
    };
    change.outcome = outcome;
    error
}

/// Returns a message that is not in the expected state because of this error.
fn unmet_state(change: &MessageChange, action: &PlannedAction, error: &Error) -> UnmetState {
    let id = change.before.id.clone();
    if !error.is_open() {
        return UnmetState { id, result: "failed", why: error.to_string() };
    }
    let next = if action.is_copy() {
        "so check the folder before copying again"
    } else {
        "so call again: that changes nothing twice"
    };
    let why = format!("{}: it may be done anyway, {next}", error.message());
    UnmetState { id, result: "unknown", why }
}

/// Looks up changes whose responses were lost, until the messages are in the expected
/// state or the time is up.
async fn look_again(
    mailbox: &dyn Mailbox,
    action: &PlannedAction,
    sent: &ActedMessages,
    answers: &mut [Result<Option<MailState>>],
    look: Duration,
) {
    let open = |answer: &Result<Option<MailState>>| matches!(answer, Err(error) if error.is_open());
    // The state of a message does not show whether it was copied, so copies are not looked up.
    let places: Vec<usize> = (0..answers.len())
        .filter(|at| answers.get(*at).is_some_and(open) && !action.is_copy())
        .collect();
    let (places, found) = (&places, &Mutex::new(HashMap::new()));
    look_for(look, || async move {
        let known: Vec<usize> = lock(found).keys().copied().collect();
        let missing: Vec<usize> = places.iter().copied().filter(|at| !known.contains(at)).collect();
        let now: Vec<MessageId> =
            missing.iter().filter_map(|at| Some(sent.states.get(*at)?.id.clone())).collect();
        for (at, state) in missing.iter().zip(mailbox.states(&now).await) {
            let state = match state {
                Ok(state) => Some(state),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                // Looked up again until the time is up.
                Err(_) => continue,
            };
            if sent.ids.get(*at).is_some_and(|id| action.is_done(id, state.as_ref())) {
                lock(found).insert(*at, state);
            }
        }
        (lock(found).len() == places.len()).then_some(())
    })
    .await;
    for (at, state) in lock(found).drain() {
        if let Some(answer) = answers.get_mut(at) {
            *answer = Ok(state);
        }
    }
}

/// Locks a mutex, even if a thread panicked while it held the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the error for a message that was deleted during the change.
fn deleted_meanwhile() -> Error {
    Error::new(ErrorKind::NotFound, "it no longer exists").next("search again")
}

/// Returns the error for a change that the provider confirmed without making it.
fn not_so() -> Error {
    Error::new(ErrorKind::Conflict, "the provider accepted the change but did not apply it")
        .next("look at it with mail_read")
}

/// Returns the error for a message whose state is missing from the response.
fn unanswered() -> Error {
    Error::new(ErrorKind::Network, "the provider did not report its state")
}
