//! Graph's `$search` for mail: parsing and matching of the Keyword Query Language (KQL).
//!
//! The query comes without its quotes. Connectives are in capitals, and adjacent conditions are
//! joined by AND. NOT binds tighter than AND, and AND tighter than OR. An unknown property is
//! searched as a word that contains a sign.

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::store::message::Message;
use crate::store::query::{SearchField, StoreQuery};
use crate::store::search_text::words;

/// The maximum nesting of brackets and NOT.
const MAX_DEPTH: usize = 40;

/// A query, or part of one.
pub(super) type KqlQuery = StoreQuery<KqlTest>;

/// A condition on a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum KqlTest {
    /// The field contains the words next to each other.
    Says(SearchField, Vec<String>),
    /// The message has attachments.
    HasAttachments,
    /// The message is important.
    Important,
    /// The size in bytes is at least the first number, and less than the second.
    Size(u64, u64),
    /// The message was received at the first time or later, and before the second, in milliseconds
    /// since 1970.
    Time(i64, i64),
    /// Met by every message.
    Always,
    /// Met by no message: the value is invalid.
    Never,
}

/// Parses a query.
///
/// # Errors
///
/// The first syntax error, as a sentence.
pub(super) fn parse(text: &str) -> Result<KqlQuery, String> {
    let mut parser = KqlParser { text, rest: text };
    let query = parser.any(MAX_DEPTH)?;
    if parser.rest.is_empty() { Ok(query) } else { Err(parser.wrong()) }
}

/// The operator between a property and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchOperator {
    Equal,
    Less,
    Greater,
    GreaterEqual,
}

/// The operators. `>=` comes before `>`, with which it begins.
const SIGNS: [(&str, SearchOperator); 4] = [
    (">=", SearchOperator::GreaterEqual),
    ("<", SearchOperator::Less),
    (">", SearchOperator::Greater),
    (":", SearchOperator::Equal),
];

/// The searchable properties of mail, as far as clients use them.
const PROPERTIES: [(&str, Option<SearchField>); 11] = [
    ("from", Some(SearchField::From)),
    ("to", Some(SearchField::To)),
    ("cc", Some(SearchField::Cc)),
    ("bcc", Some(SearchField::Bcc)),
    ("subject", Some(SearchField::Subject)),
    ("body", Some(SearchField::Body)),
    ("attachment", Some(SearchField::Attachment)),
    ("hasattachments", None),
    ("importance", None),
    ("size", None),
    ("received", None),
];

/// The state of the parser.
struct KqlParser<'a> {
    text: &'a str,
    rest: &'a str,
}

impl KqlParser<'_> {
    /// Returns a syntax error at the current position.
    fn wrong(&self) -> String {
        let position = self.text.len() - self.rest.len();
        match self.rest.chars().next() {
            Some(char) => format!(
                "Syntax error: character '{char}' is not valid at position {position} in '{}'.",
                self.text
            ),
            None => format!("Syntax error: '{}' ends too early.", self.text),
        }
    }

    /// Consumes a connective that is a word of its own.
    fn connective(&mut self, word: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(word) {
            Some(rest)
                if rest.is_empty()
                    || rest.starts_with(|c: char| c.is_whitespace() || "()\"".contains(c)) =>
            {
                self.rest = rest.trim_start();
                true
            }
            _ => false,
        }
    }

    /// Parses conditions joined by OR.
    fn any(&mut self, depth: usize) -> Result<KqlQuery, String> {
        let mut parts = vec![self.all(depth)?];
        while self.connective("OR") {
            parts.push(self.all(depth)?);
        }
        Ok(StoreQuery::join(parts, StoreQuery::Any))
    }

    /// Parses conditions joined by AND or by nothing.
    fn all(&mut self, depth: usize) -> Result<KqlQuery, String> {
        let mut parts = vec![self.parse_condition(depth)?];
        loop {
            if self.connective("AND") {
                parts.push(self.parse_condition(depth)?);
                continue;
            }
            // OR is only looked at here; the caller consumes it.
            let rest = self.rest;
            let ends = rest.is_empty() || rest.starts_with(')') || self.connective("OR");
            self.rest = rest;
            if ends {
                return Ok(StoreQuery::join(parts, StoreQuery::All));
            }
            parts.push(self.parse_condition(depth)?);
        }
    }

    /// Parses a condition or a group, possibly negated.
    fn parse_condition(&mut self, depth: usize) -> Result<KqlQuery, String> {
        // Recursion is bounded, because a query comes from outside and could overflow the stack.
        let depth = depth.checked_sub(1).ok_or_else(|| self.wrong())?;
        if self.connective("NOT") {
            return Ok(StoreQuery::Not(Box::new(self.parse_condition(depth)?)));
        }
        // A connective where a condition is expected is an error, not a word to search for.
        for word in ["AND", "OR"] {
            let here = self.rest;
            if self.connective(word) {
                self.rest = here;
                return Err(self.wrong());
            }
        }
        match self.rest.chars().next() {
            Some('(') => {
                self.skip('(');
                let inner = self.any(depth)?;
                self.rest = self.rest.trim_start();
                if !self.rest.starts_with(')') {
                    return Err(self.wrong());
                }
                self.skip(')');
                self.rest = self.rest.trim_start();
                Ok(inner)
            }
            None | Some(')') => Err(self.wrong()),
            Some(_) => self.condition(),
        }
    }

    fn skip(&mut self, char: char) {
        self.rest = self.rest.strip_prefix(char).unwrap_or(self.rest);
    }

    /// Parses a word, a phrase, or a property with its value.
    fn condition(&mut self) -> Result<KqlQuery, String> {
        let messages = |c: char| !c.is_ascii_alphabetic();
        let end = self.rest.find(messages).unwrap_or(self.rest.len());
        let (name, after) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        let name = name.to_ascii_lowercase();
        let sign = SIGNS.iter().find(|(sign, _)| after.starts_with(sign));
        let known = PROPERTIES.iter().find(|(known, _)| *known == name);
        if let (Some((sign, meaning)), Some((known, field))) = (sign, known) {
            self.rest = after.get(sign.len()..).unwrap_or_default();
            let value = self.value()?;
            return Ok(restriction(known, *field, *meaning, &value));
        }
        Ok(says(SearchField::Anywhere, &self.value()?))
    }

    /// Parses a phrase in quotes, or a word up to white space or a bracket.
    fn value(&mut self) -> Result<String, String> {
        if let Some(rest) = self.rest.strip_prefix('"') {
            let Some((phrase, rest)) = rest.split_once('"') else {
                return Err(format!(
                    "Syntax error: unterminated string literal in '{}'.",
                    self.text
                ));
            };
            self.rest = rest.trim_start();
            return Ok(phrase.to_owned());
        }
        let end = |c: char| c.is_whitespace() || "()\"".contains(c);
        let end = self.rest.find(end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        if word.is_empty() {
            return Err(self.wrong());
        }
        self.rest = rest.trim_start();
        Ok(word.to_owned())
    }
}

