//! Choices: enums whose words and variants are one declaration, lists of the registry by
//! their words, and the nearest of some words.

use crate::schemas::{LISTINGS, LookupListing};

/// The minimum similarity of two words for suggesting one instead of the other, as
/// `strsim` measures it.
const ALIKE: f64 = 0.75;

/// A choice by its words.
pub trait WordChoice: Copy + PartialEq + 'static {
    /// Each word with what it means; one that means the same as the word before
    /// it is another name for it.
    const TABLE: &'static [(&'static str, Self)];
    /// The words alone, in the same order.
    const WORDS: &'static [&'static str];

    /// Returns what a word means, in capital or small letters.
    fn of(word: &str) -> Option<Self> {
        let known = |(known, _): &&(&str, Self)| known.eq_ignore_ascii_case(word);
        Self::TABLE.iter().find(known).map(|(_, value)| *value)
    }

    /// Returns its word, the first if it has several.
    fn word(self) -> &'static str {
        Self::TABLE.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| word)
    }
}

/// Declares an enum whose variants have words, one or several: `Text = "text"`.
/// There is no other place where a word is given its meaning, so none can be read
/// as anything else.
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

/// Returns the name that is most like an unknown one, if it is similar or ends with it.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let alike = |known: &'a str| match known.strip_suffix(name) {
        Some(before) if before.ends_with('_') => (1.0, known),
        _ => (strsim::normalized_damerau_levenshtein(name, known), known),
    };
    let near = known.map(alike).max_by(|(one, _), (other, _)| one.total_cmp(other));
    near.filter(|(alike, _)| *alike >= ALIKE).map(|(_, known)| known)
}
