//! Graph's `$search` over mail: Keyword Query Language, read.
//!
//! Here is the query without the quotes around it. Connectives are in capitals; two conditions side by
//! side are joined by AND; NOT binds closer than AND, and AND closer than OR.
//! A property that mail does not have is a word with a sign in it.

mod dates;
pub(super) mod found;

use jiff::Timestamp;

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
    /// To, Cc and Bcc.
    Recipients,
    /// From and all recipients.
    Participants,
    Subject,
    /// The text alone.
    Body,
    /// The names of the attachments.
    Attachment,
}

/// A condition on one letter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// The words stand next to each other.
    Says(Field, Vec<String>),
    /// Has attachments, or has none.
    HasAttachments(bool),
    /// Is important, or is not.
    Important(bool),
    /// Has at least so many bytes, and fewer than so many.
    Size(u64, u64),
    /// Came at this time or later, and before that one, in milliseconds.
    Time(i64, i64),
    /// Met by every letter.
    Always,
    /// Met by none: the value makes no sense.
    Never,
}

/// Reads a query, asked at `now`, or says what is wrong with it.
pub(super) fn parse(text: &str, now: Timestamp) -> Result<Query, String> {
    let mut reader = Reader { text, rest: text, now };
    let query = reader.any("", MAX_DEPTH)?;
    match reader.rest.is_empty() {
        true => Ok(query),
        false => Err(reader.wrong()),
    }
}

/// The signs between a property and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// The longer signs first, for the shorter ones begin them.
const SIGNS: [(&str, Sign); 7] = [
    ("<>", Sign::NotEqual),
    ("<=", Sign::LessEqual),
    (">=", Sign::GreaterEqual),
    ("<", Sign::Less),
    (">", Sign::Greater),
    (":", Sign::Equal),
    ("=", Sign::Equal),
];

/// The properties that mail has.
const PROPERTIES: [(&str, Option<Field>); 16] = [
    ("from", Some(Field::From)),
    ("to", Some(Field::To)),
    ("cc", Some(Field::Cc)),
    ("bcc", Some(Field::Bcc)),
    ("recipients", Some(Field::Recipients)),
    ("participants", Some(Field::Participants)),
    ("subject", Some(Field::Subject)),
    ("body", Some(Field::Body)),
    ("attachment", Some(Field::Attachment)),
    ("hasattachment", None),
    ("hasattachments", None),
    ("importance", None),
    ("kind", None),
    ("size", None),
    ("received", None),
    ("sent", None),
];

