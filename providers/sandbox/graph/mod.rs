//! Microsoft Graph's routes: who may ask, what was asked, and the answer.
//!
//! What is read of mail and its folders, and of what belongs to a mailbox's
//! owner, is named in `call.rs` and answered in `answer.rs`; what is written
//! goes to `mail/mod.rs`, and calendars go to `calendar/mod.rs`. The JSON is
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
use super::http::{Answer, Request};
use super::state::State;
use access::{access, let_in};
use calendar::places;
use call::Call;
use error::{Refusal, denied, no_segment, not_allowed};
use exchange::Store;
use mail::rules;
use mail::send;
use mail::upload;
use params::{Options, Prefer};
use request::Asked;
use response::{Body, JSON, Reply};
use state::Place;

/// Answers what comes below `/v1.0`.
pub(super) fn answer(state: &State, request: &Request, path: &[&str]) -> Answer {
    let result = match path {
        ["$batch"] => batch::carry_out(state, request),
        ["uploads", token] => upload::answer(state, request, token),
        path => carry_out(state, request, path),
    };
    wire(state, &request.headers, result)
}

/// A failure on purpose, in Graph's looks.
pub(super) fn fault(state: &State, headers: &HeaderMap, fault: Fault) -> Answer {
    match error::fault(fault) {
        Some(refusal) => wire(state, headers, Err(refusal)),
        None => error::gateway_page(),
    }
}

/// A body that is larger than any that is read.
pub(super) fn too_large(state: &State) -> Answer {
    wire(state, &HeaderMap::new(), Err(error::too_large()))
}

/// Takes a place at the mailbox that a request is for; a request of nobody
/// known needs none. All places taken is an answer already.
pub(super) fn enter<'a>(
    state: &'a State,
    path: &str,
    headers: &HeaderMap,
) -> Result<Option<Place<'a>>, Answer> {
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
fn wire(state: &State, headers: &HeaderMap, result: Result<Reply, Refusal>) -> Answer {
    let id = state.graph.request_id();
    let client = headers.get("client-request-id");
    let client = client.and_then(|id| id.to_str().ok()).unwrap_or(&id);
    let text = |value: &Value| serde_json::to_vec(value).unwrap_or_default();
    let answer = match result {
        Ok(reply) => {
            let answer = match &reply.body {
                Body::Nothing => Answer::empty(reply.status),
                Body::Json(value) => Answer::of(reply.status, JSON, text(value)),
                Body::Bytes(kind, bytes) => Answer::of(reply.status, kind, bytes.clone()),
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
            let answer = Answer::of(refusal.status, "application/json", text(&body));
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

/// Answers one request, or refuses it.
pub(super) fn carry_out(state: &State, request: &Request, path: &[&str]) -> Result<Reply, Refusal> {
    let access = access(state, &request.headers)?;
    let (user, rest) = match path {
        ["me", rest @ ..] => (None, rest),
        ["users", user, rest @ ..] => (Some(*user), rest),
        ["places", "microsoft.graph.room"] => {
            let body = rooms(state, request, &access)?;
            return Ok(Reply::of(body));
        }
        other => return Err(no_segment(other.first().unwrap_or(&""))),
    };
    if let Some(call) = delta::Call::of(rest) {
        return delta::carry_out(state, request, user, &access, call);
    }
    if let Some(call) = calendar::Call::of(rest) {
        return calendar::carry_out(state, request, user, &access, &call);
    }
    catch_up(state, &access, user);
    if request.method != Method::GET
        && let Some(call) = mail::Call::of(&request.method, rest)
    {
        let call = call.map_err(not_allowed)?;
        return mail::carry_out(state, request, user, &access, call);
    }
    let (call, folder) = Call::of(rest).map_err(no_segment)?;
    if request.method != Method::GET {
        return Err(not_allowed("GET"));
    }
    let store = let_in(state, &access, user, call.permissions())?;
    let options = Options::read(request, call.options())?;
    let prefer = Prefer::read(request);
    let asked = Asked {
        state,
        request,
        store,
        options: &options,
        prefer: &prefer,
        epoch: state.graph.epoch(),
    };
    let body = asked.carry_out(&call, folder)?;
    Ok(Reply { applied: prefer.applied, ..Reply::of(body) })
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
fn rooms(state: &State, request: &Request, access: &Access) -> Result<Body, Refusal> {
    if request.method != Method::GET {
        return Err(not_allowed("GET"));
    }
    let store = Store::of(state, &access.mailbox).ok_or_else(denied)?;
    if !state.graph.rooms() {
        return Err(denied());
    }
    let options = Options::read(request, &["$select", "$top", "$skip", "$count", "$filter"])?;
    let prefer = Prefer::read(request);
    let asked = Asked {
        state,
        request,
        store,
        options: &options,
        prefer: &prefer,
        epoch: state.graph.epoch(),
    };
    places::rooms(&asked)
}
