//! The parts of a message: their positions and types.
//!
//! The raw bytes are walked anew for every request, and yield ranges instead of copies. Depth and
//! number of parts are limited, because mail can be nested without end, and both the walk and the
//! JSON built from it are recursive. A multipart below the limit is one opaque part.

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

/// The maximum depth of nested parts. JSON readers commonly stop at 128 levels, and a part takes
/// two.
const MAX_DEPTH: usize = 32;

/// The maximum number of parts of a message.
const MAX_PARTS: usize = 1_000;

/// A part of a message, or the message itself.
#[derive(Debug)]
pub(crate) struct ParsedPart {
    /// The range of the header section in the message.
    pub head: Range<usize>,
    /// The range of the body, still transfer-encoded.
    pub body: Range<usize>,
    /// The media type in lower case.
    pub mime_type: String,
    /// The declared charset.
    pub charset: Option<String>,
    /// The value of `delsp` for `format=flowed` (RFC 3676); `None` for any other format.
    pub flowed: Option<bool>,
    /// The file name; empty if there is none.
    pub filename: String,
    /// True for a picture that the text embeds by its Content-ID.
    pub embedded: bool,
    /// The transfer encoding of the body.
    encoding: TransferEncoding,
    /// The parts of a multipart, or the one message in a message/rfc822.
    pub parts: Vec<ParsedPart>,
}

/// A transfer encoding that changes bytes, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransferEncoding {
    Identity,
    Base64,
    QuotedPrintable,
}

impl ParsedPart {
    /// Splits a message into its parts.
    pub fn of_message(raw: &[u8]) -> Self {
        let (head, body) = split(raw, 0..raw.len());
        PartBuilder { raw, left: MAX_PARTS }.build(head, body, "text/plain", MAX_DEPTH)
    }

    /// Returns the body without its transfer encoding.
    pub fn decode<'a>(&self, raw: &'a [u8]) -> Cow<'a, [u8]> {
        let body = slice(raw, &self.body);
        match self.encoding {
            TransferEncoding::Identity => Cow::Borrowed(body),
            TransferEncoding::Base64 => Cow::Owned(base64(body)),
            TransferEncoding::QuotedPrintable => Cow::Owned(quoted_printable(body)),
        }
    }

    /// Returns true if the part only contains others.
    pub fn is_multipart(&self) -> bool {
        !self.parts.is_empty() && self.mime_type.starts_with("multipart/")
    }

    /// Returns true for a message within the message.
    pub fn is_message(&self) -> bool {
        self.mime_type == "message/rfc822"
    }

    /// Returns true for text that is displayed with the message rather than attached.
    pub fn is_inline_text(&self) -> bool {
        self.mime_type.starts_with("text/") && self.filename.is_empty()
    }

    /// Returns true for parts that a reader sees as attachments.
    pub fn is_attachment(&self) -> bool {
        !self.filename.is_empty() && !self.embedded
    }

    /// Returns this part and all parts in it, in reading order.
    pub fn walk(&self) -> Vec<&ParsedPart> {
        let mut found = vec![self];
        found.extend(self.parts.iter().flat_map(ParsedPart::walk));
        found
    }

    /// Returns this part and all parts in it, except for the contents of embedded messages.
    pub fn own(&self) -> Vec<&ParsedPart> {
        let mut found = vec![self];
        if !self.is_message() {
            found.extend(self.parts.iter().flat_map(ParsedPart::own));
        }
        found
    }
}

/// Returns the bytes of a range, or an empty slice if it is out of bounds.
pub(crate) fn slice<'a>(raw: &'a [u8], range: &Range<usize>) -> &'a [u8] {
    raw.get(range.clone()).unwrap_or_default()
}

/// Decodes base64, skipping invalid characters.
fn base64(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    // Well-formed: each line is complete in itself.
    if lines(text).all(|line| STANDARD.decode_vec(line.trim_ascii(), &mut out).is_ok()) {
        return out;
    }
    out.clear();
    // Padding ends a run, and some mailers continue with another.
    for run in text.split(|byte| *byte == b'=') {
        let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
        let mut digits: Vec<u8> = run.iter().copied().filter(is_digit).collect();
        // A single remaining digit is less than a byte.
        digits.truncate(digits.len() - usize::from(digits.len() % 4 == 1));
        let lenient = GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::RequireNone);
        let decoded = GeneralPurpose::new(&STANDARD_ALPHABET, lenient).decode(digits);
        out.extend(decoded.unwrap_or_default());
    }
    out
}

