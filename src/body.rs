//! A letter's text made readable, cut into windows, and fenced.
//!
//! The richer alternative wins; quoted history is marked or folded with a line
//! that says so; a window never drops anything without saying how much.
//! Everything is pure: the words for "how to get the rest" come from the
//! caller. How strangers' HTML and characters are cleaned stands in `text`.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::provider::{Letter, PlainText, TextPart};
use crate::text;
use crate::text::html::{Link, Style};

/// The form in which parts are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Clean text.
    Text,
    /// Markdown.
    Markdown,
    /// HTML as it was sent.
    Html,
}

/// A letter's text, ready to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readable {
    /// What it was made from: `plain`, `html`, `raw`, `headers`, or `mixed`.
    pub kind: &'static str,
    /// The text; empty when the letter has none.
    pub text: String,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

/// Makes the texts of `letter` readable.
///
/// `quoted` shows quoted history instead of folding it; `links` adds a numbered
/// list of link targets.
pub fn readable(letter: &Letter, form: Form, quoted: bool, links: bool) -> Readable {
    let mut out = Readable::default();
    let mut hidden = 0;
    let mut cut = false;
    for forms in &letter.parts {
        for found in richest(forms, form, links) {
            hidden += found.hidden;
            cut |= found.cut;
            if !out.text.is_empty() {
                out.text.push_str("\n\n");
            }
            if form == Form::Html {
                out.text.push_str(&visible(&found.text));
            } else {
                out.text.push_str(&fold(&found.text, quoted));
            }
            if !found.links.is_empty() {
                out.text.push_str("\n\nLinks:");
            }
            for (at, link) in found.links.iter().enumerate() {
                out.text.push_str(&format!("\n[{}] {}", at + 1, link.url));
            }
            out.kind = match out.kind {
                "" => found.kind,
                same if same == found.kind => same,
                _ => "mixed",
            };
        }
    }
    if hidden > 0 {
        out.notes
            .push(format!("{hidden} characters of hidden text were removed"));
    }
    if cut {
        out.notes
            .push("the HTML is too large to be read whole; body=html has its end".to_owned());
    }
    out
}

/// One text of a letter in the form that was chosen.
#[derive(Default)]
struct Found {
    kind: &'static str,
    text: String,
    links: Vec<Link>,
    hidden: usize,
    cut: bool,
}

/// The last form that has any text (RFC 2046 puts the richest last); one with
/// HTML before one without.
fn richest(forms: &[Vec<TextPart>], form: Form, links: bool) -> Vec<Found> {
    let has_html =
        |parts: &&Vec<TextPart>| parts.iter().any(|part| matches!(part, TextPart::Html(_)));
    let html_first = forms
        .iter()
        .rev()
        .filter(has_html)
        .chain(forms.iter().rev().filter(|parts| !has_html(parts)));
    html_first
        .map(|parts| {
            parts
                .iter()
                .map(|part| read(part, form, links))
                .filter(|found| !found.text.trim().is_empty())
                .collect::<Vec<_>>()
        })
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn read(part: &TextPart, form: Form, links: bool) -> Found {
    let style = match form {
        Form::Markdown => Style::Markdown,
        Form::Text | Form::Html => Style::Text,
    };
    match part {
        TextPart::Html(source) if form == Form::Html => Found {
            kind: "html",
            text: source.clone(),
            ..Found::default()
        },
        TextPart::Html(source) => {
            let html = text::html::html(source, style, links);
            Found {
                kind: "html",
                text: html.text,
                links: html.links,
                hidden: html.hidden,
                cut: html.cut,
            }
        }
        TextPart::Plain(plain) => Found {
            kind: "plain",
            text: plain_text(plain),
            ..Found::default()
        },
    }
}

/// A source text as it is, but with the characters nobody can see written out:
/// control characters reach no terminal, and nothing hides.
pub fn visible(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    for char in source.replace("\r\n", "\n").chars() {
        let unseen = char.is_control() || text::is_invisible(char);
        if unseen && !matches!(char, '\n' | '\t') {
            out.push_str(&format!("\\u{{{:x}}}", u32::from(char)));
        } else {
            out.push(char);
        }
    }
    out
}

fn plain_text(plain: &PlainText) -> String {
    match plain.flowed {
        Some(delsp) => text::lines(&text::flowed::unflow(&plain.text, delsp)),
        None => text::lines(&plain.text),
    }
}

/// Marks quoted history, or puts one line in its place.
fn fold(text: &str, quoted: bool) -> String {
    let parts = text::quote::split_quoted(text);
    let Some(history) = parts.quoted else {
        return text.to_owned();
    };
    let line = if quoted {
        "[quoted history]".to_owned()
    } else {
        format!(
            "[quoted history: {} characters not shown; quoted=true shows it]",
            history.chars().count()
        )
    };
    let mut out = parts.fresh.trim_end().to_owned();
    if let Some(signature) = parts.signature {
        out.push('\n');
        out.push_str(signature.trim_end());
    }
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str(&line);
    if quoted {
        out.push('\n');
        out.push_str(history.trim());
    }
    out
}

/// Divides `allowance` characters fairly: short texts get all they need, and
/// what they leave goes to the long ones in equal parts.
pub fn shares(sizes: &[usize], allowance: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|at| sizes.get(*at).copied().unwrap_or(0));
    let mut left = allowance;
    let mut shares = vec![0; sizes.len()];
    for (done, at) in order.iter().enumerate() {
        let fair = left / (sizes.len() - done);
        let size = sizes.get(*at).copied().unwrap_or(0);
        if let Some(share) = shares.get_mut(*at) {
            *share = size.min(fair);
            left -= *share;
        }
    }
    shares
}

/// At most `most` characters of `text` from character `start` on, cut after a
/// line or a word where one ends in the last quarter; and where it ends.
pub fn window(text: &str, start: usize, most: usize) -> (&str, usize) {
    let from = offset(text, start);
    let rest = text.get(from..).unwrap_or_default();
    let end = offset(rest, most);
    if end == rest.len() {
        return (rest, start + rest.chars().count());
    }
    let whole = rest.get(..end).unwrap_or_default();
    let early = offset(whole, most - most / 4);
    let at = whole
        .rfind('\n')
        .filter(|at| *at >= early)
        .or_else(|| whole.rfind(' ').filter(|at| *at >= early))
        .map_or(end, |at| at + 1);
    let shown = whole.get(..at).unwrap_or(whole);
    (shown, start + shown.chars().count())
}

/// The byte offset of a character, or the end.
fn offset(text: &str, char: usize) -> usize {
    text.char_indices()
        .nth(char)
        .map_or(text.len(), |(at, _)| at)
}

/// A block that holds strangers' text between fences no stranger can forge.
///
/// The fence word depends on `secret` and on the text, so it is unguessable to
/// a sender and the same for the same text.
pub fn fence(name: &str, text: &str, secret: &[u8; 32]) -> String {
    let word = fence_word(text, secret);
    format!("<<<{name} {word}\n{text}\n{word}>>>")
}

fn fence_word(text: &str, secret: &[u8; 32]) -> String {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        return String::new();
    };
    mac.update(text.as_bytes());
    mac.finalize()
        .into_bytes()
        .iter()
        .take(8)
        .filter_map(|byte| {
            ALPHABET
                .get(usize::from(byte & 31))
                .copied()
                .map(char::from)
        })
        .collect()
}

/// 32 letters and digits that are hard to confuse.
const ALPHABET: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
