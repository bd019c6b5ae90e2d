//! Parsing of both versions of STC, and of JSON. Text that violates the grammar in
//! `docs/reference/stc.md` is refused with the position of the error, and every declared count is
//! checked.
//!
//! The beginning of a text determines its version. Blanks are allowed between any two tokens, as
//! in JSON, so every JSON text is STC too. Values have at most
//! [`MAX_DEPTH`](super::scan::MAX_DEPTH) levels. A table has its keys once but every row of the
//! value has them, so a value may be far larger than its text.

use super::scan::{self, ParseError, StcScanner, SyntaxError};
use super::value::JsonValue;
use super::write::{ends_plain, identifier, is_plain};

/// Parses an STC text.
///
/// # Errors
/// The first violation of STC, and its position.
pub fn parse(text: &str) -> Result<JsonValue, ParseError> {
    placed(text).map(|placed| placed.value)
}

/// A value, with the positions of its parts in the text.
#[derive(Debug)]
pub struct PlacedValue {
    /// The value.
    pub value: JsonValue,
    /// Positions in bytes from 0, in order: one for each value, preceded by the key's for a
    /// member. The keys of a table's rows are in its heading.
    pub places: Vec<usize>,
}

/// Parses an STC text, keeping the positions of its parts.
///
/// # Errors
/// The first violation of STC, with its position.
pub fn placed(text: &str) -> Result<PlacedValue, ParseError> {
    read(text, TextSyntax::One)
}

/// Parses a JSON text, keeping the positions of its parts.
///
/// # Errors
/// The first violation of JSON, with its position.
pub fn placed_json(text: &str) -> Result<PlacedValue, ParseError> {
    read(text, TextSyntax::Json)
}

impl JsonValue {
    /// Parses a JSON text (RFC 8259).
    ///
    /// # Errors
    /// Text that is not JSON, nests deeper than [`super::scan::MAX_DEPTH`] levels or contains
    /// half of a surrogate pair.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        placed_json(text).map(|placed| placed.value)
    }
}

fn read(text: &str, syntax: TextSyntax) -> Result<PlacedValue> {
    let mut parser =
        StcParser { scanner: StcScanner::new(text), syntax, places: Vec::new(), more: None };
    let value = parser.root()?;
    Ok(PlacedValue { value, places: parser.places })
}

type Result<T, E = ParseError> = std::result::Result<T, E>;

/// The syntax of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextSyntax {
    /// JSON's own.
    Json,
    /// STC 1: JSON plus unquoted keys, counted lists and tables.
    One,
    /// STC 2: also without braces at the root, and with unquoted text.
    Two,
}

struct StcParser<'a> {
    scanner: StcScanner<'a>,
    syntax: TextSyntax,
    places: Vec<usize>,
    /// The error if no key follows: the previous counted list has more items than declared.
    more: Option<SyntaxError>,
}

