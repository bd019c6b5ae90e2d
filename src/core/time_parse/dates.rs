//! Dates in words: `tomorrow`, `next tue`, `5 june`, `in 3 days`, `next month`.
//!
//! Words that need a calendar are parsed by the `interim` library, relative to the local time as
//! if it were UTC. This module chooses among its readings, and ensures that no word is ignored:
//!
//! - a weekday is the next one, including today unless the given time of day has passed;
//!   `next tue` is Tuesday of next week, with weeks starting on Monday; `last tue` is the latest
//!   before today;
//! - a day or a month without a year is the one nearest to today;
//! - `next week` is Monday to Sunday; months and years are whole, too;
//! - `+7d`, `in 3 days` and `2 weeks ago` are days, `+3h` and `in 90 minutes` are instants.

use interim::{Dialect, parse_date_string};
use jiff::civil::{Date, DateTime, Weekday, date};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

use super::clock::{self, ClockTime};
use super::parsed::{ParsedTime, TimeContext, later};
use crate::error::{Error, Result};
use crate::event::time;

/// The meaning of a date in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateWords {
    /// The first and the last day, both included; usually the same.
    Days(Date, Date),
    /// An instant.
    At(Timestamp),
}

impl DateWords {
    /// Parses words in lower case; `None` if they are not understood. Times of day without a
    /// date, and distances, count from `start` if it is given.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) for a date that does not exist or
    /// contradicts itself.
    pub fn read(
        words: &[String],
        clock: Option<ClockTime>,
        context: &TimeContext,
        start: Option<ParsedTime>,
    ) -> Result<Option<Self>> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let today = context.local().date();
        let day = |day: Date| Ok(Some(Self::Days(day, day)));
        match words.as_slice() {
            [] => day(start.map_or(today, ParsedTime::day)),
            ["now"] => Ok(Some(Self::At(context.minute()))),
            ["day", "after", "tomorrow"] => ask("2 days", today).map_or(Ok(None), day),
            ["day", "before", "yesterday"] => ask("2 days ago", today).map_or(Ok(None), day),
            [word @ ("today" | "tomorrow" | "yesterday")] => ask(word, today).map_or(Ok(None), day),
            [which @ ("this" | "next" | "last"), unit @ ("week" | "month" | "year")] => {
                Ok(whole(which, unit, today))
            }
            [name] if weekday(name).is_some() => {
                coming(name, today, clock, context).map_or(Ok(None), day)
            }
            [which @ ("this" | "next" | "last"), name] if weekday(name).is_some() => {
                let found = match *which {
                    "this" => coming(name, today, clock, context),
                    "next" => week(today).and_then(|(_, sunday)| after(name, sunday)),
                    _ => yesterday(today).and_then(|base| before(name, base)),
                };
                found.map_or(Ok(None), day)
            }
            [name, rest @ ..] if weekday(name).is_some() => {
                let Some(named_day) = weekday(name) else {
                    return Ok(None);
                };
                match dated(rest, today)? {
                    Some((day, last)) if day == last => {
                        // A wrong weekday is a sign that the date may be wrong.
                        if day.weekday() == named_day {
                            Ok(Some(Self::Days(day, day)))
                        } else {
                            Err(Error::argument(format!("that day is {}", time::weekday(day)))
                                .next("correct the weekday or the date"))
                        }
                    }
                    _ => Ok(None),
                }
            }
            words => match dated(words, today)? {
                Some((first, last)) => Ok(Some(Self::Days(first, last))),
                None => distance(words, context, start),
            },
        }
    }
}

/// Parses words for a day with the library. They must consist of a day only, because the library
/// ignores what it does not understand.
fn ask(words: &str, base: Date) -> Option<Date> {
    ask_at(words, base.at(0, 0, 0, 0))
}

fn ask_at(words: &str, base: DateTime) -> Option<Date> {
    let base: Zoned = base.to_zoned(TimeZone::UTC).ok()?;
    // Dates in numbers are parsed before, so the dialect does not matter.
    parse_date_string(words, base, Dialect::Us).ok().map(|found| found.date())
}

/// Returns the first such weekday after `day`.
fn after(name: &str, day: Date) -> Option<Date> {
    ask_at(name, day.at(23, 59, 59, 0))
}

