//! The list of calendars, and creating, changing and deleting them.

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::error::{self as refuse, bad_value};
use super::event::{etag, text as shown};
use super::list::{default_reminders, list_etag, role};
use super::read::text;
use crate::google::params::RequestParameters;
use crate::http::HttpResponse;
use crate::json::{merge, present};
use crate::store::calendars::{CalendarAccess, SandboxCalendars, StoredCalendar};

/// The default and maximum number of rows of a page.
const ROWS: (usize, usize) = (100, 250);

/// The colours of calendars by number, from 1.
const CALENDAR_COLOURS: [&str; 24] = [
    "#ac725e", "#d06b64", "#f83a22", "#fa573c", "#ff7537", "#ffad46", "#42d692", "#16a765",
    "#7bd148", "#b3dc6c", "#fbe983", "#fad165", "#92e1c0", "#9fe1e7", "#9fc6e7", "#4986e7",
    "#9a9cff", "#b99aff", "#c2c2c2", "#cabdbf", "#cca6ac", "#f691b2", "#cd74e6", "#a47ae2",
];

/// Returns a calendar as a `calendar` resource.
pub(super) fn calendar(calendar: &StoredCalendar) -> Value {
    object(calendar, "calendar#calendar", json!({}))
}

/// Returns a calendar as an entry of its owner's list.
pub(super) fn entry(calendar: &StoredCalendar) -> Value {
    let colour = CALENDAR_COLOURS.get(usize::from(calendar.colour.saturating_sub(1)));
    let more = json!({
        "colorId": calendar.colour.to_string(),
        "backgroundColor": colour.unwrap_or(&"#9fe1e7"),
        "selected": true,
        "accessRole": role(calendar.access),
        "defaultReminders": default_reminders(calendar),
        "primary": calendar.main.then_some(true),
    });
    object(calendar, "calendar#calendarListEntry", more)
}

fn object(calendar: &StoredCalendar, kind: &str, more: Value) -> Value {
    let mut out = json!({
        "kind": kind,
        "etag": etag(calendar.mark),
        "id": calendar.id,
        "summary": calendar.name,
        "description": shown(&calendar.notes),
        "timeZone": calendar.zone,
    });
    merge(&mut out, more);
    present(out)
}

/// Returns the list of a person's calendars.
pub(super) fn entries(
    agenda: &SandboxCalendars,
    me: &str,
    params: &RequestParameters<'_>,
) -> Result<Value, HttpResponse> {
    let rows = match params.value("maxResults").map(str::parse::<usize>) {
        None => ROWS.0,
        Some(Ok(rows)) if rows > 0 => rows.min(ROWS.1),
        Some(_) => return Err(bad_value("maxResults")),
    };
    let skip = match params.value("pageToken").map(str::parse::<usize>) {
        None => 0,
        Some(Ok(skip)) => skip,
        Some(Err(_)) => {
            let message = "Invalid page token value.";
            return Err(refuse::invalid_parameter("pageToken", message));
        }
    };
    let all: Vec<&StoredCalendar> = agenda.calendars_of(me).map(|(_, it)| it).collect();
    let items: Vec<Value> = all.iter().skip(skip).take(rows).map(|it| entry(it)).collect();
    let more = skip.saturating_add(rows) < all.len();
    Ok(present(json!({
        "kind": "calendar#calendarList",
        "etag": list_etag(agenda),
        "nextPageToken": more.then(|| (skip + rows).to_string()),
        "items": items,
    })))
}

/// Creates a calendar and returns its place.
pub(super) fn insert(
    agenda: &mut SandboxCalendars,
    me: &str,
    body: &Map<String, Value>,
) -> Result<usize, HttpResponse> {
    let name = text(body, "summary")?.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| refuse::missing("Missing required field: summary"))?;
    let usual = agenda.main_of(me).and_then(|place| agenda.calendar(place));
    let usual = usual.map_or_else(|| "UTC".to_owned(), |calendar| calendar.zone.clone());
    let zone = zone(body)?.unwrap_or(usual);
    let notes = text(body, "description")?.unwrap_or_default();
    let mut calendar = StoredCalendar::further(me, &name, &zone);
    calendar.notes = notes;
    Ok(agenda.add_calendar(calendar))
}

/// Changes a calendar.
pub(super) fn change(
    agenda: &mut SandboxCalendars,
    place: usize,
    body: &Map<String, Value>,
) -> Result<(), HttpResponse> {
    let calendar = agenda.calendar(place).ok_or_else(refuse::not_found)?;
    if calendar.access != CalendarAccess::Owner {
        return Err(refuse::access("owner"));
    }
    let name = text(body, "summary")?.filter(|name| !name.is_empty());
    // A name can be changed but not removed.
    if name.is_none() && body.contains_key("summary") {
        return Err(refuse::missing("Missing required field: summary"));
    }
    let zone = zone(body)?;
    let notes = text(body, "description")?;
    agenda.change_calendar(place, |calendar| {
        if let Some(name) = name {
            calendar.name = name;
        }
        if let Some(zone) = zone {
            calendar.zone = zone;
        }
        if body.contains_key("description") {
            calendar.notes = notes.unwrap_or_default();
        }
    });
    Ok(())
}

fn zone(body: &Map<String, Value>) -> Result<Option<String>, HttpResponse> {
    let Some(name) = text(body, "timeZone")?.filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    match TimeZone::get(&name) {
        Ok(_) => Ok(Some(name)),
        Err(_) => Err(bad_value("timeZone")),
    }
}

/// Deletes a calendar with its events.
pub(super) fn delete(agenda: &mut SandboxCalendars, place: usize) -> Result<(), HttpResponse> {
    let calendar = agenda.calendar(place).ok_or_else(refuse::not_found)?;
    if calendar.main {
        let message = "The primary calendar of a user cannot be deleted.";
        return Err(refuse::rule_broken("cannotDeletePrimaryCalendar", message));
    }
    if calendar.access != CalendarAccess::Owner {
        return Err(refuse::access("owner"));
    }
    agenda.remove_calendar(place);
    Ok(())
}
