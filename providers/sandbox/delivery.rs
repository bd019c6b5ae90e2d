//! Sending: delivering a message from one mailbox to its recipients.
//!
//! The sender keeps the message under `SENT`, with its Bcc. Each recipient in To, Cc and Bcc with a
//! mailbox in the sandbox gets a copy without Bcc, with the header fields that delivery adds,
//! unread in the inbox, once per sending. Mail to all other addresses is accepted and discarded.
//! This file is independent of any provider, and does not apply filters or rules.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::state::RequestState;
use super::store::head;
use super::store::lines;
use super::store::mailbox::change::{MailboxChange, MailboxEntry};
use super::store::mailbox::person::untagged;
use super::store::message::{self, MessageFacts};
use super::store::mime;

/// Header fields with recipients.
const RECIPIENTS: [&str; 3] = ["To", "Cc", "Bcc"];

/// A provider's way of sending.
#[derive(Debug, Clone, Copy)]
pub(super) struct SendOptions {
    /// True if the sent message keeps the draft's id. Otherwise it gets a new one.
    pub keeps_id: bool,
    /// True if a message to oneself is a single message, both sent and in the inbox. Otherwise the
    /// inbox gets a copy.
    pub one_for_self: bool,
}

impl SendOptions {
    /// Gmail's way.
    pub const GMAIL: Self = Self { keeps_id: false, one_for_self: true };

    /// Exchange's way.
    pub const EXCHANGE: Self = Self { keeps_id: true, one_for_self: false };
}

/// The reason why a message was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnsentReason {
    /// The mailbox or message does not exist.
    NotThere,
    /// The bytes are not a message.
    NoMessage(&'static str),
    /// The message has no recipients.
    NoRecipient,
    /// A recipient is not a valid address. This is checked before anything is sent.
    NoAddress,
}

/// Sends a draft of the mailbox `sender`, by its message's id. Returns the id of the sender's copy.
///
/// # Errors
/// [`UnsentReason`]. Nothing has changed in this case.
pub(super) fn deliver(
    state: &RequestState,
    sender: &str,
    draft: u64,
    options: SendOptions,
) -> Result<u64, UnsentReason> {
    let mailbox = state.mailbox(sender).ok_or(UnsentReason::NotThere)?;
    let message = mailbox.message(draft).ok_or(UnsentReason::NotThere)?;
    let thread = Some(message.thread);
    let bytes = message::wire_form(&message.raw);
    // Bytes that are not a message must not become one by the header fields added below.
    message::facts(&bytes, None).map_err(UnsentReason::NoMessage)?;
    // All recipients are checked before the first mailbox changes.
    let recipients = recipients(&bytes)?;
    let date = state.tick();
    let raw: Arc<[u8]> = complete(bytes, sender, date).into();
    let facts = facts_at(&raw, date)?;
    let own = |address: &String| address.eq_ignore_ascii_case(sender);
    let to_self = options.one_for_self && recipients.iter().any(own);
    let mut labels = vec!["SENT".to_owned()];
    if to_self {
        labels.splice(0..0, ["UNREAD".to_owned()]);
        labels.push("INBOX".to_owned());
    }
    let entry = MailboxEntry { raw: Arc::clone(&raw), facts, labels, thread };
    let sent_id = keep(state, sender, draft, entry, options)?;
    for address in recipients {
        if !(to_self && own(&address)) {
            hand_over(state, &address, &raw, date)?;
        }
    }
    Ok(sent_id)
}

/// Replaces the draft by the sent message in the sender's mailbox.
fn keep(
    state: &RequestState,
    sender: &str,
    draft: u64,
    entry: MailboxEntry,
    options: SendOptions,
) -> Result<u64, UnsentReason> {
    let entry = Box::new(entry);
    let change = if options.keeps_id {
        MailboxChange::Rewrites(draft, entry)
    } else {
        MailboxChange::Replaces(draft, entry)
    };
    // Checked within the change: another request may have sent the draft meanwhile.
    let about = state.change(sender, |mailbox| mailbox.draft_id(draft).map(|_| change));
    about.ok_or(UnsentReason::NotThere)
}

