//! Conversion of messages to Graph's form and back. No requests.
//!
//! Exchange keeps one body, the HTML, and derives the plain text when it sends. Our plain text is
//! therefore not sent, and is read back from the HTML. The thread headers (`In-Reply-To`,
//! `References`) are also Exchange's; it sets them in drafts created as replies.

use daysheet_core::compose::ids::{ends, within};
use daysheet_core::provider::mail::{
    AttachmentContent, AttachmentInfo, Importance, MailPerson, OutgoingAttachment, OutgoingMessage,
    SourceMessage, StoredDraft,
};
use daysheet_core::text::cell;
use daysheet_core::text::html::{TextStyle, html};
use serde_json::{Map, Value, json};

use crate::json::{is, nested, text};

/// The properties of a draft that are requested.
pub const DRAFT: &str = "id,conversationId,parentFolderId,changeKey,isDraft,subject,body,from,toRecipients,\
                         ccRecipients,bccRecipients,replyTo,importance,internetMessageId,\
                         internetMessageHeaders";
/// The properties requested of an original that is replied to or forwarded.
pub const ORIGINAL: &str = "id,conversationId,isDraft,subject,body,from,toRecipients,\
                            ccRecipients,replyTo,sentDateTime,internetMessageId,internetMessageHeaders";
/// The properties requested of attachments. Only file attachments have a Content-ID, so its name
/// includes the type. The bytes are never requested.
pub const FILES: &str =
    "id,name,contentType,size,isInline,microsoft.graph.fileAttachment/contentId";
/// Header fields that are passed on unchanged.
const KEPT: &[&str] = &["List-Unsubscribe", "List-Unsubscribe-Post", "Authentication-Results"];

/// Converts a person to Graph's form.
pub fn recipient(person: &MailPerson) -> Value {
    let mut address = json!({ "address": person.address });
    if let (Some(address), Some(name)) = (address.as_object_mut(), &person.name) {
        address.insert("name".to_owned(), name.as_str().into());
    }
    json!({ "emailAddress": address })
}

fn recipients(people: &[MailPerson]) -> Value {
    people.iter().map(recipient).collect()
}

/// Returns a message's properties except attachments, Message-ID and sender.
pub fn properties(outgoing: &OutgoingMessage) -> Map<String, Value> {
    let body = if outgoing.html.trim().is_empty() {
        json!({"contentType": "text", "content": outgoing.text})
    } else {
        json!({"contentType": "html", "content": outgoing.html})
    };
    [
        ("subject", outgoing.subject.as_str().into()),
        ("body", body),
        ("toRecipients", recipients(&outgoing.to)),
        ("ccRecipients", recipients(&outgoing.cc)),
        ("bccRecipients", recipients(&outgoing.bcc)),
        ("replyTo", recipients(&outgoing.reply_to)),
        ("importance", importance(outgoing.importance).into()),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value))
    .collect()
}

fn importance(importance: Importance) -> &'static str {
    match importance {
        Importance::Low => "low",
        Importance::Normal => "normal",
        Importance::High => "high",
    }
}

/// Returns the properties in which two messages differ.
pub fn differences(before: &OutgoingMessage, after: &OutgoingMessage) -> Map<String, Value> {
    let (old, mut new) = (properties(before), properties(after));
    new.retain(|key, value| old.get(key) != Some(value));
    if before.html == after.html && before.text != after.text && !after.html.is_empty() {
        // Exchange derives the text from the HTML, which has not changed.
        new.remove("body");
    }
    if !before.from.address.is(&after.from.address) {
        new.insert("from".to_owned(), recipient(&after.from));
    }
    new
}

/// Returns a Message-ID in angle brackets, as Graph has it.
pub fn bracketed(message_id: &str) -> String {
    format!("<{message_id}>")
}

/// Returns a Message-ID without angle brackets.
fn bare(message_id: &str) -> &str {
    let id = message_id.trim();
    id.strip_prefix('<').and_then(|id| id.strip_suffix('>')).unwrap_or(id)
}

fn person(recipient: &Value) -> Option<MailPerson> {
    let address = nested(recipient, "emailAddress");
    let name = cell(text(address, "name"));
    let address = text(address, "address").trim().to_owned();
    if address.is_empty() {
        return None;
    }
    Some(MailPerson {
        name: Some(name).filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(&address)),
        address: address.into(),
    })
}

fn people(message: &Value, key: &str) -> Vec<MailPerson> {
    let list = message.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(person).collect()
}

/// Returns the values of a header field.
fn header<'v>(message: &'v Value, name: &str) -> impl DoubleEndedIterator<Item = &'v str> {
    let list = message.get("internetMessageHeaders").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter(move |line| text(line, "name").eq_ignore_ascii_case(name))
        .map(|line| text(line, "value"))
}

/// Returns the Message-IDs of the earlier messages of the thread.
fn references(message: &Value) -> Vec<String> {
    let of = |name| ends(header(message, name).flat_map(within));
    match of("References") {
        none if none.is_empty() => of("In-Reply-To"),
        some => some,
    }
}

