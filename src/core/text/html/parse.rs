//! Parsing of HTML, within limits.
//!
//! The parser is html5ever, which reads documents as browsers do. Some of its work is quadratic: it
//! searches the open elements for every tag, and the attributes of a tag for every attribute. A
//! filter between its tokenizer and its tree builder limits that:
//!
//! - Tags that would open more than [`MAX_OPEN`] elements are left out, and their text stays. If
//!   one of them might hide text, all further text is left out.
//! - A tag with more than [`MAX_ATTRIBUTES`] ends there, and its content is hidden.
//! - Reading ends at [`MAX_NODES`].
//!
//! The tree is interpreted elsewhere.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use html5ever::LocalName;
use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::TreeSink;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{Tracer, TreeBuilder, TreeBuilderOpts};

use super::super::truncate;
use super::css;
use super::tree::{DomBuilder, DomTree, NodeHandle};

/// Maximum length of the input, in bytes; the rest is not read.
pub const MAX_INPUT: usize = 2 * 1024 * 1024;
/// Maximum number of open elements; deeper ones are flattened.
const MAX_OPEN: usize = 250;
/// Maximum number of nodes of a tree.
const MAX_NODES: usize = 400_000;
/// Maximum number of attributes of a tag.
const MAX_ATTRIBUTES: usize = 1_000;

/// A parsed document.
pub struct ParsedHtml {
    /// The tree.
    pub tree: DomTree,
    /// True if a limit was exceeded, so that not everything was read.
    pub cut: bool,
    /// The number of characters left out because they are nested too deeply to find out whether
    /// they are hidden.
    pub deep: usize,
}

/// Returns the tree of `input`.
pub fn parse(input: &str) -> ParsedHtml {
    // Inline pictures are removed first, so that they do not use up the limit.
    let input = without_data_urls(input);
    let end = input.floor_char_boundary(MAX_INPUT);
    let mut cut = end < input.len();
    let mut rest = input.get(..end).unwrap_or_default();

    // Mail programs run no scripts, so the content of `noscript` is shown.
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let builder = TreeBuilder::new(DomBuilder::new(), options);
    let tokenizer = Tokenizer::new(TokenFilter::new(builder), TokenizerOpts::default());
    let queue = BufferQueue::default();
    let mut place = MarkupPosition::Text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(piece_len(rest));
        rest = after;
        if tokenizer.sink.builder.sink.size.get() > MAX_NODES {
            cut = true;
            break;
        }
        place = place.at(piece);
        if let MarkupPosition::Passing(tag) = &mut place {
            if tag.read(piece).is_some() {
                place = MarkupPosition::Text;
            }
            continue;
        }
        let mut piece = Cow::Borrowed(piece);
        if let MarkupPosition::Tag(tag) = &mut place {
            let mut read = *tag;
            match read.read(&piece) {
                Some(end) if read.count > MAX_ATTRIBUTES => {
                    // Its further attributes may hide its content.
                    cut = true;
                    let kept = piece.get(..end).unwrap_or_default();
                    let (kept, left) = (kept.to_owned(), piece.get(end..).map(str::to_owned));
                    piece = Cow::Owned(format!("{kept}{} hidden>", read.closing()));
                    let mut passing = read;
                    passing.endless = true;
                    let ended = passing.read(left.as_deref().unwrap_or_default()).is_some();
                    place =
                        if ended { MarkupPosition::Text } else { MarkupPosition::Passing(passing) };
                }
                _ => *tag = read,
            }
        }
        tokenizer.sink.got_token.set(false);
        queue.push_back(StrTendril::from_slice(&piece));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        if tokenizer.sink.got_token.get() && !matches!(place, MarkupPosition::Passing(_)) {
            place = MarkupPosition::Text;
        }
    }
    tokenizer.end();
    let deep = tokenizer.sink.deep.get();
    ParsedHtml { tree: tokenizer.sink.builder.sink.finish(), cut, deep }
}

/// The position in the markup that is visible from outside: inside a tag or a comment, the
/// tokenizer emits no token.
#[derive(Clone, Copy)]
enum MarkupPosition {
    Text,
    Comment,
    Tag(AttributeState),
    /// In a tag whose further attributes are skipped.
    Passing(AttributeState),
}

impl MarkupPosition {
    /// Returns the position within `piece`.
    fn at(self, piece: &str) -> Self {
        match self {
            Self::Text if piece.starts_with("<!") || piece.starts_with("<?") => Self::Comment,
            Self::Text if piece.starts_with('<') => Self::Tag(AttributeState::default()),
            other => other,
        }
    }
}

