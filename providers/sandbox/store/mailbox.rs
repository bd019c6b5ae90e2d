//! A mailbox: messages in order, in threads, under labels.
//!
//! It is the same for all providers; the shapes of each API are built elsewhere. A mailbox is
//! constructed from messages, and changed in `change.rs` by way of copies. Copies are cheap,
//! because messages and records are shared.

pub(crate) mod change;
pub(crate) mod contacts;
pub(crate) mod person;
pub(crate) mod record;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use person::MailboxPeople;
use record::{HistoryEvent, HistoryRecord};
use sha2::{Digest, Sha256};

use super::labels::UserLabels;
use super::message::{Message, MessageFacts};
use super::search_text::number;
use super::threads;

/// The history id before the first message.
const FIRST_HISTORY: u64 = 100_000;

/// A message to be added to a mailbox.
#[derive(Debug, Clone)]
pub(crate) struct ArrivingMessage {
    /// The file or position it was read from, for the report.
    pub name: String,
    /// The bytes.
    pub raw: Arc<[u8]>,
    /// The facts of its header section.
    pub facts: MessageFacts,
}

/// One person's mail.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox {
    /// The owner's address.
    pub address: String,
    /// The messages, newest first.
    pub messages: Vec<Arc<Message>>,
    /// The labels other than the provider's own.
    pub labels: UserLabels,
    /// The current history id.
    pub history: u64,
    /// All changes in order, beginning with the arrival of the initial messages.
    pub records: Vec<Arc<HistoryRecord>>,
    /// The last history id whose change is no longer listed.
    pub forgotten: u64,
    by_id: HashMap<u64, Arc<Message>>,
    /// The messages of each thread, oldest first.
    threads: HashMap<u64, Arc<Vec<Arc<Message>>>>,
    /// Threads by the keys that their messages share.
    keys: HashMap<u64, u64>,
    /// The ids of drafts by the ids of their current messages.
    drafts: HashMap<u64, u64>,
    /// The people, computed when first needed.
    pub(crate) people: OnceLock<Arc<MailboxPeople>>,
}

impl Mailbox {
    /// Creates a mailbox from messages. A message whose bytes are already present is left out and
    /// its name passed to `twice`.
    pub fn new(
        address: String,
        arrivals: Vec<ArrivingMessage>,
        mut twice: impl FnMut(String),
    ) -> Self {
        let mut labels = UserLabels::default();
        let mut seen = HashSet::new();
        let mut messages = Vec::with_capacity(arrivals.len());
        for arrival in arrivals {
            let id = Self::message_id(&address, &arrival.facts, &arrival.raw, None);
            if !seen.insert(id) {
                twice(arrival.name);
                continue;
            }
            let labels = labels.ids(arrival.facts.labels.as_deref());
            messages.push(Message::new(id, labels, arrival.facts, arrival.raw));
        }
        // Oldest first, for history and threads. Equal times are sorted by id, so that the order
        // does not depend on the files the messages came from.
        messages.sort_by_key(|message| (message.facts.date, message.id));
        for (message, history) in messages.iter_mut().zip(FIRST_HISTORY + 1..) {
            message.history = history;
        }
        threads::join(&mut messages);
        let last = messages.last().map(|message| message.history);
        let records =
            messages.iter().map(|message| HistoryRecord::new(message, HistoryEvent::Added));
        let mut mailbox = Self {
            address,
            labels,
            history: last.unwrap_or(FIRST_HISTORY),
            records: records.map(Arc::new).collect(),
            forgotten: FIRST_HISTORY,
            by_id: HashMap::with_capacity(messages.len()),
            threads: HashMap::new(),
            keys: HashMap::new(),
            drafts: HashMap::new(),
            people: OnceLock::new(),
            messages: messages.into_iter().rev().map(Arc::new).collect(),
        };
        // Oldest first: `enter` gives a shared key to the first thread that has it.
        for message in mailbox.messages.clone().into_iter().rev() {
            mailbox.enter(message);
        }
        mailbox
    }

    /// Adds a message at its position, or replaces its previous state.
    pub(crate) fn put_message(&mut self, message: Message) {
        self.remove_message(message.id);
        let message = Arc::new(message);
        let place = self.messages.partition_point(|known| order(known) > order(&message));
        self.messages.insert(place, Arc::clone(&message));
        self.enter(message);
    }

