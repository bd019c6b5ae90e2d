//! Quoting of the original below the new text of a reply or forward.
//!
//! Plain text is quoted from the plain text and HTML from the cleaned HTML. A form that the
//! original lacks is derived from the other.

use html_escape::encode_text;
use jiff::tz::TimeZone;

use super::clean::{self, clean_html};
use super::text::{TextForms, from_plain, html_of, plain_of};
use crate::provider::mail::{MailPerson, SourceMessage};
use crate::text as words;
use crate::text::quote::split_quoted;

/// The line above a forwarded message.
const FORWARDED: &str = "---------- Forwarded message ----------";
/// The beginning of a quote in HTML.
const QUOTE: &str = "<blockquote type=\"cite\"";
/// The number of lines from which the beginning of a quote is taken.
const QUOTED: usize = 8;
/// The style of a quote in HTML.
const STYLE: &str = "margin:0 0 0 .8ex;border-left:1px solid #ccc;padding-left:1ex";

/// Quotes the original of a reply below a line that names its author, with times in `zone`.
pub fn reply_quote(original: &SourceMessage, zone: &TimeZone) -> TextForms {
    let line = attribution(original, zone);
    let plain = plain(original);
    let quoted: Vec<String> = plain
        .lines()
        .map(|line| match line {
            "" => ">".to_owned(),
            line if line.starts_with('>') => format!(">{line}"),
            line => format!("> {line}"),
        })
        .collect();
    TextForms {
        text: format!("{line}\n{}", quoted.join("\n")).trim_end().to_owned(),
        html: format!(
            "<p>{}</p>\n{QUOTE} style=\"{STYLE}\">\n{}\n</blockquote>",
            encode_text(&line),
            without_parts(&html(original))
        ),
    }
}

/// Quotes a forwarded message below its header fields, with times in `zone`.
pub fn sent_on(original: &SourceMessage, zone: &TimeZone) -> TextForms {
    let mut lines = vec![FORWARDED.to_owned(), format!("From: {}", list(&original.from))];
    if let Some(sent) = original.sent {
        lines.push(format!("Date: {}", when(sent, zone)));
    }
    lines.push(format!("Subject: {}", words::cell(&original.subject)));
    for (name, people) in [("To", &original.to), ("Cc", &original.cc)] {
        if !people.is_empty() {
            lines.push(format!("{name}: {}", list(people)));
        }
    }
    let escaped: Vec<_> = lines.iter().map(|line| encode_text(line)).collect();
    TextForms {
        text: format!("{}\n\n{}", lines.join("\n"), plain(original)).trim_end().to_owned(),
        html: format!("<p>{}</p>\n<div>\n{}\n</div>", escaped.join("<br>\n"), html(original)),
    }
}

/// Returns the quote at the end of a message that we composed; `None` if it is not found in both
/// forms.
pub fn own_quote(text: &str, html: &str) -> Option<TextForms> {
    let (line, start) = quote_span(text, html)?;
    let lines: Vec<&str> = text.lines().skip(line).collect();
    Some(TextForms {
        text: lines.join("\n").trim_end().to_owned(),
        // The end tags of a complete document follow the quote; cleaning drops them.
        html: clean_html(html.get(start..)?)?,
    })
}

/// Returns the marked signature of a draft, from above its quote; `None` if there is none.
pub fn signature(text: &str, html: &str) -> Option<TextForms> {
    let (line, start) = quote_span(text, html).unwrap_or((usize::MAX, html.len()));
    let lines: Vec<&str> = text.lines().take(line).collect();
    let plain = split_quoted(&lines.join("\n")).signature;
    let plain = plain.map(|text| text.strip_prefix("--\n").unwrap_or(&text).to_owned());
    match clean::signature(html.get(..start)?) {
        Some(html) => Some(TextForms { text: plain.unwrap_or_else(|| plain_of(&html)), html }),
        None => plain.map(|text| from_plain(&text)),
    }
}

/// Returns the text of a message that we composed, without its signature and its quote.
pub fn own_text(text: &str, html: &str) -> Option<TextForms> {
    let (line, start) = quote_span(text, html).unwrap_or((usize::MAX, html.len()));
    let lines: Vec<&str> = text.lines().take(line).collect();
    let (html, signed) = clean::above_signature(html.get(..start)?)?;
    let mark = lines.iter().rposition(|line| signed && line.trim_end() == "--");
    let own = lines.get(..mark.unwrap_or(lines.len()))?;
    Some(TextForms { text: own.join("\n").trim_end().to_owned(), html })
}

/// The parts of a draft's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftParts {
    /// The text above the quote, cleaned, with the signature.
    pub text: String,
    /// True if it has a signature.
    pub signature: bool,
    /// The length of the quote in characters; `None` without a quote.
    pub quote: Option<usize>,
    /// The beginning of the quoted text, on one line.
    pub quoted: String,
}

/// Splits the text of a draft into its parts.
pub fn parts(text: &str, html: &str) -> DraftParts {
    let (own, quote) = if let Some((line, _)) = quote_span(text, html) {
        let lines: Vec<&str> = text.lines().collect();
        let (own, quote) = lines.split_at_checked(line).unwrap_or((&lines, &[]));
        (own.join("\n"), Some(quote.join("\n")))
    } else {
        let parts = split_quoted(text);
        match parts.quoted {
            Some(quote) => {
                let own = [parts.fresh, parts.signature.unwrap_or_default()];
                (own.join("\n\n"), Some(quote))
            }
            None => (text.to_owned(), None),
        }
    };
    let signature = signature(text, html).is_some();
    DraftParts {
        text: words::lines(&own),
        signature,
        quoted: quote.as_deref().map_or_else(String::new, quoted),
        quote: quote.map(|quote| quote.trim().chars().count()),
    }
}

