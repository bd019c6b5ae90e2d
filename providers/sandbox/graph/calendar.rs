//! Graph's calendars: the handlers of requests for them, and the calendars themselves. Events are
//! answered in `answer.rs`.

pub(super) mod answer;
mod body;
pub(super) mod context;
pub(super) mod draft;
pub(super) mod event;
mod filter;
pub(super) mod places;
mod recurrence;
pub(super) mod respond;
mod schedule;
pub(super) mod shown;
mod write;

use context::{CalendarContext, CalendarRef};
use hyper::{Method, StatusCode};
use respond::MeetingAction;
use serde_json::{Map, Value, json};

use super::access;
use super::error::{
    GraphError, denied, folder_exists, invalid_property, invalid_request, not_found,
};
use super::params::{PreferHeader, QueryOptions};
use super::people::object;
use super::request::RequestContext;
use super::response::{GraphBody, GraphResponse};
use super::types::CALENDAR;
use super::types::read::read;
use super::zones::RequestedZone;
use crate::auth::tokens;
use crate::http::HttpRequest;
use crate::state::RequestState;
use crate::store::calendars::{self, CalendarAccess};

/// A method of the API, with the ids in its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CalendarCall<'a> {
    Calendars,
    Calendar(&'a str),
    Events(CalendarRef<'a>),
    View(CalendarRef<'a>),
    Event(&'a str),
    Instances(&'a str),
    Schedules,
    Action(&'a str, MeetingAction),
}

impl CalendarCall<'_> {
    /// Returns the permissions for one's own mailbox and for another person's. Any one of them is
    /// enough.
    fn permissions(&self, method: &Method) -> [&'static [&'static str]; 2] {
        // `getSchedule` only reads, although it is a POST.
        if *method == Method::GET || *self == Self::Schedules {
            [
                &["Calendars.Read", "Calendars.ReadWrite"],
                &["Calendars.Read.Shared", "Calendars.ReadWrite.Shared"],
            ]
        } else {
            [&["Calendars.ReadWrite"], &["Calendars.ReadWrite.Shared"]]
        }
    }

    /// Returns the query options that the method takes.
    fn options(&self) -> &'static [&'static str] {
        match self {
            Self::Calendars => &["$select", "$top", "$skip", "$count", "$skiptoken"],
            Self::Events(_) | Self::View(_) | Self::Instances(_) => {
                &["$select", "$top", "$skip", "$count", "$skiptoken", "$filter", "$orderby"]
            }
            Self::Calendar(_) | Self::Event(_) => &["$select"],
            Self::Action(..) | Self::Schedules => &[],
        }
    }
}

/// Answers a request for calendars.
pub(super) fn handle(
    state: &RequestState,
    request: &HttpRequest,
    user: Option<&str>,
    access: &tokens::TokenAccess,
    call: &CalendarCall<'_>,
) -> Result<GraphResponse, GraphError> {
    let store = access::let_in(state, access, user, call.permissions(&request.method))?;
    let options = QueryOptions::read(request, call.options())?;
    let prefer = PreferHeader::read(request);
    let zone = prefer.zone.as_deref().map(RequestedZone::from_name).transpose()?;
    let base = RequestContext { state, request, store, options: &options, prefer: &prefer };
    // Locked until the answer is built, so that checking `If-Match` and writing are one step.
    let mut agenda = state.agenda();
    let mut context = CalendarContext {
        base: &base,
        agenda: &mut agenda,
        zone: zone.unwrap_or_else(RequestedZone::utc),
    };
    let reply = context.handle(call)?;
    Ok(GraphResponse { applied: prefer.applied, ..reply })
}

impl CalendarContext<'_> {
    fn handle(&mut self, call: &CalendarCall<'_>) -> Result<GraphResponse, GraphError> {
        let method = &self.base.request.method;
        let creates = method == Method::POST;
        let body = match *call {
            CalendarCall::Calendars if creates => return self.create_calendar(),
            CalendarCall::Events(at) if creates => return write::create(self, at),
            CalendarCall::Calendar(id) if method == Method::PATCH => return self.rename(id),
            CalendarCall::Calendar(id) if method == Method::DELETE => {
                return self.delete_calendar(id);
            }
            CalendarCall::Event(id) if method == Method::PATCH => {
                return write::update(self, id);
            }
            CalendarCall::Event(id) if method == Method::DELETE => {
                return write::delete(self, id);
            }
            CalendarCall::Action(id, action) => return respond::handle(self, id, action),
            CalendarCall::Schedules => return schedule::schedules(self),
            CalendarCall::Calendars => self.calendars()?,
            CalendarCall::Calendar(id) => {
                let place = self.calendar_at(CalendarRef::Id(id))?;
                self.calendar(place)?
            }
            CalendarCall::Events(at) => answer::list(self, at)?,
            CalendarCall::View(at) => answer::view(self, at)?,
            CalendarCall::Event(id) => answer::event(self, id)?,
            CalendarCall::Instances(id) => answer::instances(self, id)?,
        };
        Ok(GraphResponse::new(body))
    }

    fn calendars(&self) -> Result<GraphBody, GraphError> {
        let options = self.base.options;
        self.check_select()?;
        let all: Vec<_> = self.agenda.calendars_of(self.owner()).collect();
        self.base.list(&all, 10, "calendars", |_, (_, calendar)| {
            options.cut(self.calendar_json(calendar)).into()
        })
    }

    /// Answers with one calendar.
    pub fn calendar(&self, place: usize) -> Result<GraphBody, GraphError> {
        self.check_select()?;
        let calendar = self.agenda.calendar(place).ok_or_else(not_found)?;
        let members = self.base.options.cut(self.calendar_json(calendar));
        Ok(self.base.single(members, "calendars"))
    }

    fn create_calendar(&mut self) -> Result<GraphResponse, GraphError> {
        let body = read(self.base.request, &CALENDAR, true)?;
        let name = name_in(&body).ok_or_else(invalid_property)?;
        if self.calendar_named(name).is_some() {
            return Err(folder_exists());
        }
        let main = self.agenda.main_of(self.owner());
        let zone = main.and_then(|place| self.agenda.calendar(place));
        let zone = zone.map_or("UTC".to_owned(), |main| main.zone.clone());
        let mut calendar = calendars::StoredCalendar::further(self.owner(), name, &zone);
        // A deleted calendar's name would give the same id.
        let mut again = 1;
        while self.agenda.calendars.iter().any(|it| it.id == calendar.id) {
            again += 1;
            let other = format!("{name} {again}");
            calendar.id = calendars::StoredCalendar::further(self.owner(), &other, &zone).id;
        }
        let place = self.agenda.add_calendar(calendar);
        Ok(GraphResponse {
            status: StatusCode::CREATED,
            location: self.calendar_link(place),
            ..GraphResponse::new(self.calendar(place)?)
        })
    }

    fn rename(&mut self, id: &str) -> Result<GraphResponse, GraphError> {
        let body = read(self.base.request, &CALENDAR, true)?;
        let place = self.calendar_at(CalendarRef::Id(id))?;
        let calendar = self.agenda.calendar(place).ok_or_else(not_found)?;
        if calendar.access != CalendarAccess::Owner {
            return Err(denied());
        }
        if let Some(name) = name_in(&body) {
            // The main calendar's name depends on the mailbox's language.
            if calendar.main {
                return Err(denied());
            }
            if self.calendar_named(name).is_some_and(|other| other != place) {
                return Err(folder_exists());
            }
            let change = |calendar: &mut calendars::StoredCalendar| calendar.name = name.to_owned();
            self.agenda.change_calendar(place, change);
        }
        Ok(GraphResponse::new(self.calendar(place)?))
    }

    fn delete_calendar(&mut self, id: &str) -> Result<GraphResponse, GraphError> {
        let place = self.calendar_at(CalendarRef::Id(id))?;
        let calendar = self.agenda.calendar(place).ok_or_else(not_found)?;
        if calendar.main {
            return Err(invalid_request("The default calendar of a mailbox can't be deleted."));
        }
        if calendar.access != CalendarAccess::Owner {
            return Err(denied());
        }
        self.agenda.remove_calendar(place);
        Ok(GraphResponse::empty(StatusCode::NO_CONTENT))
    }

    /// Returns the place of the calendar with a name.
    fn calendar_named(&self, name: &str) -> Option<usize> {
        let mut all = self.agenda.calendars_of(self.owner());
        let found = all.find(|(_, calendar)| shown_name(calendar).eq_ignore_ascii_case(name));
        found.map(|(place, _)| place)
    }

    fn check_select(&self) -> Result<(), GraphError> {
        self.base.options.check_type(&CALENDAR)
    }

    fn calendar_json(&self, calendar: &calendars::StoredCalendar) -> Map<String, Value> {
        let ids = self.ids();
        let writable = matches!(calendar.access, CalendarAccess::Owner | CalendarAccess::Writer);
        let own = calendar.access == CalendarAccess::Owner;
        let owner = calendar.shared_by.as_ref().unwrap_or(&calendar.owner);
        object(json!({
            "id": ids.calendar(&calendar.id),
            "name": shown_name(calendar),
            "isDefaultCalendar": calendar.main,
            "changeKey": ids.version(calendar.mark),
            "canShare": own,
            "canEdit": writable,
            "owner": { "name": self.name_of(owner), "address": owner },
        }))
    }
}

/// Returns the name in a calendar's body.
fn name_in(body: &Map<String, Value>) -> Option<&str> {
    let name = body.get("name").and_then(Value::as_str).map(str::trim);
    name.filter(|name| !name.is_empty())
}

/// Returns the name of a calendar. Outlook's main calendar is called `Calendar`.
fn shown_name(calendar: &calendars::StoredCalendar) -> &str {
    if calendar.main { "Calendar" } else { &calendar.name }
}
