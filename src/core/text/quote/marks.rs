//! The lines by which mail programs introduce quoted and forwarded text.
//!
//! Each test looks at one line, or at the first few of several; the words are in
//! [`words`](super::phrases). The caller decides on the consequences of a match.

use super::phrases::{
    ATTRIBUTIONS, DATE, FORWARD_PREFIXES, FORWARDED, FORWARDS, FROM, ORIGINAL, REPLY_PREFIXES,
    SENT, SENT_FROM, SUBJECT, TO, WROTE, begins, names,
};
use crate::text::fence::{END, QUOTE, SIGNATURE};

/// Maximum number of lines of a wrapped attribution.
pub const MAX_ATTRIBUTION: usize = 3;
/// Maximum length of an attribution, in bytes; a longer text that ends in "wrote:" is an ordinary
/// sentence.
const MAX_CHARS: usize = 300;
/// Minimum length of a line that programs break, in characters.
const MIN_BROKEN: usize = 65;
/// Maximum number of lines after the first of a block of header lines.
const MAX_HEADERS: usize = 7;

/// Returns the lines of a text. Each line within marks of the HTML begins with the outermost mark.
pub fn spread(text: &str) -> Vec<String> {
    let mut open: Vec<char> = Vec::new();
    let line = |line: &str| {
        let mut mark = open.first().copied();
        let mut out = String::with_capacity(line.len());
        for c in line.trim_end().chars() {
            match c {
                QUOTE | SIGNATURE => {
                    open.push(c);
                    mark = mark.or(Some(c));
                }
                END => _ = open.pop(),
                c => out.push(c),
            }
        }
        if let Some(mark) = mark.filter(|_| !out.is_empty()) {
            out.insert(0, mark);
        }
        out
    };
    text.split('\n').map(line).collect()
}

/// Returns a line without the mark at its beginning.
pub fn bare(line: &str) -> &str {
    line.trim_start_matches([QUOTE, SIGNATURE])
}

/// Returns true for a line that is marked as quoted.
pub fn is_quoted(line: &str) -> bool {
    let line = line.trim_start();
    // `>From` is how mailbox files escape a line of the text itself.
    line.starts_with(QUOTE) || line.starts_with('>') && !line.starts_with(">From ")
}

/// An attribution, such as "On Monday, Ann wrote:".
pub struct QuoteAttribution {
    /// The number of its lines.
    pub lines: usize,
    /// True if it names a time or an address, so that it can hardly be a
    /// sentence of the text.
    pub dated: bool,
    /// True if its beginning is a known one, so that it does not begin in an earlier line.
    pub begun: bool,
}

/// Returns the attribution that these lines begin with.
pub fn attribution(lines: &[&str]) -> Option<QuoteAttribution> {
    let mut whole = String::new();
    let mut follows = true;
    for (number, line) in lines.iter().take(MAX_ATTRIBUTION).enumerate() {
        let line = line.trim();
        // An address may be wrapped before its closing bracket.
        let opened =
            whole.rfind('<').is_some_and(|at| !whole.get(at..).unwrap_or("").contains('>'));
        let closes = opened && line.starts_with('>');
        if line.is_empty() || is_quoted(line) && !closes || whole.len() + line.len() > MAX_CHARS {
            return None;
        }
        if number > 0 && !closes {
            // A line that ends a sentence does not continue in the next one.
            follows &= !whole.ends_with(['.', '!', '?']);
            whole.push(' ');
        }
        whole
            .extend(line.chars().filter(|c| !matches!(c, '*' | '\\')).flat_map(char::to_lowercase));
        // Only the last line ends in a colon; times do not end a line.
        let last = || lines.get(number + 1).is_none_or(|next| next.is_empty() || is_quoted(next));
        if whole.ends_with([':', '：']) || zoho(&whole) || uncoloned(&whole) && last() {
            let begun = begins_attribution(&whole);
            let found = begun || follows && is_attribution(&whole, number);
            return found.then(|| QuoteAttribution {
                lines: number + 1,
                dated: is_dated(&whole),
                begun,
            });
        }
    }
    None
}

/// Returns true for an attribution by Zoho: `---- On Monday, Ann wrote ----`.
fn zoho(whole: &str) -> bool {
    whole.starts_with("--") && whole.ends_with(" wrote ----")
}

/// Returns true for an attribution with an address that has lost its colon.
fn uncoloned(whole: &str) -> bool {
    let named = |(start, verb): &(&str, &str)| {
        !start.is_empty() && whole.starts_with(start) && whole.ends_with(verb)
    };
    whole.contains('@') && ATTRIBUTIONS.iter().any(named)
}