/// Returns the beginning of the text in a quote on one line, without the quote marks, the lines
/// above it, and nested quotes.
fn quoted(quote: &str) -> String {
    let lines = quote.trim().lines();
    let above: Vec<&str> = if quote.trim().starts_with(FORWARDED) {
        lines.skip_while(|line| !line.trim().is_empty()).collect()
    } else {
        lines.skip_while(|line| !line.starts_with('>')).collect()
    };
    let bare = above.into_iter().map(|line| line.strip_prefix('>').unwrap_or(line).trim());
    let lines: Vec<&str> = bare.filter(|line| !line.is_empty()).collect();
    // Skips the text that the message itself quotes, unless there is no other text.
    let next = lines.iter().skip(1).chain([&""]);
    let is_quote = |line: &str, next: &str| {
        line.starts_with('>') || line.ends_with(':') && next.starts_with('>')
    };
    let fresh = lines.iter().zip(next).filter(|(line, next)| !is_quote(line, next));
    let fresh: Vec<&str> = fresh.map(|(line, _)| *line).collect();
    let shown = if fresh.is_empty() { lines } else { fresh };
    shown.into_iter().take(QUOTED).collect::<Vec<_>>().join(" ")
}

/// Returns the beginning of the quote in a message that we composed: the line in its text, and
/// the byte in its HTML.
fn quote_span(text: &str, html: &str) -> Option<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let begins = |at: usize, line: &str| {
        // A text derived from the HTML has an empty line in between. The check of the line's
        // own text comes first: searching the next line at every line would be quadratic in a
        // text of empty lines.
        let next = || lines.iter().skip(at + 1).find(|line| !line.is_empty());
        line == FORWARDED
            || (line.ends_with(" wrote:") && next().is_some_and(|line| line.starts_with('>')))
    };
    let at = lines.iter().enumerate().position(|(at, line)| begins(at, line))?;
    let first = lines.get(at)?;
    let start = if *first == FORWARDED {
        let mark = html.find(FORWARDED)?;
        html.get(..mark)?.rfind("<p")?
    } else {
        let mark = html.find(QUOTE)?;
        html.get(..mark)?.rfind("<p")?
    };
    Some((at, start))
}

/// Joins the new text, the signature and the quote, in this order. Empty parts are omitted.
pub fn together(
    body: &TextForms,
    signature: Option<&TextForms>,
    quote: Option<&TextForms>,
) -> TextForms {
    let (mut text, mut html) = (Vec::new(), Vec::new());
    if !body.text.trim().is_empty() || !body.html.trim().is_empty() {
        text.push(body.text.trim_end().to_owned());
        html.push(body.html.trim_end().to_owned());
    }
    if let Some(signature) = signature {
        // `-- ` with its space is the delimiter of signatures (RFC 3676, 4.3).
        text.push(format!("-- \n{}", signature.text.trim_end()));
        html.push(format!("<div>-- <br>\n{}</div>", signature.html.trim_end()));
    }
    if let Some(quote) = quote {
        text.push(quote.text.clone());
        html.push(quote.html.clone());
    }
    TextForms { text: text.join("\n\n"), html: html.join("\n") }
}

/// Returns a line such as `On Tue, 3 Feb 2026 at 18:05, Jonas Berg <jonas@example.com> wrote:`.
fn attribution(original: &SourceMessage, zone: &TimeZone) -> String {
    let who = if original.from.is_empty() { "somebody".to_owned() } else { list(&original.from) };
    match original.sent {
        Some(sent) => format!("On {}, {who} wrote:", when(sent, zone)),
        None => format!("{who} wrote:"),
    }
}

fn when(at: jiff::Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a, %-d %b %Y at %H:%M").to_string()
}

fn list(people: &[MailPerson]) -> String {
    let one = |person: &MailPerson| {
        words::MailAddress::new(person.name.as_deref(), person.address.as_str()).to_string()
    };
    people.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn plain(original: &SourceMessage) -> String {
    let text = original.text.as_deref().filter(|text| !text.trim().is_empty());
    let text = match (text, &original.html) {
        (Some(text), _) => text.to_owned(),
        (None, Some(html)) => plain_of(html),
        (None, None) => String::new(),
    };
    let unified = text.replace("\r\n", "\n").replace(['\r', '\0'], "\n");
    let lines: Vec<&str> = unified.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

fn html(original: &SourceMessage) -> String {
    let own = original.html.as_deref().and_then(clean_html);
    own.filter(|html| !html.is_empty()).unwrap_or_else(|| html_of(&plain(original)))
}

/// Removes pictures that are parts of the original message from cleaned HTML. The reply does not
/// have these parts.
fn without_parts(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find("<img") {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        // In cleaned HTML, a `>` in an attribute is always an entity.
        let end = tag.find('>').map_or(tag.len(), |end| end + 1);
        let (tag, after) = tag.split_at(end);
        if !tag.to_ascii_lowercase().contains("src=\"cid:") {
            out.push_str(tag);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
