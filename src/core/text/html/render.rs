//! Rendering of the pruned tree as text or Markdown.
//!
//! One walk classifies each element once: block, list, quote, link or picture. White space and line
//! breaks are left to the writer, and parts that a reader cannot see are no longer in the tree.

use std::collections::HashSet;

use super::elements::{
    MessagePart, has_blockquote, is_block, is_cited, longest_ticks, message_part, picture_text,
    pictured, shifted, text_below, tight,
};
use super::links::{LinkTarget, MailLink, MailLinks, odd_scheme};
use super::prune::PrunedElements;
use super::table::{self, TablePlan};
use super::tree::{DomTree, NodeId, ROOT, TreeWalk, WalkStep};
use super::writer::TextWriter;
use crate::text::fence::{END, OURS, QUOTE, SIGNATURE};
use crate::text::invisible::InvisibleUse;
use crate::text::numeral::numeral;
use crate::text::{cell, clip, invisible, quote};

/// The format of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    /// Plain text, with no markup but list markers and quote marks.
    Text,
    /// Markdown, with headings, emphasis and tables.
    Markdown,
}

/// The sign around text that is struck out.
const STRUCK: &str = "~~";
/// Maximum length of a host name shown, in columns.
const MAX_HOST: usize = 80;
/// Number of lines above a `blockquote` that may introduce it.
const INTRODUCTION: usize = 8;
/// Maximum number of elements from an area up to its map.
const MAP_DEPTH: usize = 5;

/// The document as text.
pub struct RenderedText {
    pub text: String,
    /// Its links, if requested.
    pub links: Vec<MailLink>,
    /// The number of pictures without a text.
    pub pictures: usize,
    /// The invisible characters in the text.
    pub unseen: InvisibleUse,
}

/// Returns the document as text, with its links if requested.
pub fn render(
    tree: &DomTree,
    drawn: &PrunedElements,
    style: TextStyle,
    links: bool,
) -> RenderedText {
    let markdown = style == TextStyle::Markdown;
    let mut renderer = TextRenderer {
        tree,
        drawn,
        markdown,
        plan: table::plan(tree, markdown),
        out: TextWriter::new(markdown),
        links: links.then(MailLinks::default),
        places: HashSet::new(),
        maps: tree.below(ROOT).filter_map(|id| tree.attr(id, "usemap")).map(map_name).collect(),
        pictures: 0,
        lists: Vec::new(),
        open: Vec::new(),
        heading: 0,
        quotes: 0,
        containers: 0,
    };
    let mut unseen = InvisibleUse::default();
    let mut walk = TreeWalk::new(ROOT);
    while let Some(step) = walk.step(tree) {
        match step {
            WalkStep::Enter(id) => {
                if let Some(text) = tree.text(id) {
                    invisible::scan(text, &mut unseen);
                    let seen = invisible::visible(text);
                    match drawn.spaced.get(&id) {
                        Some(how) => renderer.out.spaced(&seen, *how),
                        None => renderer.out.text(&seen),
                    }
                } else {
                    if renderer.reverses(id) {
                        invisible::scan_reversed(&text_below(tree, id), &mut unseen);
                    }
                    if !renderer.enter(id) {
                        walk.pass_over();
                    }
                }
            }
            WalkStep::Leave(id) => {
                if tree.text(id).is_none() {
                    renderer.leave(id);
                }
            }
        }
    }
    RenderedText {
        links: renderer.links.map(MailLinks::into_list).unwrap_or_default(),
        text: renderer.out.finish(),
        pictures: renderer.pictures,
        unseen,
    }
}

/// Returns the name of a map, without the `#` of a reference to it.
fn map_name(name: &str) -> &str {
    name.trim().trim_start_matches('#')
}

/// The steps to undo when an element is left.
#[derive(Default)]
struct ElementExit {
    /// Line breaks after the element.
    block: u8,
    /// The number of emphasis signs around the element.
    marks: u8,
    prefix: bool,
    quote: bool,
    /// A container of quotes.
    container: bool,
    /// A part whose end is marked.
    part: bool,
    verbatim: bool,
    flat: bool,
    list: bool,
    item: bool,
    heading: bool,
    /// Signs written at the end: on a line of their own, or right after the text.
    fence: Option<String>,
    closing: Option<&'static str>,
    /// A link's target and text, and the number of pieces written before it.
    link: Option<(LinkDestination, String, usize)>,
}

