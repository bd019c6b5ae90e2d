//! A message being written: read from its bytes or from Graph's JSON, and written as MIME.
//!
//! Like Exchange, it has one body, HTML or plain. A message with both keeps only the HTML when it
//! is written again.

use daysheet_core::compose;
use mail_builder::MessageBuilder;
use mail_builder::headers::address::Address;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::text::Text;
use mail_builder::mime::MimePart;
use serde_json::{Map, Value};

use super::file::{MessageFile, line};
use super::read::attachments::{self, NUMBER};
use crate::graph::calendar::draft::person;
use crate::graph::error::{GraphError, bad_request};
use crate::graph::people::{self, EmailAddress};
use crate::store::head::{self, HeaderField};
use crate::store::message::Message;
use crate::store::mime::{self, ParsedPart};

/// A message being written.
#[derive(Debug, Clone, Default)]
pub(super) struct EditableMessage {
    /// The Message-ID without angle brackets.
    pub message_id: String,
    /// The time of writing, in seconds since 1970.
    pub date: i64,
    /// From.
    pub from: Option<EmailAddress>,
    /// Sender, if it differs from From.
    pub sender: Option<EmailAddress>,
    /// To, Cc, Bcc and Reply-To.
    pub to: Vec<EmailAddress>,
    pub cc: Vec<EmailAddress>,
    pub bcc: Vec<EmailAddress>,
    pub reply_to: Vec<EmailAddress>,
    /// The subject.
    pub subject: String,
    /// True if the body is HTML.
    pub html: bool,
    /// The body.
    pub content: String,
    /// The importance: `low`, `normal` or `high`.
    pub importance: String,
    /// The Message-IDs of In-Reply-To and References, without angle brackets.
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
    /// Further header fields.
    pub more: Vec<(String, String)>,
    /// The attachments.
    pub files: Vec<MessageFile>,
}

impl EditableMessage {
    /// Creates an empty message.
    pub fn new(message_id: String, date: i64) -> Self {
        Self { message_id, date, importance: "normal".to_owned(), ..Self::default() }
    }

    /// Reads a message.
    pub fn from_message(message: &Message) -> Self {
        let fields = head::fields(mime::header_section(&message.raw), &message.raw);
        let people = |name: &str| people::persons(&fields, name);
        let text = |name: &str| head::find(&fields, name).map(|field| field.value());
        let (plain, html) = message.shown_texts();
        let (is_html, texts) = if html.is_empty() { (false, plain) } else { (true, html) };
        let importance = text("Importance").unwrap_or_default().to_lowercase();
        Self {
            message_id: message.facts.message_id.clone(),
            date: message.facts.date.div_euclid(1_000),
            from: people("From").into_iter().next(),
            sender: people("Sender").into_iter().next(),
            to: people("To"),
            cc: people("Cc"),
            bcc: people("Bcc"),
            reply_to: people("Reply-To"),
            subject: message.facts.subject.clone(),
            html: is_html,
            content: texts.join("\r\n"),
            importance: match importance.as_str() {
                "low" | "high" => importance,
                _ => "normal".to_owned(),
            },
            in_reply_to: bracketed(&text("In-Reply-To").unwrap_or_default()),
            references: bracketed(&text("References").unwrap_or_default()),
            more: custom_fields(&fields),
            files: files(message),
        }
    }

    /// Returns the message as MIME, with Bcc.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = MessageBuilder::new()
            .message_id(self.message_id.as_str())
            .date(self.date)
            .header("Subject", compose::unstructured(&self.subject));
        for (name, person) in [("From", &self.from), ("Sender", &self.sender)] {
            if let Some(person) = person {
                out = out.header(name, address(person));
            }
        }
        let lists =
            [("To", &self.to), ("Cc", &self.cc), ("Bcc", &self.bcc), ("Reply-To", &self.reply_to)];
        for (name, people) in lists {
            if !people.is_empty() {
                let people = people.iter().map(address);
                out = out.header(name, Address::new_list(people.collect()));
            }
        }
        for (name, ids) in [("In-Reply-To", &self.in_reply_to), ("References", &self.references)] {
            if !ids.is_empty() {
                out = out.header(name, MessageId::new_list(ids.iter().map(String::as_str)));
            }
        }
        if self.importance != "normal" {
            out = out.header("Importance", Text::new(self.importance.as_str()));
        }
        for (name, value) in &self.more {
            out = out.header(name.as_str(), Text::new(value.as_str()));
        }
        out = if self.html {
            out.html_body(self.content.as_str())
        } else {
            out.text_body(self.content.as_str())
        };
        let numbers = self.files.iter().filter_map(|file| file.number);
        // Ids of attachments contain these numbers, so a new file gets one that is not in use.
        let mut next = numbers.max().map_or(1, |last| last.saturating_add(1));
        let numbered = self.files.iter().map(|file| {
            let number = file.number.unwrap_or(next);
            next = next.max(number.saturating_add(1));
            mime_part(file, number)
        });
        let files: Vec<MimePart<'_>> = numbered.collect();
        if !files.is_empty() {
            out.attachments = Some(files);
        }
        // Writing to memory does not fail.
        out.write_to_vec().unwrap_or_default()
    }

    /// Applies a body that was checked against the type of messages.
    pub fn apply(&mut self, members: &Map<String, Value>) -> Result<(), GraphError> {
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        if let Some(subject) = members.get("subject") {
            self.subject = line(subject.as_str().unwrap_or_default());
        }
        if let Some(body) = members.get("body").and_then(Value::as_object) {
            let part = |name: &str| body.get(name).and_then(Value::as_str);
            // A NUL is not allowed in a message (RFC 5322, 3.5).
            let content = part("content").unwrap_or_default().replace('\0', "");
            self.html = part("contentType").unwrap_or("text") == "html";
            self.content = if self.html { document(&content) } else { content };
        }
        if let Some(from) = members.get("from").filter(|from| from.is_object()) {
            self.from = Some(recipient(from)?);
        }
        if let Some(sender) = members.get("sender").filter(|it| it.is_object()) {
            self.sender = Some(recipient(sender)?);
        }
        let lists = [
            ("toRecipients", &mut self.to),
            ("ccRecipients", &mut self.cc),
            ("bccRecipients", &mut self.bcc),
            ("replyTo", &mut self.reply_to),
        ];
        for (name, people) in lists {
            if let Some(list) = members.get(name).and_then(Value::as_array) {
                *people = list.iter().map(recipient).collect::<Result<_, _>>()?;
            }
        }
        if let Some(importance) = text("importance") {
            importance.clone_into(&mut self.importance);
        }
        if let Some(id) = text("internetMessageId") {
            self.message_id = message_id(id)?;
        }
        Ok(())
    }

    /// Returns the addresses of all recipients in order, each once.
    pub fn recipients(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for person in self.to.iter().chain(&self.cc).chain(&self.bcc) {
            let known = all.iter().any(|known| known.eq_ignore_ascii_case(&person.address));
            if !known {
                all.push(person.address.clone());
            }
        }
        all
    }
}

