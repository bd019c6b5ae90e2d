//! Graph's calendars. Events are answered in `answer.rs`.

pub(super) mod answer;
mod body;
pub(super) mod context;
pub(super) mod draft;
pub(super) mod event;
mod filter;
pub(super) mod places;
mod recurrence;
pub(super) mod respond;
pub(super) mod schedule;
pub(super) mod shown;
pub(super) mod write;

use context::{CalendarContext, CalendarRef};
use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::error::{
    GraphError, denied, folder_exists, invalid_property, invalid_request, not_found,
};
use super::response::GraphResponse;
use super::types::CALENDAR;
use super::types::read::read;
use crate::json::object;
use crate::store::calendars::{CalendarAccess, StoredCalendar};

impl CalendarContext<'_> {
    /// Answers with the calendars.
    pub fn calendars(&self) -> Result<GraphResponse, GraphError> {
        let options = self.base.options;
        self.base.options.check_type(&CALENDAR)?;
        let all: Vec<_> = self.agenda.calendars_of(self.owner()).collect();
        let list = self.base.list(&all, 10, "calendars", |_, (_, calendar)| {
            options.cut(self.calendar_json(calendar)).into()
        });
        list.map(GraphResponse::new)
    }

    /// Answers with a calendar.
    pub fn calendar(&self, id: &str) -> Result<GraphResponse, GraphError> {
        self.reply(self.calendar_at(CalendarRef::Id(id))?, StatusCode::OK)
    }

    fn reply(&self, place: usize, status: StatusCode) -> Result<GraphResponse, GraphError> {
        self.base.options.check_type(&CALENDAR)?;
        let calendar = self.agenda.calendar(place).ok_or_else(not_found)?;
        let members = self.base.options.cut(self.calendar_json(calendar));
        Ok(self.base.entity(members, "calendars", status))
    }

    /// Creates a calendar.
    pub fn create_calendar(&mut self) -> Result<GraphResponse, GraphError> {
        let body = read(self.base.request, &CALENDAR, true)?;
        let name = name_in(&body).ok_or_else(invalid_property)?;
        if self.calendar_named(name).is_some() {
            return Err(folder_exists());
        }
        let main = self.agenda.main_of(self.owner());
        let zone = main.and_then(|place| self.agenda.calendar(place));
        let zone = zone.map_or("UTC".to_owned(), |main| main.zone.clone());
        let calendar = StoredCalendar::further(self.owner(), name, &zone);
        let place = self.agenda.add_calendar(calendar);
        self.reply(place, StatusCode::CREATED)
    }

    /// Renames a calendar.
    pub fn rename(&mut self, id: &str) -> Result<GraphResponse, GraphError> {
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
            let change = |calendar: &mut StoredCalendar| calendar.name = name.to_owned();
            self.agenda.change_calendar(place, change);
        }
        self.reply(place, StatusCode::OK)
    }

    /// Deletes a calendar.
    pub fn delete_calendar(&mut self, id: &str) -> Result<GraphResponse, GraphError> {
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

    fn calendar_json(&self, calendar: &StoredCalendar) -> Map<String, Value> {
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
fn shown_name(calendar: &StoredCalendar) -> &str {
    if calendar.main { "Calendar" } else { &calendar.name }
}
