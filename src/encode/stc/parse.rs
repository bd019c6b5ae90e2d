//! STC read back, strictly: every text that is not of the grammar in
//! `docs/stc.md` is refused with the place where it goes wrong, and every
//! count that a text declares is checked.
//!
//! A line may be broken wherever the grammar has a blank, for people who write
//! or look at it. What is read is of [`MAX_DEPTH`](super::scan::MAX_DEPTH)
//! levels at most. A table says its keys once and every row of the value has
//! them, so a value may be far larger than its text.

use super::scan::{self, ParseError, Scanner, Wrong};
use super::value::Json;
use super::write::{ends_plain, identifier, is_plain};

/// The value of an STC text.
///
/// # Errors
/// What is not STC, and where.
pub fn parse(text: &str) -> Result<Json, ParseError> {
    placed(text).map(|placed| placed.value)
}

/// A value, and where its parts stand in the text, as bytes from 0.
#[derive(Debug)]
pub struct Placed {
    /// The value.
    pub value: Json,
    /// The keys of the object at the root, in order; none if it has braces.
    pub keys: Vec<usize>,
    /// The primitives of the value, in order.
    pub primitives: Vec<usize>,
}

/// The value of an STC text, and where its parts stand.
///
/// # Errors
/// What is not STC, and where.
pub fn placed(text: &str) -> Result<Placed, ParseError> {
    let mut parser = Parser {
        scanner: Scanner::new(text),
        keys: Vec::new(),
        primitives: Vec::new(),
    };
    let value = parser.root()?;
    parser.scanner.end()?;
    Ok(Placed {
        value,
        keys: parser.keys,
        primitives: parser.primitives,
    })
}

type Result<T, E = ParseError> = std::result::Result<T, E>;

struct Parser<'a> {
    scanner: Scanner<'a>,
    keys: Vec<usize>,
    primitives: Vec<usize>,
}