/// The progress in reading a tag, by the tokenizer's rules.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct AttributeState {
    count: usize,
    /// True if the limit no longer applies.
    endless: bool,
    within: TagPart,
}

/// The part of a tag that is being read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum TagPart {
    /// The tag's own name.
    #[default]
    Tag,
    /// The space before an attribute.
    Between,
    Name,
    /// After the `=` of an attribute, before its value.
    Equals,
    /// A value, unquoted or within this quote.
    Value(Option<u8>),
}

impl AttributeState {
    /// Reads a piece; returns the position at which the tag ends or has too many attributes.
    fn read(&mut self, piece: &str) -> Option<usize> {
        for (at, byte) in piece.bytes().enumerate() {
            let blank = byte.is_ascii_whitespace();
            self.within = match (self.within, byte) {
                (TagPart::Value(Some(quote)), byte) if byte == quote => TagPart::Between,
                (TagPart::Value(Some(_)), _) => continue,
                (_, b'>') => return Some(at),
                (TagPart::Equals, b'"' | b'\'') => TagPart::Value(Some(byte)),
                (TagPart::Equals, _) if blank => continue,
                (TagPart::Equals, _) => TagPart::Value(None),
                (TagPart::Value(None), _) if !blank => continue,
                (TagPart::Tag, b'/') => TagPart::Between,
                (TagPart::Tag, _) if !blank => continue,
                (TagPart::Between | TagPart::Name, b'/') => TagPart::Between,
                (TagPart::Name, b'=') => TagPart::Equals,
                (TagPart::Name, _) if !blank => continue,
                (TagPart::Between, b'=') if self.count > 0 => TagPart::Equals,
                (TagPart::Between, _) if !blank => {
                    self.count += 1;
                    if self.count > MAX_ATTRIBUTES && !self.endless {
                        return Some(at);
                    }
                    TagPart::Name
                }
                _ => TagPart::Between,
            };
        }
        None
    }

    /// Returns the quote that closes the current value.
    fn closing(&self) -> &'static str {
        match self.within {
            TagPart::Value(Some(b'"')) => "\"",
            TagPart::Value(Some(_)) => "'",
            _ => "",
        }
    }
}

/// Returns the length of the next piece: through the next `>`, or up to the next `<` that could
/// begin markup.
fn piece_len(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'>' => return at + 1,
            b'<' if at > 0 => match bytes.get(at + 1) {
                Some(next) if next.is_ascii_alphabetic() || b"/!?".contains(next) => return at,
                _ => {}
            },
            _ => {}
        }
    }
    rest.len()
}

/// Drops the part of HTML that [`parse`] does not read; the rest is still recognised as cut.
pub fn shorten(source: &mut String) {
    if source.len() > MAX_INPUT {
        *source = without_data_urls(source).into_owned();
        truncate(source, MAX_INPUT);
    }
}

