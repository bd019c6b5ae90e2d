//! JSON objects, as answers are built of them.

use serde_json::{Map, Value};

/// Returns the members of an object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Returns an object without its members that are null.
pub(crate) fn present(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// Returns a list unless it is empty: protobuf's JSON leaves out empty lists.
pub(crate) fn listed<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

/// Adds the members of one object to another.
pub(crate) fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

/// Returns a member as a type. `None` if it is missing or null.
///
/// # Errors
///
/// The value if it is of another type.
pub(crate) fn member<'a, T>(
    object: &'a Map<String, Value>,
    name: &str,
    read: impl Fn(&'a Value) -> Option<T>,
) -> Result<Option<T>, &'a Value> {
    match object.get(name).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => read(value).map(Some).ok_or(value),
    }
}
