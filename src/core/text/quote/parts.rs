//! The parts of a message: new text, forwarded message, quoted text and the parts below.
//!
//! They are separated by the conventions of mail programs in the larger languages and by the marks
//! left from the HTML (see [`fence`](crate::text::fence)). This works on clean lines. In doubt, text
//! counts as new: replies between quotes stay whole, and so do forwarded messages, which are sent
//! for their quoted part.

use super::foot::MessageFoot;
use super::marks::{
    HeaderKind, MAX_ATTRIBUTION, SubjectMark, attribution, bare, block, forwards, header,
    heads_block, is_broken_off, is_quoted, is_rule, names_author, original_message, sort, spread,
    topic,
};

use crate::text::fence::QUOTE;

/// Minimum number of lines of a quote at the beginning; a shorter one stays with the answer below
/// it.
const MIN_LEADING: usize = 3;

/// The text of a message in parts; every line is in one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuoteParts {
    /// The new text of this message.
    pub fresh: String,
    /// A message that it forwards, with the lines above it.
    pub forwarded: Option<String>,
    /// The text it quotes, with the line that introduces it.
    pub quoted: Option<String>,
    /// The signature, with its delimiter.
    pub signature: Option<String>,
    /// Paragraphs about confidentiality and the like.
    pub disclaimer: Option<String>,
    /// The footer of a mailing list.
    pub footer: Option<String>,
}

/// Separates new text from quoted text and signature, without regard to the subject.
pub fn split_quoted(text: &str) -> QuoteParts {
    split(text, "")
}

/// Separates a text from quotes, from a forwarded message and from the parts below it. The
/// `subject` decides whether a block of header lines begins history or a forwarded message.
pub fn split(text: &str, subject: &str) -> QuoteParts {
    let marked = spread(text);
    let lines: Vec<&str> = marked.iter().map(String::as_str).collect();
    let headers: Vec<Option<HeaderKind>> = marked.iter().map(|line| header(bare(line))).collect();
    let text = MessageLines {
        lines: &lines,
        headers: &headers,
        sort: sort(subject),
        topic: topic(subject),
    };
    // Quotes and header lines below the beginning of a forwarded message belong to that message.
    if let Some((above, below)) = text.forwarded().and_then(|at| lines.split_at_checked(at)) {
        let mut foot = MessageFoot::default();
        let fresh = foot.cut_from(above);
        return parts(fresh, &[], below, foot);
    }
    if let Some((fresh, quoted)) =
        text.plain_cut(lines.len()).and_then(|at| lines.split_at_checked(at))
    {
        return history(fresh, quoted, MessageFoot::default(), &lines);
    }
    // A signature or the footer of a list may be below the quote.
    let mut foot = MessageFoot::default();
    let rest = foot.cut_from(&lines);
    if let Some((fresh, quoted)) = trailing(rest).and_then(|at| rest.split_at_checked(at)) {
        return history(fresh, quoted, foot, &lines);
    }
    if let Some((quoted, fresh)) = leading(rest).and_then(|at| rest.split_at_checked(at)) {
        return history(fresh, quoted, foot, &lines);
    }
    parts(rest, &[], &[], foot)
}

/// Returns the parts of a reply; a reply without new text is left whole.
fn history<'t>(
    fresh: &[&'t str],
    quoted: &[&'t str],
    mut foot: MessageFoot<'t>,
    all: &[&'t str],
) -> QuoteParts {
    if is_blank(fresh) {
        return parts(all, &[], &[], MessageFoot::default());
    }
    let fresh = foot.cut_from(fresh);
    parts(fresh, quoted, &[], foot)
}

/// Returns the parts as texts. Blank parts other than `fresh` are `None`.
fn parts(fresh: &[&str], quoted: &[&str], forwarded: &[&str], foot: MessageFoot<'_>) -> QuoteParts {
    let some = |lines: &[&str]| (!is_blank(lines)).then(|| join(lines));
    QuoteParts {
        fresh: join(fresh),
        forwarded: some(forwarded),
        quoted: some(quoted),
        signature: some(&foot.signature),
        disclaimer: some(&foot.disclaimer),
        footer: some(&foot.footer),
    }
}

/// Returns true if lines introduce the text after them as quoted.
pub fn introduces(lines: &[&str]) -> bool {
    let last = lines.len().saturating_sub(1);
    let headers: Vec<Option<HeaderKind>> = lines.iter().map(|line| header(line)).collect();
    introduction(lines, last).is_some()
        || (0..lines.len()).any(|at| block(lines, &headers, at).is_some())
        || lines.last().is_some_and(|line| original_message(line) || forwards(line))
}

/// The lines of a message, and the meaning of its subject.
struct MessageLines<'a> {
    /// The lines of the text.
    lines: &'a [&'a str],
    /// The header field that each line is labelled as.
    headers: &'a [Option<HeaderKind>],
    /// The kind of message that the subject marks.
    sort: SubjectMark,
    /// The subject without such marks.
    topic: String,
}