/// Returns the content of a document's `<body>`, or the whole document without one.
fn inner(document: &str) -> &str {
    // Lower-casing ASCII letters keeps all positions.
    let lower = document.to_ascii_lowercase();
    let start = lower.find("<body").and_then(|at| Some(at + lower.get(at..)?.find('>')? + 1));
    let start = start.unwrap_or(0);
    let end = lower.rfind("</body").filter(|end| *end >= start);
    let end = end.unwrap_or(document.len());
    document.get(start..end).unwrap_or(document)
}

/// Returns the HTML and the text of a message, one of which is `None`.
fn body(message: &Value) -> (Option<&str>, Option<&str>) {
    let body = nested(message, "body");
    let content = Some(text(body, "content")).filter(|content| !content.trim().is_empty());
    if text(body, "contentType").eq_ignore_ascii_case("html") {
        (content, None)
    } else {
        (None, content)
    }
}

/// Converts an attachment of a message.
pub fn attachment_info(file: &Value) -> AttachmentInfo {
    let kind = text(file, "@odata.type");
    let media = match text(file, "contentType") {
        // Attached messages have no content type.
        "" if kind.ends_with("itemAttachment") => "message/rfc822",
        "" => "application/octet-stream",
        media => media,
    };
    let cid = bare(text(file, "contentId"));
    AttachmentInfo {
        id: text(file, "id").into(),
        name: cell(text(file, "name")),
        media: media.to_owned(),
        charset: None,
        size: file.get("size").and_then(Value::as_u64).unwrap_or_default(),
        // Outlook gives every attachment a Content-ID, but only inline ones are shown.
        cid: Some(cid.to_owned()).filter(|cid| !cid.is_empty() && is(file, "isInline")),
    }
}

/// Converts a message to reply to or to forward; `address` is the mailbox's.
pub fn original(message: &Value, files: &[Value], address: &str) -> SourceMessage {
    let from = people_or_one(message);
    let (html, plain) = body(message);
    SourceMessage {
        id: text(message, "id").into(),
        thread: text(message, "conversationId").into(),
        message_id: bare(text(message, "internetMessageId")).to_owned(),
        references: references(message),
        subject: text(message, "subject").to_owned(),
        own: from.iter().any(|person| person.address.is(address)),
        from,
        reply_to: people(message, "replyTo"),
        to: people(message, "toRecipients"),
        cc: people(message, "ccRecipients"),
        sent: text(message, "sentDateTime").parse().ok(),
        text: plain.map(str::to_owned),
        html: html.map(str::to_owned),
        draft: is(message, "isDraft"),
        files: files.iter().map(attachment_info).collect(),
        headers: KEPT
            .iter()
            .flat_map(|name| header(message, name).map(|value| (*name, value)))
            .map(|(name, value)| (name.to_owned(), unfolded(value)))
            .collect(),
    }
}

fn people_or_one(message: &Value) -> Vec<MailPerson> {
    person(nested(message, "from")).into_iter().collect()
}

fn unfolded(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Converts an existing draft; `address` is the mailbox's.
pub fn stored_draft(message: &Value, files: &[Value], address: &str) -> StoredDraft {
    let id = text(message, "id").to_owned();
    let version = match text(message, "@odata.etag") {
        "" => text(message, "changeKey"),
        etag => etag,
    };
    let (document, plain) = body(message);
    let html_text = document.map(inner).unwrap_or_default().trim();
    let own = || MailPerson { name: None, address: address.into() };
    let outgoing = OutgoingMessage {
        message_id: bare(text(message, "internetMessageId")).to_owned(),
        from: person(nested(message, "from")).unwrap_or_else(own),
        to: people(message, "toRecipients"),
        cc: people(message, "ccRecipients"),
        bcc: people(message, "bccRecipients"),
        reply_to: people(message, "replyTo"),
        subject: text(message, "subject").to_owned(),
        text: match (document, plain) {
            (Some(document), _) => html(document, TextStyle::Text, false).text,
            (None, plain) => plain.unwrap_or_default().replace("\r\n", "\n"),
        },
        html: html_text.to_owned(),
        importance: match text(message, "importance").to_ascii_lowercase().as_str() {
            "low" => Importance::Low,
            "high" => Importance::High,
            _ => Importance::Normal,
        },
        in_reply_to: header(message, "In-Reply-To").flat_map(within).next().map(str::to_owned),
        references: references(message),
        files: files.iter().map(attachment_info).map(enclosure).collect(),
    };
    StoredDraft {
        message: id.clone().into(),
        id: id.into(),
        thread: text(message, "conversationId").into(),
        version: version.to_owned(),
        content: outgoing,
    }
}

fn enclosure(file: AttachmentInfo) -> OutgoingAttachment {
    OutgoingAttachment {
        name: file.name,
        media: file.media,
        cid: file.cid,
        content: AttachmentContent::Existing { id: file.id, size: file.size },
    }
}
