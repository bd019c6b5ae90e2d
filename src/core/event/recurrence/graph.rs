//! Conversion of Graph's recurrence patterns from and to RRULE (RFC 5545).
//!
//! Graph has six kinds of patterns, at most one day of a month, and no single dates. An
//! equivalent rule in another form is converted too, by comparing its days in every possible
//! month. Other rules are refused with the reason.
//!
//! If a month lacks the pattern's day, Graph uses its last day (EWS,
//! `AbsoluteMonthlyRecurrence`), while RFC 5545 skips that month. So day 31 is `BYMONTHDAY=-1`,
//! day 30 is the last of the 28th to the 30th, and `BYMONTHDAY=31` is refused if the rule
//! includes a shorter month.

use calcard::icalendar::{ICalendarDay, ICalendarFrequency, ICalendarMonth};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{DAYS, EventRecurrence, RecurrenceRule, RuleEnd, until};
use crate::error::{Error, Result};
use crate::event::time::{self, ZonedTime};

mod month;
mod shape;

use month::INDICES;
use shape::{PatternShape, refusal};

/// Graph's names for the days of the week, Monday first.
const NAMES: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The maximum number of occurrences that Exchange counts.
const COUNTED: u32 = 999;

/// Returns Graph's `recurrence` object for a rule, for an event that first starts at `start` in
/// the zone called `zone`. Exceptions (`EXDATE`) are not included, because Graph has no place for
/// them; the caller deletes these occurrences.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) for a rule that Graph cannot express.
pub fn pattern(repeat: &EventRecurrence, start: &ZonedTime, zone: &str) -> Result<Value> {
    if !repeat.extra.is_empty() {
        return Err(refusal("cannot have dates besides its rule (RDATE)")
            .next("create separate events for these dates"));
    }
    // The strict parser's error says what is wrong with the rule.
    let rule = match RecurrenceRule::foreign(&repeat.rule) {
        Some(rule) => rule,
        None => RecurrenceRule::read(&repeat.rule)?,
    };
    check_times(&rule, start)?;
    // Graph cannot express a start outside of the pattern.
    if !repeat.begins(start) {
        return Err(not_begun(repeat, start));
    }
    let day = date(start);
    let shape = shape::pattern_shape(rule.clone(), day)?;
    let mut range = json!({
        "startDate": day.to_string(),
        "recurrenceTimeZone": zone,
    });
    match (rule.parts.count, rule.until) {
        (Some(_), Some(_)) => {
            return Err(
                refusal("cannot end by both a number and a date").next("keep COUNT or UNTIL")
            );
        }
        (Some(count), None) if count > COUNTED => {
            return Err(refusal(format!("has at most {COUNTED} occurrences"))
                .next("use UNTIL, or a series without an end"));
        }
        (Some(count), None) => {
            insert_member(&mut range, "type", "numbered".into());
            insert_member(&mut range, "numberOfOccurrences", count.into());
        }
        (None, Some(until)) => {
            // Graph's range has only a date, so a time in UNTIL is converted to the last day
            // it allows.
            let end = end(until, start);
            if end < day {
                return Err(refusal("must end after it starts").next("set UNTIL after the start"));
            }
            insert_member(&mut range, "type", "endDate".into());
            insert_member(&mut range, "endDate", end.to_string().into());
        }
        (None, None) => insert_member(&mut range, "type", "noEnd".into()),
    }
    Ok(json!({ "pattern": pattern_value(&shape), "range": range }))
}

/// Sets a member of a JSON object.
fn insert_member(object: &mut Value, name: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value);
    }
}

fn date(start: &ZonedTime) -> Date {
    match start {
        ZonedTime::Day(day) => *day,
        ZonedTime::At(at, _) => at.date(),
    }
}

/// Checks that every occurrence has the same time of day as the start.
fn check_times(rule: &RecurrenceRule, start: &ZonedTime) -> Result<()> {
    let ZonedTime::At(at, _) = start else {
        return Ok(());
    };
    let lists = [
        (&rule.parts.byhour, at.hour()),
        (&rule.parts.byminute, at.minute()),
        (&rule.parts.bysecond, at.second()),
    ];
    let other =
        lists.into_iter().any(|(list, own)| list.iter().any(|one| i8::try_from(*one) != Ok(own)));
    if other {
        Err(refusal("has one time of day, that of its start")
            .next("leave out BYHOUR, BYMINUTE and BYSECOND, and create an event for each time"))
    } else {
        Ok(())
    }
}

