//! The changes that a call makes to the messages of each account.

use std::collections::BTreeMap;

use daysheet_core::ids::MessageId;
use daysheet_core::provider::mail::MailState;

use super::actions::{CreatedFolder, PlannedAction};
use super::chosen::ChosenMessages;
use crate::pipeline::write::log::{AuditEntry, LoggedTool};
use crate::pipeline::write::undo_state::{AccountUndo, CreatedUndo, MessageUndo};

/// The actions on messages of one account, and their outcomes.
pub(super) struct AccountBatch {
    pub(super) chosen: ChosenMessages,
    pub(super) actions: Vec<PlannedAction>,
    /// Folders and labels that were created for them.
    pub(super) created: Vec<CreatedFolder>,
    /// Messages that are not yet in the expected state, in order.
    pub(super) changes: Vec<MessageChange>,
    pub(super) unchanged: usize,
    pub(super) misses: Vec<UnmetState>,
}

/// A message that changes.
pub(crate) struct MessageChange {
    pub(crate) before: MailState,
    /// Its present state; `None` if it was deleted.
    pub(crate) now: Option<MailState>,
    pub(crate) outcome: MessageOutcome,
}

/// The outcome for one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageOutcome {
    Planned,
    Done,
    /// Unchanged, because no write was carried out.
    Failed,
    /// Unknown, or only partly done.
    Open,
}

/// A message that is not in the expected state, and why.
pub(crate) struct UnmetState {
    pub(crate) id: MessageId,
    pub(crate) result: &'static str,
    pub(crate) why: String,
}

impl AccountBatch {
    /// Creates a batch without actions and changes.
    pub(super) fn new(chosen: ChosenMessages) -> Self {
        Self {
            chosen,
            actions: Vec::new(),
            created: Vec::new(),
            changes: Vec::new(),
            unchanged: 0,
            misses: Vec::new(),
        }
    }

    /// Returns an entry of the audit log.
    pub(super) fn entry<'a>(&'a self, op: &'a str, outcome: &'a str) -> AuditEntry<'a> {
        let ids = self.changes.iter().map(|one| one.before.id.clone());
        let email = &self.chosen.account.email;
        let ids = ids.map(String::from).collect();
        AuditEntry { ids, outcome, ..AuditEntry::new(email, LoggedTool::MAIL_MODIFY, op) }
    }

    /// Returns the number of changes with this outcome.
    pub(super) fn count(&self, turn: MessageOutcome) -> usize {
        let same = self.changes.iter().filter(|one| one.outcome == turn);
        same.count()
    }

    /// Returns the data for undoing the changes with such an outcome.
    pub(super) fn undo_of(&self, selects: impl Fn(MessageOutcome) -> bool) -> AccountUndo {
        let changes = self.changes.iter().filter(|one| selects(one.outcome));
        AccountUndo {
            account: self.chosen.account.id.clone(),
            mail: changes
                .map(|one| MessageUndo {
                    before: one.before.clone(),
                    // Only the state after a completed write is known.
                    after: match one.outcome {
                        MessageOutcome::Done => one.now.clone(),
                        _ => None,
                    },
                })
                .collect(),
            created: self
                .created
                .iter()
                .map(|one| CreatedUndo { id: one.id.clone(), category: one.category })
                .collect(),
        }
    }

    /// Adds a message that is not in the expected state.
    pub(super) fn miss(&mut self, id: &MessageId, result: &'static str, why: impl Into<String>) {
        self.misses.push(UnmetState { id: id.clone(), result, why: why.into() });
    }
}

/// Groups equal items, in the order of their first.
pub(super) fn grouped<'a, K: Ord + Clone>(
    items: impl Iterator<Item = (K, &'a str)>,
) -> Vec<(K, Vec<&'a str>)> {
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    let mut groups: Vec<(K, Vec<&str>)> = Vec::new();
    for (key, id) in items {
        let at = *places.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, ids)) => ids.push(id),
            None => groups.push((key, vec![id])),
        }
    }
    groups
}
