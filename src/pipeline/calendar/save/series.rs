//! Moves a series: its start, its length, and the resulting rule and exceptions.
//!
//! Moves are differences of local time: an event moved from nine to ten is at ten in
//! summer and in winter.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::recurrence::{DAYS, EventRecurrence, RecurrenceRule, RuleEnd, place};
use daysheet_core::event::time::{self, EventTime, ZonedTime};
use daysheet_core::text::brief;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan};

use super::make::begins;
use super::span::{EventSpan, civil};

/// A recurring event, or the part of one that begins with an occurrence.
#[derive(Debug, Clone)]
pub(crate) struct SeriesBase {
    pub(super) start: ZonedTime,
    pub(super) end: ZonedTime,
    pub(super) repeat: EventRecurrence,
    pub(super) zone: TimeZone,
}

/// The same, moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MovedSeries {
    pub(super) start: ZonedTime,
    pub(super) end: ZonedTime,
    pub(super) repeat: EventRecurrence,
}

/// The distance and direction of a move.
struct SeriesMove<'b> {
    from: &'b TimeZone,
    to: &'b TimeZone,
    /// Whole days, of the calendar.
    days: i64,
    /// Days and hours together, on the clock.
    by: SignedDuration,
    /// The time of day after the move; `None` for whole days.
    time: Option<jiff::civil::Time>,
}

/// Returns the base with the occurrence at `seen` moved to `to`, and all others along with it.
/// `rule` replaces the rule, if given.
///
/// # Errors
/// If the rule names days, and the days that it means after the move are unclear.
pub(super) fn moved(
    base: &SeriesBase,
    seen: EventTime,
    to: &EventSpan,
    keep_length: bool,
    rule: Option<&str>,
) -> Result<MovedSeries> {
    let old = civil(&seen.zoned(&base.zone));
    let (new_start, new_end) = (to.start.local(&to.zone), to.end.local(&to.zone));
    let (first, last) = (civil(&base.start), civil(&base.end));
    let whole = to.start.is_day() || seen.is_day();
    let days = i64::from((new_start.date() - old.date()).get_days());
    let by =
        if whole { SignedDuration::from_hours(24 * days) } else { new_start.duration_since(old) };
    let mut start = add(first, by)?;
    // Between whole days and times, there is no time of day to move: the new one counts.
    if whole {
        start = start.date().to_datetime(new_start.time());
    }
    let length =
        if keep_length { last.duration_since(first) } else { new_end.duration_since(new_start) };
    let end = add(start, length)?;
    let by_rule = SeriesMove {
        from: &base.zone,
        to: &to.zone,
        days: i64::from((start.date() - first.date()).get_days()),
        by,
        time: (!to.start.is_day()).then(|| start.time()),
    };
    let name = |at: DateTime| match (by_rule.time, to.zone.iana_name()) {
        (Some(_), Some(zone)) => ZonedTime::At(at, zone.to_owned()),
        (Some(_), None) => EventTime::At(time::resolve(at, &to.zone)).zoned(&to.zone),
        (None, _) => ZonedTime::Day(at.date()),
    };
    let list = |list: &[EventTime]| list.iter().filter_map(|one| by_rule.when(*one)).collect();
    let repeat = EventRecurrence {
        rule: match rule {
            Some(rule) => rule.to_owned(),
            None => by_rule.rule(&base.repeat.rule, first.date(), start.date())?,
        },
        except: list(&base.repeat.except),
        extra: list(&base.repeat.extra),
    };
    let start = name(start);
    match rule {
        Some(_) => {
            let span = EventSpan { start: start.when(), ..to.clone() };
            begins(&repeat, &span)?;
        }
        // A rule that has the old start has to have the new one, too.
        None if by_rule.days != 0
            && base.repeat.first(&base.start).as_ref() == Some(&base.start)
            && repeat.first(&start).as_ref() != Some(&start) =>
        {
            return Err(unclear(&base.repeat.rule));
        }
        None => {}
    }
    Ok(MovedSeries { start, end: name(end), repeat })
}

fn add(at: DateTime, by: SignedDuration) -> Result<DateTime> {
    at.checked_add(by).map_err(|_| {
        Error::argument("the event would be out of range").next("give an earlier time")
    })
}

fn unclear(rule: &str) -> Error {
    Error::argument(format!(
        "it is unclear which days the rule {} means after the move",
        brief(rule)
    ))
    .next("give the new rule as `repeats`")
}

