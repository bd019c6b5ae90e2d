//! Reading of Outlook's messages.
//!
//! Graph has parsed the MIME structure: a message has one body, in HTML or plain text, and a list
//! of attachments. Messages are fetched together, in one batch, and their attachments in another.
//! The contents of attachments are never requested.

use daysheet_core::body::report::REPORTS;
use daysheet_core::body::{self, signed};
use daysheet_core::error::{Error, Result};
use daysheet_core::ical;
use daysheet_core::ids::MessageId;
use daysheet_core::project::Projection;
use daysheet_core::provider::{BodyForm, MessageContent, PlainText, TextObstacle, TextPart};
use daysheet_core::schemas::wire::GRAPH_HEADERS;
use daysheet_core::text::html::MAX_INPUT;
use daysheet_core::text::note;
use futures_util::stream::{self, StreamExt};
use mail_parser::{MessageParser, MessagePart, MimeHeaders};
use serde_json::{Value, json};

use crate::json::text;
use crate::microsoft::client::GraphAccount;
use crate::microsoft::response::{not_ours, too_long};
use crate::net;

/// The maximum size of a message that is shown raw, in bytes.
const RAW_LIMIT: usize = 5 << 20;
/// The maximum number of raw messages fetched at the same time.
const RAW_AT_ONCE: usize = 4;
/// The maximum number of attachments that are listed of a message, and of pages.
const FILES: usize = 500;
const PAGES: usize = 10;
/// Separates a message's id from an attachment's. Both are base64, which does not contain it.
const BETWEEN: char = ':';

/// Our key for the size, which Graph has only as a MAPI property (PidTagMessageSize,
/// MS-OXPROPS 2.796).
pub(super) const SIZE: &str = "size";
/// The query option that requests this property.
pub(super) const EXPAND_SIZE: (&str, &str) =
    ("$expand", "singleValueExtendedProperties($filter=id eq 'Integer 0x0E08')");

/// Copies the size to [`SIZE`]. No other extended property is ever requested.
pub(super) fn put_size(item: &mut Value) {
    let property = item.pointer("/singleValueExtendedProperties/0/value").and_then(Value::as_str);
    let size = property.and_then(|size| size.parse::<u64>().ok());
    if let (Some(size), Some(item)) = (size, item.as_object_mut()) {
        item.insert(SIZE.to_owned(), size.into());
    }
}

/// Returns the messages with these ids: one result for each, in order.
pub async fn fetch(
    graph: &GraphAccount,
    ids: &[&MessageId],
    projection: &Projection,
    form: BodyForm,
) -> Vec<Result<MessageContent>> {
    let mut select = selected(projection, form);
    let sized = select.contains(&SIZE);
    select.retain(|property| *property != SIZE);
    let select = select.join(",");
    let options = [("$select", select.as_str()), EXPAND_SIZE];
    let options = options.get(..if sized { 2 } else { 1 }).unwrap_or_default();
    let requests: Vec<String> = ids.iter().map(|id| graph.mailbox_url(&at(id), options)).collect();
    // Projections always include the id: a response without one is no message.
    let items = graph.batch_of_large(&requests, shortened).await.into_iter();
    let items = items.map(|item| {
        item.and_then(|mut item| {
            if text(&item, "id").is_empty() {
                Err(not_ours("message"))
            } else {
                put_size(&mut item);
                Ok(item)
            }
        })
    });
    complete(graph, ids, items, form).await
}

/// Returns the properties to select for reading a message in a form.
pub(super) fn selected(projection: &Projection, form: BodyForm) -> Vec<&str> {
    let mut select = projection.roots();
    let more: &[&str] = match form {
        BodyForm::None | BodyForm::Raw => &[],
        BodyForm::Parts => &["body", "hasAttachments"],
        BodyForm::Headers => &["internetMessageHeaders"],
    };
    select.extend(more.iter().filter(|property| !projection.roots().contains(*property)));
    select
}

/// Completes fetched messages with attachments and other parts that the form needs.
pub(super) async fn complete(
    graph: &GraphAccount,
    ids: &[&MessageId],
    items: impl Iterator<Item = Result<Value>>,
    form: BodyForm,
) -> Vec<Result<MessageContent>> {
    match form {
        BodyForm::None => items
            .map(|item| Ok(MessageContent { item: item?, ..MessageContent::default() }))
            .collect(),
        BodyForm::Headers => items.map(|item| Ok(headers(item?))).collect(),
        BodyForm::Raw => {
            let calls: Vec<_> =
                ids.iter().zip(items).map(|(id, item)| raw(graph, id, item)).collect();
            stream::iter(calls).buffered(RAW_AT_ONCE).collect().await
        }
        BodyForm::Parts => {
            let mut messages: Vec<Result<MessageContent>> =
                items.map(|item| item.map(parts)).collect();
            attachments(graph, ids, &mut messages).await;
            transmitted(graph, ids, &mut messages).await;
            messages
        }
    }
}

/// Returns the path of a message.
fn at(id: &MessageId) -> String {
    format!("messages/{}", net::path_segment(id.as_str()))
}

