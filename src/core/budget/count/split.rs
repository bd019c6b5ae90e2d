//! Splits a text into pieces. A piece is one or more tokens, and no token crosses its end.
//!
//! Each tokenizer publishes a regular expression; a piece is its next match. These scanners find
//! the same pieces in one pass, without going back further than one piece. The two tokenizers
//! differ in four points: only `o200k_base` splits words where a capital follows a small letter,
//! treats marks as letters, keeps `'s` with its word, and keeps slashes with the punctuation
//! before them.
//!
//! General categories have the Unicode version of `icu_properties`, which may be newer than in
//! other implementations.

use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

use super::vocabulary::Tokenizer;

/// The maximum number of digits in a piece.
const DIGITS: usize = 3;

/// The class of a character in the patterns. Every character has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharacterClass {
    /// A capital or title-case letter: `Lu`, `Lt`.
    Upper,
    /// A small letter: `Ll`.
    Lower,
    /// A letter without case, which matches as either: `Lm`, `Lo`.
    Caseless,
    /// A combining mark: `M`.
    Mark,
    /// A digit or another number: `N`.
    Number,
    /// CR or LF.
    Newline,
    /// Any other white space.
    Space,
    /// Punctuation, symbols, control and format characters, and unassigned ones.
    Other,
}

use CharacterClass::{Caseless, Lower, Mark, Newline, Number, Other, Space, Upper};

impl CharacterClass {
    fn from_char(c: char) -> Self {
        match c {
            // Most text is ASCII, which needs no table.
            'a'..='z' => Lower,
            'A'..='Z' => Upper,
            '0'..='9' => Number,
            '\r' | '\n' => Newline,
            // Unlike `is_whitespace`, `is_ascii_whitespace` is false for the vertical tab.
            '\0'..='\x7f' if !c.is_ascii_whitespace() && c != '\x0b' => Other,
            _ if c.is_whitespace() => Space,
            // A small letter before Unicode 17, and in the tokenizers' older tables.
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

    /// Returns true if it may precede the lower-case letters of a word of `o200k_base`.
    fn leads(self) -> bool {
        matches!(self, Upper | Caseless | Mark)
    }

    /// Returns true if it may be among the lower-case letters of a word of `o200k_base`.
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

/// The pieces of a text, in order. Concatenated, they are the text.
#[derive(Clone, Debug)]
pub struct PieceIter<'a> {
    rest: &'a str,
    tokenizer: Tokenizer,
    steps: usize,
}

impl<'a> PieceIter<'a> {
    /// Creates an iterator over the pieces of `text` for that tokenizer.
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
        CharacterClass::from_char(c)
    }

    /// Returns the length in bytes of the longest prefix of `text` whose characters all belong.
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

    /// Matches a word of `o200k_base`, with one character before it and a contraction after it.
    ///
    /// The pattern first tries any number of leading letters followed by at least one lower-case
    /// letter, and if that fails, leading letters alone. Letters without case belong to both
    /// kinds, so if upper-case letters come last, the word ends after the last letter that could
    /// be lower-case.
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
            // The mark was consumed as the character before a word, but is a word itself.
            lead
        } else if leading > 0 {
            lead + leading
        } else {
            return None;
        };
        Some(end + contraction(after(text, end)))
    }

    /// Returns the length in bytes of the one character that may precede the letters of a word; 0
    /// if the text begins with a letter, `None` if it begins with a number or a line break.
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

    /// Matches white space up to its last line break. Without a line break, matches all but the
    /// last character if more text follows, because that character belongs to the next piece.
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
        // At the end of the text, the pattern of `cl100k_base` matches all white space,
        // including any after the last line break.
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
        // No piece is empty; an empty one would make the iteration endless.
        let end = self.piece(self.rest).max(first.len_utf8());
        let (piece, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(piece)
    }
}

/// Returns the length in bytes of a contraction such as `'s` at the beginning of `text`, in
/// either case; the long s (`ſ`) counts as an s.
fn contraction(text: &str) -> usize {
    let Some(word) = text.strip_prefix('\'') else {
        return 0;
    };
    let mut chars = word.chars().map(|c| match c {
        // The patterns ignore case, and `ſ` folds to `s` in Unicode.
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

/// Returns `text` without its first `bytes` bytes.
fn after(text: &str, bytes: usize) -> &str {
    text.get(bytes..).unwrap_or_default()
}
