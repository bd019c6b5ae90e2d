//! The people of a mailbox: senders, and recipients of the owner's messages.
//!
//! The sandbox has no address book. It derives one from the mail, so that a lookup finds the people
//! whom the messages are about. People the owner has written to count as saved contacts; all others
//! are known only from mail. Provider-neutral: each API's shapes are built elsewhere.

use std::collections::HashMap;
use std::sync::Arc;

use mail_parser::HeaderValue;
use mail_parser::parsers::MessageStream;
use sha2::{Digest, Sha256};

use super::Mailbox;
use super::person::{MailboxPeople, MailboxPerson};
use crate::store::head;
use crate::store::message::Message;
use crate::store::mime;

/// Labels of messages that are not evaluated.
const PASSED_OVER: [&str; 3] = ["SPAM", "TRASH", "DRAFT"];

/// The maximum number of people taken from one message; longer lists are mailings.
const MAX_PER_MESSAGE: usize = 100;

impl Mailbox {
    /// Returns the people of the mailbox's messages.
    pub fn people(&self) -> &MailboxPeople {
        self.people.get_or_init(|| Arc::new(people(self)))
    }
}

/// Collects the people from a mailbox's messages.
fn people(mailbox: &Mailbox) -> MailboxPeople {
    let mut owner = None;
    let mut known: HashMap<String, MailboxPerson> = HashMap::new();
    // Newest first, so the first name found is the newest.
    for message in &mailbox.messages {
        if PASSED_OVER.iter().any(|label| message.has(label)) {
            continue;
        }
        let from = addresses(message, &["From"]);
        let own = message.has("SENT") || from.iter().any(|(_, email)| is_owner(mailbox, email));
        if own && owner.is_none() {
            let mut names = from.iter().filter(|(name, _)| !name.is_empty());
            owner = names.next().map(|(name, _)| name.clone());
        }
        let met = if own { addresses(message, &["To", "Cc", "Bcc"]) } else { from };
        for (name, email) in met {
            if is_owner(mailbox, &email) {
                continue;
            }
            let id = id(mailbox, &email);
            let person = known.entry(email.clone()).or_insert_with(|| MailboxPerson {
                name: String::new(),
                email,
                count: 0,
                saved: false,
                id,
            });
            person.count += 1;
            person.saved |= own;
            if person.name.is_empty() {
                person.name = name;
            }
        }
    }
    let mut others: Vec<MailboxPerson> = known.into_values().collect();
    others.sort_by(|one, other| (other.count, &one.email).cmp(&(one.count, &other.email)));
    MailboxPeople { owner, others }
}

/// Returns true for the owner's address, with or without a tag (`me+news@`).
fn is_owner(mailbox: &Mailbox, email: &str) -> bool {
    let plain = email.rsplit_once('@').map(|(local, domain)| {
        let local = local.split_once('+').map_or(local, |(local, _)| local);
        format!("{local}@{domain}")
    });
    let own = &mailbox.address;
    own.eq_ignore_ascii_case(email) || plain.is_some_and(|plain| own.eq_ignore_ascii_case(&plain))
}

/// Returns the names and addresses in header fields, each address once.
fn addresses(message: &Message, names: &[&str]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for field in head::fields(mime::header_section(&message.raw), &message.raw) {
        if !names.iter().any(|name| field.name.eq_ignore_ascii_case(name)) {
            continue;
        }
        let line = format!("{}\r\n", field.unfolded());
        let HeaderValue::Address(list) = MessageStream::new(line.as_bytes()).parse_address() else {
            continue;
        };
        for entry in list.iter() {
            let email = entry.address.as_deref().unwrap_or_default().trim();
            let email = email.to_lowercase();
            let whole = email.contains('@') && !email.contains(char::is_whitespace);
            if !whole || found.len() == MAX_PER_MESSAGE || found.iter().any(|(_, e)| *e == email) {
                continue;
            }
            let name = entry.name.as_deref().unwrap_or_default().trim();
            // Many mailers repeat the address as the name.
            let name = if name.contains('@') { "" } else { name };
            found.push((name.to_owned(), email));
        }
    }
    found
}

/// Returns a person's id in a mailbox.
fn id(mailbox: &Mailbox, email: &str) -> u64 {
    let digest = Sha256::new()
        .chain_update("contact\0")
        .chain_update(&mailbox.address)
        .chain_update([0])
        .chain_update(email)
        .finalize();
    u64::from_be_bytes(digest.first_chunk().copied().unwrap_or_default())
}
