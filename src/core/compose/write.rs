//! Writing of messages as MIME.
//!
//! `mail-builder` writes headers and bodies. Values that it would accept although a header field
//! cannot contain them are refused first. Attachments are encoded here, because it trusts a text
//! media type and leaves a lone CR or NUL in the part.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use mail_builder::MessageBuilder;
use mail_builder::headers::HeaderType;
use mail_builder::headers::address::{Address, EmailAddress};
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::date::Date;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::raw::Raw;
use mail_builder::headers::text::Text;
use mail_builder::mime::{BodyPart, MimePart};

use super::ids::is_id;
use super::people;
use crate::error::{Error, ErrorKind, Result};
use crate::provider::mail::{
    AttachmentContent, Importance, MailPerson, OutgoingAttachment, OutgoingMessage,
};
use crate::text::quoted;

/// The maximum number of characters in a line of Base64, without its CRLF (RFC 2045, 6.8).
const LINE: usize = 76;
/// The maximum number of bytes of text in an encoded word, which stays below 76 characters with
/// its frame (RFC 2047, 2).
const WORD: usize = 36;

/// Writes a message with this date as MIME in 7 bits, with CRLF line ends. Bcc is included,
/// because drafts keep it; the sending service removes it.
///
/// # Errors
/// [`ErrorKind::Argument`] for CR, LF or NUL in a header field, and for an invalid address or
/// Message-ID. [`ErrorKind::Internal`] if the bytes of an attachment are missing.
pub fn mime(outgoing: &OutgoingMessage, date: Timestamp) -> Result<Vec<u8>> {
    check(outgoing)?;
    let mut message = MessageBuilder::new()
        .header("Date", HeaderType::Date(Date::new(date.as_second())))
        .header("Message-ID", ids([outgoing.message_id.as_str()]))
        .header("From", addresses(std::slice::from_ref(&outgoing.from)));
    let lists = [
        ("Reply-To", &outgoing.reply_to),
        ("To", &outgoing.to),
        ("Cc", &outgoing.cc),
        ("Bcc", &outgoing.bcc),
    ];
    for (name, people) in lists {
        if !people.is_empty() {
            message = message.header(name, addresses(people));
        }
    }
    message = message.header("Subject", unstructured(&outgoing.subject));
    if let Some(id) = &outgoing.in_reply_to {
        message = message.header("In-Reply-To", ids([id.as_str()]));
    }
    if !outgoing.references.is_empty() {
        let list = outgoing.references.iter().map(String::as_str);
        message = message.header("References", ids(list));
    }
    let importance = match outgoing.importance {
        Importance::Normal => None,
        Importance::High => Some(("high", "1")),
        Importance::Low => Some(("low", "5")),
    };
    // Programs read either field, so both are written.
    if let Some((word, number)) = importance {
        message = message
            .header("Importance", HeaderType::Raw(Raw::new(word)))
            .header("X-Priority", HeaderType::Raw(Raw::new(number)));
    }
    let bytes = message.body(body(outgoing)?).write_to_vec();
    bytes.map_err(|error| {
        Error::new(ErrorKind::Internal, format!("a message could not be written: {error}"))
    })
}

/// Returns the tree of parts: attachments next to the texts, inline pictures next to the HTML
/// that shows them.
fn body(outgoing: &OutgoingMessage) -> Result<MimePart<'_>> {
    let shown = |file: &&OutgoingAttachment| file.cid.is_some();
    let mut html = text("text/html", &outgoing.html);
    let pictures: Vec<&OutgoingAttachment> = outgoing.files.iter().filter(shown).collect();
    if !pictures.is_empty() {
        let mut parts = vec![html];
        for picture in pictures {
            parts.push(file(picture)?);
        }
        let kind = ContentType::new("multipart/related").attribute("type", "text/html");
        html = MimePart::new(kind, parts);
    }
    let texts =
        MimePart::new("multipart/alternative", vec![text("text/plain", &outgoing.text), html]);
    let mut parts = vec![texts];
    for attached in outgoing.files.iter().filter(|file| !shown(file)) {
        parts.push(file(attached)?);
    }
    match parts.len() {
        1 => Ok(parts.remove(0)),
        _ => Ok(MimePart::new("multipart/mixed", parts)),
    }
}

/// Returns a text part with CRLF line ends and without NUL.
fn text<'a>(kind: &'static str, content: &str) -> MimePart<'a> {
    let mut lines = content.replace("\r\n", "\n").replace('\r', "\n");
    lines.retain(|c| c != '\0');
    if !lines.is_empty() && !lines.ends_with('\n') {
        lines.push('\n');
    }
    MimePart::new(kind, lines.replace('\n', "\r\n"))
}

fn file(enclosed: &OutgoingAttachment) -> Result<MimePart<'_>> {
    let AttachmentContent::Bytes(bytes) = &enclosed.content else {
        return Err(Error::new(ErrorKind::Internal, "a file to be written does not exist"));
    };
    let media = essence(&enclosed.media);
    // RFC 2046, 5.2.1 forbids encoding an attached message: it is written unchanged if
    // possible, and as plain bytes under another type if not.
    let plain = media == "message/rfc822" && is_plain(bytes);
    let media = match media.as_str() {
        "message/rfc822" if !plain => "application/octet-stream".to_owned(),
        _ => media,
    };
    let mut kind = ContentType::new(media);
    // Without a charset, UTF-8 text would be read as US-ASCII (RFC 2046, 4.1.2).
    if kind.is_text() && std::str::from_utf8(bytes).is_ok() {
        kind = kind.attribute("charset", "utf-8");
    }
    let disposition = match enclosed.cid {
        Some(_) => "inline",
        None => "attachment",
    };
    let disposition = ContentType::new(disposition).attribute("filename", &enclosed.name);
    let (encoding, contents) = if plain {
        ("7bit", String::from_utf8_lossy(bytes).into_owned())
    } else {
        ("base64", base64_lines(bytes))
    };
    let mut part = MimePart::raw(BodyPart::Text(contents.into()))
        .header("Content-Type", kind)
        .header("Content-Disposition", disposition)
        .header("Content-Transfer-Encoding", Raw::new(encoding));
    if let Some(cid) = &enclosed.cid {
        part = part.header("Content-ID", MessageId::new(cid.as_str()));
    }
    Ok(part)
}

