//! The words of a paragraph, collected run by run, with strikethrough, exponents and link targets.

use crate::run_style::{BaselineShift, RunStyle};

/// The mark around struck text, as in Markdown.
const STRUCK: &str = "~~";
/// The longest text that is converted to an exponent or index, in bytes.
const SHIFTED: usize = 20;

/// Maximum bytes of a link target that are shown.
const MAX_LEN: usize = 500;

/// The words of an open paragraph.
#[derive(Debug, Default)]
pub struct ParagraphWords {
    text: String,
    /// True if the last words are struck out.
    struck: bool,
    /// The targets of open links, each with the position at which its words begin.
    links: Vec<(String, usize)>,
}

impl ParagraphWords {
    /// Adds the words of a run with this appearance.
    pub fn run(&mut self, text: &str, text_style: &RunStyle) {
        let struck = text_style.struck == Some(true);
        let words = text.trim_start();
        let (space, words) = text.split_at(text.len() - words.len());
        self.text.push_str(space);
        // White space is neither struck nor shifted: marks would split a passage at each of its
        // spaces.
        if words.is_empty() {
            return;
        }
        if struck != self.struck {
            self.strike();
        }
        match shifted(words, text_style.shift.unwrap_or_default()) {
            Some(shifted) => self.text.push_str(&shifted),
            None => self.text.push_str(words),
        }
    }

    /// Begins or ends a struck passage. Its mark is placed next to a word, not a space.
    fn strike(&mut self) {
        let end = if self.struck { self.text.trim_end().len() } else { self.text.len() };
        self.text.insert_str(end, STRUCK);
        self.struck = !self.struck;
    }

    /// Returns the position of the next words.
    pub fn position(&self) -> usize {
        self.text.len()
    }

    /// Replaces the words from a position on.
    pub fn replace(&mut self, from: usize, with: impl FnOnce(&str) -> String) {
        if let Some(words) = self.text.get(from..) {
            let with = with(words);
            self.text.truncate(from);
            self.text.push_str(&with);
        }
    }

    /// Begins a link. Each link must be ended, even one without a target.
    pub fn link(&mut self, target: &str) {
        self.links.push((target.to_owned(), self.text.len()));
    }

    /// Ends the link that began last.
    pub fn unlink(&mut self) {
        // A mark after the target would make the target part of the struck words.
        if self.struck {
            self.strike();
        }
        if let Some((target, from)) = self.links.pop() {
            self.target(&target, from);
        }
    }

    /// Ends the paragraph. Returns its words, and the open links, which continue in the next
    /// paragraph.
    pub fn end(mut self) -> (String, Vec<String>) {
        if self.struck {
            self.strike();
        }
        let open = std::mem::take(&mut self.links);
        open.iter().rev().for_each(|(target, from)| self.target(target, *from));
        (self.text, open.into_iter().map(|(target, _)| target).collect())
    }

    fn target(&mut self, target: &str, from: usize) {
        let words = self.text.get(from..).unwrap_or_default();
        if let Some(target) = target_after(words, target) {
            let end = self.text.trim_end().len();
            self.text.insert_str(end, &target);
        }
    }
}

/// Returns the text to add after the words of a link: ` <target>`. Returns `None` if the words show
/// the target already, if there are no visible words, or if the target is within the file.
pub fn target_after(words: &str, target: &str) -> Option<String> {
    let target: String = target.split_whitespace().collect();
    let last = words.split_whitespace().next_back()?;
    let cut = target.floor_char_boundary(MAX_LEN);
    let (shown, more) = target.split_at(cut);
    let more = if more.is_empty() { "" } else { "…" };
    let says = bare(last) == bare(&target);
    // Targets within the file (`#anchor`, a sheet's cell) have no scheme.
    (target.contains(':') && !says).then(|| format!(" <{shown}{more}>"))
}

/// Returns an address without its scheme, punctuation and final slash, which people leave out.
fn bare(address: &str) -> String {
    let around = |c: char| matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | '"' | ',' | ';' | '.');
    let address = address.trim_matches(around).to_lowercase();
    let schemes = ["https://", "http://", "mailto:", "tel:"];
    let rest = schemes.into_iter().find_map(|scheme| address.strip_prefix(scheme));
    let rest = rest.unwrap_or(&address);
    rest.strip_suffix('/').unwrap_or(rest).to_owned()
}

/// Returns raised or lowered digits and signs as Unicode characters. Returns `None` if any of the
/// text has no such character, as in HTML.
pub fn shifted(text: &str, shift: BaselineShift) -> Option<String> {
    let signs = match shift {
        BaselineShift::Base => return None,
        BaselineShift::Up => "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾",
        BaselineShift::Down => "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎",
    };
    let sign = |c: char| {
        let c = if matches!(c, '−' | '–') { '-' } else { c };
        "0123456789+-=()".find(c).and_then(|at| signs.chars().nth(at))
    };
    let (words, space) = text.split_at(text.trim_end().len());
    let fits = !words.is_empty() && words.len() <= SHIFTED;
    let shifted: Option<String> = fits.then(|| words.chars().map(sign).collect()).flatten();
    shifted.map(|shifted| shifted + space)
}

/// Returns a part of a formula, ready to be placed next to a sign: in brackets, unless it is one
/// word.
pub fn bracketed(part: &str) -> String {
    let word = part.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | ','));
    let whole = part.starts_with('(') && part.find(')') == Some(part.len() - 1);
    if word || whole { part.to_owned() } else { format!("({part})") }
}
