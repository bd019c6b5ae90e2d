//! OData's `$filter`, read: `isRead eq false and startswith(subject,'Re')`.
//!
//! Here is the grammar alone; which properties there are, and what they are
//! compared with, is decided where the entities are known (`mail/read/matching.rs`,
//! and `graph/mod.rs` for folders and contacts). Unlike Gmail, Graph refuses what
//! it cannot read.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Brackets below this depth are refused.
const MAX_DEPTH: usize = 40;

/// A filter, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Filter {
    /// All of them.
    All(Vec<Filter>),
    /// Any of them.
    Any(Vec<Filter>),
    /// Not this.
    Not(Box<Filter>),
    /// A property against a value.
    Compare(String, Comparison, Literal),
    /// A property's text against a piece of text.
    Text(TextTest, String, String),
    /// One of several values: the path to them, and what it is to meet. Paths
    /// inside begin after the variable; the variable alone is empty.
    Member(String, Box<Filter>),
}

/// How a property and a value compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    GreaterThan,
    GreaterThanOrEqual,
    LessThan,
    LessThanOrEqual,
}

/// Where a piece of text is to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextTest {
    StartsWith,
    Contains,
}

/// A value in a filter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Text(String),
    Truth(bool),
    /// Milliseconds since 1970.
    Time(i64),
    Null,
}

impl Literal {
    /// The type's name in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "Edm.String",
            Self::Truth(_) => "Edm.Boolean",
            Self::Time(_) => "Edm.DateTimeOffset",
            Self::Null => "<null>",
        }
    }
}

impl Filter {
    /// The properties of a filter, in the order of their first mention.
    pub fn properties(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.each_property(&mut |name| {
            if !found.contains(&name) {
                found.push(name);
            }
        });
        found
    }

    fn each_property<'a>(&'a self, found: &mut dyn FnMut(&'a str)) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.each_property(found);
                }
            }
            Self::Not(part) => part.each_property(found),
            Self::Compare(name, ..) | Self::Text(_, name, _) | Self::Member(name, _) => found(name),
        }
    }
}

/// Reads a filter, or says why it is none.
pub(super) fn parse(text: &str) -> Result<Filter, String> {
    let mut parser = FilterParser { text, rest: text, variables: Vec::new() };
    let filter = parser.any(MAX_DEPTH)?;
    match parser.rest.trim_start().is_empty() {
        true => Ok(filter),
        false => Err(parser.wrong()),
    }
}

/// A filter on its way.
struct FilterParser<'a> {
    text: &'a str,
    rest: &'a str,
    /// The variables of the lambdas around this place.
    variables: Vec<&'a str>,
}

impl<'a> FilterParser<'a> {
    /// The complaint about this place.
    fn wrong(&self) -> String {
        let position = self.text.len() - self.rest.len();
        format!("Syntax error at position {position} in '{}'.", self.text)
    }

    /// Takes a sign, past white space.
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

    /// Takes a keyword that stands alone.
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

