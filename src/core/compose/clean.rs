//! Cleans HTML that is to be sent: nothing in it can run or break out of its place.
//!
//! The look of the original stays as far as it is text, tables, pictures and inline
//! styles; scripts, event handlers, forms, frames, style sheets and comments are
//! removed. It keeps what is allowed instead of removing what is known to be bad,
//! rewrites every tag, and closes what is left open.

use std::cell::{Cell, RefCell};

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// More than this is not read.
const MAX_BYTES: usize = 1 << 20;
/// Elements that are open at once.
const MAX_DEPTH: usize = 200;
/// The maximum number of pieces that the attributes of one tag may split into.
const MAX_PARTS: usize = 1_000;

/// Elements that stay.
const ELEMENTS: &[&str] = &[
    "a", "abbr", "address", "article", "b", "big", "blockquote", "br", "caption", "center", "cite",
    "code", "col", "colgroup", "dd", "del", "div", "dl", "dt", "em", "figcaption", "figure",
    "font", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "img", "ins", "kbd",
    "li", "main", "mark", "ol", "p", "pre", "q", "s", "samp", "section", "small", "span", "strike",
    "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul",
    "var", "wbr",
];
/// Elements that have no end.
const VOID: &[&str] = &["br", "col", "hr", "img", "wbr"];
/// Elements that go with all that is in them.
const GONE: &[&str] = &[
    "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript",
    "svg", "math", "object", "embed", "applet", "select", "template", "head", "audio", "video",
];
/// Attributes that stay, in addition to addresses and styles.
const ATTRIBUTES: &[&str] = &[
    "align", "alt", "bgcolor", "border", "cellpadding", "cellspacing", "cite", "color", "colspan",
    "dir", "face", "height", "lang", "rowspan", "size", "start", "title", "type", "valign",
    "width",
];

/// Classes and ids by which mail programs mark a signature, in lower case.
const SIGNATURES: &[&str] = &[
    "gmail_signature",
    "moz-signature",
    "signature",
    "applemailsignature",
    "ms-outlook-mobile-signature",
];
/// Classes and ids by which they mark quoted text, which others wrote.
const QUOTES: &[&str] = &[
    "gmail_quote",
    "gmail_quote_container",
    "moz-cite-prefix",
    "yahoo_quoted",
    "appendonsend",
    "divrplyfwdmsg",
    "mail-editor-reference-message-container",
];

/// Returns the part of an HTML document that may be sent, as the content of a body;
/// `None` if it is too large, or built to be slow.
pub fn clean_html(html: &str) -> Option<String> {
    Some(read(html)?.finish())
}

fn read(html: &str) -> Option<HtmlCleaner> {
    if html.len() > MAX_BYTES { None } else { run(html, HtmlCleaner::default()) }
}

/// Returns the first signature of a document above its quoted text, cleaned and without
/// its delimiter: one that a mail program has marked, or a `div` that begins with the
/// delimiter, as ours do.
pub fn signature(html: &str) -> Option<String> {
    let cleaner = read(html)?;
    let whole = cleaner.finish();
    let SignaturePosition::Was(from, to) = cleaner.sign.take() else {
        return None;
    };
    let inside = whole.get(from..to)?.trim();
    let rest = inside.strip_prefix("--").map(str::trim_start);
    let rest = rest.map(|rest| rest.strip_prefix("<br>").unwrap_or(rest));
    let inside = rest.unwrap_or(inside).trim();
    (!inside.is_empty()).then(|| inside.to_owned())
}

/// Returns a document above the [`signature`], cleaned, and whether it has one.
pub fn above_signature(html: &str) -> Option<(String, bool)> {
    let cleaner = read(html)?;
    let whole = cleaner.finish();
    let SignaturePosition::Was(from, _) = cleaner.sign.take() else {
        return Some((whole, false));
    };
    // The signature is inside its element.
    let above = whole.get(..from)?;
    let above = clean_html(above.get(..above.rfind('<')?)?)?;
    Some((above.trim_end().to_owned(), true))
}

/// Removes remote pictures from cleaned HTML, leaving their `alt` texts, and counts
/// them; `None` for HTML that was not [cleaned](clean_html) and is built to be slow.
pub fn without_remote_pictures(html: &str) -> Option<(String, usize)> {
    let cleaner = HtmlCleaner { local: true, ..HtmlCleaner::default() };
    let cleaner = run(html, cleaner)?;
    let left_out = cleaner.left_out.get();
    Some((cleaner.finish(), left_out))
}

fn run(html: &str, cleaner: HtmlCleaner) -> Option<HtmlCleaner> {
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
        if parts > MAX_PARTS && inside.bytes().filter(u8::is_ascii_whitespace).count() > MAX_PARTS {
            return None;
        }
        tokenizer.sink.got_token.set(false);
        queue.push_back(StrTendril::from_slice(piece));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        if tokenizer.sink.got_token.get() {
            parts = 0;
        } else if parts > MAX_PARTS {
            return None;
        }
    }
    tokenizer.end();
    Some(tokenizer.sink)
}

/// The position of the signature in what was written.
#[derive(Clone, Copy, Default)]
enum SignaturePosition {
    #[default]
    Unseen,
    /// It begins here, in the element that is open at this depth.
    Open(usize, usize),
    /// From here to there.
    Was(usize, usize),
    /// There is none before the quoted text.
    None,
}

