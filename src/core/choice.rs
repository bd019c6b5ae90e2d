//! Choices: enums declared together with their words, the lists of the registry by their words,
//! and the nearest of several words.

use crate::schemas::{LISTINGS, LookupListing};

/// The minimum similarity of two words for suggesting one in place of the other, as measured by
/// `strsim`.
const ALIKE: f64 = 0.75;

/// A choice among values that have words.
pub trait WordChoice: Copy + PartialEq + 'static {
    /// The words with their values. A word with the same value as the previous one is another
    /// name for it.
    const TABLE: &'static [(&'static str, Self)];
    /// The words in the same order.
    const WORDS: &'static [&'static str];

    /// Returns the value of a word, ignoring case.
    fn from_word(word: &str) -> Option<Self> {
        let known = |(known, _): &&(&str, Self)| known.eq_ignore_ascii_case(word);
        Self::TABLE.iter().find(known).map(|(_, value)| *value)
    }

    /// Returns its first word.
    fn word(self) -> &'static str {
        Self::TABLE.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| word)
    }
}

/// Declares an enum whose variants have one or several words: `Text = "text"`. The words are
/// declared only here, so that a word always has the same meaning.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$of:meta])* $variant:ident = $($word:literal)|+),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name { $($(#[$of])* $variant),+ }

        impl $crate::choice::WordChoice for $name {
            const TABLE: &'static [(&'static str, Self)] = &[$($(($word, Self::$variant)),+),+];
            const WORDS: &'static [&'static str] = &[$($($word),+),+];
        }
    };
}
pub use words;

impl WordChoice for &'static LookupListing {
    const TABLE: &'static [(&'static str, Self)] = LISTINGS;
    const WORDS: &'static [&'static str] = &{
        let mut words = [""; LISTINGS.len()];
        let (mut rest, mut listings) = (words.as_mut_slice(), LISTINGS);
        while let ([word, more @ ..], [(listed, _), others @ ..]) = (rest, listings) {
            *word = listed;
            (rest, listings) = (more, others);
        }
        words
    };
}

/// Returns the known name that is most similar to an unknown one, if it is similar enough or ends
/// with it.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A name without its prefix, such as `search` for `mail_search`, is a perfect match.
    let alike = |known: &'a str| match known.strip_suffix(name) {
        Some(before) if before.ends_with('_') => (1.0, known),
        _ => (strsim::normalized_damerau_levenshtein(name, known), known),
    };
    let near = known.map(alike).max_by(|(one, _), (other, _)| one.total_cmp(other));
    near.filter(|(alike, _)| *alike >= ALIKE).map(|(_, known)| known)
}
