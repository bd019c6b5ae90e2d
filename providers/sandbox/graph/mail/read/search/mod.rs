//! Graph's `$search` over mail: Keyword Query Language, read.
//!
//! Here is the query without the quotes around it. Connectives are in capitals; two conditions side by
//! side are joined by AND; NOT binds closer than AND, and AND closer than OR.
//! A property that mail does not have is a word with a sign in it.

pub(super) mod found;

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::store::words::words;

/// Brackets below this depth are refused.
const MAX_DEPTH: usize = 40;

/// A query, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Query {
    /// All of them.
    All(Vec<Query>),
    /// Any of them.
    Any(Vec<Query>),
    /// Not this.
    Not(Box<Query>),
    /// One condition.
    Test(Test),
}

/// Where words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// Headers and text.
    Anywhere,
    From,
    To,
    Cc,
    Bcc,
    Subject,
    /// The text alone.
    Body,
    /// The names of the attachments.
    Attachment,
}

/// A condition on one message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// The words stand next to each other.
    Says(Field, Vec<String>),
    /// Has attachments.
    HasAttachments,
    /// Is important.
    Important,
    /// Has at least so many bytes, and fewer than so many.
    Size(u64, u64),
    /// Came at this time or later, and before that one, in milliseconds.
    Time(i64, i64),
    /// Met by every message.
    Always,
    /// Met by none: the value makes no sense.
    Never,
}

/// Reads a query, or says what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Query, String> {
    let mut reader = Reader { text, rest: text };
    let query = reader.any(MAX_DEPTH)?;
    match reader.rest.is_empty() {
        true => Ok(query),
        false => Err(reader.wrong()),
    }
}

/// The signs between a property and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equal,
    Less,
    Greater,
    GreaterEqual,
}

/// The longer sign first, for the shorter one begins it.
const SIGNS: [(&str, Sign); 4] =
    [(">=", Sign::GreaterEqual), ("<", Sign::Less), (">", Sign::Greater), (":", Sign::Equal)];

/// The properties that mail has, as far as anybody asks for them.
const PROPERTIES: [(&str, Option<Field>); 11] = [
    ("from", Some(Field::From)),
    ("to", Some(Field::To)),
    ("cc", Some(Field::Cc)),
    ("bcc", Some(Field::Bcc)),
    ("subject", Some(Field::Subject)),
    ("body", Some(Field::Body)),
    ("attachment", Some(Field::Attachment)),
    ("hasattachments", None),
    ("importance", None),
    ("size", None),
    ("received", None),
];

/// A query on its way.
struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// The complaint about this place.
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

    /// Takes a connective that stands alone.
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

    /// Conditions joined by OR.
    fn any(&mut self, depth: usize) -> Result<Query, String> {
        let mut parts = vec![self.all(depth)?];
        while self.connective("OR") {
            parts.push(self.all(depth)?);
        }
        Ok(only(parts, Query::Any))
    }

    /// Conditions joined by AND or by nothing.
    fn all(&mut self, depth: usize) -> Result<Query, String> {
        let mut parts = vec![self.one(depth)?];
        loop {
            if self.connective("AND") {
                parts.push(self.one(depth)?);
                continue;
            }
            let rest = self.rest;
            let ends = rest.is_empty() || rest.starts_with(')') || self.connective("OR");
            self.rest = rest;
            if ends {
                return Ok(only(parts, Query::All));
            }
            parts.push(self.one(depth)?);
        }
    }

    /// One condition, one group, or the opposite of one.
    fn one(&mut self, depth: usize) -> Result<Query, String> {
        let depth = depth.checked_sub(1).ok_or_else(|| self.wrong())?;
        if self.connective("NOT") {
            return Ok(Query::Not(Box::new(self.one(depth)?)));
        }
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

    /// A word, a phrase, or a property with its value.
    fn condition(&mut self) -> Result<Query, String> {
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
        Ok(says(Field::Anywhere, &self.value()?))
    }

    /// A phrase in quotes, or a word up to white space or a bracket.
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

/// The condition that a property, a sign and a value make.
fn restriction(name: &str, field: Option<Field>, sign: Sign, value: &str) -> Query {
    let test = match (field, name, sign) {
        (Some(field), _, Sign::Equal) => return says(field, value),
        (None, "size", sign) => size(sign, value),
        (None, "received", sign) => time(sign, value),
        (None, "hasattachments", Sign::Equal) if value == "true" => Some(Test::HasAttachments),
        (None, "importance", Sign::Equal) if value == "high" => Some(Test::Important),
        _ => None,
    };
    Query::Test(test.unwrap_or(Test::Never))
}

/// The time before a day in UTC, from one on, or during one.
fn time(sign: Sign, value: &str) -> Option<Test> {
    let midnight = |day: Date| Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond());
    let day: Date = value.parse().ok()?;
    let (start, end) = (midnight(day)?, midnight(day.checked_add(1.day()).ok()?)?);
    Some(match sign {
        Sign::Less => Test::Time(i64::MIN, start),
        Sign::Greater => Test::Time(end, i64::MAX),
        Sign::GreaterEqual => Test::Time(start, i64::MAX),
        Sign::Equal => Test::Time(start, end),
    })
}

/// A size in bytes.
fn size(sign: Sign, value: &str) -> Option<Test> {
    let bytes: u64 = value.parse().ok()?;
    let next = bytes.checked_add(1)?;
    Some(match sign {
        Sign::Less => Test::Size(0, bytes),
        Sign::Greater => Test::Size(next, u64::MAX),
        Sign::GreaterEqual => Test::Size(bytes, u64::MAX),
        Sign::Equal => Test::Size(bytes, next),
    })
}

/// The words of a value, in a field. A value without words says nothing.
fn says(field: Field, value: &str) -> Query {
    let phrase = words(value);
    match phrase.is_empty() {
        true => Query::Test(Test::Always),
        false => Query::Test(Test::Says(field, phrase)),
    }
}

/// One part as it is, several together.
fn only(mut parts: Vec<Query>, join: fn(Vec<Query>) -> Query) -> Query {
    match (parts.len(), parts.pop()) {
        (1, Some(part)) => part,
        (_, last) => {
            parts.extend(last);
            join(parts)
        }
    }
}
