//! Recurrence rules (RFC 5545): parsing, expansion, splitting.
//!
//! Rules are expanded by the `calcard` library, in local time without a zone; the conversion of
//! local times to instants is in `event/time.rs`. Graph's form of a rule (`recurrence/graph.rs`)
//! is here because the adapter and the sandbox need it and are independent of each other.
//!
//! Where RFC 5545 leaves a choice:
//! - The start is always the first occurrence and counts for `COUNT`, even if the rule does not
//!   generate it (the RFC calls the result undefined, but counts the start). `dateutil` omits
//!   such a start; `recurring-ical-events` shows it and does not count it.
//! - A rule with an `UNTIL` before the start has no occurrences, as in both libraries.
//! - `UNTIL` as a day includes that day, also for an event with a time of day.
//! - `EXDATE` as a day excludes the occurrences that start on that day in the event's zone.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::event::time::{self, EventTime, ZonedTime};

mod expand;
pub mod graph;
mod rule;

pub use rule::{
    DAYS, RecurrenceRule, RuleEnd, check_frequency, compact, compact_day, place, until,
};

/// The recurrence of an event: the properties of RFC 5545.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecurrence {
    /// The value of `RRULE`, without the name. Empty if there are only dates.
    pub rule: String,
    /// Excluded dates: `EXDATE`.
    pub except: Vec<EventTime>,
    /// Added dates: `RDATE`.
    pub extra: Vec<EventTime>,
}

/// An occurrence: its local time according to the rule, and its resulting time.
type RuleOccurrence = (DateTime, EventTime);

impl EventRecurrence {
    /// Checks a rule and returns it in the usual form: `FREQ` first, without `INTERVAL=1`, in
    /// upper case. A prefix `RRULE:` is removed.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) for a rule that RFC 5545 does not
    /// allow, or that repeats within a day by its frequency.
    pub fn rule(text: &str) -> Result<String> {
        RecurrenceRule::read(text).map(|rule| rule.write())
    }

    /// Reads the lines of Google and iCalendar: `RRULE:…`, `EXDATE…:…`, `RDATE…:…`. Times without
    /// a zone are in `zone`. Lines that cannot be read are skipped; a rule that cannot be read is
    /// kept unchanged, so that the event is still known to recur.
    pub fn from_lines<S: AsRef<str>>(lines: &[S], zone: &TimeZone) -> Self {
        let mut repeat = Self::default();
        for line in lines {
            let Some((name, value)) = halves(line.as_ref()) else {
                continue;
            };
            let mut params = name.split(';');
            let name = params.next().unwrap_or_default().trim();
            let zone = params
                .filter_map(|param| param.split_once('='))
                .find(|(key, _)| key.eq_ignore_ascii_case("TZID"))
                .and_then(|(_, id)| time::find_zone(id.trim_matches('"')))
                .unwrap_or_else(|| zone.clone());
            if name.eq_ignore_ascii_case("RRULE") {
                // RFC 5545, 3.8.5.3: the result of several rules is undefined, so the first
                // one is used.
                if repeat.rule.is_empty() {
                    repeat.rule = Self::foreign(value);
                }
            } else if name.eq_ignore_ascii_case("EXDATE") {
                repeat.except.extend(dates(value, &zone));
            } else if name.eq_ignore_ascii_case("RDATE") {
                repeat.extra.extend(dates(value, &zone));
            }
        }
        repeat
    }

    /// Returns a rule from an outside source: in the usual form if it can be parsed, unchanged
    /// except for control characters if not.
    pub fn foreign(text: &str) -> String {
        match RecurrenceRule::foreign(text) {
            Some(rule) => rule.write(),
            None => text
                .chars()
                .filter(|c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}'))
                .collect(),
        }
    }

