//! A mailbox: messages in order, in conversations, under labels.
//!
//! It is the same for every provider; Gmail's shapes are made of it elsewhere.
//! A mailbox is built of messages; what becomes of it is in `change.rs`,
//! which works on copies. They are cheap: messages and records are shared.

pub(crate) mod change;
pub(crate) mod contacts;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use change::{HistoryEvent, HistoryRecord};
use contacts::MailboxPeople;
use sha2::{Digest, Sha256};

use super::labels::UserLabels;
use super::message::{Message, MessageFacts};
use super::search_text::number;
use super::threads;

/// The history id before the first message came.
const FIRST_HISTORY: u64 = 100_000;

/// A message on its way into a mailbox.
#[derive(Debug, Clone)]
pub(crate) struct ArrivingMessage {
    /// Where it was found, for the report.
    pub name: String,
    /// Its bytes.
    pub raw: Arc<[u8]>,
    /// What its header section says.
    pub facts: MessageFacts,
}

/// One person's mail.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox {
    /// Whose mail it is.
    pub address: String,
    /// The messages, newest first.
    pub messages: Vec<Arc<Message>>,
    /// The labels beyond the provider's own.
    pub labels: UserLabels,
    /// The history id of now.
    pub history: u64,
    /// What has happened, in order; the messages it began with came too.
    pub records: Vec<Arc<HistoryRecord>>,
    /// Changes up to this history id are no longer listed.
    pub forgotten: u64,
    by_id: HashMap<u64, Arc<Message>>,
    /// The messages of a conversation, oldest first.
    threads: HashMap<u64, Arc<Vec<Arc<Message>>>>,
    /// Conversations by what their messages share.
    keys: HashMap<u64, u64>,
    /// The ids of drafts, by the messages they have now.
    drafts: HashMap<u64, u64>,
    /// Worked out at the first need.
    pub(crate) people: OnceLock<Arc<MailboxPeople>>,
}

impl Mailbox {
    /// Puts messages into a mailbox; a message that is there already, to the
    /// byte, is reported by name to `twice` and left out.
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
        // Oldest first, for history and conversations; equal times by id, so
        // that the order does not hang on where the messages came from.
        messages.sort_by_key(|message| (message.facts.date, message.id));
        for (message, history) in messages.iter_mut().zip(FIRST_HISTORY + 1..) {
            message.history = history;
        }
        threads::join(&mut messages);
        let last = messages.last().map(|message| message.history);
        let records =
            messages.iter().map(|message| HistoryRecord::of(message, HistoryEvent::Added));
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
        for message in mailbox.messages.clone().into_iter().rev() {
            mailbox.enter(message);
        }
        mailbox
    }

    /// Puts a message into its place, or in the place of its former self.
    pub(crate) fn put(&mut self, message: Message) {
        self.take(message.id);
        let message = Arc::new(message);
        let place = self.messages.partition_point(|known| order(known) > order(&message));
        self.messages.insert(place, Arc::clone(&message));
        self.enter(message);
    }

    /// Takes a message out for good.
    pub(super) fn lose(&mut self, id: u64) -> Option<Arc<Message>> {
        self.drafts.remove(&id);
        self.take(id)
    }

    /// Gives the draft of one message another message; one that is no draft, such
    /// as a message that was sent, ends it.
    pub(super) fn hand_on_draft(&mut self, from: u64, to: u64) {
        let draft = self.drafts.remove(&from);
        let is_draft = self.message(to).is_some_and(|message| message.has("DRAFT"));
        if let Some(draft) = draft.filter(|_| is_draft) {
            self.drafts.insert(to, draft);
        }
    }

    /// The conversation that a message belongs to, where one is here already:
    /// the oldest of several.
    pub(super) fn conversation_of(&self, message: &Message) -> Option<u64> {
        threads::keys(message)
            .iter()
            .filter_map(|key| self.keys.get(key).copied())
            .filter_map(|thread| Some((order(self.threads.get(&thread)?.first()?), thread)))
            .min()
            .map(|(_, thread)| thread)
    }

    /// Notes where a message is that has its place in the list.
    fn enter(&mut self, message: Arc<Message>) {
        for key in threads::keys(&message) {
            let known = self.keys.entry(key).or_insert(message.thread);
            if !self.threads.contains_key(known) {
                *known = message.thread;
            }
        }
        if message.has("DRAFT") {
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

    /// Takes a message out of all places but its draft.
    fn take(&mut self, id: u64) -> Option<Arc<Message>> {
        let message = self.by_id.remove(&id)?;
        self.messages.retain(|known| known.id != id);
        if let Some(thread) = self.threads.get_mut(&message.thread) {
            let thread = Arc::make_mut(thread);
            thread.retain(|known| known.id != id);
            if thread.is_empty() {
                self.threads.remove(&message.thread);
            }
        }
        Some(message)
    }

    /// The message of an id.
    pub fn message(&self, id: u64) -> Option<&Message> {
        self.by_id.get(&id).map(Arc::as_ref)
    }

    /// The message of a draft's id.
    pub fn draft(&self, draft: u64) -> Option<&Message> {
        let mut drafts = self.drafts.iter();
        let (message, _) = drafts.find(|(_, known)| **known == draft)?;
        self.message(*message)
    }

    /// The draft's id of a message; nothing for one that is no draft.
    pub fn draft_id(&self, message: u64) -> Option<u64> {
        self.drafts.get(&message).copied()
    }

    /// The message of a Message-ID, without its brackets.
    pub fn by_message_id(&self, id: &str) -> Option<&Message> {
        let mut messages = self.messages.iter();
        messages.find(|message| message.facts.message_id == id).map(Arc::as_ref)
    }

    /// The messages of a conversation, oldest first.
    pub fn thread(&self, id: u64) -> Option<Vec<&Message>> {
        let messages = self.threads.get(&id)?;
        Some(messages.iter().map(Arc::as_ref).collect())
    }

    /// The people of its messages.
    pub fn people(&self) -> &MailboxPeople {
        self.people.get_or_init(|| Arc::new(contacts::people(self)))
    }

    /// How many conversations there are.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The id of a message. Of those at the start: the same for the same message
    /// in the same mailbox, on every run. Of one that comes later under a
    /// history id: one of its own, however often the same bytes come.
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
        // Real ids begin with 1 and stay below the sign bit.
        (u64::from_be_bytes(first) >> 4) | (1 << 60)
    }
}

/// What messages are ordered by, the oldest first.
fn order(message: &Message) -> (i64, u64) {
    (message.facts.date, message.id)
}
