//! Parsing of the query language.
//!
//! Words, `"phrases"`, `from: to: cc: bcc: subject: body: in: label: category: is: has:`,
//! `filename: larger: smaller: before: after:`, `OR`, `-not`, `( )`. As in Gmail, `OR` binds
//! tighter than the implicit AND: `a b OR c` is `a (b OR c)`. Each adapter compiles the tree to
//! its provider's language. This module is independent of providers, reads no clock, and refuses
//! everything that it does not understand: a query never fails open.

mod tokens;
mod values;

use std::iter::Peekable;
use std::vec::IntoIter;

use jiff::Timestamp;

use self::tokens::{QueryToken, tokens};
pub use self::values::DateContext;
use self::values::{bytes, instant};
use crate::error::{Error, Result};
use crate::text::brief;
use crate::text::search_text::is_punctuation;

/// The prefix of a query in a provider's own syntax.
const RAW: &str = "raw:";
/// The maximum nesting of groups.
const DEPTH: usize = 32;
/// The maximum length of a query in bytes.
const MAX_QUERY: usize = 4_096;

/// A query as a tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// All parts hold. Without parts, matches every message.
    All(Vec<Query>),
    /// At least one part holds. Without parts, matches no message.
    Any(Vec<Query>),
    /// The part does not hold.
    Not(Box<Query>),
    /// One condition.
    Term(QueryTerm),
    /// A query in the provider's own syntax, passed on unchanged.
    Raw(String),
}

/// The note on a condition in an OR that an account cannot evaluate.
pub const NOTHING: &str = "that part of the OR matches nothing here";

impl Query {
    /// Returns its conditions, in order.
    pub fn terms(&self) -> Vec<&QueryTerm> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::terms).collect(),
            Self::Not(part) => part.terms(),
            Self::Term(term) => vec![term],
            Self::Raw(_) => Vec::new(),
        }
    }

    /// Returns its conditions, each with true if it is part of an OR, where another may hold
    /// instead.
    pub fn alternatives(&self) -> Vec<(&QueryTerm, bool)> {
        match self {
            Self::Any(parts) if parts.len() > 1 => {
                self.terms().into_iter().map(|term| (term, true)).collect()
            }
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().flat_map(Self::alternatives).collect()
            }
            Self::Not(part) => part.alternatives(),
            Self::Term(term) => vec![(term, false)],
            Self::Raw(_) => Vec::new(),
        }
    }

    /// Returns the query without conditions that can never be met. A part that can never be met
    /// becomes [`Query::Any`] without parts; one that is always met becomes [`Query::All`]
    /// without parts.
    #[must_use]
    pub fn without(&self, never: &impl Fn(&QueryTerm) -> bool) -> Self {
        let each = |parts: &[Self], drop: &Self, end: &Self| -> Option<Vec<Self>> {
            let parts: Vec<Self> = parts.iter().map(|part| part.without(never)).collect();
            let ends = parts.contains(end);
            (!ends).then(|| parts.into_iter().filter(|part| part != drop).collect())
        };
        let (nothing, everything) = (Self::Any(Vec::new()), Self::All(Vec::new()));
        match self {
            Self::All(parts) => match each(parts, &everything, &nothing) {
                Some(parts) => one_or(parts, Self::All),
                None => nothing,
            },
            Self::Any(parts) => match each(parts, &nothing, &everything) {
                Some(parts) => one_or(parts, Self::Any),
                None => everything,
            },
            Self::Not(part) => match part.without(never) {
                part if part == nothing => everything,
                part if part == everything => nothing,
                part => Self::Not(Box::new(part)),
            },
            Self::Term(term) if never(term) => nothing,
            other => other.clone(),
        }
    }

    /// Returns the query with each condition replaced. Raw syntax is unchanged.
    #[must_use]
    pub fn map(&self, other: &impl Fn(&QueryTerm) -> QueryTerm) -> Self {
        let each = |parts: &[Self]| parts.iter().map(|part| part.map(other)).collect();
        match self {
            Self::All(parts) => Self::All(each(parts)),
            Self::Any(parts) => Self::Any(each(parts)),
            Self::Not(part) => Self::Not(Box::new(part.map(other))),
            Self::Term(term) => Self::Term(other(term)),
            Self::Raw(raw) => Self::Raw(raw.clone()),
        }
    }
}

