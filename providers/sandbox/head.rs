//! Header fields: where they are, and what they say.
//!
//! Lenient on purpose, as a mailbox full of real mail needs: lines that are no
//! fields are passed over, encoded words of unknown charsets stay as they are,
//! bytes that are no UTF-8 are read as Latin letters. Nothing here knows what
//! a field means.

use std::borrow::Cow;

use mail_parser::decoders::charsets::map::charset_decoder;

use super::transfer;

/// More fields than any honest letter has; the rest is not looked at.
const MAX_FIELDS: usize = 2_000;

/// A field value longer than this is given as it stands.
const MAX_DECODED: usize = 64 << 10;

/// The server that received the sample mail; each service has its own name there.
const RECEIVER: &str = "mx.example.com;";

/// One header field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    /// The name as written.
    pub name: &'a str,
    /// Everything after the colon, still folded and encoded.
    raw: &'a [u8],
}

impl Field<'_> {
    /// The value unfolded, with its encoded words (RFC 2047) decoded.
    pub fn value(&self) -> String {
        let text = self.unfolded();
        if text.len() > MAX_DECODED || !text.contains("=?") {
            return text;
        }
        decode_words(&text)
    }

    /// The value, with `server` in the place of the sample mail's receiving server
    /// where that signs what it found out about the sender.
    pub fn received_by(&self, server: &str) -> String {
        let value = self.value();
        let signed = self.name.eq_ignore_ascii_case("Authentication-Results");
        match value.strip_prefix(RECEIVER).filter(|_| signed) {
            Some(found) => format!("{server}{found}").trim_start().to_owned(),
            None => value,
        }
    }

    /// The value on one line, otherwise as written.
    pub fn unfolded(&self) -> String {
        let line: Vec<u8> = self
            .raw
            .iter()
            .copied()
            .filter(|byte| !matches!(byte, b'\r' | b'\n' | 0))
            .collect();
        text(&line, None).trim().to_owned()
    }
}

/// The fields of a header section, in their order.
pub(super) fn fields(head: &[u8]) -> Vec<Field<'_>> {
    let mut spans: Vec<(&str, usize, usize)> = Vec::new();
    let mut at = 0;
    let mut open = false;
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        let end = at + line.len();
        if line
            .first()
            .is_some_and(|byte| matches!(byte, b' ' | b'\t'))
        {
            if let Some(last) = spans.last_mut().filter(|_| open) {
                last.2 = end;
            }
        } else if let Some((name, colon)) = field_name(line).filter(|_| spans.len() < MAX_FIELDS) {
            spans.push((name, at + colon + 1, end));
            open = true;
        } else {
            open = false;
        }
        at = end;
    }
    spans
        .into_iter()
        .map(|(name, start, end)| Field {
            name,
            raw: head.get(start..end).unwrap_or_default(),
        })
        .collect()
}

/// The name of the field that a line starts, and where its colon stands.
pub(super) fn field_name(line: &[u8]) -> Option<(&str, usize)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = line.get(..colon)?.trim_ascii_end();
    let good = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    Some((std::str::from_utf8(name).ok().filter(|_| good)?, colon))
}

/// The first field of a name, whatever its case.
pub(super) fn find<'a>(fields: &[Field<'a>], name: &str) -> Option<Field<'a>> {
    fields
        .iter()
        .find(|field| field.name.eq_ignore_ascii_case(name))
        .copied()
}

/// Bytes as text: by their charset where it is known, as UTF-8 where they are
/// that, else as Latin letters.
pub(super) fn text(bytes: &[u8], charset: Option<&str>) -> String {
    let utf8 = charset.is_some_and(is_utf8);
    let named = charset.filter(|_| !utf8);
    if let Some(decode) = named.and_then(|name| charset_decoder(name.as_bytes())) {
        return decode(bytes);
    }
    match (std::str::from_utf8(bytes), charset_decoder(b"iso-8859-1")) {
        (Ok(text), _) => text.to_owned(),
        (Err(_), Some(decode)) if !utf8 => decode(bytes),
        (Err(_), _) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The text of a part for a client: UTF-8 where the charset is known, else the
/// bytes as they are.
pub(super) fn to_utf8<'a>(bytes: Cow<'a, [u8]>, charset: Option<&str>) -> Cow<'a, [u8]> {
    let Some(charset) = charset else {
        return bytes;
    };
    if is_utf8(charset) || bytes.is_ascii() && charset.eq_ignore_ascii_case("iso-8859-1") {
        return bytes;
    }
    match charset_decoder(charset.as_bytes()) {
        Some(decode) => Cow::Owned(decode(&bytes).into_bytes()),
        None => bytes,
    }
}

