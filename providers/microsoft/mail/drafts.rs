//! Letters as Graph's messages, and messages as letters: shapes, no requests.
//!
//! Exchange keeps one body, the HTML, and makes the text alternative of it when
//! it sends: the text of a letter is not handed over, and read back from the
//! HTML. Headers that make a conversation (`In-Reply-To`, `References`) are
//! Exchange's own too; it sets them where a draft is made as an answer.

use serde_json::{Map, Value, json};

use crate::json::{is, nested, text};
use daysheet_core::provider::mail::{
    Content, Enclosure, HeldDraft, HeldFile, Importance, Original, Outgoing, Person,
};
use daysheet_core::text::cell;
use daysheet_core::text::html::{Style, html};

/// What is asked of a draft.
pub const DRAFT: &str = "id,conversationId,parentFolderId,changeKey,isDraft,subject,body,from,toRecipients,\
                         ccRecipients,bccRecipients,replyTo,importance,internetMessageId,\
                         internetMessageHeaders";
/// What is asked of a message that is answered or sent on.
pub const ORIGINAL: &str = "id,conversationId,subject,body,from,toRecipients,ccRecipients,replyTo,\
                            sentDateTime,internetMessageId,internetMessageHeaders";
/// What is asked of attachments. A Content-ID is a file's alone, so it is named
/// with the type; the bytes are never asked for.
pub const FILES: &str =
    "id,name,contentType,size,isInline,microsoft.graph.fileAttachment/contentId";
/// Headers that are handed on as they stand.
const KEPT: &[&str] = &["List-Unsubscribe", "List-Unsubscribe-Post", "Authentication-Results"];

/// Somebody, in Graph's words.
pub fn recipient(person: &Person) -> Value {
    let mut address = json!({ "address": person.address });
    if let (Some(address), Some(name)) = (address.as_object_mut(), &person.name) {
        address.insert("name".to_owned(), name.as_str().into());
    }
    json!({ "emailAddress": address })
}

fn recipients(people: &[Person]) -> Value {
    people.iter().map(recipient).collect()
}

/// A letter's properties: all but its files, its Message-ID, and whom it is from.
pub fn properties(letter: &Outgoing) -> Map<String, Value> {
    let body = match letter.html.trim().is_empty() {
        true => json!({"contentType": "text", "content": letter.text}),
        false => json!({"contentType": "html", "content": letter.html}),
    };
    [
        ("subject", letter.subject.as_str().into()),
        ("body", body),
        ("toRecipients", recipients(&letter.to)),
        ("ccRecipients", recipients(&letter.cc)),
        ("bccRecipients", recipients(&letter.bcc)),
        ("replyTo", recipients(&letter.reply_to)),
        ("importance", importance(letter.importance).into()),
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

/// What of a letter's properties is not as it was.
pub fn differences(before: &Outgoing, after: &Outgoing) -> Map<String, Value> {
    let (old, mut new) = (properties(before), properties(after));
    new.retain(|key, value| old.get(key) != Some(value));
    if before.html == after.html && before.text != after.text && !after.html.is_empty() {
        // The text is made of the HTML, which has stayed.
        new.remove("body");
    }
    if !before.from.address.eq_ignore_ascii_case(&after.from.address) {
        new.insert("from".to_owned(), recipient(&after.from));
    }
    new
}

/// A Message-ID as Graph has it.
pub fn bracketed(message_id: &str) -> String {
    format!("<{message_id}>")
}

/// A Message-ID without brackets.
fn bare(message_id: &str) -> &str {
    let id = message_id.trim();
    id.strip_prefix('<').and_then(|id| id.strip_suffix('>')).unwrap_or(id)
}

/// The Message-IDs in a header's text, in order.
fn ids(value: &str) -> Vec<String> {
    value
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split_once('>'))
        .map(|(id, _)| id.trim().to_owned())
        .filter(|id| !id.is_empty())
        .collect()
}

fn person(recipient: &Value) -> Option<Person> {
    let address = nested(recipient, "emailAddress");
    let name = cell(text(address, "name"));
    let address = text(address, "address").trim().to_owned();
    if address.is_empty() {
        return None;
    }
    Some(Person {
        name: Some(name).filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(&address)),
        address,
    })
}

fn people(message: &Value, key: &str) -> Vec<Person> {
    let list = message.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(person).collect()
}

/// The lines of a header, unfolded.
fn header<'v>(message: &'v Value, name: &str) -> impl Iterator<Item = &'v str> {
    let list = message.get("internetMessageHeaders").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter(move |line| text(line, "name").eq_ignore_ascii_case(name))
        .map(|line| text(line, "value"))
}

/// The letters before a message.
fn references(message: &Value) -> Vec<String> {
    let of = |name| header(message, name).flat_map(ids).collect::<Vec<_>>();
    match of("References") {
        none if none.is_empty() => of("In-Reply-To"),
        some => some,
    }
}

