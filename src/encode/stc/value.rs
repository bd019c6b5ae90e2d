//! JSON as it was written: the value that STC says.
//!
//! Other readers of JSON round numbers and keep one of two members with the
//! same name. Here a number is its lexeme and members are a list, so nothing
//! is lost between JSON and STC but blanks and the choice of escapes.
//! Half of a surrogate pair is refused: it is no character, and no text of
//! Rust's can hold it.

use std::fmt::Write;

use super::scan::{self, ParseError, Scanner, Wrong};

/// A JSON value. Comparing is exact: `1` is not `1.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written: `1e400`, `-0`, `1.0`.
    Number(String),
    /// A string without its quotes and escapes.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object: its members in order, of which several may have one name.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a JSON text, as RFC 8259 has it.
    ///
    /// # Errors
    /// What is not JSON, nests deeper than [`scan::MAX_DEPTH`] levels or holds
    /// half of a surrogate pair.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut scanner = Scanner::new(text);
        scanner.blank();
        let found = value(&mut scanner)?;
        scanner.blank();
        scanner.end()?;
        Ok(found)
    }

    /// True for what holds no other value.
    pub fn is_primitive(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Object(_))
    }

    /// The value as JSON without blanks, and with no escape that need not be.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        // What is open, and whether it has a comma before its next part.
        let mut open: Vec<(Parts<'_>, bool)> = Vec::new();
        let mut next = Some(self);
        loop {
            match next.take() {
                None => {}
                Some(Self::List(items)) => {
                    out.push('[');
                    open.push((Parts::Items(items.iter()), false));
                }
                Some(Self::Object(members)) => {
                    out.push('{');
                    open.push((Parts::Members(members.iter()), false));
                }
                Some(primitive) => match primitive {
                    Self::Text(text) => quote(&mut out, text, |_| false),
                    other => out.push_str(other.word()),
                },
            }
            let Some((parts, comma)) = open.last_mut() else {
                return out;
            };
            let comma = std::mem::replace(comma, true);
            let (key, close) = match parts {
                Parts::Items(items) => {
                    next = items.next();
                    (None, ']')
                }
                Parts::Members(members) => {
                    let member = members.next();
                    next = member.map(|(_, value)| value);
                    (member.map(|(key, _)| key), '}')
                }
            };
            match (next.is_some(), comma) {
                (true, true) => out.push(','),
                (true, false) => {}
                (false, _) => {
                    out.push(close);
                    open.pop();
                }
            }
            if let Some(key) = key {
                quote(&mut out, key, |_| false);
                out.push(':');
            }
        }
    }

    /// A number or a literal as it stands in JSON and in STC; nothing for others.
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

/// What is left of an open list or object.
enum Parts<'a> {
    Items(std::slice::Iter<'a, Json>),
    Members(std::slice::Iter<'a, (String, Json)>),
}

fn value(scanner: &mut Scanner<'_>) -> Result<Json, ParseError> {
    match scanner.peek() {
        Some(b'{') => object(scanner),
        Some(b'[') => list(scanner),
        Some(b'"') => Ok(Json::Text(scanner.string()?)),
        _ => {
            let rest = scanner.rest();
            for (word, literal) in [
                ("null", Json::Null),
                ("true", Json::Bool(true)),
                ("false", Json::Bool(false)),
            ] {
                if rest.starts_with(word) {
                    scanner.at += word.len();
                    return Ok(literal);
                }
            }
            let lexeme = scan::number(rest.as_bytes()).and_then(|length| rest.get(..length));
            let Some(lexeme) = lexeme else {
                return scanner.fail(Wrong::Expected("a value"));
            };
            scanner.at += lexeme.len();
            Ok(Json::Number(lexeme.to_owned()))
        }
    }
}

fn list(scanner: &mut Scanner<'_>) -> Result<Json, ParseError> {
    scanner.enter()?;
    scanner.need(b'[', "a list")?;
    scanner.blank();
    let mut items = Vec::new();
    if !scanner.eat(b']') {
        loop {
            scanner.blank();
            items.push(value(scanner)?);
            scanner.blank();
            if scanner.eat(b']') {
                break;
            }
            scanner.need(b',', "`,` or `]`")?;
        }
    }
    scanner.leave();
    Ok(Json::List(items))
}

fn object(scanner: &mut Scanner<'_>) -> Result<Json, ParseError> {
    scanner.enter()?;
    scanner.need(b'{', "an object")?;
    scanner.blank();
    let mut members = Vec::new();
    if !scanner.eat(b'}') {
        loop {
            scanner.blank();
            let key = scanner.string()?;
            scanner.blank();
            scanner.need(b':', "`:`")?;
            scanner.blank();
            members.push((key, value(scanner)?));
            scanner.blank();
            if scanner.eat(b'}') {
                break;
            }
            scanner.need(b',', "`,` or `}`")?;
        }
    }
    scanner.leave();
    Ok(Json::Object(members))
}

/// A string in quotes with JSON's escapes, and those that `escape` asks for.
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
