//! Characters that take up no room on a screen.
//!
//! Senders pad previews with them, hide instructions in them and split words with them. Readers do
//! not see them, and a model pays for all of them. They are removed, except for the few that change
//! how visible neighbours look: joiners inside Persian and Indic words and inside emoji, and the
//! selector that turns a sign into an emoji. Blank characters are left to the caller. [`scan`]
//! finds out the purposes of the removed ones.

mod shown;
pub(super) mod strip;

pub use shown::{TextKind, shown};
pub(super) use strip::is_emoji;
pub use strip::{is_invisible, visible, written_out};
use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};

use super::fence::theirs;
use super::note::{Note, note, quoted};
use super::orders::gives_orders_unseen;

/// Joiners and spaces without width, two of which encode the bits of hidden texts.
const WIDTHLESS: [char; 5] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];
/// Minimum length of a run of them that is not padding.
const BINARY: usize = 16;
/// Minimum length of a text that is spelled in invisible characters.
const SPELLED: usize = 4;
/// Number of characters of a word that are examined on either side.
const WORD: usize = 40;
/// Maximum number of examples.
const EXAMPLES: usize = 3;
/// Number of padding characters above which there is a note.
const PADDING: usize = 200;
/// Maximum length of a line that is laid out, in bytes.
const LINE: usize = 2_000;

/// The purposes of the invisible characters of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InvisibleUse {
    /// Number of characters that pad a preview, between blanks or at an end.
    pub padding: usize,
    /// Number of words that they split, which hides the words from filters.
    pub splits: usize,
    /// The first of these words.
    pub words: Vec<String>,
    /// The text that they spell: in tags, in selectors, or in bits.
    pub spelled: String,
    /// Number of characters that spell it, or seem to.
    pub spelling: usize,
    /// A part of a line that direction marks reverse: as written, and as people see it.
    pub turned: Option<(String, String)>,
}

impl InvisibleUse {
    /// Returns the notes about these characters.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if let Some((written, shown)) = &self.turned {
            let (written, shown) = (quoted(written), quoted(shown));
            notes.push(note!(
                "direction marks were removed: {} is shown to people as {}",
                written,
                shown
            ));
        }
        match self.words.first() {
            Some(word) if self.splits == 1 => {
                notes.push(note!("the word {} is split by invisible characters", quoted(word)));
            }
            Some(word) => notes.push(note!(
                "{} words are split by invisible characters, such as {}",
                self.splits,
                quoted(word)
            )),
            None => {}
        }
        if gives_orders_unseen(&self.spelled) {
            notes.push(note!(
                "{} invisible characters encode hidden text, which was removed; it reads like an \
                 order to an assistant",
                self.spelling
            ));
        } else if self.spelling > 0 {
            notes.push(note!(
                "{} invisible characters encode hidden text, which was removed",
                self.spelling
            ));
        }
        if self.padding > PADDING {
            notes.push(note!("{} invisible characters pad its preview", self.padding));
        }
        notes
    }
}

/// Adds the purposes of the invisible characters of `s`.
pub fn scan(s: &str, unseen: &mut InvisibleUse) {
    if s.is_ascii() || !s.chars().any(is_invisible) {
        return;
    }
    // Examples are quoted in notes, where a mark of ours would have a meaning.
    let s = &*theirs(s.to_owned());
    let chars: Vec<char> = s.chars().collect();
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        if !is_invisible(*c) {
            at += 1;
            continue;
        }
        let rest = chars.get(at..).unwrap_or_default();
        let len = rest.iter().take_while(|c| is_invisible(**c)).count();
        let run = rest.get(..len).unwrap_or_default();
        let before = chars.get(..at).unwrap_or_default();
        run_of(before, run, chars.get(at + len..).unwrap_or_default(), unseen);
        at += len;
    }
    for line in s.lines().filter(|line| line.contains(turns)) {
        if unseen.turned.is_some() {
            break;
        }
        unseen.turned = turned(line);
    }
}

/// Adds the order in which people see a text whose direction the markup reverses.
pub fn scan_reversed(s: &str, unseen: &mut InvisibleUse) {
    for line in s.lines() {
        if unseen.turned.is_some() {
            break;
        }
        unseen.turned = turned(&format!("\u{202e}{line}\u{202c}"));
    }
}

