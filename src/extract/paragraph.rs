//! The words of a paragraph, run by run, with what is struck out or raised in them, and the
//! targets of their links.

use crate::run_style::{BaselineShift, RunStyle};

/// What stands around text that is struck out.
const STRUCK: &str = "~~";
/// The longest text that is raised or lowered, in bytes.
const SHIFTED: usize = 20;

/// Bytes of a target that are shown.
const MAX_LEN: usize = 500;

/// The words of a paragraph that is open.
#[derive(Debug, Default)]
pub struct ParagraphWords {
    text: String,
    /// True if what comes last is struck out.
    struck: bool,
    /// The targets of links that are open, and where their words begin.
    links: Vec<(String, usize)>,
}

impl ParagraphWords {
    /// Adds the words of a run that looks so.
    pub fn run(&mut self, text: &str, look: &RunStyle) {
        let struck = look.struck == Some(true);
        let words = text.trim_start();
        let (space, words) = text.split_at(text.len() - words.len());
        self.text.push_str(space);
        if words.is_empty() {
            return;
        }
        if struck != self.struck {
            self.strike();
        }
        match shifted(words, look.shift.unwrap_or_default()) {
            Some(shifted) => self.text.push_str(&shifted),
            None => self.text.push_str(words),
        }
    }

    /// Begins or ends what is struck out: its mark stands at a word, and not at a space.
    fn strike(&mut self) {
        let end = if self.struck { self.text.trim_end().len() } else { self.text.len() };
        self.text.insert_str(end, STRUCK);
        self.struck = !self.struck;
    }

    /// Returns where the next words stand.
    pub fn place(&self) -> usize {
        self.text.len()
    }

    /// Replaces the words from a place on.
    pub fn replace(&mut self, from: usize, with: impl FnOnce(&str) -> String) {
        if let Some(words) = self.text.get(from..) {
            let with = with(words);
            self.text.truncate(from);
            self.text.push_str(&with);
        }
    }

    /// Begins a link; one without a target still has to end.
    pub fn link(&mut self, target: &str) {
        self.links.push((target.to_owned(), self.text.len()));
    }

    /// Ends the link that began last.
    pub fn unlink(&mut self) {
        if self.struck {
            self.strike();
        }
        if let Some((target, from)) = self.links.pop() {
            self.target(&target, from);
        }
    }

    /// Ends the paragraph: returns its words, and the links that go on in the next one.
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

/// Returns what is added to the words of a link: ` <target>`; none if they say it already, if
/// there are none that anybody sees, or if it leads to a place in the file.
pub fn target_after(words: &str, target: &str) -> Option<String> {
    let target: String = target.split_whitespace().collect();
    let last = words.split_whitespace().next_back()?;
    let cut = target.floor_char_boundary(MAX_LEN);
    let (shown, more) = target.split_at(cut);
    let more = if more.is_empty() { "" } else { "…" };
    let says = bare(last) == bare(&target);
    (target.contains(':') && !says).then(|| format!(" <{shown}{more}>"))
}

/// Returns an address without what people leave out of it.
fn bare(address: &str) -> String {
    let around = |c: char| matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | '"' | ',' | ';' | '.');
    let address = address.trim_matches(around).to_lowercase();
    let schemes = ["https://", "http://", "mailto:", "tel:"];
    let rest = schemes.into_iter().find_map(|scheme| address.strip_prefix(scheme));
    let rest = rest.unwrap_or(&address);
    rest.strip_suffix('/').unwrap_or(rest).to_owned()
}

/// Returns raised or lowered digits and signs as characters of their own; none if any of the
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

/// Returns a part of a formula that stands beside a sign: in brackets, unless it is one word.
pub fn bracketed(part: &str) -> String {
    let word = part.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | ','));
    let whole = part.starts_with('(') && part.find(')') == Some(part.len() - 1);
    if word || whole { part.to_owned() } else { format!("({part})") }
}
