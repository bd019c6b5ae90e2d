//! Fences around untrusted text, which no sender can forge.
//!
//! The word of a fence depends on a secret and on the text: a sender cannot guess it, and it is the
//! same for the same text. Lines of ours within a fence begin with the word as well. Until it is
//! known, they begin with [`OURS`], a character that is removed from all text by senders, and
//! [`Fence::with_word`] replaces it by the word.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Marks lines of ours within a text, until its fence is known.
pub const OURS: char = '\u{fdd0}';

/// Marks the beginning of a quotation within a text, until quotes are separated.
pub const QUOTE: char = '\u{fdd1}';
/// Marks the beginning of a signature, likewise.
pub const SIGNATURE: char = '\u{fdd2}';
/// Marks the end of either.
pub const END: char = '\u{fdd3}';

/// All of these marks.
pub const MARKS: [char; 4] = [OURS, QUOTE, SIGNATURE, END];

/// Removes our marks from a sender's text.
pub fn theirs(text: String) -> String {
    if text.contains(MARKS) { text.replace(MARKS, "") } else { text }
}

/// The line above quoted history that is shown.
pub const QUOTED_HISTORY: &str = "[quoted history]";
/// The line above a forwarded message.
pub const FORWARDED_MESSAGE: &str = "[forwarded message]";
/// The line above a text that a reader may not see.
pub const MAY_BE_HIDDEN: &str = "[this may include hidden text]";

/// Returns the number of characters that a line of ours, without its mark, replaces: `[signature: 9
/// characters not shown; …]`. A heading replaces 0.
fn left_out(line: &str) -> Option<usize> {
    if [QUOTED_HISTORY, FORWARDED_MESSAGE, MAY_BE_HIDDEN].contains(&line.trim_end()) {
        return Some(0);
    }
    let (before, after) = line.strip_prefix('[')?.split_once(" characters ")?;
    let count = before.rsplit(' ').next()?.parse().ok()?;
    after.contains("not shown; ").then_some(count)
}

/// Returns two numbers of characters for a text with marks: shown, without our marks and the lines
/// that replace text, and replaced by these lines.
pub fn lengths(text: &str) -> (usize, usize) {
    let (mut shown, mut folded) = (0, 0);
    for line in text.split_inclusive('\n') {
        match line.strip_prefix(OURS).and_then(left_out) {
            Some(count) => folded += count,
            None => shown += line.chars().filter(|char| *char != OURS).count(),
        }
    }
    (shown, folded)
}

/// A fence for one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    word: String,
}

impl Fence {
    /// Creates the fence of `text`, of which only a part may be shown.
    pub fn new(text: &str, secret: &[u8; 32]) -> Self {
        Self { word: word_for(text, secret) }
    }

    /// Creates the fence with this word.
    pub fn from_word(word: String) -> Self {
        Self { word }
    }

    /// Replaces the marks of our lines by the word.
    pub fn with_word(&self, text: &str) -> String {
        text.replace(OURS, &format!("{} ", self.word))
    }

    /// Returns the number of characters of the text, without the words before our lines and without
    /// lines that replace text.
    pub fn chars(&self, text: &str) -> usize {
        let word = format!("{} ", self.word);
        let length = |line: &str| line.chars().count() - line.matches(&word).count() * word.len();
        let stands = |line: &str| line.strip_prefix(&word).and_then(left_out).is_some();
        text.split_inclusive('\n').filter(|line| !stands(line)).map(length).sum()
    }

    /// Returns the word that a sender cannot know.
    pub fn secret_word(&self) -> &str {
        &self.word
    }

    /// Returns `shown` between fences, as the block called `name`.
    pub fn around(&self, name: &str, shown: &str) -> String {
        let word = &self.word;
        format!("<<<{name} {word}\n{shown}\n{word}>>>")
    }
}

/// Returns the word of a text.
fn word_for(text: &str, secret: &[u8; 32]) -> String {
    // HMAC takes keys of any length, so this does not fail.
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