/// Adds the purpose of one run of invisible characters.
fn run_of(before: &[char], run: &[char], after: &[char], unseen: &mut InvisibleUse) {
    let (last, next) = (before.last().copied(), after.first().copied());
    // The flags of England, Scotland and Wales are spelled in tags.
    let flag = last == Some('\u{1f3f4}') && run.len() <= 8;
    if let Some(text) = spelled(run).filter(|_| !flag) {
        unseen.spelling += run.len();
        if unseen.spelled.len() < LINE {
            unseen.spelled.push_str(&text);
            unseen.spelled.push(' ');
        }
        return;
    }
    // In scripts from Hebrew on, words use such characters legitimately.
    let plain = |c: &char| c.is_alphabetic() && *c < '\u{590}';
    let soft = run == ['\u{ad}'];
    // Hyphens between syllables are honest, between single characters they are not.
    let hyphenates = soft && after.get(1) != Some(&'\u{ad}');
    if last.as_ref().is_some_and(plain)
        && next.as_ref().is_some_and(plain)
        && run.len() <= 3
        && !hyphenates
        && !run.iter().any(|c| turns(*c))
    {
        let joined = |c: &&char| plain(c) || is_invisible(**c);
        let length = before.iter().rev().take(WORD).take_while(joined).count();
        let begin = before.get(before.len() - length..).unwrap_or_default().iter();
        let word: String = begin.chain(after.iter().take(WORD).take_while(joined)).collect();
        let word = visible(&word).into_owned();
        if unseen.words.contains(&word) {
            return;
        }
        unseen.splits += 1;
        if unseen.words.len() < EXAMPLES {
            unseen.words.push(word);
        }
        return;
    }
    let blank = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || c == '\u{2800}');
    if blank(last) || blank(next) {
        unseen.padding += run.len();
    }
}

/// Returns the text that a run of invisible characters spells, if any.
fn spelled(run: &[char]) -> Option<String> {
    let tags: String = run
        .iter()
        .filter(|c| ('\u{e0020}'..='\u{e007e}').contains(*c))
        .filter_map(|c| char::from_u32(u32::from(*c) - 0xe0000))
        .collect();
    if tags.len() >= SPELLED {
        return Some(tags);
    }
    let selectors: Vec<u8> = run.iter().filter_map(|c| selector(*c)).collect();
    if selectors.len() >= SPELLED {
        return Some(String::from_utf8_lossy(&selectors).into_owned());
    }
    let bits: Vec<char> = run.iter().copied().filter(|c| WIDTHLESS.contains(c)).collect();
    let mut signs = bits.clone();
    signs.sort_unstable();
    signs.dedup();
    if bits.len() < BINARY || signs.len() < 2 {
        return None;
    }
    let text = |one: char| -> String {
        let bit = |byte: u8, bit: &char| (byte << 1) | u8::from(*bit == one);
        let byte = |bits: &[char]| bits.iter().fold(0, bit);
        bits.chunks(8).map(|bits| char::from(byte(bits))).collect()
    };
    let readable = |text: &String| text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    // Either of the two signs may be the 1; the readable result decides.
    signs.iter().map(|sign| text(*sign)).find(readable)
}

/// Returns true for tags and variation selectors, which spell hidden texts and the flags of
/// England, Scotland and Wales.
pub(super) fn spells(c: char) -> bool {
    ('\u{e0020}'..='\u{e007f}').contains(&c) || selector(c).is_some()
}

/// Returns the byte that a variation selector encodes in hidden texts.
fn selector(c: char) -> Option<u8> {
    match u32::from(c) {
        code @ 0xfe00..=0xfe0f => u8::try_from(code - 0xfe00).ok(),
        code @ 0xe0100..=0xe01ef => u8::try_from(code - 0xe0100 + 16).ok(),
        _ => None,
    }
}

/// Returns true for characters that change the direction of the text after them.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the part of a line that people see in another order, as written and as seen; `None` for
/// lines of scripts that are written from right to left, which need the marks.
fn turned(line: &str) -> Option<(String, String)> {
    if line.len() > LINE {
        return None;
    }
    let from_right = |c: char| matches!(bidi_class(c), BidiClass::R | BidiClass::AL);
    if line.chars().any(|c| !is_invisible(c) && from_right(c)) {
        return None;
    }
    let info = BidiInfo::new(line, Some(Level::ltr()));
    let paragraph = info.paragraphs.first()?;
    let shown = info.reorder_line(paragraph, paragraph.range.clone());
    let written: Vec<char> = line.chars().filter(|c| !is_invisible(*c)).collect();
    let shown: Vec<char> = shown.chars().filter(|c| !is_invisible(*c)).collect();
    let differs = |(a, b): (&char, &char)| a != b;
    let first = written.iter().zip(&shown).position(differs)?;
    let last = written.iter().zip(&shown).rposition(differs)?;
    let start =
        written.get(..first)?.iter().rposition(|c| c.is_whitespace()).map_or(0, |at| at + 1);
    let end = written
        .get(last..)?
        .iter()
        .position(|c| c.is_whitespace())
        .map_or(written.len(), |at| last + at);
    Some((written.get(start..end)?.iter().collect(), shown.get(start..end)?.iter().collect()))
}
