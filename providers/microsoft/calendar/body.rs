//! Changes of an event as Graph's properties. No I/O.
//!
//! A [`EventPatch`] and the present event determine the properties to send. Changes that Outlook does
//! not support are refused before anything is written.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::recurrence::{EventRecurrence, graph};
use daysheet_core::event::time::{self, EventTime, ZonedTime};
use daysheet_core::event::{EventGuest, EventPatch, EventVisibility, ShowAs};
use daysheet_core::provider::calendar::GuestNotice;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::events::facts::{self, CALENDAR, RULE, attendees, is_organizer, times};
use super::{online, zones};
use crate::json::{is, nested, text};

/// Checks that Outlook supports a change, as far as that depends only on the change and the event.
///
/// # Errors
/// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) with an alternative.
pub fn check(change: &EventPatch, current: Option<&Value>, notify: GuestNotice) -> Result<()> {
    if change.show == Some(ShowAs::Focus) {
        return Err(Error::argument("Outlook's calendars have no focus time")
            .next("use show=busy, or a Google calendar"));
    }
    let was_online = current.is_some_and(|current| is(current, "isOnlineMeeting"));
    if was_online && change.online == Some(false) {
        return Err(Error::argument("Outlook cannot remove an event's online meeting")
            .next("delete the event, and create it again without one"));
    }
    match current {
        None => check_notice(notify, change.guests.iter().any(|guests| !guests.is_empty())),
        Some(current) => {
            let has_guests = attendees(current).next().is_some()
                || change.guests.iter().any(|guests| !guests.is_empty());
            let called = is(current, "isOrganizer");
            check_notice(notify, called && has_guests && is_seen(change))
        }
    }
}

/// Checks that the guests may be notified if the write reaches `others`, because Outlook always
/// notifies them.
pub fn check_notice(notify: GuestNotice, others: bool) -> Result<()> {
    if notify == GuestNotice::All || !others {
        return Ok(());
    }
    Err(Error::argument("Outlook always notifies all guests")
        .next("give notify=all; it cannot be done silently"))
}

/// Returns true if guests can see the change.
fn is_seen(change: &EventPatch) -> bool {
    change.title.is_some()
        || change.time.is_some()
        || change.place.is_some()
        || change.notes.is_some()
        || change.guests.is_some()
        || change.repeat.is_some()
        || change.online.is_some()
}

/// Returns the properties of a change. `current` is the present event; `day_zone` is Graph's name
/// of the zone for whole days.
pub fn properties(change: &EventPatch, current: Option<&Value>, day_zone: &str) -> Result<Value> {
    let mut event = Map::new();
    let mut set = |key: &str, value: Value| event.insert(key.to_owned(), value);
    if let Some(title) = &change.title {
        set("subject", json!(title));
    }
    let recurs = match &change.repeat {
        Some(repeat) => repeat.is_some(),
        None => current.is_some_and(|current| current.get(RULE).is_some()),
    };
    let mut starts = None;
    if let Some((start, end)) = &change.time {
        let days = matches!(start, ZonedTime::Day(_));
        let (start, end) = (local(start, day_zone, recurs), local(end, day_zone, recurs));
        set("isAllDay", json!(days));
        set("start", start.json());
        set("end", end.json());
        starts = Some(start);
    }
    match (&change.repeat, current) {
        (Some(None), _) => {
            set("recurrence", Value::Null);
        }
        (Some(Some(repeat)), _) => {
            let start = starts.or_else(|| first(current?));
            let start = start.ok_or_else(|| {
                Error::argument("a recurring event needs a start").next("give its start and end")
            })?;
            set("recurrence", recurrence(repeat, &start)?);
        }
        (None, Some(current)) => {
            // A moved series needs a rule that begins on its new first day.
            if let (Some(start), Some(moved)) = (starts, nested(current, "recurrence").as_object())
                && let Some(moved) = from_then(moved, &start)
            {
                set("recurrence", moved);
            }
        }
        (None, None) => {}
    }
    if let Some(place) = &change.place {
        set("location", json!({"displayName": place}));
    }
    if let Some(notes) = &change.notes {
        set("body", online::body(current.unwrap_or(&Value::Null), notes)?);
    }
    if let Some(guests) = &change.guests {
        set("attendees", list(guests, current.unwrap_or(&Value::Null)));
    }
    let was_online = current.is_some_and(|current| is(current, "isOnlineMeeting"));
    if change.online == Some(true) && !was_online {
        set("isOnlineMeeting", json!(true));
        set("onlineMeetingProvider", json!("teamsForBusiness"));
    }
    if let Some(show) = change.show {
        set("showAs", json!(show_as(show)));
    }
    if let Some(visibility) = change.visibility {
        set("sensitivity", json!(sensitivity(visibility)));
    }
    match change.reminder {
        Some(Some(minutes)) => {
            set("isReminderOn", json!(true));
            set("reminderMinutesBeforeStart", json!(minutes));
        }
        Some(None) => {
            set("isReminderOn", json!(false));
        }
        None => {}
    }
    if let Some(category) = &change.category {
        // Outlook's category names contain no comma.
        let names = category.split(',').map(str::trim);
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        set("categories", json!(names));
    }
    Ok(Value::Object(event))
}