    /// Returns the rule with its `UNTIL` in the type that RFC 5545 requires: a day for a start
    /// that is a day, UTC for a start with a time. A rule that cannot be parsed is returned
    /// unchanged.
    pub fn fit(&self, start: &ZonedTime) -> String {
        let Some(mut rule) = RecurrenceRule::foreign(&self.rule) else {
            return Self::foreign(&self.rule);
        };
        rule.until = rule.until.map(|until| match (until, start) {
            (RuleEnd::Day(_), ZonedTime::Day(_)) | (RuleEnd::Utc(_), ZonedTime::At(..)) => until,
            (RuleEnd::Local(at) | RuleEnd::Utc(at), ZonedTime::Day(_)) => RuleEnd::Day(at.date()),
            (RuleEnd::Day(_) | RuleEnd::Local(_), ZonedTime::At(..)) => {
                let zone = zone(start);
                let at = time::resolve(last(until, start, &zone).0, &zone);
                RuleEnd::Utc(TimeZone::UTC.to_datetime(at))
            }
        });
        rule.write()
    }

    /// Returns true if the rule itself has an occurrence at the start. RFC 5545 requires this,
    /// and some services enforce it.
    pub fn begins(&self, start: &ZonedTime) -> bool {
        let Some(rule) = self.read_for(start) else {
            return false;
        };
        let at = nominal_of(start);
        let at = at.with().subsec_nanosecond(0).build().unwrap_or(at);
        expand::expand(&rule, at, at, at, 1) == [at]
    }

    /// Parses the rule for an event that starts at `start`.
    fn read_for(&self, start: &ZonedTime) -> Option<RecurrenceRule> {
        let mut rule = RecurrenceRule::foreign(&self.rule)?;
        if matches!(start, ZonedTime::Day(_)) {
            // RFC 5545, 3.3.10: these parts are ignored if the start is a day.
            rule.parts.byhour.clear();
            rule.parts.byminute.clear();
            rule.parts.bysecond.clear();
        }
        Some(rule)
    }

