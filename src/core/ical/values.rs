//! Dates and times as a document writes them, before it is known which zone they
//! are in.
//!
//! What a `TZID` means is in `zones.rs`, what the times of an event come to in
//! `times.rs`.

use calcard::common::PartialDateTime;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};

use crate::event_time::{self, EventTime, ZonedTime};
use crate::recurrence::RuleEnd;

/// A date as it is written.
#[derive(Debug, Clone, Copy)]
pub struct WrittenDate {
    /// When it is.
    pub when: EventTime,
    /// The local time; none for a day.
    pub local_time: Option<DateTime>,
    /// True for a time that names no zone.
    pub floating: bool,
}

/// Returns a date or a time without its zone, and the offset that it states.
pub fn date_time(at: &PartialDateTime) -> Option<(RuleEnd, Option<Offset>)> {
    let part = |part: Option<u8>| part.map(i8::try_from)?.ok();
    let day = Date::new(i16::try_from(at.year?).ok()?, part(at.month)?, part(at.day)?).ok()?;
    if at.hour.is_none() {
        return Some((RuleEnd::Day(day), None));
    }
    let second = part(at.second).unwrap_or_default();
    let time = Time::new(
        part(at.hour)?,
        part(at.minute)?,
        // A leap second counts as the one before.
        if second == 60 { 59 } else { second },
        0,
    )
    .ok()?;
    let local = day.to_datetime(time);
    match (at.tz_hour, at.tz_minute.unwrap_or_default()) {
        (None, _) => Some((RuleEnd::Local(local), None)),
        (Some(0), 0) => Some((RuleEnd::Utc(local), None)),
        (Some(hours), minutes) => {
            let seconds = (i32::from(hours) * 60 + i32::from(minutes)) * 60;
            let seconds = if at.tz_minus { -seconds } else { seconds };
            Some((RuleEnd::Local(local), Some(Offset::from_seconds(seconds).ok()?)))
        }
    }
}

/// Returns the same as a day or an instant; `zone` is that of a time without one.
pub fn when(at: &PartialDateTime, zone: &TimeZone) -> Option<EventTime> {
    Some(match date_time(at)? {
        (RuleEnd::Day(day), _) => EventTime::Day(day),
        (RuleEnd::Utc(local), _) => EventTime::At(event_time::resolve(local, &TimeZone::UTC)),
        (RuleEnd::Local(local), Some(offset)) => {
            EventTime::At(event_time::resolve(local, &TimeZone::fixed(offset)))
        }
        (RuleEnd::Local(local), None) => EventTime::At(event_time::resolve(local, zone)),
    })
}

/// Returns a local time of a zone, in UTC.
pub fn utc(local: DateTime, zone: &TimeZone) -> ZonedTime {
    EventTime::At(event_time::resolve(local, zone)).in_utc()
}
