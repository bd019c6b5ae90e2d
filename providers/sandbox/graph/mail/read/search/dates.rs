//! The dates of Graph's `$search`.
//!
//! A day is one in UTC; a client that wants the user's day gives times with
//! their offsets. What is no date is nothing here, and found nowhere.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// The beginning of a day or of a second, and the beginning of the next, in
/// milliseconds since 1970.
pub(super) fn span(value: &str, now: Timestamp) -> Option<(i64, i64)> {
    if let Some(start) = moment(&value.to_uppercase()) {
        return Some((start, start.checked_add(1_000)?));
    }
    let today = now.to_zoned(TimeZone::UTC).date();
    let day = match value {
        "today" => today,
        "yesterday" => today.yesterday().ok()?,
        _ => day(value)?,
    };
    Some((midnight(day)?, midnight(day.checked_add(1.day()).ok()?)?))
}

/// A time of a day; one without an offset is in UTC.
fn moment(value: &str) -> Option<i64> {
    if let Ok(time) = value.parse::<Timestamp>() {
        return Some(time.as_millisecond());
    }
    let time: DateTime = value.parse().ok().filter(|_| value.contains('T'))?;
    let time = time.to_zoned(TimeZone::UTC).ok()?;
    Some(time.timestamp().as_millisecond())
}

/// `2026-02-03`, or the American `2/3/2026`.
fn day(value: &str) -> Option<Date> {
    if let Ok(day) = value.parse::<Date>() {
        return Some(day).filter(|_| value.len() == 10);
    }
    let mut numbers = value.split('/').map(|part| part.parse::<i16>().ok());
    let (month, day, year) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    let date = Date::new(year, month, day).ok()?;
    numbers.next().is_none().then_some(date)
}

fn midnight(day: Date) -> Option<i64> {
    let midnight = day.to_zoned(TimeZone::UTC).ok()?;
    Some(midnight.timestamp().as_millisecond())
}
