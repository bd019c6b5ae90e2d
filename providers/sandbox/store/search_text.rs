//! Messages as a search sees them.
//!
//! Words are those of `text/search_text.rs`. What stands here is about messages: words
//! as numbers, and the visible text of HTML, which is what gets searched and
//! shown in snippets.

pub(crate) use daysheet_core::text::search_text::{each_word, has_phrase, words};

/// A word as a number, to keep sets of words small (FNV-1a).
///
/// Not kept across runs, and 64 bits make a clash in one mailbox a matter of
/// one in many billions.
pub(super) fn number(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The text of HTML that a reader would see, roughly: no tags, no comments, no
/// styles and scripts, entities decoded. What styles hide is kept, as Gmail
/// keeps it in its snippets.
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
            // A lone sign, as in `1 < 2`.
            out.push('<');
            tag
        };
    }
    out.push_str(rest);
    html_escape::decode_html_entities(&out).into_owned()
}

/// Passes a tag, and what it hides, and gives what comes after.
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
    // Inline tags stand inside words; all others end them.
    let inline = ["a", "b", "i", "u", "em", "strong", "span", "font", "wbr"];
    let name = tag.trim_start_matches('/');
    let name = name.split(|char: char| char.is_ascii_whitespace()).next();
    if !name.is_some_and(|name| inline.iter().any(|known| known.eq_ignore_ascii_case(name))) {
        out.push(' ');
    }
    after_tag
}

/// What comes after `end`; nothing when it never comes.
fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, after)| after)
}

/// The text from an ASCII `needle` on, whatever its case.
fn find_ignoring_case<'a>(text: &'a str, needle: &str) -> &'a str {
    text.as_bytes()
        .windows(needle.len())
        .position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
        .and_then(|at| text.get(at..))
        .unwrap_or_default()
}

/// The first words of a text on one line, at most `limit` characters.
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
