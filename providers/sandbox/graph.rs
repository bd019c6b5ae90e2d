//! Microsoft Graph's routes.
//!
//! Reads of mail, folders and the owner's data are answered in `answer.rs`, writes below `mail/`,
//! calendars in `calendar.rs` and deltas in `delta.rs`. A message's JSON is built in
//! `mail/read/message.rs`. `$filter` is parsed in `filter.rs` and applied in
//! `mail/read/matching.rs`, `$search` in `mail/read/search.rs`. `batch.rs` splits batches and calls
//! [`handle`] for each part. All of them share `access.rs`, `request.rs` and `response.rs`.

mod access;
mod answer;
mod batch;
mod calendar;
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

use std::sync::atomic::Ordering;

use access::{access, let_in};
use calendar::context::{CalendarContext, CalendarRef};
use calendar::{answer as events, places, respond as meeting, schedule, write as event};
use daysheet_core::event::InvitationAnswer::{Accepted, Declined, Tentative};
use delta::DeltaCall;
use error::{GraphError, denied, no_segment, not_allowed};
use hyper::Method;
use hyper::header::HeaderMap;
use mail::read::list;
use mail::reply_body::ReplyKind;
use mail::{categories, contacts, drafts, folders_write, moving, rules, send, settings, upload};
use params::{PreferHeader, QueryOptions};
use percent_encoding::percent_decode_str;
use request::RequestContext;
use response::{GraphBody, GraphResponse};
use serde_json::Value;
use state::ConcurrencySlot;
use types::{ACCEPT, DECLINE};

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
    let (answer, headers) = match result {
        Ok(reply) => {
            let (kind, body) = match &reply.body {
                GraphBody::Nothing => ("", Vec::new()),
                GraphBody::Json(value) => (reply.json(), text(value)),
                GraphBody::Bytes(kind, bytes) => (*kind, bytes.clone()),
            };
            (HttpResponse::new(reply.status, kind, body), reply.headers())
        }
        Err(refusal) => {
            let body = refusal.body(&id, client, state.clock.now());
            let answer = HttpResponse::new(refusal.status, "application/json", text(&body));
            (answer, refusal.headers)
        }
    };
    let headers = headers.into_iter();
    let answer = headers.fold(answer, |answer, (name, value)| answer.with(name, value));
    answer
        .with("client-request-id", client)
        .with("cache-control", "private")
        .with("odata-version", "4.0")
        .with("request-id", id)
}

/// The permissions for one's own mailbox, and for another person's. Any one of them is enough.
type Permissions = [&'static [&'static str]; 2];

const READ_USER: Permissions = [
    &["User.Read", "User.ReadWrite", "User.ReadBasic.All", "User.Read.All"],
    &["User.ReadBasic.All", "User.Read.All"],
];
// Graph has no `.Shared` permission for settings, so another person's are always refused.
const READ_SETTINGS: Permissions = [&["MailboxSettings.Read", "MailboxSettings.ReadWrite"], &[]];
const WRITE_SETTINGS: Permissions = [&["MailboxSettings.ReadWrite"], &[]];
// `People.Read.All`, which an administrator grants, is not imitated.
const READ_PEOPLE: Permissions = [&["People.Read"], &[]];
const READ_CONTACTS: Permissions = [
    &["Contacts.Read", "Contacts.ReadWrite"],
    &["Contacts.Read.Shared", "Contacts.ReadWrite.Shared"],
];
const WRITE_CONTACTS: Permissions = [&["Contacts.ReadWrite"], &["Contacts.ReadWrite.Shared"]];
const READ_MAIL: Permissions =
    [&["Mail.Read", "Mail.ReadWrite"], &["Mail.Read.Shared", "Mail.ReadWrite.Shared"]];
const WRITE_MAIL: Permissions = [&["Mail.ReadWrite"], &["Mail.ReadWrite.Shared"]];
// Sending needs no permission to write, and writing does not include sending.
const SEND_MAIL: Permissions = [&["Mail.Send"], &["Mail.Send.Shared"]];
const READ_CALENDARS: Permissions = [
    &["Calendars.Read", "Calendars.ReadWrite"],
    &["Calendars.Read.Shared", "Calendars.ReadWrite.Shared"],
];
const WRITE_CALENDARS: Permissions = [&["Calendars.ReadWrite"], &["Calendars.ReadWrite.Shared"]];

/// The query options of single entities.
const ONE: &[&str] = &["$select"];

