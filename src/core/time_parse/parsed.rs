//! A parsed time, and the current time that it depends on.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Unit};

use crate::error::{Error, Result};
use crate::event::time::{self, EventTime};

/// The current time, and the zone of times that state none.
#[derive(Debug, Clone)]
pub struct TimeContext {
    /// The current time.
    pub now: Timestamp,
    /// The zone.
    pub zone: TimeZone,
    /// True if the zone was given for this very time. An offset in the time must then equal the
    /// zone's.
    pub named: bool,
}

impl TimeContext {
    /// Returns the current local time, to the minute.
    pub fn local(&self) -> DateTime {
        let local = self.zone.to_datetime(self.now);
        DateTime::from_parts(local.date(), jiff::civil::time(local.hour(), local.minute(), 0, 0))
    }

    /// Returns the current time to the minute, which is the precision of shown times.
    pub fn minute(&self) -> Timestamp {
        let over = self.now.as_second().rem_euclid(60);
        Timestamp::from_second(self.now.as_second() - over).unwrap_or(self.now)
    }
}

/// A parsed time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParsedTime {
    /// A day, without a time.
    Day(Date),
    /// A local time in the zone, and its instant.
    At(DateTime, Timestamp),
}

impl ParsedTime {
    /// Returns the day or instant.
    pub fn when(self) -> EventTime {
        match self {
            Self::Day(day) => EventTime::Day(day),
            Self::At(_, at) => EventTime::At(at),
        }
    }

    /// Formats `Tue 2026-02-03 18h05`, or `Tue 2026-02-03` for a day, for reporting how a text
    /// was understood.
    pub fn formatted(&self, zone: &TimeZone) -> String {
        time::start(self.when(), zone)
    }

    /// Returns its day.
    pub fn day(self) -> Date {
        match self {
            Self::Day(day) => day,
            Self::At(local, _) => local.date(),
        }
    }

    /// Returns the beginning of a range that starts with this time.
    pub fn first(self, zone: &TimeZone) -> Timestamp {
        self.when().instant(zone)
    }

    /// Returns the end of a range that ends with this time. A day is included in full.
    pub fn over(self, zone: &TimeZone) -> Timestamp {
        match self {
            Self::Day(day) => {
                let after = day.checked_add(1.day()).unwrap_or(day);
                EventTime::Day(after).instant(zone)
            }
            Self::At(_, at) => at,
        }
    }
}

/// Adds a duration to an instant. Days keep the local time.
pub fn later(from: Timestamp, span: jiff::Span, zone: &TimeZone) -> Result<Timestamp> {
    let time_only = span.get_years() == 0
        && span.get_months() == 0
        && span.get_weeks() == 0
        && span.get_days() == 0;
    let sum = if time_only {
        from.checked_add(span)
    } else {
        from.to_zoned(zone.clone()).checked_add(span).map(|sum| sum.timestamp())
    };
    let sum = sum.and_then(|at| at.round(Unit::Minute));
    sum.map_err(|_| Error::argument("that is out of range"))
}
