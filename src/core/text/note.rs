//! Notes: lines of ours beside an answer.
//!
//! A reader trusts notes as ours, so text by others occurs in them only in backticks, clean and
//! at most [`MAX_QUOTED`] columns long. [`note!`] makes every note: its text is a literal, and each
//! value that fills it has a type ([`NotePart`]) that declares its origin. A mere `String` does not
//! compile: [`quoted`] is for text by others, [`ours`] for text of ours. Errors and questions use
//! [`quoted`] for text by others, too. `budget` decides which notes are shown.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use unicode_segmentation::UnicodeSegmentation;

use super::line::{cell, clip, columns};
use crate::error::Error;

/// The maximum columns of quoted text.
pub const MAX_QUOTED: usize = 40;
/// The maximum columns of a service's explanation of a refusal.
const WORDS: usize = 160;
/// Maximum length of a note, in columns; none of ours is as long.
const MAX_COLUMNS: usize = 4_000;
/// The maximum number of names that a list shows.
const NAMES: usize = 8;

/// One note: a single clean line.
#[derive(Debug, Clone, Eq)]
pub struct Note {
    text: String,
    /// The literal it was made from.
    kind: &'static str,
    key: Option<NoteKey>,
    /// The first cell of the row it is about.
    row: Option<String>,
}

/// The name of a value before the rows, which holds the most important notes: clients that shorten
/// an answer keep its beginning, and some pass on only that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKey {
    /// Parts of the answer that could not be fetched: an account, a calendar, a message.
    Missing,
    /// Parts of the answer that are not shown because it would be too long.
    Cut,
    /// Signs that a message is forged or malicious.
    Warning,
}

impl NoteKey {
    /// All, in the order in which they are written.
    pub const ALL: [Self; 3] = [Self::Missing, Self::Cut, Self::Warning];

    /// Returns the name itself.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Cut => "cut",
            Self::Warning => "warning",
        }
    }
}

impl Note {
    /// Makes a note; only [`note!`] calls it.
    #[doc(hidden)]
    pub fn made(kind: &'static str, text: fmt::Arguments<'_>) -> Self {
        Self { text: clip(cell(&text.to_string()), MAX_COLUMNS).0, kind, key: None, row: None }
    }

    /// Prefixes the note with the object, account or block it is about: `of: note`.
    #[must_use]
    pub fn under(&self, of: impl NotePart) -> Self {
        self.with_text(format_args!("{of}: {self}"))
    }

    /// Returns a note of the same kind, key and row with another text.
    fn with_text(&self, text: fmt::Arguments<'_>) -> Self {
        Self { key: self.key, row: self.row.clone(), ..Self::made(self.kind, text) }
    }

    /// Moves the note before the rows, into the value of this key.
    #[must_use]
    pub fn with_key(self, key: NoteKey) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Shows the note together with the row whose first cell is `row`, such as `m12`.
    #[must_use]
    pub fn about(self, row: String) -> Self {
        Self { row: Some(row), ..self }
    }

    /// Returns the first cell of the row that the note is about.
    pub fn row(&self) -> Option<&str> {
        self.row.as_deref()
    }

    /// Returns the key of a note that is written before the rows.
    pub const fn key(&self) -> Option<NoteKey> {
        self.key
    }

    /// Limits notes as a [`NoteTally`] with at most `most` of each kind does.
    pub fn merge_repeats(notes: Vec<Self>, most: usize) -> Vec<Self> {
        let mut tally = NoteTally::new(most);
        for note in notes {
            tally.add(note);
        }
        tally.notes()
    }
}

/// Collects notes: each once, and only some of those that report the same about
/// different objects; the last of them has the number of the others.
#[derive(Debug, Clone)]
pub struct NoteTally {
    most: usize,
    notes: Vec<(Note, usize)>,
}

impl NoteTally {
    /// Creates a tally without notes, with at most `most` of a kind, which is at least one.
    pub fn new(most: usize) -> Self {
        let notes = Vec::new();
        Self { most, notes }
    }

    /// Adds a note.
    pub fn add(&mut self, note: Note) {
        let alike = |(one, _): &(Note, usize)| (one.kind, one.key) == (note.kind, note.key);
        let many = self.notes.iter().filter(|one| alike(one)).count();
        let same = self.notes.iter().position(|(one, _)| *one == note);
        let last = self.notes.iter().rposition(alike);
        // Beyond the limit, a note is counted with the last one of its kind.
        let at = same.or(last.filter(|_| many >= self.most));
        match at.and_then(|at| self.notes.get_mut(at)) {
            Some((_, more)) => *more += 1,
            None => self.notes.push((note, 0)),
        }
    }

    /// Returns the notes, with the number of those left out.
    pub fn notes(self) -> Vec<Note> {
        let counted = |(note, more): (Note, usize)| match more {
            0 => note,
            more => note.with_text(format_args!("{note} (and {more} more like this)")),
        };
        self.notes.into_iter().map(counted).collect()
    }
}

