//! Parsing of names and addresses in `From`, `To` and `Cc`.
//!
//! A tolerant reader of RFC 5322 address lists: it accepts groups, quoted names, comments, encoded
//! words, folded lines, and the malformed lists of real mail. It reads each character once and does
//! not check that an address could receive mail.

use std::fmt;

use super::encoded::header;
use super::line::cell;

/// A mail address with its name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MailAddress {
    /// The display name, clean and on one line.
    pub name: Option<String>,
    /// The address; empty if the header gave only a name.
    pub email: String,
}

impl MailAddress {
    /// Creates an address with its name cleaned: one line, no enclosing quotes, no angle brackets
    /// that could pass for an address, and no name at all if it only repeats the address.
    pub fn new(name: Option<&str>, email: &str) -> Self {
        let email = cell(email);
        // Only a quoted local part may have spaces (RFC 5322, 3.4.1).
        let quoted = email.starts_with('"');
        let email: String =
            email.chars().filter(|c| !matches!(c, '<' | '>') && (quoted || *c != ' ')).collect();
        let name = name
            .map(clean_name)
            .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(&email));
        Self { name, email }
    }
}

impl fmt::Display for MailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, self.email.is_empty()) {
            (Some(name), false) => write!(f, "{name} <{}>", self.email),
            (Some(name), true) => f.write_str(name),
            (None, _) => f.write_str(&self.email),
        }
    }
}

/// Cleans a name so that it can be written before `<address>`.
fn clean_name(raw: &str) -> String {
    let decoded = header(raw);
    let bare: String = decoded.chars().filter(|c| !matches!(c, '<' | '>')).collect();
    let mut name = cell(&bare);
    for quote in ['"', '\''] {
        let inner = name.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            name = inner.trim().to_owned();
        }
    }
    name
}

/// Returns all addresses of a header, in order, including members of groups.
pub fn address_list(s: &str) -> Vec<MailAddress> {
    let mut reader = AddressReader::default();
    let mut rest = s;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        rest = reader.read_piece(c, rest);
    }
    reader.finish();
    reader.done
}

/// The parts of the current address read so far.
#[derive(Default)]
struct AddressReader {
    done: Vec<MailAddress>,
    phrase: String,
    comment: String,
    angle: Option<String>,
    /// Signs whose closing counterpart is missing in the rest of the list.
    unclosed: Vec<BracketSign>,
}

/// A sign that needs a closing counterpart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BracketSign {
    Quote,
    Paren,
    Angle,
    Group,
}

