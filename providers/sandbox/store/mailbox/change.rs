//! Mailboxes that change while the sandbox runs, and the record of it.
//!
//! A mailbox is never altered: a change makes the next state of it, and
//! requests under way keep the one they began with (`state.rs`). What has
//! changed is told by numbered records, which Gmail's history and Graph's delta
//! are made of.

use std::sync::Arc;

use super::{Arrival, Mailbox};
use crate::store::labels::UserLabel;
use crate::store::letter::{Facts, Letter};

/// What becomes of a mailbox.
pub(crate) enum Change {
    /// A letter comes, under the labels of its header section; one that is
    /// there already, to the byte, does not.
    Comes(Box<Arrival>),
    /// A letter comes that gets an id of its own, however often it comes.
    Enters(Box<Entry>),
    /// A letter has these labels from now on.
    Labels(u64, Vec<String>),
    /// Letters have these labels from now on. Ids of none are passed over.
    Relabels(Vec<(u64, Vec<String>)>),
    /// A letter has other contents from now on, and labels; its id and its
    /// conversation stay. Provided for drafts that are worked on in place.
    Rewrites(u64, Box<Entry>),
    /// A letter is deleted and another comes, which is of the same draft and,
    /// unless it names one, of the same conversation.
    Replaces(u64, Box<Entry>),
    /// Letters are deleted for good. Ids of none are passed over.
    Goes(Vec<u64>),
    /// A user's label is made, or another one of its id changed.
    Label(Box<UserLabel>),
    /// A user's label is deleted, and every letter loses it.
    LabelGoes(String),
    /// Nothing is known any more of what has happened so far.
    Forgets,
}

/// A letter on its way into a mailbox that is told everything about it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its bytes.
    pub raw: Arc<[u8]>,
    /// What its header section says, and when it comes.
    pub facts: Facts,
    /// The ids of its labels; with `DRAFT` it is a draft.
    pub labels: Vec<String>,
    /// The id of the conversation it belongs to; without one, or without
    /// letters of it, its conversation is looked for.
    pub thread: Option<u64>,
}

/// One thing that has happened.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// Its number; they grow.
    pub history: u64,
    /// The letter's id.
    pub letter: u64,
    /// The id of its conversation.
    pub thread: u64,
    /// The letter's labels afterwards, or when it went.
    pub labels: Vec<String>,
    /// What has happened to it.
    pub what: What,
}

/// What has happened to a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// It came.
    Came,
    /// It has labels more, and labels less; with neither, other contents.
    Labels(Vec<String>, Vec<String>),
    /// It was deleted for good.
    Went,
}

impl Mailbox {
    /// The next state of the mailbox, and the id of the letter that the change
    /// is about: the last of several, 0 for none. Nothing if there is no such
    /// letter or label, or the letter is there already.
    pub fn next(&self, change: Change) -> Option<(Self, u64)> {
        let mut next = self.clone();
        next.people.take();
        let about = next.carry_out(change)?;
        Some((next, about))
    }

    fn carry_out(&mut self, change: Change) -> Option<u64> {
        match change {
            Change::Comes(arrival) => {
                let Arrival { raw, facts, .. } = *arrival;
                let id = Self::letter_id(&self.address, &facts, &raw, None);
                if self.letter(id).is_some() {
                    return None;
                }
                let labels = self.labels.ids(facts.labels.as_deref());
                self.comes(Letter::new(id, labels, facts, raw), None);
                Some(id)
            }
            Change::Enters(entry) => Some(self.enters(*entry)),
            Change::Labels(id, labels) => {
                self.letter(id)?;
                self.relabel(id, labels);
                Some(id)
            }
            Change::Relabels(letters) => {
                let last = letters.last().map_or(0, |(id, _)| *id);
                for (id, labels) in letters {
                    self.relabel(id, labels);
                }
                Some(last)
            }
            Change::Rewrites(id, entry) => {
                let old = self.letter(id)?;
                let (more, less) = difference(&old.labels, &entry.labels);
                let mut letter = Letter::new(id, entry.labels, entry.facts, entry.raw);
                letter.thread = old.thread;
                self.record(&mut letter, What::Labels(more, less));
                self.put(letter);
                Some(id)
            }
            Change::Replaces(id, mut entry) => {
                let thread = self.letter(id)?.thread;
                entry.thread.get_or_insert(thread);
                // The new one comes first: a conversation of this draft alone
                // must not end in between.
                let new = self.enters(*entry);
                self.hand_on_draft(id, new);
                self.goes(id);
                Some(new)
            }
            Change::Goes(ids) => {
                let gone = ids.into_iter().filter(|id| self.goes(*id));
                gone.last()
            }
            Change::Label(label) => {
                self.labels.set(*label);
                Some(0)
            }
            Change::LabelGoes(id) => {
                if !self.labels.remove(&id) {
                    return None;
                }
                let under = self.letters.iter().filter(|letter| letter.has(&id));
                let under: Vec<(u64, Vec<String>)> = under
                    .map(|letter| {
                        let left = letter.labels.iter().filter(|label| **label != id);
                        (letter.id, left.cloned().collect())
                    })
                    .collect();
                for (id, labels) in under {
                    self.relabel(id, labels);
                }
                Some(0)
            }
            Change::Forgets => {
                self.history += 1;
                self.forgotten = self.history;
                Some(0)
            }
        }
    }

    /// Takes a letter in under an id of its own, which it gives.
    fn enters(&mut self, entry: Entry) -> u64 {
        let later = Some(self.history + 1);
        let id = Self::letter_id(&self.address, &entry.facts, &entry.raw, later);
        let letter = Letter::new(id, entry.labels, entry.facts, entry.raw);
        self.comes(letter, entry.thread);
        id
    }

    /// Takes a letter in, in the conversation that it names or belongs to.
    fn comes(&mut self, mut letter: Letter, thread: Option<u64>) {
        let thread = thread.filter(|thread| self.thread(*thread).is_some());
        let thread = thread.or_else(|| self.conversation_of(&letter));
        letter.thread = thread.unwrap_or(letter.id);
        self.record(&mut letter, What::Came);
        self.put(letter);
    }

    /// Gives a letter other labels; what has them already is left alone.
    fn relabel(&mut self, id: u64, labels: Vec<String>) {
        let Some(old) = self.letter(id) else {
            return;
        };
        let (more, less) = difference(&old.labels, &labels);
        if more.is_empty() && less.is_empty() {
            return;
        }
        let mut letter = old.clone();
        letter.labels = labels;
        self.record(&mut letter, What::Labels(more, less));
        self.put(letter);
    }

    /// Deletes a letter; false if there is none.
    fn goes(&mut self, id: u64) -> bool {
        let Some(letter) = self.lose(id) else {
            return false;
        };
        let mut letter = Letter::clone(&letter);
        self.record(&mut letter, What::Went);
        true
    }

    /// Notes what has happened to a letter, under the next number.
    fn record(&mut self, letter: &mut Letter, what: What) {
        self.history += 1;
        letter.history = self.history;
        self.records.push(Arc::new(Record::of(letter, what)));
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

impl Record {
    /// What has happened to a letter at its history id.
    pub fn of(letter: &Letter, what: What) -> Self {
        Self {
            history: letter.history,
            letter: letter.id,
            thread: letter.thread,
            labels: letter.labels.clone(),
            what,
        }
    }
}
