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
pub(super) mod links;
mod parse;
mod prune;
mod redirect;
mod render;
mod table;
mod tree;
mod writer;

use std::collections::BTreeSet;

pub use css::WORK;
pub use parse::{MAX_INPUT, shorten};

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

/// Text left out because a reader would not see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenText {
    /// Its characters, without white space.
    pub chars: usize,
    /// The part of `chars` that is preview text, which newsletters put first for lists of messages.
    pub preview: usize,
    /// The number of places with other hidden text.
    pub places: usize,
    /// True if it reads like an order to an assistant.
    pub orders: bool,
}

impl HiddenText {
    /// Adds the hidden text of another part of the message.
    pub fn add(&mut self, other: &Self) {
        self.chars += other.chars;
        self.preview += other.preview;
        self.places += other.places;
        self.orders |= other.orders;
    }
}

/// Text that is shown although a reader may not see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoubtfulText {
    /// Its characters, without white space; 0 if any text may be affected.
    pub chars: usize,
    /// The reasons why it may be hidden; empty if no text is in doubt.
    pub why: BTreeSet<HidingReason>,
}

impl DoubtfulText {
    /// Adds the text in doubt of another part of the message.
    pub fn add(&mut self, other: &Self) {
        self.chars += other.chars;
        self.why.extend(&other.why);
    }
}

/// A reason why a text may be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HidingReason {
    /// On a picture or a gradient that may have the text's colour.
    Picture,
    /// Hardly darker or lighter than its ground.
    Pale,
    /// Very small.
    Small,
    /// Possibly covered by a box.
    Covered,
    /// Possibly moved out of sight.
    Moved,
    /// Possibly cut off.
    Clipped,
    /// In colours that are blended with others.
    Blended,
    /// Dependent on a style that is not computed.
    Script,
    /// In a message whose style sheets exceed a limit.
    Limit,
}

impl HidingReason {
    /// Returns the reason in words, as in "may be hidden (covered)".
    pub fn words(self) -> &'static str {
        match self {
            Self::Picture => "on a picture or gradient",
            Self::Pale => "pale",
            Self::Small => "very small",
            Self::Covered => "covered",
            Self::Moved => "moved away",
            Self::Clipped => "clipped",
            Self::Blended => "blended",
            Self::Script => "by CSS that is not computed",
            Self::Limit => "too many style sheets",
        }
    }
}

/// A link in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailLink {
    /// The address, without tracking parameters.
    pub url: String,
    /// The text of the first link to it; empty if that is the address itself.
    pub text: String,
    /// A remark on the target; empty if the address says it all.
    pub remark: String,
}

/// The format of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    /// Plain text, with no markup but list markers and quote marks.
    Text,
    /// Markdown, with headings, emphasis and tables.
    Markdown,
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