/// The properties that an undo restores unchanged.
const RESTORED: &[&str] = &[
    "subject",
    "body",
    "location",
    "showAs",
    "sensitivity",
    "isReminderOn",
    "reminderMinutesBeforeStart",
    "categories",
    "allowNewTimeProposals",
    "responseRequested",
];
/// The properties that an undo restores together.
const TIMES: &[&str] =
    &["start", "end", "isAllDay", "originalStartTimeZone", "originalEndTimeZone", "recurrence"];

/// Properties that an undo cannot write, and must not lose.
const OTHERS: &[&str] = &["attendees", "isOnlineMeeting", "hasAttachments"];

/// Returns everything in an event that an undo depends on, as one text.
pub fn content(event: &Value) -> String {
    let all = [RESTORED, TIMES, OTHERS].concat();
    all.iter()
        .map(|key| event.get(*key).cloned().unwrap_or_default())
        .collect::<Value>()
        .to_string()
}

/// Returns the reason why a change or a deletion cannot be undone; `None` if it can.
pub fn irreversible(event: &Value, change: Option<&EventPatch>) -> Option<&'static str> {
    let Some(change) = change else {
        return match event {
            _ if !text(event, "seriesMasterId").is_empty() => {
                Some("Outlook cannot restore a deleted occurrence")
            }
            _ if is(event, "isOnlineMeeting") => {
                Some("Outlook would give the event another online meeting")
            }
            _ if is(event, "hasAttachments") => Some("the attachments cannot be restored"),
            _ if text(event, CALENDAR).is_empty() => Some("Outlook does not report its calendar"),
            _ => None,
        };
    };
    (change.online == Some(true) && !is(event, "isOnlineMeeting"))
        .then_some("Outlook cannot remove an online meeting")
}

/// Returns the properties that restore an event, or create it again; empty if nothing differs.
pub fn restored(before: &Value, now: Option<&Value>) -> Value {
    let differs = |key: &&&str| now.is_none_or(|now| now.get(**key) != before.get(**key));
    let mut event: Map<String, Value> = RESTORED
        .iter()
        .filter(differs)
        .filter_map(|key| Some(((*key).to_owned(), before.get(*key)?.clone())))
        .collect();
    if !TIMES.iter().any(|key| differs(&key)) {
        return Value::Object(event);
    }
    let (start, end) = times(before);
    let whole = is(before, "isAllDay");
    event.insert("isAllDay".to_owned(), whole.into());
    for (key, zone, at) in
        [("start", "originalStartTimeZone", start), ("end", "originalEndTimeZone", end)]
    {
        // Outlook refuses whole days with two zones.
        let zone = match text(before, zone) {
            zone if !whole && !zone.is_empty() => zone,
            _ => text(before, "originalStartTimeZone"),
        };
        if let Some(at) = at {
            event.insert(key.to_owned(), in_zone(at, zone).json());
        }
    }
    match before.get("recurrence").and_then(Value::as_object) {
        Some(recurrence) => {
            event.insert("recurrence".to_owned(), echoed(recurrence));
        }
        None if now.is_some_and(|now| nested(now, "recurrence").is_object()) => {
            event.insert("recurrence".to_owned(), Value::Null);
        }
        None => {}
    }
    Value::Object(event)
}

/// A local time with Graph's name of its zone.
struct LocalTime {
    at: DateTime,
    zone: String,
    /// The same time in our form.
    moment: ZonedTime,
}

impl LocalTime {
    fn json(&self) -> Value {
        json!({
            "dateTime": self.at.strftime("%Y-%m-%dT%H:%M:%S").to_string(),
            "timeZone": self.zone,
        })
    }
}

/// Converts a time for Graph. For a single event, a zone that Graph lacks is replaced by UTC, which
/// is equivalent. A recurring event keeps its zone, and Graph may refuse it.
fn local(moment: &ZonedTime, day_zone: &str, recurs: bool) -> LocalTime {
    let (at, zone) = match moment {
        ZonedTime::Day(day) => (day.at(0, 0, 0, 0), day_zone.to_owned()),
        ZonedTime::At(at, zone) => match zones::windows(zone, at.date()) {
            Some(zone) => (*at, zone.to_owned()),
            None if recurs => (*at, zone.clone()),
            None => {
                let instant = moment.when().instant(&TimeZone::UTC);
                (TimeZone::UTC.to_datetime(instant), "UTC".to_owned())
            }
        },
    };
    LocalTime { at, zone, moment: moment.clone() }
}

/// Returns the first start of an event, in its own zone.
fn first(current: &Value) -> Option<LocalTime> {
    Some(in_zone(times(current).0?, text(current, "originalStartTimeZone")))
}

