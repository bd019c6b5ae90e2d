//! Microsoft Graph's routes: who may ask, what was asked, and the answer.
//!
//! What is read of mail and its folders, and of what belongs to a mailbox's
//! owner, is answered in `answer.rs`; what is written goes to `mail/mod.rs`, and
//! calendars go to `calendar/mod.rs`. The JSON is
//! made in `mail/read/message.rs` and its neighbours; `$filter` is read in
//! `filter.rs` and decided in `mail/read/matching.rs`, `$search` in
//! `mail/read/search/mod.rs` and `mail/read/search/found.rs`. Batches are taken
//! apart in `batch.rs` and come back here, item by item. What all of them share
//! stands below them, in `access.rs`, `request.rs` and `response.rs`.

mod access;
mod answer;
mod batch;
mod calendar;
mod call;
mod delta;
pub(super) mod error;
pub(super) mod exchange;
mod filter;
mod ids;
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

use hyper::Method;
use hyper::header::HeaderMap;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::auth::tokens::Access;
use super::faults::Fault;
use super::http::{Request, Response};
use super::routes::routes;
use super::state::State;
use access::{access, let_in};
use calendar::context::At;
use calendar::respond::Action;
use calendar::{Call as Calendar, places};
use call::{Call as Read, Part};
use delta::Call as Delta;
use error::{GraphError, denied, no_segment, not_allowed};
use exchange::Store;
use mail::quote::ReplyKind;
use mail::{Call as Write, rules, send, upload};
use params::{Options, Prefer};
use request::Asked;
use response::{Body, GraphResponse, JSON};
use state::Place;

/// Answers what comes below `/v1.0`.
pub(super) fn answer(state: &State, request: &Request, path: &[&str]) -> Response {
    let result = match path {
        ["$batch"] => batch::handle(state, request).inspect(|_| state.hit(BATCH)),
        ["uploads", token] => upload::answer(state, request, token),
        path => handle(state, request, path),
    };
    wire(state, &request.headers, result)
}

/// A failure on purpose, in Graph's looks.
pub(super) fn fault(state: &State, headers: &HeaderMap, fault: Fault) -> Response {
    match error::fault(fault) {
        Some(refusal) => wire(state, headers, Err(refusal)),
        None => error::gateway_page(),
    }
}

/// A body that is larger than any that is read.
pub(super) fn too_large(state: &State) -> Response {
    wire(state, &HeaderMap::new(), Err(error::too_large()))
}

/// Takes a place at the mailbox that a request is for; a request of nobody
/// known needs none. All places taken is an answer already.
pub(super) fn enter<'a>(
    state: &'a State,
    path: &str,
    headers: &HeaderMap,
) -> Result<Option<Place<'a>>, Response> {
    let Ok(access) = access(state, headers) else {
        return Ok(None);
    };
    let user = path.strip_prefix("/v1.0/users/").and_then(|rest| rest.split('/').next());
    let user = user.map(|user| percent_decode_str(user).decode_utf8_lossy());
    let user = user.as_deref().and_then(|user| state.mailbox(user));
    let address = user.map_or(access.mailbox.as_str(), |mailbox| &mailbox.address);
    match state.graph.enter(address) {
        Some(place) => Ok(Some(place)),
        None => Err(wire(state, headers, Err(error::too_many_at_once()))),
    }
}

