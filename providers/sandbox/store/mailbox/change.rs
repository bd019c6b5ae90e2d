//! Mailboxes that change while the sandbox runs, and the record of it.
//!
//! A mailbox is never altered: a change makes the next state of it, and
//! requests under way keep the one they began with (`state.rs`). What has
//! changed is listed in numbered records, which Gmail's history and Graph's delta
//! are made of.

use std::sync::Arc;

use super::{ArrivingMessage, Mailbox};
use crate::store::labels::UserLabel;
use crate::store::message::{Message, MessageFacts};

/// What becomes of a mailbox.
pub(crate) enum MailboxChange {
    /// A message comes, under the labels of its header section; one that is
    /// there already, to the byte, does not.
    Comes(Box<ArrivingMessage>),
    /// A message comes that gets an id of its own, however often it comes.
    Enters(Box<MailboxEntry>),
    /// A message has these labels from now on.
    Labels(u64, Vec<String>),
    /// Messages have these labels from now on. Ids of none are passed over.
    Relabels(Vec<(u64, Vec<String>)>),
    /// A message has other contents from now on, and labels; its id and its
    /// conversation stay. Provided for drafts that are worked on in place.
    Rewrites(u64, Box<MailboxEntry>),
    /// A message is deleted and another comes, which is of the same draft and,
    /// unless it names one, of the same conversation.
    Replaces(u64, Box<MailboxEntry>),
    /// Messages are deleted for good. Ids of none are passed over.
    Goes(Vec<u64>),
    /// A user's label is made, or another one of its id changed.
    Label(Box<UserLabel>),
    /// A user's label is deleted, and every message loses it.
    LabelGoes(String),
    /// Nothing is known any more of what has happened so far.
    Forgets,
}

/// A message on its way into a mailbox, with everything about it.
#[derive(Debug, Clone)]
pub(crate) struct MailboxEntry {
    /// Its bytes.
    pub raw: Arc<[u8]>,
    /// What its header section says, and when it comes.
    pub facts: MessageFacts,
    /// The ids of its labels; with `DRAFT` it is a draft.
    pub labels: Vec<String>,
    /// The id of the conversation it belongs to; without one, or without
    /// messages of it, its conversation is looked for.
    pub thread: Option<u64>,
}

/// One thing that has happened.
#[derive(Debug, Clone)]
pub(crate) struct HistoryRecord {
    /// Its number; they grow.
    pub history: u64,
    /// The message's id.
    pub message: u64,
    /// The id of its conversation.
    pub thread: u64,
    /// The message's labels afterwards, or when it went.
    pub labels: Vec<String>,
    /// What has happened to it.
    pub what: HistoryEvent,
}

/// What has happened to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HistoryEvent {
    /// It came.
    Added,
    /// It has labels more, and labels less; with neither, other contents.
    Labels(Vec<String>, Vec<String>),
    /// It was deleted for good.
    Deleted,
}

impl Mailbox {
    /// The next state of the mailbox, and the id of the message that the change
    /// is about: the last of several, 0 for none. Nothing if there is no such
    /// message or label, or the message is there already.
    pub fn next(&self, change: MailboxChange) -> Option<(Self, u64)> {
        let mut next = self.clone();
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
                self.put(message);
                Some(id)
            }
            MailboxChange::Replaces(id, mut entry) => {
                let thread = self.message(id)?.thread;
                entry.thread.get_or_insert(thread);
                // The new one comes first: a conversation of this draft alone
                // must not end in between.
                let new = self.enters(*entry);
                self.hand_on_draft(id, new);
                self.goes(id);
                Some(new)
            }
            MailboxChange::Goes(ids) => {
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
                self.history += 1;
                self.forgotten = self.history;
                Some(0)
            }
        }
    }

    /// Takes a message in under an id of its own, which it gives.
    fn enters(&mut self, entry: MailboxEntry) -> u64 {
        let later = Some(self.history + 1);
        let id = Self::message_id(&self.address, &entry.facts, &entry.raw, later);
        let message = Message::new(id, entry.labels, entry.facts, entry.raw);
        self.comes(message, entry.thread);
        id
    }

    /// Takes a message in, in the conversation that it names or belongs to.
    fn comes(&mut self, mut message: Message, thread: Option<u64>) {
        let thread = thread.filter(|thread| self.thread(*thread).is_some());
        let thread = thread.or_else(|| self.conversation_of(&message));
        message.thread = thread.unwrap_or(message.id);
        self.record(&mut message, HistoryEvent::Added);
        self.put(message);
    }

    /// Gives a message other labels; what has them already is left alone.
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
        self.put(message);
    }

    /// Deletes a message; false if there is none.
    fn goes(&mut self, id: u64) -> bool {
        let Some(message) = self.lose(id) else {
            return false;
        };
        let mut message = Message::clone(&message);
        self.record(&mut message, HistoryEvent::Deleted);
        true
    }

    /// Notes what has happened to a message, under the next number.
    fn record(&mut self, message: &mut Message, what: HistoryEvent) {
        self.history += 1;
        message.history = self.history;
        self.records.push(Arc::new(HistoryRecord::of(message, what)));
    }
}

/// The labels more and the labels less.
fn difference(old: &[String], new: &[String]) -> (Vec<String>, Vec<String>) {
    let without = |all: &[String], these: &[String]| -> Vec<String> {
        let left = all.iter().filter(|label| !these.contains(label));
        left.cloned().collect()
    };
    (without(new, old), without(old, new))
}

impl HistoryRecord {
    /// What has happened to a message at its history id.
    pub fn of(message: &Message, what: HistoryEvent) -> Self {
        Self {
            history: message.history,
            message: message.id,
            thread: message.thread,
            labels: message.labels.clone(),
            what,
        }
    }
}
