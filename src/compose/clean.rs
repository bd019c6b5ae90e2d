//! HTML that may be sent on: what runs or breaks out of its place is gone.
//!
//! What a stranger's mail looks like stays, as far as it is text, tables,
//! pictures and inline styles; scripts, event handlers, forms, frames, style
//! sheets and comments do not. It goes by what is allowed and not by what is
//! bad, writes every tag anew, and closes what is left open.

use std::cell::{Cell, RefCell};

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// More than this is not read.
const MOST: usize = 1 << 20;
/// Elements that are open at once.
const DEEPEST: usize = 200;
/// What could part the attributes of one tag, at most.
const MOST_PARTS: usize = 1_000;

/// Elements that stay.
const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "address",
    "article",
    "b",
    "big",
    "blockquote",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "main",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
    "wbr",
];
/// Elements that have no end.
const VOID: &[&str] = &["br", "col", "hr", "img", "wbr"];
/// Elements that go with all that is in them.
const GONE: &[&str] = &[
    "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript",
    "svg", "math", "object", "embed", "applet", "select", "template", "head", "audio", "video",
];
/// Attributes that stay, besides addresses and styles.
const ATTRIBUTES: &[&str] = &[
    "align",
    "alt",
    "bgcolor",
    "border",
    "cellpadding",
    "cellspacing",
    "cite",
    "color",
    "colspan",
    "dir",
    "face",
    "height",
    "lang",
    "rowspan",
    "size",
    "start",
    "title",
    "type",
    "valign",
    "width",
];

/// The part of an HTML document that may be sent, as what stands in a body;
/// nothing if it is too large, or made to be slow.
pub fn cleaned(html: &str) -> Option<String> {
    if html.len() > MOST {
        return None;
    }
    run(html, Cleaner::default()).map(|(html, _)| html)
}

/// Cleaned HTML without the pictures in it that load from elsewhere, which leave
/// their `alt` texts, and how many there were; nothing for HTML that is not
/// [`cleaned`] and made to be slow.
pub fn without_remote_pictures(html: &str) -> Option<(String, usize)> {
    let cleaner = Cleaner {
        local: true,
        ..Cleaner::default()
    };
    run(html, cleaner)
}

fn run(html: &str, cleaner: Cleaner) -> Option<(String, usize)> {
    let tokenizer = Tokenizer::new(cleaner, TokenizerOpts::default());
    let queue = BufferQueue::default();
    let mut parts = 0;
    for piece in html.split_inclusive('>') {
        // The tokenizer looks through a tag's attributes for each of them.
        parts += piece
            .bytes()
            .filter(|b| b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'' | b'='))
            .count();
        let last = piece.rfind('<').map_or(0, |at| piece.len() - at);
        let inside = piece.get(piece.len() - last..).unwrap_or_default();
        if parts > MOST_PARTS && inside.bytes().filter(u8::is_ascii_whitespace).count() > MOST_PARTS
        {
            return None;
        }
        tokenizer.sink.told.set(false);
        queue.push_back(StrTendril::from_slice(piece));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        if tokenizer.sink.told.get() {
            parts = 0;
        } else if parts > MOST_PARTS {
            return None;
        }
    }
    tokenizer.end();
    let left_out = tokenizer.sink.left_out.get();
    Some((tokenizer.sink.finish(), left_out))
}

#[derive(Default)]
struct Cleaner {
    out: RefCell<String>,
    open: RefCell<Vec<String>>,
    /// The element whose content is left out, and how often it is open.
    gone: RefCell<Option<(String, usize)>>,
    /// Set when the tokenizer said anything.
    told: Cell<bool>,
    /// True to leave out pictures that are loaded from elsewhere.
    local: bool,
    /// How many were.
    left_out: Cell<usize>,
}

impl Cleaner {
    fn finish(&self) -> String {
        let mut out = self.out.take();
        for name in self.open.take().iter().rev() {
            end(&mut out, name);
        }
        out.trim().to_owned()
    }

    fn start(&self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        let kind = match name {
            "script" => Some(RawKind::ScriptData),
            "title" | "textarea" => Some(RawKind::Rcdata),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => Some(RawKind::Rawtext),
            _ => None,
        };
        let mut gone = self.gone.borrow_mut();
        match gone.as_mut() {
            Some((open, count)) if open == name && !tag.self_closing => *count += 1,
            Some(_) => {}
            None if GONE.contains(&name) => {
                let empty = tag.self_closing || name == "embed";
                if !empty || kind.is_some() {
                    *gone = Some((name.to_owned(), 1));
                }
            }
            None => self.shown(tag),
        }
        match kind {
            Some(kind) => TokenSinkResult::RawData(kind),
            None => TokenSinkResult::Continue,
        }
    }

