//! Relations between the events of a document: versions of one event, and exceptions of a series.

use std::collections::{HashMap, HashSet};

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

use super::scan::DocumentNotes;
use super::values::WrittenDate;
use crate::event::Event;
use crate::event::recurrence::{EventRecurrence, RecurrenceRule, RuleEnd, compact, compact_day};
use crate::event::time::{self, EventTime, ZonedTime};
use crate::text::{note, ours};

/// The maximum number of rules that are expanded to interpret a document, and of days of each.
const RULES: usize = 50;
const DAYS: usize = 5_000;

/// The maximum number of bytes of text copied for occurrences with their own end.
const COPIED: usize = 4 * 1024 * 1024;

/// An event as read, with data that is only needed to interpret the other events.
#[derive(Debug)]
pub struct RawEvent {
    /// The event, without its times.
    pub entry: Event,
    /// `DTSTART`.
    pub start: ZonedTime,
    /// `DTEND`, or the end according to `DURATION`.
    pub end: ZonedTime,
    /// The number of its first line.
    pub number: usize,
    /// `DTSTAMP` and `LAST-MODIFIED`.
    pub stamps: (Option<Timestamp>, Option<Timestamp>),
    /// `RECURRENCE-ID` in its written form.
    pub instead_of: Option<WrittenDate>,
    /// `RANGE=THISANDFUTURE`.
    pub following: bool,
    /// The starts and ends of `RDATE`s that are periods.
    pub periods: Vec<(Timestamp, Timestamp)>,
    /// True if it states no time.
    pub timeless: bool,
}

impl RawEvent {
    /// Returns the UID; empty if it is missing.
    fn uid(&self) -> &str {
        self.entry.uid.as_deref().unwrap_or_default()
    }

    /// Returns the event with its times.
    pub fn into_event(self) -> Event {
        let mut event = self.entry;
        event.set_times(&self.start, &self.end);
        event
    }
}

/// Keeps the latest version of each event, links exceptions to their series, and splits series at
/// changes to all later occurrences. Times without a zone are in `floating`.
pub fn settle(
    raws: Vec<RawEvent>,
    floating: &TimeZone,
    notes: &mut DocumentNotes,
) -> Vec<RawEvent> {
    let mut raws = latest(raws, notes);
    let series: HashMap<String, (ZonedTime, EventRecurrence)> = raws
        .iter()
        .filter(|raw| raw.entry.original.is_none() && !raw.uid().is_empty())
        .map(|raw| {
            let repeat = raw.entry.repeat.clone().unwrap_or_default();
            (raw.uid().to_owned(), (raw.start.clone(), repeat))
        })
        .collect();
    let (mut known, unknown) = (HashMap::new(), HashSet::new());
    let mut midnights = RULES;
    for raw in &mut raws {
        let Some((start, repeat)) = series.get(raw.uid()) else {
            continue;
        };
        let uid = raw.uid().to_owned();
        let at = &mut raw.entry.original;
        let written = raw.instead_of;
        match (start, *at, written.and_then(|at| at.local_time)) {
            (ZonedTime::Day(_), Some(EventTime::At(when)), Some(local_time)) => {
                // A document may have thousands of series, and expanding each would take too
                // long.
                if known.len() < RULES && !known.contains_key(&uid) {
                    known.insert(uid.clone(), days(repeat, start));
                }
                let days = known.get(&uid).unwrap_or(&unknown);
                *at = Some(EventTime::Day(day(when, local_time, floating, days)));
            }
            (ZonedTime::At(first, zone), Some(EventTime::Day(day)), _) => {
                let when = ZonedTime::At(day.to_datetime(first.time()), zone.clone());
                *at = Some(when.when());
            }
            (ZonedTime::At(_, zone), Some(EventTime::At(_)), Some(local_time))
                if written.is_some_and(|at| at.floating) =>
            {
                // Without a zone, the time is in the zone of the series.
                *at = Some(ZonedTime::At(local_time, zone.clone()).when());
            }
            _ => {}
        }
        if let (Some(EventTime::At(when)), Some(local_time)) =
            (*at, written.and_then(|at| at.local_time))
            && local_time.time() == Time::midnight()
            && let Some(left) = midnights.checked_sub(1)
        {
            midnights = left;
            *at = Some(of_day(repeat, start, when, local_time.date()));
        }
    }
    // Only now, with all references resolved, do versions of the same occurrence compare
    // equal.
    let raws = excluded(latest(raws, notes), notes);
    periods(following(raws, notes), notes)
}

