//! Gmail's search language, decided: does a message meet a query?
//!
//! Words are whole words, whatever their case; an address or a domain is a
//! phrase of its words, so `from:example.com` finds everybody there.

use super::{Field, Query, Test};
use crate::store::mailbox::Mailbox;
use crate::store::message::Message;
use crate::store::words::{has_phrase, words};

/// The labels that are places; a message with none of them is archived.
const PLACED: [&str; 5] = ["INBOX", "SENT", "DRAFT", "SPAM", "TRASH"];

/// Decides for the messages of one mailbox.
pub(crate) struct Matcher<'a> {
    /// Whose labels have names.
    pub mailbox: &'a Mailbox,
}

impl Matcher<'_> {
    /// True when a message meets a query.
    pub fn matches(&self, query: &Query, message: &Message) -> bool {
        match query {
            Query::All(all) => all.iter().all(|query| self.matches(query, message)),
            Query::Any(any) => any.iter().any(|query| self.matches(query, message)),
            Query::Not(query) => !self.matches(query, message),
            Query::Test(test) => self.meets(test, message),
        }
    }

    fn meets(&self, test: &Test, message: &Message) -> bool {
        match test {
            Test::Says(field, phrase) => says(message, *field, phrase),
            Test::Label(name) => self.labelled(name, message),
            Test::Category(name) => category(name, message),
            // Gmail takes `is:inbox` and `in:unread` as well.
            Test::In(place) | Test::Is(place) => self.is_in(place, message),
            Test::Has(what) => what == "attachment" && !message.filenames().is_empty(),
            Test::Larger(bytes) => message.raw.len() > *bytes,
            Test::Smaller(bytes) => message.raw.len() < *bytes,
            Test::Before(time) => message.facts.date < *time,
            Test::After(time) => message.facts.date >= *time,
            Test::MessageId(id) => message.facts.message_id == *id,
            Test::Never => false,
        }
    }

    fn labelled(&self, name: &str, message: &Message) -> bool {
        let meant = self.mailbox.labels.meant_by(name);
        meant.iter().any(|id| message.has(id))
    }

    /// `in:`, which takes labels too.
    fn is_in(&self, place: &str, message: &Message) -> bool {
        match place {
            "anywhere" | "all" => true,
            "archive" => !PLACED.iter().any(|label| message.has(label)),
            "drafts" => message.has("DRAFT"),
            "bin" => message.has("TRASH"),
            "junk" => message.has("SPAM"),
            "chats" => message.has("CHAT"),
            "read" => !message.has("UNREAD"),
            label => self.labelled(label, message),
        }
    }
}

/// The labels SPAM and TRASH, where a query asks for messages in them, which
/// lists else leave out.
pub(crate) fn places_named(query: &Query) -> Vec<&'static str> {
    match query {
        Query::All(queries) | Query::Any(queries) => {
            queries.iter().flat_map(places_named).collect()
        }
        Query::Not(_) => Vec::new(),
        Query::Test(Test::In(name) | Test::Is(name) | Test::Label(name)) => match name.as_str() {
            "anywhere" => vec!["SPAM", "TRASH"],
            "spam" | "junk" => vec!["SPAM"],
            "trash" | "bin" => vec!["TRASH"],
            _ => Vec::new(),
        },
        Query::Test(_) => Vec::new(),
    }
}

/// True when the words stand next to each other in a field.
fn says(message: &Message, field: Field, phrase: &[String]) -> bool {
    let facts = &message.facts;
    let in_text = |text: &str| has_phrase(&words(text), phrase);
    // A phrase does not run from a name into the address behind it.
    let in_people = |text: &str| text.split(['<', '>']).any(in_text);
    match field {
        Field::Anywhere => message.says(phrase),
        Field::From => in_people(&facts.from),
        Field::To => [&facts.to, &facts.cc, &facts.bcc].into_iter().any(|text| in_people(text)),
        Field::Cc => in_people(&facts.cc),
        Field::Bcc => in_people(&facts.bcc),
        Field::Subject => in_text(&facts.subject),
        Field::Filename => message.filenames().iter().any(|name| in_text(name)),
    }
}

/// The tabs of the inbox. What has none stands in the first.
fn category(name: &str, message: &Message) -> bool {
    match name {
        "primary" | "personal" => {
            let other = message.labels.iter().any(|id| id.starts_with("CATEGORY_"));
            message.has("CATEGORY_PERSONAL") || message.has("INBOX") && !other
        }
        _ => message.has(&format!("CATEGORY_{}", name.to_uppercase())),
    }
}
