//! The range of an agenda, read from the arguments of a call.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::time::{self, EventTime};
use daysheet_core::time_parse::{self, ParsedTime, TimeContext};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};

/// The number of days shown by default.
const DAYS: i32 = 7;
/// The number of days back that words are searched for by default.
const BACK: i32 = 30;
/// The number of days ahead.
const AHEAD: i32 = 365;

/// A stretch of time: events that end after `from` and start before `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimeRange {
    from: i64,
    to: i64,
}

impl TimeRange {
    /// Creates the range from one instant to another.
    pub(crate) fn new(from: Timestamp, to: Timestamp) -> Self {
        Self { from: from.as_microsecond(), to: to.as_microsecond() }
    }

    /// Returns its beginning.
    pub(crate) fn from(self) -> Timestamp {
        Timestamp::from_microsecond(self.from).unwrap_or(Timestamp::MIN)
    }

    /// Returns its end, which is excluded.
    pub(crate) fn to(self) -> Timestamp {
        Timestamp::from_microsecond(self.to).unwrap_or(Timestamp::MAX)
    }

    /// Returns true if an event from `start` to `end` takes place within the range.
    pub(crate) fn has(self, start: Timestamp, end: Timestamp) -> bool {
        // An event without length at the very start of the range counts, too.
        start < self.to() && (end > self.from() || start >= self.from())
    }

    /// Returns its first day and its last.
    pub(crate) fn dates(self, zone: &TimeZone) -> (Date, Date) {
        // An end at midnight belongs to the day before.
        let last = self.to().checked_sub(1.microsecond()).unwrap_or(self.to());
        let date = |at: Timestamp| zone.to_datetime(at).date();
        (date(self.from()), date(last))
    }

    /// Formats the range, including its last day: `Tue 2026-02-03 10h12 to Mon 2026-02-09`.
    pub(crate) fn in_words(self, zone: &TimeZone) -> String {
        let (from, to) = self.ends_in_words(zone);
        if from == to { from } else { format!("{from} to {to}") }
    }

    /// Formats its ends; of whole days, the first and the last day.
    fn ends_in_words(self, zone: &TimeZone) -> (String, String) {
        let whole = |at: Timestamp| {
            let day = zone.to_datetime(at).date();
            (EventTime::Day(day).instant(zone) == at).then_some(day)
        };
        let words = |day: Option<Date>, at: Timestamp| {
            time::start(day.map_or(EventTime::At(at), EventTime::Day), zone)
        };
        // An end at midnight belongs to the day before.
        let last = whole(self.to()).map(|day| day.saturating_sub(1.day()));
        (words(whole(self.from()), self.from()), words(last, self.to()))
    }
}

/// Reads the range of a search; `words` is true for a search for words.
pub(super) fn search(
    from: Option<&str>,
    to: Option<&str>,
    words: bool,
    here: &TimeContext,
) -> Result<TimeRange> {
    let (from, to) = (first(from, here)?, over(from, to, here)?);
    let now = minute(here.now);
    let range = match (from, to, words) {
        (Some(from), Some(to), _) => TimeRange::new(from, to),
        (None, Some(to), false) => TimeRange::new(now, to),
        (from, None, false) => {
            let from = from.unwrap_or(now);
            TimeRange::new(from, days_after(from, DAYS, &here.zone))
        }
        (from, to, true) => TimeRange::new(
            from.unwrap_or_else(|| days_before(now.min(to.unwrap_or(now)), BACK, &here.zone)),
            to.unwrap_or_else(|| days_after(now.max(from.unwrap_or(now)), AHEAD, &here.zone)),
        ),
    };
    check_range(range, here)
}

/// Refuses a range that ends before it begins.
fn check_range(range: TimeRange, here: &TimeContext) -> Result<TimeRange> {
    if range.from < range.to {
        return Ok(range);
    }
    let (from, to) = range.ends_in_words(&here.zone);
    Err(Error::argument(format!("`to` ({to}) is not after `from` ({from})"))
        .next("give a later `to`, or an earlier `from`"))
}

/// Reads a range whose ends may both be left out: from now on, for a number of days.
pub(crate) fn ahead(
    from: Option<&str>,
    to: Option<&str>,
    here: &TimeContext,
    last: impl Fn(Date) -> Date,
) -> Result<TimeRange> {
    let (from, to) = (first(from, here)?, over(from, to, here)?);
    let from = from.unwrap_or_else(|| minute(here.now));
    let to = to.unwrap_or_else(|| {
        let day = last(here.zone.to_datetime(from).date());
        ParsedTime::Day(day).over(&here.zone)
    });
    check_range(TimeRange::new(from, to), here)
}

/// Reads a range of days: today if neither end is given, the day of `from` if only that is.
pub(crate) fn days(from: Option<&str>, to: Option<&str>, here: &TimeContext) -> Result<TimeRange> {
    let (from, to) = (first(from, here)?, over(from, to, here)?);
    let from = from.unwrap_or_else(|| {
        let today = here.zone.to_datetime(here.now).date();
        EventTime::Day(today).instant(&here.zone)
    });
    let to = to.unwrap_or_else(|| {
        let day = here.zone.to_datetime(from).date();
        ParsedTime::Day(day).over(&here.zone)
    });
    check_range(TimeRange::new(from, to), here)
}

/// Reads the start of a range.
fn first(text: Option<&str>, here: &TimeContext) -> Result<Option<Timestamp>> {
    let read = |text| time_parse::read(text, here).map_err(|error| error.context("`from`"));
    Ok(text.map(read).transpose()?.map(|text| text.first(&here.zone)))
}

/// Reads the end of a range; a day counts in full. Without `to`, the range ends with the period
/// that `from` names, if that is longer than a day, such as `next week`.
fn over(from: Option<&str>, to: Option<&str>, here: &TimeContext) -> Result<Option<Timestamp>> {
    if let Some(to) = to {
        let end = time_parse::last(to, here).map_err(|error| error.context("`to`"))?;
        return Ok(Some(end.over(&here.zone)));
    }
    let Some(from) = from else { return Ok(None) };
    let ends = (time_parse::read(from, here)?, time_parse::last(from, here)?);
    Ok(match ends {
        (ParsedTime::Day(first), ParsedTime::Day(last)) if last > first => {
            Some(ParsedTime::Day(last).over(&here.zone))
        }
        _ => None,
    })
}

/// Returns the end of the day that many days later; midnight belongs to the day before it.
fn days_after(from: Timestamp, days: i32, zone: &TimeZone) -> Timestamp {
    let day = zone.to_datetime(from).date();
    let later = day.saturating_add(days.days());
    let whole = EventTime::Day(day).instant(zone) == from;
    let end = if whole { later } else { later.saturating_add(1.day()) };
    EventTime::Day(end).instant(zone)
}

/// Returns the beginning of the day that many days earlier.
fn days_before(to: Timestamp, days: i32, zone: &TimeZone) -> Timestamp {
    let day = zone.to_datetime(to).date();
    EventTime::Day(day.saturating_sub(days.days())).instant(zone)
}

/// Returns the current minute; finer times are not needed.
fn minute(now: Timestamp) -> Timestamp {
    let second = now.as_second();
    Timestamp::from_second(second - second.rem_euclid(60)).unwrap_or(now)
}