/// The query options of most lists.
const LIST: &[&str] = &["$select", "$top", "$skip", "$skiptoken", "$count"];

/// The query options of lists of events.
const EVENTS: &[&str] =
    &["$select", "$top", "$skip", "$skiptoken", "$count", "$filter", "$orderby"];

/// The query options of lists of messages.
const MESSAGES: &[&str] = &[
    "$select", "$expand", "$top", "$skip", "$count", "$filter", "$orderby", "$search", "$skiptoken",
];

/// A call that a route leads to.
struct GraphCall<'a> {
    permissions: Permissions,
    /// The query options. `None` if the call reads them itself.
    options: Option<&'static [&'static str]>,
    handle: GraphHandler<'a>,
}

type GraphHandler<'a> = Box<dyn Fn(&RequestContext<'_>) -> Result<GraphResponse, GraphError> + 'a>;

/// Returns a call that reads mail or the owner's data.
fn read<'a>(
    permissions: Permissions,
    options: &'static [&'static str],
    answer: impl Fn(&RequestContext<'_>) -> Result<GraphBody, GraphError> + 'a,
) -> GraphCall<'a> {
    let handle = move |context: &RequestContext<'_>| Ok(GraphResponse::new(answer(context)?));
    GraphCall { permissions, options: Some(options), handle: Box::new(handle) }
}

/// Returns a call that writes mail or the owner's data, or reports changes.
fn write<'a>(
    permissions: Permissions,
    answer: impl Fn(&RequestContext<'_>) -> Result<GraphResponse, GraphError> + 'a,
) -> GraphCall<'a> {
    GraphCall { permissions, options: None, handle: Box::new(answer) }
}

/// Returns a call that reads or writes calendars.
fn dated<'a>(
    permissions: Permissions,
    options: &'static [&'static str],
    answer: impl Fn(&mut CalendarContext<'_>) -> Result<GraphResponse, GraphError> + 'a,
) -> GraphCall<'a> {
    let handle = move |base: &RequestContext<'_>| {
        // Locked until the answer is built, so that checking `If-Match` and writing are one step.
        answer(&mut CalendarContext::new(base, &mut base.state.agenda())?)
    };
    GraphCall { permissions, options: Some(options), handle: Box::new(handle) }
}

