//! Parsing of Gmail's search language: `from:ana (budget OR plan) -in:trash`.
//!
//! Gmail never refuses a query, so parsing cannot fail: an unknown operator is a word with a colon,
//! an unclosed quote ends with the text, and a surplus bracket is ignored. Queries are evaluated in
//! `matching.rs`.

pub(super) mod matching;

use crate::store::query::{SearchField, StoreQuery};
use crate::store::search_text::words;

/// The maximum depth of brackets. Groups below it are ignored.
const MAX_DEPTH: usize = 40;

/// A query, or a part of one.
pub(crate) type GmailQuery = StoreQuery<GmailTest>;

/// A condition on one message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GmailTest {
    /// Adjacent words in a field.
    Says(SearchField, Vec<String>),
    /// A label by its name.
    Label(String),
    /// A tab of the inbox.
    Category(String),
    /// A location: `in:`.
    In(String),
    /// A state: `is:`.
    Is(String),
    /// A property: `has:`.
    Has(String),
    /// A size above this many bytes.
    Larger(usize),
    /// A size below this many bytes.
    Smaller(usize),
    /// An arrival before this time, in milliseconds since 1970.
    Before(i64),
    /// An arrival at or after this time, likewise.
    After(i64),
    /// A Message-ID.
    MessageId(String),
    /// A condition that is never met, because its value is invalid.
    Never,
}

/// Parses a query of the mailbox `me`.
pub(super) fn parse(text: &str, me: &str) -> GmailQuery {
    let mut parser = GmailParser { rest: text, me };
    parser.group(false, "", MAX_DEPTH)
}

/// A query being parsed.
struct GmailParser<'a> {
    rest: &'a str,
    me: &'a str,
}

impl<'a> GmailParser<'a> {
    /// Parses up to a closing bracket or the end. Words in the group belong to the operator before
    /// it.
    fn group(&mut self, inner: bool, operator: &str, depth: usize) -> GmailQuery {
        let mut items: Vec<GmailQuery> = Vec::new();
        let mut or = false;
        loop {
            self.rest = self.rest.trim_start();
            let Some(first) = self.rest.chars().next() else {
                break;
            };
            if first == ')' {
                self.skip(first);
                if inner {
                    break;
                }
                continue;
            }
            if self.connective("OR") {
                or = true;
                continue;
            }
            if self.connective("AND") {
                continue;
            }
            let Some(item) = self.operand(operator, depth) else {
                continue;
            };
            // `OR` joins its two neighbours before the other terms are joined.
            match items.pop() {
                Some(StoreQuery::Any(mut any)) if or => {
                    any.push(item);
                    items.push(StoreQuery::Any(any));
                }
                Some(last) if or => items.push(StoreQuery::Any(vec![last, item])),
                last => {
                    items.extend(last);
                    items.push(item);
                }
            }
            or = false;
        }
        StoreQuery::join(items, StoreQuery::All)
    }

    /// Skips a connective that is a word of its own.
    fn connective(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest)
                if rest.is_empty()
                    // `ORANGE` is a word, while `OR(` and `OR"` are connectives.
                    || rest.starts_with(|c: char| c.is_whitespace() || "(\"".contains(c)) =>
            {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn skip(&mut self, char: char) {
        self.rest = self.rest.strip_prefix(char).unwrap_or(self.rest);
    }

    /// Parses one word, phrase, group or operator. `None` for a term without content.
    fn operand(&mut self, operator: &str, depth: usize) -> Option<GmailQuery> {
        // A loop instead of recursion, because the number of minus signs is not limited.
        let mut negated = false;
        while let Some(rest) = self.rest.strip_prefix('-') {
            negated = !negated;
            self.rest = rest;
        }
        // A minus sign belongs to the term that it touches; one before white space is ignored.
        let operand = match self.rest.chars().next()? {
            space if space.is_whitespace() => None,
            _ => self.bare_operand(operator, depth),
        };
        if negated { operand.map(|operand| StoreQuery::Not(Box::new(operand))) } else { operand }
    }

    /// Parses a term after its minus signs.
    fn bare_operand(&mut self, operator: &str, depth: usize) -> Option<GmailQuery> {
        let first = self.rest.chars().next()?;
        match first {
            '(' => {
                self.skip(first);
                let depth = depth.checked_sub(1)?;
                match self.group(true, operator, depth) {
                    StoreQuery::All(none) if none.is_empty() => None,
                    group => Some(group),
                }
            }
            ')' => None,
            '"' => {
                let phrase = self.quoted_phrase();
                self.test(operator, phrase)
            }
            _ => {
                if let Some((name, rest)) = operator_in_front(self.rest) {
                    self.rest = rest;
                    return self.value(name, depth);
                }
                let word = self.parse_word();
                self.test(operator, word)
            }
        }
    }

    /// Parses the operand of an operator: a word, a phrase or a group.
    fn value(&mut self, operator: &str, depth: usize) -> Option<GmailQuery> {
        // Gmail accepts a space after the colon, as in `from: ana`.
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '(' | '"' => self.operand(operator, depth),
            _ => {
                let word = self.parse_word();
                self.test(operator, word)
            }
        }
    }

