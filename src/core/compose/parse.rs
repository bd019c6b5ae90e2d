//! Parsing of messages from bytes, as far as our own messages need it.

use mail_parser::{
    Address, HeaderName, HeaderValue, MessageParser, MessagePart, MimeHeaders, PartType,
};

use super::ids::ends;
use super::text as texts;
use crate::error::{Error, Result};
use crate::ids::EmailAddress;
use crate::provider::mail::{
    AttachmentContent, Importance, MailPerson, OutgoingAttachment, OutgoingMessage,
};
use crate::text;

/// Parses a message from its bytes, with its attachments. If one form of the text is missing, it
/// is derived from the other.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) if the bytes are not a message.
pub fn read(raw: &[u8]) -> Result<OutgoingMessage> {
    let message = MessageParser::default()
        .parse(raw)
        // The parser accepts any bytes; a message has at least one header field.
        .filter(|message| !message.headers().is_empty())
        .ok_or_else(|| {
            Error::argument("that is not a message").next("give one in RFC 5322 format")
        })?;
    let (mut plain, mut html) = (Vec::new(), Vec::new());
    for part in message.text_bodies() {
        if let PartType::Text(content) = &part.body {
            plain.push(lines(content));
        }
    }
    for part in message.html_bodies() {
        if let PartType::Html(content) = &part.body {
            html.push(lines(content));
        }
    }
    let (mut plain, mut html) = (plain.join("\n"), html.join("\n"));
    if plain.trim().is_empty() && !html.trim().is_empty() {
        plain = texts::plain_of(&html);
    } else if html.trim().is_empty() {
        html = texts::html_of(&plain);
    }
    let header = |name: &str| message.header_raw(name.to_owned()).unwrap_or_default().trim();
    let importance = match (header("Importance"), header("X-Priority")) {
        (word, _) if word.eq_ignore_ascii_case("high") => Importance::High,
        (word, _) if word.eq_ignore_ascii_case("low") => Importance::Low,
        ("", number) if number.starts_with(['1', '2']) => Importance::High,
        ("", number) if number.starts_with(['4', '5']) => Importance::Low,
        _ => Importance::Normal,
    };
    let files = message.attachments().enumerate().map(|(at, part)| file(at, part));
    // A repeated field is invalid (RFC 5322, 3.6), but a server may still send to everyone it
    // names.
    let all = |name: &HeaderName<'_>| -> Vec<MailPerson> {
        let fields = message.headers().iter().filter(|field| field.name == *name);
        fields.flat_map(|field| people(field.value().as_address())).collect()
    };
    let from = all(&HeaderName::From).into_iter().next();
    Ok(OutgoingMessage {
        message_id: message.message_id().unwrap_or_default().to_owned(),
        from: from.unwrap_or(MailPerson { name: None, address: EmailAddress::default() }),
        to: all(&HeaderName::To),
        cc: all(&HeaderName::Cc),
        bcc: all(&HeaderName::Bcc),
        reply_to: all(&HeaderName::ReplyTo),
        subject: text::cell(message.subject().unwrap_or_default()),
        text: plain,
        html,
        importance,
        in_reply_to: ids(message.in_reply_to()).pop(),
        references: ends(ids(message.references()).iter().map(String::as_str)),
        files: files.collect(),
    })
}

fn file(at: usize, part: &MessagePart<'_>) -> OutgoingAttachment {
    let media = part.content_type().map_or_else(
        || "application/octet-stream".to_owned(),
        |kind| match kind.subtype() {
            Some(subtype) => format!("{}/{subtype}", kind.ctype()).to_lowercase(),
            None => kind.ctype().to_lowercase(),
        },
    );
    let bytes: &[u8] = match &part.body {
        PartType::Message(inner) => inner.raw_message(),
        _ => part.contents(),
    };
    // An inline picture is shown by the HTML and not listed as an attachment.
    let inline = part
        .content_disposition()
        .is_none_or(|how| !how.ctype().eq_ignore_ascii_case("attachment"));
    let name = part.attachment_name().map(text::cell);
    OutgoingAttachment {
        name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("file{}", at + 1)),
        media,
        cid: part.content_id().filter(|_| inline).map(bare),
        content: AttachmentContent::Bytes(bytes.into()),
    }
}

fn people(list: Option<&Address<'_>>) -> Vec<MailPerson> {
    let list = list.map(|list| list.iter().collect::<Vec<_>>());
    let one = |known: &mail_parser::Addr<'_>| {
        let address = text::cell(known.address()?);
        let name = known.name().map(text::cell);
        (!address.is_empty()).then(|| MailPerson {
            name: name.filter(|name| !name.is_empty()),
            address: address.into(),
        })
    };
    list.unwrap_or_default().into_iter().filter_map(one).collect()
}

fn ids(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Text(one) => vec![bare(one)],
        HeaderValue::TextList(list) => list.iter().map(|one| bare(one)).collect(),
        _ => Vec::new(),
    }
}

fn bare(id: &str) -> String {
    id.trim().trim_matches(['<', '>']).to_owned()
}

fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
