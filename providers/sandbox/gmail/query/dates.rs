//! The dates of Gmail's search language.
//!
//! A date alone means its midnight in California: that is what the API's
//! documentation warns of, and what a client that wants the user's midnight
//! must avoid by giving seconds since 1970.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

/// Where Gmail's days begin.
const ZONE: &str = "America/Los_Angeles";

/// The beginning of a day, or the second given, in milliseconds since 1970.
pub(super) fn day(text: &str) -> Option<i64> {
    if text.len() > 4 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse::<i64>().ok()?.checked_mul(1_000);
    }
    let mut numbers = text.split(['/', '-']).map(|part| part.parse::<i16>().ok());
    let (first, second, third) = (numbers.next()??, numbers.next()??, numbers.next()??);
    if numbers.next().is_some() {
        return None;
    }
    // 2026/02/03, or the American 02/03/2026.
    let (year, month, day) = match first {
        1000.. => (first, second, third),
        _ => (third, first, second),
    };
    let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    let midnight = date.to_zoned(TimeZone::get(ZONE).ok()?).ok()?;
    Some(midnight.timestamp().as_millisecond())
}

/// The time so many days, months or years before now: `2d`, `3m`, `1y`; hours
/// work too, if nowhere documented.
pub(super) fn ago(text: &str, now: Timestamp) -> Option<i64> {
    let unit = text.chars().last()?;
    let count: i64 = text.strip_suffix(unit)?.parse().ok()?;
    let span = match unit {
        'h' => Span::new().try_hours(count),
        'd' => Span::new().try_days(count),
        'm' => Span::new().try_months(count),
        'y' => Span::new().try_years(count),
        _ => return None,
    };
    let now = now.to_zoned(TimeZone::get(ZONE).ok()?);
    let then = now.checked_sub(span.ok()?).ok()?;
    Some(then.timestamp().as_millisecond())
}