/// Returns the day that a time refers to in an all-day series: the day it is written on or the
/// day that begins at that instant. A time in UTC may be midnight of an unknown zone; it refers
/// to the day of the series that begins then. `local_time` is the time as written.
pub fn day(at: Timestamp, local_time: DateTime, floating: &TimeZone, days: &HashSet<Date>) -> Date {
    let local = floating.to_datetime(at);
    let begins = |at: &DateTime| at.time() == Time::midnight();
    let date = local_time.date();
    if begins(&local_time) {
        return date;
    }
    if begins(&local) {
        return local.date();
    }
    // Only a time in UTC can mean another day than it is written on. No zone is more than 14
    // hours ahead, so midnight there is 10:00 UTC or later.
    let ahead = TimeZone::UTC.to_datetime(at) == local_time && local_time.hour() >= 10;
    let next = date.tomorrow().ok().filter(|next| ahead && days.contains(next));
    next.filter(|_| !days.contains(&date)).unwrap_or(date)
}

/// Returns the occurrence that a midnight refers to: the one that starts at that time, or else
/// the one on that day, because calendars published by Exchange give only the day.
fn of_day(repeat: &EventRecurrence, start: &ZonedTime, at: Timestamp, day: Date) -> EventTime {
    let ZonedTime::At(_, zone) = start else {
        return EventTime::At(at);
    };
    let begin = |day: Date| ZonedTime::At(day.at(0, 0, 0, 0), zone.clone()).when();
    // The reference may be to an occurrence that is also excluded.
    let all = EventRecurrence { except: Vec::new(), ..repeat.clone() };
    let first = |from: Timestamp, to: Timestamp| all.occurrences(start, from, to, 1).pop();
    let second = at.checked_add(1.second()).unwrap_or(at);
    let (EventTime::At(from), Ok(EventTime::At(to))) = (begin(day), day.tomorrow().map(begin))
    else {
        return EventTime::At(at);
    };
    first(at, second).or_else(|| first(from, to)).unwrap_or(EventTime::At(at))
}

/// Returns the first days of an all-day series, at most [`DAYS`].
pub fn days(repeat: &EventRecurrence, start: &ZonedTime) -> HashSet<Date> {
    let all = EventRecurrence { except: Vec::new(), ..repeat.clone() };
    let found = all.occurrences(start, Timestamp::MIN, Timestamp::MAX, DAYS);
    let days = found.into_iter().filter_map(|when| match when {
        EventTime::Day(day) => Some(day),
        EventTime::At(_) => None,
    });
    days.collect()
}

/// Returns the latest of several events with one UID that refer to the same occurrence.
fn latest(raws: Vec<RawEvent>, notes: &mut DocumentNotes) -> Vec<RawEvent> {
    let version = |raw: &RawEvent| (raw.entry.sequence, raw.stamps);
    let mut entries: Vec<RawEvent> = Vec::new();
    let mut places: HashMap<(String, Option<EventTime>), usize> = HashMap::new();
    for mut raw in raws {
        // Without a UID or a time there is nothing to compare by.
        if raw.uid().is_empty() || raw.timeless {
            entries.push(raw);
            continue;
        }
        let key = (raw.uid().to_owned(), raw.entry.original);
        let place = *places.entry(key).or_insert(entries.len());
        let Some(before) = entries.get_mut(place) else {
            entries.push(raw);
            continue;
        };
        // RFC 5546, 2.1.5: the higher SEQUENCE is newer, and with equal ones the later
        // DTSTAMP.
        if version(&raw) > version(before) {
            std::mem::swap(&mut raw, before);
        }
        notes.line(
            raw.number,
            note!(
                "left out: the event on line {} has the same UID and is as new",
                ours(before.number)
            ),
        );
    }
    entries
}

/// Removes occurrences that a later version of their series excludes.
fn excluded(mut raws: Vec<RawEvent>, notes: &mut DocumentNotes) -> Vec<RawEvent> {
    let mut gone = HashMap::new();
    for Event { uid, sequence, repeat, .. } in raws.iter().map(|raw| &raw.entry) {
        let except = repeat.iter().flat_map(|repeat| &repeat.except);
        gone.extend(except.map(|at| ((uid.clone(), *at), *sequence)));
    }
    raws.retain(|RawEvent { entry, number, .. }| {
        let excluded = entry.original.and_then(|at| gone.get(&(entry.uid.clone(), at)));
        // An occurrence that is at least as new as its series replaces the excluded date.
        let outdated = excluded.is_some_and(|sequence| *sequence > entry.sequence);
        if outdated {
            notes.line(*number, "left out: a later version of its series excludes this occurrence");
        }
        !outdated
    });
    raws
}

