//! HTML mail as text.
//!
//! The way of a mail: [`parse`] makes a tree of it, within limits; [`prune`]
//! takes out what a reader would not see (hidden text above all); [`render`]
//! writes the rest as plain text or Markdown, with the help of [`table`] for
//! what a table is and [`links`] for where links go.
//! Every step takes time in proportion to the input and none recurses, so no
//! mail can stall or crash the program. Quoted replies come out as `> ` lines
//! or with the header lines they have; telling them apart is the work of
//! [`quote`](super::quote).

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

/// An HTML mail as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HtmlText {
    /// The text, clean as by [`lines`](super::lines).
    pub text: String,
    /// The links that are numbered in the text, from one; empty unless asked
    /// for.
    pub links: Vec<MailLink>,
    /// What was left out because a reader would not see it.
    pub hidden: HiddenText,
    /// What is shown although a reader may not see it.
    pub doubt: DoubtfulText,
    /// What its invisible characters are there for.
    pub unseen: InvisibleUse,
    /// How many characters were left out because they stand in more elements
    /// than are looked at, which may hide them.
    pub deep: usize,
    /// True if the mail was over a limit and not all of it was read.
    pub cut: bool,
    /// The number of pictures to be seen that no word stands for.
    pub pictures: usize,
}

/// Text left out because a reader would not see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenText {
    /// Its characters, without white space.
    pub chars: usize,
    /// Those of them that newsletters begin with, for the preview in a list of mail.
    pub preview: usize,
    /// In how many places the others are.
    pub places: usize,
    /// True if it reads like an order to an assistant.
    pub orders: bool,
}

impl HiddenText {
    /// Adds what another part of the message hides.
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
    /// Its characters, without white space; 0 if it may be any of them.
    pub chars: usize,
    /// Why it may be hidden; empty if nothing is in doubt.
    pub why: BTreeSet<HidingReason>,
}

impl DoubtfulText {
    /// Adds what another part of the message may hide.
    pub fn add(&mut self, other: &Self) {
        self.chars += other.chars;
        self.why.extend(&other.why);
    }
}

/// Why a text may be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HidingReason {
    /// It stands on a picture or a gradient that may have its colour.
    Picture,
    /// It is hardly darker, or lighter, than its ground.
    Pale,
    /// It is very small.
    Small,
    /// A box may lie over it.
    Covered,
    /// It may be moved out of sight.
    Moved,
    /// It may be cut off.
    Clipped,
    /// Its colours are mixed with others.
    Blended,
    /// It hangs on a style that is not computed.
    Script,
    /// The style sheets are over a limit.
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

/// A link of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailLink {
    /// The address, without tracking parameters.
    pub url: String,
    /// The text of the first link to it; empty if that is the address itself.
    pub text: String,
    /// What is to be known about where it leads; empty if that is all in the address.
    pub remark: String,
}

/// What the text is to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    /// Plain text: no signs but list markers and quote marks.
    Text,
    /// Markdown, with headings, emphasis and tables.
    Markdown,
}

/// Returns the text of an HTML mail. With `links`, links are numbered, as in `text
/// [1]`, and listed.
pub fn html(input: &str, style: TextStyle, links: bool) -> HtmlText {
    html_within(input, style, links, WORK)
}

/// Does the same for a mail whose style sheets may make no more than `work`, so that a test
/// soon reaches the limit.
pub fn html_within(input: &str, style: TextStyle, links: bool, work: usize) -> HtmlText {
    let mut html = read(input, style, links, work);
    html.text = theirs(html.text);
    html
}

/// Does the same as [`html`], with [`OURS`](super::fence::OURS) before each line of ours.
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
