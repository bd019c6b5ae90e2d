//! Attachments of drafts: added at once, or by an upload session, whose URL needs no token.

use std::sync::Arc;

use hyper::{Method, StatusCode};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::body::EditableMessage;
use super::drafts;
use super::file::{self, FileUpload, MessageFile};
use super::read::attachments;
use crate::auth::random::random;
use crate::delivery;
use crate::graph::error::{
    GraphError, attachment_too_large, invalid_property, no_session, not_allowed, not_draft,
    not_found, range_refused, wrong_body,
};
use crate::graph::exchange::ExchangeMailbox;
use crate::graph::request::RequestContext;
use crate::graph::response::{GraphBody, GraphResponse, no_content, with_context};
use crate::graph::types::mail::{ATTACHMENT, UPLOAD};
use crate::graph::types::read::read;
use crate::http::HttpRequest;
use crate::json::object;
use crate::state::RequestState;
use crate::store::mailbox::change::{MailboxChange, MailboxEntry};
use crate::store::message::Message;

/// The maximum size of a file that is sent at once.
const AT_ONCE: usize = 3 << 20;

/// The maximum size of a file.
const MAX_FILE: i64 = 150 << 20;

/// The lifetime of an upload session.
const LIFETIME: SignedDuration = SignedDuration::from_hours(24 * 7);

/// Adds a file to a draft.
pub(crate) fn attach(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    // Read here, because the check of the body removes annotations.
    let kind = serde_json::from_slice::<Value>(&context.request.body).ok();
    let kind = kind.as_ref().and_then(|body| body.get("@odata.type")?.as_str());
    match kind {
        None => return Err(wrong_body("The property '@odata.type' is missing.")),
        Some(kind)
            if !kind
                .trim_start_matches('#')
                .eq_ignore_ascii_case("microsoft.graph.fileAttachment") =>
        {
            return Err(wrong_body("The sandbox takes file attachments only."));
        }
        Some(_) => {}
    }
    let members = read(context.request, &ATTACHMENT, true)?;
    let message = draft(context, id)?;
    let file = MessageFile::from_members(&members)?;
    if file.bytes.len() > AT_ONCE {
        return Err(attachment_too_large());
    }
    let mut editable = EditableMessage::from_message(message);
    editable.files.push(file);
    drafts::rewrite(context, message, &editable)?;
    let store = context.present()?;
    let message = store.mailbox.message(message.id).ok_or_else(not_found)?;
    let list = attachments::list(store, message, context.options, context.prefer);
    // The new file was appended, so it is the last in reading order.
    let Some(Value::Object(last)) = list.into_iter().next_back() else {
        return Err(not_found());
    };
    let of = format!("messages('{id}')/attachments");
    Ok(context.entity(last, &of, StatusCode::CREATED))
}

/// Removes a file from a draft.
pub(crate) fn detach(
    context: &RequestContext<'_>,
    id: &str,
    part: &str,
) -> Result<GraphResponse, GraphError> {
    let message = draft(context, id)?;
    let place = attachments::place(context.present()?, message, part)?;
    let mut editable = EditableMessage::from_message(message);
    if place >= editable.files.len() {
        return Err(not_found());
    }
    editable.files.remove(place);
    drafts::rewrite(context, message, &editable)?;
    Ok(no_content())
}

/// Returns the draft with an id. Other messages cannot get attachments.
fn draft<'a>(context: &RequestContext<'a>, id: &str) -> Result<&'a Message, GraphError> {
    let message = context.message(id)?;
    if message.has("DRAFT") { Ok(message) } else { Err(not_draft()) }
}

/// Creates an upload session.
pub(crate) fn begin(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &UPLOAD, true)?;
    let item = members.get("attachmentItem").and_then(Value::as_object);
    let item = item.ok_or_else(|| wrong_body("The parameter 'attachmentItem' is required."))?;
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let size = item.get("size").and_then(Value::as_i64).unwrap_or_default();
    let name = text("name").filter(|name| !name.trim().is_empty());
    let name = name.filter(|_| text("attachmentType") == Some("file") && size > 0);
    let name = name.ok_or_else(invalid_property)?;
    if size > MAX_FILE {
        return Err(attachment_too_large());
    }
    let message = draft(context, id)?;
    let number = context.with(super::super::exchange::state::ExchangeState::number);
    // The URL is all that protects the session, so it must not be guessable.
    let secret = random("", 24).map_err(|_| no_session())?;
    let token = format!("{}{number:x}", secret.trim());
    let upload = FileUpload {
        token: token.clone(),
        address: context.address().to_owned(),
        message: message.id,
        file: MessageFile {
            name: name.to_owned(),
            media: file::media(text("contentType"), name),
            number: None,
            cid: text("contentId").map(str::to_owned),
            inline: item.get("isInline").and_then(Value::as_bool) == Some(true),
            bytes: Vec::new(),
        },
        size: usize::try_from(size).unwrap_or(usize::MAX),
        expires: context.state.clock.now().saturating_add(LIFETIME).unwrap_or(Timestamp::MAX),
    };
    let base = context.request.base();
    let session = object(json!({
        "uploadUrl": format!("{base}/v1.0/uploads/{token}"),
        "expirationDateTime": upload.expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "nextExpectedRanges": ["0-"],
    }));
    context.state.graph.uploads(|all| all.push(upload));
    let of = format!("{base}/v1.0/$metadata#microsoft.graph.uploadSession");
    Ok(GraphResponse {
        status: StatusCode::CREATED,
        ..GraphResponse::new(with_context(of, session))
    })
}