/// Puts an answer or a refusal on the wire.
fn wire(state: &State, headers: &HeaderMap, result: Result<GraphResponse, GraphError>) -> Response {
    let id = state.graph.request_id();
    let client = headers.get("client-request-id");
    let client = client.and_then(|id| id.to_str().ok()).unwrap_or(&id);
    let text = |value: &Value| serde_json::to_vec(value).unwrap_or_default();
    let answer = match result {
        Ok(reply) => {
            let answer = match &reply.body {
                Body::Nothing => Response::empty(reply.status),
                Body::Json(value) => Response::of(reply.status, JSON, text(value)),
                Body::Bytes(kind, bytes) => Response::of(reply.status, kind, bytes.clone()),
            };
            let answer = match reply.location {
                Some(location) => answer.with("location", location),
                None => answer,
            };
            match reply.applied.is_empty() {
                true => answer,
                false => answer.with("preference-applied", reply.applied.join(", ")),
            }
        }
        Err(refusal) => {
            let body = refusal.body(&id, client);
            let answer = Response::of(refusal.status, "application/json", text(&body));
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

/// What a route leads to.
enum Call<'a> {
    /// Something of the owner's or of their mail is read.
    Read(call::Call<'a>),
    /// It is written.
    Write(mail::Call<'a>),
    /// Something is done with calendars.
    Calendar(calendar::Call<'a>),
    /// Changes are told.
    Delta(delta::Call<'a>),
}

routes! { Call below "/v1.0/me" {
    "GET" [] => Call::Read(Read::User),
    "GET" ["mailboxSettings"] => Call::Read(Read::Settings),
    "PATCH" ["mailboxSettings"] => Call::Write(Write::Settings),
    "GET" ["outlook", "masterCategories"] => Call::Read(Read::Categories),
    "POST" ["outlook", "masterCategories"] => Call::Write(Write::CreateCategory),
    "PATCH" ["outlook", "masterCategories", id] => Call::Write(Write::ChangeCategory(id)),
    "DELETE" ["outlook", "masterCategories", id] => Call::Write(Write::DeleteCategory(id)),
    "GET" ["people"] => Call::Read(Read::People),
    "GET" ["contacts"] => Call::Read(Read::Contacts),
    "POST" ["contacts"] => Call::Write(Write::CreateContact),
    "GET" ["contacts", id] => Call::Read(Read::Contact(id)),
    "PATCH" ["contacts", id] => Call::Write(Write::ChangeContact(id)),
    "DELETE" ["contacts", id] => Call::Write(Write::DeleteContact(id)),
    "GET" ["mailFolders"] => Call::Read(Read::Folders(None)),
    "POST" ["mailFolders"] => Call::Write(Write::CreateFolder(None)),
    "GET" ["mailFolders", id] => Call::Read(Read::Folder(id)),
    "PATCH" ["mailFolders", id] => Call::Write(Write::ChangeFolder(id)),
    "DELETE" ["mailFolders", id] => Call::Write(Write::DeleteFolder(id)),
    "GET" ["mailFolders", id, "childFolders"] => Call::Read(Read::Folders(Some(id))),
    "POST" ["mailFolders", id, "childFolders"] => Call::Write(Write::CreateFolder(Some(id))),
    "GET" ["mailFolders", id, "messages"] => Call::Read(Read::Messages(Some(id))),
    "GET" ["mailFolders", id, "messages", "delta"] => Call::Delta(Delta::Messages(id)),
    "GET" ["mailFolders", id, "messageRules"] => Call::Read(Read::Rules(id)),
    "POST" ["mailFolders", id, "messageRules"] => Call::Write(Write::CreateRule(id)),
    "GET" ["mailFolders", id, "messageRules", rule] => Call::Read(Read::Rule(id, rule)),
    "PATCH" ["mailFolders", id, "messageRules", rule] => Call::Write(Write::ChangeRule(id, rule)),
    "DELETE" ["mailFolders", id, "messageRules", rule] => {
        Call::Write(Write::DeleteRule(id, rule))
    },
    "GET" ["messages"] => Call::Read(Read::Messages(None)),
    "POST" ["messages"] => Call::Write(Write::Create),
    "GET" ["messages", id] => Call::Read(Read::Message(id, Part::Itself)),
    "PATCH" ["messages", id] => Call::Write(Write::Change(id)),
    "DELETE" ["messages", id] => Call::Write(Write::Delete(id)),
    "GET" ["messages", id, "$value"] => Call::Read(Read::Message(id, Part::Raw)),
    "POST" ["messages", id, "move"] => Call::Write(Write::Move(id)),
    "POST" ["messages", id, "copy"] => Call::Write(Write::Copy(id)),
    "POST" ["messages", id, "permanentDelete"] => Call::Write(Write::Erase(id)),
    "POST" ["messages", id, "send"] => Call::Write(Write::Send(id)),
    "POST" ["messages", id, "createReply"] => Call::Write(Write::Answer(id, ReplyKind::Reply)),
    "POST" ["messages", id, "createReplyAll"] => Call::Write(Write::Answer(id, ReplyKind::ReplyAll)),
    "POST" ["messages", id, "createForward"] => Call::Write(Write::Answer(id, ReplyKind::Forward)),
    "GET" ["messages", id, "attachments"] => Call::Read(Read::Message(id, Part::Attachments)),
    "POST" ["messages", id, "attachments"] => Call::Write(Write::Attach(id)),
    "POST" ["messages", id, "attachments", "createUploadSession"] => {
        Call::Write(Write::Session(id))
    },
    "GET" ["messages", id, "attachments", file] => {
        Call::Read(Read::Message(id, Part::Attachment(file)))
    },
    "DELETE" ["messages", id, "attachments", file] => Call::Write(Write::Detach(id, file)),
    "GET" ["messages", id, "attachments", file, "$value"] => {
        Call::Read(Read::Message(id, Part::File(file)))
    },
    "GET" ["calendars"] => Call::Calendar(Calendar::Calendars),
    "POST" ["calendars"] => Call::Calendar(Calendar::Calendars),
    "GET" ["calendars", id] => Call::Calendar(Calendar::Calendar(id)),
    "PATCH" ["calendars", id] => Call::Calendar(Calendar::Calendar(id)),
    "DELETE" ["calendars", id] => Call::Calendar(Calendar::Calendar(id)),
    "GET" ["calendars", id, "events"] => Call::Calendar(Calendar::Events(At::Id(id))),
    "POST" ["calendars", id, "events"] => Call::Calendar(Calendar::Events(At::Id(id))),
    "GET" ["calendars", id, "calendarView"] => Call::Calendar(Calendar::View(At::Id(id))),
    "GET" ["calendars", id, "calendarView", "delta"] => Call::Delta(Delta::View(At::Id(id))),
    "GET" ["calendarView"] => Call::Calendar(Calendar::View(At::Any)),
    "GET" ["calendarView", "delta"] => Call::Delta(Delta::View(At::Any)),
    "POST" ["calendar", "getSchedule"] => Call::Calendar(Calendar::Schedules),
    "GET" ["events"] => Call::Calendar(Calendar::Events(At::Any)),
    "POST" ["events"] => Call::Calendar(Calendar::Events(At::Any)),
    "GET" ["events", id] => Call::Calendar(Calendar::Event(id)),
    "PATCH" ["events", id] => Call::Calendar(Calendar::Event(id)),
    "DELETE" ["events", id] => Call::Calendar(Calendar::Event(id)),
    "GET" ["events", id, "instances"] => Call::Calendar(Calendar::Instances(id)),
    "POST" ["events", id, "accept"] => Call::Calendar(Calendar::Action(id, Action::ACCEPT)),
    "POST" ["events", id, "decline"] => Call::Calendar(Calendar::Action(id, Action::DECLINE)),
    "POST" ["events", id, "tentativelyAccept"] => {
        Call::Calendar(Calendar::Action(id, Action::TENTATIVE))
    },
    "POST" ["events", id, "cancel"] => Call::Calendar(Calendar::Action(id, Action::Cancel)),
    "POST" ["events", id, "forward"] => Call::Calendar(Calendar::Action(id, Action::Forward)),
}}

/// The routes that are no user's.
pub(super) const OTHER_ROUTES: &[&str] = &[BATCH, ROOMS, upload::PUT, upload::GET];
const BATCH: &str = "POST /v1.0/$batch";
const ROOMS: &str = "GET /v1.0/places/microsoft.graph.room";

/// Answers one request, or refuses it.
pub(super) fn handle(
    state: &State,
    request: &Request,
    path: &[&str],
) -> Result<GraphResponse, GraphError> {
    let access = access(state, &request.headers)?;
    let (user, rest) = match path {
        ["me", rest @ ..] => (None, rest),
        ["users", user, rest @ ..] => (Some(*user), rest),
        ["places", "microsoft.graph.room"] => {
            let body = rooms(state, request, &access)?;
            state.hit(ROOMS);
            return Ok(GraphResponse::of(body));
        }
        other => return Err(no_segment(other.first().unwrap_or(&""))),
    };
    let Some((name, call)) = route(request.method.as_str(), rest) else {
        let mut others = ["GET", "POST", "PATCH", "DELETE"].into_iter();
        return Err(match others.any(|method| route(method, rest).is_some()) {
            true => not_allowed(),
            false => no_segment(rest.last().unwrap_or(&"")),
        });
    };
    if matches!(call, Call::Read(_) | Call::Write(_)) {
        catch_up(state, &access, user);
    }
    let reply = match call {
        Call::Read(call) => read(state, request, user, &access, &call),
        Call::Write(call) => mail::handle(state, request, user, &access, call),
        Call::Calendar(call) => calendar::handle(state, request, user, &access, &call),
        Call::Delta(call) => delta::handle(state, request, user, &access, call),
    }?;
    state.hit(name);
    Ok(reply)
}

/// Answers a request that reads.
fn read(
    state: &State,
    request: &Request,
    user: Option<&str>,
    access: &Access,
    call: &Read<'_>,
) -> Result<GraphResponse, GraphError> {
    let store = let_in(state, access, user, call.permissions())?;
    let options = Options::read(request, call.options())?;
    let prefer = Prefer::read(request);
    let asked = Asked { state, request, store, options: &options, prefer: &prefer };
    let body = asked.handle(call)?;
    Ok(GraphResponse { applied: prefer.applied, ..GraphResponse::of(body) })
}

/// Sends what is due, and lets rules look at what has come into a mailbox: in
/// the real service both happen by themselves.
fn catch_up(state: &State, access: &Access, user: Option<&str>) {
    send::send_due(state);
    let user = user.and_then(|user| state.mailbox(user));
    let address = user.map_or(&access.mailbox, |mailbox| &mailbox.address);
    rules::catch_up(state, address);
}

/// Answers with the tenant's rooms, which take an administrator's consent.
fn rooms(state: &State, request: &Request, access: &Access) -> Result<Body, GraphError> {
    if request.method != Method::GET {
        return Err(not_allowed());
    }
    let store = Store::of(state, &access.mailbox).ok_or_else(denied)?;
    if !state.graph.rooms() {
        return Err(denied());
    }
    let options = Options::read(request, &["$select", "$top", "$skip", "$count", "$filter"])?;
    let prefer = Prefer::read(request);
    let asked = Asked { state, request, store, options: &options, prefer: &prefer };
    places::rooms(&asked)
}