/// What stands between the body tags of a document; all of it if there are none.
fn inner(document: &str) -> &str {
    // Only ASCII letters change, so places stay the same.
    let lower = document.to_ascii_lowercase();
    let start = lower.find("<body").and_then(|at| Some(at + lower.get(at..)?.find('>')? + 1));
    let start = start.unwrap_or(0);
    let end = lower.rfind("</body").filter(|end| *end >= start);
    let end = end.unwrap_or(document.len());
    document.get(start..end).unwrap_or(document)
}

/// The HTML of a message, and its text where it has no HTML.
fn body(message: &Value) -> (Option<&str>, Option<&str>) {
    let body = nested(message, "body");
    let content = Some(text(body, "content")).filter(|content| !content.trim().is_empty());
    match text(body, "contentType").eq_ignore_ascii_case("html") {
        true => (content, None),
        false => (None, content),
    }
}

/// A file that a message has.
pub fn held_file(file: &Value) -> HeldFile {
    let kind = text(file, "@odata.type");
    let media = match text(file, "contentType") {
        // A letter in a letter has no type of its own.
        "" if kind.ends_with("itemAttachment") => "message/rfc822",
        "" => "application/octet-stream",
        media => media,
    };
    let cid = bare(text(file, "contentId"));
    HeldFile {
        id: text(file, "id").to_owned(),
        name: cell(text(file, "name")),
        media: media.to_owned(),
        size: file.get("size").and_then(Value::as_u64).unwrap_or_default(),
        // Outlook gives every file a Content-ID; only what is inline is shown.
        cid: Some(cid.to_owned()).filter(|cid| !cid.is_empty() && is(file, "isInline")),
    }
}

/// A message to be answered or sent on; `address` is the mailbox's.
pub fn original(message: &Value, files: &[Value], address: &str) -> Original {
    let from = people_or_one(message);
    let (html, plain) = body(message);
    Original {
        id: text(message, "id").to_owned(),
        thread: text(message, "conversationId").to_owned(),
        message_id: bare(text(message, "internetMessageId")).to_owned(),
        references: references(message),
        subject: text(message, "subject").to_owned(),
        own: from.iter().any(|person| person.address.eq_ignore_ascii_case(address)),
        from,
        reply_to: people(message, "replyTo"),
        to: people(message, "toRecipients"),
        cc: people(message, "ccRecipients"),
        sent: text(message, "sentDateTime").parse().ok(),
        text: plain.map(str::to_owned),
        html: html.map(str::to_owned),
        files: files.iter().map(held_file).collect(),
        headers: KEPT
            .iter()
            .flat_map(|name| header(message, name).map(|value| (*name, value)))
            .map(|(name, value)| (name.to_owned(), unfolded(value)))
            .collect(),
    }
}

fn people_or_one(message: &Value) -> Vec<Person> {
    person(nested(message, "from")).into_iter().collect()
}

fn unfolded(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A draft as it is held; `address` is the mailbox's.
pub fn held_draft(message: &Value, files: &[Value], address: &str) -> HeldDraft {
    let id = text(message, "id").to_owned();
    let version = match text(message, "@odata.etag") {
        "" => text(message, "changeKey"),
        etag => etag,
    };
    let (document, plain) = body(message);
    let html_text = document.map(inner).unwrap_or_default().trim();
    let own = || Person { name: None, address: address.to_owned() };
    let letter = Outgoing {
        message_id: bare(text(message, "internetMessageId")).to_owned(),
        from: person(nested(message, "from")).unwrap_or_else(own),
        to: people(message, "toRecipients"),
        cc: people(message, "ccRecipients"),
        bcc: people(message, "bccRecipients"),
        reply_to: people(message, "replyTo"),
        subject: text(message, "subject").to_owned(),
        text: match (document, plain) {
            (Some(document), _) => html(document, Style::Text, false).text,
            (None, plain) => plain.unwrap_or_default().replace("\r\n", "\n"),
        },
        html: html_text.to_owned(),
        importance: match text(message, "importance").to_ascii_lowercase().as_str() {
            "low" => Importance::Low,
            "high" => Importance::High,
            _ => Importance::Normal,
        },
        in_reply_to: header(message, "In-Reply-To").flat_map(ids).next(),
        references: references(message),
        files: files.iter().map(held_file).map(enclosure).collect(),
    };
    HeldDraft {
        message: id.clone(),
        id,
        thread: text(message, "conversationId").to_owned(),
        version: version.to_owned(),
        letter,
    }
}

fn enclosure(file: HeldFile) -> Enclosure {
    Enclosure {
        name: file.name,
        media: file.media,
        cid: file.cid,
        content: Content::Held { id: file.id, size: file.size },
    }
}
