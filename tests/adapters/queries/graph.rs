//! A minimal parser for Graph's two query languages.
//!
//! It is strict: unknown syntax is refused, so unexpected requests fail the test.

use daysheet_core::query::MessagePart;
use jiff::Timestamp;

use super::meaning::{Mail, says};

/// True if `$filter` is OData that can be read.
pub fn reads_odata(filter: &str) -> bool {
    Reader::new(filter, '\'', ["and", "or"]).whole(&|leaf| compares(leaf, None)).is_some()
}

/// True if the mail passes `$filter`.
pub fn filters(filter: &str, mail: &Mail) -> bool {
    Reader::new(filter, '\'', ["and", "or"])
        .whole(&|leaf| compares(leaf, Some(mail)))
        .unwrap_or_else(|| panic!("this is no OData: {filter}"))
}

/// True if `$search` is KQL that can be read.
pub fn reads_kql(search: &str) -> bool {
    is_escaped(search)
        && Reader::new(&unescaped(search), '"', ["AND", "OR"])
            .whole(&|leaf| finds(leaf, None))
            .is_some()
}

/// True if the mail is found by `$search`.
pub fn searches(search: &str, mail: &Mail) -> bool {
    Reader::new(&unescaped(search), '"', ["AND", "OR"])
        .whole(&|leaf| finds(leaf, Some(mail)))
        .unwrap_or_else(|| panic!("this is no KQL: {search}"))
}

/// Returns true if the text contains no quote that would end a quoted text.
pub fn is_escaped(text: &str) -> bool {
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => return false,
            '\\' if !matches!(chars.next(), Some('"' | '\\')) => return false,
            _ => {}
        }
    }
    true
}

