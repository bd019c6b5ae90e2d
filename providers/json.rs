//! Reading of providers' JSON outside columns.

use serde_json::Value;

/// Returns the text under a key; empty if it is missing.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the value under a key; null if it is missing.
#[cfg(any(feature = "google", feature = "microsoft"))]
pub fn nested<'v>(value: &'v Value, key: &str) -> &'v Value {
    value.get(key).unwrap_or(&Value::Null)
}

/// Returns true if a flag is set.
#[cfg(feature = "microsoft")]
pub fn is(value: &Value, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}
