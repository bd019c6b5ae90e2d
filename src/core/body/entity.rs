//! The parts of MIME entities that this program parses itself: messages in files, and the content
//! of S/MIME signatures.
//!
//! Texts are separated from files and decoded by our own decoders, because the library knows
//! fewer charsets, reads 8-bit header fields as UTF-8, and stops at the first mistake in
//! quoted-printable. Messages parsed by a service are read by its adapter.

use mail_parser::decoders::base64::base64_decode;
use mail_parser::{ContentType, Encoding, Header, Message, MessagePart, MimeHeaders, PartType};

use crate::provider::{PlainText, TextPart};
use crate::text::{self, Note, charset, note, quoted};

/// The maximum nesting of parts.
const MAX_DEPTH: usize = 50;
/// The maximum number of texts that are read; further ones are listed as files.
const TEXTS: usize = 1_000;

/// The subtypes of multiparts whose parts are all shown (RFC 2046, 5.1; RFC 1847, 2.2).
const ALL_SHOWN: &[&str] = &["mixed", "alternative", "parallel", "digest", "encrypted"];
/// The subtypes of multiparts of which only the first part is shown (RFC 1847, 2.1; RFC 6522).
const FIRST_SHOWN: &[&str] = &["signed", "report"];

/// The properties of a part of a multipart that decide which part is shown.
#[derive(Debug, Clone, Copy)]
pub struct MultipartChild<'a> {
    /// Its Content-ID, with or without brackets.
    pub cid: &'a str,
    /// True if it is a text or a multipart.
    pub readable: bool,
}

/// Returns the index of the only part of a multipart that mail programs show as text; `None` if
/// they show all. `start` names the root of a `multipart/related` (RFC 2387, 3.2).
pub fn root(subtype: &str, start: Option<&str>, children: &[MultipartChild<'_>]) -> Option<usize> {
    let is = |known: &&str| known.eq_ignore_ascii_case(subtype);
    if FIRST_SHOWN.iter().any(is) {
        return Some(0);
    }
    if !subtype.eq_ignore_ascii_case("related") {
        return None;
    }
    let bare = |id: &str| id.trim().trim_matches(['<', '>']).to_owned();
    let start = start.map(bare).filter(|start| !start.is_empty());
    let named = start.and_then(|start| children.iter().position(|one| bare(one.cid) == start));
    // RFC 2387 makes the first part the root, but some programs put a picture first, so the
    // first readable part is preferred.
    named.or_else(|| children.iter().position(|one| one.readable)).or(Some(0))
}

/// Returns a note on the texts in a multipart of an unknown subtype. It is read as
/// `multipart/mixed` (RFC 2046, 5.1.3), but not every mail program shows its parts.
pub fn unknown(subtype: &str) -> Option<Note> {
    let known = ALL_SHOWN.iter().chain(FIRST_SHOWN).chain(&["related"]);
    let is_known = known.into_iter().any(|known| known.eq_ignore_ascii_case(subtype));
    (!is_known).then(|| {
        note!(
            "it has parts in {}: some mail programs do not show their text",
            quoted(&format!("multipart/{subtype}"))
        )
    })
}

/// The parts of a message, with texts separated from files.
pub struct PartTree<'m> {
    message: &'m Message<'m>,
    /// The texts, each in one or more forms, the plainest first.
    pub texts: Vec<Vec<Vec<TextPart>>>,
    /// The attachments, and texts that mail programs do not show.
    pub files: Vec<&'m MessagePart<'m>>,
    /// The unknown subtypes of multiparts with texts, for [`unknown`].
    pub odd: Vec<String>,
}

impl<'m> PartTree<'m> {
    /// Sorts the parts of a message.
    pub fn new(message: &'m Message<'m>) -> Self {
        let mut tree = Self { message, texts: Vec::new(), files: Vec::new(), odd: Vec::new() };
        tree.sort_part(0, 0, true);
        tree
    }

    /// Sorts one part. Its texts are listed as files if it is not `shown`.
    fn sort_part(&mut self, id: u32, depth: usize, shown: bool) {
        let Some(part) = self.message.part(id) else { return };
        let PartType::Multipart(children) = &part.body else {
            match text_of(self.message, part) {
                Some(text) if shown && self.texts.len() < TEXTS => {
                    self.texts.push(vec![vec![text]]);
                }
                _ => self.files.push(part),
            }
            return;
        };
        if depth >= MAX_DEPTH {
            return;
        }
        let subtype = part.content_type().and_then(ContentType::subtype).unwrap_or("mixed");
        let start = part.content_type().and_then(|kind| kind.attribute("start"));
        let alternative = subtype.eq_ignore_ascii_case("alternative");
        let below: Vec<_> = children.iter().map(|child| self.child(*child)).collect();
        let root = root(subtype, start, &below);
        let before = self.texts.len();
        // The texts below an alternative are forms of one text, so they are collected
        // separately.
        let outer = alternative.then(|| std::mem::take(&mut self.texts));
        let mut forms = Vec::new();
        for (at, child) in children.iter().enumerate() {
            self.sort_part(*child, depth + 1, shown && root.is_none_or(|root| root == at));
            if alternative {
                // All texts below one child are one form; if one of them has several forms,
                // its richest.
                let below = std::mem::take(&mut self.texts).into_iter();
                forms.push(below.filter_map(|mut text| text.pop()).flatten().collect::<Vec<_>>());
            }
        }
        if let Some(outer) = outer {
            self.texts = outer;
            forms.retain(|form| !form.is_empty());
            self.texts.extend((!forms.is_empty()).then_some(forms));
        } else if self.texts.len() > before
            && unknown(subtype).is_some()
            && !self.odd.iter().any(|known| known == subtype)
        {
            self.odd.push(subtype.to_owned());
        }
    }

