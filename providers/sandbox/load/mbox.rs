//! Messages from an mbox file (RFC 4155, with mboxrd's quoting undone).
//!
//! A separator is a `From ` line with a time and a year, at the start of the file or after an empty
//! line. Exporters differ in what they quote, and a sentence may begin with "From ".

use std::io::{self, BufRead};

use mail_parser::DateTime;

/// A message and the time in its separator.
#[derive(Debug)]
pub(super) struct MboxMessage {
    /// The message's bytes.
    pub bytes: Vec<u8>,
    /// The time in the separator, in seconds since 1970.
    pub time: Option<i64>,
}

impl MboxMessage {
    /// Removes the empty line that the format adds after every message.
    fn trim_end(mut self) -> Self {
        let line_end = match self.bytes.as_slice() {
            [.., b'\n', b'\r', b'\n'] => 2,
            [.., b'\n', b'\n'] => 1,
            _ => 0,
        };
        self.bytes.truncate(self.bytes.len() - line_end);
        self
    }
}

/// Reads an mbox and passes its messages to `each`.
///
/// Bytes of a message beyond `limit` are dropped, so that one file cannot fill the memory. Such a
/// message is returned one byte longer than the limit.
pub(super) fn read(
    mut file: impl BufRead,
    limit: usize,
    mut each: impl FnMut(MboxMessage),
) -> io::Result<()> {
    let mut message: Option<MboxMessage> = None;
    let mut after_empty = true;
    let mut line = Vec::new();
    loop {
        line.clear();
        if file.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let text = line.trim_ascii_end();
        if after_empty && is_separator(text) {
            let next = MboxMessage { bytes: Vec::new(), time: time(text) };
            if let Some(done) = message.replace(next) {
                each(done.trim_end());
            }
        } else if let Some(message) = &mut message {
            // mboxrd: one `>` was added to lines that begin with any number of them before `From `.
            let quoted = line.starts_with(b">") && is_quoted(&line);
            let line = if quoted { line.get(1..).unwrap_or_default() } else { &line };
            // One byte more than the limit, so that the caller can refuse the message as too large.
            let room = (limit + 1).saturating_sub(message.bytes.len());
            message.bytes.extend_from_slice(line.get(..room).unwrap_or(line));
        }
        after_empty = text.is_empty();
    }
    if let Some(done) = message {
        each(done.trim_end());
    }
    Ok(())
}

/// Returns true for a line that separates two messages.
fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else {
        return false;
    };
    let year = |word: &[u8]| word.len() == 4 && word.iter().all(u8::is_ascii_digit);
    let clock = |word: &[u8]| {
        let digit = |at: usize| word.get(at).is_some_and(u8::is_ascii_digit);
        digit(0) && digit(1) && word.get(2) == Some(&b':') && digit(3)
    };
    let mut words = rest.split(u8::is_ascii_whitespace);
    words.clone().any(clock) && words.any(year)
}

/// Returns true for `From ` after any number of `>`.
fn is_quoted(line: &[u8]) -> bool {
    let signs = line.iter().take_while(|byte| **byte == b'>').count();
    line.get(signs..).is_some_and(|rest| rest.starts_with(b"From "))
}

/// Reads the time of `From x Tue Mar  3 18:05:00 [+0000] 2026`.
fn time(line: &[u8]) -> Option<i64> {
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace().skip(2);
    let (_weekday, month, day, clock) =
        (words.next()?, words.next()?, words.next()?, words.next()?);
    // The zone is optional and may precede or follow the year.
    let last: Vec<&str> = words.collect();
    let year = last.iter().find(|word| word.len() == 4 && word.parse::<u16>().is_ok())?;
    let zone = last.iter().find(|word| word.starts_with(['+', '-'])).unwrap_or(&"+0000");
    let date = DateTime::parse_rfc822(&format!("{day} {month} {year} {clock} {zone}\n"))?;
    date.is_valid().then(|| date.to_timestamp())
}
