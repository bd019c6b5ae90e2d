//! Parsed searches and filters: conditions, their combination, and matching of words.
//!
//! Words are whole words in any case. An address or a domain is a phrase of its words, so that
//! `example.com` finds everyone at that domain.

use super::message::Message;
use super::search_text::{has_phrase, words};

/// Conditions and their combinations.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StoreQuery<T> {
    /// All of them. An empty list is always met.
    All(Vec<Self>),
    /// Any of them.
    Any(Vec<Self>),
    /// Negation.
    Not(Box<Self>),
    /// One condition.
    Test(T),
}

impl<T> StoreQuery<T> {
    /// Returns a single part unchanged, or combines several with `by`.
    pub fn join(mut parts: Vec<Self>, by: fn(Vec<Self>) -> Self) -> Self {
        match (parts.len(), parts.pop()) {
            (1, Some(part)) => part,
            (_, last) => {
                parts.extend(last);
                by(parts)
            }
        }
    }

    /// Returns true if the query is met. `meets` evaluates one condition.
    pub fn is_met(&self, meets: &impl Fn(&T) -> bool) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.is_met(meets)),
            Self::Any(parts) => parts.iter().any(|part| part.is_met(meets)),
            Self::Not(part) => !part.is_met(meets),
            Self::Test(test) => meets(test),
        }
    }

    /// Returns the conditions in order.
    pub fn tests(&mut self) -> Vec<&mut T> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter_mut().flat_map(Self::tests).collect(),
            Self::Not(part) => part.tests(),
            Self::Test(test) => vec![test],
        }
    }
}

/// The part of a message to search for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchField {
    /// Header fields and text.
    Anywhere,
    From,
    To,
    Cc,
    Bcc,
    /// All recipients: To, Cc and Bcc.
    Recipients,
    Subject,
    /// The text alone.
    Body,
    /// The names of the attachments.
    Attachment,
}

impl Message {
    /// Returns true if the words are adjacent in a field. A phrase does not extend from a name into
    /// the address after it.
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
