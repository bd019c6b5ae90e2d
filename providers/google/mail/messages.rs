//! Reading of Gmail messages for replying, forwarding and editing: people, texts and attachments.
//!
//! `parts.rs` separates and decodes texts; this module finds the attachments that can be sent
//! again, including those that the HTML shows.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{AttachmentId, MessageId};
use daysheet_core::project::Projection;
use daysheet_core::provider::TextPart;
use daysheet_core::provider::mail::{AttachmentInfo, Importance, MailPerson};
use daysheet_core::text::{address_list, cell, flowed, parameter};
use jiff::Timestamp;
use mail_parser::MessageParser;
use serde_json::Value;

use super::mailbox::GmailMailbox;
use super::parts::{self, DecodedData, header, is_attached, is_text, shown_part};
use super::requests::check;
use crate::json::text;

/// The maximum length of a Message-ID that is accepted, in bytes.
const MAX_ID: usize = 900;

/// The texts of a message.
#[derive(Debug, Default)]
pub(super) struct MessageTexts {
    /// The plain text, unless some part of the text has only HTML.
    pub plain: Option<String>,
    /// The HTML, if any part of the text has it.
    pub html: Option<String>,
}

/// A file among the parts of a message.
#[derive(Debug)]
struct PartFile<'v> {
    /// The part's number in the message.
    part: &'v str,
    name: String,
    media: String,
    charset: Option<String>,
    size: u64,
    cid: Option<String>,
    /// The bytes as base64url, if the message contains them.
    data: Option<&'v str>,
    /// The id to fetch the bytes by; empty if the message contains them.
    attachment: &'v str,
}

impl GmailMailbox {
    /// Fetches a message with all its parts.
    pub(super) async fn whole(&self, id: &MessageId) -> Result<Value> {
        let all = Projection {
            paths: ["id", "threadId", "labelIds", "internalDate", "payload"]
                .map(str::to_owned)
                .to_vec(),
            ..Projection::default()
        };
        self.fetch_message(id, &all, "full").await
    }

    /// Returns the texts of a complete message.
    pub(super) async fn texts(&self, item: &Value) -> Result<MessageTexts> {
        let id = MessageId::from(text(item, "id"));
        let mut tree = parts::read(&id, item);
        for part in tree.elsewhere() {
            part.bring(self.fetch_part(&id, part.attachment()).await?.0);
        }
        Ok(texts(&tree.into_message(Value::Null).parts))
    }

    /// Returns the bytes of an attachment by its part number, which the message's id may precede
    /// (`MESSAGE/PART`).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for an unknown file; [`ErrorKind::Argument`] for more than `most` bytes.
    pub(super) async fn bytes(
        &self,
        message: &MessageId,
        file: &AttachmentId,
        most: u64,
    ) -> Result<Vec<u8>> {
        let (message, part) = match file.as_str().split_once('/') {
            Some((of, part)) if message.is_empty() || message == of => (&of.into(), part),
            Some(_) => return Err(no_file()),
            None => (message, file.as_str()),
        };
        check(message.as_str())?;
        if !part.bytes().all(|c| c.is_ascii_digit() || c == b'.') {
            return Err(no_file());
        }
        let item = self.whole(message).await?;
        self.bytes_of(&item, part, most).await
    }

    /// Returns the bytes of an attachment of a complete message, as [`GmailMailbox::bytes`] does.
    pub(super) async fn bytes_of(&self, item: &Value, part: &str, most: u64) -> Result<Vec<u8>> {
        let found = files(item).into_iter().find(|file| file.part == part);
        let file = found.ok_or_else(no_file)?;
        if file.size > most {
            return Err(too_large(file.size, most));
        }
        let DecodedData { bytes, damaged } = match file.data {
            Some(data) => DecodedData::new(data),
            None if file.attachment.is_empty() && file.size == 0 => DecodedData::default(),
            None if file.attachment.is_empty() => {
                return Err(Error::argument("Gmail does not hand out this part as a file")
                    .next("read the message with mail_read"));
            }
            None => self.fetch_part(&text(item, "id").into(), file.attachment).await?.0,
        };
        if damaged {
            return Err(Error::new(
                ErrorKind::Provider(200),
                "the file from Gmail is damaged, and was not used",
            )
            .next("try again"));
        }
        // A part may declare no size, or a wrong one.
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > most {
            return Err(too_large(size, most));
        }
        Ok(bytes)
    }
}