fn not_begun(repeat: &EventRecurrence, start: &ZonedTime) -> Error {
    let error = refusal("must start on a day of its rule");
    let alone = EventRecurrence { rule: repeat.rule.clone(), ..EventRecurrence::default() };
    let from = start.when().instant(&TimeZone::UTC);
    let all = alone.occurrences(start, from, jiff::Timestamp::MAX, 2);
    match all.get(1).and_then(|next| alone.nominal(start, *next)) {
        Some(next) => error.next(format!("start it on {}", date(&next))),
        None => error.next("change the start or the rule"),
    }
}

/// Returns the last day that can have an occurrence.
fn end(until: RuleEnd, start: &ZonedTime) -> Date {
    let (day, past) = match (until, start) {
        (RuleEnd::Day(day), _) => (day, false),
        (RuleEnd::Local(at) | RuleEnd::Utc(at), ZonedTime::Day(_)) => (at.date(), false),
        (RuleEnd::Local(at), ZonedTime::At(first, _)) => (at.date(), first.time() > at.time()),
        (RuleEnd::Utc(at), ZonedTime::At(first, name)) => {
            let zone = time::find_zone(name).unwrap_or(TimeZone::UTC);
            let at = time::resolve(at, &TimeZone::UTC);
            let day = zone.to_datetime(at).date();
            (day, time::resolve(day.to_datetime(first.time()), &zone) > at)
        }
    };
    if past { day.yesterday().unwrap_or(day) } else { day }
}

fn pattern_value(shape: &PatternShape) -> Value {
    let days = |days: &[usize]| -> Vec<&str> {
        let names = days.iter().filter_map(|at| NAMES.get(*at));
        names.copied().collect()
    };
    match shape {
        PatternShape::Daily { interval } => json!({ "type": "daily", "interval": interval }),
        PatternShape::Weekly { interval, days: list, first } => json!({
            "type": "weekly",
            "interval": interval,
            "daysOfWeek": days(list),
            "firstDayOfWeek": NAMES.get(*first),
        }),
        PatternShape::Monthly { interval, day } => match day {
            month::MonthDay::Absolute(day) => json!({
                "type": "absoluteMonthly",
                "interval": interval,
                "dayOfMonth": day,
            }),
            month::MonthDay::Relative(list, index) => json!({
                "type": "relativeMonthly",
                "interval": interval,
                "daysOfWeek": days(list),
                "index": index_name(*index),
            }),
        },
        PatternShape::Yearly { interval, month, day } => match day {
            month::MonthDay::Absolute(day) => json!({
                "type": "absoluteYearly",
                "interval": interval,
                "month": month,
                "dayOfMonth": day,
            }),
            month::MonthDay::Relative(list, index) => json!({
                "type": "relativeYearly",
                "interval": interval,
                "month": month,
                "daysOfWeek": days(list),
                "index": index_name(*index),
            }),
        },
    }
}

fn index_name(index: i32) -> &'static str {
    let found = INDICES.iter().find(|(_, one)| *one == index);
    found.map_or("first", |(name, _)| name)
}

