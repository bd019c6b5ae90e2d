//! Writing of iCalendar documents: from entries to components.

use std::str::FromStr;

use calcard::common::PartialDateTime;
use calcard::common::timezone::Tz;
use calcard::icalendar::{
    ICalendar, ICalendarComponent, ICalendarComponentType, ICalendarDuration, ICalendarEntry,
    ICalendarParameter, ICalendarParameterName, ICalendarParameterValue, ICalendarProperty,
    ICalendarValue, ICalendarValueType, Uri,
};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::event::CalendarDocument;
use super::scan::clean;
use crate::event::recurrence::{EventRecurrence, RecurrenceRule, RuleEnd, until_of};
use crate::event::time::{EventTime, ZonedTime};
use crate::event::{Event, EventGuest, EventVisibility, InvitationAnswer, ShowAs};

/// The product identifier of our documents.
const PRODUCT: &str = "-//Daysheet//Daysheet//EN";

/// Writes a document.
pub fn document(document: &CalendarDocument, now: Timestamp) -> String {
    let mut root = component(ICalendarComponentType::VCalendar);
    root.entries =
        vec![text(ICalendarProperty::Version, "2.0"), text(ICalendarProperty::Prodid, PRODUCT)];
    // The word is not escaped by the library, so only characters that need no escapes are
    // written.
    if let Some(method) = &document.method {
        root.entries.push(text(ICalendarProperty::Method, &plain_word(method)));
    }
    if let Some(name) = &document.name {
        root.entries.push(other("X-WR-CALNAME", name));
    }
    if let Some(zone) = &document.zone {
        root.entries.push(other("X-WR-TIMEZONE", zone));
    }
    let mut all = vec![root];
    for entry in &document.entries {
        let at = add(&mut all, 0, event(entry, now));
        if let Some(minutes) = entry.reminder {
            add(&mut all, at, alarm(minutes, &entry.title));
        }
    }
    let mut calendar = ICalendar { components: all };
    calendar.add_missing_timezones();
    calendar.to_string()
}

/// Adds a component to another, and returns its index.
fn add(all: &mut Vec<ICalendarComponent>, to: usize, part: ICalendarComponent) -> usize {
    let at = all.len();
    if let (Some(outer), Ok(id)) = (all.get_mut(to), u32::try_from(at)) {
        outer.component_ids.push(id);
        all.push(part);
    }
    at
}

fn event(entry: &Event, now: Timestamp) -> ICalendarComponent {
    let mut event = component(ICalendarComponentType::VEvent);
    let (start, end) = entry.zoned_times();
    let stamp = ZonedTime::At(TimeZone::UTC.to_datetime(now), "UTC".to_owned());
    let mut all = vec![
        text(ICalendarProperty::Uid, entry.uid.as_deref().unwrap_or_default()),
        moment(ICalendarProperty::Dtstamp, &stamp),
        moment(ICalendarProperty::Dtstart, &start),
        moment(ICalendarProperty::Dtend, &end),
    ];
    if let Some(sequence @ 1..) = entry.sequence {
        let sequence = ICalendarValue::Integer(i64::from(sequence));
        all.push(ICalendarEntry::new(ICalendarProperty::Sequence).with_value(sequence));
    }
    if let Some(at) = entry.original {
        all.extend(dates(ICalendarProperty::RecurrenceId, &[at], &start));
    }
    if let Some(repeat) = &entry.repeat {
        recurrence(repeat, &start, &mut all);
    }
    let texts = [
        (ICalendarProperty::Summary, entry.title.as_str()),
        (ICalendarProperty::Location, &entry.place),
        (ICalendarProperty::Description, entry.notes.as_deref().unwrap_or_default()),
    ];
    for (name, value) in texts {
        if !value.is_empty() {
            all.push(text(name, value));
        }
    }
    if let Some(organizer) = &entry.organizer {
        all.push(person(ICalendarProperty::Organizer, organizer));
        // The organizer's answer can only be in an ATTENDEE property.
        if organizer.answer.is_some() {
            all.push(attendee(organizer));
        }
    }
    all.extend(entry.guests.iter().map(attendee));
    push_visibility(entry, &mut all);
    if !entry.categories.is_empty() {
        let names = entry.categories.iter();
        let names = names.map(|name| ICalendarValue::Text(clean(name).trim().to_owned()));
        all.push(ICalendarEntry::new(ICalendarProperty::Categories).with_values(names.collect()));
    }
    if let Some(link) = &entry.link {
        let mut link = uri(ICalendarProperty::Conference, link);
        let kind = ICalendarParameterValue::Value(ICalendarValueType::Uri);
        link.add_param(ICalendarParameter::new(ICalendarParameterName::Value, kind));
        all.push(link);
    }
    event.entries = all;
    event
}