/// Returns true for a line between quote signs that names the author of everything below it, as
/// GroupWise and supercite write it.
pub fn names_author(line: &str) -> bool {
    let Some(rest) = bare(line).trim().strip_prefix(">>>") else { return false };
    let named = rest.ends_with(">>>") || rest.contains(" == ") && rest.ends_with(" writes:");
    named && (rest.contains('@') || has_year(rest))
}

/// Returns true for a line without a mark that a program broke off a quoted one: the line above is
/// long and ends within a sentence, and the quote continues below.
pub fn is_broken_off(lines: &[&str], at: usize) -> bool {
    let line = |at: Option<usize>| at.and_then(|at| lines.get(at)).copied().unwrap_or_default();
    let (above, below) = (line(at.checked_sub(1)), line(at.checked_add(1)));
    is_quoted(above)
        && is_quoted(below)
        && above.chars().count() >= MIN_BROKEN
        && !above.ends_with(['.', '!', '?', ':'])
        && line(Some(at)).starts_with(char::is_lowercase)
}

/// Returns true for an attribution with a known beginning and its verb.
fn begins_attribution(whole: &str) -> bool {
    let mut known = ATTRIBUTIONS.iter().filter(|(start, _)| !start.is_empty());
    whole.contains(|c: char| c.is_ascii_digit())
        && known.any(|(start, verb)| whole.starts_with(start) && whole.contains(verb))
}

fn is_attribution(whole: &str, wraps: usize) -> bool {
    let numbered = whole.contains(|c: char| c.is_ascii_digit());
    let verb = || ATTRIBUTIONS.iter().any(|(start, verb)| start.is_empty() && whole.contains(verb));
    let known = (whole.contains('@') || has_year(whole)) && verb() || zoho(whole);
    let short =
        wraps == 0 && whole.chars().count() <= 100 && WROTE.iter().any(|end| whole.ends_with(end));
    let addressed = whole.contains('@') && (is_timed(whole) || has_year(whole));
    known && numbered || short || addressed
}

/// Returns true if the text contains an address or a time of day.
fn is_dated(whole: &str) -> bool {
    whole.contains('@') || is_timed(whole)
}

fn is_timed(whole: &str) -> bool {
    whole.as_bytes().windows(4).any(|four| {
        matches!(four, [a, b':' | b'h' | b'.', c, d]
            if a.is_ascii_digit() && c.is_ascii_digit() && d.is_ascii_digit())
    })
}

fn has_year(whole: &str) -> bool {
    let digits = |c: char| !c.is_ascii_digit();
    whole
        .split(digits)
        .any(|run| run.len() == 4 && (run.starts_with("19") || run.starts_with("20")))
}

/// The kind of a header line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderKind {
    /// The author.
    From,
    /// The time of sending.
    Sent,
    /// A time.
    Date,
    /// The recipients.
    To,
    /// The subject.
    Subject,
}

/// Returns the kind of header that a line is labelled as.
pub fn header(line: &str) -> Option<HeaderKind> {
    let (label, _) = line.split_once([':', '：'])?;
    // The longest label has a dozen characters.
    if label.len() > 40 {
        return None;
    }
    let label = label.replace(['*', '\\', '|'], "");
    let label = label.trim().trim_start_matches(['>', ' ']).to_lowercase();
    let lists = [
        (FROM, HeaderKind::From),
        (SENT, HeaderKind::Sent),
        (DATE, HeaderKind::Date),
        (TO, HeaderKind::To),
        (SUBJECT, HeaderKind::Subject),
    ];
    lists.into_iter().find(|(list, _)| names(list, &label)).map(|(_, header)| header)
}

/// Returns the text after the label of a header line.
fn value(line: &str) -> &str {
    line.split_once([':', '：']).map_or("", |(_, value)| value).trim_matches(['*', ' ', '|', '\t'])
}

/// A block of header lines above a quoted or forwarded message.
pub struct HeaderBlock<'t> {
    /// The subject in the block; empty without one.
    pub subject: &'t str,
}

