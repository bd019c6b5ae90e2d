//! The parts of a message: where each begins and ends, and what it is.
//!
//! A walk over the raw bytes that gives ranges, not copies, so that a message
//! can be taken apart anew for every request. It is limited in depth and
//! number: mail can be nested without end, and both this walk and the JSON made
//! of it are recursive. A multipart below the limit is given as one opaque
//! part.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::STANDARD as STANDARD_ALPHABET;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use daysheet_core::text::{parameter, quoted_printable};
use mail_parser::parsers::MessageStream;
use mail_parser::{ContentType, HeaderValue};

use super::{head, lines};

/// How deep parts may stand in parts. JSON readers commonly stop at 128
/// levels, and a part takes two.
const MAX_DEPTH: usize = 32;

/// How many parts a message may have.
const MAX_PARTS: usize = 1_000;

/// A part of a message, or the message itself.
#[derive(Debug)]
pub(crate) struct ParsedPart {
    /// Where the header section stands in the message.
    pub head: Range<usize>,
    /// Where the body stands, still transfer-encoded.
    pub body: Range<usize>,
    /// The media type in lower case.
    pub mime_type: String,
    /// The charset, where one is named.
    pub charset: Option<String>,
    /// Set for `format=flowed` (RFC 3676); the value of `delsp`.
    pub flowed: Option<bool>,
    /// The file name; empty where there is none.
    pub filename: String,
    /// True for a picture that the text shows by its Content-ID.
    pub embedded: bool,
    /// How the body is encoded.
    encoding: TransferEncoding,
    /// The parts of a multipart, or the one message in a message/rfc822.
    pub parts: Vec<ParsedPart>,
}

/// A transfer encoding, as far as it changes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransferEncoding {
    Identity,
    Base64,
    QuotedPrintable,
}

impl ParsedPart {
    /// Takes a message apart.
    pub fn of_message(raw: &[u8]) -> Self {
        let mut left = MAX_PARTS;
        let (head, body) = split(raw, 0..raw.len());
        build(raw, head, body, "text/plain", MAX_DEPTH, &mut left)
    }

    /// The body without its transfer encoding.
    pub fn decode<'a>(&self, raw: &'a [u8]) -> Cow<'a, [u8]> {
        let body = slice(raw, &self.body);
        match self.encoding {
            TransferEncoding::Identity => Cow::Borrowed(body),
            TransferEncoding::Base64 => Cow::Owned(base64(body)),
            TransferEncoding::QuotedPrintable => Cow::Owned(quoted_printable(body)),
        }
    }

    /// True for a part that only holds others.
    pub fn is_multipart(&self) -> bool {
        !self.parts.is_empty() && self.mime_type.starts_with("multipart/")
    }

    /// True for a message in the message.
    pub fn is_message(&self) -> bool {
        self.mime_type == "message/rfc822"
    }

    /// True for text that is shown with the message rather than attached.
    pub fn is_inline_text(&self) -> bool {
        self.mime_type.starts_with("text/") && self.filename.is_empty()
    }

    /// True for what a reader would call an attachment.
    pub fn is_attachment(&self) -> bool {
        !self.filename.is_empty() && !self.embedded
    }

    /// This part and all parts in it, in reading order.
    pub fn walk(&self) -> Vec<&ParsedPart> {
        let mut found = vec![self];
        found.extend(self.parts.iter().flat_map(ParsedPart::walk));
        found
    }

    /// The same without what is in a message in the message.
    pub fn own(&self) -> Vec<&ParsedPart> {
        let mut found = vec![self];
        if !self.is_message() {
            found.extend(self.parts.iter().flat_map(ParsedPart::own));
        }
        found
    }
}

/// The bytes of a range; none for a range that is not there.
pub(crate) fn slice<'a>(raw: &'a [u8], range: &Range<usize>) -> &'a [u8] {
    raw.get(range.clone()).unwrap_or_default()
}

/// Decodes base64, passing over what is none.
fn base64(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    // As it should be: every line stands for itself.
    if lines(text).all(|line| STANDARD.decode_vec(line.trim_ascii(), &mut out).is_ok()) {
        return out;
    }
    out.clear();
    // Padding ends a run; some mailers go on with another.
    for run in text.split(|byte| *byte == b'=') {
        let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
        let mut digits: Vec<u8> = run.iter().copied().filter(is_digit).collect();
        // One digit alone is no byte yet.
        digits.truncate(digits.len() - usize::from(digits.len() % 4 == 1));
        let lenient = GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::RequireNone);
        let decoded = GeneralPurpose::new(&STANDARD_ALPHABET, lenient).decode(digits);
        out.extend(decoded.unwrap_or_default());
    }
    out
}

