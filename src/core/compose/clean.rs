//! Cleaning of HTML for sending: no content can be active or leave its place.
//!
//! Text, tables, pictures and inline styles are kept; scripts, event handlers, forms, frames,
//! style sheets and comments are removed. The cleaner keeps allowed content instead of removing
//! known bad content, rewrites every tag, and closes open elements.

use std::cell::{Cell, RefCell};

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// The maximum size of a document in bytes.
const MAX_BYTES: usize = 1 << 20;
/// The maximum number of open elements.
const MAX_DEPTH: usize = 200;
/// The maximum number of pieces into which the attributes of one tag may split.
const MAX_PARTS: usize = 1_000;

/// Elements that are kept.
const ELEMENTS: &[&str] = &[
    "a", "abbr", "address", "article", "b", "big", "blockquote", "br", "caption", "center", "cite",
    "code", "col", "colgroup", "dd", "del", "div", "dl", "dt", "em", "figcaption", "figure",
    "font", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "img", "ins", "kbd",
    "li", "main", "mark", "ol", "p", "pre", "q", "s", "samp", "section", "small", "span", "strike",
    "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul",
    "var", "wbr",
];
/// Elements without an end tag.
const VOID: &[&str] = &["br", "col", "hr", "img", "wbr"];
/// Elements that are removed with their content.
const GONE: &[&str] = &[
    "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript",
    "svg", "math", "object", "embed", "applet", "select", "template", "head", "audio", "video",
];
/// Attributes that are kept, in addition to addresses and styles.
const ATTRIBUTES: &[&str] = &[
    "align", "alt", "bgcolor", "border", "cellpadding", "cellspacing", "cite", "color", "colspan",
    "dir", "face", "height", "lang", "rowspan", "size", "start", "title", "type", "valign",
    "width",
];

/// Classes and ids that mark a signature in mail programs, in lower case.
const SIGNATURES: &[&str] = &[
    "gmail_signature",
    "moz-signature",
    "signature",
    "applemailsignature",
    "ms-outlook-mobile-signature",
];
/// Classes and ids that mark quoted text in mail programs, in lower case.
const QUOTES: &[&str] = &[
    "gmail_quote",
    "gmail_quote_container",
    "moz-cite-prefix",
    "yahoo_quoted",
    "appendonsend",
    "divrplyfwdmsg",
    "mail-editor-reference-message-container",
];

/// Returns the part of an HTML document that may be sent, as the content of a body. `None` if the
/// document is too large, or designed to be slow to parse.
pub fn clean_html(html: &str) -> Option<String> {
    Some(read(html)?.finish())
}

fn read(html: &str) -> Option<HtmlCleaner> {
    if html.len() > MAX_BYTES { None } else { run(html, HtmlCleaner::default()) }
}

/// Returns the first signature above the quoted text of a document, cleaned and without its
/// delimiter. A signature is an element that a mail program has marked, or a `div` that begins
/// with the delimiter, as ours do.
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

/// Returns the cleaned part of a document above the [`signature`], and true if there is a
/// signature.
pub fn above_signature(html: &str) -> Option<(String, bool)> {
    let cleaner = read(html)?;
    let whole = cleaner.finish();
    let SignaturePosition::Was(from, _) = cleaner.sign.take() else {
        return Some((whole, false));
    };
    // `from` is inside the signature's element, so its start tag is cut off, too.
    let above = whole.get(..from)?;
    let above = clean_html(above.get(..above.rfind('<')?)?)?;
    Some((above.trim_end().to_owned(), true))
}

/// Removes remote pictures from cleaned HTML, keeping their `alt` texts, and counts them. `None`
/// for HTML that was not [cleaned](clean_html) and is designed to be slow to parse.
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
        // The tokenizer compares each attribute of a tag with all earlier ones, which is
        // quadratic.
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

/// The position of the signature in the output.
#[derive(Clone, Copy, Default)]
enum SignaturePosition {
    #[default]
    Unseen,
    /// The start of its content, and the depth of its open element.
    Open(usize, usize),
    /// The start and the end of its content.
    Was(usize, usize),
    /// Absent above the quoted text.
    None,
}

#[derive(Default)]
struct HtmlCleaner {
    out: RefCell<String>,
    /// The open elements, each with the start of its content.
    open: RefCell<Vec<(String, usize)>>,
    sign: Cell<SignaturePosition>,
    /// The element whose content is being skipped, and the number of times it is open.
    skipped: RefCell<Option<(String, usize)>>,
    /// Set when the tokenizer has emitted a token.
    got_token: Cell<bool>,
    /// True to remove remote pictures.
    local: bool,
    /// The number of pictures removed.
    left_out: Cell<usize>,
}

impl HtmlCleaner {
    fn finish(&self) -> String {
        self.close(0);
        self.out.take().trim_end().to_owned()
    }

    /// Closes the elements at this depth and deeper.
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

    /// Records the beginning of a signature or of quoted text.
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
        // Only a quote of type `cite` is a quoted message. A quotation in the author's own
        // text has no type.
        let cited = tag.attrs.iter().any(|one| &*one.name.local == "type" && &*one.value == "cite");
        if (&*tag.name == "blockquote" && cited) || marked(QUOTES) {
            self.sign.set(SignaturePosition::None);
        } else if marked(SIGNATURES) {
            self.sign.set(SignaturePosition::Open(at, depth));
        }
    }

    /// Processes a start tag: begins to skip an element that is removed, and returns how the
    /// tokenizer must read raw text.
    fn start_tag(&self, tag: &Tag) -> TokenSinkResult<()> {
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
                // A self-closing `script` is still followed by raw text up to its end tag.
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
        // The text of an element that is nested too deep is kept.
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
        // Only elements opened here are closed, so that an end tag cannot leave the place of
        // the HTML.
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
        // Positions count from the first character, so white space before it is dropped.
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
                    TagKind::StartTag => return self.start_tag(&tag),
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

/// Returns the value of an attribute if it may be kept.
fn allowed<'a>(element: &str, key: &str, value: &'a str) -> Option<&'a str> {
    let stays = match (element, key) {
        // Other schemes, such as `javascript:`, could run scripts.
        ("a", "href") => has_scheme(value, &["http:", "https:", "mailto:", "tel:"]),
        ("img", "src") => {
            has_scheme(value, &["http:", "https:", "cid:"])
                // An SVG picture can contain scripts.
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

/// Returns true for a style that loads nothing, runs nothing and stays in place.
fn is_plain_style(value: &str) -> bool {
    let style = value.to_ascii_lowercase();
    // Backslashes and comments could hide one of the other words.
    let bad = [
        "url", "http", "//", "image-set", "expression", "script", "import", "position", "behavior",
        "binding", "\\", "/*",
    ];
    !bad.iter().any(|word| style.contains(word))
}
