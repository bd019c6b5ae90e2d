//! Times of events, as a day or an instant: their display, and the lookup of zones by name.
//!
//! This module reads the times that providers send, without a clock and without I/O except for
//! the zone database. Times written by people are parsed by `time_parse`.

use std::str::FromStr;

use calcard::common::timezone::Tz;
use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};
use windows_timezones::WindowsTimezone;

/// Windows names that were added to CLDR after the library's table was made.
const NEWER: [(&str, &str); 3] = [
    ("Alberta Standard Time", "America/Edmonton"),
    ("British Columbia Standard Time", "America/Vancouver"),
    ("Manitoba Standard Time", "America/Winnipeg"),
];

/// The separator before the local time in an event's own zone.
pub const BESIDE: &str = " = ";

/// The start or end of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventTime {
    /// A whole day in any zone. As an end, it is the day after the last one (RFC 5545, 3.6.1).
    Day(Date),
    /// An instant.
    At(Timestamp),
}

impl EventTime {
    /// Returns its instant in `zone`. A day begins at its first instant there.
    pub fn instant(self, zone: &TimeZone) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Day(day) => resolve(day.at(0, 0, 0, 0), zone),
        }
    }

    /// Returns its local time in `zone`. A day begins at midnight.
    pub fn local(self, zone: &TimeZone) -> DateTime {
        match self {
            Self::Day(day) => day.at(0, 0, 0, 0),
            Self::At(at) => zone.to_datetime(at),
        }
    }

    /// Returns the time with its zone; an instant is in UTC.
    pub fn in_utc(self) -> ZonedTime {
        match self {
            Self::Day(day) => ZonedTime::Day(day),
            Self::At(at) => ZonedTime::At(TimeZone::UTC.to_datetime(at), "UTC".to_owned()),
        }
    }

    /// Returns the local time in a zone. If the zone has no name, or if the local time is the second
    /// of two equal ones, which would mean the first, it is in UTC.
    pub fn zoned(self, zone: &TimeZone) -> ZonedTime {
        let at = match self {
            Self::Day(day) => return ZonedTime::Day(day),
            Self::At(at) => at,
        };
        let local = zone.to_datetime(at);
        match zone.iana_name() {
            Some(name) if resolve(local, zone) == at => ZonedTime::At(local, name.to_owned()),
            _ => self.in_utc(),
        }
    }

    /// Returns true for a whole day.
    pub fn is_day(self) -> bool {
        matches!(self, Self::Day(_))
    }
}

/// A time for writing: a day, or a local time in a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZonedTime {
    /// A whole day; as an end, the day after the last.
    Day(Date),
    /// A local time and the IANA name of its zone.
    At(DateTime, String),
}

impl ZonedTime {
    /// Returns the name of its zone; `None` for a day.
    pub fn zone(&self) -> Option<&str> {
        match self {
            Self::Day(_) => None,
            Self::At(_, zone) => Some(zone),
        }
    }

    /// Returns the day or instant. An unknown zone counts as UTC.
    pub fn when(&self) -> EventTime {
        match self {
            Self::Day(day) => EventTime::Day(*day),
            Self::At(local, zone) => {
                let zone = find_zone(zone).unwrap_or(TimeZone::UTC);
                EventTime::At(resolve(*local, &zone))
            }
        }
    }
}

/// Returns true if two starts mean the same occurrence: they are equal, or one is a day and the
/// other an instant on that day in one of `zones`.
pub fn same_start(one: EventTime, other: EventTime, zones: &[&TimeZone]) -> bool {
    match (one, other) {
        (EventTime::Day(day), EventTime::At(at)) | (EventTime::At(at), EventTime::Day(day)) => {
            zones.iter().any(|zone| zone.to_datetime(at).date() == day)
        }
        (one, other) => one == other,
    }
}

/// Formats `Tue 2026-02-03 18h05`, or `Tue 2026-02-03` for a day.
pub fn start(when: EventTime, zone: &TimeZone) -> String {
    match when {
        EventTime::Day(day) => weekday(day),
        EventTime::At(at) => {
            format!("{} {}", weekday(zone.to_datetime(at).date()), clock_at(at, zone))
        }
    }
}

/// Formats like [`start`], followed by the local time in the event's own zone if it differs:
/// `Tue 2026-02-03 20h30 = 19h30 Lisbon`, or `… = Wed 04h30 Tokyo` on another day.
pub fn start_beside(when: EventTime, zone: &TimeZone, own: &TimeZone) -> String {
    let shown = start(when, zone);
    let (EventTime::At(at), Some(name)) = (when, own.iana_name()) else {
        return shown;
    };
    let (here, there) = (zone.to_datetime(at), own.to_datetime(at));
    if here == there {
        return shown;
    }
    let day = if here.date() == there.date() {
        String::new()
    } else {
        format!("{} ", day_name(there.date()))
    };
    let city = name.rsplit('/').next().unwrap_or(name).replace('_', " ");
    format!("{shown}{BESIDE}{day}{} {city}", clock(there))
}