impl StcParser<'_> {
    fn root(&mut self) -> Result<JsonValue> {
        self.scanner.blank();
        let value = if self.syntax == TextSyntax::One && self.is_member() {
            self.syntax = TextSyntax::Two;
            self.place();
            self.members(None)?
        } else {
            self.value()?
        };
        self.scanner.blank();
        self.scanner.end()?;
        Ok(value)
    }

    fn place(&mut self) {
        self.places.push(self.scanner.at);
    }

    /// Returns true if a key with its separator follows. A value is never followed by these.
    fn is_member(&mut self) -> bool {
        let start = self.scanner.at;
        let keyed = self.key().is_ok();
        self.scanner.blank();
        let found = keyed && matches!(self.scanner.peek(), Some(b':' | b'['));
        self.scanner.at = start;
        found
    }

    fn value(&mut self) -> Result<JsonValue> {
        self.place();
        match self.scanner.peek() {
            Some(b'[') if self.is_counted() => self.read_counted(),
            Some(b'[') => self.items(),
            Some(b'{') => {
                self.scanner.at += 1;
                self.members(Some(b'}'))
            }
            _ => self.primitive(),
        }
    }

    /// Parses members up to the closing bracket, or to the end of the text without one.
    fn members(&mut self, close: Option<u8>) -> Result<JsonValue> {
        self.scanner.enter()?;
        let mut members = Vec::new();
        self.scanner.blank();
        while !self.closes(close) {
            if !members.is_empty() {
                let expected = match close {
                    Some(_) => "`,` or `}`",
                    None => "`,` or the end of the text",
                };
                self.scanner.need(b',', expected)?;
                self.scanner.blank();
            }
            members.push(self.member()?);
            self.scanner.blank();
        }
        self.scanner.leave();
        Ok(JsonValue::Object(members))
    }

    fn items(&mut self) -> Result<JsonValue> {
        self.scanner.enter()?;
        self.scanner.need(b'[', "a list")?;
        let mut items = Vec::new();
        self.scanner.blank();
        while !self.closes(Some(b']')) {
            if !items.is_empty() {
                self.scanner.need(b',', "`,` or `]`")?;
                self.scanner.blank();
            }
            items.push(self.value()?);
            self.scanner.blank();
        }
        self.scanner.leave();
        Ok(JsonValue::List(items))
    }

    fn closes(&mut self, close: Option<u8>) -> bool {
        let closed = match close {
            Some(byte) => self.scanner.eat(byte),
            None => self.scanner.peek().is_none(),
        };
        if closed {
            self.more = None;
        }
        closed
    }

    /// Parses a key with its value.
    fn member(&mut self) -> Result<(String, JsonValue)> {
        let start = self.scanner.at;
        self.place();
        let more = if self.is_member() { None } else { self.more.take() };
        if let Some(more) = more {
            return self.scanner.fail_at(start, more);
        }
        let key = self.key()?;
        self.scanner.blank();
        if self.is_counted() {
            self.place();
            return Ok((key, self.read_counted()?));
        }
        self.scanner.need(b':', "`:` after the key")?;
        self.scanner.blank();
        Ok((key, self.value()?))
    }

    /// Returns true if `[n]:` or `[n]{` follows. No list in brackets begins like this.
    fn is_counted(&self) -> bool {
        let Some(rest) = self.scanner.rest().strip_prefix('[') else {
            return false;
        };
        let after = rest.trim_start_matches(|char: char| char.is_ascii_digit());
        self.syntax != TextSyntax::Json
            && after.len() < rest.len()
            && (after.starts_with("]:") || after.starts_with("]{"))
    }

    /// Parses `[n]:` with primitives, or `[n]{a,b}:` with rows.
    fn read_counted(&mut self) -> Result<JsonValue> {
        self.scanner.enter()?;
        self.scanner.need(b'[', "a count in brackets")?;
        let start = self.scanner.at;
        let count = self.count()?;
        self.scanner.need(b']', "`]`")?;
        let value = if self.scanner.eat(b'{') {
            if count == 0 {
                // An empty table would be a second notation for an empty list.
                return self.scanner.fail_at(start, SyntaxError::Count);
            }
            // The rows are objects, a level of their own.
            self.scanner.enter()?;
            let rows = self.table(count)?;
            self.scanner.leave();
            rows
        } else {
            self.scanner.need(b':', "`:` or `{`")?;
            self.list(count)?
        };
        self.scanner.leave();
        Ok(JsonValue::List(value))
    }

    fn count(&mut self) -> Result<usize> {
        let rest = self.scanner.rest();
        let left = rest.trim_start_matches(|char: char| char.is_ascii_digit());
        let digits = rest
            .get(..rest.len() - left.len())
            // A count with leading zeros would be a second notation for the same value.
            .filter(|digits| *digits == "0" || !digits.starts_with('0'));
        match digits.and_then(|digits| Some((digits, digits.parse().ok()?))) {
            Some((digits, count)) => {
                self.scanner.at += digits.len();
                Ok(count)
            }
            None => self.scanner.fail(SyntaxError::Count),
        }
    }

    fn list(&mut self, declared: usize) -> Result<Vec<JsonValue>> {
        let mut items = Vec::new();
        while items.len() < declared {
            items.push(self.cell("items", declared, items.len())?);
        }
        // After a comma, only the next token shows whether a member follows or a surplus item.
        self.more = Some(SyntaxError::TooMany { what: "items", declared });
        Ok(items)
    }

    fn table(&mut self, declared: usize) -> Result<Vec<JsonValue>> {
        let mut keys = Vec::new();
        loop {
            self.scanner.blank();
            keys.push((self.scanner.at, self.key()?));
            self.scanner.blank();
            if self.scanner.eat(b'}') {
                break;
            }
            self.scanner.need(b',', "`,` or `}`")?;
        }
        self.scanner.blank();
        self.scanner.need(b':', "`:`")?;
        let more = SyntaxError::TooMany { what: "cells", declared: keys.len() };
        let mut rows = Vec::new();
        while rows.len() < declared {
            self.scanner.blank();
            if !rows.is_empty() && !self.scanner.eat(b'/') {
                let few = SyntaxError::TooFew { what: "rows", declared, found: rows.len() };
                let goes_on = self.scanner.peek() == Some(b',') && !self.ends_here();
                return self.scanner.fail(if goes_on { more } else { few });
            }
            self.scanner.blank();
            self.place();
            let mut cells = Vec::with_capacity(keys.len());
            for (place, key) in &keys {
                self.places.push(*place);
                let cell = self.cell("cells", keys.len(), cells.len())?;
                cells.push((key.clone(), cell));
            }
            rows.push(JsonValue::Object(cells));
        }
        let end = self.scanner.at;
        self.scanner.blank();
        if self.scanner.peek() == Some(b'/') {
            let wrong = SyntaxError::TooMany { what: "rows", declared };
            return self.scanner.fail_at(end, wrong);
        }
        self.scanner.at = end;
        self.more = Some(more);
        Ok(rows)
    }

    /// Parses the next of several primitives, after `found` of them.
    fn cell(&mut self, what: &'static str, declared: usize, found: usize) -> Result<JsonValue> {
        let few = SyntaxError::TooFew { what, declared, found };
        if found > 0 {
            let end = self.scanner.at;
            self.scanner.blank();
            if self.scanner.peek() != Some(b',') || self.ends_here() {
                return self.scanner.fail_at(end, few);
            }
            self.scanner.at += 1;
        }
        self.scanner.blank();
        self.place();
        self.primitive()
    }

    /// Returns true if a comma and a member follow.
    fn ends_here(&mut self) -> bool {
        let start = self.scanner.at;
        self.scanner.eat(b',');
        self.scanner.blank();
        let found = self.is_member();
        self.scanner.at = start;
        found
    }

    fn key(&mut self) -> Result<String> {
        if self.scanner.peek() == Some(b'"') {
            return self.scanner.string();
        }
        let rest = self.scanner.rest();
        match rest.get(..identifier(rest)) {
            Some(name) if !name.is_empty() && self.syntax != TextSyntax::Json => {
                self.scanner.at += name.len();
                Ok(name.to_owned())
            }
            _ => self.scanner.fail(SyntaxError::Expected("a key")),
        }
    }

    fn primitive(&mut self) -> Result<JsonValue> {
        let start = self.scanner.at;
        if self.scanner.peek() == Some(b'"') {
            return Ok(JsonValue::Text(self.scanner.string()?));
        }
        let rest = self.scanner.rest();
        let (run, next) = match rest.find(ends_plain) {
            Some(end) => rest.split_at_checked(end).unwrap_or((rest, "")),
            None => (rest, ""),
        };
        // Blanks before a separator are not part of the text.
        let word = run.trim_end_matches(' ');
        if word.is_empty() {
            return self.scanner.fail(SyntaxError::Expected("a value"));
        }
        let value = match word {
            "null" => JsonValue::Null,
            "true" => JsonValue::Bool(true),
            "false" => JsonValue::Bool(false),
            word if scan::number(word.as_bytes()) == Some(word.len()) => {
                JsonValue::Number(word.to_owned())
            }
            word if scan::looks_like_number(word) => {
                return self.scanner.fail(SyntaxError::NotANumber);
            }
            word if self.syntax == TextSyntax::Two && is_plain(word) => {
                // A slash after a blank separates rows.
                if next.starts_with([':', '[', '{', '"', '\\'])
                    || (next.starts_with('/') && word == run)
                {
                    return self.scanner.fail_at(start, SyntaxError::Unquoted);
                }
                JsonValue::Text(word.to_owned())
            }
            _ => return self.scanner.fail(SyntaxError::Unquoted),
        };
        self.scanner.at += word.len();
        Ok(value)
    }
}