    fn any(&mut self, depth: usize) -> Result<Filter, String> {
        let mut parts = vec![self.all(depth)?];
        while self.keyword("or") {
            parts.push(self.all(depth)?);
        }
        Ok(only(parts, Filter::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Filter, String> {
        let mut parts = vec![self.one(depth)?];
        while self.keyword("and") {
            parts.push(self.one(depth)?);
        }
        Ok(only(parts, Filter::All))
    }

    fn one(&mut self, depth: usize) -> Result<Filter, String> {
        let depth = depth.checked_sub(1).ok_or_else(|| self.wrong())?;
        if self.keyword("not") {
            return Ok(Filter::Not(Box::new(self.one(depth)?)));
        }
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('(') {
            self.sign('(')?;
            let inner = self.any(depth)?;
            self.sign(')')?;
            return Ok(inner);
        }
        let start = self.rest;
        let path = self.path()?;
        if self.rest.starts_with('(') {
            return match path {
                "startswith" => self.text_test(TextTest::StartsWith),
                "contains" => self.text_test(TextTest::Contains),
                _ => match path.strip_suffix("/any") {
                    Some(path) => self.member(path, depth),
                    None => Err(format!("An unknown function with name '{path}' was found.")),
                },
            };
        }
        let comparison = self.comparison()?;
        let literal = self.literal()?;
        let path = self.inside(path).ok_or_else(|| {
            self.rest = start;
            self.wrong()
        })?;
        Ok(Filter::Compare(path, comparison, literal))
    }

    /// A path seen from the lambda it stands in, if it stands in one.
    fn inside(&self, path: &str) -> Option<String> {
        let Some(variable) = self.variables.last() else {
            return Some(path.to_owned());
        };
        let rest = path.strip_prefix(variable)?;
        match rest.strip_prefix('/') {
            Some(rest) => Some(rest.to_owned()),
            None => rest.is_empty().then(String::new),
        }
    }

    /// Reads `from/emailAddress/address`.
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

    /// Reads `(path,'text')`.
    fn text_test(&mut self, test: TextTest) -> Result<Filter, String> {
        self.sign('(')?;
        let path = self.path()?;
        let path = self.inside(path).ok_or_else(|| self.wrong())?;
        self.sign(',')?;
        let Literal::Text(text) = self.literal()? else {
            return Err(self.wrong());
        };
        self.sign(')')?;
        Ok(Filter::Text(test, path, text))
    }

    /// Reads `(x:x eq 'y')`.
    fn member(&mut self, path: &'a str, depth: usize) -> Result<Filter, String> {
        self.sign('(')?;
        let variable = self.path()?;
        self.sign(':')?;
        self.variables.push(variable);
        let inner = self.any(depth)?;
        self.variables.pop();
        self.sign(')')?;
        Ok(Filter::Member(path.to_owned(), Box::new(inner)))
    }

    fn comparison(&mut self) -> Result<Comparison, String> {
        for (word, comparison) in [
            ("eq", Comparison::Equal),
            ("ne", Comparison::NotEqual),
            ("gt", Comparison::GreaterThan),
            ("ge", Comparison::GreaterThanOrEqual),
            ("lt", Comparison::LessThan),
            ("le", Comparison::LessThanOrEqual),
        ] {
            if self.keyword(word) {
                return Ok(comparison);
            }
        }
        Err(self.wrong())
    }

    fn literal(&mut self) -> Result<Literal, String> {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('\'') {
            return self.text_literal(rest);
        }
        let inside = |c: char| c.is_ascii_alphanumeric() || "-:.+".contains(c);
        let end = self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        let literal = match word {
            "true" => Literal::Truth(true),
            "false" => Literal::Truth(false),
            "null" => Literal::Null,
            _ => Literal::Time(time(word).ok_or_else(|| self.wrong())?),
        };
        self.rest = rest;
        Ok(literal)
    }

    /// Reads a text up to its quote; two quotes are one in the text.
    fn text_literal(&mut self, mut rest: &'a str) -> Result<Literal, String> {
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
                    return Ok(Literal::Text(text));
                }
            }
        }
    }
}

/// One part as it is, several together.
fn only(mut parts: Vec<Filter>, join: fn(Vec<Filter>) -> Filter) -> Filter {
    match (parts.len(), parts.pop()) {
        (1, Some(part)) => part,
        (_, last) => {
            parts.extend(last);
            join(parts)
        }
    }
}

/// A time with its offset, or a day, which begins at midnight in UTC.
fn time(word: &str) -> Option<i64> {
    if let Ok(time) = word.parse::<Timestamp>() {
        return Some(time.as_millisecond());
    }
    let day: Date = word.parse().ok().filter(|_| word.len() == 10)?;
    let midnight = day.to_zoned(TimeZone::UTC).ok()?;
    Some(midnight.timestamp().as_millisecond())
}