/// Adds a copy to the mailbox of an address, if there is one.
fn hand_over(
    state: &RequestState,
    address: &str,
    raw: &[u8],
    date: i64,
) -> Result<(), UnsentReason> {
    let mailbox = state.mailbox(address);
    // An address with a tag belongs to the mailbox without it, unless it has its own.
    let Some(mailbox) = mailbox.or_else(|| state.mailbox(&untagged(address))) else {
        return Ok(());
    };
    let owner = mailbox.address.clone();
    let mut copy = format!(
        "Delivered-To: {address}\r\nReceived: from sandbox.example (localhost [127.0.0.1]); {}\r\n",
        rfc_2822(date)
    )
    .into_bytes();
    copy.extend(without(raw, &["Bcc"]));
    let raw: Arc<[u8]> = copy.into();
    let facts = facts_at(&raw, date)?;
    let labels = vec!["UNREAD".to_owned(), "INBOX".to_owned()];
    // No thread: thread ids differ between mailboxes, and the recipient's is found by header
    // fields.
    let entry = MailboxEntry { raw, facts, labels, thread: None };
    state.change(&owner, |_| Some(MailboxChange::Enters(Box::new(entry))));
    Ok(())
}

/// Returns the facts of a message that arrives at a time in milliseconds. Labels and threads in its
/// header section, as exports have them, are ignored.
pub(super) fn facts_at(raw: &[u8], date: i64) -> Result<MessageFacts, UnsentReason> {
    let facts = message::facts(raw, None).map_err(UnsentReason::NoMessage)?;
    Ok(MessageFacts { labels: None, conversation: None, date, ..facts })
}

/// Returns the recipients' addresses in lower case, each once.
///
/// # Errors
/// [`UnsentReason::NoRecipient`], [`UnsentReason::NoAddress`].
pub(super) fn recipients(raw: &[u8]) -> Result<Vec<String>, UnsentReason> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for address in RECIPIENTS.iter().flat_map(|name| addresses(raw, name)) {
        let whole = address
            .rsplit_once('@')
            .is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty());
        if !whole || address.contains(char::is_whitespace) {
            return Err(UnsentReason::NoAddress);
        }
        let address = address.to_lowercase();
        if seen.insert(address.clone()) {
            found.push(address);
        }
    }
    if found.is_empty() { Err(UnsentReason::NoRecipient) } else { Ok(found) }
}

/// Returns the addresses in the header fields with a name, including members of groups.
pub(super) fn addresses(raw: &[u8], name: &str) -> Vec<String> {
    let fields = head::fields(mime::header_section(raw), raw).into_iter();
    let fields = fields.filter(|field| field.name.eq_ignore_ascii_case(name));
    let people = fields.flat_map(|field| field.people());
    // A name without an address is returned as well, so that the mistake is reported.
    let found = people.filter_map(|(name, address)| address.or(name));
    found.filter(|text| !text.is_empty()).collect()
}

/// Returns a message without the header fields with some names.
pub(super) fn without(raw: &[u8], names: &[&str]) -> Vec<u8> {
    let head = mime::header_section(raw);
    let body = raw.get(head.len()..).unwrap_or_default();
    let mut left = Vec::with_capacity(raw.len());
    let mut dropped = false;
    for line in lines(head) {
        // A folded line belongs to the field before it.
        let goes_on = matches!(line.first(), Some(b' ' | b'\t'));
        if !goes_on {
            let name = head::field_name(line).map(|(name, _)| name);
            let is = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
            dropped = name.is_some_and(is);
        }
        if !dropped {
            left.extend_from_slice(line);
        }
    }
    left.extend_from_slice(body);
    left
}

/// Adds the header fields that every sent message has: sender, date (in milliseconds) and
/// Message-ID. Existing fields are kept.
pub(super) fn complete(raw: Vec<u8>, sender: &str, date: i64) -> Vec<u8> {
    let fields = head::fields(mime::header_section(&raw), &raw);
    let missing = |name| head::find(&fields, name).is_none_or(|field| field.unfolded().is_empty());
    let mut front = String::new();
    let mut empty = Vec::new();
    let values = [
        ("Date", rfc_2822(date)),
        ("From", sender.to_owned()),
        ("Message-ID", format!("<sandbox.{date}.{sender}>")),
    ];
    for (name, value) in values {
        if missing(name) {
            front.push_str(&format!("{name}: {value}\r\n"));
            empty.push(name);
        }
    }
    // A complete message is kept byte for byte.
    if empty.is_empty() {
        return raw;
    }
    let mut whole = front.into_bytes();
    // Empty fields are removed: RFC 5322, 3.6, allows each of these only once.
    whole.extend(without(&raw, &empty));
    whole
}

/// Returns a time in milliseconds in the form of header fields.
fn rfc_2822(millis: i64) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    time.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}
