//! The threads of messages that were listed lately.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use daysheet_core::flatten::{self, RowContext};
use daysheet_core::ids::{AccountId, MessageId, ThreadId};
use daysheet_core::provider::Account;
use daysheet_core::schemas::{MESSAGE, Table};
use serde_json::Value;

/// The column of the thread that a message is in.
pub(crate) const THREAD: &str = "thread";

/// The most messages whose threads are remembered.
const REMEMBERED: usize = 5_000;

/// The threads of messages that were listed lately, by account and message: a message that is
/// read next has its thread looked up at the same time.
#[derive(Default)]
pub(crate) struct ListedThreads(Mutex<HashMap<(AccountId, MessageId), ThreadId>>);

impl ListedThreads {
    /// Remembers the threads of messages that were fetched with their ids and threads.
    pub(crate) fn note(&self, items: &[Value], context: &RowContext<'_>, account: &Account) {
        let mut threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The map has no order by which the oldest could be dropped.
        if threads.len() > REMEMBERED {
            threads.clear();
        }
        let known = items.iter().filter_map(|item| key_and_thread(&MESSAGE, item, context));
        threads.extend(known.map(|(id, thread)| ((account.id.clone(), id.into()), thread)));
    }

    /// Returns the remembered threads of these messages, each once.
    pub(crate) fn threads_of<'a>(
        &self,
        account: &AccountId,
        ids: impl Iterator<Item = &'a MessageId>,
    ) -> Vec<ThreadId> {
        let threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |id: &MessageId| threads.get(&(account.clone(), id.clone())).cloned();
        let found: BTreeSet<ThreadId> = ids.filter_map(of).collect();
        found.into_iter().collect()
    }
}

/// Returns the id of a message or thread and the thread that it is in.
pub(super) fn key_and_thread(
    table: &'static Table,
    item: &Value,
    context: &RowContext<'_>,
) -> Option<(String, ThreadId)> {
    let id = flatten::key(table, item, context)?;
    let thread: ThreadId = if *table == MESSAGE {
        flatten::texts(MESSAGE.field(THREAD)?, item, context).pop()?.into()
    } else {
        id.as_str().into()
    };
    (!thread.is_empty()).then_some((id, thread))
}
