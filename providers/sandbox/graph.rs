//! Microsoft Graph's routes.
//!
//! Reads of mail, folders and the owner's data are answered in `answer.rs`, writes in
//! `mail.rs`, calendars in `calendar.rs` and deltas in `delta.rs`. A message's JSON is
//! built in `mail/read/message.rs`. `$filter` is parsed in `filter.rs` and applied in
//! `mail/read/matching.rs`, `$search` in `mail/read/search.rs`. `batch.rs` splits batches and calls
//! [`handle`] for each part. All of them share `access.rs`, `request.rs` and `response.rs`.

mod access;
mod answer;
mod batch;
mod calendar;
mod call;
mod delta;
pub(super) mod error;
pub(super) mod exchange;
mod filter;
pub(super) mod ids;
mod mail;
mod pages;
mod params;
mod people;
mod request;
mod response;
pub(super) mod state;
mod types;
mod user;
mod zones;

use access::{access, let_in};
use calendar::context::CalendarRef;
use calendar::respond::MeetingAction;
use calendar::{CalendarCall as Calendar, places};
use call::{MessagePart, ReadCall as Read};
use delta::DeltaCall as Delta;
use error::{GraphError, denied, no_segment, not_allowed};
use exchange::ExchangeMailbox;
use hyper::Method;
use hyper::header::HeaderMap;
use mail::reply_body::ReplyKind;
use mail::{WriteCall as Write, send, upload};
use params::{PreferHeader, QueryOptions};
use percent_encoding::percent_decode_str;
use request::RequestContext;
use response::{GraphBody, GraphResponse};
use serde_json::Value;
use state::ConcurrencySlot;

use super::auth::tokens::TokenAccess;
use super::faults::DrawnFault;
use super::http::{HttpRequest, HttpResponse};
use super::routes::routes;
use super::state::RequestState;

/// Answers a path below `/v1.0`. An extra slash in front is ignored, because Microsoft's library
/// for Python writes one before `me`.
pub(super) fn answer(state: &RequestState, request: &HttpRequest, path: &[&str]) -> HttpResponse {
    let path = path.strip_prefix(&[""]).unwrap_or(path);
    let result = match path {
        ["$batch"] => batch::handle(state, request, handle).inspect(|_| state.hit(BATCH)),
        // Upload URLs carry their authorization in themselves: they come without a bearer token.
        ["uploads", token] => upload::answer(state, request, token),
        path => handle(state, request, path),
    };
    wire(state, &request.headers, result)
}

/// Returns an injected fault as Graph's error.
pub(super) fn fault(state: &RequestState, headers: &HeaderMap, fault: DrawnFault) -> HttpResponse {
    match error::fault(fault) {
        Some(refusal) => wire(state, headers, Err(refusal)),
        None => error::gateway_page(),
    }
}

/// 413: oversized request body.
pub(super) fn too_large(state: &RequestState) -> HttpResponse {
    wire(state, &HeaderMap::new(), Err(error::too_large()))
}

/// Takes one of the slots for concurrent requests to a mailbox. `None` if the token is invalid.
///
/// # Errors
///
/// 429 if all slots are taken.
pub(super) fn enter<'a>(
    state: &'a RequestState,
    path: &str,
    headers: &HeaderMap,
) -> Result<Option<ConcurrencySlot<'a>>, HttpResponse> {
    let Ok(access) = access(state, headers) else {
        // An invalid token is refused later, with the other checks of access.
        return Ok(None);
    };
    // The limit counts per mailbox, not per caller: requests to a shared mailbox use up its own
    // slots.
    let user = path.strip_prefix("/v1.0/users/").and_then(|rest| rest.split('/').next());
    let user = user.map(|user| percent_decode_str(user).decode_utf8_lossy());
    let user = user.as_deref().and_then(|user| state.mailbox(user));
    let address = user.map_or(access.mailbox.as_str(), |mailbox| &mailbox.address);
    match state.graph.enter(address) {
        Some(place) => Ok(Some(place)),
        None => Err(wire(state, headers, Err(error::too_many_at_once().again_soon()))),
    }
}