/// Adds status, transparency and class.
fn push_visibility(entry: &Event, all: &mut Vec<ICalendarEntry>) {
    let status = match (entry.cancelled, entry.show) {
        (true, _) => "CANCELLED",
        (false, ShowAs::Tentative) => "TENTATIVE",
        _ => "CONFIRMED",
    };
    all.push(text(ICalendarProperty::Status, status));
    let transparent = matches!(entry.show, ShowAs::Free | ShowAs::Elsewhere);
    let transparency = if transparent { "TRANSPARENT" } else { "OPAQUE" };
    all.push(text(ICalendarProperty::Transp, transparency));
    // TRANSP has only two values. Exchange's property preserves the others, except for focus
    // time, which needs one of our own.
    let busy = match entry.show {
        ShowAs::Busy | ShowAs::Focus => "BUSY",
        ShowAs::Free => "FREE",
        ShowAs::Tentative => "TENTATIVE",
        ShowAs::Oof => "OOF",
        ShowAs::Elsewhere => "WORKINGELSEWHERE",
    };
    all.push(other("X-MICROSOFT-CDO-BUSYSTATUS", busy));
    if entry.show == ShowAs::Focus {
        all.push(other("X-DAYSHEET-SHOW", "FOCUS"));
    }
    let class = match entry.visibility {
        EventVisibility::Default => return,
        EventVisibility::Public => "PUBLIC",
        EventVisibility::Private => "PRIVATE",
        EventVisibility::Confidential => "CONFIDENTIAL",
    };
    all.push(text(ICalendarProperty::Class, class));
}

fn recurrence(repeat: &EventRecurrence, start: &ZonedTime, all: &mut Vec<ICalendarEntry>) {
    if !repeat.rule.is_empty() {
        let value = match RecurrenceRule::foreign(&repeat.fit(start)) {
            Some(rule) => {
                let mut parts = rule.parts;
                parts.until = rule.until.map(|until| match until {
                    RuleEnd::Day(day) => partial_day(day),
                    RuleEnd::Local(at) => partial(at, false),
                    RuleEnd::Utc(at) => partial(at, true),
                });
                ICalendarValue::RecurrenceRule(Box::new(parts))
            }
            // A rule that could not be parsed when it was read is written unchanged.
            None => ICalendarValue::Text(EventRecurrence::foreign(&repeat.rule)),
        };
        all.push(ICalendarEntry::new(ICalendarProperty::Rrule).with_value(value));
    }
    all.extend(dates(ICalendarProperty::Rdate, &repeat.extra, start));
    all.extend(dates(ICalendarProperty::Exdate, &repeat.except, start));
}

/// Returns days and instants as properties. Times in the zone of the start are separate from
/// those that only UTC can express.
fn dates(name: ICalendarProperty, list: &[EventTime], start: &ZonedTime) -> Vec<ICalendarEntry> {
    let mut days = Vec::new();
    let mut local = Vec::new();
    let mut utc = Vec::new();
    for when in list {
        match until_of(*when, start) {
            RuleEnd::Day(day) => days.push(partial_day(day)),
            RuleEnd::Local(at) if has_zone(start) => local.push(partial(at, false)),
            RuleEnd::Local(_) => {
                let at = TimeZone::UTC.to_datetime(when.instant(&TimeZone::UTC));
                utc.push(partial(at, true));
            }
            RuleEnd::Utc(at) => utc.push(partial(at, true)),
        }
    }
    let mut all = Vec::new();
    let entry = |list: Vec<PartialDateTime>| {
        let values = list.into_iter().map(Box::new).map(ICalendarValue::PartialDateTime);
        ICalendarEntry::new(name.clone()).with_values(values.collect())
    };
    if !days.is_empty() {
        all.push(entry(days).with_param(a_date()));
    }
    if let (ZonedTime::At(_, zone), false) = (start, local.is_empty()) {
        all.push(entry(local).with_param(in_zone(zone)));
    }
    if !utc.is_empty() {
        all.push(entry(utc));
    }
    all
}

fn moment(name: ICalendarProperty, at: &ZonedTime) -> ICalendarEntry {
    let value = |value| ICalendarValue::PartialDateTime(Box::new(value));
    let entry = ICalendarEntry::new(name);
    match at {
        ZonedTime::Day(day) => entry.with_value(value(partial_day(*day))).with_param(a_date()),
        ZonedTime::At(local, zone) if zone == "UTC" => {
            entry.with_value(value(partial(*local, true)))
        }
        ZonedTime::At(local, zone) if has_zone(at) => {
            entry.with_value(value(partial(*local, false))).with_param(in_zone(zone))
        }
        ZonedTime::At(..) => {
            // Without a VTIMEZONE, a TZID would be invalid (RFC 5545, 3.2.19).
            let utc = TimeZone::UTC.to_datetime(at.when().instant(&TimeZone::UTC));
            entry.with_value(value(partial(utc, true)))
        }
    }
}