/// Returns a time of an event in the zone `named`, under that name.
fn in_zone(at: EventTime, named: &str) -> LocalTime {
    let found = time::find_zone(named);
    let own = if found.is_some() { named } else { "UTC" };
    let zone = found.unwrap_or(TimeZone::UTC);
    let name = zone.iana_name().unwrap_or("UTC").to_owned();
    let moment = match at {
        EventTime::Day(day) => ZonedTime::Day(day),
        EventTime::At(at) => ZonedTime::At(zone.to_datetime(at), name),
    };
    LocalTime { zone: own.to_owned(), ..local(&moment, own, true) }
}

fn recurrence(repeat: &EventRecurrence, start: &LocalTime) -> Result<Value> {
    graph::pattern(repeat, &start.moment, &start.zone)
}

/// Returns the rule of a series moved to another first day, or `None` if the day is the same.
fn from_then(recurrence: &Map<String, Value>, start: &LocalTime) -> Option<Value> {
    let day = start.at.date().to_string();
    let mut range = recurrence.get("range")?.as_object()?.clone();
    let before = range.insert("startDate".to_owned(), day.clone().into());
    if before.as_ref().and_then(Value::as_str) == Some(day.as_str()) {
        return None;
    }
    range.insert("recurrenceTimeZone".to_owned(), start.zone.clone().into());
    let mut moved = recurrence.clone();
    moved.insert("range".to_owned(), Value::Object(range));
    Some(echoed(&moved))
}

/// Returns a rule in the form that Graph accepts: for a rule without an end, Graph itself returns a
/// date in the year 1.
fn echoed(recurrence: &Map<String, Value>) -> Value {
    let mut recurrence = recurrence.clone();
    if let Some(range) = recurrence.get_mut("range").and_then(Value::as_object_mut)
        && !range
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(|it| it.eq_ignore_ascii_case("endDate"))
    {
        range.remove("endDate");
    }
    Value::Object(recurrence)
}

/// Returns all guests with the organizer. Graph recognizes existing guests by address, and keeps
/// their answers.
fn list(guests: &[EventGuest], current: &Value) -> Value {
    let organizer = nested(nested(current, "organizer"), "emailAddress");
    let organizer = text(organizer, "address");
    let mut all: Vec<Value> =
        attendees(current).filter(|attendee| is_organizer(attendee, organizer)).cloned().collect();
    for guest in guests {
        let known = attendees(current).find(|attendee| {
            facts::address(attendee).eq_ignore_ascii_case(guest.address.as_str().trim())
        });
        let kind = match (guest.room, guest.optional) {
            (true, _) => "resource",
            (false, true) => "optional",
            (false, false) => "required",
        };
        // An existing guest is sent back unchanged, so that Graph keeps the answer.
        let mut attendee = if let Some(known) = known.and_then(Value::as_object) {
            known.clone()
        } else {
            let mut address = Map::new();
            address.insert("address".to_owned(), guest.address.as_str().trim().into());
            if let Some(name) = &guest.name {
                address.insert("name".to_owned(), name.as_str().into());
            }
            Map::from_iter([("emailAddress".to_owned(), Value::Object(address))])
        };
        attendee.insert("type".to_owned(), kind.into());
        all.push(Value::Object(attendee));
    }
    Value::Array(all)
}

fn show_as(show: ShowAs) -> &'static str {
    match show {
        // Focus time was refused before.
        ShowAs::Busy | ShowAs::Focus => "busy",
        ShowAs::Free => "free",
        ShowAs::Tentative => "tentative",
        ShowAs::Oof => "oof",
        ShowAs::Elsewhere => "workingElsewhere",
    }
}

/// Returns the sensitivity. Outlook shows events to everyone who may see the calendar, so its
/// default is public.
fn sensitivity(visibility: EventVisibility) -> &'static str {
    match visibility {
        EventVisibility::Default | EventVisibility::Public => "normal",
        EventVisibility::Private => "private",
        EventVisibility::Confidential => "confidential",
    }
}

/// Returns the days around the exceptions of a series, in UTC; `None` for a series without
/// exceptions.
pub fn span(except: &[EventTime]) -> Option<(Date, Date)> {
    let days = except.iter().map(|when| match when {
        EventTime::Day(day) => *day,
        EventTime::At(at) => TimeZone::UTC.to_datetime(*at).date(),
    });
    let first = days.clone().min()?;
    let last = days.max()?;
    let day = jiff::Span::new().days(2);
    Some((first.checked_sub(day).unwrap_or(first), last.checked_add(day).unwrap_or(last)))
}

/// Returns true if an occurrence is one of the exceptions.
pub fn is_out(occurrence: &Value, except: &[EventTime], zone: &TimeZone) -> bool {
    let (Some(start), _) = times(occurrence) else {
        return false;
    };
    // An exception is named by its original time, wherever it was moved.
    let start = facts::original(occurrence, start).unwrap_or(start);
    let day_of = |when: EventTime| match when {
        EventTime::Day(day) => day,
        EventTime::At(at) => zone.to_datetime(at).date(),
    };
    except.iter().any(|except| match (except, start) {
        (EventTime::At(one), EventTime::At(other)) => *one == other,
        (one, other) => day_of(*one) == day_of(other),
    })
}