/// Formats the end of an event that starts at `from`: the time only on the same day, the last day
/// for whole days.
pub fn end(from: EventTime, to: EventTime, zone: &TimeZone) -> String {
    match (from, to) {
        (_, EventTime::Day(day)) => {
            let last = day.checked_sub(1.day()).unwrap_or(day);
            // An event whose end is its start takes up that whole day.
            let last = match from {
                EventTime::Day(first) => last.max(first),
                EventTime::At(_) => last,
            };
            last.to_string()
        }
        (from, EventTime::At(at)) => {
            let local = zone.to_datetime(at);
            let same = match from {
                EventTime::At(from) => zone.to_datetime(from).date() == local.date(),
                EventTime::Day(day) => day == local.date(),
            };
            let time = clock_at(at, zone);
            if same { time } else { format!("{} {time}", weekday(local.date())) }
        }
    }
}

/// Formats `Tue 2026-02-03`.
pub fn weekday(day: Date) -> String {
    format!("{} {day}", day_name(day))
}

fn day_name(day: Date) -> &'static str {
    const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let at = usize::try_from(day.weekday().to_monday_zero_offset()).unwrap_or_default();
    NAMES.get(at).copied().unwrap_or_default()
}

/// Formats an instant like [`clock`], with the offset in an hour that the clocks repeat. Without
/// it, an event from the first to the second 02h30 would seem to have no length.
fn clock_at(at: Timestamp, zone: &TimeZone) -> String {
    let local = zone.to_datetime(at);
    if zone.to_ambiguous_timestamp(local).is_ambiguous() {
        format!("{} {}", clock(local), at.to_zoned(zone.clone()).strftime("%z"))
    } else {
        clock(local)
    }
}

/// Formats `18h05`. Without a colon no format needs to quote it.
pub fn clock(local: DateTime) -> String {
    format!("{:02}h{:02}", local.hour(), local.minute())
}

/// Resolves a local time as RFC 5545, 3.3.5 does: to the first of two instants, and in a gap by
/// the offset before it.
pub fn resolve(local: DateTime, zone: &TimeZone) -> Timestamp {
    // The first and last hours of the supported years have no instant in some zones.
    zone.to_ambiguous_timestamp(local).compatible().unwrap_or(if local.year() < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
}

/// Returns the instant of a local time in a named zone, both as written by Graph.
pub fn local(text: &str, zone: &str) -> Option<Timestamp> {
    let local = DateTime::from_str(text).ok()?;
    Some(resolve(local, &find_zone(zone)?))
}

/// Returns the day of a local time.
pub fn day(text: &str) -> Option<Date> {
    DateTime::from_str(text).ok().map(DateTime::date)
}

/// Returns the zone with an IANA name, ignoring case, or a Windows name (CLDR), or a name that
/// older programs put into iCalendar documents.
pub fn find_zone(name: &str) -> Option<TimeZone> {
    let name = name.trim();
    if let Ok(zone) = TimeZone::get(name) {
        return Some(zone);
    }
    let newer = NEWER.iter().find(|(windows, _)| *windows == name);
    let windows = match newer {
        Some((_, iana)) => Some(*iana),
        None => WindowsTimezone::from_str(name).ok().map(WindowsTimezone::tzdb_id),
    };
    if let Some(iana) = windows {
        return TimeZone::get(iana).ok();
    }
    match Tz::from_str(name).ok()? {
        Tz::Tz(zone) => TimeZone::get(zone.name()).ok(),
        Tz::Fixed(offset) => {
            Offset::from_seconds(offset.local_minus_utc()).ok().map(TimeZone::fixed)
        }
        Tz::Floating => None,
    }
}

/// Returns the name of a zone, or its offset if it has no name.
pub fn zone_label(zone: &TimeZone) -> String {
    match (zone.iana_name(), zone.to_fixed_offset()) {
        (Some(name), _) => name.to_owned(),
        (None, Ok(offset)) => format!("UTC{offset}"),
        (None, Err(_)) => "UTC".to_owned(),
    }
}

/// Returns the IANA name of a zone with an IANA or Windows name.
pub fn zone_name(name: &str) -> Option<String> {
    find_zone(name)?.iana_name().map(str::to_owned)
}