/// Takes the text out of a message, and shortens it if it is long.
fn take_text(item: &mut Value) -> Option<TextPart> {
    let body = item.get_mut("body")?;
    let html = text(body, "contentType").eq_ignore_ascii_case("html");
    let Value::String(text) = body.get_mut("content")?.take() else {
        return None;
    };
    let mut part =
        if html { TextPart::Html(text) } else { TextPart::Plain(PlainText { text, flowed: None }) };
    // A single text never exceeds the limit on the number of texts, so no note can be lost.
    body::shorten([&mut part]);
    Some(part)
}

/// Returns a message with its text shortened if it is long.
fn shortened(mut item: Value) -> Value {
    if let Some(TextPart::Html(text) | TextPart::Plain(PlainText { text, .. })) =
        take_text(&mut item)
        && let Some(content) = item.pointer_mut("/body/content")
    {
        *content = text.into();
    }
    item
}

/// Returns a message with its text, still without attachments.
fn parts(mut item: Value) -> MessageContent {
    let part = take_text(&mut item);
    if let Some(item) = item.as_object_mut() {
        item.remove("body");
    }
    let is_empty = |part: &TextPart| match part {
        TextPart::Html(text) | TextPart::Plain(PlainText { text, .. }) => text.is_empty(),
    };
    let part = part.filter(|part| !is_empty(part));
    MessageContent {
        obstacle: content_type(&item).and_then(TextObstacle::from_content_type),
        item,
        parts: part.map(|part| vec![vec![part]]).into_iter().collect(),
        ..MessageContent::default()
    }
}

/// Returns true if a message may have attachments. `hasAttachments` does not count pictures that
/// the HTML shows, so the HTML is searched as well.
fn may_have_files(message: &MessageContent) -> bool {
    let shows = |part: &TextPart| match part {
        // A shortened text may lack its references to pictures.
        TextPart::Html(html) => {
            html.len() > MAX_INPUT || html.to_ascii_lowercase().contains("cid:")
        }
        TextPart::Plain(_) => false,
    };
    message.item.get("hasAttachments") == Some(&Value::Bool(true))
        || message.parts.iter().flatten().flatten().any(shows)
}

/// Adds the attachments of messages that may have any.
async fn attachments(
    graph: &GraphAccount,
    ids: &[&MessageId],
    messages: &mut [Result<MessageContent>],
) {
    let mut pending: Vec<(&MessageId, &mut MessageContent)> = Vec::new();
    for (id, message) in ids.iter().zip(messages) {
        if let Ok(message) = message
            && may_have_files(message)
        {
            pending.push((id, message));
        }
    }
    let requests: Vec<String> = pending
        .iter()
        .map(|(id, _)| {
            let select = [("$select", "id,name,contentType,size,isInline")];
            graph.mailbox_url(&format!("{}/attachments", at(id)), &select)
        })
        .collect();
    let answers = graph.batch(&requests).await;
    for ((id, message), answer) in pending.into_iter().zip(answers) {
        let files = match answer {
            Ok(answer) => graph.all(answer, FILES, PAGES).await,
            Err(error) => Err(error),
        };
        match files {
            Ok((files, whole)) => {
                if !whole {
                    message.notes.push(note!(
                        "it has more than {} attachments; the rest are not listed",
                        files.len()
                    ));
                }
                sort_in(id, files, message);
            }
            Err(error) => {
                message.notes.push(note!("its attachments could not be listed ({})", error));
            }
        }
    }
}

/// Returns the content type of a message if its header fields were requested.
fn content_type(item: &Value) -> Option<&str> {
    let headers = item.get(GRAPH_HEADERS)?.as_array()?;
    let found =
        headers.iter().find(|header| text(header, "name").eq_ignore_ascii_case("Content-Type"));
    found.map(|header| text(header, "value"))
}

/// Adds calendars, delivery reports and signed texts. Graph removes these parts from the body, so
/// they are read from the message as it was transmitted.
async fn transmitted(
    graph: &GraphAccount,
    ids: &[&MessageId],
    messages: &mut [Result<MessageContent>],
) {
    let calls: Vec<_> = ids
        .iter()
        .zip(messages)
        .filter_map(|(id, message)| {
            let message = message.as_mut().ok()?;
            let (calendar, report) = (brings_calendar(message), brings_report(message));
            let signed = may_be_signed(message);
            // One request serves all three purposes.
            (calendar || report || signed).then_some(async move {
                let request = graph.mailbox_url(&format!("{}/$value", at(id)), &[]);
                match graph.bytes(&request, RAW_LIMIT).await {
                    Ok(bytes) => {
                        let found = MessageParser::new().parse(&bytes);
                        let parts = found.as_ref().map_or(&[][..], |found| &found.parts);
                        if calendar {
                            message.invitation = invitation(parts);
                        }
                        message.report = Some(report_text(parts)).filter(|_| report);
                        let is_signed = |part: &&MessagePart<'_>| is_one_of(part, signed::TYPES);
                        if signed && let Some(part) = parts.iter().find(is_signed) {
                            signed::unpack(part.contents(), message);
                        }
                    }
                    Err(error) if calendar => {
                        message.notes.push(note!("its invitation could not be read ({})", error));
                    }
                    Err(error) if report => {
                        message.notes.push(note!("its report could not be read ({})", error));
                    }
                    Err(error) => {
                        message.notes.push(note!("its signed text could not be read ({})", error));
                    }
                }
            })
        })
        .collect();
    stream::iter(calls).buffered(RAW_AT_ONCE).collect::<Vec<()>>().await;
}

