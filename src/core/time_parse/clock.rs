//! Times of day and durations: `18h05`, `6:30pm`, `noon`; `1h30m`.
//!
//! The date of a time of day, and its instant in a zone, are left to the parent module.

use std::str::FromStr;

use jiff::civil::{Time, time};
use jiff::{Span, SpanRelativeTo, Unit};

use crate::error::{Error, Result};
use crate::text;

/// The maximum duration in minutes: a leap year.
const MAX_MINUTES: f64 = 366.0 * 24.0 * 60.0;

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockTime {
    /// The time.
    pub time: Time,
    /// True for `24:00`, which is 0:00 of the next day.
    pub over: bool,
}

impl ClockTime {
    /// Parses a time of day and returns the number of words it takes, one or two (`6 pm`). `None`
    /// for words that do not look like a time of day.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) for an invalid time of day.
    pub fn read(word: &str, after: Option<&str>) -> Result<Option<(Self, usize)>> {
        let lower = word.trim_end_matches(',').to_ascii_lowercase();
        match lower.as_str() {
            "noon" => return Ok(Some((Self::new(12, 0, 0), 1))),
            "midnight" => {
                return Err(Error::argument("`midnight` could be either end of the day")
                    .next("write `00:00` for its start, or `24:00`"));
            }
            _ => {}
        }
        let (digits, half, used) = match half(&lower) {
            Some((digits, half)) => (digits, Some(half), 1),
            None => match after.map(str::to_ascii_lowercase).as_deref().and_then(half) {
                Some(("", half)) => (lower.as_str(), Some(half), 2),
                _ => (lower.as_str(), None, 1),
            },
        };
        let Some((hour, minute, second)) = digits_of(digits, half.is_some()) else {
            return Ok(None);
        };
        let wrong = || {
            let shown = match (used, after) {
                (2, Some(after)) => format!("{word} {after}"),
                _ => word.to_owned(),
            };
            Error::argument(format!("`{}` is not a time of day", text::brief(&shown)))
                .next("write it as `18h05`, `18:05` or `6:05pm`")
        };
        let hour = match half {
            None => hour,
            Some(_) if !(1..=12).contains(&hour) => return Err(wrong()),
            Some(DayHalf::Am) => hour % 12,
            Some(DayHalf::Pm) => hour % 12 + 12,
        };
        if (hour, minute, second) == (24, 0, 0) {
            let over = Self { time: Time::midnight(), over: true };
            return Ok(Some((over, used)));
        }
        match Time::new(hour, minute, second, 0) {
            Ok(time) => Ok(Some((Self { time, over: false }, used))),
            Err(_) => Err(wrong()),
        }
    }

    const fn new(hour: i8, minute: i8, second: i8) -> Self {
        Self { time: time(hour, minute, second, 0), over: false }
    }
}

#[derive(Clone, Copy)]
enum DayHalf {
    Am,
    Pm,
}

/// Strips `am` or `pm` from the end.
fn half(word: &str) -> Option<(&str, DayHalf)> {
    let word = word.trim_end_matches(',');
    for (ending, half) in
        [("a.m.", DayHalf::Am), ("am", DayHalf::Am), ("p.m.", DayHalf::Pm), ("pm", DayHalf::Pm)]
    {
        if let Some(rest) = word.strip_suffix(ending) {
            return Some((rest, half));
        }
    }
    None
}

/// Parses `18h05`, `18:05` or `18:05:30`; with `am` or `pm` also `6` and `6.05`.
fn digits_of(text: &str, half: bool) -> Option<(i8, i8, i8)> {
    let number = |part: &str, least: usize| -> Option<i8> {
        let fits = (least..=2).contains(&part.len());
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        (fits && digits).then(|| part.parse().ok()).flatten()
    };
    // A lone number is an hour only with `am` or `pm`; without, it could be a day or a year.
    if half && let Some(hour) = number(text, 1) {
        return Some((hour, 0, 0));
    }
    let (hour, rest) =
        if half { text.split_once([':', '.', 'h'])? } else { text.split_once([':', 'h'])? };
    let (minute, second) = match rest.split_once(':') {
        Some((minute, second)) => (minute, number(second, 2)?),
        None => (rest, 0),
    };
    Some((number(hour, 1)?, number(minute, 2)?, second))
}

/// Parses a duration into minutes: `30m`, `1h30m`, `90`, `2 days`, `1:30`, `PT45M`.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) if it is not understood, negative,
/// longer than a year, or not a whole number of minutes.
pub fn minutes(text: &str) -> Result<u32> {
    let line = text::cell(text);
    let wrong = |why: &str| {
        Error::argument(format!("`{}` is {why}", text::brief(&line)))
            .next("write it as `30m`, `1h30m`, `2 days`, or in minutes")
    };
    let unclear = || wrong("not a duration");
    if line.is_empty() {
        return Err(unclear());
    }
    let whole = if line.bytes().all(|byte| byte.is_ascii_digit()) {
        line.parse().map_err(|_| wrong("longer than a year"))?
    } else {
        span(&line)
            .and_then(|span| span.total((Unit::Minute, SpanRelativeTo::days_are_24_hours())).ok())
            .ok_or_else(unclear)?
    };
    if whole < 0.0 {
        return Err(wrong("negative"));
    }
    if whole > MAX_MINUTES {
        return Err(wrong("longer than a year"));
    }
    if whole.fract() != 0.0 {
        return Err(wrong("not a whole number of minutes"));
    }
    // Checked above: a whole number of at most a year.
    Ok(whole as u32)
}

/// Parses a duration as people write it.
pub(super) fn span(text: &str) -> Option<Span> {
    let lower = text.to_ascii_lowercase();
    // The library would read `1:30` as minutes and seconds.
    if let Some((hours, minutes)) = lower.split_once(':') {
        let (hours, minutes) = (small(hours)?, small(minutes)?);
        return Span::new()
            .try_hours(hours)
            .and_then(|span| span.try_minutes(minutes))
            .ok()
            .filter(|_| minutes < 60);
    }
    let lower = match lower.strip_prefix("an ").or(lower.strip_prefix("a ")) {
        Some(rest) => format!("1 {rest}"),
        None => lower.replace(" and ", " "),
    };
    if let Ok(span) = Span::from_str(&lower) {
        return Some(span);
    }
    // `1h30` omits the last unit.
    let (hours, minutes) = lower.split_once('h')?;
    let span = Span::new().try_hours(small(hours)?).ok()?;
    span.try_minutes(small(minutes)?).ok()
}

fn small(digits: &str) -> Option<i64> {
    let fits = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| digits.parse().ok()).flatten()
}