/// Builds the parts of a message.
struct PartBuilder<'a> {
    /// The message.
    raw: &'a [u8],
    /// The number of parts that may still be built.
    left: usize,
}

impl PartBuilder<'_> {
    /// Builds one part and, recursively, the parts in it.
    fn build(
        &mut self,
        head: Range<usize>,
        body: Range<usize>,
        default_type: &str,
        depth: usize,
    ) -> ParsedPart {
        let raw = self.raw;
        self.left = self.left.saturating_sub(1);
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
                // RFC 2045, 5.2, takes invalid content types for `text/plain`, which a bare `text`
                // means.
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
        // RFC 2183, 2.3, has the name in the disposition; older mailers have it only in the type.
        let mut filename = named("Content-Disposition", "filename")
            .or_else(|| named("Content-Type", "name"))
            .unwrap_or_default();
        let mut parts = Vec::new();
        if mime_type.starts_with("multipart/") {
            let boundary = attribute(&content_type, "boundary").unwrap_or_default();
            let default_type = match mime_type.as_str() {
                // RFC 2046, 5.1.5: parts of a digest are messages by default.
                "multipart/digest" => "message/rfc822",
                _ => "text/plain",
            };
            if depth > 0 && !boundary.is_empty() {
                for piece in pieces(raw, &body, boundary.as_bytes()) {
                    if self.left == 0 {
                        break;
                    }
                    let (head, body) = split(raw, piece);
                    parts.push(self.build(head, body, default_type, depth - 1));
                }
                if parts.is_empty() {
                    // Without parts, it is shown as the plain text it contains.
                    "text/plain".clone_into(&mut mime_type);
                }
            }
        } else if mime_type == "message/rfc822" {
            if filename.is_empty() {
                // Gmail shows an unnamed message as `noname.eml`.
                "noname.eml".clone_into(&mut filename);
            }
            // RFC 2046, 5.2.1, allows only encodings that leave the message as it is.
            if depth > 0 && encoding == TransferEncoding::Identity && self.left > 0 {
                let (head, body) = split(raw, body.clone());
                parts.push(self.build(head, body, "text/plain", depth - 1));
            }
        } else if filename.is_empty()
            && disposition.as_ref().is_some_and(mail_parser::ContentType::is_attachment)
        {
            "noname".clone_into(&mut filename);
        }
        let attached = disposition.as_ref().is_some_and(mail_parser::ContentType::is_attachment);
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
}

/// Reads a Content-Type or Content-Disposition, with parameters in any form (RFC 2231, quoted,
/// continued).
fn parse_structured(value: &str) -> Option<ContentType<'static>> {
    // The parser requires the line end that unfolding removed.
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
        // There is neither a field nor an empty line: all of it is body.
        (start..start, range)
    }
}

/// Returns the pieces between the delimiter lines of a multipart body.
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
    // No closing delimiter: the message was truncated, and the rest is the last part.
    if let Some(start) = open.filter(|start| *start < body.end) {
        found.push(start..body.end);
    }
    found
}

/// Returns `None` if a line is not a delimiter, and true for the closing delimiter.
fn delimiter(line: &[u8], boundary: &[u8]) -> Option<bool> {
    let rest = line.strip_prefix(b"--")?.strip_prefix(boundary)?;
    match rest.trim_ascii() {
        b"" => Some(false),
        b"--" => Some(true),
        _ => None,
    }
}

/// Returns the end of a piece. The line break before a delimiter belongs to the delimiter (RFC
/// 2046, 5.1.1).
fn before_line_end(raw: &[u8], start: usize, end: usize) -> usize {
    let piece = slice(raw, &(start..end));
    let shorter = match piece {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    };
    end - shorter
}

/// Returns the header section of a message.
pub(crate) fn header_section(raw: &[u8]) -> &[u8] {
    let (head, _) = split(raw, 0..raw.len());
    slice(raw, &head)
}
