//! Reading of Outlook's events.
//!
//! Never an error: odd values read as absent. Times are in UTC, as requested; whole days are given by
//! date.

use std::str::FromStr;

use daysheet_core::event::recurrence::{EventRecurrence, graph};
use daysheet_core::event::series_uid;
use daysheet_core::event::time::{self, EventTime};
use daysheet_core::event::{Event, EventGuest, EventVisibility, InvitationAnswer, ShowAs};
use daysheet_core::ids::EmailAddress;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::json::{is, nested, text};

/// The key for the calendar's id in events that cross the port.
pub const CALENDAR: &str = "calendarId";
/// The key for the rule as RRULE.
pub const RULE: &str = "recurrenceRule";

/// Makes an event from Graph's object; `None` if it has no id or times. `me` is the mailbox's
/// address.
pub fn event(wire: Value, me: &str) -> Option<Event> {
    let event = read(&wire, me)?;
    Some(Event { wire, ..event })
}

/// Reads an event like [`event`], but leaves out the object.
pub fn read(event: &Value, me: &str) -> Option<Event> {
    let id = some(event, "id")?;
    let (Some(start), Some(end)) = times(event) else {
        return None;
    };
    let guests = guests(event, me);
    let organizer = is(event, "isOrganizer");
    let listed = organizer_address(event);
    let mut invitees = attendees(event).filter(|one| !is_organizer(one, listed));
    let own = organizer || invitees.next().is_none();
    let response = text(nested(event, "responseStatus"), "response");
    let given = answer(response);
    // People may be invited under an alias or as members of a group.
    let invited = response.eq_ignore_ascii_case("notResponded")
        || guests.iter().any(|guest| guest.me && guest.answer.is_none());
    let cancelled = is(event, "isCancelled");
    let answer = given.filter(|_| !own);
    let show = show(text(event, "showAs"));
    let zone = zone_of(event, "originalStartTimeZone");
    Some(Event {
        id: id.into(),
        calendar: some(event, CALENDAR).map(Into::into),
        series: some(event, "seriesMasterId").map(Into::into),
        original: original(event, start),
        start,
        end,
        end_zone: zone_of(event, "originalEndTimeZone").filter(|end| Some(end) != zone.as_ref()),
        zone,
        repeat: repeat(event, start),
        uid: some(event, "iCalUId").map(|uid| series_uid(&uid).into_owned()),
        sequence: None,
        title: text(event, "subject").to_owned(),
        place: text(nested(event, "location"), "displayName").to_owned(),
        own,
        organizer: organizer_of(event, me),
        organizer_listed: attendees(event).any(|one| is_organizer(one, listed)),
        guests,
        omitted: false,
        joint: false,
        answer,
        unanswered: invited && given.is_none() && !own,
        busy: show != ShowAs::Free && !cancelled && answer != Some(InvitationAnswer::Declined),
        show,
        cancelled,
        version: some(event, "@odata.etag"),
        visibility: visibility(text(event, "sensitivity")),
        reminder: event
            .get("reminderMinutesBeforeStart")
            .filter(|_| is(event, "isReminderOn"))
            .and_then(|it| u32::try_from(it.as_u64()?).ok()),
        categories: list(event, "categories")
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        online: is(event, "isOnlineMeeting"),
        link: some(nested(event, "onlineMeeting"), "joinUrl")
            .or_else(|| some(event, "onlineMeetingUrl")),
        page: some(event, "webLink"),
        notes: some(nested(event, "body"), "content").or_else(|| some(event, "bodyPreview")),
        updated: text(event, "lastModifiedDateTime").parse().ok(),
        wire: Value::Null,
    })
}

/// Returns a zone: its IANA name, or Graph's name if it is unknown.
fn zone_of(event: &Value, key: &str) -> Option<String> {
    let name = some(event, key)?;
    time::zone_name(&name).or(Some(name))
}

/// Returns the organizer, as reported or as listed among the attendees; `None` if neither address
/// nor name is known.
fn organizer_of(event: &Value, me: &str) -> Option<EventGuest> {
    let listed = || attendees(event).find(|one| is_organizer(one, ""));
    let organizer = event.get("organizer").filter(|one| one.is_object()).or_else(listed);
    let person = nested(organizer.unwrap_or(&Value::Null), "emailAddress");
    let address = EmailAddress::from(text(person, "address"));
    let name = some(person, "name").filter(|name| name != address.as_str());
    let me = is(event, "isOrganizer") || address.is(me);
    let known = me || name.is_some() || !address.is_empty();
    known.then(|| EventGuest { address, name, me, ..EventGuest::default() })
}

/// Returns the address of the organizer; empty if it is not reported.
fn organizer_address(event: &Value) -> &str {
    text(nested(nested(event, "organizer"), "emailAddress"), "address")
}

/// Returns the visibility that a sensitivity means. Outlook shows personal events as private.
fn visibility(word: &str) -> EventVisibility {
    let words = [
        ("private", EventVisibility::Private),
        ("personal", EventVisibility::Private),
        ("confidential", EventVisibility::Confidential),
    ];
    let found = words.into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    found.map_or(EventVisibility::Default, |(_, visibility)| visibility)
}

/// Returns the members of a list; none if it is missing.
fn list<'e>(event: &'e Value, key: &str) -> impl Iterator<Item = &'e Value> {
    event.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the start and the end of an event.
pub fn times(event: &Value) -> (Option<EventTime>, Option<EventTime>) {
    let all_day = is(event, "isAllDay");
    let read = |key: &str| {
        let time = nested(event, key);
        let local = text(time, "dateTime");
        if all_day {
            time::day(local).map(EventTime::Day)
        } else {
            let zone = match text(time, "timeZone") {
                "" => "UTC",
                zone => zone,
            };
            time::local(local, zone).map(EventTime::At)
        }
    };
    (read("start"), read("end"))
}