    /// Returns the lines that [`from_lines`](Self::from_lines) reads, for an event that first
    /// starts at `start`. The rule [fits](Self::fit) the start; days are written as days, times
    /// in the zone of the start.
    pub fn lines(&self, start: &ZonedTime) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.rule.is_empty() {
            lines.push(format!("RRULE:{}", self.fit(start)));
        }
        for (name, list) in [("RDATE", &self.extra), ("EXDATE", &self.except)] {
            let mut days = Vec::new();
            let mut local = Vec::new();
            let mut utc = Vec::new();
            for when in list {
                match until_of(*when, start) {
                    RuleEnd::Day(day) => days.push(compact_day(day)),
                    RuleEnd::Local(at) => local.push(compact(at)),
                    RuleEnd::Utc(at) => utc.push(format!("{}Z", compact(at))),
                }
            }
            if !days.is_empty() {
                lines.push(format!("{name};VALUE=DATE:{}", days.join(",")));
            }
            if let (ZonedTime::At(_, zone), false) = (start, local.is_empty()) {
                lines.push(format!("{name};TZID={zone}:{}", local.join(",")));
            }
            if !utc.is_empty() {
                lines.push(format!("{name}:{}", utc.join(",")));
            }
        }
        lines
    }

    /// Returns the starts of an event that first starts at `start`, without exceptions, in order:
    /// the occurrences at or after `from` and before `to`, at most `most` of them. A day starts
    /// at its midnight in UTC here.
    ///
    /// Never fails: if the rule cannot be parsed, only the start and the added dates are
    /// returned. At most 20,000 occurrences of the rule are examined, and none later than 800
    /// years after `from` or the start.
    pub fn occurrences(
        &self,
        start: &ZonedTime,
        from: Timestamp,
        to: Timestamp,
        most: usize,
    ) -> Vec<EventTime> {
        let all = self.found(start, from, to, most);
        all.into_iter().map(|(_, when)| when).collect()
    }

    fn found(
        &self,
        start: &ZonedTime,
        from: Timestamp,
        to: Timestamp,
        most: usize,
    ) -> Vec<RuleOccurrence> {
        let zone = zone(start);
        // Exceptions are found first and excluded afterwards, so there must be room for them.
        let count = most.saturating_add(self.except.len());
        let mut all = self.by_rule(start, from, to, count);
        all.extend(self.extra.iter().map(|when| {
            let when = alike(*when, start, &zone);
            (when.local(&zone), when)
        }));
        all.retain(|(_, when)| {
            let at = instant(*when);
            from <= at && at < to && !self.excepts(*when, &zone)
        });
        all.sort_by_key(|(local, when)| (instant(*when), *local));
        // A date may be both added and generated by the rule (RFC 5545, 3.8.5.2).
        all.dedup_by_key(|(_, when)| *when);
        all.truncate(most);
        all
    }

    /// Returns the start and the occurrences of the rule, including excluded ones.
    fn by_rule(
        &self,
        start: &ZonedTime,
        from: Timestamp,
        to: Timestamp,
        most: usize,
    ) -> Vec<RuleOccurrence> {
        let zone = zone(start);
        let first = nominal_of(start);
        let Some(rule) = self.read_for(start) else {
            return vec![(first, start.when())];
        };
        let last = rule.until.map(|until| last(until, start, &zone));
        // An UNTIL before the start ends the series before it begins.
        if last.is_some_and(|(local, _)| local < first) {
            return Vec::new();
        }
        // Local times within two days around the range can be instants in it: no zone is
        // further than a day from UTC, and no gap is longer.
        let wide = |at: Timestamp, days: i64| {
            let at = TimeZone::UTC.to_datetime(at);
            let end = if days < 0 { DateTime::MIN } else { DateTime::MAX };
            at.checked_add(days.days()).unwrap_or(end)
        };
        let mut end = wide(to, 2);
        if let Some((local, _)) = last {
            end = end.min(local);
        }
        // The library ignores fractions of seconds.
        let whole = first.with().subsec_nanosecond(0).build().unwrap_or(first);
        let counted = rule.parts.count.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        let mut begin = wide(from, -2);
        // Occurrences in the two days around the range are found as well, and filtered by the
        // caller.
        let mut limit = most.saturating_add(1).saturating_add(5 * rule.times());
        if counted.is_some() {
            // COUNT counts from the first occurrence, whatever the range.
            begin = whole;
            limit = expand::MAX_OCCURRENCES;
        }
        let mut times = expand::expand(&rule, whole, begin, end, limit);
        if first_is_first(&rule, whole, &times, begin) {
            times.insert(0, whole);
        }
        if let Some(count) = counted {
            times.truncate(count);
        }
        times
            .into_iter()
            .map(|at| {
                let when = match start {
                    ZonedTime::Day(_) => EventTime::Day(at.date()),
                    ZonedTime::At(..) => EventTime::At(time::resolve(at, &zone)),
                };
                (at, when)
            })
            // The local limit is too late by hours where clocks change (see `last`), so an
            // UNTIL in UTC is also compared as an instant.
            .filter(|(_, when)| match (last, when) {
                (Some((_, Some(utc))), EventTime::At(at)) => *at <= utc,
                _ => true,
            })
            .collect()
    }

    fn excepts(&self, when: EventTime, zone: &TimeZone) -> bool {
        self.except.iter().any(|except| match (except, when) {
            (EventTime::Day(day), EventTime::At(at)) => zone.to_datetime(at).date() == *day,
            // Some programs exclude a whole day by its midnight, in UTC or in the event's
            // zone.
            (EventTime::At(at), EventTime::Day(day)) => {
                TimeZone::UTC.to_datetime(*at).date() == day || zone.to_datetime(*at).date() == day
            }
            (except, when) => *except == when,
        })
    }

    /// Returns the start of the last occurrence; `None` if the series is endless or has no
    /// occurrence.
    pub fn ends(&self, start: &ZonedTime) -> Option<Timestamp> {
        let rule = RecurrenceRule::foreign(&self.rule);
        let until = match &rule {
            Some(rule) if rule.parts.count.is_none() => match rule.until {
                None => return None,
                Some(until) => Some(last(until, start, &zone(start)).0),
            },
            _ => None,
        };
        let mut from = vec![Timestamp::MIN];
        if let Some(until) = until {
            // Most rules have an occurrence shortly before their end, so try short ranges
            // before expanding the whole series.
            let until = time::resolve(until, &TimeZone::UTC);
            for hours in [24 * 4_000, 24 * 400] {
                from.extend(until.checked_sub(hours.hours()).ok());
            }
        }
        from.into_iter().rev().find_map(|from| {
            let all = self.occurrences(start, from, Timestamp::MAX, expand::MAX_OCCURRENCES);
            all.last().map(|when| instant(*when))
        })
    }

    /// Returns the local time of the occurrence at `at` according to the rule, for a series that
    /// will start at that occurrence. It differs from the shown time if daylight saving skips it.
    pub fn nominal(&self, start: &ZonedTime, at: EventTime) -> Option<ZonedTime> {
        let at = alike(at, start, &zone(start));
        let (local, _) = self.rule_at(start, at)?;
        Some(match start {
            ZonedTime::Day(_) => ZonedTime::Day(local.date()),
            ZonedTime::At(_, zone) => ZonedTime::At(local, zone.clone()),
        })
    }

    /// Returns the first occurrence of the rule itself: later than the start if the rule does not
    /// include the start, `None` if it has no occurrence within 40 years.
    pub fn first(&self, start: &ZonedTime) -> Option<ZonedTime> {
        let rule = RecurrenceRule::foreign(&self.rule)?;
        let (local, zone) = match start {
            ZonedTime::Day(day) => (day.at(0, 0, 0, 0), None),
            ZonedTime::At(at, zone) => (*at, Some(zone)),
        };
        let local = local.with().subsec_nanosecond(0).build().unwrap_or(local);
        let mut end = local.checked_add(40.years()).unwrap_or(DateTime::MAX);
        if let Some(until) = rule.until {
            end = end.min(last(until, start, &self::zone(start)).0);
        }
        let found = expand::expand(&rule, local, local, end, 1);
        found.first().map(|at| match zone {
            None => ZonedTime::Day(at.date()),
            Some(zone) => ZonedTime::At(*at, zone.clone()),
        })
    }

    fn rule_at(&self, start: &ZonedTime, at: EventTime) -> Option<RuleOccurrence> {
        let from = instant(at);
        let to = from.checked_add(1.second()).unwrap_or(Timestamp::MAX);
        let all = self.by_rule(start, from, to, 64);
        all.into_iter().find(|(_, when)| *when == at)
    }

    /// Splits the rule into the part before the occurrence at `at` and the part from it on;
    /// `None` if no occurrence precedes it. The second part is for an event that first starts at
    /// the [`nominal`](Self::nominal) time of `at`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) if the rule has no occurrence at
    /// `at`.
    pub fn split(&self, start: &ZonedTime, at: EventTime) -> Result<Option<(Self, Self)>> {
        let zone = zone(start);
        let at = alike(at, start, &zone);
        let Some(rule) = RecurrenceRule::foreign(&self.rule) else {
            return Err(Error::argument("the event's rule cannot be split")
                .next("change one occurrence, or the whole series"));
        };
        if self.rule_at(start, at).is_none() {
            return Err(Error::argument("the rule has no occurrence at this time")
                .next("give the start of one of its occurrences"));
        }
        let here = instant(at);
        if self.occurrences(start, Timestamp::MIN, here, 1).is_empty() {
            return Ok(None);
        }
        let mut before = rule.clone();
        before.parts.count = None;
        before.until = Some(match at {
            EventTime::Day(day) => RuleEnd::Day(day.yesterday().unwrap_or(day)),
            EventTime::At(at) => {
                let at = at.checked_sub(1.second()).unwrap_or(at);
                RuleEnd::Utc(TimeZone::UTC.to_datetime(at))
            }
        });
        let mut after = rule.clone();
        if let Some(count) = rule.parts.count {
            // By the rule, because COUNT includes excluded occurrences.
            let past = self.by_rule(start, Timestamp::MIN, here, expand::MAX_OCCURRENCES);
            let past = past.iter().filter(|(_, when)| instant(*when) < here).count();
            let past = u32::try_from(past).unwrap_or(u32::MAX);
            // RFC 5545 has no COUNT of 0.
            after.parts.count = Some(count.saturating_sub(past).max(1));
        }
        let day = at.local(&zone).date();
        let part = |list: &[EventTime], first: bool| -> Vec<EventTime> {
            let keep = list.iter().filter(|when| match (when, at) {
                // A day excludes all occurrences on it, so it applies to both parts if the
                // split is on that day.
                (EventTime::Day(one), EventTime::At(_)) => {
                    if first {
                        *one <= day
                    } else {
                        *one >= day
                    }
                }
                _ => (instant(alike(**when, start, &zone)) < here) == first,
            });
            keep.copied().collect()
        };
        let half = |rule: RecurrenceRule, first: bool| Self {
            rule: rule.write(),
            except: part(&self.except, first),
            extra: part(&self.extra, first),
        };
        Ok(Some((half(before, true), half(after, false))))
    }
}

