//! Encoding of documents to text, in any [`Format`].
//!
//! A [`Document`] is the main part of every tool's answer: a few scalars followed by tables. The
//! encoders write it directly to one `String`. They depend on rows but not on providers, and
//! cannot fail.

mod digits;
mod document;
pub mod json;
pub mod stc;
pub mod toon;

pub use self::document::{Delimiter, Document};
use crate::row::RowTable;

/// The output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tabular TOON with this delimiter.
    Toon(Delimiter),
    /// Compact JSON with the same keys and columns in the same order, plus the provider's ids and
    /// long texts.
    Json,
    /// STC, version 1: one line with the same content as JSON (`docs/reference/stc.md`).
    Stc,
}

impl Format {
    /// Returns true if long texts are fields of rows. In other formats they are blocks after the
    /// document.
    pub const fn has_text_fields(self) -> bool {
        matches!(self, Self::Json | Self::Stc)
    }

    /// Returns the version of STC, if the format is STC.
    pub const fn stc_version(self) -> Option<u32> {
        match self {
            Self::Stc => Some(stc::VERSION),
            Self::Toon(_) | Self::Json => None,
        }
    }
}

impl Default for Format {
    fn default() -> Self {
        Self::Toon(Delimiter::default())
    }
}

impl Format {
    /// Encodes a document as text.
    pub fn encode(self, document: &Document) -> String {
        match self {
            Self::Toon(delimiter) => toon::encode(document, delimiter),
            Self::Json => json::encode(document),
            Self::Stc => stc::encode(document),
        }
    }

    /// Returns the parts of a table's encoding: its heading, and its rows with their delimiters.
    pub fn pieces(self, table: &RowTable) -> (String, Vec<String>) {
        match self {
            Self::Toon(delimiter) => toon::pieces(table, delimiter),
            Self::Json => json::pieces(table),
            Self::Stc => stc::pieces(table),
        }
    }
}