fn no_file() -> Error {
    Error::new(ErrorKind::NotFound, "the message has no such file")
        .next("mail_attachment as=list shows its files")
}

fn too_large(size: u64, most: u64) -> Error {
    Error::argument(format!("the file is {size} bytes, more than {most}")).next("open it in Gmail")
}

/// Joins the texts of a message, with LF as line ending.
fn texts(parts: &[Vec<Vec<TextPart>>]) -> MessageTexts {
    let mut plain = Vec::new();
    let mut rich = Vec::new();
    let (mut all_plain, mut any_rich) = (true, false);
    for forms in parts {
        let (mut bare, mut html) = (None, None);
        for form in forms {
            for part in form {
                match part {
                    TextPart::Plain(found) => {
                        let text = match found.flowed {
                            Some(delsp) => flowed::unflow(&found.text, delsp),
                            None => found.text.clone(),
                        };
                        let text = text.replace("\r\n", "\n");
                        bare.get_or_insert_with(String::new).push_str(&text);
                    }
                    TextPart::Html(found) => {
                        let found = found.replace("\r\n", "\n");
                        html.get_or_insert_with(String::new).push_str(&found);
                    }
                }
            }
        }
        any_rich |= html.is_some();
        all_plain &= bare.is_some();
        // A part without HTML is converted, so that the HTML is complete.
        rich.extend(html.or_else(|| bare.as_deref().map(as_html)));
        plain.extend(bare);
    }
    MessageTexts {
        plain: (all_plain && !plain.is_empty()).then(|| plain.concat()),
        html: any_rich.then(|| rich.join("\n")),
    }
}

/// Converts plain text to HTML that looks the same.
pub(super) fn as_html(plain: &str) -> String {
    html_escape::encode_text(plain).replace('\n', "<br>\n")
}

/// Returns the attachments of a message as the port describes them.
pub(super) fn existing_files(item: &Value) -> Vec<AttachmentInfo> {
    let id = text(item, "id");
    files(item)
        .into_iter()
        .map(|file| AttachmentInfo {
            id: format!("{id}/{}", file.part).into(),
            name: file.name,
            media: file.media,
            charset: file.charset,
            size: file.size,
            cid: file.cid,
        })
        .collect()
}

fn files(item: &Value) -> Vec<PartFile<'_>> {
    let mut files = Vec::new();
    if let Some(payload) = item.get("payload") {
        collect(payload, true, &mut files);
    }
    files
}

/// Collects attachments, and texts that mail programs do not show. The depth is bounded by the
/// JSON reader, which refuses more than 128 levels.
fn collect<'v>(part: &'v Value, shown: bool, files: &mut Vec<PartFile<'v>>) {
    let media = text(part, "mimeType").to_ascii_lowercase();
    let name = text(part, "filename");
    let children = part.get("parts").and_then(Value::as_array);
    if let (Some(children), "") = (children, name)
        && media != "message/rfc822"
    {
        let root = shown_part(part, &media);
        for (at, child) in children.iter().enumerate() {
            collect(child, shown && root.is_none_or(|root| root == at), files);
        }
        return;
    }
    let body = shown && is_text(&media) && name.is_empty() && !is_attached(part);
    if body || (media.starts_with("multipart/") && name.is_empty()) {
        return;
    }
    let bytes = part.get("body").unwrap_or(&Value::Null);
    let data = bytes.get("data").and_then(Value::as_str);
    files.push(PartFile {
        part: text(part, "partId"),
        name: file_name(name, &media),
        size: bytes.get("size").and_then(Value::as_u64).unwrap_or(0),
        cid: header(part, "Content-ID").and_then(message_id),
        charset: header(part, "Content-Type").and_then(|kind| parameter(kind, "charset")),
        media,
        data,
        attachment: text(bytes, "attachmentId"),
    });
}