/// Reads a recipient of Graph's.
pub(super) fn recipient(value: &Value) -> Result<EmailAddress, GraphError> {
    let (name, address) = person(value)?;
    let name = name.map_or_else(|| address.clone(), |name| line(&name));
    Ok(EmailAddress { name, address })
}

/// Returns a Message-ID without its angle brackets.
fn message_id(text: &str) -> Result<String, GraphError> {
    let inner = text.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let good = |id: &&str| {
        id.contains('@') && id.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>".contains(&byte))
    };
    inner
        .filter(good)
        .map(str::to_owned)
        .ok_or_else(|| bad_request("The internetMessageId is malformed."))
}

/// Returns HTML as Exchange stores it: as a document.
fn document(html: &str) -> String {
    if html.to_ascii_lowercase().contains("<html") {
        html.to_owned()
    } else {
        format!(
            "<html><head>\r\n<meta http-equiv=\"Content-Type\" content=\"text/html; \
             charset=utf-8\"></head><body>{html}</body></html>"
        )
    }
}

/// Returns a person as an address of a header field.
fn address(person: &EmailAddress) -> Address<'_> {
    // Graph repeats the address as the name of a person without one.
    let name = (person.name != person.address).then_some(person.name.as_str());
    Address::new_address(name, person.address.as_str())
}

/// Returns a file as a MIME part.
fn mime_part(file: &MessageFile, number: u32) -> MimePart<'_> {
    // Without a Content-ID, no HTML can refer to it.
    let shown = file.inline && file.cid.is_some();
    let way = if shown { "inline" } else { "attachment" };
    let way = ContentType::new(way).attribute("filename", file.name.as_str());
    let part = MimePart::new(file.media.as_str(), file.bytes.as_slice());
    let part =
        part.header("Content-Disposition", way).header(NUMBER, Text::new(number.to_string()));
    match &file.cid {
        Some(cid) => part.cid(cid.as_str()),
        None => part,
    }
}

/// Returns the Message-IDs of a field, at most 100.
fn bracketed(field: &str) -> Vec<String> {
    let pieces = field.split('<').skip(1);
    let ids = pieces.filter_map(|piece| Some(piece.split_once('>')?.0.trim().to_owned()));
    ids.filter(|id| !id.is_empty()).take(100).collect()
}

/// Returns the header fields that a client may set: those that begin with `X-`, except Gmail's.
fn custom_fields(fields: &[HeaderField<'_>]) -> Vec<(String, String)> {
    let own = fields.iter().filter(|field| {
        let name = field.name.to_ascii_lowercase();
        name.starts_with("x-") && !name.starts_with("x-gm")
    });
    own.map(|field| (field.name.to_owned(), field.value())).collect()
}

/// Returns the attachments of a message.
pub(super) fn files(message: &Message) -> Vec<MessageFile> {
    let root = ParsedPart::of_message(&message.raw);
    let parts = attachments::numbered_attachments(message, &root).into_iter();
    parts
        .map(|(number, part)| {
            let fields = head::fields(mime::slice(&message.raw, &part.head), &message.raw);
            let cid = head::find(&fields, "Content-ID").map(|field| field.value());
            MessageFile {
                name: match part.filename.as_str() {
                    "" => "image".to_owned(),
                    name => name.to_owned(),
                },
                media: part.mime_type.clone(),
                number: Some(number),
                cid: cid.map(|cid| cid.trim_matches(['<', '>']).to_owned()),
                inline: part.embedded,
                bytes: part.decode(&message.raw).into_owned(),
            }
        })
        .collect()
}
