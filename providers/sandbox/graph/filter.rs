//! Parsing of OData's `$filter`: `isRead eq false and startswith(subject,'Re')`.
//!
//! This is the grammar alone. Properties and the types of their values are checked where the
//! entities are known (`mail/read/matching.rs`, `answer.rs` for contacts, `calendar/filter.rs`,
//! `delta/messages.rs`). Unlike Gmail, Graph refuses a filter that it cannot read.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::store::query::StoreQuery;

/// The maximum nesting of brackets and `not`.
const MAX_DEPTH: usize = 40;

/// A filter, or part of one.
pub(crate) type FilterExpression = StoreQuery<FilterCondition>;

/// A condition on one entity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FilterCondition {
    /// A property compared with a value.
    Compare(String, FilterComparison, FilterLiteral),
    /// A text property that starts with or contains a text.
    Text(TextTest, String, String),
    /// A list property with a member that equals a text, or has it at the path given second.
    Member(String, String, String),
}

impl FilterCondition {
    /// Returns the property that the condition is about.
    pub fn property(&self) -> &str {
        match self {
            Self::Compare(name, ..) | Self::Text(_, name, _) | Self::Member(name, ..) => name,
        }
    }
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterComparison {
    Equal,
    NotEqual,
    GreaterThan,
    GreaterThanOrEqual,
    LessThan,
    LessThanOrEqual,
}

/// A function that tests a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextTest {
    StartsWith,
    Contains,
}

/// A value in a filter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FilterLiteral {
    Text(String),
    Truth(bool),
    /// Milliseconds since 1970.
    Time(i64),
    Null,
}

impl FilterLiteral {
    /// Returns the type's name for error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "Edm.String",
            Self::Truth(_) => "Edm.Boolean",
            Self::Time(_) => "Edm.DateTimeOffset",
            Self::Null => "<null>",
        }
    }
}

/// Parses a filter.
///
/// # Errors
///
/// The position of the first syntax error, as a sentence.
pub(super) fn parse(text: &str) -> Result<FilterExpression, String> {
    let mut parser = FilterParser { text, rest: text };
    let filter = parser.any(MAX_DEPTH)?;
    if parser.rest.trim_start().is_empty() { Ok(filter) } else { Err(parser.wrong()) }
}

