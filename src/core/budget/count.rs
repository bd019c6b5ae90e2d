//! Exact token counts.
//!
//! A text is split into pieces by the tokenizer's pattern ([`split`]). A piece that is not a
//! token itself is merged by rank ([`merge`]), using a table that is part of the program
//! ([`vocabulary`]). Nothing is built before the first count, and no state remains after a count.
//! Special tokens are counted as ordinary text; token ids are not returned.

pub mod merge;
pub mod split;
pub mod vocabulary;

use merge::PieceMerger;
use split::PieceIter;
use vocabulary::TokenVocabulary;
pub use vocabulary::Tokenizer;

/// The name of the vocabulary used by [`tokens`].
pub const TOKENIZER: &str = Tokenizer::O200k.name();

/// The result of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CountResult {
    /// The number of tokens in the text.
    pub tokens: usize,
    /// The number of characters and pairs examined: the cost of a count, independent of time.
    pub steps: usize,
}

impl Tokenizer {
    /// Returns the exact number of tokens in `text`, as many as `encode_ordinary` of the
    /// reference implementation returns.
    ///
    /// Around a character that was added in Unicode 17 or 18, the count may be off by one: it is
    /// a letter here, and not yet assigned in the reference's tables.
    pub fn count(self, text: &str) -> usize {
        self.work(text).tokens
    }

    /// Counts like [`count`](Self::count) and also measures the cost. `steps` grow linearly with
    /// the length of the text, regardless of its content.
    pub fn work(self, text: &str) -> CountResult {
        let vocabulary = TokenVocabulary::new(self.file());
        let mut merger = PieceMerger::new(&vocabulary);
        let mut pieces = PieceIter::new(text, self);
        let tokens = pieces.by_ref().map(|piece| merger.count(piece.as_bytes())).sum();
        CountResult { tokens, steps: pieces.steps() + merger.steps() }
    }
}

/// Returns an upper bound on the tokens of `text` for any byte-level tokenizer, since each token
/// has at least one byte. Takes constant time, so check it before counting.
pub const fn byte_limit(text: &str) -> usize {
    text.len()
}

/// Counts the tokens of `text` in [`TOKENIZER`].
pub fn tokens(text: &str) -> usize {
    Tokenizer::default().count(text)
}