/// Removes the content of `data:` URLs in attributes. An inline picture has no text and can be
/// larger than the rest of the message.
fn without_data_urls(input: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = input;
    // A quote that was not found once is not found later either; searching again would take
    // quadratic time.
    let mut missing = [false; 2];
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|r| r.find("data:")) {
        let url = from + at;
        from = url + "data:".len();
        let before = rest.get(..url).unwrap_or_default();
        let (quote, slot) = if before.ends_with("=\"") {
            ('"', 0)
        } else if before.ends_with("='") {
            ('\'', 1)
        } else {
            continue;
        };
        let Some(lost) = missing.get_mut(slot) else {
            continue;
        };
        if *lost {
            continue;
        }
        let Some(len) = rest.get(from..).and_then(|r| r.find(quote)) else {
            *lost = true;
            continue;
        };
        // Short ones are not worth a copy, and may be ordinary text. Style sheets are needed.
        let body = rest.get(from..from + len).unwrap_or_default();
        let sheet = body.get(..8).is_some_and(|kind| kind.eq_ignore_ascii_case("text/css"));
        if len < 256 || sheet || body.contains(['<', '>']) {
            continue;
        }
        out.push_str(rest.get(..from).unwrap_or_default());
        rest = rest.get(from + len..).unwrap_or_default();
        from = 0;
    }
    if out.is_empty() {
        return Cow::Borrowed(input);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The filter between the tokenizer and the tree builder.
struct TokenFilter {
    builder: TreeBuilder<NodeHandle, DomBuilder>,
    /// True once the tokenizer has emitted a token.
    got_token: Cell<bool>,
    /// The number of start tags left out, by name: their end tags have to be left out, too.
    left_out: RefCell<HashMap<LocalName, usize>>,
    /// True after the first style sheet.
    styled: Cell<bool>,
    /// True after leaving out a tag that may hide text: its end is unknown, so no further text is
    /// taken.
    shut: Cell<bool>,
    /// The number of characters left out.
    deep: Cell<usize>,
}

/// Counts the open elements of a tree builder.
struct OpenElements(Cell<usize>);

impl Tracer for OpenElements {
    type Handle = NodeHandle;

    fn trace_handle(&self, _: &NodeHandle) {
        self.0.set(self.0.get() + 1);
    }
}

impl TokenFilter {
    fn new(builder: TreeBuilder<NodeHandle, DomBuilder>) -> Self {
        Self {
            builder,
            got_token: Cell::new(false),
            left_out: RefCell::default(),
            styled: Cell::new(false),
            shut: Cell::new(false),
            deep: Cell::new(0),
        }
    }

    /// Returns the tag to pass on instead of `tag`, if any.
    fn admit(&self, tag: Tag) -> Option<Tag> {
        if leaf(&tag.name) {
            self.styled.set(self.styled.get() || &*tag.name == "style");
            return Some(tag);
        }
        let mut left_out = self.left_out.borrow_mut();
        if tag.kind == TagKind::EndTag {
            return match left_out.get_mut(&tag.name) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    line_break(&tag.name)
                }
                _ => Some(tag),
            };
        }
        let open = OpenElements(Cell::new(0));
        self.builder.trace_handles(&open);
        if open.0.get() < MAX_OPEN {
            return Some(tag);
        }
        // With a style sheet, any tag may hide its content.
        if self.styled.get() || may_hide(&tag) {
            self.shut.set(true);
        }
        *left_out.entry(tag.name.clone()).or_default() += 1;
        line_break(&tag.name)
    }
}

/// Returns true for a tag that may hide its content without a style sheet.
fn may_hide(tag: &Tag) -> bool {
    super::prune::is_non_content(&tag.name)
        || matches!(
            &*tag.name,
            "dialog" | "details" | "select" | "svg" | "math" | "meter" | "progress"
        )
        || tag.attrs.iter().any(|attr| match &*attr.name.local {
            "hidden" | "popover" | "color" | "bgcolor" | "background" | "text" => true,
            "style" => css::declarations(&attr.value).iter().any(|one| css::matters(&one.name)),
            _ => false,
        })
}

/// Returns true for elements that cannot nest. They include elements whose content is not markup,
/// which the tokenizer must know.
fn leaf(name: &str) -> bool {
    matches!(
        name,
        "br" | "hr"
            | "img"
            | "input"
            | "wbr"
            | "area"
            | "base"
            | "col"
            | "link"
            | "meta"
            | "script"
            | "style"
            | "title"
            | "textarea"
            | "xmp"
            | "iframe"
            | "noembed"
            | "noframes"
            | "html"
            | "head"
            | "body"
    )
}

/// Returns the line break that replaces a block left out.
fn line_break(name: &str) -> Option<Tag> {
    let inline = matches!(
        name,
        "a" | "b" | "i" | "u" | "em" | "strong" | "span" | "font" | "small" | "big" | "code" | "tt"
    );
    (!inline).then(|| Tag {
        kind: TagKind::StartTag,
        name: html5ever::local_name!("br"),
        self_closing: false,
        attrs: Vec::new(),
    })
}

impl TokenSink for TokenFilter {
    type Handle = NodeHandle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeHandle> {
        let token = match token {
            Token::ParseError(_) => return TokenSinkResult::Continue,
            // Comments would count towards the limit of nodes.
            Token::CommentToken(_) => {
                self.got_token.set(true);
                return TokenSinkResult::Continue;
            }
            Token::TagToken(tag) => {
                self.got_token.set(true);
                match self.admit(tag) {
                    Some(tag) => Token::TagToken(tag),
                    None => return TokenSinkResult::Continue,
                }
            }
            Token::CharacterTokens(text) if self.shut.get() => {
                self.got_token.set(true);
                let seen = text.chars().filter(|c| !c.is_whitespace()).count();
                self.deep.set(self.deep.get() + seen);
                return TokenSinkResult::Continue;
            }
            other => {
                self.got_token.set(true);
                other
            }
        };
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