impl Deref for Note {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Borrow<str> for Note {
    fn borrow(&self) -> &str {
        &self.text
    }
}

/// Notes are equal if their texts are.
impl PartialEq for Note {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl PartialEq<&str> for Note {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A literal alone.
impl From<&'static str> for Note {
    fn from(text: &'static str) -> Self {
        Self::made(text, format_args!("{text}"))
    }
}

/// The text of an error, with its next step.
impl From<&Error> for Note {
    fn from(error: &Error) -> Self {
        crate::text::note!("{}", error)
    }
}

/// A value that may be in a note unchanged.
pub trait NotePart: fmt::Display {}

impl<T: NotePart + ?Sized> NotePart for &T {}
impl NotePart for &'static str {}
impl NotePart for Note {}
impl NotePart for QuotedText {}
impl<T: fmt::Display> NotePart for OwnText<T> {}
impl NotePart for i32 {}
impl NotePart for u16 {}
impl NotePart for u32 {}
impl NotePart for u64 {}
impl NotePart for usize {}
impl NotePart for i64 {}
/// Errors quote text by others, as notes do.
impl NotePart for Error {}

/// Text by others, in backticks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuotedText(String);

impl fmt::Display for QuotedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Quotes text by others (a sender, an organizer, the owner of a shared folder, a
/// provider) for a note, an error or a question: one clean line of at most [`MAX_QUOTED`]
/// columns in backticks, which it cannot close.
pub fn quoted(text: &str) -> QuotedText {
    QuotedText(format!("`{}`", shortly(text, MAX_QUOTED)))
}

/// Quotes a service's explanation of its refusal as [`quoted`] does, in at most
/// [`WORDS`] columns, because the reader has no other information.
pub fn quoted_words(text: &str) -> QuotedText {
    QuotedText(format!("`{}`", shortly(text, WORDS)))
}

/// Quotes an address or a domain by others: it is cut at its beginning, because the end
/// identifies its owner.
pub fn quoted_end(text: &str) -> QuotedText {
    let whole = shortly(text, usize::MAX);
    let mut from = whole.len();
    let mut room = MAX_QUOTED - 1;
    for (at, grapheme) in whole.grapheme_indices(true).rev() {
        let Some(left) = room.checked_sub(columns(grapheme)) else {
            break;
        };
        (from, room) = (at, left);
    }
    match (clip(whole.clone(), MAX_QUOTED), whole.get(from..)) {
        ((_, true), Some(end)) => QuotedText(format!("`…{end}`")),
        ((whole, _), _) => QuotedText(format!("`{whole}`")),
    }
}

/// Quotes several texts, separated by commas: the first eight, and how many more there are.
pub fn quoted_list(texts: impl IntoIterator<Item = impl AsRef<str>>) -> QuotedText {
    let all: Vec<QuotedText> = texts.into_iter().map(|one| quoted(one.as_ref())).collect();
    let shown: Vec<&str> = all.iter().take(NAMES).map(|one| one.0.as_str()).collect();
    let mut line = shown.join(", ");
    if let more @ 1.. = all.len().saturating_sub(NAMES) {
        line.push_str(&format!(" and {more} more"));
    }
    QuotedText(line)
}

/// Shortens an argument of the call for an error, to one clean line. Text by others is [`quoted`].
pub fn brief(s: &str) -> String {
    shortly(s, 60)
}

/// Returns one clean line of at most `most` columns that cannot close backticks or open a fence.
fn shortly(text: &str, most: usize) -> String {
    let start: String = text.chars().take(1_000).collect();
    let mut line = cell(&start).replace('`', "'");
    // A replacement can form another sequence with the signs beside it.
    while line.contains("<<<") || line.contains(">>>") {
        line = line.replace("<<<", "<").replace(">>>", ">");
    }
    clip(line, most).0
}

/// Text of ours, as declared by the author of the call.
#[derive(Debug, Clone, Copy)]
pub struct OwnText<T>(T);

impl<T: fmt::Display> fmt::Display for OwnText<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Marks text of ours that is composed at run time: handles, times, names of columns
/// and zones, the user's own accounts, arguments of the call. Never for text from a
/// provider; that is [`quoted`].
pub fn ours<T: fmt::Display>(text: T) -> OwnText<T> {
    OwnText(text)
}

/// Formats a number with its noun: `1 message`, `2 messages`.
pub fn counted(count: usize, one: &'static str, many: &'static str) -> OwnText<String> {
    let noun = if count == 1 { one } else { many };
    OwnText(format!("{count} {noun}"))
}

/// Makes a note from a literal and the values for its `{}`, in order: `note!("{} of {}", 3,
/// quoted(name))`. Names within the braces would not be checked, so they do not compile.
#[macro_export]
macro_rules! note {
    ($text:literal $(, $part:expr)* $(,)?) => {{
        const { assert!($crate::text::note::is_bare($text), "say what fills a note after its text") };
        $crate::text::note::Note::made(
            $text,
            format_args!($text $(, $crate::text::note::note_part(&$part))*),
        )
    }};
}
pub use note;

/// Restricts the values of a note to [`NotePart`].
#[doc(hidden)]
pub fn note_part<T: NotePart>(part: &T) -> &T {
    part
}

/// Returns true if the braces of a format are empty.
#[doc(hidden)]
pub const fn is_bare(text: &str) -> bool {
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return true,
            [b'{', b'{' | b'}', rest @ ..] => rest,
            [b'{', ..] => return false,
            [_, rest @ ..] => rest,
        };
    }
}
