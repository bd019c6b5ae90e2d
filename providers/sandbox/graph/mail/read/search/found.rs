//! Graph's `$search`, decided: does a message meet a query?
//!
//! Words are whole words, whatever their case, as in Gmail's half; an address
//! is a phrase of its words, and a phrase does not run from a name into the
//! address behind it.

use super::{Field, Query, Test};
use crate::store::message::Message;
use crate::store::words::{has_phrase, words};

/// True when a message meets a query.
pub(crate) fn matches(query: &Query, message: &Message) -> bool {
    match query {
        Query::All(all) => all.iter().all(|query| matches(query, message)),
        Query::Any(any) => any.iter().any(|query| matches(query, message)),
        Query::Not(query) => !matches(query, message),
        Query::Test(test) => meets(test, message),
    }
}

fn meets(test: &Test, message: &Message) -> bool {
    match test {
        Test::Says(field, phrase) => says(message, *field, phrase),
        Test::HasAttachments => !message.filenames().is_empty(),
        Test::Important => message.has("IMPORTANT"),
        Test::Size(from, below) => {
            let size = u64::try_from(message.raw.len()).unwrap_or(u64::MAX);
            (*from..*below).contains(&size)
        }
        Test::Time(from, before) => (*from..*before).contains(&message.facts.date),
        Test::Always => true,
        Test::Never => false,
    }
}

/// True when the words stand next to each other in a field.
fn says(message: &Message, field: Field, phrase: &[String]) -> bool {
    let facts = &message.facts;
    let in_text = |text: &str| has_phrase(&words(text), phrase);
    let in_people = |text: &String| text.split(['<', '>']).any(in_text);
    match field {
        Field::Anywhere => message.says(phrase),
        Field::From => in_people(&facts.from),
        Field::To => in_people(&facts.to),
        Field::Cc => in_people(&facts.cc),
        Field::Bcc => in_people(&facts.bcc),
        Field::Subject => in_text(&facts.subject),
        Field::Body => message.body_says(phrase),
        Field::Attachment => message.filenames().iter().any(|name| in_text(name)),
    }
}
