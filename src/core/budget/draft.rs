//! An answer as a tool has it, whole: what fitting starts from.
//!
//! It says what belongs together and what matters, and nothing about what is
//! shown; that is decided in `fit`.

use super::plan::Tier;
use super::value::Hint;
use crate::encode::Document;
use crate::text::Note;
use crate::text::fence::Fence;

/// A whole answer.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Scalars and tables.
    pub document: Document,
    /// Long texts, which stand in blocks of their own.
    pub texts: Vec<LongText>,
    /// What the reader should know besides, a line each.
    pub notes: Vec<Note>,
    /// What explains the rows, and is said with every chunk of them.
    pub legend: Vec<Note>,
    /// What is shown or left out together, in the order of the answer; every
    /// row by itself if none are given.
    pub items: Option<Vec<Item>>,
    /// For a table by its place in the document, the call that fetches all of
    /// it. Tables that are told of here get a note on how much of them is shown.
    pub calls: Vec<(usize, String)>,
    /// The words that were searched for, in small letters.
    pub words: Vec<String>,
}

/// A long text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LongText {
    /// The name of its block, `b1`; of a text without one, that stands in
    /// place of the document, the name is empty.
    pub name: String,
    /// All of it.
    pub text: String,
    /// The word of its fences; none makes one of the text.
    pub word: Option<String>,
    /// The row it belongs to, if any: the place of its table in the document,
    /// and the row's in the table.
    pub row: Option<(usize, usize)>,
    /// True for text whose end tells more than its beginning: sources and logs.
    pub tail: bool,
    /// True for a page of something longer, which is shown whole or not at all.
    pub page: bool,
}

impl LongText {
    /// The text with the word of its fences before what is said in it.
    pub fn fence(&mut self, secret: &[u8; 32]) {
        let fence = Fence::new(&self.text, secret);
        self.text = fence.said(&self.text);
        self.word = Some(fence.word().to_owned());
    }
}

/// What is shown or left out together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Item {
    /// Its rows: the place of the table in the document, and of the row in it.
    pub rows: Vec<(usize, usize)>,
    /// Its long text, by its place among the draft's.
    pub text: Option<usize>,
    /// How much it matters.
    pub tier: Tier,
    /// True for what is shown whatever else is.
    pub pinned: bool,
    /// What the value functions look at.
    pub hint: Hint,
}
