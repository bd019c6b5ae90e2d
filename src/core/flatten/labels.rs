//! Lists of texts and ids, such as labels and categories, and the names of ids, such as folders.

use serde_json::Value;

use super::member::ListMember;
use super::reader::{ReadValue, RowReader, at, to_count};

/// Reads the texts of the list at a path.
pub(super) fn texts(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    match reader.seen(object, path) {
        Some(Value::Array(list)) => ReadValue::List(
            list.iter().filter_map(|item| item.as_str().map(ListMember::text)).collect(),
        ),
        other => reader.unexpected(other),
    }
}

/// Reads the names of the ids in the text or list at a path. Unknown ids are omitted.
pub(super) fn names(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    let names = reader.context.names;
    let named = |item: &Value| item.as_str().and_then(|id| names.get(id)).cloned();
    match at(object, path) {
        Some(Value::Array(list)) => {
            let names = list.iter().filter_map(named);
            ReadValue::List(names.map(|name| ListMember::text(&name)).collect())
        }
        Some(id @ Value::String(_)) => named(id).map_or(ReadValue::Nothing, ReadValue::Text),
        other => reader.unexpected(other),
    }
}

/// Counts the elements of the list at a path.
pub(super) fn count(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    match at(object, path) {
        Some(Value::Array(list)) => to_count(list.len()),
        other => reader.unexpected(other),
    }
}
