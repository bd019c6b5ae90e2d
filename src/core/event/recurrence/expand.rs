//! Expansion of rules to local times, by the library.
//!
//! Arguments and results are local times without a zone. The library always begins at the start,
//! so the start is moved closer to the window where the rule allows it; the cost of a search
//! depends on its window and not on the age of the event. Also, the library searches up to the
//! year 10,000 for each occurrence, so everything is moved as late as possible: the calendar
//! repeats every 400 years, including the days of the week.

use calcard::common::PartialDateTime;
use calcard::common::timezone::Tz;
use calcard::icalendar::{
    ICalendar, ICalendarComponent, ICalendarComponentType, ICalendarEntry, ICalendarFrequency,
    ICalendarProperty, ICalendarRecurrenceRule, ICalendarValue,
};
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use jiff::{Span, Timestamp, ToSpan};

use super::rule::{RecurrenceRule, place};

/// The maximum number of occurrences that a call examines.
pub const MAX_OCCURRENCES: usize = 20_000;

/// The number of years after the start, or after the beginning of the window, in which
/// occurrences are searched.
const YEARS: i64 = 800;

/// The number of years after which the calendar repeats.
const AGAIN: i64 = 400;

/// The year that moved dates stay below.
const LATE: i64 = 9_900;

/// Returns the first `most` local times of a rule from `start` on that are within `from` to `to`,
/// both inclusive, in order. Includes `start` only if the rule does.
pub fn expand(
    rule: &RecurrenceRule,
    start: DateTime,
    from: DateTime,
    to: DateTime,
    most: usize,
) -> Vec<DateTime> {
    if to < start || to < from || !possible(&rule.parts) {
        return Vec::new();
    }
    let mut parts = rule.clone().explicit(start).parts;
    let near = match parts.count {
        Some(_) => start,
        None => nearer(&parts, rule.interval(), start, from).unwrap_or(start),
    };
    let to = to.min(years(near.max(from), YEARS).unwrap_or(to));
    let later = (LATE - i64::from(to.year())).div_euclid(AGAIN).max(0) * AGAIN;
    let (Some(begin), Some(end)) = (years(near, later), years(to, later)) else {
        return Vec::new();
    };
    parts.until = Some(partial(end));
    // Occurrences between the start and the window are found first, so a small limit may not
    // reach the window. It grows as needed.
    let mut limit = most.saturating_add(64).min(MAX_OCCURRENCES);
    loop {
        let all = run(&parts, begin, limit);
        let cut = all.len() >= limit && limit < MAX_OCCURRENCES;
        let found: Vec<DateTime> = all
            .into_iter()
            .filter_map(|at| years(at, -later))
            .filter(|at| *at >= start && *at >= from && *at <= to)
            .take(most)
            .collect();
        if !cut || found.len() >= most {
            return found;
        }
        limit = limit.saturating_mul(8).min(MAX_OCCURRENCES);
    }
}

/// Returns the time this many years later. Leap days stay leap days if `years` is a multiple of
/// 400.
fn years(at: DateTime, years: i64) -> Option<DateTime> {
    at.checked_add(Span::new().try_years(years).ok()?).ok()
}

fn run(parts: &ICalendarRecurrenceRule, start: DateTime, limit: usize) -> Vec<DateTime> {
    let entry = |name, value| ICalendarEntry { name, params: Vec::new(), values: vec![value] };
    let event = ICalendarComponent {
        component_type: ICalendarComponentType::VEvent,
        entries: vec![
            entry(
                ICalendarProperty::Dtstart,
                ICalendarValue::PartialDateTime(Box::new(partial(start))),
            ),
            entry(
                ICalendarProperty::Rrule,
                ICalendarValue::RecurrenceRule(Box::new(parts.clone())),
            ),
        ],
        component_ids: Vec::new(),
    };
    let document = ICalendar { components: vec![event] };
    document
        .expand_dates(Tz::Floating, limit)
        .events
        .into_iter()
        // The library treats local times without a zone as UTC.
        .filter_map(|event| Timestamp::from_second(event.start.timestamp()).ok())
        .map(|at| Offset::UTC.to_datetime(at))
        .collect()
}

/// Returns a start closer to `from` that is in step with the interval. Only for rules without
/// `COUNT`, whose parts are explicit.
fn nearer(
    parts: &ICalendarRecurrenceRule,
    interval: i64,
    start: DateTime,
    from: DateTime,
) -> Option<DateTime> {
    if from <= start {
        return None;
    }
    let days = i64::from(start.date().until(from.date()).ok()?.get_days());
    let years = i64::from(from.year()) - i64::from(start.year());
    let steps = |span: i64| span.div_euclid(interval).saturating_mul(interval);
    let date = match parts.freq {
        ICalendarFrequency::Daily => forward(start.date(), steps(days), Span::try_days)?,
        ICalendarFrequency::Weekly => {
            // Whole weeks from the first day of the week (WKST) on, so that no day of the
            // first week is lost.
            let wkst = parts.wkst.map(place).unwrap_or_default();
            let today = usize::try_from(start.date().weekday().to_monday_zero_offset()).ok()?;
            let into = i64::try_from((today + 7 - wkst) % 7).ok()?;
            let week = start.date().checked_sub(into.days()).ok()?;
            forward(week, steps((days + into).div_euclid(7)), Span::try_weeks)?
        }
        // Within a month or a year any day will do, because the library examines all of it
        // and omits the time before the start.
        ICalendarFrequency::Monthly => {
            let months = years * 12 + i64::from(from.month()) - i64::from(start.month());
            let month = start.date().first_of_month();
            forward(month, steps(months), Span::try_months)?.last_of_month().min(from.date())
        }
        ICalendarFrequency::Yearly => {
            let year = start.date().first_of_year();
            forward(year, steps(years), Span::try_years)?.last_of_year().min(from.date())
        }
        _ => return None,
    };
    Some(date.at(0, 0, 0, 0).max(start))
}

fn forward(
    date: Date,
    steps: i64,
    span: impl Fn(Span, i64) -> std::result::Result<Span, jiff::Error>,
) -> Option<Date> {
    date.checked_add(span(Span::new(), steps).ok()?).ok()
}

/// Returns false for rules whose months and days never coincide. The library would search for
/// them through thousands of years.
fn possible(parts: &ICalendarRecurrenceRule) -> bool {
    if parts.bymonth.is_empty() || parts.bymonthday.is_empty() {
        return true;
    }
    parts.bymonth.iter().any(|month| {
        let longest = match month.month() {
            2 => 29,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        parts.bymonthday.iter().any(|day| day.unsigned_abs() <= longest)
    })
}

fn partial(at: DateTime) -> PartialDateTime {
    PartialDateTime {
        year: u16::try_from(at.year()).ok(),
        month: u8::try_from(at.month()).ok(),
        day: u8::try_from(at.day()).ok(),
        hour: u8::try_from(at.hour()).ok(),
        minute: u8::try_from(at.minute()).ok(),
        second: u8::try_from(at.second()).ok(),
        ..PartialDateTime::default()
    }
}
