//! Answered messages, found by their threads, because no service reports them.
//!
//! A message is answered by any later message of the account in its thread. A draft is not an
//! answer; it belongs to the newest message before it.

use std::collections::HashMap;

use daysheet_core::error::{Error, Result};
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::ids::{AccountId, MessageId, ThreadId};
use daysheet_core::provider::{Account, Mailbox, ThreadMessage, ThreadRole};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{MESSAGE, Table};
use daysheet_core::text::{Note, note};
use futures_util::future::join_all;
use serde_json::Value;

use super::listed_threads::key_and_thread;
use crate::pipeline::context::Context;
use crate::store::HandleKind;

/// The column that shows it.
pub(super) const COLUMN: &str = "answered";

/// The state of the answer to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerState {
    Yes,
    No,
    /// There is a draft, by the provider's id of its message.
    Draft(MessageId),
}

/// The answers by the ids of messages or threads, without the user's own messages.
pub(super) type AnswerStates = HashMap<String, AnswerState>;

/// Threads that have been fetched, by their ids.
pub(super) type FetchedThreads = HashMap<ThreadId, Vec<ThreadMessage>>;

/// Looks up messages or threads, which were fetched with their ids and threads, unless they are
/// `known`. Returns the known answers, and an error if some are unknown.
pub(super) async fn look_up(
    mailbox: &dyn Mailbox,
    table: &'static Table,
    items: &[Value],
    context: &RowContext<'_>,
    known: Option<&FetchedThreads>,
) -> (AnswerStates, Option<Error>) {
    let of_messages = *table == MESSAGE;
    let keys: Vec<(String, ThreadId)> =
        items.iter().filter_map(|item| key_and_thread(table, item, context)).collect();
    let mut threads: Vec<ThreadId> = Vec::new();
    for (_, thread) in &keys {
        if !threads.contains(thread) {
            threads.push(thread.clone());
        }
    }
    let mut answers = AnswerStates::new();
    if threads.is_empty() {
        return (answers, None);
    }
    let known = |thread: &ThreadId| known.and_then(|known| known.get(thread)).cloned();
    let unknown: Vec<ThreadId> =
        threads.iter().filter(|thread| known(thread).is_none()).cloned().collect();
    let found = if unknown.is_empty() { Vec::new() } else { mailbox.thread_states(&unknown).await };
    // A mailbox without this capability returns no states at all.
    if found.is_empty() && !unknown.is_empty() {
        let error = Error::argument("this mailbox cannot report whether messages were answered");
        return (answers, Some(error.next("leave out `is:answered` and `is:unanswered`")));
    }
    let mut failed = None;
    let mut found = found.into_iter();
    for thread in &threads {
        let found = match known(thread) {
            Some(messages) => Some(Ok(messages)),
            None => found.next(),
        };
        let Some(found) = found else {
            continue;
        };
        let messages = match found {
            Ok(messages) => messages,
            Err(error) => {
                failed.get_or_insert(error);
                continue;
            }
        };
        for (id, _) in keys.iter().filter(|(_, own)| own == thread) {
            let answered =
                if of_messages { of_message(&messages, id) } else { of_thread(&messages) };
            answers.extend(answered.map(|answered| (id.clone(), answered)));
        }
    }
    (answers, failed)
}

/// Returns the note on messages whose answers are unknown.
pub(super) fn unknown(error: &Error) -> Note {
    note!("answered is null where unknown: {}", error)
}

/// Keeps the items that are answered, or those that are not. The user's own messages are neither.
///
/// # Errors
/// If it is unknown for any item.
pub(super) async fn keep(
    mailbox: &dyn Mailbox,
    table: &'static Table,
    items: &mut Vec<Value>,
    context: &RowContext<'_>,
    is_answered: bool,
) -> Result<AnswerStates> {
    let (answers, failed) = look_up(mailbox, table, items, context, None).await;
    if let Some(error) = failed {
        return Err(error);
    }
    items.retain(|item| {
        let id = flatten::key(table, item, context);
        let answered = id.and_then(|id| answers.get(&id));
        answered.is_some_and(|answered| (*answered == AnswerState::Yes) == is_answered)
    });
    Ok(answers)
}

/// Fetches the threads of messages, by account, as far as earlier lists had them. Failures are left
/// to [`look_up`].
pub(super) async fn listed_threads(
    ctx: &Context,
    messages: &[(AccountId, Vec<MessageId>)],
) -> Vec<(AccountId, FetchedThreads)> {
    let fetched = messages.iter().map(|(account, ids)| {
        let threads = ctx.states.threads.threads_of(account, ids.iter());
        let look = async {
            if threads.is_empty() {
                return Ok(FetchedThreads::new());
            }
            let account = ctx.accounts.by_id(account).await?;
            let states = ctx.connect.mailbox(&account)?.thread_states(&threads).await;
            let found = threads.into_iter().zip(states);
            Ok(found.filter_map(|(thread, state)| Some((thread, state.ok()?))).collect())
        };
        let look =
            ctx.await_counted((messages.len() > 1).then_some("lists of conversations"), look);
        async move { Some((account.clone(), look.await.ok()?)) }
    });
    join_all(fetched).await.into_iter().flatten().collect()
}

/// Fills the column of rows of one account, whose provider ids are known.
pub(super) async fn fill_answered(
    ctx: &Context,
    rows: &mut RowTable,
    answers: &AnswerStates,
    account: &Account,
) -> Result<()> {
    for at in 0..rows.len() {
        let id = rows.row(at).and_then(|(_, extra)| extra.provider_id.clone());
        let word = match id.and_then(|id| answers.get(&id)) {
            // The cell stays null for the user's own messages, and for unknown answers.
            None => continue,
            Some(AnswerState::Yes) => "yes".to_owned(),
            Some(AnswerState::No) => "no".to_owned(),
            Some(AnswerState::Draft(draft)) => {
                let kind = HandleKind::Message;
                let numbers = ctx.store.handles(&account.id, kind, &[draft.as_str()]).await?;
                let handle = numbers.first().map(|number| kind.handle(*number));
                format!("draft {}", handle.unwrap_or_default())
            }
        };
        if let Some(cell) = rows.cell_mut(at, COLUMN) {
            *cell = RowCell::Text(word);
        }
    }
    Ok(())
}

/// Returns the answer to a message of a thread; `None` for the user's own message.
fn of_message(thread: &[ThreadMessage], id: &str) -> Option<AnswerState> {
    let at = thread.iter().position(|one| one.id == id)?;
    let own = thread.get(at)?;
    (own.role == ThreadRole::Received).then(|| after(thread.get(at + 1..).unwrap_or_default()))
}

/// Returns the answer to the newest received message of a thread.
fn of_thread(thread: &[ThreadMessage]) -> Option<AnswerState> {
    let at = thread.iter().rposition(|one| one.role == ThreadRole::Received)?;
    Some(after(thread.get(at + 1..).unwrap_or_default()))
}

/// Returns the answer that the messages after one give it.
fn after(later: &[ThreadMessage]) -> AnswerState {
    if later.iter().any(|one| one.role == ThreadRole::Sent) {
        return AnswerState::Yes;
    }
    // A draft after a newer received message answers that message.
    let mut next = later.iter().take_while(|one| one.role != ThreadRole::Received);
    match next.find(|one| one.role == ThreadRole::Draft) {
        Some(draft) => AnswerState::Draft(draft.id.clone()),
        None => AnswerState::No,
    }
}
