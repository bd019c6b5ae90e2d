//! Removal of the characters that take up no room on a screen.
//!
//! Blank characters are left to the caller.

use std::borrow::Cow;

/// Returns true for a character that is not displayed: Unicode's default-ignorable characters,
/// direction marks, variation selectors, tags and the like, and noncharacters other than [our
/// marks](crate::text::fence::MARKS).
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fdd4}'..='\u{fdef}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1345f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
        || u32::from(c) & 0xfffe == 0xfffe
}

/// Removes the invisible characters of `s`, except for the ones that shape a visible neighbour. A
/// second pass has no effect.
pub fn visible(s: &str) -> Cow<'_, str> {
    if !s.chars().any(is_invisible) {
        return Cow::Borrowed(s);
    }
    let mut out = String::with_capacity(s.len());
    // The previous character, if it was kept: a joiner next to a dropped one is part of a run, and
    // runs are padding.
    let mut before: Option<char> = None;
    let mut rest = s.chars().peekable();
    while let Some(c) = rest.next() {
        let keep = !is_invisible(c) || shapes(before, c, rest.peek().copied());
        if keep {
            out.push(c);
        }
        before = keep.then_some(c);
    }
    Cow::Owned(out)
}

/// Replaces each run of invisible characters in `s` by its number, except for characters that shape
/// a visible neighbour.
pub fn written_out(s: &str) -> Cow<'_, str> {
    if !s.chars().any(is_invisible) {
        return Cow::Borrowed(s);
    }
    let mut out = String::with_capacity(s.len());
    let mut before: Option<char> = None;
    let mut rest = s.chars().peekable();
    while let Some(c) = rest.next() {
        let mut run = usize::from(is_invisible(c));
        while run > 0 && rest.next_if(|c| is_invisible(*c)).is_some() {
            run += 1;
        }
        let keep = run == 0 || run == 1 && shapes(before, c, rest.peek().copied());
        before = keep.then_some(c);
        match run {
            _ if keep => out.push(c),
            1 => out.push_str("[1 invisible character]"),
            run => out.push_str(&format!("[{run} invisible characters]")),
        }
    }
    Cow::Owned(out)
}

/// Returns true if the invisible `c` changes how its neighbours look.
fn shapes(before: Option<char>, c: char, after: Option<char>) -> bool {
    match c {
        '\u{200c}' | '\u{200d}' => {
            before.is_some_and(|b| joins(b) || b == '\u{fe0f}') && after.is_some_and(joins)
        }
        '\u{fe0f}' => after == Some('\u{20e3}') || before.is_some_and(is_emoji),
        _ => false,
    }
}

/// Returns true for letters and marks of scripts that use joiners, and for emoji.
fn joins(c: char) -> bool {
    let mark = matches!(c, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{17ff}');
    !c.is_ascii()
        && !c.is_whitespace()
        && !is_invisible(c)
        && (mark || c.is_alphabetic() || is_emoji(c))
}

/// Returns true for the blocks that contain emoji. It is generous, because it decides only whether
/// an adjacent selector or joiner may stay, and whether a picture's description is an emoji.
pub fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2194}'..='\u{21aa}'
        | '\u{231a}'..='\u{23ff}'
        | '\u{24c2}'
        | '\u{25aa}'..='\u{27bf}'
        | '\u{2934}'..='\u{2b55}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}
