//! Events as sent by clients: checked as Google does, and converted to the sandbox's events.
//!
//! A body is read whole, as sent by `update`. A patch is first merged into the event's JSON
//! ([`merge`]). Permission to change an event is checked in `write.rs`; guests, conferences and the
//! properties of event types are read in `parts.rs`.

use std::str::FromStr;

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::{ZonedTime, resolve};
use daysheet_core::event::{EventVisibility, ShowAs};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use serde_json::{Map, Value};

use super::error::{self as refuse, bad_value};
use super::event::{OWN, REMINDERS, TYPES, first_reminder};
use super::parts::{self, BodyReading};
use crate::google::fields::FieldShape;
use crate::http::HttpResponse;
use crate::json::member;
use crate::store::calendars::StoredEvent;
use crate::store::calendars::expand::moment;

/// The maximum number of reminders.
const MAX_REMINDERS: usize = 5;

/// The maximum number of minutes between a reminder and its event: four weeks.
const MAX_MINUTES: u64 = 40_320;

/// Reads a request's body as a JSON object with known names.
pub(super) fn object(body: &[u8], shape: &FieldShape) -> Result<Map<String, Value>, HttpResponse> {
    if body.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    let value: Value = serde_json::from_slice(body).map_err(|_| refuse::parse_error())?;
    let Value::Object(body) = value else {
        return Err(refuse::parse_error());
    };
    let unknown = body.keys().find(|key| !shape.0.iter().any(|(known, _)| known == key));
    match unknown {
        Some(name) => Err(refuse::invalid(&format!(
            "Invalid JSON payload received. Unknown name \"{name}\": Cannot find field."
        ))),
        None => Ok(body),
    }
}

