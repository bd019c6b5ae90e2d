//! A mailbox: letters in order, in conversations, under labels.
//!
//! It is the same for every provider; Gmail's shapes are made of it elsewhere.
//! A mailbox is built of letters; what becomes of it is in `change.rs`,
//! which works on copies. They are cheap: letters and records are shared.

pub(crate) mod change;
pub(crate) mod contacts;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use super::labels::UserLabels;
use super::letter::{Facts, Letter};
use super::threads;
use super::words::number;
use change::{Record, What};
use contacts::People;

/// The history id before the first letter came.
const FIRST_HISTORY: u64 = 100_000;

/// A letter on its way into a mailbox.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    /// Where it was found, for the report.
    pub name: String,
    /// Its bytes.
    pub raw: Arc<[u8]>,
    /// What its header section says.
    pub facts: Facts,
}

/// One person's mail.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox {
    /// Whose mail it is.
    pub address: String,
    /// The letters, newest first.
    pub letters: Vec<Arc<Letter>>,
    /// The labels beyond the provider's own.
    pub labels: UserLabels,
    /// The history id of now.
    pub history: u64,
    /// What has happened, in order; the letters it began with came too.
    pub records: Vec<Arc<Record>>,
    /// What happened up to this history id is not told any more.
    pub forgotten: u64,
    by_id: HashMap<u64, Arc<Letter>>,
    /// The letters of a conversation, oldest first.
    threads: HashMap<u64, Arc<Vec<Arc<Letter>>>>,
    /// Conversations by what their letters share.
    keys: HashMap<u64, u64>,
    /// The ids of drafts, by the letters they have now.
    drafts: HashMap<u64, u64>,
    /// Worked out at the first need.
    pub(crate) people: OnceLock<Arc<People>>,
}