    /// Parses a phrase up to its closing quote, or to the end.
    fn quoted_phrase(&mut self) -> &'a str {
        self.skip('"');
        let (phrase, rest) = self.rest.split_once('"').unwrap_or((self.rest, ""));
        self.rest = rest;
        phrase
    }

    /// Parses up to white space, a bracket or a quote.
    fn parse_word(&mut self) -> &'a str {
        let end = |char: char| char.is_whitespace() || "()\"".contains(char);
        let end = self.rest.find(end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        word
    }

    /// Returns the condition of an operator and a value. Operators are listed in [`OPERATORS`].
    fn test(&self, operator: &str, value: &str) -> Option<GmailQuery> {
        let field = match operator {
            "" => Some(SearchField::Anywhere),
            "from" => Some(SearchField::From),
            // Gmail's `to:` also finds Cc and Bcc.
            "to" => Some(SearchField::Recipients),
            "cc" => Some(SearchField::Cc),
            "bcc" => Some(SearchField::Bcc),
            "subject" => Some(SearchField::Subject),
            "filename" => Some(SearchField::Attachment),
            _ => None,
        };
        if let Some(field) = field {
            // `me` is the account's own address, but an ordinary word in subjects and file names.
            let people =
                [SearchField::From, SearchField::Recipients, SearchField::Cc, SearchField::Bcc];
            let me = people.contains(&field) && value.eq_ignore_ascii_case("me");
            let phrase = words(if me { self.me } else { value });
            return (!phrase.is_empty())
                .then_some(StoreQuery::Test(GmailTest::Says(field, phrase)));
        }
        if value.is_empty() {
            return None;
        }
        let name = value.to_lowercase();
        let test = match operator {
            "label" => Some(GmailTest::Label(name)),
            "category" => Some(GmailTest::Category(name)),
            "in" => Some(GmailTest::In(name)),
            "is" => Some(GmailTest::Is(name)),
            "has" => Some(GmailTest::Has(name)),
            "larger" => name.parse().ok().map(GmailTest::Larger),
            "smaller" => name.parse().ok().map(GmailTest::Smaller),
            "before" => instant(&name).map(GmailTest::Before),
            "after" => instant(&name).map(GmailTest::After),
            "rfc822msgid" => {
                let id = value.trim_matches(['<', '>']);
                Some(GmailTest::MessageId(id.to_owned()))
            }
            _ => None,
        };
        // Gmail answers a value without a meaning with no results rather than with an error.
        Some(StoreQuery::Test(test.unwrap_or(GmailTest::Never)))
    }
}

/// The operators, without their colons.
const OPERATORS: [&str; 16] = [
    "from", "to", "cc", "bcc", "subject", "filename", "label", "category", "in", "is", "has",
    "larger", "smaller", "before", "after", "rfc822msgid",
];

/// Returns the operator at the beginning of a text, and the text after its colon.
fn operator_in_front(text: &str) -> Option<(&'static str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let known = OPERATORS.iter().find(|known| known.eq_ignore_ascii_case(name))?;
    Some((known, rest))
}

/// Converts seconds since 1970 to milliseconds. Dates, which Gmail would take for midnight in
/// California, are not supported.
fn instant(text: &str) -> Option<i64> {
    text.parse::<i64>().ok()?.checked_mul(1_000)
}
