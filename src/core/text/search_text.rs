//! Text as a search sees it: a sequence of words.
//!
//! A search finds whole words in any case, and never parts of them. Here, a word is a run of
//! letters and digits in lower case; scripts without spaces are split into single characters, so
//! that any run of them can be found as a phrase. Further rules of a provider's index are not known
//! here.

/// Returns the words of a text, in order and in lower case.
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_word(text, |word| found.push(word.to_owned()));
    found
}

/// Calls `found` with each word of a text.
pub fn each_word(text: &str, mut found: impl FnMut(&str)) {
    let mut word = String::new();
    for char in text.chars() {
        if char.is_ascii_alphanumeric() {
            word.push(char.to_ascii_lowercase());
        } else if char.is_alphanumeric() && !is_single(char) || is_mark(char) && !word.is_empty() {
            word.extend(char.to_lowercase());
        } else if !is_invisible(char) {
            if !word.is_empty() {
                found(&word);
                word.clear();
            }
            if is_single(char) {
                found(char.encode_utf8(&mut [0; 4]));
            }
        }
    }
    if !word.is_empty() {
        found(&word);
    }
}

/// Returns true if the words of `phrase` follow one another in `text`, or if it is empty.
pub fn has_phrase(text: &[String], phrase: &[String]) -> bool {
    phrase.is_empty() || text.windows(phrase.len()).any(|words| words == phrase)
}

/// Returns true for a text of signs that no mail service searches: punctuation, currencies,
/// operators. Emoji do not count, because Gmail finds them.
pub fn is_punctuation(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_ascii_punctuation()
            || c.is_whitespace()
            || c.is_control()
            || matches!(c, '\u{a0}'..='\u{bf}' if !c.is_alphanumeric())
            || matches!(c, '×' | '÷' | '\u{2000}'..='\u{205f}' | '\u{20a0}'..='\u{20cf}')
            || matches!(c, '\u{2200}'..='\u{22ff}' | '\u{3000}'..='\u{303f}')
    })
}

/// Returns true for characters that are written without spaces between words.
fn is_single(char: char) -> bool {
    matches!(char,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns true for marks that belong to the letter before them.
fn is_mark(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

/// Returns true for characters that no reader sees, which do not end a word.
fn is_invisible(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}
