//! Decoding of encoded words (RFC 2047) and parameters (RFC 2231) of header fields, of
//! quoted-printable (RFC 2045), and of HTML entities.
//!
//! The forms that mail programs really write are accepted: spaces and raw characters inside a word,
//! Base64 without padding, a character of several bytes split between two words, charsets by any of
//! their names. Text other than encoded words is kept. Addresses are separated in `address.rs`.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use super::charset;

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Headers longer than this are not searched for encoded words: the search may scan the
/// rest of the text for each of them, and no honest header comes near.
const MAX_HEADER: usize = 16 * 1024;

/// Number of bytes searched for the end of a word. A word has at most 75 characters (RFC 2047, 2),
/// but not every program complies.
const WINDOW: usize = 2_000;

/// An encoded word.
struct EncodedWord<'a> {
    charset: &'a str,
    data: Vec<EncodedData<'a>>,
}

/// A piece of an encoded word.
enum EncodedData<'a> {
    /// Bytes in the word's charset.
    Bytes(Vec<u8>),
    /// Text that should have been encoded.
    Raw(&'a str),
}

/// Decodes RFC 2047 encoded words, if there are any, and replaces line breaks by spaces.
pub fn header(s: &str) -> Cow<'_, str> {
    if !s.contains("=?") || s.len() > MAX_HEADER {
        return Cow::Borrowed(s);
    }
    Cow::Owned(decode_words(&s.replace(['\r', '\n'], " ")))
}

/// Decodes the encoded words of a line.
///
/// White space between two words is dropped (RFC 2047, 6.2). Adjacent words in one charset are
/// decoded together, because many mail programs split a character of several bytes between them.
fn decode_words(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut pending: Option<EncodedWord<'_>> = None;
    let mut rest = line;
    while let Some((before, word, after)) = next(rest) {
        let apart = !before.trim().is_empty();
        match &mut pending {
            Some(last) if !apart && joins(last.charset, word.charset) => {
                last.data.extend(word.data);
            }
            _ => {
                let first = pending.is_none();
                if let Some(last) = pending.replace(word) {
                    last.write(&mut out);
                }
                if apart || first {
                    out.push_str(before);
                }
            }
        }
        rest = after;
    }
    if let Some(last) = pending {
        last.write(&mut out);
    }
    out.push_str(rest);
    out
}

/// Returns a parameter of `Content-Type` or `Content-Disposition`, such as a file's name.
///
/// Sections are joined before they are decoded, because many programs split a character between two
/// (RFC 2231, 3). Encoded words are decoded, although they are not allowed here.
pub fn parameter(field: &str, name: &str) -> Option<String> {
    let mut sections: Vec<(usize, bool, String)> = Vec::new();
    for (key, value) in pieces(field).into_iter().skip(1).filter_map(|piece| piece.split_once('='))
    {
        let key = key.trim().to_ascii_lowercase();
        let Some(rest) = key.strip_prefix(name) else { continue };
        let value = unquoted(value.trim());
        if rest.is_empty() {
            let value = header(&value).trim().to_owned();
            return (!value.is_empty()).then_some(value);
        }
        let number = rest.trim_matches('*');
        // `name*` without a number is the only section.
        if let (Some(_), Ok(number)) = (rest.strip_prefix('*'), format!("0{number}").parse()) {
            sections.push((number, rest.ends_with('*'), value));
        }
    }
    // The order of parameters has no meaning (RFC 2045, 5).
    sections.sort_by_key(|(number, ..)| *number);
    let mut charset = None;
    let mut bytes = Vec::new();
    for (at, (_, encoded, value)) in sections.iter().enumerate() {
        let mut value = value.as_str();
        // Only the first section names the charset (RFC 2231, 4.1).
        if at == 0
            && *encoded
            && let [label, _, rest] = value.splitn(3, '\'').collect::<Vec<_>>()[..]
        {
            (charset, value) = (Some(label), rest);
        }
        if *encoded {
            bytes.extend(percent_decode_str(value));
        } else {
            bytes.extend(value.bytes());
        }
    }
    let value = charset::decode(&bytes, charset).0.trim().to_owned();
    (!value.is_empty()).then_some(value)
}

/// Splits a field at the semicolons outside quoted strings.
fn pieces(field: &str) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    let split = |c: char| {
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        c == ';' && !quoted
    };
    field.split(split).collect()
}

/// Returns the content of a quoted string; other text unchanged.
fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => text.extend(chars.next()),
            c => text.push(c),
        }
    }
    text
}

/// Decodes quoted-printable (RFC 2045, 6.7); a `=` that begins no escape is kept.
pub fn quoted_printable(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        let end = line.get(content.len()..).unwrap_or_default();
        // White space at the end of a line was added in transit (RFC 2045, 6.7).
        let content = content.trim_ascii_end();
        let (mut rest, end) = match content.strip_suffix(b"=") {
            Some(content) => (content, &[][..]),
            None => (content, end),
        };
        while let Some((first, after)) = rest.split_first() {
            if let Some(byte) = after.first_chunk().filter(|_| *first == b'=').and_then(hexadecimal)
            {
                out.push(byte);
                rest = after.get(2..).unwrap_or_default();
            } else {
                out.push(*first);
                rest = after;
            }
        }
        out.extend_from_slice(end);
    }
    out
}

