//! Graph's `$search`, decided: does a message meet a query?
//!
//! Words are whole words, whatever their case, as in Gmail's half; an address
//! is a phrase of its words, and a phrase does not run from a name into the
//! address behind it.

use super::{KqlField, KqlQuery, KqlTest};
use crate::store::message::Message;
use crate::store::words::{has_phrase, words};

/// True when a message meets a query.
pub(crate) fn matches(query: &KqlQuery, message: &Message) -> bool {
    match query {
        KqlQuery::All(all) => all.iter().all(|query| matches(query, message)),
        KqlQuery::Any(any) => any.iter().any(|query| matches(query, message)),
        KqlQuery::Not(query) => !matches(query, message),
        KqlQuery::Test(test) => meets(test, message),
    }
}

fn meets(test: &KqlTest, message: &Message) -> bool {
    match test {
        KqlTest::Says(field, phrase) => says(message, *field, phrase),
        KqlTest::HasAttachments => !message.filenames().is_empty(),
        KqlTest::Important => message.has("IMPORTANT"),
        KqlTest::Size(from, below) => {
            let size = u64::try_from(message.raw.len()).unwrap_or(u64::MAX);
            (*from..*below).contains(&size)
        }
        KqlTest::Time(from, before) => (*from..*before).contains(&message.facts.date),
        KqlTest::Always => true,
        KqlTest::Never => false,
    }
}

/// True when the words stand next to each other in a field.
fn says(message: &Message, field: KqlField, phrase: &[String]) -> bool {
    let facts = &message.facts;
    let in_text = |text: &str| has_phrase(&words(text), phrase);
    let in_people = |text: &String| text.split(['<', '>']).any(in_text);
    match field {
        KqlField::Anywhere => message.says(phrase),
        KqlField::From => in_people(&facts.from),
        KqlField::To => in_people(&facts.to),
        KqlField::Cc => in_people(&facts.cc),
        KqlField::Bcc => in_people(&facts.bcc),
        KqlField::Subject => in_text(&facts.subject),
        KqlField::Body => message.body_says(phrase),
        KqlField::Attachment => message.filenames().iter().any(|name| in_text(name)),
    }
}
