//! Header fields: where they are, and what they say.
//!
//! Lenient on purpose, as a mailbox full of real mail needs: lines that are no
//! fields are passed over, and 8-bit characters are read in the charset of the rest of the message.
//! Nothing here knows what a field means, except that some hold addresses; charsets and encoded words are the
//! work of `text`.

use std::borrow::Cow;

use daysheet_core::text::{charset, header};

use super::lines;

/// More fields than any honest message has; the rest is not looked at.
const MAX_FIELDS: usize = 2_000;

/// The server that received the sample mail; each service has its own name there.
const RECEIVER: &str = "mx.example.com";

/// The fields of addresses.
const ADDRESSES: [&str; 6] = ["From", "Sender", "Reply-To", "To", "Cc", "Bcc"];

/// The characters for which a name is quoted (RFC 5322, 3.2.3).
const SPECIALS: &str = "()<>[]:;@\\,.\"";

/// One header field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderField<'a> {
    /// The name as written.
    pub name: &'a str,
    /// Everything after the colon, still folded and encoded.
    raw: &'a [u8],
    /// The message it is in, whose charset 8-bit characters have.
    message: &'a [u8],
}

impl HeaderField<'_> {
    /// The value unfolded, with its encoded words (RFC 2047) decoded.
    pub fn value(&self) -> String {
        let value = self.unfolded();
        // A name is decoded after the list is taken apart (RFC 2047, 6.2).
        let people = ADDRESSES.iter().any(|name| name.eq_ignore_ascii_case(self.name));
        if people { decoded_people(&value) } else { header(&value).into_owned() }
    }

    /// The value on one line, otherwise as written.
    pub fn unfolded(&self) -> String {
        let line: Vec<u8> =
            self.raw.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)).collect();
        text(&line, None, self.message).trim().to_owned()
    }
}

/// An address list with its encoded phrases decoded, and quoted where they need it; nothing else
/// in it is changed.
fn decoded_people(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let (mut rest, mut quoted) = (value, false);
    while let Some((before, word)) = rest.find("=?").and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        quoted ^= before.matches('"').count() % 2 == 1;
        // The text of a word comes after its charset and its encoding.
        let text = word.match_indices('?').nth(2).map_or(word.len(), |(at, _)| at + 1);
        let end = word.get(text..).and_then(|text| text.find("?=")).map_or(text, |end| text + end);
        let ends = word.get(end..).and_then(|after| after.find(['<', ',', ';', '"']));
        let (phrase, after) = word.split_at(ends.map_or(word.len(), |at| end + at));
        let name = header(phrase.trim_end());
        let special = name.contains(|c| SPECIALS.contains(c)) && name != phrase.trim_end();
        let marks = if special && !quoted { "\"" } else { "" };
        let name = if special {
            name.replace('\\', "\\\\").replace('"', "\\\"")
        } else {
            name.into_owned()
        };
        out.push_str(&format!("{marks}{name}{marks}"));
        out.push_str(phrase.get(phrase.trim_end().len()..).unwrap_or_default());
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The fields of the header section `head` of a message or of a part of it, in their order.
pub(crate) fn fields<'a>(head: &'a [u8], message: &'a [u8]) -> Vec<HeaderField<'a>> {
    let mut spans: Vec<(&str, usize, usize)> = Vec::new();
    let mut at = 0;
    let mut open = false;
    for line in lines(head) {
        let end = at + line.len();
        if line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
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
        .map(|(name, start, end)| HeaderField {
            name,
            raw: head.get(start..end).unwrap_or_default(),
            message,
        })
        .collect()
}

/// The names and values of the fields that are wanted, with `server` in the place of the sample mail's receiving
/// server where that says what it found out about the sender: in the first such field, below the
/// one with which it received the message. Any other is the sender's.
pub(crate) fn received_by<'a>(
    fields: &[HeaderField<'a>],
    server: &str,
    wanted: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (&'a str, String)> {
    let is = |field: &HeaderField<'_>, name: &str| field.name.eq_ignore_ascii_case(name);
    let received = fields.iter().position(|field| {
        is(field, "Received") && field.unfolded().contains(&format!("by {RECEIVER} "))
    });
    let results = fields.iter().position(|field| is(field, "Authentication-Results"));
    let own = results.filter(|at| received.is_some_and(|received| received < *at));
    let wanted = fields.iter().enumerate().filter(move |(_, field)| wanted(field.name));
    wanted.map(move |(at, field)| {
        let value = field.value();
        let found = value.strip_prefix(RECEIVER).and_then(|rest| rest.strip_prefix(';'));
        let value = match found.filter(|_| own == Some(at)) {
            Some(found) => format!("{server}{found}").trim_start().to_owned(),
            None => value,
        };
        (field.name, value)
    })
}

/// The name of the field that a line starts, and where its colon stands.
pub(crate) fn field_name(line: &[u8]) -> Option<(&str, usize)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = line.get(..colon)?.trim_ascii_end();
    let good = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    Some((std::str::from_utf8(name).ok().filter(|_| good)?, colon))
}

/// The first field of a name, whatever its case.
pub(crate) fn find<'a>(fields: &[HeaderField<'a>], name: &str) -> Option<HeaderField<'a>> {
    fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)).copied()
}

/// Bytes of a message as text: by their charset where one is known, else by detection.
pub(super) fn text(bytes: &[u8], charset: Option<&str>, message: &[u8]) -> String {
    charset::decode_in(bytes, charset, message).0
}

/// The text of a part for a client, in UTF-8; the bytes as they are where the charset that is
/// declared is not known.
pub(crate) fn to_utf8<'a>(
    bytes: Cow<'a, [u8]>,
    charset: Option<&str>,
    message: &[u8],
) -> Cow<'a, [u8]> {
    if charset.is_none_or(charset::is_known) {
        Cow::Owned(text(&bytes, charset, message).into_bytes())
    } else {
        bytes
    }
}
