//! Sorts messages into those that need the reader, other unread ones, and newsletters. Takes plain
//! data and returns positions; no I/O.
//!
//! `docs/concepts/brief.md` describes the rules. They use headers, states and addresses. The
//! only part of a text that counts is a day that it names, and only among messages with equally
//! good reasons, so that no message can ask to be shown first.

use std::collections::{HashMap, HashSet};

use daysheet_core::text::{is_machine, plain_local};
use daysheet_core::words;
use jiff::Timestamp;
use jiff::civil::Date;

/// The properties of a message in the inbox that the rules use.
#[derive(Debug, Clone, Default)]
pub(super) struct BriefMessage {
    /// The account's position, and the id of the thread.
    pub(super) thread: (usize, String),
    pub(super) date: Option<Timestamp>,
    /// The sender's address.
    pub(super) from: String,
    /// The addresses in `To`, without copies.
    pub(super) to: Vec<String>,
    pub(super) unread: bool,
    pub(super) draft: bool,
    /// The words of the column `bulk`.
    pub(super) bulk: Vec<String>,
    pub(super) starred: bool,
    /// True if there are warnings about the sender.
    pub(super) suspicious: bool,
    /// The first of the next days that its subject or first lines name.
    pub(super) soon: Option<Date>,
}

/// The reader's own addresses and mail; addresses in lower case.
#[derive(Debug, Clone, Default)]
pub(super) struct ReaderMail {
    /// The reader's addresses.
    pub(super) addresses: HashSet<String>,
    /// The time of the reader's last message in each conversation.
    pub(super) wrote: HashMap<(usize, String), Option<Timestamp>>,
    /// The people the reader writes to.
    pub(super) people: HashSet<String>,
    /// The conversations with a draft that waits.
    pub(super) drafted: HashSet<(usize, String)>,
}

/// The number of recipients from which a message is addressed to no one in particular.
const MANY: usize = 10;

/// Local parts, without signs between letters, of addresses that send receipts, bookings and
/// notices: no person writes from them.
const ROLES: &[&str] = &[
    "accounts", "accounting", "alert", "alerts", "appointments", "bestellung", "billing",
    "booking", "bookings", "buchhaltung", "buchung", "confirmation", "facturation", "invoice",
    "invoices", "news", "newsletter", "notification", "notifications", "notify", "order", "orders",
    "payments", "receipt", "receipts", "rechnung", "rechnungen", "reservations", "shipping",
    "statements", "summary", "tickets", "versand",
];

words! {
    /// The reasons why a message needs the reader, in the order of their words.
    #[derive(PartialOrd, Ord)]
    pub(super) enum AttentionReason {
        ToMe = "to_me",
        /// To the reader among others.
        Shared = "to_me_and_others",
        MyThread = "my_thread",
        IWriteTo = "i_write_to",
        Starred = "starred",
        /// A draft waits in its thread.
        Drafted = "drafted",
    }
}

/// Messages by section, the newest first; those that need the reader by reason first, then by the
/// day that they name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SortedMail {
    /// Positions of messages that need the reader, with the reasons.
    pub(super) needs_me: Vec<(usize, Vec<AttentionReason>)>,
    /// Positions of other unread messages.
    pub(super) unread: Vec<usize>,
    /// The number of unread newsletters.
    pub(super) newsletters: usize,
}

impl ReaderMail {
    /// Returns `wrote` with the reader's own messages in the inbox: mail to oneself, or from
    /// another account of one's own. A draft has not been sent to anyone yet.
    fn with(&self, messages: &[BriefMessage]) -> HashMap<(usize, String), Option<Timestamp>> {
        let mut wrote = self.wrote.clone();
        let sent = |message: &&BriefMessage| !message.draft && self.is_from(message);
        for message in messages.iter().filter(sent) {
            let last = wrote.entry(message.thread.clone()).or_default();
            *last = (*last).max(message.date);
        }
        wrote
    }

    fn is_from(&self, message: &BriefMessage) -> bool {
        self.addresses.contains(&message.from.to_lowercase())
    }

