//! A text in pieces: what may become one token, and what never does.
//!
//! The tokenizers publish a regular expression each; a piece is what it matches
//! next. Here are scanners that find the same pieces, in one pass and without
//! going back further than one piece. They differ in four points: only
//! `o200k_base` parts words where a capital follows a small letter, takes marks
//! for letters, keeps `'s` with its word, and slashes with the punctuation
//! before them.
//!
//! General categories are those of the Unicode version of `icu_properties`,
//! which may be newer than another implementation's.

use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

use super::Tokenizer;

/// The maximum number of digits in a piece.
const DIGITS: usize = 3;

/// The class of a character in the patterns. Every character has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharacterClass {
    /// A capital or title letter: `Lu`, `Lt`.
    Upper,
    /// A small letter: `Ll`.
    Lower,
    /// A letter that is neither, and stands for both: `Lm`, `Lo`.
    Caseless,
    /// A combining mark: `M`.
    Mark,
    /// A digit or another number: `N`.
    Number,
    /// CR or LF.
    Newline,
    /// White space otherwise.
    Space,
    /// Punctuation, symbols, control and format characters, and unassigned ones.
    Other,
}

use CharacterClass::{Caseless, Lower, Mark, Newline, Number, Other, Space, Upper};

impl CharacterClass {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Lower,
            'A'..='Z' => Upper,
            '0'..='9' => Number,
            '\r' | '\n' => Newline,
            '\0'..='\x7f' if !c.is_ascii_whitespace() && c != '\x0b' => Other,
            _ if c.is_whitespace() => Space,
            // A small letter until Unicode 17, and so in the tokenizers.
            'ʕ' => Lower,
            _ => Self::of_category(CodePointMapData::<GeneralCategory>::new().get(c)),
        }
    }

    fn of_category(category: GeneralCategory) -> Self {
        use GeneralCategory as Is;
        match category {
            Is::UppercaseLetter | Is::TitlecaseLetter => Upper,
            Is::LowercaseLetter => Lower,
            Is::ModifierLetter | Is::OtherLetter => Caseless,
            Is::NonspacingMark | Is::SpacingMark | Is::EnclosingMark => Mark,
            Is::DecimalNumber | Is::LetterNumber | Is::OtherNumber => Number,
            _ => Other,
        }
    }

    /// Returns true if a word of `o200k_base` may have it before its lower-case letters.
    fn leads(self) -> bool {
        matches!(self, Upper | Caseless | Mark)
    }

    /// Returns true if it may be among the lower-case letters of such a word.
    fn follows(self) -> bool {
        matches!(self, Lower | Caseless | Mark)
    }

    /// Returns true for a letter: `\p{L}`, which excludes marks.
    fn is_alphabetic(self) -> bool {
        matches!(self, Upper | Lower | Caseless)
    }

    fn is_blank(self) -> bool {
        matches!(self, Newline | Space)
    }

    /// Returns true for a character that is neither blank nor a letter or number:
    /// `[^\s\p{L}\p{N}]`.
    fn is_sign(self) -> bool {
        matches!(self, Other | Mark)
    }
}

/// The pieces of a text, in order; together they are the text.
#[derive(Clone, Debug)]
pub struct PieceIter<'a> {
    rest: &'a str,
    tokenizer: Tokenizer,
    steps: usize,
}

impl<'a> PieceIter<'a> {
    /// Splits `text` into pieces as that tokenizer does.
    pub fn new(text: &'a str, tokenizer: Tokenizer) -> Self {
        Self { rest: text, tokenizer, steps: 0 }
    }

    /// Returns the number of characters examined so far, some of them more than once.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns the class of a character, and counts the step.
    fn class(&mut self, c: char) -> CharacterClass {
        self.steps += 1;
        CharacterClass::of(c)
    }

    /// Returns the number of bytes at the beginning of `text` that hold only such characters.
    fn run(&mut self, text: &str, belongs: impl Fn(CharacterClass) -> bool) -> usize {
        let other = text.find(|c| !belongs(self.class(c)));
        other.unwrap_or(text.len())
    }

    /// Matches a word of `cl100k_base` and one character before it, or a contraction.
    fn plain_word(&mut self, text: &str) -> Option<usize> {
        let ended = contraction(text);
        if ended > 0 {
            return Some(ended);
        }
        let lead = self.lead(text)?;
        let run = self.run(after(text, lead), CharacterClass::is_alphabetic);
        (run > 0).then_some(lead + run)
    }