/// Converts a change to an occurrence and all later ones into a series.
fn following(mut raws: Vec<RawEvent>, notes: &mut DocumentNotes) -> Vec<RawEvent> {
    let at = |raw: &RawEvent| raw.entry.original.map(|at| at.instant(&TimeZone::UTC));
    let mut ranged: Vec<usize> =
        (0..raws.len()).filter(|place| raws.get(*place).is_some_and(|raw| raw.following)).collect();
    // The last one first, because it takes the end of the rule with it.
    ranged.sort_by_key(|place| std::cmp::Reverse(raws.get(*place).and_then(at)));
    for (number, place) in ranged.into_iter().enumerate() {
        let Some(raw) = raws.get(place) else {
            continue;
        };
        let is_master =
            |one: &RawEvent| one.entry.original.is_none() && one.entry.uid == raw.entry.uid;
        let master = raws.iter().position(is_master);
        let parted = master
            .filter(|_| number < RULES)
            .and_then(|master| raws.get(master))
            .and_then(|master| SplitSeries::from_exception(master, raw));
        let (Some(master), Some(parted)) = (master, parted) else {
            notes.line(raw.number, "replaces one occurrence, not the later ones");
            continue;
        };
        notes.line(raw.number, "it and all later occurrences form a separate series");
        let (from, uid) = (at(raw), raw.entry.uid.clone());
        // Later exceptions now belong to the new series.
        for other in &mut raws {
            if other.entry.uid == uid && other.entry.original.is_some() && at(other) > from {
                parted.move_exception(&mut other.entry);
            }
        }
        if let Some(raw) = raws.get_mut(place) {
            (raw.entry, raw.start, raw.end) = (parted.series, parted.start, parted.end);
        }
        if let Some(master) = raws.get_mut(master) {
            match parted.before {
                Some(before) => master.entry.repeat = Some(before),
                // The change begins at the first occurrence, so the old series has none left.
                None => master.entry.cancelled = true,
            }
        }
    }
    raws
}

/// A series split in two.
struct SplitSeries {
    /// The recurrence of the first part; `None` if the first part is empty.
    before: Option<EventRecurrence>,
    /// The second part, and its times.
    series: Event,
    start: ZonedTime,
    end: ZonedTime,
    zone: TimeZone,
    days: i64,
    by: SignedDuration,
}

impl SplitSeries {
    /// Splits a series at a change to all later occurrences. Returns `None` if the rule does not
    /// determine the days from there on.
    fn from_exception(master: &RawEvent, one: &RawEvent) -> Option<Self> {
        let (repeat, at) = (master.entry.repeat.as_ref()?, one.entry.original?);
        // The series continues in its own zone, whatever zone the change is written in.
        let (start, end, zone) = match (&master.start, &one.start, &one.end) {
            (ZonedTime::Day(_), start @ ZonedTime::Day(_), end) => {
                (start.clone(), end.clone(), TimeZone::UTC)
            }
            (ZonedTime::At(_, name), start @ ZonedTime::At(..), end) => {
                let zone = time::find_zone(name)?;
                (start.when().zoned(&zone), end.when().zoned(&zone), zone)
            }
            _ => return None,
        };
        let (days, by) = match (repeat.nominal(&master.start, at)?, &start) {
            (ZonedTime::Day(from), ZonedTime::Day(to)) => {
                let days = i64::from((*to - from).get_days());
                (days, SignedDuration::from_hours(24 * days))
            }
            (ZonedTime::At(from, _), ZonedTime::At(to, _)) => {
                let days = i64::from((to.date() - from.date()).get_days());
                (days, to.duration_since(from))
            }
            _ => return None,
        };
        let (before, after) = match repeat.split(&master.start, at).ok()? {
            Some((before, after)) => (Some(before), after),
            None => (None, repeat.clone()),
        };
        let mut parted = Self {
            before,
            series: Event {
                uid: Some(parted_uid(one.uid(), at)),
                original: None,
                ..one.entry.clone()
            },
            start,
            end,
            zone,
            days,
            by,
        };
        let rule = parted.rule(&after.rule)?;
        let list = |list: &[EventTime]| list.iter().filter_map(|at| parted.moved(*at)).collect();
        parted.series.repeat =
            Some(EventRecurrence { rule, except: list(&after.except), extra: list(&after.extra) });
        Some(parted)
    }

    /// Moves an exception of the series to its second part.
    fn move_exception(&self, other: &mut Event) {
        other.uid.clone_from(&self.series.uid);
        other.original = other.original.and_then(|at| self.moved(at));
    }