impl AddressReader {
    /// Reads `c` and the following text that belongs to it; returns the rest.
    fn read_piece<'a>(&mut self, c: char, rest: &'a str) -> &'a str {
        match c {
            '"' => {
                if let Some((text, after)) = self.once(BracketSign::Quote, || quoted_string(rest)) {
                    if after.starts_with('@') {
                        // The local part of an address without angle brackets.
                        let end = after.find([',', ';', '(', ' ', '\t', '\r', '\n']);
                        let (domain, after) = after.split_at(end.unwrap_or(after.len()));
                        self.angle = Some(format!("\"{text}\"{domain}"));
                        return after;
                    }
                    self.phrase.push_str(&text);
                    return after;
                }
            }
            '(' => {
                if let Some((text, after)) = self.once(BracketSign::Paren, || comment(rest)) {
                    // After a name, a comment is read as a part of the name, because services that
                    // decode names do not always quote the decoded text.
                    if after.trim_start().starts_with('<') && !self.phrase.trim().is_empty() {
                        self.phrase.push_str(&format!("({text})"));
                    } else {
                        self.comment.push_str(text);
                    }
                    return after;
                }
            }
            '<' => {
                let closed = self.once(BracketSign::Angle, || rest.split_once('>'));
                let Some((text, after)) = closed else {
                    self.phrase.push(' ');
                    return rest;
                };
                // The last bracket wins, as in mail programs; an earlier one was part of an
                // unquoted name.
                if let Some(earlier) = self.angle.replace(text.to_owned()) {
                    self.phrase.push_str(&earlier);
                }
                return after;
            }
            '=' if rest.starts_with('?') => {
                // An encoded word is read as a whole, because its text may contain commas.
                let (word, after) = encoded_word(rest);
                self.phrase.push('=');
                self.phrase.push_str(word);
                return after;
            }
            '\\' => {}
            ',' | ';' => self.finish(),
            // The name of a group; outside brackets, an address has no colon. Without the end of a
            // group, it is part of a name that was encoded.
            ':' if self.angle.is_none()
                && !self.phrase.contains('@')
                && self.once(BracketSign::Group, || rest.find(';')).is_some() =>
            {
                self.phrase.clear();
                self.comment.clear();
            }
            c => self.phrase.push(c),
        }
        rest
    }

    /// Returns the result of `search` for an opening sign. A search that reached the end of the
    /// text is not repeated for further signs, which are then ignored.
    fn once<T>(&mut self, mark: BracketSign, search: impl FnOnce() -> Option<T>) -> Option<T> {
        if self.unclosed.contains(&mark) {
            return None;
        }
        let found = search();
        if found.is_none() {
            self.unclosed.push(mark);
        }
        found
    }

    /// Ends the current address.
    fn finish(&mut self) {
        let phrase = std::mem::take(&mut self.phrase);
        let comment = std::mem::take(&mut self.comment);
        let (name, email) = match self.angle.take() {
            Some(email) => (phrase, email),
            None => bare(&phrase),
        };
        let name = if name.trim().is_empty() { comment } else { name };
        let next = MailAddress::new(Some(&name), &email);
        if next.email.is_empty() && next.name.is_none() {
            return;
        }
        // An address is required, so a name without one was cut off by a
        // comma that should have been quoted: `Doe, Jane <jane@x.org>`.
        if let (Some(first), Some(name)) = (self.done.last_mut(), &next.name)
            && first.email.is_empty()
            && !next.email.is_empty()
        {
            let whole = format!("{}, {name}", first.name.as_deref().unwrap_or_default());
            *first = MailAddress::new(Some(&whole), &next.email);
            return;
        }
        self.done.push(next);
    }
}

/// Returns the unescaped text up to the closing quote, and the text after it.
fn quoted_string(rest: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            '"' if !escaped => return Some((text, rest.get(at + 1..)?)),
            '\\' if !escaped => escaped = true,
            c => {
                text.push(c);
                escaped = false;
            }
        }
    }
    None
}

/// Returns the text up to the closing parenthesis, nested ones included, and the text after it.
fn comment(rest: &str) -> Option<(&str, &str)> {
    let mut depth = 1_usize;
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((rest.get(..at)?, rest.get(at + 1..)?));
        }
    }
    None
}

/// Returns the rest of an encoded word, after its `=`, and the text after it. A word may have 75
/// characters (RFC 2047, 2); a few more are allowed.
fn encoded_word(rest: &str) -> (&str, &str) {
    let mut marks = 0;
    for (at, c) in rest.char_indices().take(200) {
        match c {
            '?' => marks += 1,
            '=' if marks == 4 && rest.get(..at).is_some_and(|r| r.ends_with('?')) => {
                return rest.split_at(at + 1);
            }
            ' ' | '\t' | '\r' | '\n' => break,
            _ => {}
        }
    }
    ("", rest)
}

/// Parses an address without angle brackets: it is the word with the `@`, and the other words are
/// its name.
fn bare(phrase: &str) -> (String, String) {
    let phrase = phrase.trim();
    let is_address = |word: &&str| word.contains('@');
    match phrase.split_whitespace().find(is_address) {
        Some(email) => {
            let name: Vec<&str> = phrase.split_whitespace().filter(|word| *word != email).collect();
            (name.join(" "), email.to_owned())
        }
        None => (phrase.to_owned(), String::new()),
    }
}

/// Returns the letters and digits of an address before the @, in lower case and without a tag after
/// a plus sign.
pub fn plain_local(email: &str) -> String {
    let local = email.split(['@', '+']).next().unwrap_or_default();
    local.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns true for an address that no person reads, such as a `noreply` or `postmaster` address.
pub fn is_machine(email: &str) -> bool {
    let local = plain_local(email);
    local.contains("noreply")
        || local.contains("donotreply")
        || matches!(local.as_str(), "mailerdaemon" | "postmaster")
}
