//! HTML messages as text.
//!
//! [`parse`] builds a tree, within limits. [`prune`] removes text that a reader would not see.
//! [`render`] writes the rest as plain text or Markdown, with the help of [`table`] for tables and
//! of [`links`] for link targets.
//!
//! Every step takes time proportional to the input and none recurses, so no message can stall or
//! crash the program. Quoted replies are written as `> ` lines or with their header lines;
//! [`quote`](super::quote) separates them.

mod css;
mod elements;
mod hidden;
pub(super) mod links;
pub(super) mod look_alike;
mod parse;
mod prune;
mod redirect;
mod render;
mod table;
mod tree;
mod writer;

pub use css::WORK;
pub use hidden::{DoubtfulText, HiddenText};
pub use links::MailLink;
pub use parse::{MAX_INPUT, shorten};
pub use render::TextStyle;

use super::fence::theirs;
use super::invisible::InvisibleUse;

/// An HTML message as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HtmlText {
    /// The text, cleaned by [`lines`](super::lines).
    pub text: String,
    /// The links that are numbered in the text, from 1; empty unless requested.
    pub links: Vec<MailLink>,
    /// Text left out because a reader would not see it.
    pub hidden: HiddenText,
    /// Text shown although a reader may not see it.
    pub doubt: DoubtfulText,
    /// The purposes of its invisible characters.
    pub unseen: InvisibleUse,
    /// The number of characters left out because they are nested too deeply to find out whether
    /// they are hidden.
    pub deep: usize,
    /// True if a limit was exceeded, so that not everything was read.
    pub cut: bool,
    /// The number of visible pictures without a text.
    pub pictures: usize,
}

/// Returns the text of an HTML message. With `links`, links are numbered in the text, as in `text
/// [1]`, and listed.
pub fn html(input: &str, style: TextStyle, links: bool) -> HtmlText {
    html_within(input, style, links, WORK)
}

/// Does the same with the limit `work` for style sheets, so that a test reaches it quickly.
pub fn html_within(input: &str, style: TextStyle, links: bool, work: usize) -> HtmlText {
    let mut html = read(input, style, links, work);
    html.text = theirs(html.text);
    html
}

/// Does the same as [`html`], with [`OURS`](super::fence::OURS) before each of our own lines.
pub fn marked(input: &str, style: TextStyle, links: bool) -> HtmlText {
    read(input, style, links, WORK)
}

fn read(input: &str, style: TextStyle, links: bool, work: usize) -> HtmlText {
    let parse::ParsedHtml { mut tree, cut, deep } = parse::parse(input);
    let (hidden, doubt, drawn) = prune::prune(&mut tree, work);
    let rendered = render::render(&tree, &drawn, style, links);
    let render::RenderedText { text, links, pictures, unseen } = rendered;
    HtmlText { text: super::lines(&text), links, hidden, doubt, unseen, deep, cut, pictures }
}
