//! A mailbox: letters in order, in conversations, under labels.
//!
//! It is the same for every provider; Gmail's shapes are made of it elsewhere.
//! A mailbox is built of letters and does not change; what becomes of it is in
//! `mailbox_change.rs`.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use super::contacts::{self, People};
use super::labels::UserLabels;
use super::letter::{Facts, Letter};
use super::mailbox_change::{Record, What};
use super::threads;

/// The history id before the first letter came.
const FIRST_HISTORY: u64 = 100_000;

/// A letter on its way into a mailbox.
#[derive(Debug, Clone)]
pub(super) struct Arrival {
    /// Where it was found, for the report.
    pub name: String,
    /// Its bytes.
    pub raw: Arc<[u8]>,
    /// What its header section says.
    pub facts: Facts,
}

/// One person's mail.
#[derive(Debug)]
pub(super) struct Mailbox {
    /// Whose mail it is.
    pub address: String,
    /// The letters, newest first.
    pub letters: Vec<Letter>,
    /// The labels beyond the provider's own.
    pub labels: UserLabels,
    /// The history id of now.
    pub history: u64,
    /// What has happened, in order; the letters it began with came too.
    pub records: Vec<Record>,
    /// What happened up to this history id is not told any more.
    pub forgotten: u64,
    by_id: HashMap<u64, usize>,
    /// Places in `letters`, oldest first.
    threads: HashMap<u64, Vec<usize>>,
    /// Worked out at the first need.
    people: OnceLock<People>,
}

impl Mailbox {
    /// Puts letters into a mailbox; a letter that is there already, to the
    /// byte, is told by its name to `twice` and left out.
    pub fn new(address: String, arrivals: Vec<Arrival>, mut twice: impl FnMut(String)) -> Self {
        let mut labels = UserLabels::default();
        let mut seen = HashSet::new();
        let mut letters = Vec::with_capacity(arrivals.len());
        for arrival in arrivals {
            let id = Self::letter_id(&address, &arrival);
            if !seen.insert(id) {
                twice(arrival.name);
                continue;
            }
            let labels = labels.ids(arrival.facts.labels.as_deref());
            letters.push(Letter::new(id, labels, arrival.facts, arrival.raw));
        }
        // Oldest first, for history and conversations; equal times by id, so
        // that the order does not hang on where the letters came from.
        letters.sort_by_key(|letter| (letter.facts.date, letter.id));
        let history = letters.iter_mut().zip(FIRST_HISTORY + 1..).fold(
            FIRST_HISTORY,
            |_, (letter, history)| {
                letter.history = history;
                history
            },
        );
        threads::join(&mut letters);
        let records = letters.iter().map(|letter| Record::of(letter, What::Came));
        let records = records.collect();
        Self::of(address, letters, labels, history, records, FIRST_HISTORY)
    }

    /// A mailbox of letters in their conversations, oldest first.
    pub(super) fn of(
        address: String,
        mut letters: Vec<Letter>,
        labels: UserLabels,
        history: u64,
        records: Vec<Record>,
        forgotten: u64,
    ) -> Self {
        letters.sort_by_key(|letter| (letter.facts.date, letter.id));
        letters.reverse();
        let mut by_id = HashMap::with_capacity(letters.len());
        let mut threads: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, letter) in letters.iter().enumerate().rev() {
            by_id.insert(letter.id, place);
            threads.entry(letter.thread).or_default().push(place);
        }
        Self {
            address,
            letters,
            labels,
            history,
            records,
            forgotten,
            by_id,
            threads,
            people: OnceLock::new(),
        }
    }

    /// The letter of an id.
    pub fn letter(&self, id: u64) -> Option<&Letter> {
        self.letters.get(*self.by_id.get(&id)?)
    }

    /// The letter of a Message-ID, without its brackets.
    pub fn by_message_id(&self, id: &str) -> Option<&Letter> {
        let mut letters = self.letters.iter();
        letters.find(|letter| letter.facts.message_id == id)
    }

    /// The letters of a conversation, oldest first.
    pub fn thread(&self, id: u64) -> Option<Vec<&Letter>> {
        let places = self.threads.get(&id)?;
        Some(
            places
                .iter()
                .filter_map(|place| self.letters.get(*place))
                .collect(),
        )
    }

    /// The people of its letters.
    pub fn people(&self) -> &People {
        self.people.get_or_init(|| contacts::people(self))
    }

    /// How many conversations there are.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The id of a letter: the same for the same letter in the same mailbox, on
    /// every run.
    pub(super) fn letter_id(address: &str, arrival: &Arrival) -> u64 {
        let digest = Sha256::new()
            .chain_update(address)
            .chain_update([0])
            .chain_update(&arrival.facts.message_id)
            .chain_update([0])
            .chain_update(&arrival.raw)
            .finalize();
        let first = digest.first_chunk().copied().unwrap_or_default();
        // Real ids begin with 1 and stay below the sign bit.
        (u64::from_be_bytes(first) >> 4) | (1 << 60)
    }
}
