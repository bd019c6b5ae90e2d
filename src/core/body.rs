//! Makes the text of a message readable.
//!
//! The richest alternative is used; quoted history is marked, or folded with a note;
//! lines of ours within a text begin with [`OURS`]. Everything is pure. `text` cleans untrusted
//! HTML and characters and fences the result; `budget` decides how much of a long text is shown.

use crate::provider::{MessageContent, PlainText, TextPart};
use crate::text;
use crate::text::fence::{OURS, theirs};
use crate::text::html::{Doubt, Hidden, Link, Style, Why};
use crate::text::{Note, note, ours};

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

/// The text of a message, ready to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readable {
    /// The form it was read from: `plain`, `html`, `raw`, `headers`, or `mixed`.
    pub kind: &'static str,
    /// The text; empty if the message has none.
    pub text: String,
    /// The parts that were left out, in words.
    pub notes: Vec<Note>,
    /// True if its new text names a new account for payments.
    pub payment: bool,
}

/// How a message is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The form in which its parts are shown.
    pub form: Form,
    /// Shows quoted history instead of folding it.
    pub quoted: bool,
    /// Adds a numbered list of link targets.
    pub links: bool,
}

/// Makes the texts of a message readable.
pub fn readable(message: &MessageContent, reading: &Reading) -> Readable {
    let Reading { form, quoted, links } = *reading;
    let mut out = Readable::default();
    let (mut hidden, mut doubt) = (Hidden::default(), Doubt::default());
    let mut deep = 0;
    let mut cut = false;
    for forms in &message.parts {
        for found in richest(forms, form, links) {
            hidden.add(&found.hidden);
            doubt.add(&found.doubt);
            deep += found.deep;
            cut |= found.cut;
            if found.text.trim().is_empty() {
                continue;
            }
            out.payment |= text::payment::names_new_account(&fresh(&found, form));
            if !out.text.is_empty() {
                out.text.push_str("\n\n");
            }
            if !found.doubt.why.is_empty() {
                let line = "[this may include hidden text]";
                out.text.push_str(&format!("{OURS}{line}\n\n"));
            }
            if form == Form::Html {
                out.text.push_str(&visible(&found.text));
            } else {
                out.text.push_str(&fold(&found.text, quoted));
            }
            if !found.links.is_empty() {
                out.text.push_str(&format!("\n\n{OURS}Links:"));
            }
            for (at, link) in found.links.iter().enumerate() {
                let line = format!("\n{OURS}[{}] {}", at + 1, link.url);
                out.text.push_str(&line);
            }
            out.kind = match out.kind {
                "" => found.kind,
                same if same == found.kind => same,
                _ => "mixed",
            };
        }
    }
    if form == Form::Html && out.kind == "plain" {
        out.notes.push("it has no HTML: this is its plain text".into());
    }
    if hidden.chars > 0 {
        out.notes.push(note!("{} characters of hidden text were removed", ours(hidden.chars)));
    }
    if deep > 0 {
        out.notes.push(note!(
            "{} characters nested more than 250 elements deep were left out, as they may be \
             hidden; body=html has them",
            deep
        ));
    }
    if doubt.why.contains(&Why::Limit) {
        out.notes.push(
            "its style sheets are too large to read whole, so hidden text may be shown".into(),
        );
    }
    if cut {
        out.notes.push("the HTML is too large to read whole; body=html has all of it".into());
    }
    out
}

/// Returns the text without quoted history, and without markup.
fn fresh(found: &ChosenText, form: Form) -> String {
    let text = match (form, found.kind) {
        (Form::Html, "html") => &text::html::html(&found.text, Style::Text, false).text,
        _ => &found.text,
    };
    text::quote::split_quoted(text).fresh
}

/// One text of a message in the chosen form.
#[derive(Default)]
struct ChosenText {
    kind: &'static str,
    text: String,
    links: Vec<Link>,
    hidden: Hidden,
    doubt: Doubt,
    deep: usize,
    cut: bool,
}

impl ChosenText {
    /// Returns true if it needs a note although it has no text.
    fn lacks(&self) -> bool {
        self.hidden.chars > 0 || self.deep > 0 || self.cut
    }
}

/// Returns the last form that has any text (RFC 2046 puts the richest last); one with HTML before
/// one without. Includes what was left out of the earlier ones, without text.
fn richest(forms: &[Vec<TextPart>], form: Form, links: bool) -> Vec<ChosenText> {
    let has_html =
        |parts: &&Vec<TextPart>| parts.iter().any(|part| matches!(part, TextPart::Html(_)));
    let html_first = forms
        .iter()
        .rev()
        .filter(has_html)
        .chain(forms.iter().rev().filter(|parts| !has_html(parts)));
    let mut all = Vec::new();
    for parts in html_first {
        let found = parts.iter().map(|part| read(part, form, links));
        let before = all.len();
        all.extend(found.filter(|found| found.lacks() || !found.text.trim().is_empty()));
        let mut own = all.iter().skip(before);
        if own.any(|found: &ChosenText| !found.text.trim().is_empty()) {
            break;
        }
    }
    all
}

fn read(part: &TextPart, form: Form, links: bool) -> ChosenText {
    let style = match form {
        Form::Markdown => Style::Markdown,
        Form::Text | Form::Html => Style::Text,
    };
    match part {
        TextPart::Html(source) if form == Form::Html => {
            ChosenText { kind: "html", text: source.clone(), ..ChosenText::default() }
        }
        TextPart::Html(source) => {
            let html = text::html::marked(source, style, links);
            ChosenText {
                kind: "html",
                text: html.text,
                links: html.links,
                hidden: html.hidden,
                doubt: html.doubt,
                deep: html.deep,
                cut: html.cut,
            }
        }
        TextPart::Plain(plain) => {
            ChosenText { kind: "plain", text: theirs(plain_text(plain)), ..ChosenText::default() }
        }
    }
}

/// Returns a source text unchanged, except that invisible characters are written out:
/// no control character reaches a terminal, and nothing is hidden.
pub fn visible(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    for char in source.replace("\r\n", "\n").chars() {
        let unseen = char.is_control() || text::is_invisible(char) || char == OURS;
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

/// Marks quoted history, or replaces it by one line.
fn fold(text: &str, quoted: bool) -> String {
    let parts = text::quote::split_quoted(text);
    let Some(history) = parts.quoted else {
        return text.to_owned();
    };
    let line = if quoted {
        format!("{OURS}[quoted history]")
    } else {
        format!(
            "{OURS}[quoted history: {} characters not shown; quoted=true shows it]",
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
