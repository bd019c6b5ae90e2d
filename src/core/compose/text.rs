//! A text in two forms: plain, and as the body of an HTML document.

use html_escape::encode_text;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use super::clean::clean_html;
use crate::error::{Error, Result};
use crate::text::html as read;

/// A text in both forms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextForms {
    /// The plain text, with LF between lines and none at the end.
    pub text: String,
    /// The content of the body of an HTML document.
    pub html: String,
}

/// Returns the extensions of CommonMark that are enabled.
fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH
}

/// Converts a text written in Markdown. HTML in it is treated as plain text.
pub fn markdown(source: &str) -> TextForms {
    let source = normalize(source);
    let events = Parser::new_ext(&source, options()).map(|event| match event {
        // Line breaks are kept, because mail is usually written without reflowing paragraphs.
        Event::SoftBreak => Event::HardBreak,
        // As HTML, `<name>` in a text would be removed by the cleaning.
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        // Otherwise text between HTML tags would not be part of any paragraph.
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        other => other,
    });
    let mut rendered = String::new();
    html::push_html(&mut rendered, events);
    let html = clean_html(&rendered).unwrap_or_else(|| html_of(&source));
    TextForms { text: plain(&source), html }
}

/// Converts a plain text to both forms.
pub fn from_plain(source: &str) -> TextForms {
    let text = normalize(source);
    TextForms { html: html_of(&text), text: text.trim_end().to_owned() }
}

/// Converts a text written in HTML, without scripts and other active content.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) if it is too large or too deeply
/// nested to be cleaned.
pub fn from_html(source: &str) -> Result<TextForms> {
    let html = clean_html(source).ok_or_else(|| {
        Error::argument("the HTML is too large or too deeply nested").next("send it as a file")
    })?;
    Ok(TextForms { text: plain_of(&html), html })
}

/// Converts plain text to HTML, with paragraphs at blank lines and other line breaks kept. Links
/// are left to mail programs, which detect them.
pub fn html_of(text: &str) -> String {
    let text = normalize(text);
    let mut out = String::new();
    for paragraph in text.split("\n\n").map(|one| one.trim_matches('\n')) {
        if paragraph.trim().is_empty() {
            continue;
        }
        let lines: Vec<String> = paragraph.split('\n').map(spaced).collect();
        out.push_str("<p>");
        out.push_str(&lines.join("<br>\n"));
        out.push_str("</p>\n");
    }
    out.trim_end().to_owned()
}

/// Returns a line as HTML in which runs of spaces keep their width.
fn spaced(line: &str) -> String {
    let escaped = encode_text(line).into_owned();
    let indent = escaped.len() - escaped.trim_start_matches(' ').len();
    let (spaces, rest) = escaped.split_at(indent);
    format!("{}{}", spaces.replace(' ', "&nbsp;"), rest.replace("  ", " &nbsp;"))
}

/// Converts HTML to plain text, with the addresses of links below the text.
pub fn plain_of(html: &str) -> String {
    let found = read::html(html, read::TextStyle::Text, true);
    let mut text = found.text;
    let notes: Vec<String> = found
        .links
        .iter()
        .enumerate()
        .map(|(at, link)| format!("[{}] {}", at + 1, link.url))
        .collect();
    if !notes.is_empty() {
        text.push_str("\n\n");
        text.push_str(&notes.join("\n"));
    }
    text
}

/// Converts Markdown to readable plain text, without markup that is only useful in Markdown.
fn plain(source: &str) -> String {
    let mut out = PlainText::default();
    for event in Parser::new_ext(source, options()) {
        out.event(event);
    }
    let lines: Vec<&str> = out.text.split('\n').map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// The plain text while it is written.
#[derive(Default)]
struct PlainText {
    text: String,
    /// The open lists, each with the number of its next item.
    lists: Vec<Option<u64>>,
    /// The prefix of every line.
    indent: Vec<&'static str>,
    /// The target of the open link, and the start of its text.
    link: Option<(String, usize)>,
    /// True at the beginning of a block, where no line break is needed.
    fresh: bool,
    cells: usize,
}

impl PlainText {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start_tag(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(source)
            | Event::Code(source)
            | Event::Html(source)
            | Event::InlineHtml(source) => {
                self.push_text(&source);
            }
            Event::SoftBreak | Event::HardBreak => self.line(),
            Event::Rule => {
                self.block();
                self.push_text("----");
            }
            _ => {}
        }
    }

    /// Writes the beginning of an element.
    fn start_tag(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::CodeBlock(_)
            | Tag::Table(_)
            | Tag::HtmlBlock => self.block(),
            Tag::BlockQuote(_) => {
                self.block();
                self.indent.push("> ");
                self.text.push_str("> ");
                self.fresh = true;
            }
            Tag::List(number) => {
                if self.lists.is_empty() {
                    self.block();
                } else {
                    self.line();
                }
                self.lists.push(number);
                self.fresh = true;
            }
            Tag::Item => {
                if !self.fresh {
                    self.line();
                }
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number += 1;
                        mark
                    }
                    _ => "- ".to_owned(),
                };
                self.text.push_str(&mark);
                self.indent.push("  ");
                self.fresh = true;
            }
            Tag::TableHead | Tag::TableRow => {
                if !self.fresh {
                    self.line();
                }
                self.cells = 0;
            }
            Tag::TableCell => {
                if self.cells > 0 {
                    self.text.push_str(" | ");
                }
                self.cells += 1;
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.text.len()));
            }
            Tag::Emphasis => self.text.push('_'),
            Tag::Strong => self.text.push('*'),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::BlockQuote(_) => {
                self.indent.pop();
                self.fresh = false;
            }
            TagEnd::Item => {
                self.indent.pop();
                self.fresh = false;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.fresh = false;
            }
            TagEnd::TableHead | TagEnd::TableRow => self.fresh = false,
            TagEnd::Link | TagEnd::Image => {
                if let Some((url, from)) = self.link.take() {
                    let source = self.text.get(from..).unwrap_or_default();
                    let bare = url.strip_prefix("mailto:").unwrap_or(&url);
                    // The address is not repeated if it is the text itself.
                    if source != url && source != bare && !url.starts_with("cid:") {
                        self.text.push_str(&format!(" <{bare}>"));
                    }
                }
            }
            TagEnd::Emphasis => self.text.push('_'),
            TagEnd::Strong => self.text.push('*'),
            _ => {}
        }
    }

    /// Begins a block with a blank line before it, except directly after the start of another
    /// block.
    fn block(&mut self) {
        if std::mem::take(&mut self.fresh) || self.text.is_empty() {
            return;
        }
        self.text.truncate(self.text.trim_end_matches('\n').len());
        self.line();
        self.line();
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(self.indent.iter().copied());
        self.fresh = false;
    }

    fn push_text(&mut self, source: &str) {
        self.fresh = false;
        let mut lines = source.split('\n').peekable();
        while let Some(line) = lines.next() {
            self.text.push_str(line);
            match lines.peek() {
                // The line break at the end is left to the next block.
                Some(&"") if source.ends_with('\n') => break,
                Some(_) => self.line(),
                None => {}
            }
        }
    }
}

fn normalize(source: &str) -> String {
    let mut text = source.replace("\r\n", "\n").replace('\r', "\n");
    text.retain(|c| c != '\0');
    text
}
