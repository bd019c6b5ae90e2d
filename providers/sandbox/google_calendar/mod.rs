//! The Google Calendar API's routes: who may ask, what was asked, and the
//! answer.
//!
//! Events are listed in `list.rs`, written in
//! `write.rs` and shown in `event.rs`; calendars
//! are in `calendars.rs` and busy times in
//! `busy.rs`. Not here: access control lists, channels for
//! pushing changes, `quickAdd`, and what changes an entry of the calendar list.

mod busy;
mod calendars;
mod error;
mod event;
mod filter;
mod list;
mod pages;
mod parts;
mod read;
mod shape;
mod write;

use hyper::{Method, StatusCode};
use serde_json::{Map, Value};

use super::auth::google::bearer;
use super::google::error as google_error;
use super::google::fields::Shape;
use super::google::params::Params;
use super::http::{Answer, Request};
use super::state::State;
use super::store::agenda::{Agenda, Calendar};
use calendars as lists;
use error as refuse;
use read::object;
use write::Write;

/// The API's own name, in its errors.
const SERVICE: &str = "calendar-json.googleapis.com";

/// The body of a question for busy times.
static BUSY_BODY: Shape = Shape(&[
    ("timeMin", None),
    ("timeMax", None),
    ("timeZone", None),
    ("items", None),
    ("calendarExpansionMax", None),
    ("groupExpansionMax", None),
]);

