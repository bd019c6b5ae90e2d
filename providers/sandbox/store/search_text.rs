//! Words and texts of messages, for searches.
//!
//! Words are defined in `text/words.rs`. This file has hashes of words, and the visible text of
//! HTML for searches and snippets.

pub(crate) use daysheet_core::text::search_text::{each_word, has_phrase, words};

/// Returns a hash of a word (FNV-1a), which keeps sets of words small.
///
/// Hashes are not stored across runs. With 64 bits, a collision within one mailbox is a matter of
/// one in many billions.
pub(super) fn number(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns approximately the text of HTML that a reader sees: without tags, comments, styles and
/// scripts, and with entities decoded. Text that is hidden by styles is kept, as in Gmail's
/// snippets.
pub(crate) fn visible(html: &str) -> String {
    let mut out = String::with_capacity(html.len() / 4);
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        out.push_str(before);
        rest = if let Some(comment) = tag.strip_prefix("!--") {
            after(comment, "-->")
        } else if tag.starts_with(|char: char| char.is_ascii_alphabetic() || "/!?".contains(char)) {
            let (tag, after) = tag.split_once('>').unwrap_or((tag, ""));
            element(tag, after, &mut out)
        } else {
            // A literal `<`, as in `1 < 2`.
            out.push('<');
            tag
        };
    }
    out.push_str(rest);
    html_escape::decode_html_entities(&out).into_owned()
}

/// Skips a tag and the content it hides, and returns the rest.
fn element<'a>(tag: &str, after_tag: &'a str, out: &mut String) -> &'a str {
    let name = tag
        .split(|char: char| char.is_ascii_whitespace() || char == '/')
        .next()
        .unwrap_or_default();
    for (hidden, end) in [("style", "</style"), ("script", "</script"), ("title", "</title")] {
        if name.eq_ignore_ascii_case(hidden) {
            return after(find_ignoring_case(after_tag, end), ">");
        }
    }
    // Inline tags may be inside a word; all others separate words.
    let inline = ["a", "b", "i", "u", "em", "strong", "span", "font", "wbr"];
    let name = tag.trim_start_matches('/');
    let name = name.split(|char: char| char.is_ascii_whitespace()).next();
    if !name.is_some_and(|name| inline.iter().any(|known| known.eq_ignore_ascii_case(name))) {
        out.push(' ');
    }
    after_tag
}

/// Returns the text after `end`, or an empty text if `end` is missing.
fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, after)| after)
}

/// Returns the text from an ASCII `needle` on, found case-insensitively.
fn find_ignoring_case<'a>(text: &'a str, needle: &str) -> &'a str {
    text.as_bytes()
        .windows(needle.len())
        .position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
        .and_then(|at| text.get(at..))
        .unwrap_or_default()
}

/// Returns the first words of a text on one line, at most `limit` characters.
pub(super) fn beginning(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let size = word.chars().count() + usize::from(length > 0);
        if length + size > limit {
            if length == 0 {
                line.extend(word.chars().take(limit));
            }
            break;
        }
        if length > 0 {
            line.push(' ');
        }
        line.push_str(word);
        length += size;
    }
    line
}
