//! Evaluation of Gmail's search language: deciding if a message matches a query.

use super::{GmailQuery, GmailTest};
use crate::store::mailbox::Mailbox;
use crate::store::message::Message;

/// Labels that are locations. A message without any of them is archived.
const PLACED: [&str; 5] = ["INBOX", "SENT", "DRAFT", "SPAM", "TRASH"];

/// Evaluates queries on the messages of one mailbox.
pub(crate) struct MessageMatcher<'a> {
    /// The mailbox, which has the names of labels.
    pub mailbox: &'a Mailbox,
}

impl MessageMatcher<'_> {
    /// Returns true if a message matches a query.
    pub fn matches(&self, query: &GmailQuery, message: &Message) -> bool {
        query.is_met(&|test| self.meets(test, message))
    }

    fn meets(&self, test: &GmailTest, message: &Message) -> bool {
        match test {
            GmailTest::Says(field, phrase) => message.says_in(*field, phrase),
            GmailTest::Label(name) => self.has_label(name, message),
            GmailTest::Category(name) => category(name, message),
            // Gmail accepts `is:inbox` and `in:unread` as well.
            GmailTest::In(place) | GmailTest::Is(place) => self.is_in(place, message),
            GmailTest::Has(what) => what == "attachment" && !message.filenames().is_empty(),
            GmailTest::Larger(bytes) => message.raw.len() > *bytes,
            GmailTest::Smaller(bytes) => message.raw.len() < *bytes,
            GmailTest::Before(time) => message.facts.date < *time,
            GmailTest::After(time) => message.facts.date >= *time,
            GmailTest::MessageId(id) => message.facts.message_id == *id,
            GmailTest::Never => false,
        }
    }

    fn has_label(&self, name: &str, message: &Message) -> bool {
        let meant = self.mailbox.labels.meant_by(name);
        meant.iter().any(|id| message.has(id))
    }

    /// Evaluates `in:`, which also accepts labels.
    fn is_in(&self, place: &str, message: &Message) -> bool {
        match place {
            "anywhere" | "all" => true,
            "archive" => !PLACED.iter().any(|label| message.has(label)),
            "drafts" => message.has("DRAFT"),
            "bin" => message.has("TRASH"),
            "junk" => message.has("SPAM"),
            "chats" => message.has("CHAT"),
            "read" => !message.has("UNREAD"),
            label => self.has_label(label, message),
        }
    }
}

/// Returns `SPAM` and `TRASH` if a query asks for messages in them. Lists leave them out otherwise.
pub(crate) fn places_named(query: &GmailQuery) -> Vec<&'static str> {
    match query {
        GmailQuery::All(queries) | GmailQuery::Any(queries) => {
            queries.iter().flat_map(places_named).collect()
        }
        // `-in:spam` mentions spam only to exclude it.
        GmailQuery::Not(_) => Vec::new(),
        GmailQuery::Test(GmailTest::In(name) | GmailTest::Is(name) | GmailTest::Label(name)) => {
            match name.as_str() {
                "anywhere" => vec!["SPAM", "TRASH"],
                "spam" | "junk" => vec!["SPAM"],
                "trash" | "bin" => vec!["TRASH"],
                _ => Vec::new(),
            }
        }
        GmailQuery::Test(_) => Vec::new(),
    }
}

/// Returns true for a message of the inbox's first tab, which has all messages of no other tab.
pub(crate) fn is_primary(message: &Message) -> bool {
    let other = message.labels.iter().any(|id| id.starts_with("CATEGORY_"));
    message.has("CATEGORY_PERSONAL") || message.has("INBOX") && !other
}

/// Evaluates the tabs of the inbox.
fn category(name: &str, message: &Message) -> bool {
    match name {
        "primary" | "personal" => is_primary(message),
        _ => message.has(&format!("CATEGORY_{}", name.to_uppercase())),
    }
}