impl Parser<'_> {
    /// Members without braces if a key is there, otherwise one value.
    fn root(&mut self) -> Result<Json> {
        let start = self.scanner.at;
        let keyed = self.key().is_ok() && matches!(self.scanner.peek(), Some(b':' | b'['));
        self.scanner.at = start;
        if !keyed {
            return self.value();
        }
        self.scanner.enter()?;
        let mut members = Vec::new();
        loop {
            self.keys.push(self.scanner.at);
            members.push(self.member()?);
            if self.scanner.peek().is_none() {
                return Ok(Json::Object(members));
            }
            self.comma("`, ` and a key, or the end of the text")?;
        }
    }

    fn value(&mut self) -> Result<Json> {
        match self.scanner.peek() {
            Some(b'[') if self.is_counted() => self.counted(),
            _ => self.uncounted(),
        }
    }

    fn uncounted(&mut self) -> Result<Json> {
        match self.scanner.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.items(),
            _ => self.primitive(),
        }
    }

    /// A key with what belongs to it.
    fn member(&mut self) -> Result<(String, Json)> {
        let key = self.key()?;
        let value = if self.scanner.peek() == Some(b'[') {
            self.counted()?
        } else {
            self.scanner.need(b':', "`:` or `[` behind the key")?;
            self.blank()?;
            self.uncounted()?
        };
        Ok((key, value))
    }

    fn object(&mut self) -> Result<Json> {
        self.scanner.enter()?;
        self.scanner.need(b'{', "an object")?;
        let mut members = Vec::new();
        if !self.scanner.eat(b'}') {
            loop {
                members.push(self.member()?);
                if self.scanner.eat(b'}') {
                    break;
                }
                self.comma("`, ` or `}`")?;
            }
        }
        self.scanner.leave();
        Ok(Json::Object(members))
    }

    fn items(&mut self) -> Result<Json> {
        self.scanner.enter()?;
        self.scanner.need(b'[', "a list")?;
        let mut items = Vec::new();
        if !self.scanner.eat(b']') {
            loop {
                items.push(self.value()?);
                if self.scanner.eat(b']') {
                    break;
                }
                self.comma("`, ` or `]`")?;
            }
        }
        self.scanner.leave();
        Ok(Json::List(items))
    }

    /// True before `[n]:` and `[n]{`, which no list in brackets begins with.
    fn is_counted(&self) -> bool {
        let rest = self.scanner.rest().strip_prefix('[').unwrap_or_default();
        let after = rest.trim_start_matches(|char: char| char.is_ascii_digit());
        after.len() < rest.len() && (after.starts_with("]:") || after.starts_with("]{"))
    }

    /// `[n]:` and primitives, or `[n]{a,b}:` and rows.
    fn counted(&mut self) -> Result<Json> {
        self.scanner.enter()?;
        self.scanner.need(b'[', "a count in brackets")?;
        let start = self.scanner.at;
        let count = self.count()?;
        self.scanner.need(b']', "`]`")?;
        let value = if self.scanner.eat(b'{') {
            if count == 0 {
                // A table without rows is a list without items.
                return self.scanner.fail_at(start, Wrong::Count);
            }
            self.scanner.enter()?;
            let rows = self.table(count)?;
            self.scanner.leave();
            rows
        } else {
            self.scanner.need(b':', "`:` or `{`")?;
            self.list(count)?
        };
        self.scanner.leave();
        Ok(Json::List(value))
    }

    fn count(&mut self) -> Result<usize> {
        let rest = self.scanner.rest();
        let left = rest.trim_start_matches(|char: char| char.is_ascii_digit());
        let digits = rest
            .get(..rest.len() - left.len())
            .filter(|digits| *digits == "0" || !digits.starts_with('0'));
        match digits.and_then(|digits| Some((digits, digits.parse().ok()?))) {
            Some((digits, count)) => {
                self.scanner.at += digits.len();
                Ok(count)
            }
            None => self.scanner.fail(Wrong::Count),
        }
    }

    fn list(&mut self, declared: usize) -> Result<Vec<Json>> {
        let mut items = Vec::new();
        while items.len() < declared {
            if items.is_empty() {
                self.blank()?;
            } else if !self.another("items", declared, items.len())? {
                break;
            }
            items.push(self.primitive()?);
        }
        self.no_more("items", declared)?;
        Ok(items)
    }

    fn table(&mut self, declared: usize) -> Result<Vec<Json>> {
        let mut keys = Vec::new();
        loop {
            keys.push(self.key()?);
            if self.scanner.eat(b'}') {
                break;
            }
            self.scanner.need(b',', "`,` or `}`")?;
        }
        self.scanner.need(b':', "`:`")?;
        self.blank()?;
        let mut rows = Vec::new();
        while rows.len() < declared {
            if !rows.is_empty() && !self.another_row() {
                return self.scanner.fail(Wrong::TooFew {
                    what: "rows",
                    declared,
                    found: rows.len(),
                });
            }
            let mut cells = Vec::with_capacity(keys.len());
            for key in &keys {
                if !cells.is_empty() {
                    self.another("cells", keys.len(), cells.len())?;
                }
                cells.push((key.clone(), self.primitive()?));
            }
            self.no_more("cells", keys.len())?;
            rows.push(Json::Object(cells));
        }
        let end = self.scanner.at;
        if self.another_row() {
            let wrong = Wrong::TooMany {
                what: "rows",
                declared,
            };
            return self.scanner.fail_at(end, wrong);
        }
        Ok(rows)
    }

    /// Passes what stands between rows, if it is there.
    fn another_row(&mut self) -> bool {
        let start = self.scanner.at;
        let there = self.scanner.blank() && self.scanner.eat(b'/') && self.scanner.blank();
        if !there {
            self.scanner.at = start;
        }
        there
    }

    /// Passes the comma before the next of several primitives.
    fn another(&mut self, what: &'static str, declared: usize, found: usize) -> Result<bool> {
        if !self.is_tight_comma() {
            return self.scanner.fail(Wrong::TooFew {
                what,
                declared,
                found,
            });
        }
        Ok(self.scanner.eat(b','))
    }

    fn no_more(&self, what: &'static str, declared: usize) -> Result<()> {
        match self.is_tight_comma() {
            true => self.scanner.fail(Wrong::TooMany { what, declared }),
            false => Ok(()),
        }
    }

    /// True before a comma without a blank, which stands between primitives;
    /// members and items have a blank behind it.
    fn is_tight_comma(&self) -> bool {
        let rest = self.scanner.rest();
        rest.strip_prefix(',')
            .is_some_and(|rest| !rest.starts_with([' ', '\t', '\n', '\r']))
    }

    fn comma(&mut self, what: &'static str) -> Result<()> {
        self.scanner.need(b',', what)?;
        self.blank()
    }

    fn blank(&mut self) -> Result<()> {
        match self.scanner.blank() {
            true => Ok(()),
            false => self.scanner.fail(Wrong::Expected("a blank")),
        }
    }

    fn key(&mut self) -> Result<String> {
        if self.scanner.peek() == Some(b'"') {
            return self.scanner.string();
        }
        let rest = self.scanner.rest();
        match rest.get(..identifier(rest)) {
            Some(name) if !name.is_empty() => {
                self.scanner.at += name.len();
                Ok(name.to_owned())
            }
            _ => self.scanner.fail(Wrong::Expected("a key")),
        }
    }

    fn primitive(&mut self) -> Result<Json> {
        let start = self.scanner.at;
        self.primitives.push(start);
        if self.scanner.peek() == Some(b'"') {
            return Ok(Json::Text(self.scanner.string()?));
        }
        let rest = self.scanner.rest();
        let (run, next) = match rest.find(ends_plain) {
            Some(end) => rest.split_at_checked(end).unwrap_or((rest, "")),
            None => (rest, ""),
        };
        let word = run.trim_end_matches(' ');
        if word.is_empty() {
            return self.scanner.fail(Wrong::Expected("a value"));
        }
        self.scanner.at += word.len();
        let value = match word {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            word if scan::number(word.as_bytes()) == Some(word.len()) => {
                Json::Number(word.to_owned())
            }
            word if scan::looks_like_number(word) => {
                return self.scanner.fail_at(start, Wrong::NotANumber);
            }
            word if is_plain(word) => Json::Text(word.to_owned()),
            _ => return self.scanner.fail_at(start, Wrong::Unquoted),
        };
        // A slash with a blank before it stands between rows.
        if next.starts_with([':', '[', '{', '"', '\\']) || (next.starts_with('/') && word == run) {
            return self.scanner.fail_at(start, Wrong::Unquoted);
        }
        Ok(value)
    }
}
