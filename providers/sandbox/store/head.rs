//! Header fields: splitting a header section and reading values.
//!
//! Lenient on purpose, as real mail requires: lines that are not fields are skipped, and 8-bit
//! characters are read in the charset of the rest of the message. Apart from address fields, no
//! field is interpreted here; charsets and encoded words are handled by `text`.

use std::borrow::Cow;

use daysheet_core::text::{charset, header};
use mail_parser::HeaderValue;
use mail_parser::parsers::MessageStream;

use super::lines;

/// The maximum number of fields read, more than any honest message has.
const MAX_FIELDS: usize = 2_000;

/// The receiving server's name in the sample mail. Each service shows its own name instead.
const RECEIVER: &str = "mx.example.com";

/// Fields that contain addresses.
const ADDRESSES: [&str; 6] = ["From", "Sender", "Reply-To", "To", "Cc", "Bcc"];

/// Characters that require a name to be quoted (RFC 5322, 3.2.3).
const SPECIALS: &str = "()<>[]:;@\\,.\"";

/// One header field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderField<'a> {
    /// The name as written.
    pub name: &'a str,
    /// Everything after the colon, still folded and encoded.
    raw: &'a [u8],
    /// The message that contains the field, from which the charset of 8-bit characters is derived.
    message: &'a [u8],
}

impl HeaderField<'_> {
    /// Returns the unfolded value, with its encoded words (RFC 2047) decoded.
    pub fn value(&self) -> String {
        let value = self.unfolded();
        // RFC 2047, 6.2: an address list is parsed before its names are decoded, or a decoded comma
        // would separate two addresses.
        let people = ADDRESSES.iter().any(|name| name.eq_ignore_ascii_case(self.name));
        if people { decoded_people(&value) } else { header(&value).into_owned() }
    }

    /// Returns the value on one line, still encoded.
    pub fn unfolded(&self) -> String {
        // RFC 5322, 4.1, has NUL only in obsolete syntax; it is dropped along with line breaks.
        let line: Vec<u8> =
            self.raw.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)).collect();
        text(&line, None, self.message).trim().to_owned()
    }

    /// Returns the names and addresses of an address field in order, including members of groups.
    ///
    /// They are parsed as sent, with encoded words, so that an encoded comma stays part of its
    /// name.
    pub fn people(&self) -> Vec<(Option<String>, Option<String>)> {
        // The parser needs the line end, which unfolding removed.
        let line = format!("{}\r\n", self.unfolded());
        let HeaderValue::Address(list) = MessageStream::new(line.as_bytes()).parse_address() else {
            return Vec::new();
        };
        let text = |text: Option<&str>| text.map(|text| text.trim().to_owned());
        let people = list.iter();
        people.map(|one| (text(one.name.as_deref()), text(one.address.as_deref()))).collect()
    }
}

/// Decodes the encoded phrases of an address list, and quotes those that need it. The rest of the
/// list is unchanged.
fn decoded_people(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let (mut rest, mut quoted) = (value, false);
    while let Some((before, word)) = rest.find("=?").and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        // An encoded word is not allowed in a quoted string (RFC 2047, 5), but mailers write it
        // there.
        quoted ^= before.matches('"').count() % 2 == 1;
        // The encoded text follows the charset and the encoding.
        let text = word.match_indices('?').nth(2).map_or(word.len(), |(at, _)| at + 1);
        let end = word.get(text..).and_then(|text| text.find("?=")).map_or(text, |end| text + end);
        let ends = word.get(end..).and_then(|after| after.find(['<', ',', ';', '"']));
        let (phrase, after) = word.split_at(ends.map_or(word.len(), |at| end + at));
        let name = header(phrase.trim_end());
        // A phrase that could not be decoded is left as written.
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

/// Returns the fields of a header section `head`, which belongs to `message` or one of its parts,
/// in order.
pub(crate) fn fields<'a>(head: &'a [u8], message: &'a [u8]) -> Vec<HeaderField<'a>> {
    let mut spans: Vec<(&str, usize, usize)> = Vec::new();
    let mut at = 0;
    let mut open = false;
    for line in lines(head) {
        let end = at + line.len();
        if line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            // Continuation lines of a skipped line must not extend the field before it.
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

/// Returns the names and values of the wanted fields, with the sample mail's receiving server
/// renamed to `server` in its `Authentication-Results`.
///
/// Only the first such field is renamed, and only below the `Received` field of that server: any
/// other may have been written by the sender.
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

/// Returns the name of the field that begins on a line, and the position of its colon.
pub(crate) fn field_name(line: &[u8]) -> Option<(&str, usize)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    // RFC 5322, 4.5: obsolete fields have white space before the colon.
    let name = line.get(..colon)?.trim_ascii_end();
    let good = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    Some((std::str::from_utf8(name).ok().filter(|_| good)?, colon))
}

/// Returns the first field with a name, compared case-insensitively.
pub(crate) fn find<'a>(fields: &[HeaderField<'a>], name: &str) -> Option<HeaderField<'a>> {
    fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)).copied()
}

/// Decodes bytes of a message by their charset if it is known, else by detection.
pub(super) fn text(bytes: &[u8], charset: Option<&str>, message: &[u8]) -> String {
    charset::decode_in(bytes, charset, message).0
}

/// Returns the text of a part in UTF-8, or the bytes unchanged if the declared charset is unknown.
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
