//! A person of a mailbox, and the search for people.
//!
//! `contacts.rs` finds them in the mail.

use crate::store::search_text::words;

/// All people of a mailbox.
#[derive(Debug, Default)]
pub(crate) struct MailboxPeople {
    /// The owner's name, if a message from the owner has one.
    pub owner: Option<String>,
    /// All other people, sorted by their number of messages, descending.
    pub others: Vec<MailboxPerson>,
}

/// One person, identified by one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MailboxPerson {
    /// The name in the newest message that has one; else empty.
    pub name: String,
    /// The address in lower case.
    pub email: String,
    /// The number of messages exchanged.
    pub count: usize,
    /// True if the owner has written to them.
    pub saved: bool,
    /// The person's id, the same on every run.
    pub id: u64,
}

impl MailboxPerson {
    /// Returns true if the words of the question are consecutive words of the name or address. The
    /// last word may be a prefix. An empty question matches no person.
    pub fn matches(&self, question: &str) -> bool {
        let query_words = words(question);
        let Some((last, whole)) = query_words.split_last() else {
            return false;
        };
        [&self.name, &self.email].into_iter().any(|text| {
            words(text).windows(query_words.len()).any(|known| {
                known
                    .split_last()
                    .is_some_and(|(end, before)| before == whole && end.starts_with(last.as_str()))
            })
        })
    }
}

/// Returns an address without its tag: `me+news@…` reaches `me@…`.
pub(crate) fn untagged(address: &str) -> String {
    match address.rsplit_once('@') {
        Some((local, domain)) => {
            let local = local.split_once('+').map_or(local, |(local, _)| local);
            format!("{local}@{domain}")
        }
        None => address.to_owned(),
    }
}
