//! Sizes of texts in an answer, and the lines by which long texts are numbered.

use crate::budget::count::Tokenizer;
use crate::encode::Format;
use crate::text::{LINE, wrapped};

/// The tokenizer and format for computing sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerSizer {
    /// The format of the answer.
    pub(super) format: Format,
    /// The tokenizer; `None` to compute no sizes.
    pub(super) tokenizer: Option<Tokenizer>,
    /// The budget. Larger sizes are not computed.
    pub(super) most: usize,
}

impl AnswerSizer {
    /// Returns a sizer for a complete answer, which needs no counts.
    pub(super) fn none(format: Format) -> Self {
        Self { format, tokenizer: None, most: 0 }
    }

    /// Returns the number of tokens; 0 without a tokenizer.
    pub(super) fn count(&self, text: &str) -> usize {
        self.tokenizer.map_or(0, |tokenizer| tokenizer.count(text))
    }
}

/// Returns the numbered lines of a long text, each with its newline.
pub(super) fn lines(text: &str) -> Vec<&str> {
    wrapped(text, LINE)
}

/// Returns a text as a JSON string literal.
pub(super) fn in_json(text: &str) -> String {
    // Strings always serialise.
    serde_json::to_string(text).unwrap_or_default()
}
