//! Sorts messages into those that need the reader, other unread ones, and newsletters.
//! Plain data in, positions out; no I/O.
//!
//! `docs/brief.md` describes the rules. They use only headers, states and addresses: the text of
//! a message decides nothing, so nobody can write a message that asks to be shown first.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::words;

/// The properties of a message in the inbox that the rules use.
#[derive(Debug, Clone, Default)]
pub(super) struct BriefMessage {
    /// The account, by its position, and the thread in it.
    pub(super) thread: (usize, String),
    pub(super) date: Option<Timestamp>,
    /// The sender's address.
    pub(super) from: String,
    /// The addresses it is to, copies not among them.
    pub(super) to: Vec<String>,
    pub(super) unread: bool,
    pub(super) response: bool,
    /// The words of the column `bulk`.
    pub(super) bulk: Vec<String>,
}

/// The reader's own addresses and mail; addresses in lower case.
#[derive(Debug, Clone, Default)]
pub(super) struct ReaderMail {
    /// The reader's addresses.
    pub(super) addresses: HashSet<String>,
    /// When the reader last wrote in a conversation.
    pub(super) wrote: HashMap<(usize, String), Option<Timestamp>>,
    /// The people the reader writes to.
    pub(super) people: HashSet<String>,
}

words! {
    /// The reasons why a message needs the reader, in the order of their words.
    #[derive(PartialOrd, Ord)]
    pub(super) enum Why {
        ToMe = "to_me",
        MyThread = "my_thread",
        IWriteTo = "i_write_to",
    }
}

/// Messages by section, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sorted {
    /// Positions of messages that need the reader, and why.
    pub(super) needs_me: Vec<(usize, Vec<Why>)>,
    /// Positions of other unread messages.
    pub(super) unread: Vec<usize>,
    /// The number of unread newsletters.
    pub(super) newsletters: usize,
}

impl ReaderMail {
    /// Adds the reader's own messages in the inbox: mail to oneself, or from another
    /// account of one's own. A draft has not been sent to anyone yet.
    fn with(&self, messages: &[BriefMessage]) -> HashMap<(usize, String), Option<Timestamp>> {
        let mut wrote = self.wrote.clone();
        let sent = |message: &&BriefMessage| !message.response && self.is_from(message);
        for message in messages.iter().filter(sent) {
            let last = wrote.entry(message.thread.clone()).or_default();
            *last = (*last).max(message.date);
        }
        wrote
    }

    fn is_from(&self, message: &BriefMessage) -> bool {
        self.addresses.contains(&message.from.to_lowercase())
    }

    fn why(&self, message: &BriefMessage, wrote: bool) -> Vec<Why> {
        let to_me =
            message.to.iter().any(|address| self.addresses.contains(&address.to_lowercase()));
        let known = self.people.contains(&message.from.to_lowercase());
        let all = [(Why::ToMe, to_me), (Why::MyThread, wrote), (Why::IWriteTo, known)];
        all.into_iter().filter_map(|(why, holds)| holds.then_some(why)).collect()
    }
}

/// Returns true for a message to a mailing list that people subscribe to.
fn is_newsletter(message: &BriefMessage) -> bool {
    message.bulk.iter().any(|word| word == "list" || word == "bulk")
}

/// Returns true for a message that no person wrote, or that the service keeps apart.
fn is_automatic(message: &BriefMessage) -> bool {
    let local = message.from.split('@').next().unwrap_or_default();
    let plain: String =
        local.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let machine = plain.contains("noreply")
        || plain.contains("donotreply")
        || matches!(plain.as_str(), "mailerdaemon" | "postmaster");
    machine || message.bulk.iter().any(|word| word == "auto" || word == "aside")
}

/// Sorts the messages of inboxes.
pub(super) fn sort(messages: &[BriefMessage], own: &ReaderMail) -> Sorted {
    let wrote = own.with(messages);
    let mut order: Vec<usize> = (0..messages.len()).collect();
    // Within the same second, the first account's message comes first, in the listed order.
    order.sort_by_key(|at| std::cmp::Reverse(messages.get(*at).and_then(|one| one.date)));
    let theirs = order.iter().filter_map(|at| Some((*at, messages.get(*at)?)));
    let theirs: Vec<_> =
        theirs.filter(|(_, message)| !message.response && !own.is_from(message)).collect();

    let mut sorted = Sorted::default();
    let mut shown: HashSet<&(usize, String)> = HashSet::new();
    for (at, message) in &theirs {
        let last = wrote.get(&message.thread).copied();
        let answered = last.is_some_and(|last| last >= message.date);
        if answered || is_newsletter(message) || is_automatic(message) {
            continue;
        }
        let why = own.why(message, last.is_some());
        if !why.is_empty() && shown.insert(&message.thread) {
            sorted.needs_me.push((*at, why));
        }
    }
    for (at, message) in theirs.iter().filter(|(_, message)| message.unread) {
        if is_newsletter(message) {
            sorted.newsletters += 1;
        } else if shown.insert(&message.thread) {
            sorted.unread.push(*at);
        }
    }
    sorted
}
