//! Records of the changes of a mailbox.
//!
//! Gmail's history and Graph's deltas are built from them. `change.rs` makes the changes.

use crate::store::message::Message;

/// A recorded change of one message.
#[derive(Debug, Clone)]
pub(crate) struct HistoryRecord {
    /// The history id, which increases from record to record.
    pub history: u64,
    /// The message's id.
    pub message: u64,
    /// The id of the thread.
    pub thread: u64,
    /// The message's labels after the change, or at its deletion.
    pub labels: Vec<String>,
    /// The kind of change.
    pub what: HistoryEvent,
}

/// A kind of change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HistoryEvent {
    /// The message arrived.
    Added,
    /// Labels that were added and removed; if both are empty, the contents changed.
    Labels(Vec<String>, Vec<String>),
    /// The message was deleted permanently.
    Deleted,
}

impl HistoryRecord {
    /// Returns the record of a change at the message's history id.
    pub fn new(message: &Message, what: HistoryEvent) -> Self {
        Self {
            history: message.history,
            message: message.id,
            thread: message.thread,
            labels: message.labels.clone(),
            what,
        }
    }
}
