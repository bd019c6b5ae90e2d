//! The parts below a text: a signature, a disclaimer, the footer of a mailing list.
//!
//! Each is searched for only at the end. In doubt, lines belong to the text, and some text always
//! stays above. [`fold`](super::fold()) decides whether the parts are shown.

use super::marks::{is_quoted, is_rule, sent_from};
use super::phrases::{
    CLOSINGS, DISCLAIMS, LIST_BEGINS, LISTS, MESSAGE, begins, contains_any, names,
};
use crate::text::fence::SIGNATURE;

/// Maximum number of lines of a signature after `--`.
const MAX_SIGNATURE: usize = 12;
/// Maximum number of lines with contact details after a name.
const MAX_CONTACT: usize = 9;
/// Maximum length of a line that is not a sentence, in characters.
const MAX_LINE: usize = 80;
/// Maximum number of lines of a list's footer.
const MAX_FOOTER: usize = 14;
/// Minimum length of a disclaimer, in characters.
const MIN_DISCLAIMER: usize = 100;
/// Maximum number of parts that are removed.
const MAX_PARTS: usize = 6;

/// The parts below a text, each from its first line on.
#[derive(Debug, Default)]
pub struct MessageFoot<'t> {
    /// Signatures, with their delimiters.
    pub signature: Vec<&'t str>,
    /// Paragraphs about confidentiality and the like.
    pub disclaimer: Vec<&'t str>,
    /// The footer of a mailing list.
    pub footer: Vec<&'t str>,
}

impl<'t> MessageFoot<'t> {
    /// Removes the parts at the end of `lines`; returns the lines above them.
    pub fn cut_from<'a>(&mut self, mut lines: &'a [&'t str]) -> &'a [&'t str] {
        for _ in 0..MAX_PARTS {
            lines = trimmed(lines);
            let (at, part) = if let Some(at) = footer(lines) {
                (at, &mut self.footer)
            } else if let Some(at) = disclaimer(lines) {
                (at, &mut self.disclaimer)
            } else if let Some(at) = signature(lines) {
                (at, &mut self.signature)
            } else {
                break;
            };
            let Some((above, below)) = lines.split_at_checked(at) else { break };
            // A message that consists of such a part alone keeps it as its text.
            if trimmed(above).is_empty() {
                break;
            }
            part.splice(..0, below.iter().copied());
            lines = above;
        }
        lines
    }
}

/// Returns lines without blank ones at the end.
fn trimmed<'a, 't>(lines: &'a [&'t str]) -> &'a [&'t str] {
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines.get(..end).unwrap_or_default()
}

/// Returns true if a paragraph begins at `at`.
fn begins_paragraph(lines: &[&str], at: usize) -> bool {
    let above = at.checked_sub(1).and_then(|above| lines.get(above));
    above.is_none_or(|line| line.is_empty() || is_rule(line))
}

/// Returns lines as one, in lower case and without Markdown's signs.
fn flat(lines: &[&str]) -> String {
    lines.join(" ").replace(['*', '\\'], "").to_lowercase()
}

/// Returns the line at which the footer of a list begins.
fn footer(lines: &[&str]) -> Option<usize> {
    let from = lines.len().saturating_sub(MAX_FOOTER);
    let first = lines.iter().rposition(|line| is_quoted(line)).map_or(from, |at| from.max(at + 1));
    let is_start = |at: &usize| {
        let line = lines.get(*at).copied().unwrap_or_default();
        let rest = lines.get(*at..).unwrap_or_default();
        let ruled = line == "--" || line == "—" || is_rule(line);
        ruled && contains_any(LISTS, &flat(rest))
            || begins_paragraph(lines, *at) && begins(LIST_BEGINS, &flat(rest))
    };
    let at = (first..lines.len()).rev().find(is_start)?;
    // The rule above the words belongs to the footer.
    let above = at.checked_sub(1).filter(|above| {
        lines.get(*above).is_some_and(|line| *line == "--" || *line == "—" || is_rule(line))
    });
    Some(above.filter(|above| *above >= first).unwrap_or(at))
}