/// Turns an answer or refusal into an HTTP response.
fn wire(
    state: &RequestState,
    headers: &HeaderMap,
    result: Result<GraphResponse, GraphError>,
) -> HttpResponse {
    let id = state.graph.request_id();
    let client = headers.get("client-request-id");
    let client = client.and_then(|id| id.to_str().ok()).unwrap_or(&id);
    let text = |value: &Value| serde_json::to_vec(value).unwrap_or_default();
    let answer = match result {
        Ok(reply) => {
            let answer = match &reply.body {
                GraphBody::Nothing => HttpResponse::empty(reply.status),
                GraphBody::Json(value) => {
                    HttpResponse::new(reply.status, reply.json(), text(value))
                }
                GraphBody::Bytes(kind, bytes) => {
                    HttpResponse::new(reply.status, kind, bytes.clone())
                }
            };
            let answer = match reply.location {
                Some(location) => answer.with("location", location),
                None => answer,
            };
            if reply.applied.is_empty() {
                answer
            } else {
                answer.with("preference-applied", reply.applied.join(", "))
            }
        }
        Err(refusal) => {
            let body = refusal.body(&id, client, state.clock.now());
            let answer = HttpResponse::new(refusal.status, "application/json", text(&body));
            let headers = refusal.headers.into_iter();
            headers.fold(answer, |answer, (name, value)| answer.with(name, value))
        }
    };
    answer
        .with("client-request-id", client)
        .with("cache-control", "private")
        .with("odata-version", "4.0")
        .with("request-id", id)
}

