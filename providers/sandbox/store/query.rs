//! Searches and filters, once they are read: conditions, what joins them, and the words
//! that a message says.
//!
//! Words are whole words, whatever their case; an address or a domain is a phrase of its
//! words, so that `example.com` finds everybody there.

use super::message::Message;
use super::search_text::{has_phrase, words};

/// Conditions, joined.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StoreQuery<T> {
    /// All of them; none is no condition.
    All(Vec<Self>),
    /// Any of them.
    Any(Vec<Self>),
    /// Not this.
    Not(Box<Self>),
    /// One condition.
    Test(T),
}

impl<T> StoreQuery<T> {
    /// One part as it is, several joined.
    pub fn join(mut parts: Vec<Self>, by: fn(Vec<Self>) -> Self) -> Self {
        match (parts.len(), parts.pop()) {
            (1, Some(part)) => part,
            (_, last) => {
                parts.extend(last);
                by(parts)
            }
        }
    }

    /// True when it is met; `meets` decides one condition.
    pub fn is_met(&self, meets: &impl Fn(&T) -> bool) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.is_met(meets)),
            Self::Any(parts) => parts.iter().any(|part| part.is_met(meets)),
            Self::Not(part) => !part.is_met(meets),
            Self::Test(test) => meets(test),
        }
    }

    /// The conditions, in their order.
    pub fn tests(&mut self) -> Vec<&mut T> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter_mut().flat_map(Self::tests).collect(),
            Self::Not(part) => part.tests(),
            Self::Test(test) => vec![test],
        }
    }
}

/// Where words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchField {
    /// Headers and text.
    Anywhere,
    From,
    To,
    Cc,
    Bcc,
    /// All to whom it goes.
    Recipients,
    Subject,
    /// The text alone.
    Body,
    /// The names of the attachments.
    Attachment,
}

impl Message {
    /// True when the words stand next to each other in a field. A phrase does not run
    /// from a name into the address behind it.
    pub fn says_in(&self, field: SearchField, phrase: &[String]) -> bool {
        let facts = &self.facts;
        let in_text = |text: &str| has_phrase(&words(text), phrase);
        let in_people = |text: &String| text.split(['<', '>']).any(in_text);
        match field {
            SearchField::Anywhere => self.says(phrase),
            SearchField::From => in_people(&facts.from),
            SearchField::To => in_people(&facts.to),
            SearchField::Cc => in_people(&facts.cc),
            SearchField::Bcc => in_people(&facts.bcc),
            SearchField::Recipients => {
                [&facts.to, &facts.cc, &facts.bcc].into_iter().any(in_people)
            }
            SearchField::Subject => in_text(&facts.subject),
            SearchField::Body => self.body_says(phrase),
            SearchField::Attachment => self.filenames().iter().any(|name| in_text(name)),
        }
    }
}