    /// Removes a message permanently.
    pub(super) fn lose(&mut self, id: u64) -> Option<Arc<Message>> {
        self.drafts.remove(&id);
        self.remove_message(id)
    }

    /// Transfers the draft of one message to another. If the other message is not a draft, as after
    /// sending, the draft ends.
    pub(super) fn hand_on_draft(&mut self, from: u64, to: u64) {
        let draft = self.drafts.remove(&from);
        let is_draft = self.message(to).is_some_and(|message| message.has("DRAFT"));
        if let Some(draft) = draft.filter(|_| is_draft) {
            self.drafts.insert(to, draft);
        }
    }

    /// Returns the existing thread that a message belongs to, the oldest if there are several.
    pub(super) fn conversation_of(&self, message: &Message) -> Option<u64> {
        threads::keys(message)
            .iter()
            .filter_map(|key| self.keys.get(key).copied())
            .filter_map(|thread| Some((order(self.threads.get(&thread)?.first()?), thread)))
            .min()
            .map(|(_, thread)| thread)
    }

    /// Adds a message that is already in the list to all indexes.
    fn enter(&mut self, message: Arc<Message>) {
        for key in threads::keys(&message) {
            let known = self.keys.entry(key).or_insert(message.thread);
            // The key of a thread whose messages are all gone passes to this one.
            if !self.threads.contains_key(known) {
                *known = message.thread;
            }
        }
        if message.has("DRAFT") {
            // Gmail's draft ids contain a signed number; the shift keeps ours positive.
            let draft = || number(&format!("draft {:x}", message.id)) >> 1;
            self.drafts.entry(message.id).or_insert_with(draft);
        } else {
            self.drafts.remove(&message.id);
        }
        let thread = Arc::make_mut(self.threads.entry(message.thread).or_default());
        let place = thread.partition_point(|known| order(known) < order(&message));
        thread.insert(place, Arc::clone(&message));
        self.by_id.insert(message.id, message);
    }

    /// Removes a message from the list and all indexes except that of drafts.
    fn remove_message(&mut self, id: u64) -> Option<Arc<Message>> {
        let message = self.by_id.remove(&id)?;
        self.messages.retain(|known| known.id != id);
        // Keys are left in place: readers ignore keys of threads that have ended.
        if let Some(thread) = self.threads.get_mut(&message.thread) {
            let thread = Arc::make_mut(thread);
            thread.retain(|known| known.id != id);
            if thread.is_empty() {
                self.threads.remove(&message.thread);
            }
        }
        Some(message)
    }

    /// Returns the message with an id.
    pub fn message(&self, id: u64) -> Option<&Message> {
        self.by_id.get(&id).map(Arc::as_ref)
    }

    /// Returns the message of a draft, by the draft's id.
    pub fn draft(&self, draft: u64) -> Option<&Message> {
        let mut drafts = self.drafts.iter();
        let (message, _) = drafts.find(|(_, known)| **known == draft)?;
        self.message(*message)
    }

    /// Returns the draft's id for a message; `None` if the message is not a draft.
    pub fn draft_id(&self, message: u64) -> Option<u64> {
        self.drafts.get(&message).copied()
    }

    /// Returns the message with a Message-ID (without angle brackets).
    pub fn by_message_id(&self, id: &str) -> Option<&Message> {
        let mut messages = self.messages.iter();
        messages.find(|message| message.facts.message_id == id).map(Arc::as_ref)
    }

    /// Returns the messages of a thread, oldest first.
    pub fn thread(&self, id: u64) -> Option<Vec<&Message>> {
        let messages = self.threads.get(&id)?;
        Some(messages.iter().map(Arc::as_ref).collect())
    }

    /// Returns the number of threads.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Returns the id of a message.
    ///
    /// Initial messages have the same id on every run, for the same bytes in the same mailbox.
    /// Messages that arrive later add their history id, `later`, and so get a new id even if the
    /// bytes are the same.
    pub(super) fn message_id(
        address: &str,
        facts: &MessageFacts,
        raw: &[u8],
        later: Option<u64>,
    ) -> u64 {
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
        // Gmail's ids begin with 1 as 16 hexadecimal digits, and are positive as signed numbers.
        (u64::from_be_bytes(first) >> 4) | (1 << 60)
    }
}

/// Returns the sort key of a message, ascending with age from the oldest.
fn order(message: &Message) -> (i64, u64) {
    (message.facts.date, message.id)
}
