//! Reading of Google's events, with incorrect flags corrected, and the names of its colours.
//!
//! No I/O: JSON in, plain data out. Reading an event never fails; odd values read as absent.

use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::series_uid;
use daysheet_core::event::time::{self, EventTime, ZonedTime};
use daysheet_core::event::{Event, EventGuest, EventVisibility, InvitationAnswer, ShowAs};
use daysheet_core::ids::{CalendarId, EventId};
use daysheet_core::text::brief;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::json::{nested, text};

/// The paths that are requested for every event of a list. Descriptions and conference entry points
/// may be long, and are not requested in lists.
pub const FACTS: &[&str] = &[
    "id",
    "etag",
    "status",
    "start",
    "end",
    "originalStartTime",
    "recurringEventId",
    "recurrence",
    "iCalUID",
    "summary",
    "location",
    "transparency",
    "eventType",
    "hangoutLink",
    "organizer/email",
    "organizer/displayName",
    "organizer/self",
    "creator/email",
    "attendees/email",
    "attendees/displayName",
    "attendees/self",
    "attendees/organizer",
    "attendees/resource",
    "attendees/optional",
    "attendees/responseStatus",
];

/// Adds the calendar to an event, and marks the account among its people.
///
/// Google marks the calendar's owner as `self`, who is not the account in other people's calendars
/// and in calendars without an owner.
pub fn place(event: &mut Value, calendar: &CalendarId, own: &str) {
    let Some(event) = event.as_object_mut() else {
        return;
    };
    event.insert("calendarId".to_owned(), calendar.as_str().into());
    if calendar == "primary" || calendar.as_str().eq_ignore_ascii_case(own) {
        return;
    }
    let is = |person: &Value, address: &str| text(person, "email").eq_ignore_ascii_case(address);
    // An event that the account created in its own calendar has no other organizer.
    let wrote = event.get("creator").is_some_and(|one| is(one, own));
    if let Some(organizer) = event.get_mut("organizer") {
        let called = is(organizer, own) || (wrote && is(organizer, calendar.as_str()));
        mark(organizer, called);
    }
    let guests = event.get_mut("attendees").and_then(Value::as_array_mut);
    for guest in guests.into_iter().flatten() {
        let me = is(guest, own);
        mark(guest, me);
    }
}

fn mark(person: &mut Value, own: bool) {
    let Some(person) = person.as_object_mut() else {
        return;
    };
    if own {
        person.insert("self".to_owned(), true.into());
    } else {
        person.remove("self");
    }
}

/// Makes an event from an object completed by [`place`]; `None` if it has no id or time. `own` is
/// the account's address.
pub fn event(wire: Value, own: &str) -> Option<Event> {
    let event = read(&wire, own)?;
    Some(Event { wire, ..event })
}

/// Reads an event like [`event`], but leaves out the object.
pub fn read(event: &Value, own: &str) -> Option<Event> {
    let calendar = some(event, "calendarId").map(CalendarId::from);
    let id = some(event, "id")?;
    let original = event.get("originalStartTime").and_then(read_when);
    // A cancelled occurrence has only its original time.
    let start = event.get("start").and_then(read_when).or(original)?;
    let end = event.get("end").and_then(read_when).unwrap_or(start);
    let people = list(event, "attendees");
    let is_me = |person: &Value| {
        flag(person, "self") || (!own.is_empty() && text(person, "email").eq_ignore_ascii_case(own))
    };
    let guests: Vec<EventGuest> = people
        .iter()
        // Google lists the organizer among the attendees.
        .filter(|person| !flag(person, "organizer"))
        .map(|person| EventGuest { me: is_me(person), ..guest(person) })
        .collect();
    let me = guests.iter().find(|guest| guest.me);
    let answer = me.and_then(|guest| guest.answer);
    let unanswered = me.is_some_and(|guest| guest.answer.is_none());
    let own = guests.is_empty() || event.get("organizer").is_some_and(is_me);
    let cancelled = text(event, "status") == "cancelled";
    let zone = zone_of(event, "start");
    let free = text(event, "transparency") == "transparent"
        || text(event, "eventType") == "workingLocation";
    Some(Event {
        series: some(event, "recurringEventId").map(|series| join(calendar.as_ref(), &series)),
        id: join(calendar.as_ref(), &id),
        calendar,
        original,
        start,
        end,
        end_zone: zone_of(event, "end").filter(|end| Some(end) != zone.as_ref()),
        zone,
        repeat: repeat(event),
        uid: some(event, "iCalUID").map(|uid| series_uid(&uid).into_owned()),
        sequence: event.get("sequence").and_then(|it| u32::try_from(it.as_u64()?).ok()),
        title: text(event, "summary").to_owned(),
        place: text(event, "location").to_owned(),
        own,
        organizer: event.get("organizer").map(|one| EventGuest { me: is_me(one), ..guest(one) }),
        organizer_listed: people.iter().any(|person| flag(person, "organizer")),
        guests,
        omitted: flag(event, "attendeesOmitted"),
        joint: flag(event, "guestsCanModify"),
        answer,
        unanswered: unanswered && !own,
        busy: !cancelled && !free && answer != Some(InvitationAnswer::Declined),
        show: match (text(event, "eventType"), text(event, "transparency")) {
            ("outOfOffice", _) => ShowAs::Oof,
            ("focusTime", _) => ShowAs::Focus,
            ("workingLocation", _) => ShowAs::Elsewhere,
            (_, "transparent") => ShowAs::Free,
            _ if text(event, "status") == "tentative" => ShowAs::Tentative,
            _ => ShowAs::Busy,
        },
        cancelled,
        version: some(event, "etag"),
        visibility: EventVisibility::from_word(text(event, "visibility"))
            .unwrap_or(EventVisibility::Default),
        reminder: event
            .pointer("/reminders/overrides/0/minutes")
            .and_then(|it| u32::try_from(it.as_u64()?).ok()),
        categories: colour_name(text(event, "colorId")).map(str::to_owned).into_iter().collect(),
        online: some(event, "hangoutLink").is_some()
            || !list(nested(event, "conferenceData"), "entryPoints").is_empty(),
        link: link(event),
        page: some(event, "htmlLink"),
        notes: some(event, "description"),
        updated: text(event, "updated").parse().ok(),
        wire: Value::Null,
    })
}

