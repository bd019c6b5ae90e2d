//! A page of an output: the requested lines, as far as they fit.
//!
//! Pages follow one another, and together are the whole text. No I/O; lines are those of
//! [`wrapped`].

use std::borrow::Cow;

use daysheet_core::budget::count::Tokenizer;
use daysheet_core::budget::fit::CEILING;
use daysheet_core::error::{Error, Result};
use daysheet_core::text::{LINE, wrapped};
use daysheet_core::text::{Note, counted, note, ours};

/// The requested lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// The first line, from 1.
    pub offset: usize,
    /// The maximum number of lines.
    pub limit: usize,
    /// The maximum number of tokens of the lines. The first line is shown even if it exceeds them.
    pub tokens: usize,
    /// The tokenizer for counting tokens.
    pub tokenizer: Tokenizer,
    /// True if the lines are written as a field of JSON, with its escapes.
    pub fields: bool,
}

/// The lines to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputPage {
    /// The total number of lines.
    pub lines: usize,
    /// The numbers of the first and the last line shown, if any.
    pub shown: Option<(usize, usize)>,
    /// The line to continue at, if there are more.
    pub next: Option<usize>,
    /// The lines, without the final line end.
    pub text: String,
    /// Notes about the lines.
    pub notes: Vec<Note>,
}

/// Returns the requested lines of `text`, unchanged.
///
/// # Errors
/// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) for an offset beyond the last
/// line.
pub fn page(text: &str, ask: PageRequest) -> Result<OutputPage> {
    let lines = wrapped(text, LINE);
    check(&lines, ask.offset)?;
    let before = ask.offset.saturating_sub(1);
    let mut room = RemainingRoom::new(ask);
    let mut out = String::new();
    let mut shown = 0;
    for line in lines.iter().skip(before) {
        if !room.takes(line) {
            break;
        }
        out.push_str(line);
        shown += 1;
    }
    // Pieces of one line may take more tokens together than separately.
    while shown > 1 && !ask.fields && ask.tokenizer.count(out.trim_end_matches('\n')) > ask.tokens {
        let piece = lines.get(before + shown - 1).map_or(0, |line| line.len());
        out.truncate(out.len() - piece);
        shown -= 1;
    }
    let (total, last) = (lines.len(), before + shown);
    if shown == 0 {
        return Ok(OutputPage {
            notes: vec!["the output is empty".into()],
            ..OutputPage::default()
        });
    }
    let next = (last < total).then_some(last + 1);
    let mut count = format!("lines {} to {last} of {total}", ask.offset);
    if let Some(next) = next {
        count.push_str(&format!("; offset={next} has more"));
    }
    let mut notes = vec![note!("{}", ours(count))];
    let is_open = |at: usize| lines.get(at).is_some_and(|line| goes_on(line, at, total));
    let first_is_rest = before > 0 && is_open(before - 1);
    if first_is_rest || (before..last).any(is_open) {
        let mut note = LONG_LINES.to_owned();
        if first_is_rest {
            note.push_str("; the first here is a continuation");
        }
        if next.is_some() && is_open(last - 1) {
            note.push_str("; the last here continues");
        }
        notes.push(note!("{}", ours(note)));
    }
    if out.ends_with('\n') {
        out.pop();
    }
    Ok(OutputPage { lines: total, shown: Some((ask.offset, last)), next, text: out, notes })
}

/// The note about wrapped lines.
pub(super) const LONG_LINES: &str = "a line of more than 500 characters counts as several";

/// Returns true if the line at `at` continues on the next one.
pub(super) fn goes_on(line: &str, at: usize, total: usize) -> bool {
    at + 1 < total && !line.ends_with('\n')
}

/// Refuses an offset beyond the last line.
pub(super) fn check(lines: &[&str], offset: usize) -> Result<()> {
    let total = lines.len().max(1);
    if offset <= total {
        Ok(())
    } else {
        Err(Error::argument(format!(
            "the output has {}, but `offset` is {offset}",
            counted(total, "line", "lines")
        ))
        .next(format!("give an offset from 1 to {total}")))
    }
}

/// The remaining lines, tokens and bytes of a page.
pub(super) struct RemainingRoom {
    ask: PageRequest,
    lines: usize,
    tokens: usize,
    bytes: usize,
}

/// The maximum size of a page in bytes: an answer's maximum, less the space for text around the
/// lines.
const MAX_BYTES: usize = CEILING - 4 * 1024;

impl RemainingRoom {
    pub(super) fn new(ask: PageRequest) -> Self {
        Self { ask, lines: 0, tokens: 0, bytes: 0 }
    }

    /// Returns true if a line still fits, and counts it. The first line always fits.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        if self.lines > 0 && self.lines >= self.ask.limit {
            return false;
        }
        let written = if self.ask.fields {
            Cow::Owned(serde_json::Value::from(line).to_string())
        } else {
            Cow::Borrowed(line)
        };
        self.tokens += self.ask.tokenizer.count(&written);
        self.bytes += written.len();
        let fits = self.lines == 0 || self.tokens <= self.ask.tokens && self.bytes <= MAX_BYTES;
        self.lines += usize::from(fits);
        fits
    }
}
