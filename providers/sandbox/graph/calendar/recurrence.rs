//! Checks of recurrences against Graph's rules: the members that each type of pattern needs, and
//! their values.
//!
//! A valid pattern is then read as the adapter reads it, by `recurrence/graph.rs` of the core.

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::recurrence::graph;
use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use serde_json::Value;

use crate::graph::error::{GraphError, invalid_property, unknown_zone};
use crate::graph::zones::iana_name;

/// The number of days in which the first occurrence is looked for.
const SEARCH: usize = 366 * 8;

/// The maximum number of occurrences of a numbered range.
const MAX_COUNT: i64 = 999;

/// Checks the recurrence of an event that starts on `start`. Returns its rule, and the day of its
/// first occurrence.
pub(super) fn read(recurrence: &Value, start: Date) -> Result<(EventRecurrence, Date), GraphError> {
    let pattern = recurrence.get("pattern").filter(|it| it.is_object());
    let range = recurrence.get("range").filter(|it| it.is_object());
    let (pattern, range) = pattern.zip(range).ok_or_else(invalid_property)?;
    check_pattern(pattern)?;
    check_range(range, start)?;
    let first = first_day(pattern, start).ok_or_else(invalid_property)?;
    // The rule must begin with an actual occurrence: in iCalendar, the start counts as one even if
    // the rule does not generate it (RFC 5545, 3.8.5.3).
    let mut settled = recurrence.clone();
    if let Some(day) = settled.pointer_mut("/range/startDate") {
        *day = first.to_string().into();
    }
    let rule = graph::rule(&settled).ok_or_else(invalid_property)?;
    let repeat = EventRecurrence { rule, ..EventRecurrence::default() };
    Ok((repeat, first))
}

fn check_pattern(pattern: &Value) -> Result<(), GraphError> {
    let number = |name: &str| pattern.get(name).and_then(Value::as_i64);
    let between = |name: &str, low: i64, high: i64| {
        let good = number(name).is_some_and(|it| (low..=high).contains(&it));
        good.then_some(()).ok_or_else(invalid_property)
    };
    let days = || {
        let days = pattern.get("daysOfWeek").and_then(Value::as_array);
        let some = days.is_some_and(|days| !days.is_empty());
        some.then_some(()).ok_or_else(invalid_property)
    };
    between("interval", 1, 999)?;
    match pattern.get("type").and_then(Value::as_str) {
        Some("daily") => Ok(()),
        Some("weekly" | "relativeMonthly") => days(),
        Some("absoluteMonthly") => between("dayOfMonth", 1, 31),
        Some("absoluteYearly") => {
            between("dayOfMonth", 1, 31)?;
            between("month", 1, 12)?;
            // No year has a 30 February.
            let month = number("month").unwrap_or_default();
            let longest = match month {
                2 => 29,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            between("dayOfMonth", 1, longest)
        }
        Some("relativeYearly") => {
            days()?;
            between("month", 1, 12)
        }
        _ => Err(invalid_property()),
    }
}

fn check_range(range: &Value, start: Date) -> Result<(), GraphError> {
    let day = |name: &str| {
        let text = range.get(name).and_then(Value::as_str)?;
        text.parse::<Date>().ok()
    };
    if let Some(zone) = range.get("recurrenceTimeZone").and_then(Value::as_str) {
        iana_name(zone).ok_or_else(|| unknown_zone(zone))?;
    }
    // Graph wants the range to begin on the event's start date.
    if day("startDate") != Some(start) {
        return Err(invalid_property());
    }
    let good = match range.get("type").and_then(Value::as_str) {
        Some("noEnd") => true,
        Some("endDate") => day("endDate").is_some_and(|end| end >= start),
        Some("numbered") => {
            let count = range.get("numberOfOccurrences").and_then(Value::as_i64);
            count.is_some_and(|count| (1..=MAX_COUNT).contains(&count))
        }
        _ => false,
    };
    good.then_some(()).ok_or_else(invalid_property)
}

/// Returns the first day from `start` on that a pattern allows.
fn first_day(pattern: &Value, start: Date) -> Option<Date> {
    let days = start.series(1.day()).take(SEARCH);
    days.into_iter().find(|day| allows(pattern, *day))
}

/// Returns true if a pattern allows a day, apart from its interval.
fn allows(pattern: &Value, day: Date) -> bool {
    let number = |name: &str| pattern.get(name).and_then(Value::as_i64);
    let named = || {
        let days = pattern.get("daysOfWeek").and_then(Value::as_array);
        let mut days = days.into_iter().flatten().filter_map(Value::as_str);
        days.any(|name| weekday(name) == Some(day.weekday()))
    };
    let month = || number("month") == Some(day.month().into());
    // In a shorter month, Exchange uses the last day.
    let on = || number("dayOfMonth") == Some(day.day().into());
    let clipped = || {
        let beyond = number("dayOfMonth").is_some_and(|it| it > day.days_in_month().into());
        beyond && day.day() == day.days_in_month()
    };
    match pattern.get("type").and_then(Value::as_str) {
        Some("daily") => true,
        Some("weekly") => named(),
        Some("absoluteMonthly") => on() || clipped(),
        Some("absoluteYearly") => month() && (on() || clipped()),
        Some("relativeMonthly") => named() && nth(pattern, day),
        Some("relativeYearly") => month() && named() && nth(pattern, day),
        _ => false,
    }
}

/// Returns true if a day has the pattern's index among all days of its month with the named
/// weekdays.
fn nth(pattern: &Value, day: Date) -> bool {
    let names = pattern.get("daysOfWeek").and_then(Value::as_array);
    let named: Vec<Weekday> =
        names.into_iter().flatten().filter_map(|name| weekday(name.as_str()?)).collect();
    let in_month = |other: Date| other.month() == day.month();
    let all: Vec<Date> = day
        .first_of_month()
        .series(1.day())
        .take_while(|other| in_month(*other))
        .filter(|other| named.contains(&other.weekday()))
        .collect();
    let index = pattern.get("index").and_then(Value::as_str);
    let expected = match index.unwrap_or("first") {
        "first" => all.first(),
        "second" => all.get(1),
        "third" => all.get(2),
        "fourth" => all.get(3),
        _ => all.last(),
    };
    expected == Some(&day)
}

fn weekday(name: &str) -> Option<Weekday> {
    Some(match name {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}