/// Decodes HTML entities; Gmail escapes its snippets.
pub fn entities(s: &str) -> Cow<'_, str> {
    html_escape::decode_html_entities(s)
}

/// Returns the byte that two hexadecimal digits name.
fn hexadecimal(digits: &[u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let [high, low] = digits.map(digit);
    u8::try_from(high? * 16 + low?).ok()
}

/// Returns true if the bytes of two words may be decoded as one text: not in charsets
/// with shift states, where each word begins and ends in ASCII by itself (RFC 1468).
fn joins(one: &str, other: &str) -> bool {
    let name = one.to_ascii_lowercase();
    let shifts = ["iso-2022", "iso2022", "hz", "utf-7", "utf7", "cp5022"];
    name == other.to_ascii_lowercase() && !shifts.iter().any(|shift| name.contains(shift))
}

/// Returns the first encoded word of a line, with the text around it.
fn next(line: &str) -> Option<(&str, EncodedWord<'_>, &str)> {
    let mut from = 0;
    while let Some(found) = line.get(from..)?.find("=?") {
        let start = from + found;
        let inside = line.get(start + 2..)?;
        if let Some((word, length)) = encoded_word(inside) {
            return Some((line.get(..start)?, word, inside.get(length..)?));
        }
        from = start + 2;
    }
    None
}

/// Reads `charset?Q?text?=`; also returns its length.
fn encoded_word(inside: &str) -> Option<(EncodedWord<'_>, usize)> {
    let window = inside.get(..inside.floor_char_boundary(WINDOW))?;
    let (charset, rest) = window.split_once('?')?;
    let (encoding, rest) = rest.split_once('?')?;
    let (text, _) = rest.split_once("?=")?;
    if charset.is_empty() || charset.contains(|c: char| c.is_whitespace() || c == '=') {
        return None;
    }
    let data = match encoding {
        "q" | "Q" => quoted_words(text),
        "b" | "B" => vec![EncodedData::Bytes(base64(text)?)],
        _ => return None,
    };
    let length = charset.len() + encoding.len() + text.len() + 4;
    Some((EncodedWord { charset, data }, length))
}

/// Decodes the Q encoding: `_` is a space, `=C3` a byte, and any other `=` is kept.
fn quoted_words(text: &str) -> Vec<EncodedData<'_>> {
    let mut data = Vec::new();
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let byte =
            rest.strip_prefix('=').and_then(|rest| hexadecimal(rest.as_bytes().first_chunk()?));
        let length = match (byte, u8::try_from(c)) {
            (Some(byte), _) => {
                bytes.push(byte);
                3
            }
            (None, Ok(b'_')) => {
                bytes.push(b' ');
                1
            }
            (None, Ok(byte)) if c.is_ascii() => {
                bytes.push(byte);
                1
            }
            _ => {
                let end = rest.find(|c: char| c.is_ascii()).unwrap_or(rest.len());
                data.push(EncodedData::Bytes(std::mem::take(&mut bytes)));
                data.push(EncodedData::Raw(rest.get(..end).unwrap_or_default()));
                end
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    data.push(EncodedData::Bytes(bytes));
    data
}

/// Decodes the B encoding; characters outside its alphabet are skipped.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut digits: Vec<u8> = text
        .bytes()
        .filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        .collect();
    if digits.len() % 4 == 1 {
        // Six bits do not make a byte.
        digits.pop();
    }
    BASE64.decode(digits).ok()
}

impl EncodedWord<'_> {
    /// Writes the decoded text.
    ///
    /// Raw characters are kept if the charset has them. If it does not, they were bytes in the
    /// charset that a program on the way read as Latin letters.
    fn write(&self, out: &mut String) {
        let raw = self.data.iter().any(|data| matches!(data, EncodedData::Raw(_)));
        if raw && let Some(text) = charset::undone(&self.latin(), self.charset) {
            out.push_str(&text);
            return;
        }
        let mut joined: Vec<u8> = Vec::new();
        for data in &self.data {
            match data {
                EncodedData::Bytes(bytes) => joined.extend(bytes),
                EncodedData::Raw(raw) => {
                    out.push_str(&charset::decode(&joined, Some(self.charset)).0);
                    joined.clear();
                    out.push_str(raw);
                }
            }
        }
        out.push_str(&charset::decode(&joined, Some(self.charset)).0);
    }

    fn latin(&self) -> Vec<charset::MixedText<'_>> {
        let mixed = self.data.iter().map(|data| match data {
            EncodedData::Bytes(bytes) => charset::MixedText::Bytes(bytes),
            EncodedData::Raw(raw) => charset::MixedText::Text(raw),
        });
        mixed.collect()
    }
}