/// Returns true for a time in a zone for which the library can write a `VTIMEZONE`.
fn has_zone(at: &ZonedTime) -> bool {
    match at {
        ZonedTime::Day(_) => false,
        ZonedTime::At(_, zone) => chrono_zone(zone),
    }
}

fn chrono_zone(name: &str) -> bool {
    matches!(Tz::from_str(name), Ok(Tz::Tz(zone)) if zone.name() == name)
}

fn attendee(guest: &EventGuest) -> ICalendarEntry {
    let mut entry = person(ICalendarProperty::Attendee, guest);
    let mut add = |name: ICalendarParameterName, value: &str| {
        let value = ICalendarParameterValue::Text(value.to_owned());
        entry.add_param(ICalendarParameter::new(name, value));
    };
    if guest.room {
        add(ICalendarParameterName::Cutype, "ROOM");
    }
    if guest.optional {
        add(ICalendarParameterName::Role, "OPT-PARTICIPANT");
    }
    match guest.answer {
        Some(InvitationAnswer::Accepted) => add(ICalendarParameterName::Partstat, "ACCEPTED"),
        Some(InvitationAnswer::Declined) => add(ICalendarParameterName::Partstat, "DECLINED"),
        Some(InvitationAnswer::Tentative) => add(ICalendarParameterName::Partstat, "TENTATIVE"),
        None => {
            add(ICalendarParameterName::Partstat, "NEEDS-ACTION");
            add(ICalendarParameterName::Rsvp, "TRUE");
        }
    }
    entry
}

fn person(name: ICalendarProperty, guest: &EventGuest) -> ICalendarEntry {
    let address = crate::text::cell(guest.address.as_str());
    let address = if address.contains(':') { address } else { format!("mailto:{address}") };
    let mut entry = uri(name, &address);
    if let Some(called) = &guest.name {
        // A parameter cannot contain a double quote (RFC 5545, 3.2).
        let called = crate::text::cell(called).replace('"', "'");
        let called = ICalendarParameterValue::Text(called);
        entry.add_param(ICalendarParameter::new(ICalendarParameterName::Cn, called));
    }
    entry
}

fn alarm(minutes: u32, title: &str) -> ICalendarComponent {
    let mut alarm = component(ICalendarComponentType::VAlarm);
    let before = ICalendarDuration { neg: minutes > 0, minutes, ..ICalendarDuration::default() };
    // DESCRIPTION is required for this kind of alarm (RFC 5545, 3.6.6).
    let title = if title.is_empty() { "Reminder" } else { title };
    alarm.entries = vec![
        text(ICalendarProperty::Action, "DISPLAY"),
        text(ICalendarProperty::Description, title),
        ICalendarEntry::new(ICalendarProperty::Trigger)
            .with_value(ICalendarValue::Duration(before)),
    ];
    alarm
}

fn component(kind: ICalendarComponentType) -> ICalendarComponent {
    ICalendarComponent { component_type: kind, entries: Vec::new(), component_ids: Vec::new() }
}

fn text(name: ICalendarProperty, value: &str) -> ICalendarEntry {
    ICalendarEntry::new(name).with_value(ICalendarValue::Text(clean(value)))
}

fn other(name: &str, value: &str) -> ICalendarEntry {
    text(ICalendarProperty::Other(name.to_owned()), value)
}

fn uri(name: ICalendarProperty, value: &str) -> ICalendarEntry {
    let value = clean(value).replace(['\n', '\t'], " ");
    ICalendarEntry::new(name).with_value(ICalendarValue::Uri(Uri::Location(value)))
}

/// Returns a word that needs no escapes.
fn plain_word(text: &str) -> String {
    let right = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    text.chars().filter(right).collect()
}

fn a_date() -> ICalendarParameter {
    let kind = ICalendarParameterValue::Value(ICalendarValueType::Date);
    ICalendarParameter::new(ICalendarParameterName::Value, kind)
}

fn in_zone(name: &str) -> ICalendarParameter {
    let name = ICalendarParameterValue::Text(name.to_owned());
    ICalendarParameter::new(ICalendarParameterName::Tzid, name)
}

fn partial_day(day: Date) -> PartialDateTime {
    PartialDateTime {
        year: u16::try_from(day.year()).ok(),
        month: u8::try_from(day.month()).ok(),
        day: u8::try_from(day.day()).ok(),
        ..PartialDateTime::default()
    }
}

fn partial(at: DateTime, utc: bool) -> PartialDateTime {
    PartialDateTime {
        hour: u8::try_from(at.hour()).ok(),
        minute: u8::try_from(at.minute()).ok(),
        second: u8::try_from(at.second()).ok(),
        tz_hour: utc.then_some(0),
        tz_minute: utc.then_some(0),
        ..partial_day(at.date())
    }
}
