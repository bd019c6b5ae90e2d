//! Fences around strangers' text, which no stranger can forge.
//!
//! A fence's word depends on a secret and on the text, so it is unguessable to
//! a sender and the same for the same text. What is said about a text within
//! its fences begins with the word, too: whoever says it puts [`OURS`] there,
//! which no cleaned text of a sender holds, and [`Fence::said`] puts the word in
//! its place.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Stands before what is said within a text, until its fence is known.
pub const OURS: char = '\u{fdd0}';

/// What a sender wrote, without what stands for our word.
pub fn theirs(text: String) -> String {
    match text.contains(OURS) {
        true => text.replace(OURS, ""),
        false => text,
    }
}

/// A fence for one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    word: String,
}

impl Fence {
    /// The fence of `text`, of which a part may be shown.
    pub fn new(text: &str, secret: &[u8; 32]) -> Self {
        Self { word: word(text, secret) }
    }

    /// The fence of this word.
    pub fn of(word: String) -> Self {
        Self { word }
    }

    /// The text with the word before what is said in it.
    pub fn said(&self, text: &str) -> String {
        text.replace(OURS, &format!("{} ", self.word))
    }

    /// The characters of the text, the words before what is said aside.
    pub fn chars(&self, text: &str) -> usize {
        let word = format!("{} ", self.word);
        text.chars().count() - text.matches(&word).count() * word.len()
    }

    /// The word that a sender cannot know.
    pub fn word(&self) -> &str {
        &self.word
    }

    /// What is `shown` of the text, between fences, as the block called `name`.
    pub fn around(&self, name: &str, shown: &str) -> String {
        let word = &self.word;
        format!("<<<{name} {word}\n{shown}\n{word}>>>")
    }
}

fn word(text: &str, secret: &[u8; 32]) -> String {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        return String::new();
    };
    mac.update(text.as_bytes());
    mac.finalize()
        .into_bytes()
        .iter()
        .take(8)
        .filter_map(|byte| ALPHABET.get(usize::from(byte & 31)).copied().map(char::from))
        .collect()
}

/// 32 letters and digits that are hard to confuse.
pub const ALPHABET: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
