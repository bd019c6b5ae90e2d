//! Separates new text from quoted text.
//!
//! A reply carries the whole thread below it. [`split_quoted`] separates the new text
//! from the quoted and from the signature, by the conventions of mail programs in the
//! larger languages. It works on clean lines (see [`lines`](super::lines)) and errs on
//! the side of new text: replies written between the quotes stay whole, and so do
//! forwarded messages, which are sent for their quoted part.

mod marks;

use marks::{attribution, forwards, header_block, is_quoted, original_message, sent_from};

/// Longer than this, what follows `--` is no signature.
const MAX_SIGNATURE: usize = 12;
/// Shorter blocks at the beginning are quoted to be answered right there.
const MIN_LEADING: usize = 3;

/// A mail's text in parts; every line of it is in one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuoteParts {
    /// The new text of this message.
    pub fresh: String,
    /// The text it quotes, with the line that introduces it.
    pub quoted: Option<String>,
    /// The signature, with its delimiter.
    pub signature: Option<String>,
}

/// Parts new text from quoted text and signature.
pub fn split_quoted(text: &str) -> QuoteParts {
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    if lines.iter().any(|line| forwards(line)) && !quote_before_forward(&lines) {
        return QuoteParts { fresh: join(&lines), ..QuoteParts::default() };
    }
    let cut = plain_cut(&lines).or_else(|| trailing(&lines));
    if let Some((fresh, quoted)) = cut.and_then(|at| lines.split_at_checked(at)) {
        return parts(fresh, quoted);
    }
    if let Some((quoted, fresh)) = leading(&lines).and_then(|at| lines.split_at_checked(at)) {
        return parts(fresh, quoted);
    }
    parts(&lines, &[])
}

/// Returns true if the forwarded mail is only part of an older one that is quoted.
fn quote_before_forward(lines: &[&str]) -> bool {
    let Some(forward) = lines.iter().position(|line| forwards(line)) else {
        return false;
    };
    let before = lines.get(..forward).unwrap_or_default();
    plain_cut(before).is_some()
}

/// Returns the parts for these lines; if none of them is new, nothing is parted.
fn parts(fresh: &[&str], quoted: &[&str]) -> QuoteParts {
    if is_blank(fresh) {
        let all: Vec<&str> = fresh.iter().chain(quoted).copied().collect();
        return QuoteParts { fresh: join(&all), ..QuoteParts::default() };
    }
    let (fresh, signature) = signature(fresh);
    QuoteParts {
        fresh: join(fresh),
        quoted: (!is_blank(quoted)).then(|| join(quoted)),
        signature: signature.map(join),
    }
}

/// Returns where quoted text begins that is not marked line by line: at a divider, at a
/// block of header lines, or at "On …, Ann wrote:".
fn plain_cut(lines: &[&str]) -> Option<usize> {
    for (at, line) in lines.iter().enumerate() {
        let rest = lines.get(at..).unwrap_or_default();
        if forwards(line) {
            return None;
        }
        if is_quoted(line) || line.is_empty() {
            continue;
        }
        if original_message(line) || header_block(rest) {
            return Some(with_rule(lines, at));
        }
        if let Some(found) = attribution(rest)
            && found.dated
        {
            let after = rest.get(found.lines..).unwrap_or_default();
            let next = after.iter().find(|line| !line.is_empty());
            if next.is_some_and(|line| !is_quoted(line) && !forwards(line)) {
                return Some(at);
            }
        }
    }
    None
}

/// Returns the place of the rule above line `at`, if there is one.
fn with_rule(lines: &[&str], at: usize) -> usize {
    let above = lines.get(..at).unwrap_or_default();
    match above.iter().rposition(|line| !line.is_empty()) {
        Some(rule) if above.get(rule).is_some_and(|line| is_rule(line)) => rule,
        _ => at,
    }
}

fn is_rule(line: &str) -> bool {
    let all = |sign: u8| line.bytes().all(|byte| byte == sign);
    line.len() >= 3 && (all(b'_') || all(b'-'))
}

/// Returns where a quote begins that continues to the end, with its introduction.
fn trailing(lines: &[&str]) -> Option<usize> {
    let last = lines.iter().rposition(|line| !line.is_empty())?;
    if !lines.get(last).is_some_and(|line| is_quoted(line)) {
        return None;
    }
    let above = lines.iter().rposition(|line| !line.is_empty() && !is_quoted(line))?;
    let block = lines.get(above + 1..)?;
    let introduced = introduction(lines, above);
    let first = block.iter().find(|line| !line.is_empty())?;
    if introduced.is_none() && forwards(first.trim_start_matches(['>', ' '])) {
        return None;
    }
    Some(introduced.unwrap_or(above + 1))
}

/// Returns where the lines begin that introduce a quote and end in line `last`.
fn introduction(lines: &[&str], last: usize) -> Option<usize> {
    // The longest that fits: its last line alone may look like a shorter one.
    (0..marks::MAX_ATTRIBUTION).rev().find_map(|back| {
        let at = last.checked_sub(back)?;
        let found = attribution(lines.get(at..)?)?;
        (at + found.lines == last + 1).then_some(at)
    })
}

/// Returns where a quote at the beginning ends, if everything after it is new.
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

/// Returns the lines before and from the signature on.
fn signature<'a, 'b>(fresh: &'a [&'b str]) -> (&'a [&'b str], Option<&'a [&'b str]>) {
    let delimiter = fresh.iter().rposition(|line| *line == "--");
    let mobile = fresh.iter().rposition(|line| !line.is_empty());
    let mobile = mobile.filter(|at| fresh.get(*at).is_some_and(|line| sent_from(line)));
    let at = match (delimiter, mobile) {
        (Some(at), _) if fresh.len() - at <= MAX_SIGNATURE + 1 => Some(at),
        (_, mobile) => mobile,
    };
    match at.and_then(|at| fresh.split_at_checked(at)) {
        Some((body, signature)) if !is_blank(body) => (body, Some(signature)),
        _ => (fresh, None),
    }
}

fn is_blank(lines: &[&str]) -> bool {
    lines.iter().all(|line| line.is_empty())
}

/// Returns the lines as one text, without blank ones at the ends.
fn join(lines: &[&str]) -> String {
    lines.join("\n").trim_matches('\n').to_owned()
}
