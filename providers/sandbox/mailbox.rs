//! A mailbox: letters in order, in conversations, under labels.
//!
//! It is the same for every provider; Gmail's shapes are made of it elsewhere.
//! A mailbox is built once from loaded letters and does not change.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use super::contacts::{self, People};
use super::labels::UserLabels;
use super::letter::{Facts, Letter};
use super::threads;

/// The history id before the first letter came.
const FIRST_HISTORY: u64 = 100_000;

/// A letter on its way into a mailbox.
#[derive(Debug)]
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
        let mut by_id = HashMap::new();
        let mut letters = Vec::with_capacity(arrivals.len());
        for arrival in arrivals {
            let id = id(&address, &arrival);
            if by_id.insert(id, 0).is_some() {
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
        letters.reverse();
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
            by_id,
            threads,
            people: OnceLock::new(),
        }
    }

    /// The letter of an id.
    pub fn letter(&self, id: u64) -> Option<&Letter> {
        self.letters.get(*self.by_id.get(&id)?)
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
}

/// The id of a letter: the same for the same letter in the same mailbox, on
/// every run.
fn id(address: &str, arrival: &Arrival) -> u64 {
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
