//! JSON as it was written: the value that STC says.
//!
//! Other readers of JSON round numbers and keep one of two members with the
//! same name. Here a number is its lexeme and members are a list, so nothing
//! is lost between JSON and STC but blanks and the choice of escapes.
//! Half of a surrogate pair is refused: it is no character, and no text of
//! Rust's can hold it.

use std::fmt::Write;

use super::parse::placed_json;
use super::scan::ParseError;
use super::write::{StcStyle, spell};

/// A JSON value. Comparing is exact: `1` is not `1.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written: `1e400`, `-0`, `1.0`.
    Number(String),
    /// A string without its quotes and escapes.
    Text(String),
    /// An array.
    List(Vec<JsonValue>),
    /// An object: its members in order, of which several may have one name.
    Object(Vec<(String, JsonValue)>),
}

impl JsonValue {
    /// Reads a JSON text, as RFC 8259 has it.
    ///
    /// # Errors
    /// What is not JSON, nests deeper than [`super::scan::MAX_DEPTH`] levels or
    /// holds half of a surrogate pair.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        placed_json(text).map(|placed| placed.value)
    }

    /// Returns true for a value that holds no other.
    pub fn is_primitive(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Object(_))
    }

    /// Returns the value as JSON without blanks, and with no escape that need not be.
    pub fn to_json(&self) -> String {
        spell(self, StcStyle::Json)
    }

    /// Returns a number or a literal as in JSON and in STC; empty for others.
    pub(super) fn word(&self) -> &str {
        match self {
            Self::Null => "null",
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
            Self::Number(lexeme) => lexeme,
            _ => "",
        }
    }
}

/// Writes a string in quotes with JSON's escapes, and those that `escape` requires.
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
            // Characters that are escaped are of the basic plane.
            char if char < ' ' || escape(char) => {
                // Writing to a `String` cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out.push('"');
}