    fn shown(&self, tag: &Tag) {
        let name: &str = &tag.name;
        let void = VOID.contains(&name);
        let mut open = self.open.borrow_mut();
        // The text of what is too deep stays.
        if !ELEMENTS.contains(&name) || (!void && open.len() >= DEEPEST) {
            return;
        }
        let mut out = self.out.borrow_mut();
        let value = |key: &str| {
            let mut attributes = tag.attrs.iter();
            attributes
                .find(|one| &*one.name.local == key)
                .map(|one| &*one.value)
        };
        let is_remote = |src: &str| has_scheme(src, &["http:", "https:"]);
        if self.local && name == "img" && value("src").is_some_and(is_remote) {
            self.left_out.set(self.left_out.get() + 1);
            out.push_str(&html_escape::encode_text(value("alt").unwrap_or_default()));
            return;
        }
        out.push('<');
        out.push_str(name);
        for attribute in &tag.attrs {
            let key: &str = &attribute.name.local;
            if let Some(value) = allowed(name, key, &attribute.value) {
                out.push(' ');
                out.push_str(key);
                out.push_str("=\"");
                out.push_str(&html_escape::encode_double_quoted_attribute(value));
                out.push('"');
            }
        }
        out.push('>');
        if !void {
            open.push(name.to_owned());
        }
    }

    fn ended(&self, name: &str) {
        let mut gone = self.gone.borrow_mut();
        if let Some((open, count)) = gone.as_mut() {
            if open == name {
                *count -= 1;
                if *count == 0 {
                    *gone = None;
                }
            }
            return;
        }
        let mut open = self.open.borrow_mut();
        // Only what is open here is closed: nothing breaks out of its place.
        if let Some(at) = open.iter().rposition(|one| one == name) {
            let mut out = self.out.borrow_mut();
            for one in open.drain(at..).rev() {
                end(&mut out, &one);
            }
        }
    }
}

impl TokenSink for Cleaner {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::ParseError(_) => return TokenSinkResult::Continue,
            Token::TagToken(tag) => {
                self.told.set(true);
                match tag.kind {
                    TagKind::StartTag => return self.start(&tag),
                    TagKind::EndTag => self.ended(&tag.name),
                }
            }
            Token::CharacterTokens(text) => {
                self.told.set(true);
                if self.gone.borrow().is_none() {
                    let text = html_escape::encode_text(&*text).into_owned();
                    self.out.borrow_mut().push_str(&text);
                }
            }
            _ => self.told.set(true),
        }
        TokenSinkResult::Continue
    }
}

fn end(out: &mut String, name: &str) {
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

/// The value of an attribute that stays.
fn allowed<'a>(element: &str, key: &str, value: &'a str) -> Option<&'a str> {
    let stays = match (element, key) {
        ("a", "href") => has_scheme(value, &["http:", "https:", "mailto:", "tel:"]),
        ("img", "src") => {
            has_scheme(value, &["http:", "https:", "cid:"])
                || (has_scheme(value, &["data:image/"]) && !value.contains("svg"))
        }
        (_, "style") => is_plain_style(value),
        (_, "cite") => has_scheme(value, &["http:", "https:", "mid:"]),
        ("blockquote", "type") => value == "cite",
        ("ol" | "ul" | "li", "type") => true,
        (_, "type") => false,
        (_, key) => ATTRIBUTES.contains(&key),
    };
    stays.then_some(value)
}

fn has_scheme(value: &str, schemes: &[&str]) -> bool {
    let start = value.trim_start().to_ascii_lowercase();
    schemes.iter().any(|scheme| start.starts_with(scheme))
}

/// True for a style that loads nothing, runs nothing and stays in its place.
fn is_plain_style(value: &str) -> bool {
    let style = value.to_ascii_lowercase();
    let bad = [
        "url",
        "http",
        "//",
        "image-set",
        "expression",
        "script",
        "import",
        "position",
        "behavior",
        "binding",
        "\\",
        "/*",
    ];
    !bad.iter().any(|word| style.contains(word))
}