    fn moved(&self, at: EventTime) -> Option<EventTime> {
        Some(match at {
            EventTime::Day(day) => EventTime::Day(day.checked_add(self.days.days()).ok()?),
            EventTime::At(at) => {
                let local = self.zone.to_datetime(at).checked_add(self.by).ok()?;
                EventTime::At(time::resolve(local, &self.zone))
            }
        })
    }

    fn rule(&self, text: &str) -> Option<String> {
        let mut rule = RecurrenceRule::foreign(text)?;
        let parts = &mut rule.parts;
        let timed = [&parts.byhour, &parts.byminute, &parts.bysecond];
        // A rule with fixed times of day would contradict the moved start.
        if !self.by.is_zero() && timed.iter().any(|list| !list.is_empty()) {
            return None;
        }
        if self.days != 0 {
            // A single day of the week is the day of the start, so it moves with the start.
            if let [day] = parts.byday.as_slice()
                && day.ordwk.is_none()
                && parts.freq == calcard::icalendar::ICalendarFrequency::Weekly
            {
                parts.byday.clear();
            }
            let taken_from_the_start = parts.byday.is_empty()
                && parts.bymonthday.is_empty()
                && parts.byyearday.is_empty()
                && parts.byweekno.is_empty()
                && parts.bymonth.is_empty()
                && parts.bysetpos.is_empty();
            if !taken_from_the_start {
                return None;
            }
        }
        let utc = |at| time::resolve(at, &TimeZone::UTC);
        rule.until = match rule.until {
            None => None,
            Some(RuleEnd::Day(day)) => Some(RuleEnd::Day(day.checked_add(self.days.days()).ok()?)),
            Some(RuleEnd::Local(at)) => Some(RuleEnd::Local(at.checked_add(self.by).ok()?)),
            Some(RuleEnd::Utc(at)) => match self.moved(EventTime::At(utc(at)))? {
                EventTime::At(at) => Some(RuleEnd::Utc(TimeZone::UTC.to_datetime(at))),
                EventTime::Day(day) => Some(RuleEnd::Day(day)),
            },
        };
        Some(rule.write())
    }
}

/// Returns the UID of a second part, which is the same each time the document is read.
fn parted_uid(uid: &str, at: EventTime) -> String {
    let stamp = match at {
        EventTime::Day(day) => compact_day(day),
        EventTime::At(at) => compact(TimeZone::UTC.to_datetime(at)),
    };
    match uid.rsplit_once('@') {
        Some((local, domain)) => format!("{local}_R{stamp}@{domain}"),
        None => format!("{uid}_R{stamp}"),
    }
}

/// Converts dates whose length differs from the series' to exceptions.
fn periods(raws: Vec<RawEvent>, notes: &mut DocumentNotes) -> Vec<RawEvent> {
    let known: HashSet<(String, EventTime)> =
        raws.iter().filter_map(|raw| Some((raw.uid().to_owned(), raw.entry.original?))).collect();
    // Each exception has a copy of the texts, so a short document could fill the memory.
    let mut room = COPIED;
    let mut all = Vec::new();
    for mut raw in raws {
        let periods = std::mem::take(&mut raw.periods);
        let (entry, number, uid) = (raw.entry.clone(), raw.number, raw.uid().to_owned());
        let (starts, ends) = (raw.start.clone(), raw.end.clone());
        all.push(raw);
        let (ZonedTime::At(_, zone), EventTime::At(from), EventTime::At(to)) =
            (&starts, starts.when(), ends.when())
        else {
            continue;
        };
        let known_zone = time::find_zone(zone).unwrap_or(TimeZone::UTC);
        let local = |at: Timestamp| EventTime::At(at).zoned(&known_zone);
        // An estimate of the bytes that each copy takes.
        let notes_size = entry.notes.as_ref().map_or(0, String::len);
        let size = entry.title.len() + entry.place.len() + notes_size;
        let size = size + 200 * (1 + entry.guests.len());
        for (start, end) in periods {
            let at = EventTime::At(start);
            let same = start.duration_until(end) == from.duration_until(to);
            if same || known.iter().any(|(known, one)| *known == uid && *one == at) {
                continue;
            }
            let Some(left) = room.checked_sub(size).filter(|_| !uid.is_empty()) else {
                notes.line(number, "further periods have the event's length");
                break;
            };
            room = left;
            all.push(RawEvent {
                entry: Event { original: Some(at), repeat: None, ..entry.clone() },
                start: local(start),
                end: local(end),
                number,
                stamps: (None, None),
                instead_of: None,
                following: false,
                periods: Vec::new(),
                timeless: false,
            });
        }
    }
    all
}
