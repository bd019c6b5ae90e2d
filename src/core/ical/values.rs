//! Dates and times as written in a document, before their zone is known.
//!
//! The meaning of a `TZID` is in `zones.rs`, the resulting times of an event in `times.rs`.

use calcard::common::PartialDateTime;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};

use crate::event::recurrence::RuleEnd;
use crate::event::time::{self, EventTime, ZonedTime};

/// A date or time together with its written form.
#[derive(Debug, Clone, Copy)]
pub struct WrittenDate {
    /// The resulting day or instant.
    pub when: EventTime,
    /// The local time; `None` for a day.
    pub local_time: Option<DateTime>,
    /// True for a time that states no zone.
    pub floating: bool,
}

/// Returns a date or time without its zone, and the offset that it states.
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
        // A leap second counts as the second before.
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

/// Converts a date or time to a day or an instant. `zone` applies to times without a zone.
pub fn when(at: &PartialDateTime, zone: &TimeZone) -> Option<EventTime> {
    Some(match date_time(at)? {
        (RuleEnd::Day(day), _) => EventTime::Day(day),
        (RuleEnd::Utc(local), _) => EventTime::At(time::resolve(local, &TimeZone::UTC)),
        (RuleEnd::Local(local), Some(offset)) => {
            EventTime::At(time::resolve(local, &TimeZone::fixed(offset)))
        }
        (RuleEnd::Local(local), None) => EventTime::At(time::resolve(local, zone)),
    })
}

/// Converts a local time in a zone to UTC.
pub fn utc(local: DateTime, zone: &TimeZone) -> ZonedTime {
    EventTime::At(time::resolve(local, zone)).in_utc()
}