/// A method of the API, with the ids of its path.
#[derive(Clone, Copy)]
enum Call<'a> {
    Entries,
    Entry(&'a str),
    Settings,
    Setting(&'a str),
    Colours,
    Busy,
    NewCalendar,
    Calendar(&'a str),
    ChangeCalendar(&'a str, bool),
    DeleteCalendar(&'a str),
    Events(&'a str),
    Insert(&'a str),
    Import(&'a str),
    Get(&'a str, &'a str),
    Patch(&'a str, &'a str),
    Update(&'a str, &'a str),
    Delete(&'a str, &'a str),
    Instances(&'a str, &'a str),
    Move(&'a str, &'a str),
}

impl<'a> Call<'a> {
    /// The method that a request means.
    fn of(method: &Method, path: &[&'a str]) -> Option<Self> {
        let get = || *method == Method::GET;
        let post = || *method == Method::POST;
        Some(match path {
            ["users", "me", "calendarList"] if get() => Self::Entries,
            ["users", "me", "calendarList", id] if get() => Self::Entry(id),
            ["users", "me", "settings"] if get() => Self::Settings,
            ["users", "me", "settings", id] if get() => Self::Setting(id),
            ["colors"] if get() => Self::Colours,
            ["freeBusy"] if post() => Self::Busy,
            ["calendars"] if post() => Self::NewCalendar,
            ["calendars", id] => match *method {
                Method::GET => Self::Calendar(id),
                Method::PATCH => Self::ChangeCalendar(id, false),
                Method::PUT => Self::ChangeCalendar(id, true),
                Method::DELETE => Self::DeleteCalendar(id),
                _ => return None,
            },
            ["calendars", calendar, "events"] if get() => Self::Events(calendar),
            ["calendars", calendar, "events"] if post() => Self::Insert(calendar),
            ["calendars", calendar, "events", "import"] if post() => Self::Import(calendar),
            ["calendars", calendar, "events", id] => match *method {
                Method::GET => Self::Get(calendar, id),
                Method::PATCH => Self::Patch(calendar, id),
                Method::PUT => Self::Update(calendar, id),
                Method::DELETE => Self::Delete(calendar, id),
                _ => return None,
            },
            ["calendars", calendar, "events", id, "instances"] if get() => {
                Self::Instances(calendar, id)
            }
            ["calendars", calendar, "events", id, "move"] if post() => Self::Move(calendar, id),
            _ => return None,
        })
    }

    /// The parameters a method takes, the type of its answer, and the scopes of
    /// which it needs one.
    fn contract(self) -> (&'static [&'static str], &'static Shape, &'static [&'static str]) {
        match self {
            Self::Entries => (shape::ENTRIES_LIST, &shape::ENTRIES, shape::READ_ENTRIES),
            Self::Entry(_) => (&[], &shape::ENTRY, shape::READ_ENTRIES),
            Self::Settings => (shape::ENTRIES_LIST, &shape::SETTINGS, shape::READ_SETTINGS),
            Self::Setting(_) => (&[], &shape::SETTING, shape::READ_SETTINGS),
            Self::Colours => (&[], &shape::COLOURS, shape::READ_COLOURS),
            Self::Busy => (&[], &shape::BUSY, shape::READ_BUSY),
            Self::Calendar(_) => (&[], &shape::CALENDAR, shape::READ_CALENDARS),
            Self::NewCalendar | Self::ChangeCalendar(..) => {
                (&[], &shape::CALENDAR, shape::WRITE_CALENDARS)
            }
            Self::DeleteCalendar(_) => (&[], &shape::NOTHING, shape::WRITE_CALENDARS),
            Self::Events(_) => (shape::LIST, &shape::EVENTS, shape::READ_EVENTS),
            Self::Instances(..) => (shape::INSTANCES, &shape::EVENTS, shape::READ_EVENTS),
            Self::Get(..) => (shape::GET, &shape::EVENT, shape::READ_EVENTS),
            Self::Insert(_) | Self::Patch(..) | Self::Update(..) => {
                (shape::WRITE, &shape::EVENT, shape::WRITE_EVENTS)
            }
            Self::Import(_) => (shape::IMPORT, &shape::EVENT, shape::WRITE_EVENTS),
            Self::Delete(..) => (shape::DELETE, &shape::NOTHING, shape::WRITE_EVENTS),
            Self::Move(..) => (shape::MOVE, &shape::EVENT, shape::WRITE_EVENTS),
        }
    }
}

/// Answers what comes below `/calendar`.
pub(super) fn answer(state: &State, request: &Request, path: &[&str]) -> Answer {
    carry_out(state, request, path).unwrap_or_else(|refused| refused)
}

/// Answers a request, or refuses it.
fn carry_out(state: &State, request: &Request, path: &[&str]) -> Result<Answer, Answer> {
    let ["v3", rest @ ..] = path else {
        return Err(google_error::no_method());
    };
    let call = Call::of(&request.method, rest).ok_or_else(google_error::no_method)?;
    let (mailbox, access) = bearer(state, request)?;
    let (known, shape, scopes) = call.contract();
    let granted = |name: &&str| {
        let full = format!("https://www.googleapis.com/auth/{name}");
        access.scope.split(' ').any(|scope| scope == full)
    };
    if !scopes.iter().any(granted) {
        return Err(google_error::insufficient_scopes(SERVICE));
    }
    let params = Params::check(&request.query, known, shape)?;
    let mut agenda = state.agenda();
    let desk = Desk { me: &mailbox.address, request, params: &params, epoch: state.sync_epoch() };
    match desk.value(&mut agenda, call)? {
        Some(value) => {
            let tag = value.get("etag").and_then(Value::as_str).map(str::to_owned);
            let answer = params.answer(value);
            Ok(match tag {
                Some(tag) => answer.with("etag", tag),
                None => answer,
            })
        }
        None => Ok(Answer::json(StatusCode::NO_CONTENT, Vec::new())),
    }
}

/// Where one request is answered.
struct Desk<'a> {
    me: &'a str,
    request: &'a Request,
    params: &'a Params<'a>,
    epoch: u64,
}

impl Desk<'_> {
    /// What a call gives; nothing where the API answers without a body.
    fn value(&self, agenda: &mut Agenda, call: Call<'_>) -> Result<Option<Value>, Answer> {
        let value = match call {
            Call::Entries => lists::entries(agenda, self.me, self.params, self.epoch)?,
            Call::Entry(id) => lists::entry(agenda.at(self.calendar(agenda, id)?)?),
            Call::Settings => lists::settings(agenda, self.me),
            Call::Setting(id) => lists::setting(agenda, self.me, id)?,
            Call::Colours => lists::colours(),
            Call::Busy => busy::query(agenda, self.me, &self.body(&BUSY_BODY)?)?,
            Call::NewCalendar => {
                let body = self.body(&shape::CALENDAR)?;
                let place = lists::insert(agenda, self.me, &body)?;
                lists::calendar(agenda.at(place)?)
            }
            Call::Calendar(id) => lists::calendar(agenda.at(self.calendar(agenda, id)?)?),
            Call::ChangeCalendar(id, whole) => {
                let place = self.calendar(agenda, id)?;
                let body = self.body(&shape::CALENDAR)?;
                lists::change(agenda, place, &body, whole)?;
                lists::calendar(agenda.at(place)?)
            }
            Call::DeleteCalendar(id) => {
                let place = self.calendar(agenda, id)?;
                lists::delete(agenda, place)?;
                return Ok(None);
            }
            Call::Events(id) => {
                let place = self.calendar(agenda, id)?;
                list::events(agenda, place, agenda.at(place)?, self.params, self.epoch)?
            }
            Call::Instances(id, event) => {
                let place = self.calendar(agenda, id)?;
                let series = agenda.find(place, event).ok_or_else(refuse::not_found)?;
                list::instances(agenda, place, agenda.at(place)?, series, self.params)?
            }
            Call::Get(id, event) => self.get(agenda, id, event)?,
            Call::Insert(id) => self.write(agenda, id)?.insert()?,
            Call::Import(id) => self.write(agenda, id)?.import()?,
            Call::Patch(id, event) => self.write(agenda, id)?.patch(event)?,
            Call::Update(id, event) => self.write(agenda, id)?.update(event)?,
            Call::Delete(id, event) => {
                self.write(agenda, id)?.delete(event)?;
                return Ok(None);
            }
            Call::Move(id, event) => {
                let missing = || refuse::required("Missing required parameter: destination");
                let other = self.params.one("destination").ok_or_else(missing)?;
                let other = self.calendar(agenda, other)?;
                self.write(agenda, id)?.move_to(event, other)?
            }
        };
        Ok(Some(value))
    }

    /// An event or an occurrence, gone or not.
    fn get(&self, agenda: &Agenda, calendar: &str, id: &str) -> Result<Value, Answer> {
        let place = self.calendar(agenda, calendar)?;
        let view = list::view(agenda, agenda.at(place)?, self.params)?;
        if let Some(event) = agenda.find(place, id).and_then(|place| agenda.event(place)) {
            return Ok(view.event(event));
        }
        let found = agenda.instance(place, id).ok_or_else(refuse::not_found)?;
        Ok(view.event(&found.event))
    }

    /// The place of the calendar of an id.
    fn calendar(&self, agenda: &Agenda, id: &str) -> Result<usize, Answer> {
        let place = match id {
            "primary" => agenda.main_of(self.me),
            _ => agenda.calendar_by_id(self.me, id),
        };
        place.ok_or_else(refuse::not_found)
    }

    fn write<'b>(&'b self, agenda: &'b mut Agenda, id: &str) -> Result<Write<'b>, Answer> {
        let at = self.calendar(agenda, id)?;
        let calendar = agenda.at(at)?.clone();
        Ok(Write { agenda, at, calendar, request: self.request, params: self.params })
    }

    fn body(&self, shape: &Shape) -> Result<Map<String, Value>, Answer> {
        object(&self.request.body, shape)
    }
}

impl Agenda {
    /// The calendar at a place, or the refusal that there is none.
    fn at(&self, place: usize) -> Result<&Calendar, Answer> {
        self.calendar(place).ok_or_else(refuse::not_found)
    }
}
