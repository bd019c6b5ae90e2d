//! Mailboxes that change while the sandbox runs, and the record of it.
//!
//! A mailbox is never altered: a change makes the next state of it, and
//! requests under way keep the one they began with ([`Chain`]). What has
//! changed is told by numbered records, which Gmail's history is made of.

use std::sync::OnceLock;

use super::letter::Letter;
use super::mailbox::{Arrival, Mailbox};
use super::threads;

/// What becomes of a mailbox.
pub(super) enum Change {
    /// A letter comes.
    Comes(Box<Arrival>),
    /// A letter has these labels from now on.
    Labels(u64, Vec<String>),
    /// A letter is deleted for good.
    Goes(u64),
    /// Nothing is known any more of what has happened so far.
    Forgets,
}

/// One thing that has happened.
#[derive(Debug, Clone)]
pub(super) struct Record {
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
pub(super) enum What {
    /// It came.
    Came,
    /// It has labels more, and labels less.
    Labels(Vec<String>, Vec<String>),
    /// It was deleted for good.
    Went,
}

impl Mailbox {
    /// The next state of the mailbox; nothing if there is no such letter, or
    /// there is already.
    pub fn next(&self, change: Change) -> Option<Self> {
        let mut letters: Vec<Letter> = self.letters.iter().rev().cloned().collect();
        let mut labels = self.labels.clone();
        let history = self.history + 1;
        let mut records = self.records.clone();
        let mut forgotten = self.forgotten;
        match change {
            Change::Comes(arrival) => {
                let id = Self::letter_id(&self.address, &arrival);
                if self.letter(id).is_some() {
                    return None;
                }
                let ids = labels.ids(arrival.facts.labels.as_deref());
                let mut letter = Letter::new(id, ids, arrival.facts, arrival.raw);
                letter.history = history;
                letters.push(letter);
                records.extend(self.arrived(&mut letters, history));
            }
            Change::Labels(id, new) => {
                let letter = letters.iter_mut().find(|letter| letter.id == id)?;
                let without = |all: &[String], these: &[String]| -> Vec<String> {
                    let left = all.iter().filter(|label| !these.contains(label));
                    left.cloned().collect()
                };
                let what =
                    What::Labels(without(&new, &letter.labels), without(&letter.labels, &new));
                letter.labels = new;
                letter.history = history;
                records.push(Record::of(letter, what));
            }
            Change::Goes(id) => {
                let place = letters.iter().position(|letter| letter.id == id)?;
                let mut letter = letters.remove(place);
                letter.history = history;
                records.push(Record::of(&letter, What::Went));
            }
            Change::Forgets => forgotten = history,
        }
        Some(Self::of(
            self.address.clone(),
            letters,
            labels,
            history,
            records,
            forgotten,
        ))
    }

    /// Finds the conversation of the last letter, which has just come. Those of
    /// the others stay.
    fn arrived(&self, letters: &mut [Letter], history: u64) -> Option<Record> {
        let threads: Vec<u64> = letters.iter().map(|letter| letter.thread).collect();
        threads::join(letters);
        let first = letters.last()?.thread;
        for (letter, thread) in letters.iter_mut().zip(threads) {
            letter.thread = thread;
        }
        let last = letters.last_mut()?;
        last.thread = self.letter(first).map_or(last.id, |first| first.thread);
        last.history = history;
        Some(Record::of(last, What::Came))
    }
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

/// The states of one thing, the first and those after it. They are all kept:
/// whoever reads one may go on reading.
#[derive(Debug)]
pub(super) struct Chain<T> {
    state: T,
    next: OnceLock<Box<Chain<T>>>,
}

impl<T> Chain<T> {
    /// One state.
    pub fn new(state: T) -> Self {
        Self {
            state,
            next: OnceLock::new(),
        }
    }

    /// The state of now.
    pub fn now(&self) -> &T {
        &self.last().state
    }

    /// Makes the next state of the one of now; false when there is none.
    pub fn change(&self, mut change: impl FnMut(&T) -> Option<T>) -> bool {
        loop {
            let last = self.last();
            let Some(next) = change(&last.state) else {
                return false;
            };
            // Another thread may have been quicker: then once more from there.
            if last.next.set(Box::new(Self::new(next))).is_ok() {
                return true;
            }
        }
    }

    /// The state of now and its link.
    fn last(&self) -> &Self {
        let mut last = self;
        while let Some(next) = last.next.get() {
            last = next;
        }
        last
    }
}

impl<T> Drop for Chain<T> {
    /// One after the other: a long chain would not fit on the stack.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut chain) = next {
            next = chain.next.take();
        }
    }
}