    fn child(&self, id: u32) -> MultipartChild<'m> {
        let part = self.message.part(id);
        let is_text = |part: &MessagePart<'_>| {
            let attached =
                part.content_disposition().is_some_and(mail_parser::ContentType::is_attachment);
            matches!(part.body, PartType::Html(_) | PartType::Text(_)) && !attached
        };
        let readable = part.is_some_and(|part| part.is_multipart() || is_text(part));
        MultipartChild {
            cid: part.and_then(|part| part.content_id()).unwrap_or_default(),
            readable,
        }
    }
}

/// Returns a part's text if it should be read with the message.
fn text_of(message: &Message<'_>, part: &MessagePart<'_>) -> Option<TextPart> {
    let attached = part.content_disposition().is_some_and(mail_parser::ContentType::is_attachment);
    // A named part is a file, even without a disposition.
    if attached || part.attachment_name().is_some() {
        return None;
    }
    let kind = part.content_type();
    let html = kind.is_some_and(|kind| is(kind, "html"));
    let plain = kind.is_none_or(|kind| kind.subtype().is_none() || is(kind, "plain"));
    match &part.body {
        PartType::Html(_) | PartType::Text(_) if html => {
            Some(TextPart::Html(decoded(message, part, &message.raw_message)))
        }
        PartType::Text(_) if plain => {
            let attribute = |name: &str| kind.and_then(|kind| kind.attribute(name));
            let yes = |name: &str, value: &str| {
                attribute(name).is_some_and(|given| given.eq_ignore_ascii_case(value))
            };
            let flowed = yes("format", "flowed").then(|| yes("delsp", "yes"));
            let text = decoded(message, part, &message.raw_message);
            Some(TextPart::Plain(PlainText { text, flowed }))
        }
        _ => None,
    }
}

/// Returns a part's text. The message `beside` it helps to guess an undeclared charset.
pub fn decoded(message: &Message<'_>, part: &MessagePart<'_>, beside: &[u8]) -> String {
    let label = part.content_type().and_then(|kind| kind.attribute("charset"));
    charset::decode_in(&bytes_of(message, part), label, beside).0
}

/// Returns a part's bytes without its transfer encoding.
pub fn bytes_of(message: &Message<'_>, part: &MessagePart<'_>) -> Vec<u8> {
    // The library's own contents are already decoded with its charsets.
    let (from, to) = (part.offset_body as usize, part.offset_end as usize);
    let raw = message.raw_message.get(from..to).unwrap_or_default();
    match part.encoding {
        Encoding::None => raw.to_vec(),
        Encoding::QuotedPrintable => text::quoted_printable(raw),
        // The library recovers what it can of damaged base64.
        Encoding::Base64 => base64_decode(raw).unwrap_or_else(|| part.contents().to_vec()),
    }
}

/// Returns true if the subtype is this one, ignoring case.
pub fn is(kind: &ContentType<'_>, subtype: &str) -> bool {
    kind.subtype().is_some_and(|own| own.eq_ignore_ascii_case(subtype))
}

/// Returns the first value of a header field on one line. Encoded words are not decoded.
pub fn field(message: &Message<'_>, headers: &[Header<'_>], name: &str) -> String {
    fields(message, headers, name).into_iter().next().unwrap_or_default()
}

/// Returns the values of all header fields with a name, in order. They are decoded together,
/// because each charset detection reads the whole message.
pub fn fields(message: &Message<'_>, headers: &[Header<'_>], name: &str) -> Vec<String> {
    let found = headers.iter().filter(|field| field.name().eq_ignore_ascii_case(name));
    let lines = found.map(|field| {
        let place = field.offset_start as usize..field.offset_end as usize;
        let raw = message.raw_message.get(place).unwrap_or_default();
        raw.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect::<Vec<_>>()
    });
    let lines: Vec<_> = lines.collect();
    let (text, _) = charset::decode_in(&lines.join(&b'\n'), None, &message.raw_message);
    text.split('\n').map(|line| line.trim().to_owned()).collect()
}

/// Returns a file's name, or one made up from its type.
pub fn name(message: &Message<'_>, part: &MessagePart<'_>) -> String {
    let named = |of, name| text::parameter(&field(message, &part.headers, of), name);
    let name = named("Content-Disposition", "filename").or_else(|| named("Content-Type", "name"));
    if let Some(name) = name {
        return name;
    }
    let ending = match part.content_type().and_then(ContentType::subtype) {
        _ if part.is_message() => "eml",
        Some(own) if own.eq_ignore_ascii_case("calendar") => "ics",
        Some(own) if own.eq_ignore_ascii_case("plain") => "txt",
        Some(own) if own.len() <= 5 && own.bytes().all(|byte| byte.is_ascii_alphanumeric()) => own,
        _ => "bin",
    };
    format!("unnamed.{ending}").to_lowercase()
}
