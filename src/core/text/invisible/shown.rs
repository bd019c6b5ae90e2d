//! The last check of a text before it leaves the program, for a model or a terminal.
//!
//! All text passes through here, even if it has been cleaned before, so that no path can skip the
//! cleaning. Clean text is returned unchanged.

use std::borrow::Cow;

use super::strip::{is_invisible, visible, written_out};
use crate::text::fence::MARKS;
use crate::text::line::cell;

/// The kinds of text, which differ in the characters that they may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// One line: a cell, a value.
    Cell,
    /// Several lines: a body, a document, output on a terminal.
    Lines,
    /// The source of a message, in which removed characters are written out.
    Source,
}

/// Removes the characters of a text that are not displayed, end a line unseen or control a
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

/// Returns true for a character that is removed regardless of its neighbours.
fn is_odd(c: char, kind: TextKind) -> bool {
    let is_line = kind != TextKind::Cell && matches!(c, '\n' | '\t');
    (c.is_control() && !is_line) || is_separator(c) || MARKS.contains(&c)
}

/// Returns true for Unicode's own line and paragraph separators.
const fn is_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

fn lines(text: &str) -> String {
    let seen = visible(text);
    let mut out = String::with_capacity(seen.len());
    let mut rest = seen.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            // Lines of iCalendar end with both characters.
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
