//! Characters that take up no room on a screen.
//!
//! Senders pad previews with them, hide instructions in them and split words
//! with them; a reader sees nothing of it and a model pays for all of it. They
//! go, except for the few that change how visible neighbours look: joiners
//! inside Persian and Indic words and inside emoji, and the selector that
//! turns a sign into an emoji. What is merely blank is left to the caller.

use std::borrow::Cow;

/// Returns true for a character that shows nothing: Unicode's default-ignorable
/// characters, direction marks, variation selectors, tags and the like.
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
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1345f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Removes the invisible characters of `s`, except those that shape a visible
/// neighbour. A second pass changes nothing.
pub fn visible(s: &str) -> Cow<'_, str> {
    if !s.chars().any(is_invisible) {
        return Cow::Borrowed(s);
    }
    let mut out = String::with_capacity(s.len());
    // The character right before, if it was kept: a joiner next to one that
    // was dropped is part of a run, and runs are padding.
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

/// Letters and marks of scripts that use joiners, and emoji.
fn joins(c: char) -> bool {
    let mark = matches!(c, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{17ff}');
    !c.is_ascii()
        && !c.is_whitespace()
        && !is_invisible(c)
        && (mark || c.is_alphabetic() || is_emoji(c))
}

/// Returns true for the blocks that hold emoji; generous, as nothing depends on it but
/// whether a selector or joiner next to it may stay.
pub(super) fn is_emoji(c: char) -> bool {
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
