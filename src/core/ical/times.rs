//! The times of an event: its start and end, its dates, and the occurrences of a rule in a zone
//! that only the document defines.

use std::collections::HashSet;

use calcard::icalendar::{ICalendarDuration, ICalendarPeriod, ICalendarValue};
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use super::scan::{ContentLine, DocumentNotes, IcalComponent, IcalProperty};
use super::settle::{day, days};
use super::values::{self, WrittenDate};
use super::zones::{DocumentZones, IcalZone};
use crate::event::recurrence::{EventRecurrence, RecurrenceRule, RuleEnd};
use crate::event::time::{self, EventTime, ZonedTime};

/// The maximum number of dates that replace a rule.
const DATES: usize = 500;

/// Returns a time, and also the local time if only the document defines its zone.
pub fn moment(
    line: &ContentLine,
    property: &IcalProperty,
    zones: &DocumentZones,
    recurs: bool,
    notes: &mut DocumentNotes,
) -> Option<(ZonedTime, Option<(DateTime, TimeZone)>)> {
    let Some(ICalendarValue::PartialDateTime(at)) = property.values().first() else {
        return None;
    };
    let id = property.param("TZID");
    let zone = zones.find(id, line.number, notes);
    let moment = zones.moment(at, id, &zone, recurs)?;
    let own = match (&zone, &moment, values::date_time(at)?) {
        (IcalZone::Own(own), ZonedTime::At(_, name), (RuleEnd::Local(local), None))
            if name == "UTC" =>
        {
            Some((local, own.clone()))
        }
        _ => None,
    };
    Some((moment, own))
}

/// Returns the local time of a property that states no zone.
pub fn floating(property: &IcalProperty) -> Option<DateTime> {
    match (property.values().first()?, property.param("TZID")) {
        (ICalendarValue::PartialDateTime(at), None) => match values::date_time(at)? {
            (RuleEnd::Local(at), None) => Some(at),
            _ => None,
        },
        _ => None,
    }
}

/// Replaces a rule in a zone that only the document defines by its dates. In UTC the rule would
/// fall on other hours and days. Returns the number of dates.
pub fn replace_with_dates(
    repeat: &mut EventRecurrence,
    start: DateTime,
    zone: &TimeZone,
) -> Option<usize> {
    let utc = |when: EventTime| TimeZone::UTC.to_datetime(when.instant(&TimeZone::UTC));
    let mut rule = RecurrenceRule::foreign(&repeat.rule)?;
    if let Some(RuleEnd::Utc(at)) = rule.until {
        let at = time::resolve(at, &TimeZone::UTC);
        rule.until = Some(RuleEnd::Local(zone.to_datetime(at)));
    }
    let by_clock = EventRecurrence { rule: rule.write(), ..EventRecurrence::default() };
    let start = ZonedTime::At(start, "UTC".to_owned());
    let found = by_clock.occurrences(&start, Timestamp::MIN, Timestamp::MAX, DATES);
    let times = found.iter().map(|at| time::resolve(utc(*at), zone));
    repeat.extra.extend(times.map(EventTime::At));
    repeat.rule.clear();
    Some(found.len())
}

/// Converts the `UNTIL` of an all-day rule to a day. Exchange writes midnight of its zone in UTC,
/// so this is the day that begins at that instant in a zone of the document.
pub fn until_day(repeat: &mut EventRecurrence, zones: &DocumentZones) {
    let Some(mut rule) = RecurrenceRule::foreign(&repeat.rule) else {
        return;
    };
    if let Some(RuleEnd::Utc(at)) = rule.until {
        let when = time::resolve(at, &TimeZone::UTC);
        let mut local = zones.all().map(|zone| zone.to_datetime(when));
        let begins = local.find(|local| local.time() == Time::midnight());
        rule.until = Some(RuleEnd::Day(begins.unwrap_or(at).date()));
        repeat.rule = rule.write();
    }
}

/// Returns the time at which a version was written, if it can be read.
pub fn stamp(property: &IcalProperty) -> Option<Timestamp> {
    match property.values().first()? {
        ICalendarValue::PartialDateTime(at) => {
            let at = values::when(at, &TimeZone::UTC)?;
            Some(at.instant(&TimeZone::UTC))
        }
        _ => None,
    }
}

/// Dates, and the starts and ends of dates that are periods.
pub type DateList = (Vec<WrittenDate>, Vec<(Timestamp, Timestamp)>);

/// Returns the dates of `RECURRENCE-ID`, `EXDATE` or `RDATE`.
pub fn dates(
    line: &ContentLine,
    property: &IcalProperty,
    zones: &DocumentZones,
    notes: &mut DocumentNotes,
) -> Option<DateList> {
    let id = property.param("TZID");
    let zone = zones.find(id, line.number, notes);
    let zone = zone.zone();
    let (mut dates, mut periods) = (Vec::new(), Vec::new());
    for value in property.values() {
        let (at, end) = match value {
            ICalendarValue::PartialDateTime(at) => (&**at, None),
            ICalendarValue::Period(ICalendarPeriod::Range { start, end }) => {
                (start, values::when(end, zone))
            }
            ICalendarValue::Period(ICalendarPeriod::Duration { start, duration }) => {
                let utc = || Some(values::when(start, zone)?.instant(&TimeZone::UTC));
                let from =
                    utc().map(|at| ZonedTime::At(TimeZone::UTC.to_datetime(at), "UTC".into()));
                let end = from.and_then(|from| after(&from, duration));
                (start, end.map(|end| end.when()))
            }
            // An empty list is invalid, but says nothing that could be lost.
            ICalendarValue::Text(text) if text.trim().is_empty() => continue,
            _ => return None,
        };
        let (local_time, floating) = match values::date_time(at)? {
            (RuleEnd::Local(at), None) => (Some(at), id.is_none()),
            (RuleEnd::Local(at) | RuleEnd::Utc(at), _) => (Some(at), false),
            (RuleEnd::Day(_), _) => (None, false),
        };
        let when = values::when(at, zone)?;
        if let (EventTime::At(from), Some(EventTime::At(to))) = (when, end)
            && from < to
        {
            periods.push((from, to));
        }
        dates.push(WrittenDate { when, local_time, floating });
    }
    Some((dates, periods))
}

