//! Mail header fields.
//!
//! Header fields about the authenticity of the sender are left to `sender_checks.rs`.

use serde_json::Value;

use super::member::ListMember;
use super::reader::{ReadValue, RowReader, list};
use crate::schemas::wire;
use crate::text;
use crate::text::unsubscribe::way;

/// Reads the first header field with this name as text.
pub(super) fn field_text(reader: &mut RowReader, object: &Value, name: &str) -> ReadValue {
    match field_values(object, wire::HEADERS, name).next() {
        Some(value) => {
            let text = text::header(value).into_owned();
            reader.see_text(&text);
            ReadValue::Text(text)
        }
        None => ReadValue::Nothing,
    }
}

/// Reads the addresses in all header fields with this name.
pub(super) fn field_addresses(reader: &mut RowReader, object: &Value, name: &str) -> ReadValue {
    // A repeated field is invalid (RFC 5322, 3.6), but the message may have been sent to all the
    // people it names.
    let mut values = field_values(object, wire::HEADERS, name).peekable();
    if values.peek().is_none() {
        return ReadValue::Nothing;
    }
    let mut people = Vec::new();
    for value in values {
        reader.see_text(&text::header(value));
        let found = text::address_list(value);
        people.extend(found.iter().map(|person| ListMember::person(person, "")));
    }
    ReadValue::List(people)
}

/// Reads a sign of bulk mail: a header field with this name that has one of the words; any field
/// with this name, if there are no words.
pub(super) fn bulk(object: &Value, path: &str, name: &str, words: &[&str]) -> ReadValue {
    ReadValue::Flag(field_values(object, path, name).any(|value| is_one_of(value, words)))
}

/// Reads the way to leave a mailing list.
pub(super) fn unsubscribe(object: &Value, path: &str) -> ReadValue {
    let fields = wire::UNSUBSCRIBE.iter().filter_map(|name| {
        let value = field_values(object, path, name).next()?;
        Some(((*name).to_owned(), value.to_owned()))
    });
    match way(&fields.collect::<Vec<_>>()) {
        Some(way) => ReadValue::Text(way.word().to_owned()),
        None => ReadValue::Nothing,
    }
}

/// Returns the values of the header fields with this name, ignoring case, in the list at a path.
pub(super) fn field_values<'v>(
    object: &'v Value,
    path: &str,
    name: &str,
) -> impl Iterator<Item = &'v str> {
    let (key, value) = wire::HEADER;
    list(object, path)
        .iter()
        .filter(move |header| {
            header
                .get(key)
                .and_then(Value::as_str)
                .is_some_and(|found| found.eq_ignore_ascii_case(name))
        })
        .filter_map(move |header| header.get(value).and_then(Value::as_str))
}

/// Returns true if a header field's value, up to its parameters or comment, is one of the words,
/// or if there are no words.
fn is_one_of(value: &str, words: &[&str]) -> bool {
    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '(');
    let own = value.trim_start().split(ends).next().unwrap_or_default();
    words.is_empty() || words.iter().any(|word| own.eq_ignore_ascii_case(word))
}
