//! JSON values without loss, for conversion to and from STC.
//!
//! Other parsers of JSON round numbers and keep only one of two members with the same name. Here
//! a number is its lexeme and members are a list, so the conversion loses only blanks and the
//! choice of escapes. Half of a surrogate pair is refused, because it is not a character and
//! cannot be in a Rust string.

use std::fmt::Write;

/// A JSON value. Comparison is exact: `1` is not equal to `1.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number in its original notation: `1e400`, `-0`, `1.0`.
    Number(String),
    /// A string without its quotes and escapes.
    Text(String),
    /// An array.
    List(Vec<JsonValue>),
    /// An object: its members in order. Several members may have the same name.
    Object(Vec<(String, JsonValue)>),
}

impl JsonValue {
    /// Returns true for a value that is neither a list nor an object.
    pub fn is_primitive(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Object(_))
    }

    /// Returns a number or literal in the notation of JSON and STC; empty for other values.
    pub(super) fn lexeme(&self) -> &str {
        match self {
            Self::Null => "null",
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
            Self::Number(lexeme) => lexeme,
            _ => "",
        }
    }
}

/// Writes a string in quotes, with JSON's escapes and the ones that `escape` requires.
pub(super) fn quote(out: &mut String, text: &str, escape: impl Fn(char) -> bool) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            // All of these are in the Basic Multilingual Plane, so four digits suffice.
            char if char < ' ' || escape(char) => {
                // Writing to a `String` cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out.push('"');
}
