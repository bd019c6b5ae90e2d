//! Encoding of documents to text, in any [`Format`].
//!
//! A [`Document`] is the main part of every tool's answer: a few scalars followed by tables. The
//! encoders write it directly to one `String`. They depend on rows but not on providers, and
//! cannot fail.

mod digits;
pub mod json;
pub mod stc;
pub mod toon;

use crate::row::{RowCell, RowTable};

/// The content of block 1 of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// Scalar lines, in order: `zone`, `next`.
    pub scalars: Vec<(&'static str, RowCell)>,
    /// Tables by their plural names, in order.
    pub tables: Vec<RowTable>,
}

/// The output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tabular TOON with this delimiter.
    Toon(Delimiter),
    /// Compact JSON with the same keys and columns in the same order, plus the provider's ids and
    /// long texts.
    Json,
    /// STC of this version: one line with the same content as JSON (`docs/stc.md`).
    Stc(stc::StcVersion),
}

impl Format {
    /// Returns true if long texts are fields of rows. In other formats they are blocks after the
    /// document.
    pub const fn has_text_fields(self) -> bool {
        matches!(self, Self::Json | Self::Stc(_))
    }

    /// Returns the version of STC, if the format is STC.
    pub const fn stc_version(self) -> Option<u32> {
        match self {
            Self::Stc(version) => Some(version.number()),
            Self::Toon(_) | Self::Json => None,
        }
    }
}

/// The delimiter between the cells of a TOON row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delimiter {
    /// A horizontal tab, the default.
    #[default]
    Tab,
    /// A comma.
    Comma,
    /// A vertical bar.
    Pipe,
}

impl Delimiter {
    /// Returns the character itself.
    pub const fn char(self) -> char {
        match self {
            Self::Tab => '\t',
            Self::Comma => ',',
            Self::Pipe => '|',
        }
    }
}

impl Default for Format {
    fn default() -> Self {
        Self::Toon(Delimiter::default())
    }
}

impl Format {
    /// Returns the parts of a table's encoding: its heading, and its rows with their delimiters.
    pub fn pieces(self, table: &RowTable) -> (String, Vec<String>) {
        match self {
            Self::Toon(delimiter) => toon::pieces(table, delimiter),
            Self::Json => json::pieces(table),
            Self::Stc(version) => stc::pieces(table, version),
        }
    }
}

impl Document {
    /// Returns the columns with cut cells, and the number of these cells.
    pub fn cuts(&self) -> Vec<(&'static str, usize)> {
        let mut cuts: Vec<(&'static str, usize)> = Vec::new();
        for (_, cut) in self.tables.iter().flat_map(RowTable::cuts) {
            match cuts.iter_mut().find(|(column, _)| *column == cut.column) {
                Some((_, count)) => *count += 1,
                None => cuts.push((cut.column, 1)),
            }
        }
        cuts
    }

    /// Encodes the document as text.
    pub fn encode(&self, format: Format) -> String {
        match format {
            Format::Toon(delimiter) => toon::encode(self, delimiter),
            Format::Json => json::encode(self),
            Format::Stc(version) => stc::encode(self, version),
        }
    }
}