/// Returns the line at which a disclaimer begins: a paragraph with two of its phrases, followed
/// only by paragraphs with one.
fn disclaimer(lines: &[&str]) -> Option<usize> {
    let mut found = None;
    let mut end = lines.len();
    for at in (0..lines.len()).rev() {
        if lines.get(at).is_some_and(|line| is_quoted(line)) {
            break;
        }
        if lines.get(at).is_none_or(|line| line.is_empty()) || !begins_paragraph(lines, at) {
            continue;
        }
        let text = flat(lines.get(at..end).unwrap_or_default());
        let stems = DISCLAIMS.split('|').filter(|stem| text.contains(stem)).take(2).count();
        let long = text.chars().count() >= MIN_DISCLAIMER;
        match stems {
            2 if long && contains_any(MESSAGE, &text) => found = Some(at),
            1 | 2 => {}
            _ if is_rule(&text) => {}
            _ => break,
        }
        end = at;
    }
    let at = found?;
    let rule =
        at.checked_sub(1).filter(|above| lines.get(*above).is_some_and(|line| is_rule(line)));
    Some(rule.unwrap_or(at))
}

/// Returns the line at which a signature begins.
fn signature(lines: &[&str]) -> Option<usize> {
    let last = lines.len().checked_sub(1)?;
    let is_marked = |line: &&str| line.starts_with(SIGNATURE);
    if lines.get(last).is_some_and(is_marked) {
        let above = lines.iter().rposition(|line| !line.is_empty() && !is_marked(line))?;
        let delimiter = lines.get(above).is_some_and(|line| *line == "--");
        return Some(if delimiter { above } else { above + 1 });
    }
    let quoted = lines.iter().rposition(|line| is_quoted(line)).map_or(0, |at| at + 1);
    let delimiter = lines.iter().rposition(|line| *line == "--");
    if let Some(at) = delimiter.filter(|at| *at >= quoted && lines.len() - at <= MAX_SIGNATURE + 1)
    {
        return Some(at);
    }
    if lines.get(last).is_some_and(|line| sent_from(line)) {
        return Some(last);
    }
    contact(lines, quoted)
}

/// Returns the line at which contact details begin, below the closing words and a name, which stay.
fn contact(lines: &[&str], from: usize) -> Option<usize> {
    let first = lines.len().saturating_sub(MAX_CONTACT + 4).max(from);
    let closing = (first..lines.len()).rev().find(|at| {
        let line = flat(lines.get(*at..=*at).unwrap_or_default());
        names(CLOSINGS, line.trim().trim_end_matches([',', '.', '!', ';', '-', '–', ' ']))
    })?;
    let name = closing + 1 + lines.get(closing + 1..)?.iter().position(|line| !line.is_empty())?;
    let rest = lines.get(name + 1..)?;
    let at = name + 1 + rest.iter().position(|line| !line.is_empty())?;
    let rest = lines.get(at..)?;
    // Sentences and postscripts are text, not contact details.
    let says = |line: &&str| {
        let lower = line.to_lowercase();
        line.chars().count() > MAX_LINE
            || line.ends_with(['?', '!', ':'])
            || line.ends_with('.') && line.split(' ').count() >= 5
            || ["ps", "p.s", "p. s", "nb"].iter().any(|start| lower.starts_with(start))
    };
    let many = rest.iter().filter(|line| !line.is_empty()).count();
    ((2..=MAX_CONTACT).contains(&many)
        && !rest.iter().any(says)
        && rest.iter().any(|line| reaches(line)))
    .then_some(at)
}

/// Returns true for a line with an address or a telephone number.
fn reaches(line: &str) -> bool {
    let lower = line.to_lowercase();
    let digits = line.chars().filter(char::is_ascii_digit).count();
    let number = |c: char| c.is_ascii_digit() || "+()/-. \u{a0}".contains(c);
    let phone = digits >= 7
        && line
            .split(|c| !number(c))
            .any(|run| run.chars().filter(char::is_ascii_digit).count() >= 7);
    phone || line.contains('@') || lower.contains("www.") || lower.contains("://")
}