    fn why(&self, message: &BriefMessage, wrote: bool) -> Vec<AttentionReason> {
        let mine = |address: &&String| self.addresses.contains(&address.to_lowercase());
        let mine = message.to.iter().filter(mine).count();
        let known = self.people.contains(&message.from.to_lowercase());
        // An address that only sends notices expects no answer, unless the reader writes to it.
        let asks = mine > 0 && message.to.len() < MANY && (known || wrote || !is_role(message));
        let reasons = [
            (AttentionReason::ToMe, asks && mine == message.to.len()),
            (AttentionReason::Shared, asks && mine < message.to.len()),
            (AttentionReason::MyThread, wrote),
            (AttentionReason::IWriteTo, known),
        ];
        let mut why: Vec<AttentionReason> =
            reasons.into_iter().filter_map(|(why, holds)| holds.then_some(why)).collect();
        // A star or a draft strengthens a reason, but is not a reason by itself.
        if !why.is_empty() {
            let drafted = self.drafted.contains(&message.thread);
            why.extend(message.starred.then_some(AttentionReason::Starred));
            why.extend(drafted.then_some(AttentionReason::Drafted));
        }
        why
    }
}

/// Returns true for a message to a mailing list that people subscribe to.
fn is_newsletter(message: &BriefMessage) -> bool {
    message.bulk.iter().any(|word| word == "list" || word == "bulk")
}

/// Returns the place of a message among those that need the reader: suspicious ones last.
fn rank(why: &[AttentionReason], suspicious: bool) -> (bool, u8) {
    let has = |one| why.contains(&one);
    let rank = match (has(AttentionReason::ToMe), has(AttentionReason::IWriteTo)) {
        // Conversations that the reader takes part in or has starred come before all others.
        _ if has(AttentionReason::MyThread) || has(AttentionReason::Starred) => 0,
        (true, true) => 1,
        (true, false) => 2,
        _ if has(AttentionReason::Shared) => 3,
        _ => 4,
    };
    (suspicious, rank)
}

/// Returns true for a message from an address that only sends receipts and notices.
fn is_role(message: &BriefMessage) -> bool {
    ROLES.contains(&plain_local(&message.from).as_str())
}

/// Returns true for a message that no person wrote, or that the service keeps apart.
fn is_automatic(message: &BriefMessage) -> bool {
    is_machine(&message.from) || message.bulk.iter().any(|word| word == "auto" || word == "aside")
}

/// Sorts the messages of inboxes; unread ones are listed if they are not older than
/// `unread_since`.
pub(super) fn sort(
    messages: &[BriefMessage],
    own: &ReaderMail,
    unread_since: Timestamp,
) -> SortedMail {
    let wrote = own.with(messages);
    let mut order: Vec<usize> = (0..messages.len()).collect();
    // Within the same second, the first account's message comes first, in the listed order.
    order.sort_by_key(|at| std::cmp::Reverse(messages.get(*at).and_then(|one| one.date)));
    let theirs = order.iter().filter_map(|at| Some((*at, messages.get(*at)?)));
    let theirs: Vec<_> =
        theirs.filter(|(_, message)| !message.draft && !own.is_from(message)).collect();

    let mut sorted = SortedMail::default();
    let mut shown: HashSet<&(usize, String)> = HashSet::new();
    for (at, message) in &theirs {
        let last = wrote.get(&message.thread).copied();
        let answered = last.is_some_and(|last| last >= message.date);
        // Newsletters and automatic messages expect no answer.
        if answered || is_newsletter(message) || is_automatic(message) {
            continue;
        }
        let why = own.why(message, last.is_some());
        // The messages are sorted, so the newest one represents its thread.
        if !why.is_empty() && shown.insert(&message.thread) {
            sorted.needs_me.push((*at, why));
        }
    }
    // Stable: the newest first within a rank.
    sorted.needs_me.sort_by_key(|(at, why)| {
        let message = messages.get(*at);
        let soon = message.and_then(|message| message.soon);
        (rank(why, message.is_some_and(|message| message.suspicious)), soon.unwrap_or(Date::MAX))
    });
    // A message without a date may be recent.
    let recent = |message: &BriefMessage| message.date.is_none_or(|date| date >= unread_since);
    let unread = theirs.iter().filter(|(_, message)| message.unread && recent(message));
    for (at, message) in unread {
        if is_newsletter(message) {
            sorted.newsletters += 1;
        } else if shown.insert(&message.thread) {
            sorted.unread.push(*at);
        }
    }
    sorted
}