impl SeriesMove<'_> {
    /// Returns an exception, moved along.
    fn when(&self, at: EventTime) -> Option<EventTime> {
        let local = at.local(self.from);
        Some(match (at, self.time) {
            (_, None) => EventTime::Day(local.date().checked_add(self.days.days()).ok()?),
            // A day in a series with times means the occurrence on that day.
            (EventTime::Day(day), Some(_)) => {
                EventTime::Day(day.checked_add(self.days.days()).ok()?)
            }
            (EventTime::At(_), Some(_)) => {
                EventTime::At(time::resolve(local.checked_add(self.by).ok()?, self.to))
            }
        })
    }

    /// Returns the rule after the move of an event from `from` to `to`.
    fn rule(&self, text: &str, from: Date, to: Date) -> Result<String> {
        let Some(mut rule) = RecurrenceRule::foreign(text) else {
            // A rule that cannot be read is only valid as long as nothing moves.
            return if self.by.is_zero() { Ok(text.to_owned()) } else { Err(unclear(text)) };
        };
        rule.until = match rule.until {
            None => None,
            Some(until) => Some(self.until(until).ok_or_else(|| unclear(text))?),
        };
        let parts = &mut rule.parts;
        let timed = [&parts.byhour, &parts.byminute, &parts.bysecond];
        // BYHOUR and the like fix the time of day, and would contradict the new one.
        if !self.by.is_zero() && timed.iter().any(|list| !list.is_empty()) {
            return Err(unclear(text));
        }
        if self.days != 0 {
            let others = [
                parts.bysetpos.is_empty(),
                parts.byyearday.is_empty(),
                parts.byweekno.is_empty(),
                // A day of the week and one of the month: Friday the 13th.
                parts.byday.is_empty() || parts.bymonthday.is_empty(),
            ];
            if others.contains(&false) {
                return Err(unclear(text));
            }
            match parts.byday.as_mut_slice() {
                [] => {}
                [day] => {
                    let at = i64::try_from(place(day.weekday)).unwrap_or_default();
                    let at = usize::try_from((at + self.days).rem_euclid(7)).unwrap_or_default();
                    if let Some((_, weekday)) = DAYS.get(at) {
                        day.weekday = *weekday;
                    }
                    day.ordwk = day.ordwk.map(|nth| nth_of(to, nth));
                }
                // All of them are the same days a week later.
                _ if self.days % 7 == 0 => {}
                _ => return Err(unclear(text)),
            }
            match parts.bymonthday.as_mut_slice() {
                [] => {}
                [day] if i16::from(*day) == i16::from(from.day()) && same_month(from, to) => {
                    *day = to.day();
                }
                _ => return Err(unclear(text)),
            }
        }
        Ok(rule.write())
    }

    fn until(&self, until: RuleEnd) -> Option<RuleEnd> {
        Some(match until {
            RuleEnd::Day(day) => RuleEnd::Day(day.checked_add(self.days.days()).ok()?),
            RuleEnd::Local(at) if self.time.is_some() => {
                RuleEnd::Local(at.checked_add(self.by).ok()?)
            }
            RuleEnd::Utc(at) if self.time.is_some() => {
                let at = time::resolve(at, &TimeZone::UTC);
                let moved = self.from.to_datetime(at).checked_add(self.by).ok()?;
                let at = time::resolve(moved, self.to);
                RuleEnd::Utc(TimeZone::UTC.to_datetime(at))
            }
            // UNTIL has to have the type of DTSTART (RFC 5545, 3.3.10), which is a day now.
            RuleEnd::Local(at) => RuleEnd::Day(at.date().checked_add(self.days.days()).ok()?),
            RuleEnd::Utc(at) => {
                let at = self.from.to_datetime(time::resolve(at, &TimeZone::UTC));
                RuleEnd::Day(at.date().checked_add(self.days.days()).ok()?)
            }
        })
    }
}

fn same_month(one: Date, other: Date) -> bool {
    (one.year(), one.month()) == (other.year(), other.month())
}

/// Returns the position of a day among the same weekdays of its month, counted as
/// `like` is: from the first or from the last.
fn nth_of(day: Date, like: i16) -> i16 {
    if like > 0 {
        i16::from((day.day() - 1) / 7 + 1)
    } else {
        -i16::from((day.days_in_month() - day.day()) / 7 + 1)
    }
}