    /// Matches a word of `o200k_base`, one character before it, and a contraction after it.
    ///
    /// The pattern first tries any leading letters and then at least one lower-case letter, or
    /// else leading letters alone. Letters without case belong to both kinds, so if upper-case
    /// letters come last, the word ends after the last letter that could be lower-case.
    fn cased_word(&mut self, text: &str) -> Option<usize> {
        let lead = self.lead(text)?;
        let word = after(text, lead);
        let (mut leading, mut both) = (0, None);
        for c in word.chars() {
            let class = self.class(c);
            if !class.leads() {
                break;
            }
            leading += c.len_utf8();
            if class.follows() {
                both = Some(leading);
            }
        }
        let small = self.run(after(word, leading), CharacterClass::follows);
        let end = if small > 0 {
            lead + leading + small
        } else if let Some(both) = both {
            lead + both
        } else if self.starts_with_mark(text) {
            // It was taken for the character before a word, and is one itself.
            lead
        } else if leading > 0 {
            lead + leading
        } else {
            return None;
        };
        Some(end + contraction(after(text, end)))
    }

    /// Returns the number of bytes before the letters of a word: none, or those of one
    /// character that is no letter, number or line break. `None` if the text begins
    /// with a number or a line break.
    fn lead(&mut self, text: &str) -> Option<usize> {
        let first = text.chars().next()?;
        match self.class(first) {
            Newline | Number => None,
            Upper | Lower | Caseless => Some(0),
            Mark | Space | Other => Some(first.len_utf8()),
        }
    }

    fn starts_with_mark(&mut self, text: &str) -> bool {
        text.chars().next().is_some_and(|first| self.class(first) == Mark)
    }

    /// Matches one to three digits.
    fn number(&mut self, text: &str) -> Option<usize> {
        let mut end = 0;
        for c in text.chars().take(DIGITS) {
            if self.class(c) != Number {
                break;
            }
            end += c.len_utf8();
        }
        (end > 0).then_some(end)
    }

    /// Matches signs, one space before them, and the characters of `tail` that follow.
    fn signs(&mut self, text: &str, tail: &[char]) -> Option<usize> {
        let lead = usize::from(text.starts_with(' '));
        let signs = self.run(after(text, lead), CharacterClass::is_sign);
        if signs == 0 {
            return None;
        }
        let end = lead + signs;
        let rest = after(text, end);
        let tail = rest.len() - rest.trim_start_matches(tail).len();
        self.steps += tail;
        Some(end + tail)
    }

    /// Matches white space: up to its last line break; without one, all but the last character if
    /// something follows, because that character belongs to the next piece.
    fn blank(&mut self, text: &str) -> usize {
        let (mut end, mut last, mut broken) = (0, 0, 0);
        for c in text.chars() {
            let class = self.class(c);
            if !class.is_blank() {
                break;
            }
            last = end;
            end += c.len_utf8();
            if class == Newline {
                broken = end;
            }
        }
        let closes = end == text.len();
        // At the end of the text one of the patterns takes all, breaks or not.
        if closes && self.tokenizer == Tokenizer::Cl100k {
            end
        } else if broken > 0 {
            broken
        } else if closes || last == 0 {
            end
        } else {
            last
        }
    }

    /// Returns the length in bytes of the piece at the beginning of `text`.
    fn piece(&mut self, text: &str) -> usize {
        let (word, tail): (_, &[char]) = match self.tokenizer {
            Tokenizer::O200k => (self.cased_word(text), &['\r', '\n', '/']),
            Tokenizer::Cl100k => (self.plain_word(text), &['\r', '\n']),
        };
        word.or_else(|| self.number(text))
            .or_else(|| self.signs(text, tail))
            .unwrap_or_else(|| self.blank(text))
    }
}

impl<'a> Iterator for PieceIter<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.rest.chars().next()?;
        // No piece is empty; if one were, the text would never end.
        let end = self.piece(self.rest).max(first.len_utf8());
        let (piece, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(piece)
    }
}

/// Returns the length in bytes of a contraction such as `'s` at the beginning of
/// `text`, in either case, including the long s (`ſ`).
fn contraction(text: &str) -> usize {
    let Some(word) = text.strip_prefix('\'') else {
        return 0;
    };
    let mut chars = word.chars().map(|c| match c {
        'ſ' => 's',
        _ => c.to_ascii_lowercase(),
    });
    let length = match (chars.next(), chars.next()) {
        (Some('s' | 't' | 'm' | 'd'), _) => word.chars().next().map_or(0, char::len_utf8),
        (Some('r' | 'v'), Some('e')) | (Some('l'), Some('l')) => 2,
        _ => return 0,
    };
    1 + length
}

/// Returns `text` without that many bytes at its beginning.
fn after(text: &str, bytes: usize) -> &str {
    text.get(bytes..).unwrap_or_default()
}
