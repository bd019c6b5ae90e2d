//! Fences around strangers' text, which no stranger can forge.
//!
//! A fence's word depends on a secret and on the text, so it is unguessable to
//! a sender and the same for the same text. What is said about a text within
//! its fences begins with the word, too.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A fence for one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    word: String,
}

impl Fence {
    /// The fence of `text`, of which a part may be shown.
    pub fn new(text: &str, secret: &[u8; 32]) -> Self {
        Self {
            word: word(text, secret),
        }
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
        .filter_map(|byte| {
            ALPHABET
                .get(usize::from(byte & 31))
                .copied()
                .map(char::from)
        })
        .collect()
}

/// 32 letters and digits that are hard to confuse.
pub const ALPHABET: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