/// Returns the condition of a property, an operator and a value.
fn restriction(
    name: &str,
    field: Option<SearchField>,
    sign: SearchOperator,
    value: &str,
) -> KqlQuery {
    let test = match (field, name, sign) {
        (Some(field), _, SearchOperator::Equal) => return says(field, value),
        (None, "size", sign) => size(sign, value),
        (None, "received", sign) => time(sign, value),
        (None, "hasattachments", SearchOperator::Equal) if value == "true" => {
            Some(KqlTest::HasAttachments)
        }
        (None, "importance", SearchOperator::Equal) if value == "high" => Some(KqlTest::Important),
        _ => None,
    };
    // An invalid value finds nothing, instead of being an error.
    StoreQuery::Test(test.unwrap_or(KqlTest::Never))
}

/// Returns a range of time relative to a day in UTC.
fn time(sign: SearchOperator, value: &str) -> Option<KqlTest> {
    let midnight = |day: Date| Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond());
    let day: Date = value.parse().ok()?;
    let (start, end) = (midnight(day)?, midnight(day.checked_add(1.day()).ok()?)?);
    Some(match sign {
        SearchOperator::Less => KqlTest::Time(i64::MIN, start),
        SearchOperator::Greater => KqlTest::Time(end, i64::MAX),
        SearchOperator::GreaterEqual => KqlTest::Time(start, i64::MAX),
        SearchOperator::Equal => KqlTest::Time(start, end),
    })
}

/// Returns a range of sizes in bytes.
fn size(sign: SearchOperator, value: &str) -> Option<KqlTest> {
    let bytes: u64 = value.parse().ok()?;
    let next = bytes.checked_add(1)?;
    Some(match sign {
        SearchOperator::Less => KqlTest::Size(0, bytes),
        SearchOperator::Greater => KqlTest::Size(next, u64::MAX),
        SearchOperator::GreaterEqual => KqlTest::Size(bytes, u64::MAX),
        SearchOperator::Equal => KqlTest::Size(bytes, next),
    })
}

/// Returns the condition that a field contains the words of a value. A value without words is
/// always met.
fn says(field: SearchField, value: &str) -> KqlQuery {
    let phrase = words(value);
    if phrase.is_empty() {
        StoreQuery::Test(KqlTest::Always)
    } else {
        StoreQuery::Test(KqlTest::Says(field, phrase))
    }
}

/// Returns true if a message meets a query.
pub(super) fn matches(query: &KqlQuery, message: &Message) -> bool {
    query.is_met(&|test| match test {
        KqlTest::Says(field, phrase) => message.says_in(*field, phrase),
        KqlTest::HasAttachments => !message.filenames().is_empty(),
        KqlTest::Important => message.has("IMPORTANT"),
        KqlTest::Size(from, below) => {
            let size = u64::try_from(message.raw.len()).unwrap_or(u64::MAX);
            (*from..*below).contains(&size)
        }
        KqlTest::Time(from, before) => (*from..*before).contains(&message.facts.date),
        KqlTest::Always => true,
        KqlTest::Never => false,
    })
}