/// Returns true for a meeting message, or if an iCalendar file is attached.
fn brings_calendar(message: &MessageContent) -> bool {
    let is_calendar =
        |file: &Value| ical::is_calendar(text(file, "contentType"), text(file, "name"));
    text(&message.item, "@odata.type").contains("eventMessage")
        || message.attachments.iter().any(is_calendar)
}

/// Returns true for a delivery report or a receipt.
fn brings_report(message: &MessageContent) -> bool {
    let kind = content_type(&message.item).unwrap_or_default().trim_start().to_ascii_lowercase();
    kind.starts_with("multipart/report")
}

/// Returns true for a message without text in an S/MIME envelope that may be only signed.
fn may_be_signed(message: &MessageContent) -> bool {
    let is_packed = |file: &Value| {
        signed::TYPES.contains(&text(file, "contentType").to_ascii_lowercase().as_str())
    };
    message.parts.is_empty()
        && message.obstacle != Some(TextObstacle::Smime)
        && message.attachments.iter().any(is_packed)
}

/// Returns the media type of a part.
fn media(part: &MessagePart<'_>) -> String {
    let kind = part.content_type();
    kind.map(|kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default()))
        .unwrap_or_default()
}

fn is_one_of(part: &MessagePart<'_>, kinds: &[&str]) -> bool {
    let media = media(part);
    kinds.iter().any(|wanted| media.eq_ignore_ascii_case(wanted))
}

/// Returns the first calendar in a transmitted message.
fn invitation(parts: &[MessagePart<'_>]) -> Option<String> {
    let is_calendar = |part: &&MessagePart<'_>| {
        ical::is_calendar(&media(part), part.attachment_name().unwrap_or_default())
    };
    let part = parts.iter().find(is_calendar)?;
    let (text, _) = ical::decode(part.contents(), None);
    Some(ical::with_method(text, part.content_type().and_then(|kind| kind.attribute("method"))))
}

/// Returns the blocks of a delivery report in a transmitted message, joined by empty lines.
fn report_text(parts: &[MessagePart<'_>]) -> String {
    let text = |part: &MessagePart<'_>| match part.text_contents() {
        Some(text) => text.to_owned(),
        None => String::from_utf8_lossy(part.contents()).into_owned(),
    };
    let reports = parts.iter().filter(|part| is_one_of(part, REPORTS));
    reports.map(text).collect::<Vec<_>>().join("\n\n")
}

/// Separates attachments from inline pictures.
fn sort_in(id: &MessageId, files: Vec<Value>, message: &mut MessageContent) {
    for file in files {
        let kind = text(&file, "contentType").to_ascii_lowercase();
        let mut object = json!({
            "id": format!("{id}{BETWEEN}{}", text(&file, "id")),
            "message": id,
            "name": file.get("name"),
            "contentType": file.get("contentType"),
            "size": file.get("size"),
        });
        if file.get("isInline") == Some(&Value::Bool(true)) && kind.starts_with("image/") {
            if let Some(members) = object.as_object_mut() {
                members.insert("inline".to_owned(), true.into());
            }
            message.inline.push(object);
        } else {
            message.attachments.push(object);
        }
    }
}

/// Returns a message with its header lines.
fn headers(item: Value) -> MessageContent {
    let headers = item.get("internetMessageHeaders");
    let mut source = String::new();
    for header in headers.and_then(Value::as_array).into_iter().flatten() {
        source.push_str(text(header, "name"));
        source.push_str(": ");
        source.push_str(text(header, "value"));
        source.push('\n');
    }
    let mut notes = Vec::new();
    if source.is_empty() {
        // Drafts and messages sent from this mailbox have no header fields.
        notes.push("Outlook has no header fields of this message".into());
    }
    MessageContent { item, source: Some(source), notes, ..MessageContent::default() }
}

async fn raw(graph: &GraphAccount, id: &MessageId, item: Result<Value>) -> Result<MessageContent> {
    let item = item?;
    let request = graph.mailbox_url(&format!("{}/$value", at(id)), &[]);
    let bytes = graph.bytes(&request, RAW_LIMIT).await.map_err(|error| {
        if too_long(&error) {
            return Error::argument(format!(
                "the message is too large to show raw ({RAW_LIMIT} bytes)"
            ))
            .next("read it with body=text or body=headers");
        }
        error
    })?;
    Ok(MessageContent {
        item,
        source: Some(String::from_utf8_lossy(&bytes).into_owned()),
        ..MessageContent::default()
    })
}