/// A condition on a message. Texts are words or phrases, never empty.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryTerm {
    /// A text anywhere in the message.
    Text(String),
    /// A text in one part of the message.
    In(MessagePart, String),
    /// In a folder: one of [`PLACES`] or a folder's name.
    Folder(String),
    /// Under this label.
    Label(String),
    /// In this category.
    Category(String),
    /// In this state.
    Is(MessageState),
    /// With an attachment.
    Attachment,
    /// Larger than this many bytes.
    Larger(u64),
    /// Smaller than this many bytes.
    Smaller(u64),
    /// Before this instant.
    Before(Timestamp),
    /// At or after this instant.
    After(Timestamp),
}

/// The part of a message in which a text is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessagePart {
    /// The sender.
    From,
    /// The recipients.
    To,
    /// The copied recipients.
    Cc,
    /// The blindly copied recipients.
    Bcc,
    /// The subject line.
    Subject,
    /// The text.
    Body,
    /// The names of the attached files.
    Filename,
}

impl MessagePart {
    /// Returns its operator, without the colon.
    pub fn operator(self) -> &'static str {
        match self {
            Self::From => "from",
            Self::To => "to",
            Self::Cc => "cc",
            Self::Bcc => "bcc",
            Self::Subject => "subject",
            Self::Body => "body",
            Self::Filename => "filename",
        }
    }
}

/// A state a message can be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageState {
    /// Not opened yet.
    Unread,
    /// Opened.
    Read,
    /// Starred or flagged.
    Starred,
    /// Marked important.
    Important,
}

/// Words for folders with the same meaning at every provider.
pub const PLACES: &[&str] = &["inbox", "sent", "drafts", "trash", "spam", "archive", "anywhere"];

/// The account's owner, as a person in a query.
pub const ME: &str = "me";

/// The operators, for error messages and docs.
pub const OPERATORS: &str = "from: to: cc: bcc: subject: body: in: label: category: \
     is:unread|read|starred|flagged|important|answered|unanswered|bulk|direct has:attachment \
     filename: larger: smaller: before: after:";

/// Conditions that no provider can evaluate. They are checked on the listed messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListedConditions {
    /// True for `is:answered`, false for `is:unanswered`.
    pub answered: Option<bool>,
    /// True for `is:bulk`, false for `-is:bulk`.
    pub bulk: Option<bool>,
    /// True for `is:direct`: the account's owner is the only recipient.
    pub direct: bool,
}

impl ListedConditions {
    /// Returns true if there is at least one.
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// Adds the condition for this word, or its opposite. Returns false for an unknown word and
    /// for a condition that is already set.
    fn add(&mut self, word: &str, negated: bool) -> bool {
        let (condition, value) = match word.to_ascii_lowercase().as_str() {
            "answered" => (&mut self.answered, !negated),
            "unanswered" => (&mut self.answered, negated),
            "bulk" => (&mut self.bulk, !negated),
            "direct" if !negated && !self.direct => {
                self.direct = true;
                return true;
            }
            _ => return false,
        };
        condition.is_none() && {
            *condition = Some(value);
            true
        }
    }
}

/// Parses a query.
///
/// # Errors
/// [`crate::error::ErrorKind::Argument`] for any part that is not understood.
pub fn parse(text: &str, clock: &DateContext) -> Result<Query> {
    let (query, listed) = parse_search(text, clock)?;
    if listed.any() {
        let what =
            "only mail_search knows `is:answered`, `is:unanswered`, `is:bulk` and `is:direct`";
        return Err(Error::argument(what).next("search with it first, and give the ids"));
    }
    Ok(query)
}