/// Returns an attachment's name without a path, or a made-up one for an unnamed attachment.
fn file_name(name: &str, media: &str) -> String {
    let decoded = cell(&daysheet_core::text::header(name));
    // Names may be paths of the sender's machine.
    let last = decoded.rsplit(['/', '\\']).next().unwrap_or_default();
    match (last.trim(), media) {
        ("", "text/calendar") => "invite.ics".to_owned(),
        ("", "message/rfc822") => "message.eml".to_owned(),
        ("", "text/plain" | "") => "unnamed.txt".to_owned(),
        ("", "text/html") => "unnamed.html".to_owned(),
        ("", media) => {
            let (kind, rest) = media.split_once('/').unwrap_or(("file", ""));
            let plain = rest.bytes().all(|c| c.is_ascii_alphanumeric());
            match (kind, plain && !rest.is_empty()) {
                ("image", true) => format!("image.{rest}"),
                _ => "file".to_owned(),
            }
        }
        (name, _) => name.to_owned(),
    }
}

/// Returns a header field of a complete message, unfolded.
pub(super) fn field(item: &Value, name: &str) -> String {
    let payload = item.get("payload").unwrap_or(&Value::Null);
    header(payload, name).map(unfolded).unwrap_or_default()
}

/// Returns header fields of these names, in the order of the message.
pub(super) fn fields(item: &Value, names: &[&str]) -> Vec<(String, String)> {
    let headers = item.pointer("/payload/headers").and_then(Value::as_array);
    headers
        .into_iter()
        .flatten()
        .filter(|one| {
            let name = text(one, "name");
            names.iter().any(|expected| expected.eq_ignore_ascii_case(name))
        })
        .map(|one| (text(one, "name").to_owned(), unfolded(text(one, "value"))))
        .collect()
}

fn unfolded(value: &str) -> String {
    value.replace(['\r', '\n'], "")
}

/// Returns the decoded subject on one line.
pub(super) fn subject(item: &Value) -> String {
    cell(&daysheet_core::text::header(&field(item, "Subject")))
}

/// Returns the people of a header field who have an address. All fields of that name count: more
/// than one is invalid (RFC 5322, 3.6), but Gmail may still send to all of them.
pub(super) fn people(item: &Value, name: &str) -> Vec<MailPerson> {
    let lines = fields(item, &[name]);
    lines
        .iter()
        .flat_map(|(_, value)| address_list(value))
        .filter(|one| one.email.contains('@'))
        .map(|one| MailPerson { name: one.name, address: ascii(&one.email).into() })
        .collect()
}

/// Returns an address with its domain in ASCII. An invalid domain stays unchanged.
pub(super) fn ascii(address: &str) -> String {
    let Some((local, domain)) = address.rsplit_once('@') else {
        return address.to_owned();
    };
    match url::Host::parse(domain) {
        Ok(url::Host::Domain(plain)) if !domain.is_ascii() => format!("{local}@{plain}"),
        _ => address.to_owned(),
    }
}

/// Returns a Message-ID without its brackets, if it is valid.
pub(super) fn message_id(value: &str) -> Option<String> {
    let bare = value.trim().trim_start_matches('<').trim_end_matches('>');
    let sound = (1..=MAX_ID).contains(&bare.len())
        && bare.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>'));
    sound.then(|| bare.to_owned())
}

/// Returns the time of sending by the `Date` field; without a valid one, the time of receipt.
pub(super) fn sent_at(item: &Value) -> Option<Timestamp> {
    let line = format!("Date: {}\r\n\r\n", field(item, "Date"));
    let parsed = MessageParser::new().parse_headers(line.as_bytes());
    let declared = parsed
        .as_ref()
        .and_then(|message| message.date())
        .filter(|date| date.is_valid())
        .and_then(|date| Timestamp::from_second(date.to_timestamp()).ok());
    declared.or_else(|| received_at(item))
}

/// Returns the time at which Gmail received a message.
pub(super) fn received_at(item: &Value) -> Option<Timestamp> {
    let millis = text(item, "internalDate").parse().ok()?;
    Timestamp::from_millisecond(millis).ok()
}

/// Returns the importance by the header fields of a message.
pub(super) fn importance(item: &Value) -> Importance {
    let declared = field(item, "Importance").to_ascii_lowercase();
    let priority = field(item, "X-Priority");
    match (declared.trim(), priority.trim().chars().next()) {
        ("high", _) | ("", Some('1' | '2')) => Importance::High,
        ("low", _) | ("", Some('4' | '5')) => Importance::Low,
        _ => Importance::Normal,
    }
}

/// Returns true if a message has the label.
pub(super) fn is_under(item: &Value, label: &str) -> bool {
    let labels = item.get("labelIds").and_then(Value::as_array);
    labels.into_iter().flatten().any(|one| one.as_str() == Some(label))
}
