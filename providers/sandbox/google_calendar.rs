//! The Google Calendar API's routes: authorisation, parsing, and the answer.
//!
//! Events are listed in `list.rs`, written in `write.rs` and shown in `event.rs`; calendars are in
//! `calendars.rs` and busy times in `busy.rs`. Access control lists, push channels, `quickAdd` and
//! changes of calendar list entries are not supported.

mod busy;
mod calendars;
mod error;
mod event;
mod list;
mod pages;
mod parts;
mod read;
mod shape;
mod write;

use std::sync::atomic::Ordering;

use calendars as lists;
use error as refuse;
use hyper::StatusCode;
use read::object;
use serde_json::{Map, Value};
use shape::{READ_ENTRIES, WRITE_CALENDARS, WRITE_EVENTS};
use write::CalendarWrite;

use super::auth::google::bearer;
use super::google::error as google_error;
use super::google::fields::{FieldShape, shape};
use super::google::params::RequestParameters;
use super::http::{HttpRequest, HttpResponse};
use super::routes::routes;
use super::state::RequestState;
use super::store::calendars::{SandboxCalendars, StoredCalendar};

/// The API's own name in its errors.
const SERVICE: &str = "calendar-json.googleapis.com";

/// The body of a free/busy query.
static BUSY_BODY: FieldShape = shape! {
    "timeMin", "timeMax", "timeZone", "items", "calendarExpansionMax",
};

/// A call that a route leads to.
struct GoogleCalendarCall<'a> {
    /// The scopes, one of which is required.
    scopes: &'static [&'static str],
    /// The parameters.
    params: &'static [&'static str],
    /// The type of the answer.
    answer: &'static FieldShape,
    /// The implementation. Null is an answer without a body.
    handle: CalendarHandler<'a>,
}

type CalendarHandler<'a> = Box<
    dyn Fn(&GoogleCalendarContext<'_>, &mut SandboxCalendars) -> Result<Value, HttpResponse> + 'a,
>;

fn call<'a>(
    scopes: &'static [&'static str],
    params: &'static [&'static str],
    answer: &'static FieldShape,
    handle: impl Fn(&GoogleCalendarContext<'_>, &mut SandboxCalendars) -> Result<Value, HttpResponse>
    + 'a,
) -> GoogleCalendarCall<'a> {
    GoogleCalendarCall { scopes, params, answer, handle: Box::new(handle) }
}

routes! { GoogleCalendarCall below "/calendar/v3" {
    "GET" ["users", "me", "calendarList"] => {
        call(READ_ENTRIES, shape::ENTRIES_LIST, &shape::ENTRIES, |context, agenda| {
            lists::entries(agenda, context.me, context.params)
        })
    },
    "GET" ["users", "me", "calendarList", id] => {
        call(READ_ENTRIES, &[], &shape::ENTRY, move |context, agenda| {
            Ok(lists::entry(agenda.at(context.calendar(agenda, id)?)?))
        })
    },
    "POST" ["freeBusy"] => call(shape::READ_BUSY, &[], &shape::BUSY, |context, agenda| {
        busy::query(agenda, context.me, &context.body(&BUSY_BODY)?)
    }),
    "POST" ["calendars"] => call(WRITE_CALENDARS, &[], &shape::CALENDAR, |context, agenda| {
        let body = context.body(&shape::CALENDAR)?;
        let place = lists::insert(agenda, context.me, &body)?;
        Ok(lists::calendar(agenda.at(place)?))
    }),
    "PATCH" ["calendars", id] => {
        call(WRITE_CALENDARS, &[], &shape::CALENDAR, move |context, agenda| {
            let place = context.calendar(agenda, id)?;
            let body = context.body(&shape::CALENDAR)?;
            lists::change(agenda, place, &body)?;
            Ok(lists::calendar(agenda.at(place)?))
        })
    },
    "DELETE" ["calendars", id] => {
        call(WRITE_CALENDARS, &[], &shape::NOTHING, move |context, agenda| {
            let place = context.calendar(agenda, id)?;
            lists::delete(agenda, place).map(|()| Value::Null)
        })
    },
    "GET" ["calendars", id, "events"] => {
        call(shape::READ_EVENTS, shape::LIST, &shape::EVENTS, move |context, agenda| {
            let place = context.calendar(agenda, id)?;
            list::events(agenda, place, agenda.at(place)?, context.params, context.epoch)
        })
    },
    "GET" ["calendars", id, "events", event, "instances"] => {
        call(shape::READ_EVENTS, shape::INSTANCES, &shape::EVENTS, move |context, agenda| {
            let place = context.calendar(agenda, id)?;
            list::instances(agenda, place, event, context.params)
        })
    },
    "POST" ["calendars", id, "events"] => {
        call(WRITE_EVENTS, shape::WRITE, &shape::EVENT, move |context, agenda| {
            context.write(agenda, id)?.insert()
        })
    },
    "POST" ["calendars", id, "events", "import"] => {
        call(WRITE_EVENTS, shape::IMPORT, &shape::EVENT, move |context, agenda| {
            context.write(agenda, id)?.import()
        })
    },
    "GET" ["calendars", id, "events", event] => {
        call(shape::READ_EVENTS, &[], &shape::EVENT, move |context, agenda| {
            context.get(agenda, id, event)
        })
    },
    "PATCH" ["calendars", id, "events", event] => {
        call(WRITE_EVENTS, shape::WRITE, &shape::EVENT, move |context, agenda| {
            context.write(agenda, id)?.patch(event)
        })
    },
    "PUT" ["calendars", id, "events", event] => {
        call(WRITE_EVENTS, shape::WRITE, &shape::EVENT, move |context, agenda| {
            context.write(agenda, id)?.update(event)
        })
    },
    "DELETE" ["calendars", id, "events", event] => {
        call(WRITE_EVENTS, shape::DELETE, &shape::NOTHING, move |context, agenda| {
            context.write(agenda, id)?.delete(event).map(|()| Value::Null)
        })
    },
}}