impl MessageLines<'_> {
    /// Returns the line at which a forwarded message begins.
    fn forwarded(&self) -> Option<usize> {
        let lines = self.lines;
        let divider = (0..lines.len()).find(|at| self.divides(*at));
        // A divider below the beginning of history belongs to the history.
        let divider = divider.filter(|at| self.plain_cut(*at).is_none());
        // In a reply, header lines begin history and not a forwarded message.
        if divider.is_some() || self.sort == SubjectMark::Reply {
            return divider;
        }
        let is_block = |at: &usize| {
            let found = block(lines, self.headers, *at);
            found.is_some_and(|block| {
                self.sort == SubjectMark::Forward
                    || !self.topic.is_empty() && topic(block.subject) == self.topic
            })
        };
        let found = (0..lines.len()).find(|at| {
            let line = lines.get(*at).copied().unwrap_or_default();
            let marked = || line.starts_with(QUOTE) || original_message(line);
            is_block(at) || self.sort == SubjectMark::Forward && marked()
        });
        if let Some(at) = found {
            return Some(self.with_rule(at));
        }
        (self.sort == SubjectMark::Forward).then(|| trailing(lines)).flatten()
    }

    /// Returns true for the line above a forwarded message, unless it is part of a quote.
    fn divides(&self, at: usize) -> bool {
        let Some(line) = self.lines.get(at) else { return false };
        if !forwards(bare(line).trim_start_matches(['>', ' '])) {
            return false;
        }
        let above = self.lines.get(..at).unwrap_or_default();
        let last = above.iter().rposition(|line| !line.is_empty());
        !is_quoted(line)
            || last.is_none_or(|last| {
                above.get(last).is_some_and(|line| !is_quoted(line))
                    && introduction(above, last).is_none()
            })
    }

    /// Returns the line before `end` at which quoted text begins that is not marked line by line:
    /// at a divider, at a block of header lines, or at "On …, Ann wrote:".
    fn plain_cut(&self, end: usize) -> Option<usize> {
        for (at, line) in self.lines.iter().enumerate().take(end) {
            let rest = self.lines.get(at..).unwrap_or_default();
            if names_author(line) {
                return Some(at);
            }
            if is_quoted(line) || line.is_empty() {
                continue;
            }
            if original_message(line) || self.is_history(at) {
                return Some(self.with_rule(at));
            }
            if let Some(found) = attribution(rest)
                && found.dated
            {
                let after = rest.get(found.lines..).unwrap_or_default();
                let next = after.iter().find(|line| !line.is_empty());
                // If marked lines follow, the quote is found by its marks, because answers may be
                // between them.
                if next.is_some_and(|line| !is_quoted(line) && !forwards(line)) {
                    return Some(at);
                }
            }
        }
        None
    }

    /// Returns true for a block of header lines above an older message. A form on a web page sends
    /// such lines as well, so the subject decides: a reply has a mark before it.
    fn is_history(&self, at: usize) -> bool {
        block(self.lines, self.headers, at).is_some_and(|block| {
            let older = topic(block.subject);
            let marked =
                self.topic.len() > older.len() && !older.is_empty() && self.topic.ends_with(&older);
            self.sort == SubjectMark::Reply || self.topic.is_empty() || marked
        })
    }

    /// Returns the position of the rule above line `at`, or `at` without one.
    fn with_rule(&self, at: usize) -> usize {
        let above = self.lines.get(..at).unwrap_or_default();
        match above.iter().rposition(|line| !line.is_empty()) {
            Some(rule) if above.get(rule).is_some_and(|line| heads_block(bare(line))) => rule,
            _ => at,
        }
    }
}

/// Returns the line at which a quote begins, with its introduction, that continues to the end.
fn trailing(lines: &[&str]) -> Option<usize> {
    let last = lines.iter().rposition(|line| !line.is_empty())?;
    if !lines.get(last).is_some_and(|line| is_quoted(line)) {
        return None;
    }
    let is_new = |(at, line): (usize, &&str)| {
        !line.is_empty() && !is_quoted(line) && !is_broken_off(lines, at)
    };
    let above = lines.len() - 1 - lines.iter().enumerate().rev().position(is_new)?;
    match introduction(lines, above) {
        Some(at) => Some(at),
        None if lines.get(above).is_some_and(|line| is_rule(line)) => Some(above),
        None => Some(above + 1),
    }
}

/// Returns the first line of an introduction of a quote that ends in line `last`, or in a later one
/// that only looks quoted.
fn introduction(lines: &[&str], last: usize) -> Option<usize> {
    let found = |back: usize| {
        let at = last.checked_sub(back)?;
        let found = attribution(lines.get(at..)?)?;
        (at + found.lines > last).then_some((at, found.begun))
    };
    let begun = |back| found(back).filter(|(_, begun)| *begun);
    // The longest one counts, because its last line alone may look like a shorter one.
    let at =
        (0..MAX_ATTRIBUTION).find_map(begun).or_else(|| (0..MAX_ATTRIBUTION).rev().find_map(found));
    at.map(|(at, _)| at)
}

/// Returns the end of a quote at the beginning, if everything after it is new.
fn leading(lines: &[&str]) -> Option<usize> {
    let first = lines.iter().position(|line| !line.is_empty())?;
    let introduced = attribution(lines.get(first..)?).map_or(0, |found| found.lines);
    let start = first + introduced;
    let quote = lines.get(start..)?;
    let end = quote.iter().position(|line| !line.is_empty() && !is_quoted(line))?;
    let (block, after) = quote.split_at_checked(end)?;
    let long = block.iter().filter(|line| is_quoted(line)).count() >= MIN_LEADING;
    let only = !after.iter().any(|line| is_quoted(line));
    (long && only).then_some(start + end)
}

/// Returns true if all lines are empty.
fn is_blank(lines: &[&str]) -> bool {
    lines.iter().all(|line| line.is_empty())
}

/// Returns the lines as one text, without blank ones at the ends and without marks.
fn join(lines: &[&str]) -> String {
    let bare: Vec<&str> = lines.iter().map(|line| bare(line)).collect();
    bare.join("\n").trim_matches('\n').to_owned()
}
