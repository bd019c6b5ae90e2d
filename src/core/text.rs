//! Makes untrusted text safe and short.
//!
//! All text by senders passes through here before a model reads it: subjects, names and snippets
//! become one clean line ([`cell`], [`clip`]), bodies become plain lines ([`lines`],
//! [`html`](html::html)), quoted replies are separated from new text ([`quote`]) and fenced
//! ([`fence`]), bytes in any charset become a string ([`charset`]), and a text is split into its
//! words ([`search_text`]) or into lines that can be numbered ([`wrapped`]). Text of ours that quotes
//! untrusted words is a [`Note`].
//!
//! No function here fails: odd or hostile input gives odd text, never an error, a panic or a long
//! wait. None does I/O, knows a provider, or decides how much text an answer can afford; that is up
//! to the budget.

pub mod address;
pub mod armour;
pub mod charset;
pub mod deceptive;
mod encoded;
pub mod fence;
pub mod flowed;
pub mod html;
pub mod invisible;
mod look_alike;
pub mod note;
pub mod numeral;
pub mod opening;
pub mod orders;
pub mod payment;
pub mod quote;
pub mod search_text;
pub mod sender_auth;
pub mod unsubscribe;
mod wrap;

use std::borrow::Cow;

pub use address::{MailAddress, address_list, is_machine, plain_local};
pub use encoded::{parameter, quoted_printable};
use fence::MARKS;
pub use invisible::{TextKind, is_invisible, shown, visible};
pub use note::note;
pub use note::{
    Note, NoteKey, NoteTally, counted, ours, quoted, quoted_end, quoted_list, quoted_words,
};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;
pub use wrap::{LINE, wrapped};

/// Headers longer than this are not searched for encoded words: the search may scan the
/// rest of the text for each of them, and no honest header comes near.
const MAX_HEADER: usize = 16 * 1024;

/// Number of characters that [`clip`] searches backwards for the end of a word.
const WORD_REACH: usize = 16;

/// Maximum length of a run of spaces and tabs that [`lines`] keeps: a longer one is not layout.
const MAX_RUN: usize = 200;

/// Returns one clean line: without invisible characters and our marks, with each run of white space
/// and control characters as one space, and none at the ends.
pub fn cell(s: &str) -> String {
    let seen = invisible::visible(s);
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
fn columns(grapheme: &str) -> usize {
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

/// Decodes HTML entities; Gmail escapes its snippets.
pub fn entities(s: &str) -> Cow<'_, str> {
    html_escape::decode_html_entities(s)
}

/// Shortens an argument of the call for an error, to one clean line. Text by others is [`quoted`].
pub fn brief(s: &str) -> String {
    note::shortly(s, 60)
}

/// Decodes RFC 2047 encoded words, if there are any, and replaces line breaks by spaces.
pub fn header(s: &str) -> Cow<'_, str> {
    if !s.contains("=?") || s.len() > MAX_HEADER {
        return Cow::Borrowed(s);
    }
    Cow::Owned(encoded::decode_words(&s.replace(['\r', '\n'], " ")))
}

/// Cleans text of several lines: invisible and control characters removed, all line ends `\n`, no
/// white space at line ends, runs of blank lines reduced to one, no blank line at either end.
/// Spaces and tabs within lines stay, as code, diffs and tables have them; other white space
/// becomes a space.
pub fn lines(s: &str) -> String {
    let seen = invisible::visible(s);
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
