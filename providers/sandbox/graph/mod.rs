//! Microsoft Graph's routes: who may ask, what was asked, and the answer.
//!
//! What is read of mail and its folders, and of what belongs to a mailbox's
//! owner, is answered here; what is written goes to `mail/mod.rs`, and
//! calendars go to `calendar/mod.rs`. The JSON is made in `mail/read/message.rs` and its neighbours; `$filter` is
//! read in `filter.rs` and decided in `mail/read/matching.rs`, `$search` in
//! `mail/read/search/mod.rs` and `mail/read/search/found.rs`. Batches are taken apart in
//! `batch.rs` and come back here, item by item.

mod answer;
mod batch;
mod calendar;
mod delta;
pub(super) mod error;
pub(super) mod exchange;
mod filter;
mod ids;
mod mail;
mod pages;
mod params;
mod people;
pub(super) mod state;
mod types;
mod user;
mod zones;

use hyper::header::HeaderMap;
use hyper::{Method, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::auth::tokens::{Access, Issuer};
use super::faults::Fault;
use super::http::{Answer, Request};
use super::state::State;
use answer::Asked;
use calendar::places;
use error::{Refusal, denied, invalid_user, no_segment, not_allowed};
use exchange::Store;
use mail::rules;
use mail::send;
use mail::upload;
use params::{Options, Prefer};
use state::Place;
use zones::windows_name;

/// The media type of JSON, as Graph writes it.
pub(super) const JSON: &str = "application/json; odata.metadata=minimal; odata.streaming=true; \
                    IEEE754Compatible=false; charset=utf-8";

/// The options of lists of messages.
const MESSAGES: &[&str] = &[
    "$select",
    "$top",
    "$skip",
    "$count",
    "$filter",
    "$orderby",
    "$search",
    "$skiptoken",
    "$expand",
];

/// The options of other lists.
const LIST: &[&str] = &["$select", "$top", "$skip", "$count", "$filter", "$skiptoken"];

/// A method of the API, with the ids of its path.
pub(crate) enum Call<'a> {
    User,
    Settings(Option<&'a str>),
    Zones(&'a str),
    Categories,
    Category(&'a str),
    Contacts,
    Contact(&'a str),
    Rules(&'a str),
    Rule(&'a str, &'a str),
    People,
    Folders(Option<&'a str>),
    Folder(&'a str),
    Messages(Option<&'a str>),
    Message(&'a str, Part<'a>),
}

/// What is wanted of a message.
pub(crate) enum Part<'a> {
    Itself,
    Raw,
    Attachments,
    Attachment(&'a str),
    File(&'a str),
}

impl<'a> Call<'a> {
    /// The method of a path below the user; `Err` names what leads nowhere.
    fn of(path: &[&'a str]) -> Result<(Self, Option<&'a str>), &'a str> {
        let call = match path {
            [] => Self::User,
            ["mailboxSettings"] => Self::Settings(None),
            ["mailboxSettings", name @ ("timeZone" | "workingHours" | "language")] => {
                Self::Settings(Some(name))
            }
            ["outlook", zones] if places::is_zones(zones) => Self::Zones(zones),
            ["outlook", "masterCategories"] => Self::Categories,
            ["outlook", "masterCategories", id] => Self::Category(id),
            ["contacts"] => Self::Contacts,
            ["contacts", id] => Self::Contact(id),
            ["mailFolders", folder, "messageRules"] => Self::Rules(folder),
            ["mailFolders", folder, "messageRules", id] => Self::Rule(folder, id),
            ["people"] => Self::People,
            ["mailFolders"] => Self::Folders(None),
            ["mailFolders", folder] => Self::Folder(folder),
            ["mailFolders", folder, "childFolders"] => Self::Folders(Some(folder)),
            ["mailFolders", folder, "messages"] => Self::Messages(Some(folder)),
            ["mailFolders", folder, "messages", id, rest @ ..] => {
                return Ok((Self::Message(id, Part::of(rest)?), Some(folder)));
            }
            ["messages"] => Self::Messages(None),
            ["messages", id, rest @ ..] => Self::Message(id, Part::of(rest)?),
            [first, ..] => return Err(first),
        };
        Ok((call, None))
    }

    /// The permissions of which one is enough, for one's own mailbox and for
    /// another's.
    fn permissions(&self) -> [&'static [&'static str]; 2] {
        match self {
            Self::User => [
                &["User.Read", "User.ReadWrite", "User.ReadBasic.All", "User.Read.All"],
                &["User.ReadBasic.All", "User.Read.All"],
            ],
            Self::Zones(_) => {
                [&["User.Read", "User.ReadBasic.All"], &["User.ReadBasic.All", "User.Read.All"]]
            }
            Self::Settings(_)
            | Self::Categories
            | Self::Category(_)
            | Self::Rules(_)
            | Self::Rule(..) => [&["MailboxSettings.Read", "MailboxSettings.ReadWrite"], &[]],
            Self::Contacts | Self::Contact(_) => [
                &["Contacts.Read", "Contacts.ReadWrite"],
                &["Contacts.Read.Shared", "Contacts.ReadWrite.Shared"],
            ],
            Self::People => [&["People.Read"], &[]],
            Self::Folders(_) | Self::Folder(_) | Self::Messages(_) | Self::Message(..) => {
                [&["Mail.Read", "Mail.ReadWrite"], &["Mail.Read.Shared", "Mail.ReadWrite.Shared"]]
            }
        }
    }

    /// The options it takes.
    fn options(&self) -> &'static [&'static str] {
        match self {
            Self::User
            | Self::Settings(_)
            | Self::Folder(_)
            | Self::Category(_)
            | Self::Contact(_)
            | Self::Rule(..) => &["$select"],
            Self::Zones(_) => &[],
            Self::Categories | Self::Rules(_) => {
                &["$select", "$top", "$skip", "$skiptoken", "$count"]
            }
            Self::Contacts | Self::Folders(_) => LIST,
            Self::People => &["$select", "$top", "$skip", "$skiptoken", "$search"],
            Self::Messages(_) => MESSAGES,
            Self::Message(_, Part::Itself) => &["$select", "$expand"],
            Self::Message(_, Part::Attachments) => {
                &["$select", "$top", "$skip", "$skiptoken", "$count"]
            }
            Self::Message(_, Part::Attachment(_)) => &["$select"],
            Self::Message(_, Part::Raw | Part::File(_)) => &[],
        }
    }
}

impl<'a> Part<'a> {
    fn of(path: &[&'a str]) -> Result<Self, &'a str> {
        match path {
            [] => Ok(Self::Itself),
            ["$value"] => Ok(Self::Raw),
            ["attachments"] => Ok(Self::Attachments),
            ["attachments", id] => Ok(Self::Attachment(id)),
            ["attachments", id, "$value"] => Ok(Self::File(id)),
            [first, ..] => Err(first),
        }
    }
}

/// An answer, before it is known whether a batch is around it.
pub(crate) struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub body: Body,
    /// Where what was created stands.
    pub location: Option<String>,
    /// The preferences that were heard.
    pub applied: Vec<String>,
}

impl Reply {
    /// An answer with nothing special to it.
    pub fn of(body: Body) -> Self {
        Self { status: StatusCode::OK, body, location: None, applied: Vec::new() }
    }

    /// An answer that says no more than that all went well.
    pub fn done(status: StatusCode) -> Self {
        Self { status, ..Self::of(Body::Nothing) }
    }
}

/// The body of an answer.
pub(crate) enum Body {
    Nothing,
    Json(Value),
    /// Bytes of a media type.
    Bytes(&'static str, Vec<u8>),
}

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

/// Windows' name of the zone that a mailbox's owner is in: the one they chose,
/// or that of their main calendar.
pub(super) fn mailbox_zone(state: &State, store: Store<'_>) -> String {
    let chosen = store.with(|office| {
        let zone = office.settings.get("timeZone").and_then(Value::as_str);
        zone.map(str::to_owned)
    });
    if let Some(zone) = chosen {
        return zone;
    }
    let agenda = state.agenda();
    let main = agenda.main_of(&store.mailbox.address);
    let zone = main.and_then(|place| agenda.calendar(place));
    windows_name(zone.map_or("UTC", |calendar| &calendar.zone)).to_owned()
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

/// The bearer's token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get("authorization")?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// What the token of a request allows. It has to be Microsoft's.
pub(super) fn access(state: &State, headers: &HeaderMap) -> Result<Access, Refusal> {
    let token = bearer(headers).unwrap_or_default();
    let access = state.sign_in().access(token);
    access
        .filter(|access| access.issuer == Issuer::Microsoft)
        .ok_or_else(|| error::unauthenticated(token))
}

/// The mailbox that a token opens under the name of `user`: its own, or
/// another, where it may see what others share.
pub(super) fn let_in<'a>(
    state: &'a State,
    access: &Access,
    user: Option<&str>,
    [own, shared]: [&[&str]; 2],
) -> Result<Store<'a>, Refusal> {
    let own_store = Store::of(state, &access.mailbox);
    let own_store = own_store.ok_or_else(|| invalid_user(&access.mailbox))?;
    let (store, needed) = match user {
        None => (own_store, own),
        Some(user) if user == own_store.ids().mailbox() => (own_store, own),
        Some(user) => {
            let store = Store::of(state, user).ok_or_else(|| invalid_user(user))?;
            let mine = store.mailbox.address == own_store.mailbox.address;
            (store, if mine { own } else { shared })
        }
    };
    let granted = needed.iter().any(|name| access.has(name));
    match granted {
        true => Ok(store),
        false => Err(denied()),
    }
}
