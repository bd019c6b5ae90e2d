//! The last look at a text before it leaves the program, for a model or a terminal.
//!
//! Everything shown passes here, whatever it passed before, so that no way of a text can
//! forget to be cleaned. A text that is clean already is returned unchanged.

use std::borrow::Cow;

use super::{is_invisible, visible, written_out};
use crate::text::cell;
use crate::text::fence::MARKS;

/// The kinds of texts, which differ in what may be in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// One line: a cell, a value.
    Cell,
    /// Several lines: a body, a document, output on a terminal.
    Lines,
    /// The source of a message, in which the characters that go are written out.
    Source,
}

/// Returns a text without the characters that show nothing, end a line unseen or control a
/// terminal.
pub fn shown(text: &str, kind: TextKind) -> Cow<'_, str> {
    if !text.chars().any(|c| is_invisible(c) || is_odd(c, kind)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(match kind {
        TextKind::Cell => cell(text),
        TextKind::Lines => lines(text),
        TextKind::Source => source(text),
    })
}

/// Returns true for a character that goes, whatever its neighbours are.
fn is_odd(c: char, kind: TextKind) -> bool {
    let is_line = kind != TextKind::Cell && matches!(c, '\n' | '\t');
    (c.is_control() && !is_line) || is_separator(c) || MARKS.contains(&c)
}

/// Returns true for Unicode's own ends of lines and paragraphs.
const fn is_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

fn lines(text: &str) -> String {
    let seen = visible(text);
    let mut out = String::with_capacity(seen.len());
    let mut rest = seen.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            // Lines of iCalendar end with both.
            '\r' if rest.peek() == Some(&'\n') => out.push(c),
            '\r' => out.push('\n'),
            c if is_separator(c) => out.push('\n'),
            c if is_odd(c, TextKind::Lines) => {}
            c => out.push(c),
        }
    }
    out
}

fn source(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in written_out(&text.replace("\r\n", "\n")).chars() {
        if is_odd(c, TextKind::Source) {
            out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}