/// Merges a patch into an object: null removes, objects are merged, and everything else is replaced
/// (RFC 7396).
pub(super) fn merge(into: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (key, value) in patch {
        match (into.get_mut(&key), value) {
            (_, Value::Null) => {
                into.remove(&key);
            }
            (Some(Value::Object(into)), Value::Object(patch)) => merge(into, patch),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// Returns the event that results from applying a body to `base`.
pub(super) fn event(
    body: &Map<String, Value>,
    base: &StoredEvent,
    reading: &BodyReading<'_>,
) -> Result<StoredEvent, HttpResponse> {
    let mut event = base.clone();
    event.title = text(body, "summary")?.unwrap_or_default();
    event.notes = text(body, "description")?.unwrap_or_default();
    event.place = text(body, "location")?.unwrap_or_default();
    event.colour = colour(body)?;
    event.visibility = match text(body, "visibility")?.as_deref() {
        None | Some("default") => EventVisibility::Default,
        Some("public") => EventVisibility::Public,
        Some("private") => EventVisibility::Private,
        Some("confidential") => EventVisibility::Confidential,
        Some(_) => return Err(bad_value("visibility")),
    };
    let status = text(body, "status")?;
    event.deleted = match status.as_deref() {
        None | Some("confirmed" | "tentative") => false,
        Some("cancelled") => true,
        Some(_) => return Err(bad_value("status")),
    };
    let free = match text(body, "transparency")?.as_deref() {
        None | Some("opaque") => false,
        Some("transparent") => true,
        Some(_) => return Err(bad_value("transparency")),
    };
    let kind = kind(body, base, reading)?;
    event.show = match (kind, free, status.as_deref()) {
        (Some(show), ..) => show,
        (None, true, _) => ShowAs::Free,
        (None, false, Some("tentative")) => ShowAs::Tentative,
        (None, false, _) => ShowAs::Busy,
    };
    let mut own = Map::new();
    // Only an import may name the organizer; otherwise it is the calendar's owner.
    if reading.import
        && let Some(organizer) = body.get("organizer")
        && let Some(address) = organizer.get("email").and_then(Value::as_str)
    {
        event.organizer.address = address.into();
        let name = organizer.get("displayName").and_then(Value::as_str);
        event.organizer.name = name.map(str::to_owned);
    }
    // Times first: the checks of event types need them.
    recurrence(body, &mut event, reading)?;
    let mut private = Map::new();
    reminders(body, &mut event, &mut private)?;
    parts::attendees(body, &mut event, &mut own, reading)?;
    parts::conference(body, base, &mut event, &mut own, reading)?;
    parts::as_sent(body, base, &mut own, reading)?;
    if let Some((_, _, key)) = TYPES.iter().find(|(show, ..)| Some(*show) == kind) {
        let properties = parts::status_properties(body, &event, key, free, reading)?;
        own.extend(properties.map(|properties| ((*key).to_owned(), properties)));
    }
    if let Some(sequence) = body.get("sequence").and_then(Value::as_u64) {
        if sequence < u64::from(base.sequence) {
            return Err(refuse::invalid(
                "Invalid sequence value. The specified sequence number is below the current \
                 sequence number of the resource. Re-fetch the resource and use its sequence \
                 number on the following request.",
            ));
        }
        // Google counts the sequence itself, except for events that are maintained elsewhere.
        if reading.import {
            event.sequence = u32::try_from(sequence).unwrap_or_default();
        }
    }
    for (stored, new) in [(&mut event.more, own), (&mut event.private, private)] {
        if new.is_empty() {
            stored.remove(OWN);
        } else {
            stored.insert(OWN.to_owned(), new.into());
        }
    }
    Ok(event)
}

/// Returns the type of an event that is not an ordinary one. The type is chosen at creation.
fn kind(
    body: &Map<String, Value>,
    base: &StoredEvent,
    reading: &BodyReading<'_>,
) -> Result<Option<ShowAs>, HttpResponse> {
    let was = TYPES.iter().find(|(show, ..)| *show == base.show);
    let event_type = text(body, "eventType")?;
    let event_type = match event_type.as_deref() {
        None if reading.new => None,
        None => return Ok(was.map(|(show, ..)| *show)),
        Some("default") => None,
        Some(name) => Some(
            TYPES
                .iter()
                .find(|(_, known, _)| *known == name)
                .ok_or_else(|| bad_value("eventType"))?,
        ),
    };
    // Imported events are always ordinary ones.
    if reading.import {
        return Ok(None);
    }
    let event_type = event_type.map(|(show, ..)| *show);
    if reading.new || event_type == was.map(|(show, ..)| *show) {
        Ok(event_type)
    } else {
        Err(refuse::invalid("Event type cannot be changed."))
    }
}

/// Reads start, end and recurrence.
fn recurrence(
    body: &Map<String, Value>,
    event: &mut StoredEvent,
    reading: &BodyReading<'_>,
) -> Result<(), HttpResponse> {
    let wrong = |_| bad_value("recurrence");
    let lines = member(body, "recurrence", Value::as_array).map_err(wrong)?;
    let lines = lines.into_iter().flatten().map(|line| line.as_str().ok_or_else(|| wrong(line)));
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    let recurs = !lines.is_empty();
    // The end first, because it is the one that Google reports missing in an empty body.
    let end = time(body.get("end"), "end", recurs, reading)?;
    let start = time(body.get("start"), "start", recurs, reading)?;
    let (from, to) = (start.when(), end.when());
    if from.is_day() != to.is_day() {
        return Err(refuse::invalid(
            "Start and end times must either both be date or both be dateTime.",
        ));
    }
    if to.instant(&TimeZone::UTC) < from.instant(&TimeZone::UTC) {
        return Err(refuse::empty_range());
    }
    // An equivalent time stays as it was, so that a series keeps its nominal time.
    let same = |one: &ZonedTime, other: &ZonedTime| match (one, other) {
        (ZonedTime::At(_, one_zone), ZonedTime::At(_, other_zone)) => {
            one_zone == other_zone && one.when() == other.when()
        }
        (one, other) => one == other,
    };
    if !same(&start, &event.start) {
        event.start = start;
    }
    if !same(&end, &event.end) {
        event.end = end;
    }
    event.repeat = match recurs {
        false => None,
        true if event.instead_of.is_some() => {
            return Err(refuse::invalid("An instance cannot have a recurrence of its own."));
        }
        true => Some(repeat(&lines, &event.start, reading)?),
    };
    Ok(())
}

/// Reads the lines of a recurrence.
fn repeat(
    lines: &[&str],
    start: &ZonedTime,
    reading: &BodyReading<'_>,
) -> Result<EventRecurrence, HttpResponse> {
    let refused = || refuse::invalid("Invalid recurrence rule.");
    let zone = match start {
        ZonedTime::At(_, zone) => zone,
        ZonedTime::Day(_) => &reading.calendar.zone,
    };
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let mut rules = 0;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or_else(refused)?;
        match name.split(';').next().unwrap_or_default() {
            "RRULE" => {
                rules += 1;
                EventRecurrence::rule(value).map_err(|_| refused())?;
            }
            // `from_lines` drops dates that it cannot read, so they are counted first.
            "EXDATE" | "RDATE" => {
                if daysheet_core::event::recurrence::dates(value, &zone).len()
                    != value.split(',').count()
                {
                    return Err(refused());
                }
            }
            _ => return Err(refused()),
        }
    }
    let mut repeat = EventRecurrence::from_lines(lines, &zone);
    if rules > 1 || (rules == 0 && repeat.extra.is_empty()) {
        return Err(refused());
    }
    repeat.rule = if repeat.rule.is_empty() {
        repeat.rule
    } else {
        EventRecurrence::rule(&repeat.rule).map_err(|_| refused())?
    };
    Ok(repeat)
}

/// Reads a start or end.
fn time(
    value: Option<&Value>,
    which: &str,
    recurs: bool,
    reading: &BodyReading<'_>,
) -> Result<ZonedTime, HttpResponse> {
    let missing = || refuse::missing(&format!("Missing {which} time."));
    let wrong = || refuse::invalid(&format!("Invalid {which} time."));
    let time = match value {
        None | Some(Value::Null) => return Err(missing()),
        Some(Value::Object(time)) => time,
        Some(_) => return Err(wrong()),
    };
    let part = |name: &str| member(time, name, Value::as_str).map_err(|_| wrong());
    let zone = part("timeZone")?.filter(|zone| !zone.is_empty());
    let known = match zone {
        None => None,
        Some(name) => Some(TimeZone::get(name).map_err(|_| {
            refuse::invalid(&format!("Invalid time zone definition for {which} time."))
        })?),
    };
    let no_zone = || refuse::missing(&format!("Missing time zone definition for {which} time."));
    match (part("date")?, part("dateTime")?) {
        (None, None) => Err(missing()),
        (Some(_), Some(_)) => Err(wrong()),
        (Some(date), None) => {
            let whole = date.len() == 10;
            let date = Date::strptime("%Y-%m-%d", date).ok().filter(|_| whole);
            date.map(ZonedTime::Day).ok_or_else(wrong)
        }
        (None, Some(text)) => {
            if let Some(at) = rfc3339(text) {
                // An offset alone does not say when a series moves with daylight saving time.
                if recurs && zone.is_none() {
                    return Err(no_zone());
                }
                return Ok(moment(at, zone.unwrap_or(&reading.calendar.zone)));
            }
            let whole = text.len() >= 19 && text.as_bytes().get(10) == Some(&b'T');
            let local = DateTime::from_str(text).ok().filter(|_| whole);
            let local = local.ok_or_else(wrong)?;
            let (Some(name), Some(known)) = (zone, known) else {
                return Err(no_zone());
            };
            let at = resolve(local, &known);
            if recurs {
                // A time that is skipped on the first day may exist on later ones.
                Ok(ZonedTime::At(whole_seconds(local), name.to_owned()))
            } else {
                Ok(moment(seconds(at), name))
            }
        }
    }
}

/// Parses an RFC 3339 time with an offset. Fractions of a second are dropped.
pub(super) fn rfc3339(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let offset = match bytes.split_last_chunk::<6>() {
        Some((_, [b'+' | b'-', _, _, b':', _, _])) => true,
        _ => matches!(bytes.last(), Some(b'Z' | b'z')),
    };
    // The parser accepts further forms, such as a space for the `T`.
    let looks = bytes.len() >= 20 && matches!(bytes.get(10), Some(b'T' | b't')) && offset;
    let at = looks.then(|| Timestamp::from_str(text).ok())??;
    Some(seconds(at))
}

fn seconds(at: Timestamp) -> Timestamp {
    let whole = TimestampRound::new().smallest(Unit::Second).mode(RoundMode::Floor);
    at.round(whole).unwrap_or(at)
}

fn whole_seconds(local: DateTime) -> DateTime {
    local.with().subsec_nanosecond(0).build().unwrap_or(local)
}

fn reminders(
    body: &Map<String, Value>,
    event: &mut StoredEvent,
    private: &mut Map<String, Value>,
) -> Result<(), HttpResponse> {
    let reminders = member(body, "reminders", Value::as_object);
    let Some(reminders) = reminders.map_err(|_| bad_value("reminders"))? else {
        event.reminder = None;
        return Ok(());
    };
    let usual = member(reminders, "useDefault", Value::as_bool);
    let usual = usual.map_err(|_| bad_value("reminders.useDefault"))?.unwrap_or_default();
    let overrides = member(reminders, "overrides", Value::as_array);
    let overrides = overrides.map_err(|_| bad_value("reminders.overrides"))?;
    let overrides = overrides.map(Vec::as_slice).unwrap_or_default();
    if usual && !overrides.is_empty() {
        return Err(refuse::rule_broken(
            "cannotUseDefaultRemindersAndSpecifyOverride",
            "Cannot specify both default reminders and overrides at the same time.",
        ));
    }
    let good = |reminder: &Value| {
        let method = reminder.get("method").and_then(Value::as_str);
        let minutes = reminder.get("minutes").and_then(Value::as_u64);
        matches!(method, Some("email" | "popup"))
            && minutes.is_some_and(|minutes| minutes <= MAX_MINUTES)
    };
    if overrides.len() > MAX_REMINDERS || !overrides.iter().all(good) {
        return Err(bad_value("reminders.overrides"));
    }
    let sent = Value::from(overrides.to_vec());
    event.reminder = if usual { None } else { Some(first_reminder(&sent)) };
    if !overrides.is_empty() {
        private.insert(REMINDERS.to_owned(), sent);
    }
    Ok(())
}

fn colour(body: &Map<String, Value>) -> Result<Option<u8>, HttpResponse> {
    let Some(text) = text(body, "colorId")?.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    // Google has eleven event colours.
    let number = text.parse().ok().filter(|number| (1..=11).contains(number));
    number.map(Some).ok_or_else(|| bad_value("colorId"))
}

/// Returns a string, or `None` if it is missing or null.
pub(super) fn text(body: &Map<String, Value>, key: &str) -> Result<Option<String>, HttpResponse> {
    let text = member(body, key, Value::as_str).map_err(|_| bad_value(key))?;
    Ok(text.map(str::to_owned))
}