/// Returns true for bytes that need no encoding in a message: 7 bits, CRLF line ends and no line
/// that is too long.
fn is_plain(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    text.is_ascii()
        && !text.contains('\0')
        && text.split("\r\n").all(|line| line.len() <= 998 && !line.contains(['\r', '\n']))
}

fn base64_lines(bytes: &[u8]) -> String {
    let mut lines = String::with_capacity(bytes.len() / 3 * 4 + bytes.len() / 28 + 8);
    // The bytes of one line: four characters of Base64 encode three bytes.
    for chunk in bytes.chunks(LINE / 4 * 3) {
        STANDARD.encode_string(chunk, &mut lines);
        lines.push_str("\r\n");
    }
    lines
}

/// Returns the type and subtype in lower case; `application/octet-stream` for invalid and
/// multipart types.
fn essence(media: &str) -> String {
    let essence = media.split(';').next().unwrap_or_default().trim();
    let token = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
    };
    match essence.split_once('/') {
        Some((kind, subtype))
            if token(kind)
                && token(subtype)
                && essence.len() <= 127
                && !kind.eq_ignore_ascii_case("multipart") =>
        {
            essence.to_ascii_lowercase()
        }
        _ => "application/octet-stream".to_owned(),
    }
}

fn addresses(people: &[MailPerson]) -> HeaderType<'_> {
    let one = |person: &MailPerson| {
        Address::Address(EmailAddress { name: None, email: person.address.to_string().into() })
    };
    // The recipient's program would decode a name that looks encoded. Encoding it once more
    // preserves it.
    let odd = |person: &MailPerson| person.name.as_ref().is_some_and(|name| name.contains("=?"));
    if people.iter().any(odd) {
        let list: Vec<String> = people
            .iter()
            .map(|person| match &person.name {
                Some(name) => format!("{} <{}>", encoded_word(name), person.address),
                None => format!("<{}>", person.address),
            })
            .collect();
        return HeaderType::Raw(Raw::new(list.join(", ")));
    }
    let list = people.iter().map(|person| match &person.name {
        Some(name) if !name.trim().is_empty() => {
            Address::new_address(Some(name.as_str()), person.address.as_str())
        }
        _ => one(person),
    });
    HeaderType::Address(Address::new_list(list.collect()))
}

/// Returns a line of text as the value of a header field. Text that looks encoded is encoded once
/// more, so that it is displayed as written.
pub fn unstructured(value: &str) -> HeaderType<'_> {
    if value.contains("=?") {
        HeaderType::Raw(Raw::new(encoded_word(value)))
    } else {
        HeaderType::Text(Text::new(value))
    }
}

/// Returns encoded words (RFC 2047), none of which splits a character.
fn encoded_word(value: &str) -> String {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in value.chars() {
        if word.len() + c.len_utf8() > WORD {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let frame = |word: &String| format!("=?utf-8?B?{}?=", STANDARD.encode(word));
    words.iter().map(frame).collect::<Vec<_>>().join(" ")
}

fn ids<'a>(list: impl IntoIterator<Item = &'a str>) -> HeaderType<'a> {
    HeaderType::MessageId(MessageId::new_list(list.into_iter()))
}

/// Refuses values that a header field cannot contain.
fn check(outgoing: &OutgoingMessage) -> Result<()> {
    line("subject", &outgoing.subject)?;
    let lists = [
        ("from", std::slice::from_ref(&outgoing.from)),
        ("reply_to", &outgoing.reply_to),
        ("to", &outgoing.to),
        ("cc", &outgoing.cc),
        ("bcc", &outgoing.bcc),
    ];
    for (field, list) in lists {
        for person in list {
            line(field, person.name.as_deref().unwrap_or_default())?;
            line(field, person.address.as_str())?;
            let ascii =
                people::ascii(person.address.as_str()).map_err(|error| error.context(field))?;
            if !person.address.is(&ascii) {
                return Err(Error::argument(format!(
                    "{field}: the domain of {} is not in ASCII",
                    quoted(person.address.as_str())
                ))
                .next(format!("write {ascii}")));
            }
        }
    }
    id("message_id", &outgoing.message_id)?;
    if let Some(known) = &outgoing.in_reply_to {
        id("in_reply_to", known)?;
    }
    for known in &outgoing.references {
        id("references", known)?;
    }
    for file in &outgoing.files {
        line("file name", &file.name)?;
        line("media type", &file.media)?;
        if let Some(cid) = &file.cid {
            id("cid", cid)?;
        }
    }
    Ok(())
}

/// Refuses a value that would begin another header field.
pub(super) fn line(field: &str, value: &str) -> Result<()> {
    if value.contains(['\r', '\n', '\0']) {
        Err(Error::argument(format!("{field} contains a line break or NUL: {}", quoted(value)))
            .next("write it on one line"))
    } else {
        Ok(())
    }
}

fn id(field: &str, value: &str) -> Result<()> {
    line(field, value)?;
    if is_id(value) {
        Ok(())
    } else {
        Err(Error::argument(format!("{field} is not a message id: {}", quoted(value)))
            .next("leave it out"))
    }
}
