//! Gmail's search language, decided: does a letter meet a query?
//!
//! Words are whole words, whatever their case; an address or a domain is a
//! phrase of its words, so `from:example.com` finds everybody there.

use super::{Field, Query, Test};
use crate::store::letter::Letter;
use crate::store::mailbox::Mailbox;
use crate::store::words::{has_phrase, words};

/// The labels that are places; a letter with none of them is archived.
const PLACED: [&str; 5] = ["INBOX", "SENT", "DRAFT", "SPAM", "TRASH"];

/// Decides for the letters of one mailbox.
pub(crate) struct Matcher<'a> {
    /// Whose labels have names.
    pub mailbox: &'a Mailbox,
}

impl Matcher<'_> {
    /// True when a letter meets a query.
    pub fn matches(&self, query: &Query, letter: &Letter) -> bool {
        match query {
            Query::All(all) => all.iter().all(|query| self.matches(query, letter)),
            Query::Any(any) => any.iter().any(|query| self.matches(query, letter)),
            Query::Not(query) => !self.matches(query, letter),
            Query::Test(test) => self.meets(test, letter),
        }
    }

    fn meets(&self, test: &Test, letter: &Letter) -> bool {
        match test {
            Test::Says(field, phrase) => says(letter, *field, phrase),
            Test::Label(name) => self.labelled(name, letter),
            Test::Category(name) => category(name, letter),
            // Gmail takes `is:inbox` and `in:unread` as well.
            Test::In(place) | Test::Is(place) => self.is_in(place, letter),
            Test::Has(what) => what == "attachment" && !letter.filenames().is_empty(),
            Test::Larger(bytes) => letter.raw.len() > *bytes,
            Test::Smaller(bytes) => letter.raw.len() < *bytes,
            Test::Before(time) => letter.facts.date < *time,
            Test::After(time) => letter.facts.date >= *time,
            Test::MessageId(id) => letter.facts.message_id == *id,
            Test::Never => false,
        }
    }

    fn labelled(&self, name: &str, letter: &Letter) -> bool {
        let meant = self.mailbox.labels.meant_by(name);
        meant.iter().any(|id| letter.has(id))
    }

    /// `in:`, which takes labels too.
    fn is_in(&self, place: &str, letter: &Letter) -> bool {
        match place {
            "anywhere" | "all" => true,
            "archive" => !PLACED.iter().any(|label| letter.has(label)),
            "drafts" => letter.has("DRAFT"),
            "bin" => letter.has("TRASH"),
            "junk" => letter.has("SPAM"),
            "chats" => letter.has("CHAT"),
            "read" => !letter.has("UNREAD"),
            label => self.labelled(label, letter),
        }
    }
}

/// The labels SPAM and TRASH, where a query asks for letters in them, which
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
fn says(letter: &Letter, field: Field, phrase: &[String]) -> bool {
    let facts = &letter.facts;
    let in_text = |text: &str| has_phrase(&words(text), phrase);
    // A phrase does not run from a name into the address behind it.
    let in_people = |text: &str| text.split(['<', '>']).any(in_text);
    match field {
        Field::Anywhere => letter.says(phrase),
        Field::From => in_people(&facts.from),
        Field::To => [&facts.to, &facts.cc, &facts.bcc].into_iter().any(|text| in_people(text)),
        Field::Cc => in_people(&facts.cc),
        Field::Bcc => in_people(&facts.bcc),
        Field::Subject => in_text(&facts.subject),
        Field::Filename => letter.filenames().iter().any(|name| in_text(name)),
    }
}

/// The tabs of the inbox. What has none stands in the first.
fn category(name: &str, letter: &Letter) -> bool {
    match name {
        "primary" | "personal" => {
            let other = letter.labels.iter().any(|id| id.starts_with("CATEGORY_"));
            letter.has("CATEGORY_PERSONAL") || letter.has("INBOX") && !other
        }
        _ => letter.has(&format!("CATEGORY_{}", name.to_uppercase())),
    }
}
