//! The lines of an output that match a regular expression, with the lines around them.
//!
//! A line that was wrapped is searched as a whole, so that no match is lost between two pieces; the
//! piece in which a match begins counts as matching. The lines shown do not depend on the offset,
//! so the pages together are complete. No I/O.

use std::ops::Range;

use daysheet_core::error::{Error, Result};
use daysheet_core::text::{LINE, wrapped};
use daysheet_core::text::{counted, note, ours};
use regex::{Regex, RegexBuilder};

use super::page::{LONG_LINES, OutputPage, PageRequest, RemainingRoom, check, goes_on};

/// The number of lines shown around a matching one.
const AROUND: usize = 2;

/// Returns the lines of `text` that match `pattern`, as `12: text`, and the lines around them, as
/// `11- text`, with `--` between lines that are not adjacent. With several texts, the line that
/// names each text precedes its lines.
///
/// Matching is case-sensitive if the pattern contains an upper-case letter.
///
/// # Errors
/// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) if no line matches, or if the
/// pattern is not a regular expression.
pub fn grep(text: &str, pattern: &str, ask: PageRequest) -> Result<OutputPage> {
    let regex = compile(pattern)?;
    let lines = wrapped(text, LINE);
    check(&lines, ask.offset)?;
    let matching = matching(text, &lines, &regex);
    let mut shown = around(&matching);
    name_messages(&lines, &mut shown);
    let total = lines.len();

    let mut room = RemainingRoom::new(ask);
    let mut page = OutputPage { lines: total, ..OutputPage::default() };
    let mut long = false;
    let from = ask.offset.saturating_sub(1);
    let rows = lines.iter().zip(matching.iter().zip(&shown)).enumerate();
    for (at, (line, (matches, shown))) in rows.skip(from) {
        if !shown {
            continue;
        }
        let number = at + 1;
        let mark = if *matches { ':' } else { '-' };
        let whole = line.strip_suffix('\n').unwrap_or(line);
        let gap = match page.shown {
            None => "",
            Some((_, last)) if last + 1 == number => "\n",
            Some(_) => "\n--\n",
        };
        let row = format!("{gap}{number}{mark} {whole}");
        if !room.takes(&row) {
            page.next = Some(number);
            break;
        }
        page.text.push_str(&row);
        page.shown = Some((page.shown.map_or(number, |(first, _)| first), number));
        let before = at.checked_sub(1).and_then(|at| lines.get(at));
        long |=
            goes_on(line, at, total) || before.is_some_and(|before| goes_on(before, at - 1, total));
    }

    let found = matching.iter().filter(|matches| **matches).count();
    let mut count = format!("matches: {found} of {}", counted(total, "line", "lines"));
    match (page.next, page.shown) {
        (Some(next), _) => count.push_str(&format!("; offset={next} has more")),
        (None, None) if found > 0 => {
            count.push_str(&format!(", none from line {} on", ask.offset));
        }
        (None, _) => {}
    }
    page.notes.push(note!("{}", ours(count)));
    if long {
        page.notes.push(LONG_LINES.into());
    }
    Ok(page)
}

/// Returns for each line whether it matches.
fn matching(text: &str, lines: &[&str], regex: &Regex) -> Vec<bool> {
    let mut matching = Vec::with_capacity(lines.len());
    let mut start = 0;
    for pieces in lines.chunk_by(|line, _| !line.ends_with('\n')) {
        let end = start + pieces.iter().map(|piece| piece.len()).sum::<usize>();
        let line = text.get(start..end).unwrap_or_default();
        start = end;
        let line = line.strip_suffix('\n').unwrap_or(line);
        let mut begin = 0;
        // The beginning of the next match. It is searched again only after the piece that contains
        // it, so a line costs at most one search per piece.
        let mut next = regex.find(line).map(|found| found.start());
        for (at, piece) in pieces.iter().enumerate() {
            let begins = begin;
            begin += piece.len();
            if next.is_some_and(|next| next < begins) {
                next = regex.find_at(line, begins).map(|found| found.start());
            }
            let is_last = at + 1 == pieces.len();
            matching.push(next.is_some_and(|next| next < begin || is_last));
        }
    }
    matching
}

/// Returns for each line whether it matches or is near a matching one.
fn around(matching: &[bool]) -> Vec<bool> {
    let mut shown = vec![false; matching.len()];
    for (at, _) in matching.iter().enumerate().filter(|(_, matches)| **matches) {
        let (first, end) = (at.saturating_sub(AROUND), at + AROUND + 1);
        if let Some(some) = shown.get_mut(first..end.min(matching.len())) {
            some.fill(true);
        }
    }
    shown
}

/// Adds the first line of each message that has lines to show, if there are several texts: that
/// line names the message.
fn name_messages(lines: &[&str], shown: &mut [bool]) {
    let mut texts: Vec<Range<usize>> = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    let mut is_start = true;
    for (at, line) in lines.iter().enumerate() {
        let whole = line.trim_end_matches('\n');
        match open {
            // The word is random, so no line of the text can end it.
            Some((begin, word)) if whole.strip_suffix(">>>") == Some(word) => {
                texts.push(begin..at);
                open = None;
            }
            Some(_) => {}
            None if is_start => {
                let word = whole.strip_prefix("<<<").and_then(|rest| rest.rsplit_once(' '));
                open = word.map(|(_, word)| (at, word));
            }
            None => {}
        }
        is_start = line.ends_with('\n');
    }
    for text in texts.iter().filter(|_| texts.len() > 1) {
        let has_lines = shown.get(text.clone()).is_some_and(|some| some.contains(&true));
        if let Some(first) = shown.get_mut(text.start) {
            *first |= has_lines;
        }
    }
}

fn compile(pattern: &str) -> Result<Regex> {
    RegexBuilder::new(pattern)
        .case_insensitive(!has_capital(pattern))
        .build()
        .map_err(|error| refusal(pattern, &error))
}

/// Returns true if the pattern has an upper-case letter, except in `\S`, `\p{Lu}` or `(?P<name>`.
fn has_capital(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                let class = matches!(chars.next(), Some('p' | 'P' | 'x' | 'u' | 'U'));
                if class && chars.peek() == Some(&'{') {
                    chars.by_ref().find(|char| *char == '}');
                } else if class {
                    chars.next();
                }
            }
            '(' if chars.peek() == Some(&'?') => {
                chars.by_ref().find(|char| matches!(char, ')' | ':' | '>'));
            }
            char if char.is_uppercase() => return true,
            _ => {}
        }
    }
    false
}

/// Explains the refusal of a pattern, with the position of the error.
fn refusal(pattern: &str, error: &regex::Error) -> Error {
    let regex::Error::Syntax(message) = error else {
        return Error::argument("`grep` is too large a regular expression")
            .next("shorten it, or use fewer repetitions");
    };
    let why = message.lines().rev().find_map(|line| line.strip_prefix("error: "));
    let why = why.unwrap_or("it cannot be read");
    // The library shows the pattern, indented by four, with a mark below it.
    let mark = message
        .lines()
        .find(|line| line.trim_start().starts_with('^') && !pattern.contains('\n'))
        .and_then(|line| line.find('^')?.checked_sub(3));
    let at = mark.map_or_else(String::new, |at| format!(" at character {at}"));
    Error::argument(format!("`grep` is not a regular expression{at}: {why}"))
        .next("correct it; escape special characters such as ( [ * + ? . with \\")
}