/// Returns the `RRULE` for Graph's `recurrence` object. Its end is a day, as in Graph.
pub fn rule(recurrence: &Value) -> Option<String> {
    let pattern = recurrence.get("pattern")?;
    let mut rule = RecurrenceRule::foreign("FREQ=DAILY")?;
    let parts = &mut rule.parts;
    let interval = whole(pattern, "interval").unwrap_or(1).max(1);
    parts.interval = Some(u16::try_from(interval).ok()?).filter(|interval| *interval > 1);
    match lower_text(pattern, "type").as_str() {
        "daily" => {}
        "weekly" => {
            parts.freq = ICalendarFrequency::Weekly;
            parts.byday = days(pattern)?;
            // The first day of the week only matters if some weeks are skipped.
            if interval > 1 && parts.byday.len() > 1 {
                // Graph's default is Sunday.
                let first = weekday(&lower_text(pattern, "firstDayOfWeek")).unwrap_or(6);
                parts.wkst = DAYS.get(first).filter(|_| first > 0).map(|(_, day)| *day);
            }
        }
        "absolutemonthly" => {
            parts.freq = ICalendarFrequency::Monthly;
            match day_of(pattern)? {
                31 => parts.bymonthday = vec![-1],
                // Graph clamps these days to the end of shorter months: the last of the days
                // from 28 on.
                day @ 29..=30 => {
                    parts.bymonthday = (28..=day).collect();
                    parts.bysetpos = vec![-1];
                }
                day => parts.bymonthday = vec![day],
            }
        }
        "relativemonthly" => {
            parts.freq = ICalendarFrequency::Monthly;
            relative(pattern, &mut parts.byday, &mut parts.bysetpos)?;
        }
        "absoluteyearly" => {
            parts.freq = ICalendarFrequency::Yearly;
            let month = month_of(pattern)?;
            parts.bymonth = vec![ICalendarMonth::new(month, false)];
            let day = day_of(pattern)?;
            // A day that the month lacks is its last day in Graph.
            parts.bymonthday = match (month, day) {
                (2, 29..=31) => vec![-1],
                (4 | 6 | 9 | 11, 31) => vec![30],
                _ => vec![day],
            };
        }
        "relativeyearly" => {
            parts.freq = ICalendarFrequency::Yearly;
            parts.bymonth = vec![ICalendarMonth::new(month_of(pattern)?, false)];
            relative(pattern, &mut parts.byday, &mut parts.bysetpos)?;
        }
        _ => return None,
    }
    let range = recurrence.get("range").unwrap_or(&Value::Null);
    match lower_text(range, "type").as_str() {
        "enddate" => match until(&lower_text(range, "endDate"))? {
            RuleEnd::Day(day) => rule.until = Some(RuleEnd::Day(day)),
            RuleEnd::Local(at) | RuleEnd::Utc(at) => rule.until = Some(RuleEnd::Day(at.date())),
        },
        "numbered" => {
            let count = whole(range, "numberOfOccurrences")?;
            rule.parts.count = Some(u32::try_from(count).ok().filter(|count| *count > 0)?);
        }
        _ => {}
    }
    // Graph accepts some patterns that RFC 5545 does not allow, such as day 0. These have no
    // rule.
    RecurrenceRule::foreign(&rule.write()).map(|rule| rule.write())
}

/// Returns a text in lower case; empty if it is missing.
fn lower_text(object: &Value, name: &str) -> String {
    let text = object.get(name).and_then(Value::as_str).unwrap_or_default();
    text.to_ascii_lowercase()
}

fn whole(object: &Value, name: &str) -> Option<i64> {
    object.get(name)?.as_i64()
}

fn month_of(pattern: &Value) -> Option<u8> {
    let month = u8::try_from(whole(pattern, "month")?).ok()?;
    Some(month).filter(|month| (1..=12).contains(month))
}

fn day_of(pattern: &Value) -> Option<i8> {
    let day = i8::try_from(whole(pattern, "dayOfMonth")?).ok()?;
    Some(day).filter(|day| (1..=31).contains(day))
}

fn weekday(name: &str) -> Option<usize> {
    NAMES.iter().position(|one| one.eq_ignore_ascii_case(name))
}

fn days(pattern: &Value) -> Option<Vec<ICalendarDay>> {
    let mut days: Vec<usize> = pattern
        .get("daysOfWeek")?
        .as_array()?
        .iter()
        .map(|day| weekday(day.as_str()?))
        .collect::<Option<_>>()?;
    days.sort_unstable();
    days.dedup();
    let days: Vec<ICalendarDay> = days
        .into_iter()
        .filter_map(|at| DAYS.get(at))
        .map(|(_, weekday)| ICalendarDay { ordwk: None, weekday: *weekday })
        .collect();
    Some(days).filter(|days| !days.is_empty())
}

/// Converts to `BYDAY=2TU` for one day of the week, or to `BYDAY=MO,TU;BYSETPOS=2` for several.
fn relative(pattern: &Value, byday: &mut Vec<ICalendarDay>, setpos: &mut Vec<i32>) -> Option<()> {
    let index = match lower_text(pattern, "index").as_str() {
        // Graph's default is `first`.
        "" => 1,
        name => {
            let found = INDICES.iter().find(|(one, _)| one.eq_ignore_ascii_case(name));
            found?.1
        }
    };
    *byday = days(pattern)?;
    match byday.as_mut_slice() {
        [one] => one.ordwk = i16::try_from(index).ok(),
        _ => *setpos = vec![index],
    }
    Some(())
}
