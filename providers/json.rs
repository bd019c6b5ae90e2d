//! Reading providers' JSON where no column does.

use serde_json::Value;

/// The text under a key, empty when there is none.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
