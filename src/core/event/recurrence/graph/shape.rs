//! The choice of Graph's kind of pattern for a rule.

use calcard::icalendar::{ICalendarFrequency, ICalendarMonth, ICalendarRecurrenceRule};
use jiff::civil::Date;

use super::month::{self, MonthDay};
use crate::error::{Error, Result};
use crate::event::recurrence::{RecurrenceRule, place};

/// A recurrence pattern of Graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternShape {
    /// Every `interval` days.
    Daily {
        /// The number of days.
        interval: i64,
    },
    /// On these days of every `interval` weeks; weeks begin on `first`.
    Weekly {
        /// The number of weeks.
        interval: i64,
        /// The days; Monday is 0.
        days: Vec<usize>,
        /// The first day of the week.
        first: usize,
    },
    /// On a day of every `interval` months.
    Monthly {
        /// The number of months.
        interval: i64,
        /// The day.
        day: MonthDay,
    },
    /// On a day of a month of every `interval` years.
    Yearly {
        /// The number of years.
        interval: i64,
        /// The month, 1 to 12.
        month: u8,
        /// The day.
        day: MonthDay,
    },
}

/// Returns the pattern of a rule for an event that first occurs on `start`, a day of the rule.
pub fn pattern_shape(rule: RecurrenceRule, start: Date) -> Result<PatternShape> {
    use ICalendarFrequency::{Daily, Monthly, Weekly, Yearly};
    let rule = rule.explicit(start.at(0, 0, 0, 0));
    let interval = rule.interval();
    let mut parts = rule.parts;
    if !parts.byweekno.is_empty() {
        return Err(refusal("cannot count the weeks of a year (BYWEEKNO)")
            .next("use BYMONTH with BYMONTHDAY or BYDAY"));
    }
    if !parts.byyearday.is_empty() {
        return Err(refusal("cannot count the days of a year (BYYEARDAY)")
            .next("use BYMONTH with BYMONTHDAY"));
    }
    let nth = parts.byday.iter().any(|day| day.ordwk.is_some());
    if parts.freq == Yearly && nth && parts.bymonth.is_empty() {
        return Err(refusal("cannot count weekdays through a year")
            .next("add BYMONTH, or use FREQ=MONTHLY"));
    }
    let every = interval == 1 && parts.bymonth.is_empty() && parts.bysetpos.is_empty();
    // All days, or all Mondays, of every month or year are those of every week.
    if parts.freq != Weekly
        && every
        && parts.bymonthday.is_empty()
        && !parts.byday.is_empty()
        && !nth
    {
        parts.freq = Weekly;
    }
    // The 15th of the month with FREQ=DAILY, or of every month with FREQ=YEARLY, is monthly.
    if matches!(parts.freq, Daily | Yearly)
        && interval == 1
        && parts.bysetpos.is_empty()
        && !parts.bymonthday.is_empty()
        && (parts.freq == Daily || parts.bymonth.is_empty())
    {
        parts.freq = Monthly;
    }
    match parts.freq {
        Weekly => weekly(&parts, interval),
        Monthly => monthly(parts, interval, start),
        Yearly => yearly(parts, interval),
        _ => {
            let bare = parts.byday.is_empty()
                && parts.bymonth.is_empty()
                && parts.bymonthday.is_empty()
                && parts.bysetpos.is_empty();
            if bare {
                Ok(PatternShape::Daily { interval })
            } else {
                Err(refusal("with FREQ=DAILY cannot have conditions")
                    .next("use FREQ=WEEKLY or FREQ=MONTHLY with BYDAY"))
            }
        }
    }
}

fn weekly(parts: &ICalendarRecurrenceRule, interval: i64) -> Result<PatternShape> {
    if !parts.bymonth.is_empty() {
        return Err(refusal("cannot repeat in the weeks of some months (BYMONTH)")
            .next("end the series with UNTIL and create one for each period"));
    }
    let mut days: Vec<usize> = parts.byday.iter().map(|day| place(day.weekday)).collect();
    days.sort_unstable();
    days.dedup();
    // With one day a week, the first and the last day are the same.
    let all = |at: &i32| matches!(at, 1 | -1) && days.len() == 1;
    if !parts.bysetpos.iter().all(all) {
        return Err(refusal("cannot choose among the days of a week (BYSETPOS)")
            .next("name the days with BYDAY"));
    }
    Ok(PatternShape::Weekly { interval, days, first: parts.wkst.map(place).unwrap_or_default() })
}

