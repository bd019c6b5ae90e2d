//! The values of operators: sizes and points in time.
//!
//! Dates without a zone are in the user's zone; distances (`7d`) count back from the query's
//! clock.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned, civil};

use crate::error::{Error, Result};
use crate::text::brief;

/// The current time and zone, for relative dates and dates without a zone.
#[derive(Debug, Clone)]
pub struct DateContext {
    /// The current instant.
    pub now: Timestamp,
    /// The zone of plain dates.
    pub zone: TimeZone,
}

/// Parses `5M`, `300k` or `1024` into bytes; k, M and G are powers of 1,024.
pub(super) fn bytes(name: &str, value: &str) -> Result<u64> {
    let lower = value.to_ascii_lowercase();
    // `5MB` means the same as `5M`.
    let lower = lower.strip_suffix('b').unwrap_or(&lower);
    let (digits, unit) = match lower.char_indices().next_back() {
        Some((at, 'k')) => (lower.get(..at), 1 << 10),
        Some((at, 'm')) => (lower.get(..at), 1 << 20),
        Some((at, 'g')) => (lower.get(..at), 1 << 30),
        _ => (Some(lower), 1),
    };
    digits
        .and_then(|digits| digits.parse::<u64>().ok())
        .and_then(|count| count.checked_mul(unit))
        .ok_or_else(|| {
            Error::argument(format!("`{name}:{}` is not a size", brief(value)))
                .next(format!("write bytes, or a number with k, M or G: {name}:5M"))
        })
}

/// Parses a date, an instant, a distance back (`7d`), or a word for a day.
pub(super) fn instant(name: &str, value: &str, clock: &DateContext) -> Result<Timestamp> {
    let wrong = || {
        Error::argument(format!("`{name}:{}` is not a date", brief(value))).next(
            "write 2026-02-03, \"2026-02-03 18h05\", 7d (also h, w, m, y), today or yesterday",
        )
    };
    let lower = value.to_ascii_lowercase();
    let here = clock.now.to_zoned(clock.zone.clone());
    let midnight = |day: Zoned| day.start_of_day().map(|day| day.timestamp());
    let found = match lower.as_str() {
        "today" => midnight(here),
        "yesterday" => here.yesterday().and_then(midnight),
        "tomorrow" => here.tomorrow().and_then(midnight),
        _ => match distance(&lower) {
            Some(span) => here.checked_sub(span).map(|then| then.timestamp()),
            None => return absolute(&lower, clock).ok_or_else(wrong),
        },
    };
    found.map_err(|_| wrong())
}

/// Parses `36h`, `7d`, `2w`, `3m` (months) or `1y`.
fn distance(value: &str) -> Option<Span> {
    let at = value.find(|c: char| !c.is_ascii_digit())?;
    let (count, unit) = (value.get(..at)?, value.get(at..)?);
    let count: i64 = count.parse().ok()?;
    let span = Span::new();
    let span = match unit {
        "h" => span.try_hours(count),
        "d" => span.try_days(count),
        "w" => span.try_weeks(count),
        "m" => span.try_months(count),
        "y" => span.try_years(count),
        _ => return None,
    };
    span.ok()
}

fn absolute(value: &str, clock: &DateContext) -> Option<Timestamp> {
    // The value is in lower case, but `T` and `Z` of RFC 3339 are not.
    if let Ok(instant) = value.to_ascii_uppercase().parse::<Timestamp>() {
        return Some(instant);
    }
    // Gmail's queries write `2026/02/03`, our rows `18h05`.
    let plain = value.replace('/', "-").replace('h', ":");
    let local = match plain.parse::<civil::Date>() {
        Ok(day) if !plain.contains(':') => day.at(0, 0, 0, 0),
        _ => plain.parse::<civil::DateTime>().ok()?,
    };
    let zoned = clock.zone.to_ambiguous_zoned(local).compatible().ok()?;
    Some(zoned.timestamp())
}