/// Returns the block of header lines that begins at `at`; `headers` are the kinds of all lines. It
/// needs an author and two of time, recipients and subject. It begins with the author, or below a
/// blank line or a rule.
pub fn block<'t>(
    lines: &[&'t str],
    headers: &[Option<HeaderKind>],
    at: usize,
) -> Option<HeaderBlock<'t>> {
    let first = (*headers.get(at)?)?;
    let above = at.checked_sub(1).and_then(|above| lines.get(above));
    let apart = above.is_none_or(|line| bare(line).is_empty() || is_rule(bare(line)));
    if first != HeaderKind::From && !apart {
        return None;
    }
    let end = headers.len().min(at + 1 + MAX_HEADERS);
    let near =
        || lines.get(at..end).into_iter().flatten().zip(headers.get(at..end).into_iter().flatten());
    let has = |kind: HeaderKind| near().any(|(_, header)| *header == Some(kind));
    let subject = near().find(|(_, header)| **header == Some(HeaderKind::Subject));
    // An itinerary also has a from, a to and a date, but no address and no time of sending.
    let addressed = near().any(|(line, header)| match header {
        Some(HeaderKind::Sent) => line.contains('@') || has_year(line) && is_timed(line),
        header => header.is_some() && line.contains('@'),
    });
    let timed = has(HeaderKind::Sent) || has(HeaderKind::Date);
    let others = [timed, has(HeaderKind::To), has(HeaderKind::Subject)];
    let whole = has(HeaderKind::From) && others.into_iter().filter(|there| *there).count() >= 2;
    (whole && (subject.is_some() || addressed))
        .then(|| HeaderBlock { subject: subject.map_or("", |(line, _)| value(line)) })
}

/// Returns true for a line of dashes, underscores or the like.
pub fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let rule = |c: char| matches!(c, '_' | '-' | '=' | '*' | '\\' | '—' | '─');
    line.len() >= 3 && line.chars().all(rule)
}

/// The kind of a message, by the first mark before its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectMark {
    /// A forwarded message.
    Forward,
    /// A reply.
    Reply,
    /// A message without a known mark.
    Unknown,
}

/// Returns the kind of a message by the first mark before its subject.
pub fn sort(subject: &str) -> SubjectMark {
    prefix(untagged(subject)).map_or(SubjectMark::Unknown, |(sort, _)| sort)
}

/// Returns a subject without the marks of replies and forwards, in lower case.
pub fn topic(subject: &str) -> String {
    let mut rest = untagged(subject);
    while let Some((_, after)) = prefix(rest) {
        rest = untagged(after);
    }
    rest.to_lowercase()
}

/// Returns a subject without the names of lists in brackets before it.
fn untagged(subject: &str) -> &str {
    let mut rest = subject.trim();
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && !after.trim().is_empty()
    {
        rest = after.trim();
    }
    rest
}

fn prefix(subject: &str) -> Option<(SubjectMark, &str)> {
    let (mark, after) = subject.split_once([':', '：'])?;
    // `Re[2]:` and `Fwd (2):` count.
    let word = mark.trim_end_matches(|c: char| c.is_ascii_digit() || "[]() \u{a0}".contains(c));
    if word.len() > 40 {
        return None;
    }
    let word = word.to_lowercase();
    let sort = match () {
        () if names(FORWARD_PREFIXES, &word) => SubjectMark::Forward,
        () if names(REPLY_PREFIXES, &word) => SubjectMark::Reply,
        () => return None,
    };
    Some((sort, after))
}

/// Returns true for a line above a block of header lines that belongs to it: a rule, or a title.
pub fn heads_block(line: &str) -> bool {
    is_rule(line) || names(ORIGINAL, &line.trim().to_lowercase())
}

/// Returns true for `-----Original Message-----` in any of its languages.
pub fn original_message(line: &str) -> bool {
    titled(line).is_some_and(|title| names(ORIGINAL, &title))
}

/// Returns true for the line above a forwarded message.
pub fn forwards(line: &str) -> bool {
    if titled(line).is_some_and(|title| begins(FORWARDED, &title)) {
        return true;
    }
    let line = line.trim();
    line.len() <= 100 && line.ends_with([':', '：']) && names(FORWARDS, &line.to_lowercase())
}

/// Returns the words between dashes, in lower case.
fn titled(line: &str) -> Option<String> {
    let line = line.trim().trim_matches('*').trim_matches('\\');
    if !line.starts_with("--") || line.len() > 160 {
        return None;
    }
    let title = line.trim_matches(['-', ' ', '\\']).to_lowercase();
    (!title.is_empty()).then(|| title.replace('’', "'"))
}

/// Returns true for the line that a phone adds as a signature.
pub fn sent_from(line: &str) -> bool {
    let line = bare(line).trim();
    line.chars().count() <= 80 && begins(SENT_FROM, &line.to_lowercase())
}
