//! Gmail's search language, read: `from:ana (budget OR plan) -in:trash`.
//!
//! Gmail never refuses a query, so this cannot fail: an operator nobody knows
//! is a word with a colon in it, a quote that is not closed ends with the text,
//! a bracket too many is not there. What the tests mean for a message is decided
//! in `matching.rs`.

pub(super) mod matching;

use crate::store::query::{SearchField, StoreQuery};
use crate::store::search_text::words;

/// Brackets below this depth are not there either.
const MAX_DEPTH: usize = 40;

/// A query, or a part of one.
pub(crate) type GmailQuery = StoreQuery<GmailTest>;

/// A condition on one message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GmailTest {
    /// The words stand next to each other.
    Says(SearchField, Vec<String>),
    /// A label by its name.
    Label(String),
    /// A tab of the inbox.
    Category(String),
    /// A place: `in:`.
    In(String),
    /// A state: `is:`.
    Is(String),
    /// A property: `has:`.
    Has(String),
    /// More bytes than this.
    Larger(usize),
    /// Fewer bytes than this.
    Smaller(usize),
    /// Came before this time, in milliseconds.
    Before(i64),
    /// Came at this time or later.
    After(i64),
    /// Has this Message-ID.
    MessageId(String),
    /// Cannot be met: the value makes no sense.
    Never,
}

/// Reads a query of the mailbox `me`.
pub(super) fn parse(text: &str, me: &str) -> GmailQuery {
    let mut parser = GmailParser { rest: text, me };
    parser.group(false, "", MAX_DEPTH)
}

/// A query on its way.
struct GmailParser<'a> {
    rest: &'a str,
    me: &'a str,
}

impl<'a> GmailParser<'a> {
    /// Reads up to a closing bracket, or to the end. Words in it belong to the
    /// operator in front of it, if any.
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
            // `OR` binds its two neighbours before the rest are joined.
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

    /// Takes a connective that stands alone.
    fn connective(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest)
                if rest.is_empty()
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

    /// Reads one word, phrase, group or operator; `None` for what says nothing.
    fn operand(&mut self, operator: &str, depth: usize) -> Option<GmailQuery> {
        // As a loop, for nobody says how many signs there are.
        let mut negated = false;
        while let Some(rest) = self.rest.strip_prefix('-') {
            negated = !negated;
            self.rest = rest;
        }
        // A sign belongs to what it touches; one alone says nothing.
        let operand = match self.rest.chars().next()? {
            space if space.is_whitespace() => None,
            _ => self.bare_operand(operator, depth),
        };
        if negated { operand.map(|operand| StoreQuery::Not(Box::new(operand))) } else { operand }
    }

    /// The same, past its signs.
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
                let word = self.word();
                self.test(operator, word)
            }
        }
    }

    /// Reads what an operator applies to: a word, a phrase or a group.
    fn value(&mut self, operator: &str, depth: usize) -> Option<GmailQuery> {
        // People write `from: ana`, and Gmail understands.
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '(' | '"' => self.operand(operator, depth),
            _ => {
                let word = self.word();
                self.test(operator, word)
            }
        }
    }

    /// Reads a phrase up to its closing quote, or to the end.
    fn quoted_phrase(&mut self) -> &'a str {
        self.skip('"');
        let (phrase, rest) = self.rest.split_once('"').unwrap_or((self.rest, ""));
        self.rest = rest;
        phrase
    }

    /// Reads up to white space, a bracket or a quote.
    fn word(&mut self) -> &'a str {
        let end = |char: char| char.is_whitespace() || "()\"".contains(char);
        let end = self.rest.find(end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        word
    }

    /// The condition that an operator makes of a value. The operators are
    /// those of [`OPERATORS`].
    fn test(&self, operator: &str, value: &str) -> Option<GmailQuery> {
        let field = match operator {
            "" => Some(SearchField::Anywhere),
            "from" => Some(SearchField::From),
            // Gmail finds copies too.
            "to" => Some(SearchField::Recipients),
            "cc" => Some(SearchField::Cc),
            "bcc" => Some(SearchField::Bcc),
            "subject" => Some(SearchField::Subject),
            "filename" => Some(SearchField::Attachment),
            _ => None,
        };
        if let Some(field) = field {
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
        Some(StoreQuery::Test(test.unwrap_or(GmailTest::Never)))
    }
}

/// The operators, without their colons.
const OPERATORS: [&str; 16] = [
    "from", "to", "cc", "bcc", "subject", "filename", "label", "category", "in", "is", "has",
    "larger", "smaller", "before", "after", "rfc822msgid",
];

/// The operator a text begins with, and what follows its colon.
fn operator_in_front(text: &str) -> Option<(&'static str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let known = OPERATORS.iter().find(|known| known.eq_ignore_ascii_case(name))?;
    Some((known, rest))
}

/// Seconds since 1970, in milliseconds. (A date would mean its midnight in California.)
fn instant(text: &str) -> Option<i64> {
    text.parse::<i64>().ok()?.checked_mul(1_000)
}