/// The target of a link.
enum LinkDestination {
    Address(LinkTarget),
    /// The scheme of an address that has its content, or a script, in the link itself.
    Odd(&'static str),
}

/// A list.
struct OpenList {
    /// True if items without a style of their own are numbered.
    numbered: bool,
    /// The number of its next item.
    next: i64,
}

struct TextRenderer<'a> {
    tree: &'a DomTree,
    drawn: &'a PrunedElements,
    markdown: bool,
    plan: TablePlan,
    out: TextWriter,
    links: Option<MailLinks>,
    /// The targets of links without words that have been shown.
    places: HashSet<String>,
    /// The names of the maps over pictures.
    maps: HashSet<&'a str>,
    /// The number of pictures without a text.
    pictures: usize,
    lists: Vec<OpenList>,
    open: Vec<ElementExit>,
    heading: usize,
    /// Depth of quotes, and of containers of them.
    quotes: usize,
    containers: usize,
}

impl TextRenderer<'_> {
    /// Begins an element; returns false if its children are not written.
    fn enter(&mut self, id: NodeId) -> bool {
        let mut undo = ElementExit::default();
        let descend = self.begin(id, &mut undo);
        self.open.push(undo);
        descend
    }

    fn begin(&mut self, id: NodeId, undo: &mut ElementExit) -> bool {
        let tree = self.tree;
        let name = tree.name(id);
        let part = message_part(tree, id).filter(|_| !self.out.is_flat());
        self.begin_part(part, undo);
        if matches!(name, "s" | "strike" | "del") || self.drawn.struck.contains(&id) {
            self.mark(STRUCK, undo);
        }
        if self.drawn.apart.contains(&id) && !is_block(name) {
            self.block(1, undo);
        }
        match name {
            "a" => return self.link(id, undo),
            "img" => self.picture(id),
            "area" => self.area(id, undo),
            // The pronunciation of the characters before it.
            "rt" => {
                self.out.text("(");
                undo.closing = Some(")");
            }
            "br" => self.out.line_break(),
            // A field separates the words beside it.
            "input" => self.out.text(" "),
            "b" | "strong" => self.mark("**", undo),
            "i" | "em" | "cite" | "dfn" | "var" => self.mark("*", undo),
            // A backtick would end the code, and cannot be escaped.
            "code" | "kbd" | "samp" | "tt"
                if self.markdown && !text_below(tree, id).contains('`') =>
            {
                self.mark("`", undo);
            }
            "sup" | "sub" => {
                if let Some(text) = shifted(&text_below(tree, id), name == "sup") {
                    self.out.text(&text);
                    return false;
                }
            }
            "q" => {
                self.out.text("“");
                undo.closing = Some("”");
            }
            _ if self.out.is_flat() => self.flat(id, name),
            "hr" => {
                self.block(2, undo);
                if self.markdown {
                    self.out.raw("---");
                }
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(name, undo),
            "ul" | "ol" | "menu" | "dir" => self.list(id, name, undo),
            "li" => self.item(id, undo),
            "blockquote" if self.is_quote(id) => self.quote(undo),
            "pre" | "listing" | "xmp" | "plaintext" => self.verbatim(id, undo),
            "tr" => self.row(id, undo),
            "td" | "th" => self.block(2, undo),
            "p" => {
                let lines = if tight(tree, id) { 1 } else { 2 };
                self.block(lines, undo);
            }
            "blockquote" | "table" | "dl" | "figure" | "fieldset" => self.block(2, undo),
            "div" if part == Some(MessagePart::Quote) && !has_blockquote(tree, id) => {
                self.quote(undo);
            }
            _ if is_block(name) => self.block(1, undo),
            _ => {}
        }
        true
    }

    /// Ends an element.
    fn leave(&mut self, id: NodeId) {
        let Some(undo) = self.open.pop() else { return };
        if self.tree.name(id) == "input" {
            self.out.text(" ");
        }
        if let Some((target, text, pieces)) = undo.link {
            match (target, self.out.pieces() > pieces) {
                (LinkDestination::Address(target), true) => self.end_link(&target, &text),
                (LinkDestination::Address(target), false) => self.picture_link(id, &target),
                (LinkDestination::Odd(scheme), true) => {
                    self.out.suffix(&format!(" ({OURS}goes to a {scheme}: URL)"));
                }
                (LinkDestination::Odd(_), false) => {}
            }
        }
        if let Some(closing) = undo.closing {
            self.out.suffix(closing);
        }
        for _ in 0..undo.marks {
            self.out.end_mark();
        }
        if undo.heading {
            self.heading -= 1;
        }
        if undo.verbatim {
            self.out.end_verbatim();
        }
        if let Some(fence) = undo.fence {
            self.out.block(1);
            self.out.raw(&fence);
        }
        if undo.flat {
            self.end_row(id);
        }
        if undo.list {
            self.lists.pop();
        }
        if undo.block > 0 {
            self.out.block(undo.block);
        }
        if undo.item {
            self.out.tighten();
        }
        if undo.prefix {
            self.out.end_prefix();
        }
        if undo.part {
            self.out.end_part(END);
        }
        self.quotes -= usize::from(undo.quote);
        self.containers -= usize::from(undo.container);
    }

    fn block(&mut self, lines: u8, undo: &mut ElementExit) {
        self.out.block(lines);
        undo.block = lines;
    }

    fn mark(&mut self, sign: &'static str, undo: &mut ElementExit) {
        // Struck-out text does not apply, so it is marked in plain text, too.
        let struck = sign == STRUCK;
        let wanted = struck || self.markdown && self.heading == 0;
        // Emphasis within emphasis of the same kind would end it, and code shows signs literally.
        let redundant = self.out.has_mark(sign) || self.out.has_mark("`");
        if wanted && !redundant && !self.open.iter().any(|undo| undo.verbatim) {
            self.out.begin_mark(sign);
            undo.marks += 1;
        }
    }

    /// Returns true if an element reverses its text, from right to left.
    fn reverses(&self, id: NodeId) -> bool {
        let by_name = || {
            let dir = self.tree.attr(id, "dir").unwrap_or_default();
            self.tree.name(id) == "bdo" && dir.trim().eq_ignore_ascii_case("rtl")
        };
        self.drawn.reversed.contains(&id) || by_name()
    }

    /// Writes an element of a row on one line: cells are separated, blocks become spaces.
    fn flat(&mut self, id: NodeId, name: &str) {
        match self.plan.cells.get(&id) {
            Some(lead) => self.out.raw(lead),
            None if is_block(name) => self.out.block(1),
            None => {}
        }
    }

    fn row(&mut self, id: NodeId, undo: &mut ElementExit) {
        self.block(1, undo);
        if self.plan.rows.contains_key(&id) {
            self.out.begin_flat();
            undo.flat = true;
        }
    }

    fn end_row(&mut self, id: NodeId) {
        let Some(end) = self.plan.rows.get(&id) else {
            return;
        };
        self.out.raw(&end.text);
        self.out.end_flat();
        if let Some(rule) = &end.rule {
            self.out.block(1);
            self.out.raw(rule);
        }
    }

    fn heading(&mut self, name: &str, undo: &mut ElementExit) {
        self.block(2, undo);
        self.heading += 1;
        undo.heading = true;
        if self.markdown {
            let level = name.strip_prefix('h').and_then(|level| level.parse().ok());
            // The sign is written with the first text, if there is any.
            self.out.begin_item(format!("{} ", "#".repeat(level.unwrap_or(1))));
            undo.prefix = true;
        }
    }

    fn list(&mut self, id: NodeId, name: &str, undo: &mut ElementExit) {
        // A nested list follows without a blank line.
        let lines = if self.lists.is_empty() { 2 } else { 1 };
        self.block(lines, undo);
        let start = self.tree.attr(id, "start").and_then(|start| start.trim().parse().ok());
        self.lists.push(OpenList { numbered: name == "ol", next: start.unwrap_or(1) });
        undo.list = true;
    }

    fn item(&mut self, id: NodeId, undo: &mut ElementExit) {
        self.block(1, undo);
        let own = self.tree.attr(id, "value").and_then(|value| value.trim().parse().ok());
        // An item may be outside of any list.
        let mut list = OpenList { numbered: false, next: 1 };
        let list = self.lists.last_mut().unwrap_or(&mut list);
        let number = own.unwrap_or(list.next);
        list.next = number.saturating_add(1);
        let style = match self.drawn.numbered.get(&id) {
            Some(style) if *style != "other" => *style,
            _ if list.numbered => "decimal",
            _ => "disc",
        };
        let marker = match (style, u32::try_from(number)) {
            ("none" | "disc" | "circle" | "square", _) => "- ".to_owned(),
            (_, Ok(number)) => format!("{}. ", numeral(number, style)),
            (_, Err(_)) => format!("{number}. "),
        };
        self.out.begin_item(marker);
        undo.prefix = true;
        undo.item = true;
    }

    fn quote(&mut self, undo: &mut ElementExit) {
        self.block(2, undo);
        self.out.begin_quote();
        undo.prefix = true;
        self.quotes += 1;
        undo.quote = true;
    }

    /// Returns true for a `blockquote` that quotes; others are layout, such as an indent.
    fn is_quote(&self, id: NodeId) -> bool {
        self.quotes + self.containers > 0
            || is_cited(self.tree, id)
            || quote::introduces(&self.out.tail(INTRODUCTION))
    }

    /// Marks the beginning of a part of the message, outside of quotes.
    fn begin_part(&mut self, part: Option<MessagePart>, undo: &mut ElementExit) {
        match part.filter(|_| self.quotes == 0) {
            Some(MessagePart::Attribution) => self.out.begin_part(QUOTE),
            // Everything below is older, so the part has no end.
            Some(MessagePart::Heading) => return self.out.begin_part(QUOTE),
            Some(MessagePart::Signature) => self.out.begin_part(SIGNATURE),
            Some(MessagePart::Quote | MessagePart::Container) => {
                self.containers += 1;
                undo.container = true;
                return;
            }
            None => return,
        }
        undo.part = true;
    }

    fn verbatim(&mut self, id: NodeId, undo: &mut ElementExit) {
        self.block(2, undo);
        self.out.begin_verbatim();
        undo.verbatim = true;
        if self.markdown {
            let longest =
                self.tree.below(id).filter_map(|id| self.tree.text(id)).map(longest_ticks).max();
            let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
            self.out.raw(&fence);
            self.out.block(1);
            undo.fence = Some(fence);
        }
    }

    fn picture(&mut self, id: NodeId) {
        match picture_text(self.tree, id) {
            Some(text) => self.out.text(&text),
            None => self.pictures += 1,
        }
    }

    /// Writes the link of an area of a picture.
    fn area(&mut self, id: NodeId, undo: &mut ElementExit) {
        let above = std::iter::successors(Some(id), |at| self.tree.parent(*at)).take(MAP_DEPTH);
        let map = above
            .filter(|id| self.tree.name(*id) == "map")
            .find_map(|id| self.tree.attr(id, "name"));
        if self.tree.attr(id, "href").is_some()
            && map.is_some_and(|map| self.maps.contains(map_name(map)))
        {
            self.out.text(" ");
            self.link(id, undo);
            if let Some(text) = picture_text(self.tree, id) {
                self.out.text(&text);
            }
        }
    }

    fn link(&mut self, id: NodeId, undo: &mut ElementExit) -> bool {
        let Some(href) = self.tree.attr(id, "href") else { return true };
        let text = text_below(self.tree, id);
        let Some(target) = LinkTarget::from_href(href) else {
            undo.link = odd_scheme(href)
                .map(|found| (LinkDestination::Odd(found), text, self.out.pieces()));
            return true;
        };
        if self.links.is_some() && target.is_named_by(&text) {
            // The text is the address, so a number would only replace it.
            if text.contains("://") {
                self.out.raw_word(&target.url);
            } else {
                self.out.text(text.trim());
            }
            return false;
        }
        undo.link = Some((LinkDestination::Address(target), text, self.out.pieces()));
        true
    }

    fn end_link(&mut self, target: &LinkTarget, text: &str) {
        if let Some(links) = &mut self.links
            && !target.is_written_as(text)
        {
            let number = links.number(target, text);
            self.out.suffix(&format!(" [{number}]"));
        }
        if let Some(host) = target.betrays(text) {
            let (host, _) = clip(cell(&host), MAX_HOST);
            self.out.suffix(&format!(" ({OURS}goes to {host})"));
        } else if let Some(twin) = target.deceives(text) {
            self.out.suffix(&format!(" ({OURS}its host {twin})"));
        }
    }

    /// Writes the target of a link around a picture without words: once for each target, unless
    /// links have numbers.
    fn picture_link(&mut self, id: NodeId, target: &LinkTarget) {
        let new = self.links.as_ref().is_some_and(|links| !links.knows(target));
        if !pictured(self.tree, id) || !self.places.insert(target.place().to_owned()) && !new {
            return;
        }
        let (place, _) = clip(cell(target.place()), MAX_HOST);
        self.out.text(&format!("[link: {place}]"));
        if let Some(links) = &mut self.links {
            let number = links.number(target, "");
            self.out.suffix(&format!(" [{number}]"));
        }
    }
}
