//! Notes: what is said besides an answer, in words of ours.
//!
//! A reader takes notes for our word, so nothing of a stranger may stand in
//! them but in backticks, clean and at most [`MOST`] columns long. [`note!`] makes
//! every note: its text is a literal, and what fills it says what it is, by
//! its type ([`Part`]). Text that is merely a `String` does not compile:
//! [`quoted`] is for what somebody else wrote, [`ours`] for what we made.
//! Errors and questions quote by [`quoted`] where they name what a stranger wrote. What of the notes is shown is
//! decided in `budget`.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use unicode_segmentation::UnicodeSegmentation;

use super::{cell, clip, columns};
use crate::error::Error;

/// The columns of what is quoted.
pub const MOST: usize = 40;
/// The columns of what a service says about a refusal.
const WORDS: usize = 160;
/// The columns of a note: more than any of ours has, and an end to all of them.
const LONGEST: usize = 4_000;
/// Names of a list that are told.
const NAMES: usize = 8;

/// One note: a single clean line.
#[derive(Debug, Clone, Eq)]
pub struct Note {
    text: String,
    /// The literal it was made from.
    kind: &'static str,
}

impl Note {
    /// What [`note!`] makes a note by; nothing else calls it.
    #[doc(hidden)]
    pub fn made(kind: &'static str, text: fmt::Arguments<'_>) -> Self {
        Self { text: clip(cell(&text.to_string()), LONGEST).0, kind }
    }

    /// The note of the thing, account or block that `of` names: `of: note`.
    #[must_use]
    pub fn under(&self, of: impl Part) -> Self {
        Self::made(self.kind, format_args!("{of}: {self}"))
    }

    /// The same notes, as a [`Tally`] of at most `most` of each kind has them.
    pub fn counted(notes: Vec<Self>, most: usize) -> Vec<Self> {
        let mut tally = Tally::new(most);
        for note in notes {
            tally.add(note);
        }
        tally.notes()
    }
}

/// Notes as they come up: each once, and only some of those that say the same
/// of different things; how many more there are is said at the last of them.
#[derive(Debug, Clone)]
pub struct Tally {
    most: usize,
    kept: Vec<(Note, usize)>,
}

impl Tally {
    /// No notes yet, and at most `most` of a kind, which is at least one.
    pub fn new(most: usize) -> Self {
        let kept = Vec::new();
        Self { most, kept }
    }

    /// Takes a note.
    pub fn add(&mut self, note: Note) {
        let alike = |(one, _): &(Note, usize)| one.kind == note.kind;
        let many = self.kept.iter().filter(|one| alike(one)).count();
        let same = self.kept.iter().position(|(one, _)| *one == note);
        let last = self.kept.iter().rposition(alike);
        let at = same.or(last.filter(|_| many >= self.most));
        match at.and_then(|at| self.kept.get_mut(at)) {
            Some((_, more)) => *more += 1,
            None => self.kept.push((note, 0)),
        }
    }

    /// The notes, with how many more there are.
    pub fn notes(self) -> Vec<Note> {
        let counted = |(note, more): (Note, usize)| match more {
            0 => note,
            more => Note::made(note.kind, format_args!("{note} (and {more} more like this)")),
        };
        self.kept.into_iter().map(counted).collect()
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

/// Notes are the same that say the same.
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

/// What an error says, with its next step.
impl From<&Error> for Note {
    fn from(error: &Error) -> Self {
        crate::text::note!("{}", error)
    }
}

/// What may stand in a note as it is.
pub trait Part: fmt::Display {}

impl<T: Part + ?Sized> Part for &T {}
impl Part for &'static str {}
impl Part for Note {}
impl Part for Quoted {}
impl<T: fmt::Display> Part for Ours<T> {}
impl Part for i32 {}
impl Part for u16 {}
impl Part for u32 {}
impl Part for u64 {}
impl Part for usize {}
impl Part for i64 {}
/// Whoever makes an error quotes in it as in a note.
impl Part for Error {}

/// What somebody else wrote, in backticks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quoted(String);

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What somebody else wrote (a sender, an organizer, whoever shares a folder, a
/// provider), for a note, an error or a question: one clean line of at most
/// [`MOST`] columns in backticks, which cannot end them.
pub fn quoted(text: &str) -> Quoted {
    Quoted(format!("`{}`", shortly(text, MOST)))
}

/// What a service says about its refusal: as [`quoted`], in at most [`WORDS`]
/// columns, because the reader has nothing else to go by.
pub fn quoted_words(text: &str) -> Quoted {
    Quoted(format!("`{}`", shortly(text, WORDS)))
}

/// An address or a domain, which somebody else wrote: what is cut is its
/// beginning, because the end says whose it is.
pub fn quoted_end(text: &str) -> Quoted {
    let whole = shortly(text, usize::MAX);
    let mut from = whole.len();
    let mut room = MOST - 1;
    for (at, grapheme) in whole.grapheme_indices(true).rev() {
        let Some(left) = room.checked_sub(columns(grapheme)) else {
            break;
        };
        (from, room) = (at, left);
    }
    match (clip(whole.clone(), MOST), whole.get(from..)) {
        ((_, true), Some(end)) => Quoted(format!("`…{end}`")),
        ((whole, _), _) => Quoted(format!("`{whole}`")),
    }
}

/// Several of them with commas, the first eight and how many more there are.
pub fn quoted_list(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Quoted {
    let all: Vec<Quoted> = texts.into_iter().map(|one| quoted(one.as_ref())).collect();
    let shown: Vec<&str> = all.iter().take(NAMES).map(|one| one.0.as_str()).collect();
    let mut line = shown.join(", ");
    if let more @ 1.. = all.len().saturating_sub(NAMES) {
        line.push_str(&format!(" and {more} more"));
    }
    Quoted(line)
}

/// One clean line of at most `most` columns that ends no backticks and begins no
/// fence.
pub(super) fn shortly(text: &str, most: usize) -> String {
    let start: String = text.chars().take(1_000).collect();
    let mut line = cell(&start).replace('`', "'");
    while line.contains("<<<") || line.contains(">>>") {
        line = line.replace("<<<", "<").replace(">>>", ">");
    }
    clip(line, most).0
}

/// What we made ourselves, by the word of whoever wrote the call.
#[derive(Debug, Clone, Copy)]
pub struct Ours<T>(T);

impl<T: fmt::Display> fmt::Display for Ours<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Text of ours that is put together while running: handles, times, names of
/// columns and zones, the user's own accounts, what the call said. Nothing that
/// came from a provider; that is [`quoted`].
pub fn ours<T: fmt::Display>(text: T) -> Ours<T> {
    Ours(text)
}

/// A note of a literal and what fills its `{}`, in order: `note!("{} of {}", 3,
/// quoted(name))`. What is named within the braces would not be looked at, so
/// it does not compile.
#[macro_export]
macro_rules! note {
    ($text:literal $(, $part:expr)* $(,)?) => {{
        const { assert!($crate::text::note::is_bare($text), "say what fills a note after its text") };
        $crate::text::note::Note::made(
            $text,
            format_args!($text $(, $crate::text::note::part(&$part))*),
        )
    }};
}
pub use note;

/// Holds what stands in a note to what may.
#[doc(hidden)]
pub fn part<T: Part>(part: &T) -> &T {
    part
}

/// True when nothing stands within the braces of a format.
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