/// Returns true if the start must be inserted because the rule does not generate it.
fn first_is_first(
    rule: &RecurrenceRule,
    start: DateTime,
    found: &[DateTime],
    begin: DateTime,
) -> bool {
    // Near the start, the found occurrences show whether it is missing; in later ranges it
    // does not matter.
    let near = rule.parts.count.is_some() || begin <= start;
    near && found.first() != Some(&start)
}

/// Splits a line into a property's name with its parameters, and its value. Quoted parameters,
/// such as names of zones, can contain colons.
fn halves(line: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let at = line.find(|c: char| {
        quoted ^= c == '"';
        c == ':' && !quoted
    })?;
    let (name, value) = line.split_at_checked(at)?;
    Some((name, value.strip_prefix(':')?))
}

fn nominal_of(start: &ZonedTime) -> DateTime {
    match start {
        ZonedTime::Day(day) => day.at(0, 0, 0, 0),
        ZonedTime::At(at, _) => *at,
    }
}

fn zone(start: &ZonedTime) -> TimeZone {
    match start {
        ZonedTime::Day(_) => TimeZone::UTC,
        ZonedTime::At(_, zone) => time::find_zone(zone).unwrap_or(TimeZone::UTC),
    }
}

/// Returns the last local time that `UNTIL` allows, and the instant if it states one.
fn last(until: RuleEnd, start: &ZonedTime, zone: &TimeZone) -> (DateTime, Option<Timestamp>) {
    let whole = |day: Date| day.at(23, 59, 59, 0);
    match (until, start) {
        (RuleEnd::Day(day), _) => (whole(day), None),
        (RuleEnd::Local(at) | RuleEnd::Utc(at), ZonedTime::Day(_)) => (whole(at.date()), None),
        (RuleEnd::Local(at), ZonedTime::At(..)) => (at, None),
        (RuleEnd::Utc(at), ZonedTime::At(..)) => {
            let at = time::resolve(at, &TimeZone::UTC);
            // In a gap, the local time according to the rule is later than the shown one.
            let wide = at.checked_add(3.hours()).unwrap_or(at);
            (zone.to_datetime(wide).max(zone.to_datetime(at)), Some(at))
        }
    }
}

