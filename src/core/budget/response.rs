//! The complete response of a tool, before it is fitted to a budget.
//!
//! It states which parts belong together and how much they matter; `fit` decides which are shown.

use std::borrow::Cow;

use super::plan::PlacementTier;
use super::value::ValueHint;
use crate::encode::Document;
use crate::row::{RowCell, RowTable};
use crate::text::fence::Fence;
use crate::text::{Note, TextKind, note, ours, shown};

/// A complete response.
#[derive(Debug, Clone, Default)]
pub struct WholeAnswer {
    /// Scalars and tables.
    pub document: Document,
    /// Long texts, each of which is a block of its own.
    pub texts: Vec<LongText>,
    /// Notes for the reader, one line each.
    pub notes: Vec<Note>,
    /// Explanations of rows. Each chunk shows the ones for its own rows.
    pub legend: RowLegend,
    /// The units that are shown or left out as a whole, in the order of the answer. If `None`,
    /// each row is a unit of its own.
    pub items: Option<Vec<AnswerItem>>,
    /// For some tables, by position in the document, the call that fetches all rows. The notes
    /// state how many rows of these tables are shown.
    pub calls: Vec<(usize, String)>,
    /// The searched words, in lower case.
    pub words: Vec<String>,
    /// The order of the rows, as a value of the argument `sort`; `None` if the argument has no
    /// value for it.
    pub sort: Option<&'static str>,
    /// True if the tables show only the words of the call, so that they are no untrusted text.
    pub is_own: bool,
}

impl WholeAnswer {
    /// Cleans every scalar, cell and long text. Notes are clean by construction.
    pub fn clean(&mut self) {
        let scalars = self.document.scalars.iter_mut().map(|(_, cell)| cell);
        scalars.for_each(RowCell::clean);
        self.document.tables.iter_mut().for_each(RowTable::clean);
        for text in &mut self.texts {
            if let Cow::Owned(clean) = shown(&text.text, TextKind::Lines) {
                text.text = clean;
            }
        }
    }
}

/// An explanation of several rows in one note: `why: to_me m1 m4; my_thread m2`.
#[derive(Debug, Clone, Default)]
pub struct RowLegend {
    /// The word before the colon.
    pub name: &'static str,
    /// Words of ours, and the first cells of the rows that they explain.
    pub groups: Vec<(String, Vec<String>)>,
}

impl RowLegend {
    /// Returns the note on the rows shown; `None` if it explains no shown row.
    pub fn note(&self, is_shown: impl Fn(&str) -> bool) -> Option<Note> {
        let groups = self.groups.iter().filter_map(|(words, rows)| {
            let rows: Vec<&str> =
                rows.iter().map(String::as_str).filter(|row| is_shown(row)).collect();
            (!rows.is_empty()).then(|| format!("{words} {}", rows.join(" ")))
        });
        let groups: Vec<String> = groups.collect();
        (!groups.is_empty()).then(|| note!("{}: {}", self.name, ours(groups.join("; "))))
    }
}

/// A long text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LongText {
    /// The name of its block, `b1`; empty for a text that replaces the document.
    pub name: String,
    /// The complete text.
    pub text: String,
    /// The word of its fences; if `None`, one is derived from the text.
    pub word: Option<String>,
    /// The row it belongs to: the position of its table in the document, and of the row in the
    /// table.
    pub row: Option<(usize, usize)>,
    /// True for text whose end matters more than its beginning: sources and logs.
    pub tail: bool,
    /// True for a page of a longer text, which is shown whole or not at all.
    pub page: bool,
    /// True for a text written by the user.
    pub own: bool,
}

impl LongText {
    /// Prefixes its marker lines with the word of its fence, and records the word.
    pub fn fence(&mut self, secret: &[u8; 32]) {
        let fence = Fence::new(&self.text, secret);
        self.text = fence.with_word(&self.text);
        self.word = Some(fence.secret_word().to_owned());
    }
}

/// A unit that is shown or left out as a whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerItem {
    /// Its rows, each as the position of its table in the document and of the row in the table.
    pub rows: Vec<(usize, usize)>,
    /// Its long text, by position among the response's texts.
    pub text: Option<usize>,
    /// Its importance.
    pub tier: PlacementTier,
    /// True if it is always shown.
    pub pinned: bool,
    /// The input of the value functions.
    pub hint: ValueHint,
}