/// Returns the last such weekday up to `day`.
fn before(name: &str, day: Date) -> Option<Date> {
    ask_at(&format!("last {name}"), day.at(23, 59, 59, 0))
}

fn yesterday(today: Date) -> Option<Date> {
    today.checked_sub(1.day()).ok()
}

/// Returns the next such weekday, including today unless the given time of day has passed.
fn coming(
    name: &str,
    today: Date,
    clock: Option<ClockTime>,
    context: &TimeContext,
) -> Option<Date> {
    let found = after(name, yesterday(today)?)?;
    let is_past = clock.is_some_and(|clock| !clock.over && clock.time <= context.local().time());
    if found == today && is_past { after(name, today) } else { Some(found) }
}

/// Returns the Monday and the Sunday of a day's week.
fn week(day: Date) -> Option<(Date, Date)> {
    let back = i64::from(day.weekday().to_monday_zero_offset());
    let monday = day.checked_sub(Span::new().days(back)).ok()?;
    Some((monday, monday.checked_add(6.days()).ok()?))
}

/// Returns this, the next or the last week, month or year.
fn whole(which: &str, unit: &str, today: Date) -> Option<DateWords> {
    let count = match which {
        "next" => 1,
        "last" => -1,
        _ => 0,
    };
    let (first, last) = match unit {
        "week" => week(today.checked_add(Span::new().weeks(count)).ok()?)?,
        "month" => month_of(today.first_of_month().checked_add(Span::new().months(count)).ok()?),
        _ => {
            let first = today.first_of_year().checked_add(Span::new().years(count)).ok()?;
            (first, first.last_of_year())
        }
    };
    Some(DateWords::Days(first, last))
}

fn month_of(day: Date) -> (Date, Date) {
    (day.first_of_month(), day.last_of_month())
}