/// Returns the event's own zone, or UTC if the zone is unknown.
pub fn zone(event: &Value) -> TimeZone {
    time::find_zone(text(event, "originalStartTimeZone")).unwrap_or(TimeZone::UTC)
}

/// Returns the start that the rule of the series gives an occurrence.
pub fn original(event: &Value, start: EventTime) -> Option<EventTime> {
    some(event, "seriesMasterId")?;
    let Ok(at) = Timestamp::from_str(text(event, "originalStart")) else {
        // An unchanged occurrence starts at the time of the rule.
        let unchanged = text(event, "type").eq_ignore_ascii_case("occurrence");
        return unchanged.then_some(start);
    };
    Some(match start {
        EventTime::At(_) => EventTime::At(at),
        EventTime::Day(_) => EventTime::Day(day_of(at, &zone(event))),
    })
}

/// Returns the day that begins at an instant, in the event's zone or in UTC.
fn day_of(at: Timestamp, zone: &TimeZone) -> Date {
    let local = zone.to_datetime(at);
    let utc = TimeZone::UTC.to_datetime(at);
    let midnight = |time: jiff::civil::DateTime| time.hour() == 0 && time.minute() == 0;
    if midnight(utc) && !midnight(local) { utc.date() } else { local.date() }
}

/// Returns the rule of a recurring event with its deleted occurrences. An unknown rule is empty.
fn repeat(event: &Value, start: EventTime) -> Option<EventRecurrence> {
    let rule = some(event, RULE).or_else(|| {
        let recurrence = event.get("recurrence").filter(|value| value.is_object())?;
        graph::rule(recurrence)
    });
    // A series with an unknown pattern is still a series.
    let rule = rule.or_else(|| is_master(event).then(String::new))?;
    let zone = zone(event);
    let except = event
        .get("cancelledOccurrences")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        // The form is `OID.`, the id of the series, a dot and the date.
        .filter_map(|id| Date::from_str(id.rsplit_once('.')?.1).ok())
        .map(|day| match start {
            EventTime::Day(_) => EventTime::Day(day),
            EventTime::At(at) => {
                let time = zone.to_datetime(at).time();
                EventTime::At(time::resolve(day.to_datetime(time), &zone))
            }
        })
        .collect();
    Some(EventRecurrence { rule, except, extra: Vec::new() })
}

/// Returns the guests, without the organizer.
fn guests(event: &Value, me: &str) -> Vec<EventGuest> {
    let organizer = organizer_address(event);
    let named = |attendee: &Value| some(nested(attendee, "emailAddress"), "name");
    list(event, "attendees")
        // People without an address are shown, although nothing can be written to them.
        .filter(|attendee| !address(attendee).is_empty() || named(attendee).is_some())
        .filter(|attendee| !is_organizer(attendee, organizer))
        .map(|attendee| {
            let address = address(attendee);
            let kind = text(attendee, "type");
            EventGuest {
                address: address.into(),
                name: named(attendee).filter(|name| name != address),
                answer: answer(text(nested(attendee, "status"), "response")),
                optional: kind.eq_ignore_ascii_case("optional"),
                room: kind.eq_ignore_ascii_case("resource"),
                me: !address.is_empty() && address.eq_ignore_ascii_case(me),
                comment: None,
                proposal: proposal(attendee),
            }
        })
        .collect()
}

/// Returns the time that an attendee proposes.
fn proposal(attendee: &Value) -> Option<(Timestamp, Timestamp)> {
    let proposed = attendee.get("proposedNewTime")?;
    let time = |key: &str| {
        let part = proposed.get(key)?;
        let zone = Some(text(part, "timeZone")).filter(|zone| !zone.is_empty());
        time::local(text(part, "dateTime"), zone.unwrap_or("UTC"))
    };
    Some((time("start")?, time("end")?))
}

/// Returns the attendees who have an address.
pub fn attendees(event: &Value) -> impl Iterator<Item = &Value> {
    list(event, "attendees").filter(|attendee| !address(attendee).is_empty())
}

/// Returns the address of an attendee.
pub fn address(attendee: &Value) -> &str {
    text(nested(attendee, "emailAddress"), "address")
}

/// Returns true for the organizer, whom some events list among the attendees.
pub fn is_organizer(attendee: &Value, organizer: &str) -> bool {
    text(nested(attendee, "status"), "response").eq_ignore_ascii_case("organizer")
        || (!organizer.is_empty() && address(attendee).eq_ignore_ascii_case(organizer))
}

fn show(word: &str) -> ShowAs {
    let words = [
        ("free", ShowAs::Free),
        ("tentative", ShowAs::Tentative),
        ("oof", ShowAs::Oof),
        ("workingElsewhere", ShowAs::Elsewhere),
    ];
    let found = words.into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    found.map_or(ShowAs::Busy, |(_, show)| show)
}

fn answer(word: &str) -> Option<InvitationAnswer> {
    [
        ("accepted", InvitationAnswer::Accepted),
        ("declined", InvitationAnswer::Declined),
        ("tentativelyAccepted", InvitationAnswer::Tentative),
    ]
    .into_iter()
    .find_map(|(known, answer)| word.eq_ignore_ascii_case(known).then_some(answer))
}

fn some(value: &Value, key: &str) -> Option<String> {
    Some(text(value, key).to_owned()).filter(|text| !text.is_empty())
}

/// Returns true if an event is a series.
pub(super) fn is_master(event: &Value) -> bool {
    text(event, "type").eq_ignore_ascii_case("seriesMaster")
}