routes! { GraphCall below "/v1.0/me" {
    "GET" [] => read(READ_USER, ONE, user::user),
    "GET" ["mailboxSettings"] => read(READ_SETTINGS, ONE, answer::settings),
    "PATCH" ["mailboxSettings"] => write(WRITE_SETTINGS, settings::change),
    "GET" ["outlook", "masterCategories"] => read(READ_SETTINGS, LIST, answer::categories),
    "POST" ["outlook", "masterCategories"] => write(WRITE_SETTINGS, categories::create),
    "PATCH" ["outlook", "masterCategories", id] => {
        write(WRITE_SETTINGS, move |it| categories::change(it, id))
    },
    "DELETE" ["outlook", "masterCategories", id] => {
        write(WRITE_SETTINGS, move |it| categories::delete(it, id))
    },
    "GET" ["people"] => read(
        READ_PEOPLE,
        &["$select", "$top", "$skip", "$skiptoken", "$search"],
        answer::people,
    ),
    "GET" ["contacts"] => read(
        READ_CONTACTS,
        &["$select", "$top", "$skip", "$count", "$filter", "$skiptoken"],
        answer::contacts,
    ),
    "POST" ["contacts"] => write(WRITE_CONTACTS, contacts::create),
    "GET" ["contacts", id] => read(READ_CONTACTS, ONE, move |it| answer::contact(it, id)),
    "PATCH" ["contacts", id] => write(WRITE_CONTACTS, move |it| contacts::change(it, id)),
    "DELETE" ["contacts", id] => write(WRITE_CONTACTS, move |it| contacts::delete(it, id)),
    "GET" ["mailFolders"] => read(READ_MAIL, LIST, |it| answer::folders(it, None)),
    "POST" ["mailFolders"] => write(WRITE_MAIL, |it| folders_write::create(it, None)),
    "GET" ["mailFolders", id] => read(READ_MAIL, ONE, move |it| answer::folder(it, id)),
    "PATCH" ["mailFolders", id] => write(WRITE_MAIL, move |it| folders_write::rename(it, id)),
    "DELETE" ["mailFolders", id] => write(WRITE_MAIL, move |it| folders_write::delete(it, id)),
    "GET" ["mailFolders", id, "childFolders"] => {
        read(READ_MAIL, LIST, move |it| answer::folders(it, Some(id)))
    },
    "POST" ["mailFolders", id, "childFolders"] => {
        write(WRITE_MAIL, move |it| folders_write::create(it, Some(id)))
    },
    "GET" ["mailFolders", id, "messages"] => {
        read(READ_MAIL, MESSAGES, move |it| list::messages(it, Some(id)))
    },
    "GET" ["mailFolders", id, "messages", "delta"] => {
        write(READ_MAIL, move |it| delta::handle(it, DeltaCall::Messages(id)))
    },
    "GET" ["mailFolders", id, "messageRules"] => {
        read(READ_SETTINGS, LIST, move |it| rules::list(it, id))
    },
    "POST" ["mailFolders", id, "messageRules"] => {
        write(WRITE_SETTINGS, move |it| rules::create(it, id))
    },
    "GET" ["mailFolders", id, "messageRules", rule] => {
        read(READ_SETTINGS, ONE, move |it| rules::read_rule(it, id, rule))
    },
    "PATCH" ["mailFolders", id, "messageRules", rule] => {
        write(WRITE_SETTINGS, move |it| rules::change(it, id, rule))
    },
    "DELETE" ["mailFolders", id, "messageRules", rule] => {
        write(WRITE_SETTINGS, move |it| rules::delete(it, id, rule))
    },
    "GET" ["messages"] => read(READ_MAIL, MESSAGES, |it| list::messages(it, None)),
    "POST" ["messages"] => write(WRITE_MAIL, drafts::create),
    "GET" ["messages", id] => {
        read(READ_MAIL, &["$select", "$expand"], move |it| answer::message(it, id))
    },
    "PATCH" ["messages", id] => write(WRITE_MAIL, move |it| drafts::change(it, id)),
    "DELETE" ["messages", id] => write(WRITE_MAIL, move |it| moving::delete(it, id)),
    "GET" ["messages", id, "$value"] => {
        read(READ_MAIL, &[], move |it| answer::raw_message(it, id))
    },
    "POST" ["messages", id, "move"] => write(WRITE_MAIL, move |it| moving::relocate(it, id)),
    "POST" ["messages", id, "copy"] => write(WRITE_MAIL, move |it| moving::copy(it, id)),
    "POST" ["messages", id, "permanentDelete"] => {
        write(WRITE_MAIL, move |it| moving::erase(it, id))
    },
    "POST" ["messages", id, "send"] => write(SEND_MAIL, move |it| send::send(it, id)),
    "POST" ["messages", id, "createReply"] => {
        write(WRITE_MAIL, move |it| drafts::answer(it, id, ReplyKind::Reply))
    },
    "POST" ["messages", id, "createReplyAll"] => {
        write(WRITE_MAIL, move |it| drafts::answer(it, id, ReplyKind::ReplyAll))
    },
    "POST" ["messages", id, "createForward"] => {
        write(WRITE_MAIL, move |it| drafts::answer(it, id, ReplyKind::Forward))
    },
    "GET" ["messages", id, "attachments"] => {
        read(READ_MAIL, LIST, move |it| answer::attachments(it, id))
    },
    "POST" ["messages", id, "attachments"] => write(WRITE_MAIL, move |it| upload::attach(it, id)),
    "POST" ["messages", id, "attachments", "createUploadSession"] => {
        write(WRITE_MAIL, move |it| upload::begin(it, id))
    },
    "GET" ["messages", id, "attachments", file] => {
        read(READ_MAIL, ONE, move |it| answer::attachment(it, id, file))
    },
    "DELETE" ["messages", id, "attachments", file] => {
        write(WRITE_MAIL, move |it| upload::detach(it, id, file))
    },
    "GET" ["messages", id, "attachments", file, "$value"] => {
        read(READ_MAIL, &[], move |it| answer::file(it, id, file))
    },
    "GET" ["calendars"] => dated(READ_CALENDARS, LIST, |it| it.calendars()),
    "POST" ["calendars"] => dated(WRITE_CALENDARS, LIST, |it| it.create_calendar()),
    "GET" ["calendars", id] => dated(READ_CALENDARS, ONE, move |it| it.calendar(id)),
    "PATCH" ["calendars", id] => dated(WRITE_CALENDARS, ONE, move |it| it.rename(id)),
    "DELETE" ["calendars", id] => dated(WRITE_CALENDARS, ONE, move |it| it.delete_calendar(id)),
    "GET" ["calendars", id, "events"] => {
        dated(READ_CALENDARS, EVENTS, move |it| events::list(it, CalendarRef::Id(id)))
    },
    "POST" ["calendars", id, "events"] => {
        dated(WRITE_CALENDARS, EVENTS, move |it| event::create(it, CalendarRef::Id(id)))
    },
    "GET" ["calendars", id, "calendarView"] => {
        dated(READ_CALENDARS, EVENTS, move |it| events::view(it, CalendarRef::Id(id)))
    },
    "GET" ["calendars", id, "calendarView", "delta"] => {
        write(READ_CALENDARS, move |it| delta::handle(it, DeltaCall::View(CalendarRef::Id(id))))
    },
    "GET" ["calendarView"] => {
        dated(READ_CALENDARS, EVENTS, |it| events::view(it, CalendarRef::Any))
    },
    "GET" ["calendarView", "delta"] => {
        write(READ_CALENDARS, |it| delta::handle(it, DeltaCall::View(CalendarRef::Any)))
    },
    // `getSchedule` only reads, although it is a POST.
    "POST" ["calendar", "getSchedule"] => {
        dated(READ_CALENDARS, &[], |it| schedule::schedules(it))
    },
    "GET" ["events"] => dated(READ_CALENDARS, EVENTS, |it| events::list(it, CalendarRef::Any)),
    "POST" ["events"] => dated(WRITE_CALENDARS, EVENTS, |it| event::create(it, CalendarRef::Any)),
    "GET" ["events", id] => dated(READ_CALENDARS, ONE, move |it| events::event(it, id)),
    "PATCH" ["events", id] => dated(WRITE_CALENDARS, ONE, move |it| event::update(it, id)),
    "DELETE" ["events", id] => dated(WRITE_CALENDARS, ONE, move |it| event::delete(it, id)),
    "GET" ["events", id, "instances"] => {
        dated(READ_CALENDARS, EVENTS, move |it| events::instances(it, id))
    },
    "POST" ["events", id, "accept"] => {
        dated(WRITE_CALENDARS, &[], move |it| meeting::respond(it, id, Accepted, &ACCEPT))
    },
    "POST" ["events", id, "decline"] => {
        dated(WRITE_CALENDARS, &[], move |it| meeting::respond(it, id, Declined, &DECLINE))
    },
    "POST" ["events", id, "tentativelyAccept"] => {
        dated(WRITE_CALENDARS, &[], move |it| meeting::respond(it, id, Tentative, &DECLINE))
    },
    "POST" ["events", id, "cancel"] => {
        dated(WRITE_CALENDARS, &[], move |it| meeting::cancel(it, id))
    },
    "POST" ["events", id, "forward"] => {
        dated(WRITE_CALENDARS, &[], move |it| meeting::forward(it, id))
    },
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
        ["places", "microsoft.graph.room"] => return rooms(state, request),
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
    // Exchange sends deferred messages by itself. The sandbox has no timer, so it catches up before
    // a request can see the difference.
    send::send_due(state);
    let store = let_in(state, &access, user, call.permissions)?;
    let options = call.options.map(|known| QueryOptions::read(request, known)).transpose()?;
    let (options, prefer) = (&options.unwrap_or_default(), &PreferHeader::read(request));
    let context = RequestContext { state, request, access: &access, store, options, prefer };
    let reply = (call.handle)(&context)?;
    // Counted only on success: tests that check the coverage of routes must not count refusals.
    state.hit(name);
    Ok(GraphResponse { applied: prefer.applied.clone(), ..reply }.heeding(request))
}

/// Answers with the tenant's rooms, which need an administrator's consent.
fn rooms(state: &RequestState, request: &HttpRequest) -> Result<GraphResponse, GraphError> {
    if request.method != Method::GET {
        return Err(not_allowed());
    }
    // `Place.Read.All` needs an administrator, whom the sandbox does not have; a switch takes their
    // place.
    if !state.graph.rooms.load(Ordering::Relaxed) {
        return Err(denied());
    }
    let options = QueryOptions::read(request, &["$select", "$top", "$skip", "$count", "$filter"])?;
    state.hit(ROOMS);
    Ok(GraphResponse::new(places::rooms(request, &options)))
}
