//! Conditions on single values: flags, words, and members of lists.

use serde_json::Value;

use super::reader::{ReadValue, RowReader, at};

/// Returns true if the text at a path equals the word, ignoring case.
pub(super) fn is_word(reader: &mut RowReader, object: &Value, path: &str, word: &str) -> ReadValue {
    match reader.scalar(object, path) {
        ReadValue::Text(text) => ReadValue::Flag(text.eq_ignore_ascii_case(word)),
        // Graph reports some properties as Booleans where Google has a word, such as the access
        // to a calendar.
        ReadValue::Flag(flag) => ReadValue::Flag(word == if flag { "true" } else { "false" }),
        _ => ReadValue::Nothing,
    }
}

/// Returns true if the list at a path contains the word.
pub(super) fn has_word(
    reader: &mut RowReader,
    object: &Value,
    path: &str,
    word: &str,
) -> ReadValue {
    match at(object, path) {
        Some(Value::Array(list)) => {
            ReadValue::Flag(list.iter().any(|item| item.as_str() == Some(word)))
        }
        other => reader.unexpected(other),
    }
}

/// Returns true if the value at a path is anything except null, false or an empty list.
pub(super) fn exists(object: &Value, path: &str) -> ReadValue {
    ReadValue::Flag(match at(object, path) {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(_) => true,
    })
}
