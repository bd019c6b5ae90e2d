//! Stretches of time, and the hours in which people meet.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::time::{self, EventTime};
use daysheet_core::provider::calendar::WorkingHours;
use daysheet_core::text;
use daysheet_core::time_parse::clock::ClockTime;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

/// The minutes of a day.
const DAY: u16 = 24 * 60;

/// Monday to Friday.
const WEEK: [i8; 5] = [0, 1, 2, 3, 4];

/// A stretch of time, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TimeStretch {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl TimeStretch {
    pub(super) fn new(from: Timestamp, length: SignedDuration) -> Option<Self> {
        let to = from.checked_add(length).ok()?;
        Some(Self { from, to })
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }
}

/// Returns the intersection of two lists, each in order and without overlaps, as is the result.
pub(super) fn common(one: &[TimeStretch], other: &[TimeStretch]) -> Vec<TimeStretch> {
    let mut found = Vec::new();
    let (mut ones, mut others) = (one.iter().peekable(), other.iter().peekable());
    while let (Some(a), Some(b)) = (ones.peek(), others.peek()) {
        let from = a.from.max(b.from);
        let to = a.to.min(b.to);
        if from < to {
            found.push(TimeStretch { from, to });
        }
        if a.to <= b.to {
            ones.next();
        } else {
            others.next();
        }
    }
    found
}

/// Returns `all` without `removed`; both in order and without overlaps.
pub(super) fn without(all: &[TimeStretch], removed: &[TimeStretch]) -> Vec<TimeStretch> {
    let mut left = Vec::new();
    for stretch in all {
        let mut from = stretch.from;
        for hole in removed.iter().filter(|hole| hole.overlaps(*stretch)) {
            if hole.from > from {
                left.push(TimeStretch { from, to: hole.from });
            }
            from = from.max(hole.to);
        }
        if from < stretch.to {
            left.push(TimeStretch { from, to: stretch.to });
        }
    }
    left
}

/// Returns the same times in order, with adjacent ones joined.
pub(super) fn merge(mut all: Vec<TimeStretch>) -> Vec<TimeStretch> {
    all.retain(|one| one.from < one.to);
    all.sort_unstable();
    let mut found: Vec<TimeStretch> = Vec::new();
    for one in all {
        match found.last_mut() {
            Some(last) if one.from <= last.to => last.to = last.to.max(one.to),
            _ => found.push(one),
        }
    }
    found
}

/// Hours of the day, as given in a call: `9-17`, `8:30-18`, `9am-5pm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DailyHours {
    from: u16,
    to: u16,
}

impl DailyHours {
    /// The default hours.
    pub(super) const USUAL: Self = Self { from: 9 * 60, to: 17 * 60 };

    /// Reads hours such as `9-17` or `8:30-18:00`.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            Error::argument(format!("`hours` is `{}`, not hours of a day", text::brief(text)))
                .next("write them as 9-17 or 8:30-18:00; 0-24 is any time, weekends too")
        };
        let parts = ["-", "–", "—", " to "].iter().find_map(|mark| text.split_once(mark));
        let (from, to) = parts.ok_or_else(wrong)?;
        let from = minute_of_day(from).ok_or_else(wrong)?;
        let to = minute_of_day(to).ok_or_else(wrong)?;
        if from < to { Ok(Self { from, to }) } else { Err(wrong()) }
    }

    /// Returns true if any time is acceptable.
    pub(super) fn is_any(self) -> bool {
        self.from == 0 && self.to == DAY
    }

    /// Formats `09h00-17h00`.
    pub(super) fn in_words(self) -> String {
        hours_text(self.from, self.to)
    }

    /// Returns these hours of the days of a range, only on weekdays if `week`.
    pub(super) fn within(
        self,
        range: TimeStretch,
        zone: &TimeZone,
        week: bool,
    ) -> Vec<TimeStretch> {
        let days = if week { &WEEK[..] } else { &[0, 1, 2, 3, 4, 5, 6] };
        daily(range, zone, days, self.from, self.to)
    }
}

/// Formats two minutes of the day: `09h00-17h00`.
pub(super) fn hours_text(from: u16, to: u16) -> String {
    let clock = |minutes: u16| format!("{:02}h{:02}", minutes / 60, minutes % 60);
    format!("{}-{}", clock(from), clock(to))
}

/// Returns a person's own hours in a range; `None` if their zone is unknown.
pub(super) fn own(hours: &WorkingHours, range: TimeStretch) -> Option<Vec<TimeStretch>> {
    let zone = time::find_zone(&hours.zone)?;
    // Invalid hours count as unknown.
    let valid = hours.from < hours.to && hours.to <= DAY && !hours.days.is_empty();
    valid.then(|| daily(range, &zone, &hours.days, hours.from, hours.to))
}

/// Returns the times from one minute of the day to another, on these days of the week.
fn daily(range: TimeStretch, zone: &TimeZone, days: &[i8], from: u16, to: u16) -> Vec<TimeStretch> {
    let day_of = |at: Timestamp| zone.to_datetime(at).date();
    let mut found = Vec::new();
    let (mut day, last) = (day_of(range.from), day_of(range.to));
    while day <= last {
        if days.contains(&day.weekday().to_monday_zero_offset()) {
            found.push(TimeStretch {
                from: minute_of(day, from, zone).max(range.from),
                to: minute_of(day, to, zone).min(range.to),
            });
        }
        match day.checked_add(1.day()) {
            Ok(next) => day = next,
            Err(_) => break,
        }
    }
    merge(found)
}

/// Returns the instant of a minute of a day in local time.
fn minute_of(day: Date, minute: u16, zone: &TimeZone) -> Timestamp {
    // 24h00 is midnight of the next day, not a time of this one.
    if minute >= DAY {
        let next = day.checked_add(1.day()).unwrap_or(day);
        return EventTime::Day(next).instant(zone);
    }
    // Added in local time: `resolve` handles times that daylight saving skips or repeats.
    let local =
        day.at(0, 0, 0, 0).checked_add(i64::from(minute).minutes()).unwrap_or(day.at(0, 0, 0, 0));
    time::resolve(local, zone)
}

/// Reads `9`, `9:30`, `9h30`, `5pm`, `24`.
fn minute_of_day(text: &str) -> Option<u16> {
    let text = text.trim();
    if let Ok(hour @ 0..=24) = text.parse::<u16>() {
        return Some(hour * 60);
    }
    let mut words = text.split_whitespace();
    let (clock, used) = ClockTime::read(words.next()?, words.next()).ok()??;
    if used != text.split_whitespace().count() || clock.time.second() != 0 {
        return None;
    }
    let (hour, minute) = (clock.time.hour(), clock.time.minute());
    if clock.over {
        Some(DAY)
    } else {
        u16::try_from(i32::from(hour) * 60 + i32::from(minute)).ok()
    }
}