/// The handler of a route.
enum GraphCall<'a> {
    /// Reads mail or the owner's data.
    Read(call::ReadCall<'a>),
    /// Writes mail or the owner's data.
    Write(mail::WriteCall<'a>),
    /// Reads or writes calendars.
    Calendar(calendar::CalendarCall<'a>),
    /// Reports changes.
    Delta(delta::DeltaCall<'a>),
}

routes! { GraphCall below "/v1.0/me" {
    "GET" [] => GraphCall::Read(Read::User),
    "GET" ["mailboxSettings"] => GraphCall::Read(Read::Settings),
    "PATCH" ["mailboxSettings"] => GraphCall::Write(Write::Settings),
    "GET" ["outlook", "masterCategories"] => GraphCall::Read(Read::Categories),
    "POST" ["outlook", "masterCategories"] => GraphCall::Write(Write::CreateCategory),
    "PATCH" ["outlook", "masterCategories", id] => GraphCall::Write(Write::ChangeCategory(id)),
    "DELETE" ["outlook", "masterCategories", id] => GraphCall::Write(Write::DeleteCategory(id)),
    "GET" ["people"] => GraphCall::Read(Read::People),
    "GET" ["contacts"] => GraphCall::Read(Read::Contacts),
    "POST" ["contacts"] => GraphCall::Write(Write::CreateContact),
    "GET" ["contacts", id] => GraphCall::Read(Read::Contact(id)),
    "PATCH" ["contacts", id] => GraphCall::Write(Write::ChangeContact(id)),
    "DELETE" ["contacts", id] => GraphCall::Write(Write::DeleteContact(id)),
    "GET" ["mailFolders"] => GraphCall::Read(Read::Folders(None)),
    "POST" ["mailFolders"] => GraphCall::Write(Write::CreateFolder(None)),
    "GET" ["mailFolders", id] => GraphCall::Read(Read::Folder(id)),
    "PATCH" ["mailFolders", id] => GraphCall::Write(Write::ChangeFolder(id)),
    "DELETE" ["mailFolders", id] => GraphCall::Write(Write::DeleteFolder(id)),
    "GET" ["mailFolders", id, "childFolders"] => GraphCall::Read(Read::Folders(Some(id))),
    "POST" ["mailFolders", id, "childFolders"] => GraphCall::Write(Write::CreateFolder(Some(id))),
    "GET" ["mailFolders", id, "messages"] => GraphCall::Read(Read::Messages(Some(id))),
    "GET" ["mailFolders", id, "messages", "delta"] => GraphCall::Delta(Delta::Messages(id)),
    "GET" ["mailFolders", id, "messageRules"] => GraphCall::Read(Read::Rules(id)),
    "POST" ["mailFolders", id, "messageRules"] => GraphCall::Write(Write::CreateRule(id)),
    "GET" ["mailFolders", id, "messageRules", rule] => GraphCall::Read(Read::Rule(id, rule)),
    "PATCH" ["mailFolders", id, "messageRules", rule] => GraphCall::Write(Write::ChangeRule(id, rule)),
    "DELETE" ["mailFolders", id, "messageRules", rule] => {
        GraphCall::Write(Write::DeleteRule(id, rule))
    },
    "GET" ["messages"] => GraphCall::Read(Read::Messages(None)),
    "POST" ["messages"] => GraphCall::Write(Write::Create),
    "GET" ["messages", id] => GraphCall::Read(Read::Message(id, MessagePart::Itself)),
    "PATCH" ["messages", id] => GraphCall::Write(Write::Change(id)),
    "DELETE" ["messages", id] => GraphCall::Write(Write::Delete(id)),
    "GET" ["messages", id, "$value"] => GraphCall::Read(Read::Message(id, MessagePart::Raw)),
    "POST" ["messages", id, "move"] => GraphCall::Write(Write::Move(id)),
    "POST" ["messages", id, "copy"] => GraphCall::Write(Write::Copy(id)),
    "POST" ["messages", id, "permanentDelete"] => GraphCall::Write(Write::Erase(id)),
    "POST" ["messages", id, "send"] => GraphCall::Write(Write::Send(id)),
    "POST" ["messages", id, "createReply"] => GraphCall::Write(Write::Reply(id, ReplyKind::Reply)),
    "POST" ["messages", id, "createReplyAll"] => GraphCall::Write(Write::Reply(id, ReplyKind::ReplyAll)),
    "POST" ["messages", id, "createForward"] => GraphCall::Write(Write::Reply(id, ReplyKind::Forward)),
    "GET" ["messages", id, "attachments"] => GraphCall::Read(Read::Message(id, MessagePart::Attachments)),
    "POST" ["messages", id, "attachments"] => GraphCall::Write(Write::Attach(id)),
    "POST" ["messages", id, "attachments", "createUploadSession"] => {
        GraphCall::Write(Write::Session(id))
    },
    "GET" ["messages", id, "attachments", file] => {
        GraphCall::Read(Read::Message(id, MessagePart::Attachment(file)))
    },
    "DELETE" ["messages", id, "attachments", file] => GraphCall::Write(Write::Detach(id, file)),
    "GET" ["messages", id, "attachments", file, "$value"] => {
        GraphCall::Read(Read::Message(id, MessagePart::File(file)))
    },
    "GET" ["calendars"] => GraphCall::Calendar(Calendar::Calendars),
    "POST" ["calendars"] => GraphCall::Calendar(Calendar::Calendars),
    "GET" ["calendars", id] => GraphCall::Calendar(Calendar::Calendar(id)),
    "PATCH" ["calendars", id] => GraphCall::Calendar(Calendar::Calendar(id)),
    "DELETE" ["calendars", id] => GraphCall::Calendar(Calendar::Calendar(id)),
    "GET" ["calendars", id, "events"] => GraphCall::Calendar(Calendar::Events(CalendarRef::Id(id))),
    "POST" ["calendars", id, "events"] => GraphCall::Calendar(Calendar::Events(CalendarRef::Id(id))),
    "GET" ["calendars", id, "calendarView"] => GraphCall::Calendar(Calendar::View(CalendarRef::Id(id))),
    "GET" ["calendars", id, "calendarView", "delta"] => GraphCall::Delta(Delta::View(CalendarRef::Id(id))),
    "GET" ["calendarView"] => GraphCall::Calendar(Calendar::View(CalendarRef::Any)),
    "GET" ["calendarView", "delta"] => GraphCall::Delta(Delta::View(CalendarRef::Any)),
    "POST" ["calendar", "getSchedule"] => GraphCall::Calendar(Calendar::Schedules),
    "GET" ["events"] => GraphCall::Calendar(Calendar::Events(CalendarRef::Any)),
    "POST" ["events"] => GraphCall::Calendar(Calendar::Events(CalendarRef::Any)),
    "GET" ["events", id] => GraphCall::Calendar(Calendar::Event(id)),
    "PATCH" ["events", id] => GraphCall::Calendar(Calendar::Event(id)),
    "DELETE" ["events", id] => GraphCall::Calendar(Calendar::Event(id)),
    "GET" ["events", id, "instances"] => GraphCall::Calendar(Calendar::Instances(id)),
    "POST" ["events", id, "accept"] => GraphCall::Calendar(Calendar::Action(id, MeetingAction::ACCEPT)),
    "POST" ["events", id, "decline"] => GraphCall::Calendar(Calendar::Action(id, MeetingAction::DECLINE)),
    "POST" ["events", id, "tentativelyAccept"] => {
        GraphCall::Calendar(Calendar::Action(id, MeetingAction::TENTATIVE))
    },
    "POST" ["events", id, "cancel"] => GraphCall::Calendar(Calendar::Action(id, MeetingAction::Cancel)),
    "POST" ["events", id, "forward"] => GraphCall::Calendar(Calendar::Action(id, MeetingAction::Forward)),
}}

/// The routes that are not below a user.
pub(super) const OTHER_ROUTES: &[&str] = &[BATCH, ROOMS, upload::PUT, upload::GET];
const BATCH: &str = "POST /v1.0/$batch";
const ROOMS: &str = "GET /v1.0/places/microsoft.graph.room";

/// Answers one request.
pub(super) fn handle(
    state: &RequestState,
    request: &HttpRequest,
    path: &[&str],
) -> Result<GraphResponse, GraphError> {
    let access = access(state, &request.headers)?;
    let (user, rest) = match path {
        ["me", rest @ ..] => (None, rest),
        ["users", user, rest @ ..] => (Some(*user), rest),
        ["places", "microsoft.graph.room"] => {
            let body = rooms(state, request, &access)?;
            state.hit(ROOMS);
            return Ok(GraphResponse::new(body));
        }
        other => return Err(no_segment(other.first().unwrap_or(&""))),
    };
    let Some((name, call)) = route(request.method.as_str(), rest) else {
        // As at Graph, a known path with a wrong method is 405, and an unknown one 400, not 404.
        let mut others = ["GET", "POST", "PATCH", "DELETE"].into_iter();
        return Err(if others.any(|method| route(method, rest).is_some()) {
            not_allowed()
        } else {
            no_segment(rest.last().unwrap_or(&""))
        });
    };
    if matches!(call, GraphCall::Read(_) | GraphCall::Write(_)) {
        // Exchange sends deferred messages by itself. The sandbox has no timer, so it catches up
        // before a request can see the difference.
        send::send_due(state);
    }
    let reply = match call {
        GraphCall::Read(call) => read(state, request, user, &access, &call),
        GraphCall::Write(call) => mail::handle(state, request, user, &access, call),
        GraphCall::Calendar(call) => calendar::handle(state, request, user, &access, &call),
        GraphCall::Delta(call) => delta::handle(state, request, user, &access, call),
    }?;
    // Counted only on success: tests that check the coverage of routes must not count refusals.
    state.hit(name);
    Ok(reply.heeding(request))
}

/// Answers a request that reads.
fn read(
    state: &RequestState,
    request: &HttpRequest,
    user: Option<&str>,
    access: &TokenAccess,
    call: &Read<'_>,
) -> Result<GraphResponse, GraphError> {
    let store = let_in(state, access, user, call.permissions())?;
    let options = QueryOptions::read(request, call.options())?;
    let prefer = PreferHeader::read(request);
    let context = RequestContext { state, request, store, options: &options, prefer: &prefer };
    let body = context.handle(call)?;
    Ok(GraphResponse { applied: prefer.applied, ..GraphResponse::new(body) })
}

/// Answers with the tenant's rooms, which need an administrator's consent.
fn rooms(
    state: &RequestState,
    request: &HttpRequest,
    access: &TokenAccess,
) -> Result<GraphBody, GraphError> {
    if request.method != Method::GET {
        return Err(not_allowed());
    }
    let store = ExchangeMailbox::find(state, &access.mailbox).ok_or_else(denied)?;
    // `Place.Read.All` needs an administrator, whom the sandbox does not have; a switch takes their
    // place.
    if !state.graph.rooms() {
        return Err(denied());
    }
    let options = QueryOptions::read(request, &["$select", "$top", "$skip", "$count", "$filter"])?;
    let prefer = PreferHeader::read(request);
    let context = RequestContext { state, request, store, options: &options, prefer: &prefer };
    places::rooms(&context)
}
