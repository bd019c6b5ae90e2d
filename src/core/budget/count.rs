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

/// The name of the vocabulary used by [`tokens`].
pub const TOKENIZER: &str = Tokenizer::O200k.name();

/// A vocabulary with the pattern that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tokenizer {
    /// `o200k_base`: 199,998 tokens.
    #[default]
    O200k,
    /// `cl100k_base`: 100,256 tokens.
    Cl100k,
}

/// The result of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CountResult {
    /// The number of tokens in the text.
    pub tokens: usize,
    /// The number of characters and pairs examined: the cost of a count, independent of time.
    pub steps: usize,
}

impl Tokenizer {
    /// Every tokenizer, the default first.
    pub const ALL: [Self; 2] = [Self::O200k, Self::Cl100k];

    /// Returns the name given by its authors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
        }
    }

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
        let vocabulary = TokenVocabulary::of(self.file());
        let mut merger = PieceMerger::new(&vocabulary);
        let mut pieces = PieceIter::new(text, self);
        let tokens = pieces.by_ref().map(|piece| merger.count(piece.as_bytes())).sum();
        CountResult { tokens, steps: pieces.steps() + merger.steps() }
    }

    /// Returns the bytes of its vocabulary, for [`TokenVocabulary::of`].
    pub const fn file(self) -> &'static [u8] {
        match self {
            Self::O200k => vocabulary::O200K,
            Self::Cl100k => vocabulary::CL100K,
        }
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