/// A query on its way.
struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    now: Timestamp,
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

    /// Conditions joined by OR; words belong to `property`, if it is named.
    fn any(&mut self, property: &str, depth: usize) -> Result<Query, String> {
        let mut parts = vec![self.all(property, depth)?];
        while self.connective("OR") {
            parts.push(self.all(property, depth)?);
        }
        Ok(only(parts, Query::Any))
    }

    /// Conditions joined by AND or by nothing.
    fn all(&mut self, property: &str, depth: usize) -> Result<Query, String> {
        let mut parts = vec![self.one(property, depth)?];
        loop {
            if self.connective("AND") {
                parts.push(self.one(property, depth)?);
                continue;
            }
            let rest = self.rest;
            let ends = rest.is_empty() || rest.starts_with(')') || self.connective("OR");
            self.rest = rest;
            if ends {
                return Ok(only(parts, Query::All));
            }
            parts.push(self.one(property, depth)?);
        }
    }

    /// One condition, one group, or the opposite of one.
    fn one(&mut self, property: &str, depth: usize) -> Result<Query, String> {
        let depth = depth.checked_sub(1).ok_or_else(|| self.wrong())?;
        if self.connective("NOT") {
            return Ok(Query::Not(Box::new(self.one(property, depth)?)));
        }
        for word in ["AND", "OR"] {
            let here = self.rest;
            if self.connective(word) {
                self.rest = here;
                return Err(self.wrong());
            }
        }
        match self.rest.chars().next() {
            Some('-') => {
                self.skip('-');
                Ok(Query::Not(Box::new(self.one(property, depth)?)))
            }
            Some('+') => {
                self.skip('+');
                self.one(property, depth)
            }
            Some('(') => {
                self.skip('(');
                let inner = self.any(property, depth)?;
                self.rest = self.rest.trim_start();
                if !self.rest.starts_with(')') {
                    return Err(self.wrong());
                }
                self.skip(')');
                self.rest = self.rest.trim_start();
                Ok(inner)
            }
            None | Some(')') => Err(self.wrong()),
            Some(_) => self.condition(property, depth),
        }
    }

    fn skip(&mut self, char: char) {
        self.rest = self.rest.strip_prefix(char).unwrap_or(self.rest);
    }

    /// A word, a phrase, or a property with its value.
    fn condition(&mut self, property: &str, depth: usize) -> Result<Query, String> {
        let letters = |c: char| !c.is_ascii_alphabetic();
        let end = self.rest.find(letters).unwrap_or(self.rest.len());
        let (name, after) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        let name = name.to_ascii_lowercase();
        let sign = SIGNS.iter().find(|(sign, _)| after.starts_with(sign));
        let known = PROPERTIES.iter().find(|(known, _)| *known == name);
        if let (Some((sign, meaning)), Some((known, field))) = (sign, known) {
            self.rest = after.get(sign.len()..).unwrap_or_default();
            if self.rest.starts_with('(') {
                // What is in the group is about the property in front of it.
                return self.one(known, depth);
            }
            let value = self.value()?;
            return Ok(self.restriction(known, *field, *meaning, &value));
        }
        let value = self.value()?;
        let known = PROPERTIES.iter().find(|(known, _)| *known == property);
        Ok(match known {
            Some((known, field)) => self.restriction(known, *field, Sign::Equal, &value),
            None => says(Field::Anywhere, &value),
        })
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

    /// The condition that a property, a sign and a value make.
    fn restriction(&self, name: &str, field: Option<Field>, sign: Sign, value: &str) -> Query {
        let (test, different) = match (field, sign) {
            (Some(field), Sign::Equal) => return says(field, value),
            (Some(field), Sign::NotEqual) => return Query::Not(Box::new(says(field, value))),
            (Some(_), _) => (None, false),
            (None, Sign::NotEqual) => (self.test(name, Sign::Equal, value), true),
            (None, sign) => (self.test(name, sign, value), false),
        };
        let test = Query::Test(test.unwrap_or(Test::Never));
        match different {
            true => Query::Not(Box::new(test)),
            false => test,
        }
    }

    fn test(&self, name: &str, sign: Sign, value: &str) -> Option<Test> {
        let value = value.to_lowercase();
        match (name, sign) {
            ("size", sign) => size(sign, &value),
            ("received" | "sent", sign) => time(sign, &value, self.now),
            (_, Sign::Equal) => match (name, value.as_str()) {
                ("hasattachment" | "hasattachments", "true" | "yes" | "1") => {
                    Some(Test::HasAttachments(true))
                }
                ("hasattachment" | "hasattachments", "false" | "no" | "0") => {
                    Some(Test::HasAttachments(false))
                }
                ("importance", "high") => Some(Test::Important(true)),
                ("importance", "normal" | "medium") => Some(Test::Important(false)),
                ("kind", "email") => Some(Test::Always),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A time, or from one to another.
fn time(sign: Sign, value: &str, now: Timestamp) -> Option<Test> {
    let span = |value| dates::span(value, now);
    if let Some((from, to)) = value.split_once("..") {
        let (from, to) = (span(from)?.0, span(to)?.1);
        return Some(Test::Time(from, to)).filter(|_| sign == Sign::Equal);
    }
    let (start, end) = span(value)?;
    Some(match sign {
        Sign::Less => Test::Time(i64::MIN, start),
        Sign::LessEqual => Test::Time(i64::MIN, end),
        Sign::Greater => Test::Time(end, i64::MAX),
        Sign::GreaterEqual => Test::Time(start, i64::MAX),
        Sign::Equal | Sign::NotEqual => Test::Time(start, end),
    })
}

/// A size in bytes, or from one to another.
fn size(sign: Sign, value: &str) -> Option<Test> {
    if let Some((from, to)) = value.split_once("..") {
        let (from, to) = (from.parse().ok()?, to.parse::<u64>().ok()?);
        return Some(Test::Size(from, to.checked_add(1)?)).filter(|_| sign == Sign::Equal);
    }
    let bytes: u64 = value.parse().ok()?;
    let next = bytes.checked_add(1)?;
    Some(match sign {
        Sign::Less => Test::Size(0, bytes),
        Sign::LessEqual => Test::Size(0, next),
        Sign::Greater => Test::Size(next, u64::MAX),
        Sign::GreaterEqual => Test::Size(bytes, u64::MAX),
        Sign::Equal | Sign::NotEqual => Test::Size(bytes, next),
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