/// Converts dates next to a rule to the type of the start: to days for an all-day series, and to
/// the zone of the start for times without a zone.
pub fn alike(
    repeat: &EventRecurrence,
    dates: &[WrittenDate],
    start: (&ZonedTime, Option<&TimeZone>),
    zones: &DocumentZones,
) -> Vec<EventTime> {
    let (start, own) = start;
    let named = match start {
        ZonedTime::At(_, name) => time::find_zone(name),
        ZonedTime::Day(_) => None,
    };
    let is_time = |one: &WrittenDate| !one.when.is_day();
    let days =
        if matches!(start, ZonedTime::Day(_)) && dates.iter().any(is_time) && zones.may_carry_out()
        {
            days(repeat, start)
        } else {
            HashSet::new()
        };
    let alike = |one: &WrittenDate| match (start, one.when, one.local_time) {
        (ZonedTime::Day(_), EventTime::At(at), Some(local_time)) => {
            EventTime::Day(day(at, local_time, zones.floating(), &days))
        }
        (ZonedTime::At(..), EventTime::At(_), Some(local_time)) if one.floating => {
            let zone = own.or(named.as_ref()).unwrap_or(zones.floating());
            EventTime::At(time::resolve(local_time, zone))
        }
        (_, when, _) => when,
    };
    dates.iter().map(alike).collect()
}

/// Returns the end: `DTEND`, or the start plus `DURATION`, or the default of RFC 5545, 3.6.1.
pub fn end(
    start: &ZonedTime,
    end: Option<ZonedTime>,
    length: Option<ICalendarDuration>,
    event: &IcalComponent,
    notes: &mut DocumentNotes,
) -> ZonedTime {
    let least = match start {
        ZonedTime::Day(day) => ZonedTime::Day(day.tomorrow().unwrap_or(*day)),
        at @ ZonedTime::At(..) => at.clone(),
    };
    let end = match (start, end, length) {
        (ZonedTime::Day(_), Some(ZonedTime::At(at, _)), _) => {
            notes.line(
                event.number,
                "the end has a time but the start has none: read as whole days",
            );
            // An end at midnight excludes the day that begins; any other time is on the last
            // day.
            if at.time() == Time::midnight() {
                ZonedTime::Day(at.date())
            } else {
                ZonedTime::Day(at.date().tomorrow().unwrap_or(at.date()))
            }
        }
        (ZonedTime::At(at, zone), Some(ZonedTime::Day(day)), _) => {
            notes.line(event.number, "the end has no time: read as the start of that day");
            // Some programs write the last day instead of the day after it.
            let day = if day == at.date() { day.tomorrow().unwrap_or(day) } else { day };
            ZonedTime::At(day.at(0, 0, 0, 0), zone.clone())
        }
        (_, Some(end), _) => end,
        (start, None, Some(length)) => after(start, &length).unwrap_or(least.clone()),
        (_, None, None) => return least,
    };
    let right = match (start, &end) {
        (ZonedTime::Day(start), ZonedTime::Day(end)) => {
            // Some programs write the last day instead of the day after it.
            if start == end {
                return least;
            }
            start < end
        }
        (ZonedTime::At(..), ZonedTime::At(..)) => {
            let (from, to) = (start.when(), end.when());
            from.instant(&TimeZone::UTC) <= to.instant(&TimeZone::UTC)
        }
        _ => false,
    };
    if !right {
        notes.line(event.number, "the event does not end after its start");
        return least;
    }
    end
}

/// Returns the end of a `DURATION`. Its weeks and days follow the calendar, its hours, minutes
/// and seconds are exact (RFC 5545, 3.3.6).
fn after(start: &ZonedTime, length: &ICalendarDuration) -> Option<ZonedTime> {
    if length.neg {
        return None;
    }
    let days = i64::from(length.weeks) * 7 + i64::from(length.days);
    let days = Span::new().try_days(days).ok()?;
    let seconds =
        (i64::from(length.hours) * 60 + i64::from(length.minutes)) * 60 + i64::from(length.seconds);
    Some(match start {
        ZonedTime::Day(day) => {
            let whole = seconds.div_euclid(24 * 60 * 60);
            let end = day.checked_add(days).ok()?;
            ZonedTime::Day(end.checked_add(Span::new().try_days(whole).ok()?).ok()?)
        }
        ZonedTime::At(local, name) => {
            let zone = time::find_zone(name)?;
            let end: DateTime = local.checked_add(days).ok()?;
            if seconds == 0 {
                return Some(ZonedTime::At(end, name.clone()));
            }
            let end =
                time::resolve(end, &zone).checked_add(SignedDuration::from_secs(seconds)).ok()?;
            EventTime::At(end).zoned(&zone)
        }
    })
}