/// Answers requests below `/calendar`.
pub(super) fn answer(state: &RequestState, request: &HttpRequest, path: &[&str]) -> HttpResponse {
    handle(state, request, path).unwrap_or_else(|refused| refused)
}

/// Answers a request, or refuses it.
fn handle(
    state: &RequestState,
    request: &HttpRequest,
    path: &[&str],
) -> Result<HttpResponse, HttpResponse> {
    let ["v3", rest @ ..] = path else {
        return Err(google_error::no_method());
    };
    let (name, call) = route(request.method.as_str(), rest).ok_or_else(google_error::no_method)?;
    let (mailbox, access) = bearer(state, request)?;
    if !call.scopes.iter().any(|name| access.has(name)) {
        return Err(google_error::insufficient_scopes(SERVICE));
    }
    let params = RequestParameters::check(&request.query, call.params, call.answer)?;
    // Locked for the whole request: a write compares etags before it changes anything.
    let mut agenda = state.agenda();
    let epoch = state.sync_epoch.load(Ordering::Relaxed);
    let context = GoogleCalendarContext { me: &mailbox.address, request, params: &params, epoch };
    let value = (call.handle)(&context, &mut agenda)?;
    state.hit(name);
    if value.is_null() {
        return Ok(HttpResponse::json(StatusCode::NO_CONTENT, Vec::new()));
    }
    // Read before the mask, which may remove the etag from the body.
    let tag = value.get("etag").and_then(Value::as_str).map(str::to_owned);
    let answer = params.answer(value);
    Ok(match tag {
        Some(tag) => answer.with("etag", tag),
        None => answer,
    })
}

/// A request that passed all checks.
struct GoogleCalendarContext<'a> {
    me: &'a str,
    request: &'a HttpRequest,
    params: &'a RequestParameters<'a>,
    epoch: u64,
}

impl GoogleCalendarContext<'_> {
    /// Returns an event or occurrence, deleted ones included.
    fn get(
        &self,
        agenda: &SandboxCalendars,
        calendar: &str,
        id: &str,
    ) -> Result<Value, HttpResponse> {
        let place = self.calendar(agenda, calendar)?;
        let view = list::view(agenda, agenda.at(place)?);
        // A deleted event remains readable by its id, as `cancelled`.
        if let Some(event) = agenda.find(place, id).and_then(|place| agenda.event(place)) {
            return Ok(view.event(event));
        }
        let found = agenda.instance(place, id).ok_or_else(refuse::not_found)?;
        Ok(view.event(&found.event))
    }

    /// Returns the place of the calendar with an id.
    fn calendar(&self, agenda: &SandboxCalendars, id: &str) -> Result<usize, HttpResponse> {
        let place = match id {
            "primary" => agenda.main_of(self.me),
            _ => agenda.calendar_by_id(self.me, id),
        };
        place.ok_or_else(refuse::not_found)
    }

    fn write<'b>(
        &'b self,
        agenda: &'b mut SandboxCalendars,
        id: &str,
    ) -> Result<CalendarWrite<'b>, HttpResponse> {
        let at = self.calendar(agenda, id)?;
        let calendar = agenda.at(at)?.clone();
        Ok(CalendarWrite { agenda, at, calendar, request: self.request, params: self.params })
    }

    fn body(&self, shape: &FieldShape) -> Result<Map<String, Value>, HttpResponse> {
        object(&self.request.body, shape)
    }
}

impl SandboxCalendars {
    /// Returns the calendar at a place, or a refusal.
    fn at(&self, place: usize) -> Result<&StoredCalendar, HttpResponse> {
        self.calendar(place).ok_or_else(refuse::not_found)
    }
}
