//! Decoding of bytes in any charset.
//!
//! Messages declare the charset of their text, and are wrong often enough that the bytes are
//! checked first: valid UTF-8 is UTF-8. Only declarations of charsets whose bytes look like ASCII
//! (ISO-2022, HZ, UTF-7) or contain zeros (UTF-16) are trusted before that. If a text declares no
//! known charset, it is detected, with a note. Base64 is decoded by a library, quoted-printable in
//! `encoded.rs`.

mod detect;
mod labels;
mod rare;

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use mail_parser::decoders::charsets::map::charset_decoder;

use self::labels::{clean_label, declared, encoding, value_after};
use super::note::{Note, note, ours};

/// Number of bytes in which an XML or HTML document can declare its charset.
const HEAD: usize = 64 << 10;

/// The reason why a decoded text may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharsetDoubt {
    /// The charset that was used, by its name on the web.
    pub charset: &'static str,
    /// True if the charset was detected; false if it was declared, but some bytes are invalid in
    /// it.
    pub detected: bool,
}

impl From<CharsetDoubt> for Note {
    fn from(doubt: CharsetDoubt) -> Self {
        if doubt.detected {
            note!("no known charset is declared, read as {}", ours(doubt.charset))
        } else {
            "some characters could not be decoded".into()
        }
    }
}

/// Decodes `bytes`, with a doubt if the result may be wrong.
pub fn decode(bytes: &[u8], charset: Option<&str>) -> (String, Option<CharsetDoubt>) {
    decode_in(bytes, charset, &[])
}

/// Decodes a part or a header field of `message`, like [`decode`].
///
/// The undecoded message helps to detect the charset of a short text that declares none, such as
/// a subject in 8-bit characters.
pub fn decode_in(
    bytes: &[u8],
    charset: Option<&str>,
    message: &[u8],
) -> (String, Option<CharsetDoubt>) {
    let label = charset.map(clean_label).unwrap_or_default();
    // As in browsers, a byte order mark overrides any declaration.
    if let Some((marked, _)) = Encoding::for_bom(bytes) {
        return by(marked, bytes);
    }
    if label.contains("utf-7") || label.contains("utf7") {
        return utf7(bytes);
    }
    if let Some(text) = rare::shifted(bytes, &label) {
        return (text, None);
    }
    let known = declared(&label).or_else(|| within(bytes)).or_else(|| wide(bytes));
    if let Some(encoding) = known
        && disguised(encoding, bytes)
    {
        return by(encoding, bytes);
    }
    // ISO-2022-JP is valid ASCII, so an undeclared text is recognised by its escape characters.
    let escapes = known.is_none() && bytes.contains(&0x1b);
    if let Ok(text) = std::str::from_utf8(bytes)
        && !(escapes && detect::detect(bytes, &[]) == ISO_2022_JP)
    {
        return (text.to_owned(), None);
    }
    if let Some(text) = rare::dos(bytes, &label) {
        return (text, None);
    }
    if let Some(encoding) = known {
        return by(encoding, bytes);
    }
    let encoding = detect::detect(bytes, message);
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    (text.into_owned(), Some(CharsetDoubt { charset: encoding.name(), detected: true }))
}

/// Returns the charset that an XML or HTML document declares; browsers look for it up to the end
/// of the head.
fn within(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    if !head.contains(&b'<') {
        return None;
    }
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let xml = head.trim_start().strip_prefix("<?xml").and_then(|rest| rest.split_once('>'));
    let metas = head.split("<meta").skip(1).map(|rest| (rest, "charset"));
    let mut places = xml.map(|(tag, _)| (tag, "encoding")).into_iter().chain(metas);
    let found =
        places.find_map(|(tag, name)| declared(&value_after(tag.split('>').next()?, name)?));
    // A declaration that can be read as ASCII is not in UTF-16.
    found.filter(|encoding| encoding.is_ascii_compatible())
}

/// Returns the byte order of Latin text in UTF-16 that lacks a byte order mark.
pub fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..1024).unwrap_or(bytes);
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let most = |zeros: usize| zeros * 5 > head.len() * 2;
    match (most(zeros(0)), most(zeros(1))) {
        (true, false) => Some(UTF_16BE),
        (false, true) => Some(UTF_16LE),
        _ => None,
    }
}

/// A piece of a text in an unknown state.
pub(super) enum MixedText<'a> {
    /// Bytes in the declared charset.
    Bytes(&'a [u8]),
    /// Characters that were bytes, or were characters from the start.
    Text(&'a str),
}

/// Returns the text if its characters were bytes in the declared charset that were read as Latin
/// letters; `None` if the characters may be the intended ones.
pub(super) fn undone(mixed: &[MixedText<'_>], charset: &str) -> Option<String> {
    let encoding = encoding(&clean_label(charset))?;
    let mut bytes = Vec::new();
    let mut meant = true;
    for part in mixed {
        match part {
            MixedText::Bytes(part) => bytes.extend_from_slice(part),
            MixedText::Text(text) => {
                meant &= encoding != UTF_8 && !encoding.encode(text).2;
                for c in text.chars() {
                    bytes.push(latin(c)?);
                }
            }
        }
    }
    let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes)?;
    (!meant).then(|| text.into_owned())
}

/// Returns the byte that reads as this Latin letter, in ISO 8859-1 or windows-1252.
fn latin(c: char) -> Option<u8> {
    u8::try_from(c).ok().or_else(|| {
        let text = c.to_string();
        let (bytes, _, unknown) = WINDOWS_1252.encode(&text);
        bytes.first().copied().filter(|_| !unknown)
    })
}

/// Returns true for a charset that text can be read in by this name.
pub fn is_known(label: &str) -> bool {
    encoding(&clean_label(label)).is_some()
}

/// Decodes in `encoding`, or in the one that a byte order mark names.
fn by(encoding: &'static Encoding, bytes: &[u8]) -> (String, Option<CharsetDoubt>) {
    let (text, used, damaged) = encoding.decode(bytes);
    (text.into_owned(), damaged.then_some(CharsetDoubt { charset: used.name(), detected: false }))
}

/// Decodes UTF-7 with `mail-parser`: browsers dropped it, and mail still has it.
fn utf7(bytes: &[u8]) -> (String, Option<CharsetDoubt>) {
    match charset_decoder(b"utf-7") {
        // The decoder takes each unshifted byte for a character, so only ASCII is safe.
        Some(decoder) if bytes.is_ascii() => {
            // The decoder emits a shifted run only when another character ends it.
            let mut whole = bytes.to_vec();
            whole.push(b'\n');
            let mut text = decoder(&whole);
            if text.ends_with('\n') {
                text.pop();
            }
            (text, None)
        }
        _ => by(UTF_8, bytes),
    }
}

/// Returns true if text in `encoding` could pass for valid UTF-8.
fn disguised(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return bytes.contains(&0) || std::str::from_utf8(bytes).is_err();
    }
    encoding == ISO_2022_JP && bytes.contains(&0x1b)
}
