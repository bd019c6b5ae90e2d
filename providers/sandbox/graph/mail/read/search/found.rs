//! Graph's `$search`, decided: does a letter meet a query?
//!
//! Words are whole words, whatever their case, as in Gmail's half; an address
//! is a phrase of its words, and a phrase does not run from a name into the
//! address behind it.

use super::{Field, Query, Test};
use crate::store::letter::Letter;
use crate::store::words::{has_phrase, words};

/// True when a letter meets a query.
pub(crate) fn matches(query: &Query, letter: &Letter) -> bool {
    match query {
        Query::All(all) => all.iter().all(|query| matches(query, letter)),
        Query::Any(any) => any.iter().any(|query| matches(query, letter)),
        Query::Not(query) => !matches(query, letter),
        Query::Test(test) => meets(test, letter),
    }
}

fn meets(test: &Test, letter: &Letter) -> bool {
    match test {
        Test::Says(field, phrase) => says(letter, *field, phrase),
        Test::HasAttachments => !letter.filenames().is_empty(),
        Test::Important => letter.has("IMPORTANT"),
        Test::Size(from, below) => {
            let size = u64::try_from(letter.raw.len()).unwrap_or(u64::MAX);
            (*from..*below).contains(&size)
        }
        Test::Time(from, before) => (*from..*before).contains(&letter.facts.date),
        Test::Always => true,
        Test::Never => false,
    }
}

/// True when the words stand next to each other in a field.
fn says(letter: &Letter, field: Field, phrase: &[String]) -> bool {
    let facts = &letter.facts;
    let in_text = |text: &str| has_phrase(&words(text), phrase);
    let in_people = |text: &String| text.split(['<', '>']).any(in_text);
    match field {
        Field::Anywhere => letter.says(phrase),
        Field::From => in_people(&facts.from),
        Field::To => in_people(&facts.to),
        Field::Cc => in_people(&facts.cc),
        Field::Bcc => in_people(&facts.bcc),
        Field::Subject => in_text(&facts.subject),
        Field::Body => letter.body_says(phrase),
        Field::Attachment => letter.filenames().iter().any(|name| in_text(name)),
    }
}
