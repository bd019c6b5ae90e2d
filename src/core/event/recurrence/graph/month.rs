//! The days of a month that a rule selects, and the equivalent Graph pattern.
//!
//! The days that a rule selects in a month depend only on the length of the month and on the day
//! of the week of its first day: 28 kinds of months. Two patterns are equivalent if they select
//! the same days in all of these.

use calcard::icalendar::ICalendarRecurrenceRule;

use crate::event::recurrence::place;

/// Graph's names for the positions of a day within a month.
pub const INDICES: [(&str, i32); 5] =
    [("first", 1), ("second", 2), ("third", 3), ("fourth", 4), ("last", -1)];

/// A day of the month in Graph's patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MonthDay {
    /// This day, or the last day of a shorter month.
    Absolute(i8),
    /// The first, second, …, last (-1) of the days that fall on these days of the week; Monday is
    /// 0.
    Relative(Vec<usize>, i32),
}

/// A kind of month.
#[derive(Debug, Clone, Copy)]
struct MonthKind {
    length: i8,
    /// The day of the week of its first day.
    first: usize,
}

impl MonthKind {
    fn weekday(self, day: i8) -> usize {
        (self.first + usize::try_from(day - 1).unwrap_or_default()) % 7
    }
}

/// Returns the pattern's day that equals the rule's days in all of `months`.
pub fn day(parts: &ICalendarRecurrenceRule, months: &[u8]) -> Option<MonthDay> {
    let kinds = kinds(months);
    let expected: Vec<Vec<i8>> = kinds.iter().map(|month| by_rule(parts, *month)).collect();
    let same = |day: &MonthDay| {
        let mut both = kinds.iter().zip(&expected);
        both.all(|(month, days)| day_of_month(day, *month).is_some_and(|one| *days == [one]))
    };
    let mut weekdays: Vec<usize> = parts.byday.iter().map(|day| place(day.weekday)).collect();
    weekdays.sort_unstable();
    weekdays.dedup();
    // Relative patterns come first: a rule with days of the week should stay one.
    let relative = INDICES
        .iter()
        .filter(|_| !weekdays.is_empty())
        .map(|(_, index)| MonthDay::Relative(weekdays.clone(), *index));
    relative.chain((1..=31).map(MonthDay::Absolute)).find(same)
}

fn kinds(months: &[u8]) -> Vec<MonthKind> {
    let mut lengths: Vec<i8> = Vec::new();
    for month in months {
        match month {
            2 => lengths.extend([28, 29]),
            4 | 6 | 9 | 11 => lengths.push(30),
            _ => lengths.push(31),
        }
    }
    lengths.sort_unstable();
    lengths.dedup();
    let each = |length: i8| (0..7).map(move |first| MonthKind { length, first });
    lengths.into_iter().flat_map(each).collect()
}

/// Returns the day that a pattern selects in a month.
fn day_of_month(day: &MonthDay, month: MonthKind) -> Option<i8> {
    match day {
        MonthDay::Absolute(day) => Some((*day).min(month.length)),
        MonthDay::Relative(weekdays, index) => {
            let days = (1..=month.length).filter(|day| weekdays.contains(&month.weekday(*day)));
            nth(&days.collect::<Vec<_>>(), *index)
        }
    }
}

fn nth(days: &[i8], index: i32) -> Option<i8> {
    let at = match index {
        0 => return None,
        1.. => usize::try_from(index - 1).ok()?,
        _ => days.len().checked_sub(usize::try_from(-index).ok()?)?,
    };
    days.get(at).copied()
}

/// Returns the days that a rule selects in a month.
fn by_rule(parts: &ICalendarRecurrenceRule, month: MonthKind) -> Vec<i8> {
    let fits_day = |day: i8| {
        parts.bymonthday.is_empty()
            || parts.bymonthday.iter().any(|one| *one == day || *one == day - month.length - 1)
    };
    let fits_weekday = |day: i8| {
        parts.byday.is_empty()
            || parts.byday.iter().any(|one| {
                let right = month.weekday(day) == place(one.weekday);
                let from_start = i16::from((day - 1) / 7 + 1);
                let from_end = -i16::from((month.length - day) / 7 + 1);
                right && one.ordwk.is_none_or(|nth| nth == from_start || nth == from_end)
            })
    };
    let days: Vec<i8> =
        (1..=month.length).filter(|day| fits_day(*day) && fits_weekday(*day)).collect();
    if parts.bysetpos.is_empty() {
        return days;
    }
    let mut chosen: Vec<i8> = parts.bysetpos.iter().filter_map(|at| nth(&days, *at)).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