/// Converts a day or an instant to the type of the start.
fn alike(when: EventTime, start: &ZonedTime, zone: &TimeZone) -> EventTime {
    match (when, start) {
        (EventTime::At(at), ZonedTime::Day(_)) => {
            EventTime::Day(TimeZone::UTC.to_datetime(at).date())
        }
        (EventTime::Day(day), ZonedTime::At(at, _)) => {
            EventTime::At(time::resolve(day.to_datetime(at.time()), zone))
        }
        (when, _) => when,
    }
}

fn instant(when: EventTime) -> Timestamp {
    when.instant(&TimeZone::UTC)
}

/// Returns the form in which a date next to a rule is written: in the zone of the start if the
/// local time determines the instant, else in UTC.
pub fn until_of(when: EventTime, start: &ZonedTime) -> RuleEnd {
    match (when, start) {
        (EventTime::Day(day), _) => RuleEnd::Day(day),
        (EventTime::At(at), ZonedTime::At(_, name)) => {
            let zone = zone(start);
            let local = zone.to_datetime(at);
            if name != "UTC" && time::resolve(local, &zone) == at {
                RuleEnd::Local(local)
            } else {
                RuleEnd::Utc(TimeZone::UTC.to_datetime(at))
            }
        }
        (EventTime::At(at), ZonedTime::Day(_)) => RuleEnd::Utc(TimeZone::UTC.to_datetime(at)),
    }
}

/// Parses the values of `EXDATE` and `RDATE`. A period yields its start.
pub fn dates(value: &str, zone: &TimeZone) -> Vec<EventTime> {
    let each = value.split(',').filter_map(|one| {
        let one = one.split('/').next().unwrap_or(one);
        Some(match until(one.trim())? {
            RuleEnd::Day(day) => EventTime::Day(day),
            RuleEnd::Local(at) => EventTime::At(time::resolve(at, zone)),
            RuleEnd::Utc(at) => EventTime::At(time::resolve(at, &TimeZone::UTC)),
        })
    });
    each.collect()
}