/// True for UTF-8 and for ASCII, which many a UTF-8 letter claims to be.
fn is_utf8(charset: &str) -> bool {
    ["utf-8", "utf8", "us-ascii", "ascii"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(charset))
}

/// An encoded word's charset and bytes.
struct Word<'a> {
    charset: &'a str,
    bytes: Vec<u8>,
}

/// Decodes the encoded words of a line.
///
/// White space between two words is none (RFC 2047, 6.2), and the bytes of
/// neighbours in one charset are joined before they are decoded, because many
/// mailers cut a letter of several bytes in two.
pub(super) fn decode_words(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut pending: Option<Word<'_>> = None;
    let mut rest = line;
    while let Some((before, word, after)) = next_word(rest) {
        let apart = !before.trim().is_empty();
        match &mut pending {
            Some(last)
                if !apart
                    && last.charset.eq_ignore_ascii_case(word.charset)
                    && !shifts(word.charset) =>
            {
                last.bytes.extend(word.bytes);
            }
            _ => {
                let first = pending.is_none();
                if let Some(last) = pending.replace(word) {
                    out.push_str(&text(&last.bytes, Some(last.charset)));
                }
                if apart || first {
                    // The text in front of this word comes after the last one.
                    out.push_str(before);
                }
            }
        }
        rest = after;
    }
    if let Some(last) = pending {
        out.push_str(&text(&last.bytes, Some(last.charset)));
    }
    out.push_str(rest);
    out
}

/// True for charsets with shift states: each word begins and ends in ASCII by
/// itself (RFC 1468), and joined words would shift twice in a row.
fn shifts(charset: &str) -> bool {
    charset
        .get(..8)
        .is_some_and(|start| start.eq_ignore_ascii_case("iso-2022"))
}

/// The first encoded word of a line, with what stands around it.
fn next_word(line: &str) -> Option<(&str, Word<'_>, &str)> {
    let mut from = 0;
    while let Some(found) = line.get(from..)?.find("=?") {
        let start = from + found;
        let inside = line.get(start + 2..)?;
        if let Some((word, length)) = word(inside) {
            return Some((line.get(..start)?, word, inside.get(length..)?));
        }
        from = start + 2;
    }
    None
}

/// Reads `charset?Q?text?=` and tells its length.
fn word(inside: &str) -> Option<(Word<'_>, usize)> {
    // Longer than the 75 letters allowed, for those who do not count; bounded,
    // for those who count on it.
    let mut window = inside.len().min(2_000);
    while !inside.is_char_boundary(window) {
        window -= 1;
    }
    let window = inside.get(..window)?;
    let (charset, rest) = window.split_once('?')?;
    let (encoding, rest) = rest.split_once('?')?;
    let (data, _) = rest.split_once("?=")?;
    let bytes = match encoding {
        "q" | "Q" => transfer::quoted_word(data.as_bytes()),
        "b" | "B" => transfer::base64(data.as_bytes()),
        _ => return None,
    };
    // A language may follow the charset (RFC 2231, 5).
    let name = charset.split('*').next().unwrap_or(charset);
    let known = is_utf8(name) || charset_decoder(name.as_bytes()).is_some();
    if name.is_empty() || name.contains(char::is_whitespace) || !known {
        return None;
    }
    let length = charset.len() + encoding.len() + data.len() + 4;
    Some((
        Word {
            charset: name,
            bytes,
        },
        length,
    ))
}
