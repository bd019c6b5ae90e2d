//! Reading a value from an object, by its source.
//!
//! The table of sources, and the sources that are made of other sources. Single values are read in
//! the files by subject, which never read a source.

use serde_json::Value;

use super::context::RowContext;
use super::member::ListMember;
use super::reader::{ReadValue, RowReader, list, to_count};
use super::sender_checks::{self, warnings_at};
use super::{flags, forms, headers, ids, labels, people, times};
use crate::schemas::{ColumnReader, ValueSource};
use crate::text::opening;
use crate::text::sender_auth::SenderWarning;

/// Reads the value of a source.
pub(super) fn read(reader: &mut RowReader, object: &Value, source: ValueSource) -> ReadValue {
    match source {
        // Events are not read from JSON.
        ValueSource::Absent | ValueSource::Added(_) | ValueSource::Event(_) => ReadValue::Nothing,
        ValueSource::Account => people::account(reader.context),
        ValueSource::Path(path) => reader.scalar(object, path),
        ValueSource::Converted(path, form) => forms::converted(reader, object, path, form),
        ValueSource::Not(flag) => opposite(reader, object, *flag),
        ValueSource::Is(path, word) => flags::is_word(reader, object, path, word),
        ValueSource::Has(path, word) => flags::has_word(reader, object, path, word),
        ValueSource::There(path) => flags::exists(object, path),
        ValueSource::EpochMs(path) => times::epoch_ms(reader, object, path),
        ValueSource::Rfc3339(path) => times::rfc3339(reader, object, path),
        ValueSource::GoogleWhen(path) => times::google_when(reader, object, path),
        ValueSource::GraphWhen(path) => times::graph_when(reader, object, path),
        ValueSource::Until(start, end) => end_of_event(reader, object, *start, *end),
        ValueSource::Header(name) => headers::field_text(reader, object, name),
        ValueSource::HeaderAddresses(name) => headers::field_addresses(reader, object, name),
        ValueSource::Address(path) => people::recipient(reader, object, path),
        ValueSource::Addresses(path) => people::recipients(reader, object, path),
        ValueSource::Join(path) => labels::texts(reader, object, path),
        ValueSource::Names(path) => labels::names(reader, object, path),
        ValueSource::Flags(words) => words_that_hold(reader, object, words),
        ValueSource::First(words, otherwise) => first_word(reader, object, words, otherwise),
        ValueSource::Either(sources) => first_filled(reader, object, sources),
        ValueSource::Provided(condition, inner) => read_if(reader, object, *condition, *inner),
        ValueSource::Oldest(path, inner) => oldest(reader, list(object, path), *inner),
        ValueSource::Newest(path, inner) => newest(reader, list(object, path), *inner),
        ValueSource::Each(path, inner) => distinct(reader, list(object, path), *inner),
        ValueSource::Tally(path, inner) => tally(reader, list(object, path), *inner),
        ValueSource::Any(path, inner) => any(reader, list(object, path), *inner),
        ValueSource::Column(column) => read_column(reader, object, column),
    }
}

/// Reads a value that only one column has.
fn read_column(reader: &mut RowReader, object: &Value, column: ColumnReader) -> ReadValue {
    match column {
        ColumnReader::Count(path) => labels::count(reader, object, path),
        ColumnReader::From { sender, draft } => from(reader, object, *sender, *draft),
        ColumnReader::Snippet { text, subject } => snippet(reader, object, *text, *subject),
        ColumnReader::Link(path) => ids::link(reader, object, path),
        ColumnReader::Bulk(path, name, words) => headers::bulk(object, path, name, words),
        ColumnReader::Unsubscribe(path) => headers::unsubscribe(object, path),
        ColumnReader::Auth(path) => sender_checks::auth(object, path, reader.context),
        ColumnReader::Warn { headers, text, spam } => warn(reader, object, headers, *text, *spam),
    }
}

/// Returns true if a condition holds, or any of several.
fn holds(reader: &mut RowReader, object: &Value, condition: ValueSource) -> bool {
    match condition {
        ValueSource::Either(any) => any.iter().any(|one| holds(reader, object, *one)),
        one => matches!(read(reader, object, one), ReadValue::Flag(true)),
    }
}

/// Reads a flag as its opposite.
fn opposite(reader: &mut RowReader, object: &Value, flag: ValueSource) -> ReadValue {
    match read(reader, object, flag) {
        ReadValue::Nothing => ReadValue::Nothing,
        ReadValue::Flag(flag) => ReadValue::Flag(!flag),
        _ => {
            reader.odd = true;
            ReadValue::Nothing
        }
    }
}