#[derive(Default)]
struct HtmlCleaner {
    out: RefCell<String>,
    /// The open elements, and where the content of each begins.
    open: RefCell<Vec<(String, usize)>>,
    sign: Cell<SignaturePosition>,
    /// The element whose content is left out, and how often it is open.
    skipped: RefCell<Option<(String, usize)>>,
    /// Set when the tokenizer has emitted a token.
    got_token: Cell<bool>,
    /// True to leave out pictures that are loaded from elsewhere.
    local: bool,
    /// The number of pictures removed.
    left_out: Cell<usize>,
}

impl HtmlCleaner {
    fn finish(&self) -> String {
        self.close(0);
        self.out.take().trim_end().to_owned()
    }

    /// Closes what is open at this depth and deeper.
    fn close(&self, depth: usize) {
        let mut out = self.out.borrow_mut();
        for (at, (name, _)) in self.open.borrow_mut().drain(depth..).enumerate().rev() {
            if let SignaturePosition::Open(from, signed) = self.sign.get()
                && signed == depth + at
            {
                self.sign.set(SignaturePosition::Was(from, out.len()));
            }
            end(&mut out, &name);
        }
    }

    /// Records where a signature or quoted text begins.
    fn mark(&self, tag: &Tag, depth: usize, at: usize) {
        if !matches!(self.sign.get(), SignaturePosition::Unseen) {
            return;
        }
        let marked = |words: &[&str]| {
            tag.attrs
                .iter()
                .filter(|one| matches!(&*one.name.local, "class" | "id"))
                .flat_map(|one| one.value.split_ascii_whitespace())
                .any(|word| words.contains(&word.to_ascii_lowercase().as_str()))
        };
        // A quote that the author made is not one of a message.
        let cited = tag.attrs.iter().any(|one| &*one.name.local == "type" && &*one.value == "cite");
        if (&*tag.name == "blockquote" && cited) || marked(QUOTES) {
            self.sign.set(SignaturePosition::None);
        } else if marked(SIGNATURES) {
            self.sign.set(SignaturePosition::Open(at, depth));
        }
    }

    fn start(&self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        let kind = match name {
            "script" => Some(RawKind::ScriptData),
            "title" | "textarea" => Some(RawKind::Rcdata),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => Some(RawKind::Rawtext),
            _ => None,
        };
        let mut skipped = self.skipped.borrow_mut();
        match skipped.as_mut() {
            Some((open, count)) if open == name && !tag.self_closing => *count += 1,
            Some(_) => {}
            None if GONE.contains(&name) => {
                let empty = tag.self_closing || name == "embed";
                if !empty || kind.is_some() {
                    *skipped = Some((name.to_owned(), 1));
                }
            }
            None => self.count_visible(tag),
        }
        match kind {
            Some(kind) => TokenSinkResult::RawData(kind),
            None => TokenSinkResult::Continue,
        }
    }

    fn count_visible(&self, tag: &Tag) {
        let name: &str = &tag.name;
        let void = VOID.contains(&name);
        let mut open = self.open.borrow_mut();
        // The text of an element that is too deep stays.
        if !ELEMENTS.contains(&name) || (!void && open.len() >= MAX_DEPTH) {
            return;
        }
        let mut out = self.out.borrow_mut();
        let value = |key: &str| {
            let mut attributes = tag.attrs.iter();
            attributes.find(|one| &*one.name.local == key).map(|one| &*one.value)
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
            open.push((name.to_owned(), out.len()));
            self.mark(tag, open.len() - 1, out.len());
        }
    }

    fn ended(&self, name: &str) {
        let mut skipped = self.skipped.borrow_mut();
        if let Some((open, count)) = skipped.as_mut() {
            if open == name {
                *count -= 1;
                if *count == 0 {
                    *skipped = None;
                }
            }
            return;
        }
        // Only elements opened here are closed, so that nothing breaks out of its place.
        let at = self.open.borrow().iter().rposition(|(one, _)| one == name);
        if let Some(at) = at {
            self.close(at);
        }
    }

    fn text(&self, text: &str) {
        let mut out = self.out.borrow_mut();
        let open = self.open.borrow();
        if text.trim() == "--"
            && let Some((name, at)) = open.last()
            && (name == "div"
                && *at == out.len()
                && matches!(self.sign.get(), SignaturePosition::Unseen))
        {
            self.sign.set(SignaturePosition::Open(*at, open.len() - 1));
        }
        // What begins a document stays where it is counted from.
        let text = if out.is_empty() { text.trim_start() } else { text };
        out.push_str(&html_escape::encode_text(text));
    }
}

impl TokenSink for HtmlCleaner {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::ParseError(_) => return TokenSinkResult::Continue,
            Token::TagToken(tag) => {
                self.got_token.set(true);
                match tag.kind {
                    TagKind::StartTag => return self.start(&tag),
                    TagKind::EndTag => self.ended(&tag.name),
                }
            }
            Token::CharacterTokens(text) => {
                self.got_token.set(true);
                if self.skipped.borrow().is_none() {
                    self.text(&text);
                }
            }
            _ => self.got_token.set(true),
        }
        TokenSinkResult::Continue
    }
}

fn end(out: &mut String, name: &str) {
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

/// Returns the value of an attribute if it may stay.
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

/// Returns true for a style that loads nothing, runs nothing and stays in its place.
fn is_plain_style(value: &str) -> bool {
    let style = value.to_ascii_lowercase();
    let bad = [
        "url", "http", "//", "image-set", "expression", "script", "import", "position", "behavior",
        "binding", "\\", "/*",
    ];
    !bad.iter().any(|word| style.contains(word))
}