/// Parses a query that may also have, once each, the conditions that no provider can evaluate.
///
/// # Errors
/// As [`parse`].
pub fn parse_search(text: &str, clock: &DateContext) -> Result<(Query, ListedConditions)> {
    let text = text.trim();
    if text.len() > MAX_QUERY {
        return Err(Error::argument(format!(
            "the query is {} bytes long, more than {MAX_QUERY}",
            text.len()
        ))
        .next("shorten it, or split the search"));
    }
    // A provider's own syntax is not parsed, so no conditions can be split off.
    if let Some(raw) = text.strip_prefix(RAW) {
        return match raw.trim() {
            "" => Err(empty(RAW)),
            raw => Ok((Query::Raw(raw.to_owned()), ListedConditions::default())),
        };
    }
    let (tokens, listed) = without_listed(tokens(text)?);
    let mut parser = QueryParser { tokens: tokens.into_iter().peekable(), clock };
    let query = parser.all(0)?;
    match parser.tokens.next() {
        None if is_empty(&query) => Err(nothing("the query")),
        None => Ok((query, listed)),
        Some(_) => Err(Error::argument("the query has an unmatched `)`")
            .next("remove it, or put it in quotes")),
    }
}

/// Returns true for a query in a provider's own syntax.
pub fn is_raw(text: &str) -> bool {
    text.trim().starts_with(RAW)
}

/// Splits off the conditions that no provider can evaluate. Repeated ones and ones in a group or
/// an OR are kept, and refused by the parser.
fn without_listed(tokens: Vec<QueryToken>) -> (Vec<QueryToken>, ListedConditions) {
    let mut listed = ListedConditions::default();
    let mut kept: Vec<QueryToken> = Vec::new();
    let mut depth = 0_usize;
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        match &token {
            QueryToken::Open | QueryToken::OpenAny => depth += 1,
            QueryToken::Close | QueryToken::CloseAny => depth = depth.saturating_sub(1),
            QueryToken::Text(word) if depth == 0 && rest.peek() != Some(&QueryToken::Or) => {
                let negated =
                    matches!(kept.as_slice(), [.., QueryToken::Not, QueryToken::Operator(_)]);
                let start = kept.len().saturating_sub(1 + usize::from(negated));
                let is_state =
                    matches!(kept.last(), Some(QueryToken::Operator(name)) if name == "is");
                let before = start.checked_sub(1).and_then(|at| kept.get(at));
                let is_alone = !matches!(before, Some(QueryToken::Or | QueryToken::Not));
                if is_state && is_alone && listed.add(word, negated) {
                    kept.truncate(start);
                    continue;
                }
            }
            _ => {}
        }
        kept.push(token);
    }
    (kept, listed)
}

struct QueryParser<'a> {
    tokens: Peekable<IntoIter<QueryToken>>,
    clock: &'a DateContext,
}