fn unescaped(text: &str) -> String {
    text.replace(r#"\""#, "\"").replace(r"\\", r"\")
}

/// Reads AND, OR, NOT and brackets around conditions.
struct Reader {
    tokens: Vec<String>,
    at: usize,
    and: &'static str,
    or: &'static str,
}

/// Evaluates a condition on a mail; `None` if the condition is not understood.
type Leaf<'a> = &'a dyn Fn(&str) -> Option<bool>;

impl Reader {
    /// Cut at spaces and brackets, but for those in quotes.
    fn new(text: &str, quote: char, [and, or]: [&'static str; 2]) -> Self {
        let mut tokens = vec![String::new()];
        let mut quoted = false;
        for char in text.chars() {
            let last = tokens.last_mut().unwrap();
            match char {
                _ if char == quote => {
                    quoted = !quoted;
                    last.push(char);
                }
                '(' | ')' if !quoted => tokens.extend([char.to_string(), String::new()]),
                ' ' if !quoted => tokens.push(String::new()),
                _ => last.push(char),
            }
        }
        tokens.retain(|token| !token.is_empty());
        if quoted {
            tokens.push("a quote is open".to_owned());
        }
        let at = 0;
        Self { tokens, at, and, or }
    }

    fn whole(mut self, leaf: Leaf) -> Option<bool> {
        let met = self.any(leaf)?;
        (self.at == self.tokens.len()).then_some(met)
    }

    fn take(&mut self, token: &str) -> bool {
        let there = self.tokens.get(self.at).is_some_and(|found| found == token);
        self.at += usize::from(there);
        there
    }

    fn any(&mut self, leaf: Leaf) -> Option<bool> {
        let mut met = self.all(leaf)?;
        while self.take(self.or) {
            met |= self.all(leaf)?;
        }
        Some(met)
    }

    fn all(&mut self, leaf: Leaf) -> Option<bool> {
        let mut met = self.one(leaf)?;
        while self.take(self.and) {
            met &= self.one(leaf)?;
        }
        Some(met)
    }

    fn one(&mut self, leaf: Leaf) -> Option<bool> {
        if self.take("NOT") {
            return Some(!self.one(leaf)?);
        }
        if self.take("(") {
            let met = self.any(leaf)?;
            return self.take(")").then_some(met);
        }
        // A condition of OData has three words, with spaces.
        let length = if self.and == "and" { 3 } else { 1 };
        let words = self.tokens.get(self.at..self.at + length)?;
        let met = leaf(&words.join(" "))?;
        self.at += length;
        Some(met)
    }
}

/// A comparison of OData; without a mail, any answer says that it was read.
fn compares(leaf: &str, mail: Option<&Mail>) -> Option<bool> {
    let mut words = leaf.splitn(3, ' ');
    let (property, operator, value) = (words.next()?, words.next()?, words.next()?);
    let text = value
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
        .map(|text| text.replace("''", "'"));
    let equal = match (property, text, value) {
        ("receivedDateTime", None, _) => {
            let (instant, whole) = (value.parse::<Timestamp>().ok()?, value.len() == 20);
            let received = mail.map(Mail::received).unwrap_or_default();
            return match operator {
                "ge" if whole => Some(received >= instant),
                "lt" if whole => Some(received < instant),
                _ => None,
            };
        }
        ("isRead", None, "true" | "false") => mail.map(|mail| mail.read.to_string() == value),
        ("hasAttachments", None, "true" | "false") => {
            mail.map(|mail| (!mail.files.is_empty()).to_string() == value)
        }
        ("importance", Some(level), _) if level == "high" => mail.map(|mail| mail.important),
        ("flag/flagStatus", Some(status), _) if status == "flagged" => {
            mail.map(|mail| mail.starred)
        }
        ("from/emailAddress/address", Some(address), _) => {
            mail.map(|mail| mail.address().eq_ignore_ascii_case(&address))
        }
        _ => return None,
    };
    match operator {
        "eq" => Some(equal.unwrap_or_default()),
        "ne" => Some(!equal.unwrap_or_default()),
        _ => None,
    }
}

/// A condition of KQL; without a mail, any answer says that it was read.
fn finds(leaf: &str, mail: Option<&Mail>) -> Option<bool> {
    let number = |text: &str| text.parse::<u64>().ok().filter(|size| *size <= 2_147_483_647);
    let day = |text: &str| text.parse::<jiff::civil::Date>().ok();
    let received = |mail: &Mail| mail.received().to_zoned(jiff::tz::TimeZone::UTC).date();
    let met = if let Some(size) = leaf.strip_prefix("size>") {
        let size = number(size)?;
        mail.map(|mail| mail.size > size)
    } else if let Some(size) = leaf.strip_prefix("size<") {
        let size = number(size)?;
        mail.map(|mail| mail.size < size)
    } else if let Some(from) = leaf.strip_prefix("received>=") {
        let from = day(from)?;
        mail.map(|mail| received(mail) >= from)
    } else if let Some(to) = leaf.strip_prefix("received<") {
        let to = day(to)?;
        mail.map(|mail| received(mail) < to)
    } else if leaf == "hasAttachments:true" {
        mail.map(|mail| !mail.files.is_empty())
    } else if leaf == "importance:high" {
        mail.map(|mail| mail.important)
    } else {
        let (property, phrase) = leaf.split_once('"')?;
        let phrase = phrase.strip_suffix('"')?;
        let inert = !phrase.contains(|c: char| c.is_control() || "\"*\\".contains(c));
        if !inert || !phrase.contains(char::is_alphanumeric) {
            return None;
        }
        let parts = match property {
            "" => &[MessagePart::From, MessagePart::Subject, MessagePart::Body][..],
            "from:" => &[MessagePart::From],
            // Graph's own, without the copies.
            "to:" => return Some(mail.is_some_and(|mail| says_any(&mail.to_alone(), phrase))),
            "cc:" => &[MessagePart::Cc],
            "bcc:" => &[MessagePart::Bcc],
            "subject:" => &[MessagePart::Subject],
            "body:" => &[MessagePart::Body],
            "attachment:" => &[MessagePart::Filename],
            _ => return None,
        };
        mail.map(|mail| parts.iter().any(|part| says_any(&mail.texts(*part), phrase)))
    };
    Some(met.unwrap_or_default())
}

fn says_any(texts: &[&str], phrase: &str) -> bool {
    texts.iter().any(|text| says(text, phrase))
}
