//! The scanner that both parsers share: a position in a text, JSON's strings and numbers, the
//! limit on nesting, and errors with line and column.
//!
//! The grammars of JSON and STC are in `parse.rs`.

use std::fmt;

use super::super::digits::{digits, ends, sign};

/// The maximum nesting of lists and objects. A table is two levels, a list of objects.
/// Deeper values are refused, so that no text can exhaust the stack.
pub const MAX_DEPTH: usize = 256;

/// An error in a text, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
    /// The error.
    pub wrong: SyntaxError,
}

/// The kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxError {
    /// Something else is expected here.
    Expected(&'static str),
    /// The text continues after its end.
    Trailing,
    /// Lists and objects nest deeper than [`MAX_DEPTH`].
    TooDeep,
    /// A control character in a string, which must be escaped.
    Control,
    /// A string without a closing quote.
    OpenString,
    /// An escape that JSON does not have.
    Escape,
    /// Half of a surrogate pair, which is no character.
    Surrogate,
    /// Not a JSON number, but too similar to be unquoted text.
    NotANumber,
    /// Text that would not be read as itself without quotes.
    Unquoted,
    /// An invalid count.
    Count,
    /// Fewer items, rows or cells (`what`) than declared.
    TooFew {
        /// The counted parts.
        what: &'static str,
        /// The declared number.
        declared: usize,
        /// The actual number.
        found: usize,
    },
    /// More items, rows or cells (`what`) than declared.
    TooMany {
        /// The counted parts.
        what: &'static str,
        /// The declared number.
        declared: usize,
    },
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::Trailing => f.write_str("expected the end of the text"),
            Self::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels"),
            Self::Control => f.write_str("a control character in a string: escape it"),
            Self::OpenString => f.write_str("the string has no closing quote"),
            Self::Escape => f.write_str("not a JSON escape"),
            Self::Surrogate => f.write_str("half of a surrogate pair is not a character"),
            Self::NotANumber => f.write_str("not a JSON number: put it in quotes if it is text"),
            Self::Unquoted => f.write_str("such text must be in quotes"),
            Self::Count => f.write_str("not a count"),
            Self::TooFew { what, declared, found } => write!(f, "{found} of {declared} {what}"),
            Self::TooMany { what, declared } => write!(f, "more than {declared} {what}"),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.wrong)
    }
}

impl std::error::Error for ParseError {}

/// Returns the line and the column, both from 1, of a byte of the text.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(start..).unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// A position in a text, with the depth of nesting.
pub(super) struct StcScanner<'a> {
    text: &'a str,
    /// The position of the next byte, always at the beginning of a character.
    pub(super) at: usize,
    depth: usize,
}

impl<'a> StcScanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// Returns the text from here on.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    pub(super) fn need(&mut self, byte: u8, what: &'static str) -> Result<(), ParseError> {
        if self.eat(byte) { Ok(()) } else { self.fail(SyntaxError::Expected(what)) }
    }

    pub(super) fn end(&self) -> Result<(), ParseError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail(SyntaxError::Trailing),
        }
    }

    /// Skips JSON's blanks. Returns true if there were any.
    pub(super) fn blank(&mut self) -> bool {
        let rest = self.rest();
        let left = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.at += rest.len() - left.len();
        left.len() < rest.len()
    }

    pub(super) fn fail<T>(&self, wrong: SyntaxError) -> Result<T, ParseError> {
        self.fail_at(self.at, wrong)
    }

    pub(super) fn fail_at<T>(&self, at: usize, wrong: SyntaxError) -> Result<T, ParseError> {
        let (line, column) = position(self.text, at);
        Err(ParseError { line, column, wrong })
    }

    /// Enters a list or an object.
    pub(super) fn enter(&mut self) -> Result<(), ParseError> {
        if self.depth == MAX_DEPTH {
            return self.fail(SyntaxError::TooDeep);
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Parses a string, from its opening quote.
    pub(super) fn string(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        self.need(b'"', "a string")?;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let Some(stop) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
            else {
                return self.fail_at(start, SyntaxError::OpenString);
            };
            out.push_str(rest.get(..stop).unwrap_or_default());
            self.at += stop;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                // RFC 8259, 7: control characters must be escaped.
                _ => return self.fail(SyntaxError::Control),
            }
        }
    }

    /// Parses an escape, from its backslash, to its character.
    fn escape(&mut self) -> Result<char, ParseError> {
        let start = self.at;
        let (length, found) = match self.rest().as_bytes() {
            [_, b'"', ..] => (2, '"'),
            [_, b'\\', ..] => (2, '\\'),
            [_, b'/', ..] => (2, '/'),
            [_, b'b', ..] => (2, '\u{8}'),
            [_, b'f', ..] => (2, '\u{c}'),
            [_, b'n', ..] => (2, '\n'),
            [_, b'r', ..] => (2, '\r'),
            [_, b't', ..] => (2, '\t'),
            [_, b'u', ..] => {
                let first = self.unit(start)?;
                let pair = match first {
                    // A high surrogate needs a low one; any other pair stays a lone surrogate
                    // and is refused.
                    0xd800..=0xdbff if self.rest().starts_with("\\u") => {
                        let second = self.unit(start)?;
                        let low = second.wrapping_sub(0xdc00);
                        if low < 0x400 { 0x1_0000 + ((first - 0xd800) << 10) + low } else { first }
                    }
                    other => other,
                };
                return match char::from_u32(pair) {
                    Some(found) => Ok(found),
                    None => self.fail_at(start, SyntaxError::Surrogate),
                };
            }
            _ => return self.fail_at(start, SyntaxError::Escape),
        };
        self.at += length;
        Ok(found)
    }

    /// Parses the four digits of `\uXXXX`, from its backslash.
    fn unit(&mut self, start: usize) -> Result<u32, ParseError> {
        let digits = self.rest().get(2..6).unwrap_or_default();
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return self.fail_at(start, SyntaxError::Escape);
        }
        match u32::from_str_radix(digits, 16) {
            Ok(unit) => {
                self.at += 6;
                Ok(unit)
            }
            Err(_) => self.fail_at(start, SyntaxError::Escape),
        }
    }
}

/// Returns the length in bytes of the JSON number at the beginning.
pub(super) fn number(bytes: &[u8]) -> Option<usize> {
    let whole = match bytes {
        [b'-', rest @ ..] => rest,
        _ => bytes,
    };
    // RFC 8259, 6: a leading zero is the whole integer part.
    let mut left = match whole {
        [b'0', rest @ ..] => rest,
        _ => digits(whole)?,
    };
    if let [b'.', rest @ ..] = left
        && let Some(rest) = digits(rest)
    {
        left = rest;
    }
    if let [b'e' | b'E', rest @ ..] = left
        && let Some(rest) = digits(sign(rest))
    {
        left = rest;
    }
    Some(bytes.len() - left.len())
}

/// Returns true for text that a reader may take for a number: JSON's numbers, and others such as
/// `+1`, `007`, `1.` and `.5`.
pub(super) fn looks_like_number(text: &str) -> bool {
    let bytes = sign(text.as_bytes());
    let left = match (digits(bytes), bytes) {
        (Some([b'.', rest @ ..]), _) => digits(rest).unwrap_or(rest),
        (Some(rest), _) => rest,
        (None, [b'.', rest @ ..]) => match digits(rest) {
            Some(rest) => rest,
            None => return false,
        },
        (None, _) => return false,
    };
    ends(left)
}