/// Returns the words of all conditions that hold.
fn words_that_hold(
    reader: &mut RowReader,
    object: &Value,
    words: &[(&'static str, ValueSource)],
) -> ReadValue {
    let holding = words.iter().filter(|(_, condition)| holds(reader, object, *condition));
    ReadValue::Words(holding.map(|(word, _)| *word).collect())
}

/// Returns the word of the first condition that holds, else the last argument; null if that is
/// empty.
fn first_word(
    reader: &mut RowReader,
    object: &Value,
    words: &[(&str, ValueSource)],
    otherwise: &str,
) -> ReadValue {
    let first = words.iter().find(|(_, condition)| holds(reader, object, *condition));
    match first.map_or(otherwise, |(word, _)| *word) {
        "" => ReadValue::Nothing,
        word => ReadValue::Text(word.to_owned()),
    }
}

/// Reads a source if the condition holds.
fn read_if(
    reader: &mut RowReader,
    object: &Value,
    condition: ValueSource,
    inner: ValueSource,
) -> ReadValue {
    if holds(reader, object, condition) { read(reader, object, inner) } else { ReadValue::Nothing }
}

/// Reads the first source that has a value.
fn first_filled(reader: &mut RowReader, object: &Value, sources: &[ValueSource]) -> ReadValue {
    for source in sources {
        let found = read(reader, object, *source);
        if found.is_filled() {
            return found;
        }
    }
    ReadValue::Nothing
}

/// Reads the source in the oldest element that has it.
fn oldest(reader: &mut RowReader, items: &[Value], inner: ValueSource) -> ReadValue {
    first_of(reader, items.iter(), inner)
}

/// Reads the source in the newest element that has it.
fn newest(reader: &mut RowReader, items: &[Value], inner: ValueSource) -> ReadValue {
    first_of(reader, items.iter().rev(), inner)
}

/// Reads the source in the first element that has it.
fn first_of<'v>(
    reader: &mut RowReader,
    items: impl Iterator<Item = &'v Value>,
    inner: ValueSource,
) -> ReadValue {
    for item in items {
        match read(reader, item, inner) {
            ReadValue::Nothing => {}
            found => return found,
        }
    }
    ReadValue::Nothing
}

/// Reads the distinct values of the source in all elements.
fn distinct(reader: &mut RowReader, items: &[Value], inner: ValueSource) -> ReadValue {
    let mut values: Vec<ListMember> = Vec::new();
    for item in items {
        let found = match read(reader, item, inner) {
            ReadValue::List(members) => members,
            ReadValue::Text(text) => vec![ListMember::text(&text)],
            _ => Vec::new(),
        };
        for value in found {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    ReadValue::List(values)
}

/// Counts the elements for which the condition holds.
fn tally(reader: &mut RowReader, items: &[Value], condition: ValueSource) -> ReadValue {
    to_count(items.iter().filter(|item| holds(reader, item, condition)).count())
}

/// Returns true if the condition holds for any element.
fn any(reader: &mut RowReader, items: &[Value], condition: ValueSource) -> ReadValue {
    ReadValue::Flag(items.iter().any(|item| holds(reader, item, condition)))
}

/// Reads the sender of a message; the account's address for a draft without one.
fn from(
    reader: &mut RowReader,
    object: &Value,
    sender: ValueSource,
    draft: ValueSource,
) -> ReadValue {
    let sender = read(reader, object, sender);
    if sender.is_filled() {
        sender
    } else if holds(reader, object, draft) {
        people::owner(reader.context)
    } else {
        ReadValue::Nothing
    }
}

/// Reads the beginning of a message's text, without its subject.
fn snippet(
    reader: &mut RowReader,
    object: &Value,
    text: ValueSource,
    subject: ValueSource,
) -> ReadValue {
    let subject = match read(reader, object, subject) {
        ReadValue::Text(subject) => subject,
        _ => String::new(),
    };
    read(reader, object, text).map_text(|text| opening::opening(&text, &subject))
}

/// Reads the end of an event with its start, which decides the form of the end.
fn end_of_event(
    reader: &mut RowReader,
    object: &Value,
    start: ValueSource,
    end: ValueSource,
) -> ReadValue {
    match (read(reader, object, start), read(reader, object, end)) {
        (ReadValue::When(start), ReadValue::When(end)) => ReadValue::Until(start, end),
        _ => ReadValue::Nothing,
    }
}

/// Reads the words of the warnings about a message.
fn warn(
    reader: &RowReader,
    object: &Value,
    headers: &str,
    text: ValueSource,
    spam: ValueSource,
) -> ReadValue {
    let warnings = sender_warnings(object, headers, text, spam, reader.context);
    ReadValue::Words(warnings.into_iter().map(|one| one.word).collect())
}

/// Returns the warnings about the sender of a message, from the header fields at a path, about the
/// beginning of its text, and about spam.
pub(super) fn sender_warnings(
    object: &Value,
    path: &str,
    text: ValueSource,
    spam: ValueSource,
    context: &RowContext,
) -> Vec<SenderWarning> {
    // Text and folder have columns of their own, which report values of the wrong type.
    let mut reader = RowReader::new(context);
    // Outlook has a folder's name here, Gmail a label, which is true or false.
    let in_spam = match read(&mut reader, object, spam) {
        ReadValue::Text(folder) => folder == "spam",
        ReadValue::Flag(flag) => flag,
        _ => false,
    };
    let opening = match read(&mut reader, object, text) {
        ReadValue::Text(text) => Some(text),
        _ => None,
    };
    warnings_at(object, path, in_spam, opening.as_deref(), context)
}
