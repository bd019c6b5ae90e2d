//! Clean lines of bounded length.
//!
//! [`cell`] makes one line of any text, [`lines`] several; [`clip`] and [`clip_start`] shorten a line
//! to a number of columns. [`wrapped`] splits a text into lines, so that every part of it has a
//! number. The numbers are stable: the beginning of a text has the same lines in every continuation,
//! so a number means the same line in a text and in its beginning.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::fence::MARKS;
use super::invisible::strip::visible;

/// Maximum number of characters in a line of an output.
pub const LINE: usize = 500;

/// Number of characters that [`clip`] searches backwards for the end of a word.
const WORD_REACH: usize = 16;

/// Maximum length of a run of spaces and tabs that [`lines`] keeps: a longer one is not layout.
const MAX_RUN: usize = 200;

/// Returns one clean line: without invisible characters and our marks, with each run of white space
/// and control characters as one space, and none at the ends.
pub fn cell(s: &str) -> String {
    let seen = visible(s);
    let mut out = String::with_capacity(seen.len());
    let mut space = false;
    for c in seen.chars() {
        if MARKS.contains(&c) {
            continue;
        }
        if is_blank(c) || c.is_control() {
            space = !out.is_empty();
            continue;
        }
        if space {
            out.push(' ');
            space = false;
        }
        out.push(c);
    }
    out
}

/// Returns a name for comparison: one clean line in lower case, without accents.
pub fn folded(name: &str) -> String {
    cell(&name.to_lowercase().nfd().filter(|c| !is_combining_mark(*c)).collect::<String>())
}

/// Shortens `s` to at most `most` columns; the flag is true if it was cut.
///
/// A character takes one column, or two if it has double width: a Chinese or Japanese character
/// says, and costs, as much as several letters. The cut falls between graphemes, at the end of a
/// word if one is near, and is marked with `…`, which counts as one of the columns.
pub fn clip(s: String, most: usize) -> (String, bool) {
    // No character takes more columns than it has bytes.
    if s.len() <= most {
        return (s, false);
    }
    let Some(room) = most.checked_sub(1) else {
        return (String::new(), true);
    };
    // Only the part that can be shown is examined, plus the character after it, which tells whether
    // the last grapheme is whole.
    let end = byte_of(&s, most.saturating_add(1));
    let shown = s.get(..end).unwrap_or_default();
    let (mut head_len, mut width, mut all) = (0, 0, end == s.len());
    for grapheme in shown.graphemes(true) {
        width += columns(grapheme);
        all &= width <= most;
        if width <= room {
            head_len += grapheme.len();
        }
    }
    if all {
        return (s, false);
    }
    if head_len == 0 {
        // One grapheme is longer than the whole room.
        let mut width = 0;
        let fitting = shown.char_indices().take_while(|(at, c)| {
            width += columns(shown.get(*at..at + c.len_utf8()).unwrap_or_default());
            width <= room
        });
        head_len = fitting.last().map_or(0, |(at, c)| at + c.len_utf8());
    }
    let head = s.get(..head_len).unwrap_or_default();
    let rest = s.get(head_len..).unwrap_or_default();
    let head = if rest.starts_with(is_blank) { head } else { whole_words(head) };
    (format!("{}…", head.trim_end()), true)
}

/// Returns the number of columns of a text, as [`clip`] counts them.
pub fn width(s: &str) -> usize {
    if s.is_ascii() { s.len() } else { s.graphemes(true).map(columns).sum() }
}

/// Returns the end of `s`, with a `…` before it, in at most `most` columns.
pub fn clip_start(s: &str, most: usize) -> String {
    let mut width = 1;
    let fitting = s.grapheme_indices(true).rev().take_while(|(_, grapheme)| {
        width += columns(grapheme);
        width <= most
    });
    let from = fitting.last().map_or(s.len(), |(at, _)| at);
    format!("…{}", s.get(from..).unwrap_or_default())
}

/// Returns the number of columns of a grapheme: at least one for each of its
/// characters, so that stacked combining marks are not free.
pub(super) fn columns(grapheme: &str) -> usize {
    grapheme.width().max(grapheme.chars().count())
}

/// Returns `head` without a word that was cut in two, if that costs little.
fn whole_words(head: &str) -> &str {
    match head.rfind(is_blank) {
        Some(at) => {
            let (words, cut) = head.split_at(at);
            let near = cut.chars().nth(WORD_REACH).is_none();
            if near && words.len() >= cut.len() { words } else { head }
        }
        None => head,
    }
}

/// Returns the byte at which the character number `index` begins, or the end of `s`.
fn byte_of(s: &str, index: usize) -> usize {
    s.char_indices().nth(index).map_or(s.len(), |(at, _)| at)
}

/// Returns true for white space, and for the braille blank, which only looks like it.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{2800}'
}

/// Cleans text of several lines: invisible and control characters removed, all line ends `\n`, no
/// white space at line ends, runs of blank lines reduced to one, no blank line at either end.
/// Spaces and tabs within lines stay, as code, diffs and tables have them; other white space
/// becomes a space.
pub fn lines(s: &str) -> String {
    let seen = visible(s);
    let mut out = String::with_capacity(seen.len());
    let mut blank = false;
    let unified = seen.replace("\r\n", "\n");
    for line in unified.split(['\n', '\r', '\u{2028}', '\u{2029}']) {
        let before = out.len();
        if !out.is_empty() {
            out.push_str(if blank { "\n\n" } else { "\n" });
        }
        if push_line(&mut out, line) {
            blank = false;
        } else {
            out.truncate(before);
            blank = true;
        }
    }
    out
}

/// Cuts a text of more than `most` bytes. One character more is kept, so that the text is still
/// recognised as too long.
pub fn truncate(text: &mut String, most: usize) {
    let end = text.ceil_char_boundary(most.saturating_add(1));
    if end < text.len() {
        text.truncate(end);
        text.shrink_to_fit();
    }
}

/// Appends one line without the white space at its end; returns false if it is blank.
fn push_line(out: &mut String, line: &str) -> bool {
    let mut any = false;
    let mut run = String::new();
    for c in line.chars() {
        if c == '\t' || is_blank(c) {
            if run.len() < MAX_RUN {
                run.push(if c == '\t' { c } else { ' ' });
            }
        } else if !c.is_control() {
            out.push_str(&run);
            run.clear();
            any = true;
            out.push(c);
        }
    }
    any
}

/// Splits `text` into lines; the caller numbers them from 1.
///
/// The lines are slices that add up to the text, each with the `\n` that ends it. A line of more
/// than `most` characters (without the `\n`) becomes several slices; a slice without a `\n` is
/// continued by the next one, or ends the text. A line is cut after the last blank in the second
/// half of the part that fits, or else at the limit. The empty text has no lines.
pub fn wrapped(text: &str, most: usize) -> Vec<&str> {
    let most = most.max(1);
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some((piece, left)) = split_at_width(rest, most) {
            lines.push(piece);
            rest = left;
        }
        lines.push(rest);
    }
    lines
}

/// Returns the first piece of a line that is too long, and the rest.
fn split_at_width(line: &str, most: usize) -> Option<(&str, &str)> {
    let inner = line.strip_suffix('\n').unwrap_or(line);
    // No line has more characters than bytes.
    if inner.len() <= most {
        return None;
    }
    let (full, _) = inner.char_indices().nth(most)?;
    let fitting = inner.get(..full)?;
    let blank = fitting.char_indices().rev().take(most / 2).find(|(_, char)| char.is_whitespace());
    let end = blank.map_or(full, |(at, char)| at + char.len_utf8());
    line.split_at_checked(end)
}
