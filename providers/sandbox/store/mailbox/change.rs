//! Changes of mailboxes while the sandbox runs, and their record.
//!
//! A mailbox is never altered: each change creates its next state, and requests in progress keep
//! the state they began with (`state.rs`). Changes are listed in numbered records, from which
//! Gmail's history and Graph's deltas are built.

use std::sync::Arc;

use super::record::{HistoryEvent, HistoryRecord};
use super::{ArrivingMessage, Mailbox};
use crate::store::labels::UserLabel;
use crate::store::message::{Message, MessageFacts};

/// A change of a mailbox.
pub(crate) enum MailboxChange {
    /// Adds a message under the labels of its header section, unless the same bytes are already in
    /// the mailbox.
    Comes(Box<ArrivingMessage>),
    /// Adds a message under an id of its own, even if the same bytes are already in the mailbox.
    Enters(Box<MailboxEntry>),
    /// Sets the labels of a message.
    Labels(u64, Vec<String>),
    /// Sets the labels of messages. Unknown ids are skipped.
    Relabels(Vec<(u64, Vec<String>)>),
    /// Replaces the contents and labels of a message, which keeps its id and thread. Meant for
    /// drafts that are edited in place.
    Rewrites(u64, Box<MailboxEntry>),
    /// Deletes a message and adds another one, which belongs to the same draft and, unless it names
    /// another, to the same thread.
    Replaces(u64, Box<MailboxEntry>),
    /// Deletes messages permanently. Unknown ids are skipped.
    Goes(Vec<u64>),
    /// Creates a user's label, or replaces the one with the same id.
    Label(Box<UserLabel>),
    /// Deletes a user's label and removes it from all messages.
    LabelGoes(String),
    /// Makes all history so far unavailable.
    Forgets,
}

/// A new message with all its properties.
#[derive(Debug, Clone)]
pub(crate) struct MailboxEntry {
    /// The bytes.
    pub raw: Arc<[u8]>,
    /// The facts of its header section, and its time of arrival.
    pub facts: MessageFacts,
    /// The ids of its labels. With `DRAFT`, it is a draft.
    pub labels: Vec<String>,
    /// The thread it asks for. If there is none or it has no messages, the thread is determined
    /// from the header fields.
    pub thread: Option<u64>,
}

impl Mailbox {
    /// Returns the next state of the mailbox, and the id of the message that was changed: the last
    /// one if there are several, 0 if there is none. `None` if the message or label does not exist,
    /// or the message is already in the mailbox.
    pub fn next(&self, change: MailboxChange) -> Option<(Self, u64)> {
        let mut next = self.clone();
        // The contacts are derived from the messages and are computed anew for the next state.
        next.people.take();
        let about = next.apply(change)?;
        Some((next, about))
    }

    fn apply(&mut self, change: MailboxChange) -> Option<u64> {
        match change {
            MailboxChange::Comes(arrival) => {
                let ArrivingMessage { raw, facts, .. } = *arrival;
                let id = Self::message_id(&self.address, &facts, &raw, None);
                if self.message(id).is_some() {
                    return None;
                }
                let labels = self.labels.ids(facts.labels.as_deref());
                self.comes(Message::new(id, labels, facts, raw), None);
                Some(id)
            }
            MailboxChange::Enters(entry) => Some(self.enters(*entry)),
            MailboxChange::Labels(id, labels) => {
                self.message(id)?;
                self.relabel(id, labels);
                Some(id)
            }
            MailboxChange::Relabels(messages) => {
                let last = messages.last().map_or(0, |(id, _)| *id);
                for (id, labels) in messages {
                    self.relabel(id, labels);
                }
                Some(last)
            }
            MailboxChange::Rewrites(id, entry) => {
                let old = self.message(id)?;
                let (more, less) = difference(&old.labels, &entry.labels);
                let mut message = Message::new(id, entry.labels, entry.facts, entry.raw);
                message.thread = old.thread;
                self.record(&mut message, HistoryEvent::Labels(more, less));
                self.put_message(message);
                Some(id)
            }
            MailboxChange::Replaces(id, mut entry) => {
                let thread = self.message(id)?.thread;
                entry.thread.get_or_insert(thread);
                // The new message is added first: the thread may consist of this draft alone, and
                // must not end in between.
                let new = self.enters(*entry);
                self.hand_on_draft(id, new);
                self.goes(id);
                Some(new)
            }
            MailboxChange::Goes(ids) => {
                // A batch deletion skips ids that do not exist, as in Gmail's `batchDelete`.
                let deleted = ids.into_iter().filter(|id| self.goes(*id));
                deleted.last()
            }
            MailboxChange::Label(label) => {
                self.labels.set(*label);
                Some(0)
            }
            MailboxChange::LabelGoes(id) => {
                if !self.labels.remove(&id) {
                    return None;
                }
                let under = self.messages.iter().filter(|message| message.has(&id));
                let under: Vec<(u64, Vec<String>)> = under
                    .map(|message| {
                        let left = message.labels.iter().filter(|label| **label != id);
                        (message.id, left.cloned().collect())
                    })
                    .collect();
                for (id, labels) in under {
                    self.relabel(id, labels);
                }
                Some(0)
            }
            MailboxChange::Forgets => {
                // Incremented first, so that ids that clients hold are refused and the new one is
                // accepted.
                self.history += 1;
                self.forgotten = self.history;
                Some(0)
            }
        }
    }

    /// Adds a message under an id of its own, and returns the id.
    fn enters(&mut self, entry: MailboxEntry) -> u64 {
        // The history id makes the message's id unique, even if the same bytes are added twice.
        let later = Some(self.history + 1);
        let id = Self::message_id(&self.address, &entry.facts, &entry.raw, later);
        let message = Message::new(id, entry.labels, entry.facts, entry.raw);
        self.comes(message, entry.thread);
        id
    }

    /// Adds a message to the thread that it names, or else to the one its header fields lead to.
    fn comes(&mut self, mut message: Message, thread: Option<u64>) {
        // The thread may have lost its last message since the request was read.
        let thread = thread.filter(|thread| self.thread(*thread).is_some());
        let thread = thread.or_else(|| self.conversation_of(&message));
        message.thread = thread.unwrap_or(message.id);
        self.record(&mut message, HistoryEvent::Added);
        self.put_message(message);
    }

    /// Sets the labels of a message. A message that already has them is left unchanged.
    fn relabel(&mut self, id: u64, labels: Vec<String>) {
        let Some(old) = self.message(id) else {
            return;
        };
        let (more, less) = difference(&old.labels, &labels);
        if more.is_empty() && less.is_empty() {
            return;
        }
        let mut message = old.clone();
        message.labels = labels;
        self.record(&mut message, HistoryEvent::Labels(more, less));
        self.put_message(message);
    }

    /// Deletes a message. Returns false if it does not exist.
    fn goes(&mut self, id: u64) -> bool {
        let Some(message) = self.lose(id) else {
            return false;
        };
        let mut message = Message::clone(&message);
        self.record(&mut message, HistoryEvent::Deleted);
        true
    }

    /// Records a change of a message under the next history id.
    fn record(&mut self, message: &mut Message, what: HistoryEvent) {
        self.history += 1;
        message.history = self.history;
        self.records.push(Arc::new(HistoryRecord::new(message, what)));
    }
}

/// Returns the added and the removed labels.
fn difference(old: &[String], new: &[String]) -> (Vec<String>, Vec<String>) {
    let without = |all: &[String], these: &[String]| -> Vec<String> {
        let left = all.iter().filter(|label| !these.contains(label));
        left.cloned().collect()
    };
    (without(new, old), without(old, new))
}
