//! Real token counts.
//!
//! A text is split into pieces as the tokenizer's pattern says ([`split`]), and
//! a piece that is no token itself is merged by rank ([`merge`]) in a table
//! that is mapped with the program ([`vocabulary`]). Nothing is built before
//! the first count and nothing stays after it. This counts and does no more:
//! no ids are given out, special tokens are text like any other, and what is
//! left out of an answer is decided elsewhere.

pub mod merge;
pub mod split;
pub mod vocabulary;

use merge::Merger;
use split::Pieces;
use vocabulary::Vocabulary;

/// The name of the vocabulary that [`tokens`] counts in.
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

/// What a count came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Work {
    /// How many tokens the text is.
    pub tokens: usize,
    /// How many characters and pairs were looked at on the way: what a count
    /// costs, told without a clock.
    pub steps: usize,
}

impl Tokenizer {
    /// Every tokenizer, the default first.
    pub const ALL: [Self; 2] = [Self::O200k, Self::Cl100k];

    /// The name that its makers gave it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
        }
    }

    /// The tokenizer of that name, with or without `_base`.
    pub fn find(name: &str) -> Option<Self> {
        let short = name.strip_suffix("_base").unwrap_or(name);
        Self::ALL.into_iter().find(|one| one.name().strip_suffix("_base") == Some(short))
    }

    /// How many tokens `text` is, exactly: as many as `encode_ordinary` of the
    /// reference implementation gives.
    ///
    /// Around a character that Unicode added in its versions 17 and 18 a token
    /// more or less may be counted: it is a letter here, and not yet assigned in
    /// the reference's tables.
    pub fn count(self, text: &str) -> usize {
        self.work(text).tokens
    }

    /// [`count`](Self::count), with what it cost: `steps` grow with the length
    /// of the text and no faster, whatever it says.
    pub fn work(self, text: &str) -> Work {
        let vocabulary = Vocabulary::of(self.file());
        let mut merger = Merger::new(&vocabulary);
        let mut pieces = Pieces::new(text, self);
        let tokens = pieces.by_ref().map(|piece| merger.count(piece.as_bytes())).sum();
        Work { tokens, steps: pieces.steps() + merger.steps() }
    }

    /// The bytes of its vocabulary, for [`Vocabulary::of`].
    pub const fn file(self) -> &'static [u8] {
        match self {
            Self::O200k => vocabulary::O200K,
            Self::Cl100k => vocabulary::CL100K,
        }
    }
}

/// As many tokens as `text` can be at most, in any tokenizer of bytes: each is
/// one byte or more. It costs nothing, so ask it first.
pub const fn bound(text: &str) -> usize {
    text.len()
}

/// How many tokens `text` is, in [`TOKENIZER`].
pub fn tokens(text: &str) -> usize {
    Tokenizer::default().count(text)
}