impl QueryParser<'_> {
    /// Parses terms up to the end or a closing bracket.
    fn all(&mut self, depth: usize) -> Result<Query> {
        let mut parts = Vec::new();
        while !matches!(self.tokens.peek(), None | Some(QueryToken::Close | QueryToken::CloseAny)) {
            parts.push(self.any(depth)?);
        }
        Ok(one_or(parts, Query::All))
    }

    /// Parses `a OR b OR c`, or a single part.
    fn any(&mut self, depth: usize) -> Result<Query> {
        let mut parts = vec![self.operand(depth)?];
        while self.tokens.next_if_eq(&QueryToken::Or).is_some() {
            parts.push(self.operand(depth)?);
        }
        Ok(one_or(parts, Query::Any))
    }

    /// Parses a term, a negation or a group. `depth` is the number of groups around it.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Argument`] if groups are nested too deeply, or a term is missing
    /// or invalid.
    fn operand(&mut self, depth: usize) -> Result<Query> {
        if depth > DEPTH {
            return Err(Error::argument(format!("the query nests groups deeper than {DEPTH}"))
                .next("flatten the parentheses"));
        }
        match self.tokens.next() {
            // `NOT NOT …` recurses like nested groups.
            Some(QueryToken::Not) => Ok(Query::Not(Box::new(self.operand(depth + 1)?))),
            Some(QueryToken::Open) => {
                let inner = self.all(depth + 1)?;
                self.close(&QueryToken::Close, inner, '(')
            }
            Some(QueryToken::OpenAny) => {
                // Gmail's braces are another notation for OR.
                let inner = match self.all(depth + 1)? {
                    Query::All(parts) => Query::Any(parts),
                    one => one,
                };
                self.close(&QueryToken::CloseAny, inner, '{')
            }
            Some(QueryToken::Text(text)) => Ok(Query::Term(QueryTerm::Text(text))),
            Some(QueryToken::Operator(name)) => self.operator(&name, depth),
            Some(QueryToken::Or) => Err(Error::argument("`OR` needs a term on each side")
                .next("write `a OR b`, or \"or\" in quotes for the word")),
            Some(QueryToken::Close | QueryToken::CloseAny) | None => {
                Err(Error::argument("the query ends where it needs a term")
                    .next("add the missing term, or remove the `OR` or `-` before it"))
            }
        }
    }

    fn close(&mut self, end: &QueryToken, inner: Query, open: char) -> Result<Query> {
        if self.tokens.next_if_eq(end).is_none() {
            return Err(Error::argument(format!("the query has an unclosed `{open}`"))
                .next("close it, or put it in quotes"));
        }
        if matches!(&inner, Query::All(parts) | Query::Any(parts) if parts.is_empty()) {
            return Err(Error::argument("the query has an empty group")
                .next("put terms between the brackets, or remove them"));
        }
        Ok(inner)
    }

    /// Parses the value of an operator: a word, a phrase, or a group of these.
    fn operator(&mut self, name: &str, depth: usize) -> Result<Query> {
        match self.tokens.peek() {
            Some(QueryToken::Text(_)) => match self.tokens.next() {
                Some(QueryToken::Text(value)) => term(name, &value, self.clock).map(Query::Term),
                _ => Err(empty(name)),
            },
            Some(QueryToken::Open) => {
                let group = self.operand(depth + 1)?;
                distribute(name, group, self.clock)
            }
            _ if is_keyword(name) => Err(empty(&format!("{name}:"))),
            _ => Err(unknown(name)),
        }
    }
}

/// Distributes an operator over a group: `from:(a OR b)` becomes `from:a OR from:b`.
fn distribute(name: &str, group: Query, clock: &DateContext) -> Result<Query> {
    let each = |parts: Vec<Query>| {
        parts.into_iter().map(|part| distribute(name, part, clock)).collect::<Result<Vec<_>>>()
    };
    Ok(match group {
        Query::All(parts) => Query::All(each(parts)?),
        Query::Any(parts) => Query::Any(each(parts)?),
        Query::Not(part) => Query::Not(Box::new(distribute(name, *part, clock)?)),
        Query::Term(QueryTerm::Text(value)) => Query::Term(term(name, &value, clock)?),
        Query::Term(_) | Query::Raw(_) => {
            return Err(Error::argument(format!("the group of `{name}:` contains an operator"))
                .next("put plain words in the group"));
        }
    })
}

/// Returns the only part, or a group of several.
pub fn one_or(mut parts: Vec<Query>, many: impl Fn(Vec<Query>) -> Query) -> Query {
    match (parts.len(), parts.pop()) {
        (1, Some(one)) => one,
        (_, last) => {
            parts.extend(last);
            many(parts)
        }
    }
}

const NAMES: &[&str] = &[
    "from", "to", "cc", "bcc", "subject", "body", "in", "folder", "label", "category", "is", "has",
    "filename", "larger", "smaller", "before", "after", "older", "newer", "older_than",
    "newer_than",
];

fn is_keyword(name: &str) -> bool {
    NAMES.contains(&name)
}

