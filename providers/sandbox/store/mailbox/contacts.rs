//! The people of a mailbox: senders, and recipients of the owner's messages.
//!
//! The sandbox has no address book. It derives one from the mail, so that a lookup finds the people
//! whom the messages are about. People the owner has written to count as saved contacts; all others
//! are known only from mail. Provider-neutral: each API's shapes are built elsewhere.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::Mailbox;
use super::person::{MailboxPeople, MailboxPerson, untagged};
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
    let own = &mailbox.address;
    own.eq_ignore_ascii_case(email) || own.eq_ignore_ascii_case(&untagged(email))
}

/// Returns the names and addresses in header fields, each address once.
fn addresses(message: &Message, names: &[&str]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let fields = head::fields(mime::header_section(&message.raw), &message.raw).into_iter();
    let fields = fields.filter(|it| names.iter().any(|name| it.name.eq_ignore_ascii_case(name)));
    for (name, email) in fields.flat_map(|field| field.people()) {
        let email = email.unwrap_or_default().to_lowercase();
        let whole = email.contains('@') && !email.contains(char::is_whitespace);
        if !whole || found.len() == MAX_PER_MESSAGE || found.iter().any(|(_, e)| *e == email) {
            continue;
        }
        // Many mailers repeat the address as the name.
        let name = name.filter(|name| !name.contains('@')).unwrap_or_default();
        found.push((name, email));
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