/// The names that Google Calendar shows for its colours, whose numbers begin at 1.
const COLOURS: [&str; 11] = [
    "lavender", "sage", "grape", "flamingo", "banana", "tangerine", "peacock", "graphite",
    "blueberry", "basil", "tomato",
];

/// Returns the name of a colour by its number.
fn colour_name(number: &str) -> Option<&'static str> {
    COLOURS.get(number.parse::<usize>().ok()?.checked_sub(1)?).copied()
}

/// Returns the number of a colour by its name.
///
/// # Errors
/// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) with the names that exist.
pub fn colour_number(name: &str) -> Result<String> {
    let at = COLOURS.iter().position(|known| known.eq_ignore_ascii_case(name.trim()));
    at.map(|at| (at + 1).to_string()).ok_or_else(|| {
        Error::argument(format!("Google has no colour `{}`", brief(name)))
            .next(format!("use one of: {}", COLOURS.join(", ")))
    })
}

/// Returns the adapter's id of an event.
pub fn join(calendar: Option<&CalendarId>, id: &str) -> EventId {
    match calendar {
        Some(calendar) => format!("{calendar}/{id}").into(),
        None => id.into(),
    }
}

/// Reads a `date`, or a `dateTime` with an offset; without an offset, the named zone applies.
pub fn read_when(value: &Value) -> Option<EventTime> {
    let date_time = text(value, "dateTime");
    match text(value, "date") {
        "" => date_time
            .parse()
            .ok()
            .or_else(|| time::local(date_time, text(value, "timeZone")))
            .map(EventTime::At),
        date => date.parse().ok().map(EventTime::Day),
    }
}

/// Returns the zone of a start or an end: its IANA name, or Google's name if it is unknown.
fn zone_of(event: &Value, key: &str) -> Option<String> {
    let name = some(nested(event, key), "timeZone")?;
    time::zone_name(&name).or(Some(name))
}

fn guest(person: &Value) -> EventGuest {
    EventGuest {
        address: text(person, "email").into(),
        name: some(person, "displayName"),
        answer: match text(person, "responseStatus") {
            "accepted" => Some(InvitationAnswer::Accepted),
            "declined" => Some(InvitationAnswer::Declined),
            "tentative" => Some(InvitationAnswer::Tentative),
            _ => None,
        },
        optional: flag(person, "optional"),
        room: flag(person, "resource"),
        me: false,
        comment: some(person, "comment"),
        proposal: None,
    }
}

/// Reads the recurrence of an event from its lines of RFC 5545.
fn repeat(event: &Value) -> Option<EventRecurrence> {
    let lines: Vec<_> = list(event, "recurrence").iter().filter_map(Value::as_str).collect();
    if lines.is_empty() {
        return None;
    }
    let zone = event
        .get("start")
        .and_then(|start| time::find_zone(text(start, "timeZone")))
        .unwrap_or(TimeZone::UTC);
    Some(EventRecurrence::from_lines(&lines, &zone))
}

/// Reads the same as [`read_when`], keeping the named zone.
pub fn read_moment(value: &Value) -> Option<ZonedTime> {
    let named = text(value, "timeZone");
    Some(match read_when(value)? {
        EventTime::Day(day) => ZonedTime::Day(day),
        EventTime::At(at) => match time::find_zone(named) {
            Some(zone) => ZonedTime::At(zone.to_datetime(at), named.to_owned()),
            None => ZonedTime::At(TimeZone::UTC.to_datetime(at), "UTC".to_owned()),
        },
    })
}

fn link(event: &Value) -> Option<String> {
    some(event, "hangoutLink").or_else(|| {
        let entries = event.pointer("/conferenceData/entryPoints")?.as_array()?;
        let video = entries.iter().find(|entry| text(entry, "entryPointType") == "video");
        some(video.or(entries.first())?, "uri")
    })
}

/// Returns true for the calendar of a bookable room.
pub fn is_room(calendar: &Value) -> bool {
    text(calendar, "id").ends_with("@resource.calendar.google.com")
}

/// Returns the `fields` mask for the events of a list: `paths` and [`FACTS`].
pub fn mask(paths: &[String]) -> String {
    let mut selected: Vec<&str> = Vec::new();
    let read = paths.iter().map(String::as_str).chain(FACTS.iter().copied());
    // The adapter adds `calendarId` itself.
    for path in read.filter(|path| *path != "calendarId") {
        if !selected.iter().any(|whole| inside(path, whole)) {
            selected.retain(|known| !inside(known, path));
            selected.push(path);
        }
    }
    selected.join(",")
}

/// Returns true if a path equals another, or is below it.
fn inside(path: &str, whole: &str) -> bool {
    path.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the list under a key; empty if it is missing.
pub fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the text under a key, or `None` if it is empty.
pub fn some(value: &Value, key: &str) -> Option<String> {
    Some(text(value, key)).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns true if a flag is set.
pub fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool) == Some(true)
}