fn term(name: &str, value: &str, clock: &DateContext) -> Result<QueryTerm> {
    let text = || value.to_owned();
    // Providers ignore punctuation in these fields and would find every message. Outlook
    // matches every character of a subject, so `subject:` is allowed.
    let words = matches!(name, "from" | "to" | "cc" | "bcc" | "body" | "filename");
    if words && is_punctuation(value) {
        return Err(nothing(&format!("`{name}:{}`", brief(value))));
    }
    Ok(match name {
        "from" => QueryTerm::In(MessagePart::From, text()),
        "to" => QueryTerm::In(MessagePart::To, text()),
        "cc" => QueryTerm::In(MessagePart::Cc, text()),
        "bcc" => QueryTerm::In(MessagePart::Bcc, text()),
        "subject" => QueryTerm::In(MessagePart::Subject, text()),
        "body" => QueryTerm::In(MessagePart::Body, text()),
        "filename" => QueryTerm::In(MessagePart::Filename, text()),
        // Gmail's web client shows these states like folders.
        "in" if value.eq_ignore_ascii_case("starred") => QueryTerm::Is(MessageState::Starred),
        "in" if value.eq_ignore_ascii_case("important") => QueryTerm::Is(MessageState::Important),
        "in" if value.eq_ignore_ascii_case("unread") => QueryTerm::Is(MessageState::Unread),
        "in" | "folder" => QueryTerm::Folder(place(value)),
        "label" => QueryTerm::Label(text()),
        "category" => QueryTerm::Category(text()),
        "is" => match value.to_ascii_lowercase().as_str() {
            "unread" => QueryTerm::Is(MessageState::Unread),
            "read" => QueryTerm::Is(MessageState::Read),
            "starred" | "flagged" => QueryTerm::Is(MessageState::Starred),
            "important" => QueryTerm::Is(MessageState::Important),
            // Rows call the flag `draft`, so it can be searched under this name.
            "draft" => QueryTerm::Folder(place("drafts")),
            word @ ("answered" | "unanswered" | "bulk") => {
                return Err(Error::argument(format!(
                    "`is:{word}` works once, outside groups and OR"
                ))
                .next("search for each separately"));
            }
            "direct" => {
                return Err(Error::argument(
                    "`is:direct` works once, without `-`, outside groups and OR",
                )
                .next("use to:, cc: or bcc: instead"));
            }
            _ => {
                return Err(Error::argument(format!("unknown `is:{}`", brief(value))).next(
                    "use is:unread, is:read, is:starred, is:flagged, is:important, is:answered, \
                         is:unanswered, is:bulk or is:direct",
                ));
            }
        },
        "has" => match value.to_ascii_lowercase().as_str() {
            "attachment" | "attachments" => QueryTerm::Attachment,
            _ => {
                return Err(Error::argument(format!("unknown `has:{}`", brief(value)))
                    .next("use has:attachment, or filename:pdf for files of a kind"));
            }
        },
        "larger" => QueryTerm::Larger(bytes(name, value)?),
        "smaller" => QueryTerm::Smaller(bytes(name, value)?),
        "before" | "older" | "older_than" => QueryTerm::Before(instant(name, value, clock)?),
        "after" | "newer" | "newer_than" => QueryTerm::After(instant(name, value, clock)?),
        _ => return Err(unknown(name)),
    })
}

/// Returns the well-known word for a common name of a folder, or the name itself.
pub fn place(name: &str) -> String {
    let lower = name.to_lowercase();
    match lower.as_str() {
        "draft" => "drafts".to_owned(),
        "junk" => "spam".to_owned(),
        "bin" | "deleted" | "deleteditems" => "trash".to_owned(),
        "all" | "any" => "anywhere".to_owned(),
        _ if PLACES.contains(&lower.as_str()) => lower,
        _ => name.to_owned(),
    }
}

/// Returns true for a query of punctuation only. Providers ignore punctuation, so it would find
/// every message.
fn is_empty(query: &Query) -> bool {
    match query {
        // Next to a word, as in `a - b`, punctuation is harmless.
        Query::All(parts) => parts.iter().any(is_empty) && !parts.iter().any(is_word),
        Query::Any(parts) => parts.iter().any(is_empty),
        Query::Not(part) => is_empty(part),
        Query::Term(QueryTerm::Text(text)) => is_punctuation(text),
        Query::Term(_) | Query::Raw(_) => false,
    }
}

fn is_word(query: &Query) -> bool {
    matches!(query, Query::Term(QueryTerm::Text(text)) if !is_punctuation(text))
}

fn nothing(what: &str) -> Error {
    Error::argument(format!("{what} has no letter or digit to search for"))
        .next("give words or an operator")
}

fn empty(name: &str) -> Error {
    Error::argument(format!("`{name}` has no value")).next("write it directly after the colon")
}

fn unknown(name: &str) -> Error {
    Error::argument(format!("unknown operator `{}:`", brief(name)))
        .next(format!("use {OPERATORS}; put text with a colon in quotes"))
}