fn monthly(parts: ICalendarRecurrenceRule, interval: i64, start: Date) -> Result<PatternShape> {
    let first = i64::from(start.month()) - 1;
    // The months of twelve steps: after these the sequence repeats.
    let visited: Vec<u8> = (0..12)
        .filter_map(|step: i64| u8::try_from((first + step * interval) % 12 + 1).ok())
        .collect();
    let included: Vec<bool> = visited
        .iter()
        .map(|month| parts.bymonth.is_empty() || months(&parts).contains(month))
        .collect();
    // The shortest step that reaches all included months and no others.
    let step = (1..=12_usize).find(|step| {
        let here = |(at, included): (usize, &bool)| *included == (at % step == 0);
        12 % step == 0 && included.iter().enumerate().all(here)
    });
    let Some(step) = step else {
        return Err(months_apart());
    };
    let mut visited: Vec<u8> = visited.into_iter().step_by(step).collect();
    visited.sort_unstable();
    visited.dedup();
    let Some(day) = month::day(&parts, &visited) else {
        return Err(no_day(&parts));
    };
    let interval = interval * i64::try_from(step).unwrap_or(1);
    Ok(match (visited.as_slice(), interval % 12) {
        // Each step reaches the same month.
        ([month], 0) if !parts.bymonth.is_empty() => {
            PatternShape::Yearly { interval: interval / 12, month: *month, day }
        }
        _ => PatternShape::Monthly { interval, day },
    })
}

fn yearly(parts: ICalendarRecurrenceRule, interval: i64) -> Result<PatternShape> {
    let list = months(&parts);
    if let [month] = list.as_slice() {
        let Some(day) = month::day(&parts, &list) else {
            return Err(no_day(&parts));
        };
        return Ok(PatternShape::Yearly { interval, month: *month, day });
    }
    if !parts.bysetpos.is_empty() {
        return Err(refusal("cannot choose among the days of a year (BYSETPOS)")
            .next("add BYMONTH with one month"));
    }
    // Months at equal distances, every year.
    let apart = match list.as_slice() {
        [one, two, ..] => two.saturating_sub(*one),
        _ => 0,
    };
    let even = apart > 0
        && interval == 1
        && list.len() * usize::from(apart) == 12
        && list.windows(2).all(|pair| match pair {
            [one, two] => two.saturating_sub(*one) == apart,
            _ => false,
        });
    if !even {
        return Err(if list.is_empty() { no_day(&parts) } else { months_apart() });
    }
    match month::day(&parts, &list) {
        Some(day) => Ok(PatternShape::Monthly { interval: i64::from(apart), day }),
        None => Err(no_day(&parts)),
    }
}

fn months(parts: &ICalendarRecurrenceRule) -> Vec<u8> {
    parts.bymonth.iter().map(ICalendarMonth::month).collect()
}

fn months_apart() -> Error {
    refusal("can repeat only in one month of the year, or in equally spaced months")
        .next("create a series for each month")
}

/// Returns the error for a rule that equals none of Graph's days, with the reason.
fn no_day(parts: &ICalendarRecurrenceRule) -> Error {
    let days = &parts.bymonthday;
    if parts.byday.is_empty() && parts.bysetpos.is_empty() {
        return match days.as_slice() {
            [29..=31] => refusal(
                "moves a day missing from a month to its last day, while the rule skips that month",
            )
            .next("use BYMONTHDAY=-1 for the last day, or a day up to 28"),
            [_] => {
                refusal("can count the days of a month only from its start, except for the last")
                    .next("use BYMONTHDAY=-1, or BYDAY=-1FR for the last Friday")
            }
            _ => several(),
        };
    }
    if !parts.byday.is_empty() && !days.is_empty() {
        return refusal("cannot combine a day of the month with a weekday")
            .next("leave out BYDAY or BYMONTHDAY");
    }
    if parts.byday.iter().any(|day| matches!(day.ordwk, Some(nth) if !(-1..=4).contains(&nth))) {
        return refusal("can use only the first to fourth or last weekday of a month")
            .next("use BYDAY with 1 to 4 or -1");
    }
    match parts.bysetpos.as_slice() {
        [] | [_, _, ..] => several(),
        [_] => refusal("can choose only the first to fourth or last of some weekdays")
            .next("use BYSETPOS with 1 to 4 or -1, and BYDAY"),
    }
}

fn several() -> Error {
    refusal("cannot repeat on several days of a month").next("create a series for each day")
}

/// Returns the error for a series that Graph cannot express; `what` completes "a series …".
pub fn refusal(what: impl std::fmt::Display) -> Error {
    Error::argument(format!("Outlook cannot repeat an event like this: a series {what}"))
}