impl Mailbox {
    /// Puts letters into a mailbox; a letter that is there already, to the
    /// byte, is told by its name to `twice` and left out.
    pub fn new(address: String, arrivals: Vec<Arrival>, mut twice: impl FnMut(String)) -> Self {
        let mut labels = UserLabels::default();
        let mut seen = HashSet::new();
        let mut letters = Vec::with_capacity(arrivals.len());
        for arrival in arrivals {
            let id = Self::letter_id(&address, &arrival.facts, &arrival.raw, None);
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
        for (letter, history) in letters.iter_mut().zip(FIRST_HISTORY + 1..) {
            letter.history = history;
        }
        threads::join(&mut letters);
        let last = letters.last().map(|letter| letter.history);
        let records = letters.iter().map(|letter| Record::of(letter, What::Came));
        let mut mailbox = Self {
            address,
            labels,
            history: last.unwrap_or(FIRST_HISTORY),
            records: records.map(Arc::new).collect(),
            forgotten: FIRST_HISTORY,
            by_id: HashMap::with_capacity(letters.len()),
            threads: HashMap::new(),
            keys: HashMap::new(),
            drafts: HashMap::new(),
            people: OnceLock::new(),
            letters: letters.into_iter().rev().map(Arc::new).collect(),
        };
        for letter in mailbox.letters.clone().into_iter().rev() {
            mailbox.enter(letter);
        }
        mailbox
    }

    /// Puts a letter into its place, or in the place of its former self.
    pub(crate) fn put(&mut self, letter: Letter) {
        self.take(letter.id);
        let letter = Arc::new(letter);
        let place = self.letters.partition_point(|known| order(known) > order(&letter));
        self.letters.insert(place, Arc::clone(&letter));
        self.enter(letter);
    }

    /// Takes a letter out for good.
    pub(super) fn lose(&mut self, id: u64) -> Option<Arc<Letter>> {
        self.drafts.remove(&id);
        self.take(id)
    }

    /// Gives the draft of one letter another letter; one that is no draft, such
    /// as a letter that was sent, ends it.
    pub(super) fn hand_on_draft(&mut self, from: u64, to: u64) {
        let draft = self.drafts.remove(&from);
        let is_draft = self.letter(to).is_some_and(|letter| letter.has("DRAFT"));
        if let Some(draft) = draft.filter(|_| is_draft) {
            self.drafts.insert(to, draft);
        }
    }

    /// The conversation that a letter belongs to, where one is here already:
    /// the oldest of several.
    pub(super) fn conversation_of(&self, letter: &Letter) -> Option<u64> {
        threads::keys(letter)
            .iter()
            .filter_map(|key| self.keys.get(key).copied())
            .filter_map(|thread| Some((order(self.threads.get(&thread)?.first()?), thread)))
            .min()
            .map(|(_, thread)| thread)
    }

    /// Notes where a letter is that has its place in the list.
    fn enter(&mut self, letter: Arc<Letter>) {
        for key in threads::keys(&letter) {
            let known = self.keys.entry(key).or_insert(letter.thread);
            if !self.threads.contains_key(known) {
                *known = letter.thread;
            }
        }
        match letter.has("DRAFT") {
            true => {
                let draft = || number(&format!("draft {:x}", letter.id)) >> 1;
                self.drafts.entry(letter.id).or_insert_with(draft);
            }
            false => {
                self.drafts.remove(&letter.id);
            }
        }
        let thread = Arc::make_mut(self.threads.entry(letter.thread).or_default());
        let place = thread.partition_point(|known| order(known) < order(&letter));
        thread.insert(place, Arc::clone(&letter));
        self.by_id.insert(letter.id, letter);
    }

    /// Takes a letter out of all places but its draft.
    fn take(&mut self, id: u64) -> Option<Arc<Letter>> {
        let letter = self.by_id.remove(&id)?;
        self.letters.retain(|known| known.id != id);
        if let Some(thread) = self.threads.get_mut(&letter.thread) {
            let thread = Arc::make_mut(thread);
            thread.retain(|known| known.id != id);
            if thread.is_empty() {
                self.threads.remove(&letter.thread);
            }
        }
        Some(letter)
    }

    /// The letter of an id.
    pub fn letter(&self, id: u64) -> Option<&Letter> {
        self.by_id.get(&id).map(Arc::as_ref)
    }

    /// The letter of a draft's id.
    pub fn draft(&self, draft: u64) -> Option<&Letter> {
        let mut drafts = self.drafts.iter();
        let (letter, _) = drafts.find(|(_, known)| **known == draft)?;
        self.letter(*letter)
    }

    /// The draft's id of a letter; nothing for one that is no draft.
    pub fn draft_id(&self, letter: u64) -> Option<u64> {
        self.drafts.get(&letter).copied()
    }

    /// The letter of a Message-ID, without its brackets.
    pub fn by_message_id(&self, id: &str) -> Option<&Letter> {
        let mut letters = self.letters.iter();
        letters.find(|letter| letter.facts.message_id == id).map(Arc::as_ref)
    }

    /// The letters of a conversation, oldest first.
    pub fn thread(&self, id: u64) -> Option<Vec<&Letter>> {
        let letters = self.threads.get(&id)?;
        Some(letters.iter().map(Arc::as_ref).collect())
    }

    /// The people of its letters.
    pub fn people(&self) -> &People {
        self.people.get_or_init(|| Arc::new(contacts::people(self)))
    }

    /// How many conversations there are.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The id of a letter. Of those at the start: the same for the same letter
    /// in the same mailbox, on every run. Of one that comes later under a
    /// history id: one of its own, however often the same bytes come.
    pub(super) fn letter_id(address: &str, facts: &Facts, raw: &[u8], later: Option<u64>) -> u64 {
        let mut digest = Sha256::new()
            .chain_update(address)
            .chain_update([0])
            .chain_update(&facts.message_id)
            .chain_update([0])
            .chain_update(raw);
        if let Some(history) = later {
            digest.update([0]);
            digest.update(history.to_be_bytes());
        }
        let digest = digest.finalize();
        let first = digest.first_chunk().copied().unwrap_or_default();
        // Real ids begin with 1 and stay below the sign bit.
        (u64::from_be_bytes(first) >> 4) | (1 << 60)
    }
}

/// What letters are ordered by, the oldest first.
fn order(letter: &Letter) -> (i64, u64) {
    (letter.facts.date, letter.id)
}