/// The routes of an upload session's URL.
pub(crate) const PUT: &str = "PUT /v1.0/uploads/token";
pub(crate) const GET: &str = "GET /v1.0/uploads/token";

/// Answers a request to the URL of an upload session.
pub(crate) fn answer(
    state: &RequestState,
    request: &HttpRequest,
    token: &str,
) -> Result<GraphResponse, GraphError> {
    let now = state.clock.now();
    // Expired sessions are dropped here, because there is no timer.
    state.graph.uploads(|all| all.retain(|upload| upload.expires > now));
    match request.method {
        Method::PUT => piece(state, request, token).inspect(|_| state.hit(PUT)),
        Method::GET => state
            .graph
            .uploads(|all| all.iter().find(|it| it.token == token).map(standing))
            .inspect(|_| state.hit(GET))
            .ok_or_else(no_session),
        _ => Err(not_allowed()),
    }
}

/// Returns the ranges of a file that are still missing.
fn standing(upload: &FileUpload) -> GraphResponse {
    let next = format!("{}-", upload.file.bytes.len());
    GraphResponse::new(GraphBody::Json(json!({
        "expirationDateTime": upload.expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "nextExpectedRanges": [next],
    })))
}

/// Adds a piece to a file. The last one completes the attachment.
fn piece(
    state: &RequestState,
    request: &HttpRequest,
    token: &str,
) -> Result<GraphResponse, GraphError> {
    let range = request.header("content-range").and_then(range);
    let (from, to, total) = range.ok_or_else(range_refused)?;
    let whole = state.graph.uploads(|all| {
        let place = all.iter().position(|upload| upload.token == token);
        let place = place.ok_or_else(no_session)?;
        let upload = all.get_mut(place).ok_or_else(no_session)?;
        let here = upload.file.bytes.len();
        // Graph wants the pieces in order and without overlap, each as long as its range says.
        let fits = from == here
            && total == upload.size
            && to < total
            && to.checked_sub(from).map(|last| last + 1) == Some(request.body.len());
        if !fits {
            return Err(range_refused());
        }
        upload.file.bytes.extend_from_slice(&request.body);
        if upload.file.bytes.len() == upload.size {
            // Removed under the lock, so that a repeated last piece cannot attach the file twice.
            Ok(Err(all.swap_remove(place)))
        } else {
            Ok(Ok(standing(upload)))
        }
    })?;
    match whole {
        Ok(standing) => Ok(standing),
        Err(upload) => finish(state, request, upload),
    }
}

/// Adds a complete file to its draft.
fn finish(
    state: &RequestState,
    request: &HttpRequest,
    upload: FileUpload,
) -> Result<GraphResponse, GraphError> {
    let store = ExchangeMailbox::find(state, &upload.address).ok_or_else(no_session)?;
    let message = store.mailbox.message(upload.message).ok_or_else(not_found)?;
    // The draft may have been sent since the session began.
    if !message.has("DRAFT") {
        return Err(not_draft());
    }
    let mut editable = EditableMessage::from_message(message);
    editable.files.push(upload.file);
    let raw: Arc<[u8]> = editable.bytes().into();
    // The draft keeps its date: an attachment does not move it in lists.
    let facts = delivery::facts_at(&raw, message.facts.date).map_err(|_| no_session())?;
    let entry = MailboxEntry { raw, facts, labels: message.labels.clone(), thread: None };
    let rewritten = MailboxChange::Rewrites(message.id, Box::new(entry));
    state.change(&upload.address, |_| Some(rewritten));
    state.graph.exchange(&upload.address, |exchange| {
        exchange.note(upload.message, |notes| notes.changed = Some(state.tick()));
    });
    let store = ExchangeMailbox::find(state, &upload.address).ok_or_else(no_session)?;
    let message = store.mailbox.message(upload.message).ok_or_else(not_found)?;
    let message_id = store.message_id(message, false);
    let part = attachments::last_id(store, message).ok_or_else(not_found)?;
    let base = request.base();
    let user = store.ids().mailbox();
    Ok(GraphResponse {
        status: StatusCode::CREATED,
        location: Some(format!(
            "{base}/v1.0/users('{user}')/messages('{message_id}')/attachments('{part}')"
        )),
        ..GraphResponse::new(GraphBody::Nothing)
    })
}

/// Parses `bytes 0-9/20`: the first byte, the last one, and the total.
fn range(text: &str) -> Option<(usize, usize, usize)> {
    let rest = text.trim().strip_prefix("bytes")?.trim_start();
    let (range, total) = rest.split_once('/')?;
    let (from, to) = range.split_once('-')?;
    let number = |text: &str| text.trim().parse::<usize>().ok();
    Some((number(from)?, number(to)?, number(total)?))
}