/// Describes one part and, through itself, the parts in it.
fn build(
    raw: &[u8],
    head: Range<usize>,
    body: Range<usize>,
    default_type: &str,
    depth: usize,
    left: &mut usize,
) -> ParsedPart {
    *left = left.saturating_sub(1);
    let fields = head::fields(slice(raw, &head), raw);
    let text = |name| head::find(&fields, name).map(|field| field.unfolded());
    let content_type = text("Content-Type").and_then(|value| parse_structured(&value));
    let disposition = text("Content-Disposition").and_then(|value| parse_structured(&value));
    let encoding = match text("Content-Transfer-Encoding") {
        Some(word) if word.eq_ignore_ascii_case("base64") => TransferEncoding::Base64,
        Some(word) if word.eq_ignore_ascii_case("quoted-printable") => {
            TransferEncoding::QuotedPrintable
        }
        _ => TransferEncoding::Identity,
    };
    let mut mime_type = content_type.as_ref().map_or_else(
        || default_type.to_owned(),
        |kind| {
            // `text` alone was meant as RFC 2045 (5.2) has it.
            let bare =
                if kind.c_type.eq_ignore_ascii_case("text") { "plain" } else { "octet-stream" };
            let subtype = kind.c_subtype.as_deref().unwrap_or(bare);
            format!("{}/{subtype}", kind.c_type).to_ascii_lowercase()
        },
    );
    let attribute = |of: &Option<ContentType<'static>>, name| {
        let value = of.as_ref()?.attribute(name)?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let named = |field, name| text(field).and_then(|value| parameter(&value, name));
    let mut filename = named("Content-Disposition", "filename")
        .or_else(|| named("Content-Type", "name"))
        .unwrap_or_default();
    let mut parts = Vec::new();
    if mime_type.starts_with("multipart/") {
        let boundary = attribute(&content_type, "boundary").unwrap_or_default();
        let default_type = match mime_type.as_str() {
            "multipart/digest" => "message/rfc822",
            _ => "text/plain",
        };
        if depth > 0 && !boundary.is_empty() {
            for piece in pieces(raw, &body, boundary.as_bytes()) {
                if *left == 0 {
                    break;
                }
                let (head, body) = split(raw, piece);
                parts.push(build(raw, head, body, default_type, depth - 1, left));
            }
            if parts.is_empty() {
                // A multipart without parts is the text it was meant to be.
                "text/plain".clone_into(&mut mime_type);
            }
        }
    } else if mime_type == "message/rfc822" {
        if filename.is_empty() {
            "noname.eml".clone_into(&mut filename);
        }
        // RFC 2046 (5.2.1) allows no encoding that would hide the message.
        if depth > 0 && encoding == TransferEncoding::Identity && *left > 0 {
            let (head, body) = split(raw, body.clone());
            parts.push(build(raw, head, body, "text/plain", depth - 1, left));
        }
    } else if filename.is_empty() && disposition.as_ref().is_some_and(|d| d.is_attachment()) {
        "noname".clone_into(&mut filename);
    }
    let attached = disposition.as_ref().is_some_and(|d| d.is_attachment());
    let named = head::find(&fields, "Content-ID").is_some();
    ParsedPart {
        charset: attribute(&content_type, "charset"),
        flowed: attribute(&content_type, "format")
            .filter(|format| format.eq_ignore_ascii_case("flowed"))
            .map(|_| {
                attribute(&content_type, "delsp")
                    .is_some_and(|delsp| delsp.eq_ignore_ascii_case("yes"))
            }),
        embedded: named && !attached && mime_type.starts_with("image/"),
        head,
        body,
        mime_type,
        filename,
        encoding,
        parts,
    }
}

/// Reads a Content-Type or Content-Disposition, with its parameters in
/// whatever form they come (RFC 2231, quoted, continued).
fn parse_structured(value: &str) -> Option<ContentType<'static>> {
    // The reader wants the line end that the unfolding took away.
    let line = format!("{value}\n");
    let parsed = MessageStream::new(line.as_bytes()).parse_content_type();
    let HeaderValue::ContentType(kind) = parsed.into_owned() else {
        return None;
    };
    (!kind.c_type.is_empty()).then_some(kind)
}

/// Splits a message or part into its header section and its body.
fn split(raw: &[u8], range: Range<usize>) -> (Range<usize>, Range<usize>) {
    let start = range.start;
    let mut at = start;
    let mut any = false;
    for line in lines(slice(raw, &range)) {
        let after = at + line.len();
        if matches!(line, b"\n" | b"\r\n") {
            return (start..at, after..range.end);
        }
        any |= head::field_name(line).is_some();
        at = after;
    }
    if any {
        (range.clone(), range.end..range.end)
    } else {
        // Neither a field nor an empty line: somebody forgot both.
        (start..start, range)
    }
}

/// The pieces between the delimiter lines of a multipart body.
fn pieces(raw: &[u8], body: &Range<usize>, boundary: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<usize> = None;
    let mut at = body.start;
    for line in lines(slice(raw, body)) {
        let after = at + line.len();
        if let Some(last) = delimiter(line, boundary) {
            if let Some(start) = open {
                found.push(start..before_line_end(raw, start, at));
            }
            open = (!last).then_some(after);
            if last || found.len() >= MAX_PARTS {
                return found;
            }
        }
        at = after;
    }
    // No closing delimiter: the message was cut off, and this is what is left.
    if let Some(start) = open.filter(|start| *start < body.end) {
        found.push(start..body.end);
    }
    found
}

/// Tells whether a line is a delimiter, and if so whether the closing one.
fn delimiter(line: &[u8], boundary: &[u8]) -> Option<bool> {
    let rest = line.strip_prefix(b"--")?.strip_prefix(boundary)?;
    match rest.trim_ascii() {
        b"" => Some(false),
        b"--" => Some(true),
        _ => None,
    }
}

/// The end of a piece: the line end before a delimiter belongs to it.
fn before_line_end(raw: &[u8], start: usize, end: usize) -> usize {
    let piece = slice(raw, &(start..end));
    let shorter = match piece {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    };
    end - shorter
}

/// The header section of a message.
pub(crate) fn header_section(raw: &[u8]) -> &[u8] {
    let (head, _) = split(raw, 0..raw.len());
    slice(raw, &head)
}