/// Parses a date, or a whole month or year.
fn dated(words: &[&str], today: Date) -> Result<Option<(Date, Date)>> {
    let (which, words) = match words {
        [which @ ("next" | "last" | "this"), rest @ ..] => (Some(*which), rest),
        words => (None, words),
    };
    let one = |day: Option<Date>| Ok(day.map(|day| (day, day)));
    match (which, words) {
        (None, [written]) if written.starts_with(|c: char| c.is_ascii_digit()) => numbers(written),
        (None, [name, year] | [year, name]) if month(name).is_some() && is_year(year) => {
            Ok(month(name)
                .zip(year.parse().ok())
                .and_then(|(month, year)| Date::new(year, month, 1).ok().map(month_of)))
        }
        (which, [name]) if month(name).is_some() => {
            Ok(nearest(which, "1", name, today).map(month_of))
        }
        (which, [name, day] | [day, name]) if month(name).is_some() && ordinal(day).is_some() => {
            let day = ordinal(day).unwrap_or_default();
            match nearest(which, day, name, today) {
                Some(day) => one(Some(day)),
                None => Err(no_day(&format!("{day} {name}"), None)),
            }
        }
        (None, [name, day, year] | [day, name, year])
            if month(name).is_some() && ordinal(day).is_some() && is_year(year) =>
        {
            let parts = (year.parse(), month(name), ordinal(day).map(str::parse));
            match parts {
                (Ok(year), Some(month), Some(Ok(day))) => {
                    calendar_day(year, month, day).map(|day| Some((day, day)))
                }
                _ => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// Returns true for text in the form `2026-02-03`.
pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Parses `2026-02-03`, `2026-02` or `2026`.
pub(super) fn numbers(written: &str) -> Result<Option<(Date, Date)>> {
    if written.contains('/') && written.bytes().all(|b| b.is_ascii_digit() || b == b'/') {
        return Err(Error::argument("such dates mean different days in different countries")
            .next("write the date as `2026-04-03`"));
    }
    let parts: Vec<&str> = written.split('-').collect();
    let number = |text: &str| -> Option<i8> {
        let fits = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        fits.then(|| text.parse().ok()).flatten()
    };
    match parts.as_slice() {
        [year] if is_year(year) => {
            Ok(year.parse().ok().map(|year| (date(year, 1, 1), date(year, 12, 31))))
        }
        [year, month] if is_year(year) => {
            let found = year.parse().ok().zip(number(month));
            Ok(found.and_then(|(year, month)| Date::new(year, month, 1).ok()).map(month_of))
        }
        [year, month, day] if is_year(year) => match (year.parse(), number(month), number(day)) {
            (Ok(year), Some(month), Some(day)) => {
                calendar_day(year, month, day).map(|day| Some((day, day)))
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

fn calendar_day(year: i16, month: i8, day: i8) -> Result<Date> {
    Date::new(year, month, day).map_err(|_| {
        let last = Date::new(year, month, 1).ok().map(Date::last_of_month);
        no_day(&format!("{year:04}-{month:02}-{day:02}"), last)
    })
}

fn no_day(what: &str, last: Option<Date>) -> Error {
    let error = Error::argument(format!("there is no day {what}"));
    match last {
        Some(last) => error.next(format!("that month ends on {last}")),
        None => error.next("give an existing day, such as `2026-02-28`"),
    }
}

/// Returns a day without a year: the one nearest to today, or the one that `next` or `last`
/// selects.
fn nearest(which: Option<&str>, day: &str, month: &str, today: Date) -> Option<Date> {
    let next = || ask(&format!("next {day} {month}"), today);
    let last = || ask(&format!("last {day} {month}"), today);
    let away = |day: Date| today.until(day).map_or(i32::MAX, |span| span.get_days().abs());
    match which {
        Some("next") => next(),
        Some("last") => last(),
        Some(_) => ask(&format!("{day} {month}"), today),
        None => match (next(), last()) {
            (Some(next), Some(last)) => Some(if away(last) < away(next) { last } else { next }),
            (next, last) => next.or(last),
        },
    }
}

/// Parses `+7d`, `in 3 days`, `2 weeks ago` or `-3h`.
fn distance(
    words: &[&str],
    context: &TimeContext,
    start: Option<ParsedTime>,
) -> Result<Option<DateWords>> {
    let line = words.join(" ");
    let (mut body, mut back, mut explicit) = (line.as_str(), false, false);
    if let Some(rest) = body.strip_prefix("in ").or(body.strip_prefix('+')) {
        (body, explicit) = (rest.trim_start(), true);
    } else if let Some(rest) = body.strip_prefix('-') {
        (body, back, explicit) = (rest.trim_start(), true, true);
    } else if let Some(rest) = body.strip_suffix(" ago") {
        (body, back, explicit) = (rest.trim_end(), true, true);
    }
    // A second sign, or a time of day, is not a distance.
    if body.starts_with(['+', '-']) || body.contains(':') {
        return Ok(None);
    }
    let Some(span) = clock::span(body) else {
        return Ok(None);
    };
    // `3h` could mean 3 o'clock, as in `18h05`.
    if !explicit && body.ends_with('h') && body.bytes().filter(u8::is_ascii_alphabetic).count() == 1
    {
        return Err(Error::argument("that could be a time of day or a duration")
            .next(format!("write `+{body}`, or the minutes as in `18h00`")));
    }
    let span = if back { span.negate() } else { span };
    let days = span.get_hours() == 0
        && span.get_minutes() == 0
        && span.get_seconds() == 0
        && span.get_milliseconds() == 0
        && span.get_microseconds() == 0
        && span.get_nanoseconds() == 0
        && !span.is_zero();
    if days {
        let from = start.map_or(context.local().date(), ParsedTime::day);
        let day = from.checked_add(span).map_err(|_| Error::argument("that is out of range"))?;
        return Ok(Some(DateWords::Days(day, day)));
    }
    let from = match start {
        Some(start) => start.first(&context.zone),
        None => context.minute(),
    };
    later(from, span, &context.zone).map(|at| Some(DateWords::At(at)))
}

/// Returns the weekday with this name or abbreviation of at least three letters.
fn weekday(word: &str) -> Option<Weekday> {
    const NAMES: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let at = NAMES.iter().position(|name| word.len() >= 3 && name.starts_with(word))?;
    Weekday::from_monday_zero_offset(i8::try_from(at).ok()?).ok()
}

/// Returns the month with this name or abbreviation of at least three letters.
fn month(word: &str) -> Option<i8> {
    const NAMES: [&str; 12] = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ];
    let at = NAMES.iter().position(|name| word.len() >= 3 && name.starts_with(word))?;
    i8::try_from(at + 1).ok()
}

/// Returns the digits of `5`, `5th` or `22nd`.
fn ordinal(word: &str) -> Option<&str> {
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    let fits = (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    fits.then_some(digits)
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit())
}