/// The state of the parser.
struct FilterParser<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> FilterParser<'a> {
    /// Returns a syntax error at the current position.
    fn wrong(&self) -> String {
        let position = self.text.len() - self.rest.len();
        format!("Syntax error at position {position} in '{}'.", self.text)
    }

    /// Consumes a character, after white space.
    fn sign(&mut self, sign: char) -> Result<(), String> {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.wrong()),
        }
    }

    /// Consumes a keyword if it is followed by white space or a bracket.
    fn keyword(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(word) {
            Some(after) if after.starts_with(|c: char| c.is_whitespace() || c == '(') => {
                self.rest = after;
                true
            }
            _ => false,
        }
    }

    // OData's `and` binds tighter than `or`, so a chain of `or` is the outermost level.
    fn any(&mut self, depth: usize) -> Result<FilterExpression, String> {
        let mut parts = vec![self.all(depth)?];
        while self.keyword("or") {
            parts.push(self.all(depth)?);
        }
        Ok(StoreQuery::join(parts, StoreQuery::Any))
    }

    fn all(&mut self, depth: usize) -> Result<FilterExpression, String> {
        let mut parts = vec![self.parse_condition(depth)?];
        while self.keyword("and") {
            parts.push(self.parse_condition(depth)?);
        }
        Ok(StoreQuery::join(parts, StoreQuery::All))
    }

    /// Parses a condition or a group, possibly negated.
    fn parse_condition(&mut self, depth: usize) -> Result<FilterExpression, String> {
        // Recursion is bounded, because a filter comes from outside and could overflow the stack.
        let depth = depth.checked_sub(1).ok_or_else(|| self.wrong())?;
        if self.keyword("not") {
            return Ok(StoreQuery::Not(Box::new(self.parse_condition(depth)?)));
        }
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('(') {
            self.sign('(')?;
            let inner = self.any(depth)?;
            self.sign(')')?;
            return Ok(inner);
        }
        let path = self.path()?;
        if self.rest.starts_with('(') {
            return match path {
                "startswith" => self.text_test(TextTest::StartsWith),
                "contains" => self.text_test(TextTest::Contains),
                _ => match path.strip_suffix("/any") {
                    Some(path) => self.member(path),
                    None => Err(format!("An unknown function with name '{path}' was found.")),
                },
            };
        }
        let comparison = self.comparison()?;
        let literal = self.literal()?;
        Ok(StoreQuery::Test(FilterCondition::Compare(path.to_owned(), comparison, literal)))
    }

    /// Parses a path such as `from/emailAddress/address`.
    fn path(&mut self) -> Result<&'a str, String> {
        self.rest = self.rest.trim_start();
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '.' | '@');
        let end = self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len());
        let (path, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        if !path.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(self.wrong());
        }
        self.rest = rest;
        Ok(path)
    }

    /// Parses `(path,'text')`.
    fn text_test(&mut self, test: TextTest) -> Result<FilterExpression, String> {
        self.sign('(')?;
        let path = self.path()?.to_owned();
        self.sign(',')?;
        let text = self.text_value()?;
        self.sign(')')?;
        Ok(StoreQuery::Test(FilterCondition::Text(test, path, text)))
    }

    /// Parses `(x:x eq 'y')` or `(x:x/path eq 'y')`.
    fn member(&mut self, path: &str) -> Result<FilterExpression, String> {
        self.sign('(')?;
        let variable = self.path()?;
        self.sign(':')?;
        let inside = self.path()?.strip_prefix(variable).ok_or_else(|| self.wrong())?;
        let FilterComparison::Equal = self.comparison()? else {
            return Err(self.wrong());
        };
        let text = self.text_value()?;
        self.sign(')')?;
        let inside = inside.trim_start_matches('/').to_owned();
        Ok(StoreQuery::Test(FilterCondition::Member(path.to_owned(), inside, text)))
    }

    fn text_value(&mut self) -> Result<String, String> {
        match self.literal()? {
            FilterLiteral::Text(text) => Ok(text),
            _ => Err(self.wrong()),
        }
    }

    fn comparison(&mut self) -> Result<FilterComparison, String> {
        for (word, comparison) in [
            ("eq", FilterComparison::Equal),
            ("ne", FilterComparison::NotEqual),
            ("gt", FilterComparison::GreaterThan),
            ("ge", FilterComparison::GreaterThanOrEqual),
            ("lt", FilterComparison::LessThan),
            ("le", FilterComparison::LessThanOrEqual),
        ] {
            if self.keyword(word) {
                return Ok(comparison);
            }
        }
        Err(self.wrong())
    }

    fn literal(&mut self) -> Result<FilterLiteral, String> {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('\'') {
            return self.text_literal(rest);
        }
        let inside = |c: char| c.is_ascii_alphanumeric() || "-:.+".contains(c);
        let end = self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        let literal = match word {
            "true" => FilterLiteral::Truth(true),
            "false" => FilterLiteral::Truth(false),
            "null" => FilterLiteral::Null,
            _ => FilterLiteral::Time(time(word).ok_or_else(|| self.wrong())?),
        };
        self.rest = rest;
        Ok(literal)
    }

    /// Parses a text up to its closing quote. Two quotes are one quote of the text.
    fn text_literal(&mut self, mut rest: &'a str) -> Result<FilterLiteral, String> {
        let mut text = String::new();
        loop {
            let Some((piece, after)) = rest.split_once('\'') else {
                return Err(format!(
                    "There is an unterminated string literal at position {} in '{}'.",
                    self.text.len(),
                    self.text
                ));
            };
            text.push_str(piece);
            match after.strip_prefix('\'') {
                Some(after) => {
                    text.push('\'');
                    rest = after;
                }
                None => {
                    self.rest = after;
                    return Ok(FilterLiteral::Text(text));
                }
            }
        }
    }
}

/// Parses a time with its offset, or a day, which begins at midnight UTC.
fn time(word: &str) -> Option<i64> {
    if let Ok(time) = word.parse::<Timestamp>() {
        return Some(time.as_millisecond());
    }
    // Only `YYYY-MM-DD`: the parser also accepts other ISO forms, which OData does not have.
    let day: Date = word.parse().ok().filter(|_| word.len() == 10)?;
    let midnight = day.to_zoned(TimeZone::UTC).ok()?;
    Some(midnight.timestamp().as_millisecond())
}
