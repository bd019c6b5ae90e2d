//! Occurrences: what a calendar shows of a stretch of time.
//!
//! The rules are expanded by `recurrence.rs`; here what differs is put in the
//! place of what it replaces, and what is cancelled is left out.

use std::borrow::Cow;
use std::collections::HashSet;

use daysheet_core::event_time::{EventTime, ZonedTime, find_zone, resolve};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{SandboxCalendars, StoredEvent, instance_id};

/// Occurrences of one series in one answer, at most.
const MAX_OCCURRENCES: usize = 5_000;

/// More than any zone is away from UTC: a day begins and ends within it.
const MARGIN: SignedDuration = SignedDuration::from_hours(48);

/// A single event, or one occurrence of a series.
#[derive(Debug, Clone)]
pub(crate) struct EventOccurrence<'a> {
    /// The place of the event to write to; that of the series when the
    /// occurrence does not differ from it.
    pub place: usize,
    /// What is shown: id, start and end are the occurrence's own, it does not
    /// recur, and `instead_of` says which occurrence it is.
    pub event: Cow<'a, StoredEvent>,
    /// When it starts; a day begins in its calendar's zone.
    pub from: Timestamp,
    /// When it ends, likewise.
    pub to: Timestamp,
}

impl SandboxCalendars {
    /// What takes time in a calendar after `from` and before `to`: single
    /// events and occurrences, by their start.
    pub fn occurrences(
        &self,
        calendar: usize,
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<EventOccurrence<'_>> {
        let mut found = Vec::new();
        for (place, event) in self.events_of(calendar).filter(|(_, event)| !event.deleted) {
            match event.repeat {
                Some(_) => self.expand(place, event, from, to, &mut found),
                None => found.extend(self.whole(place, event)),
            }
        }
        within(found, from, to)
    }

    /// The occurrences of one series after `from` and before `to`, by their
    /// start.
    pub fn instances(
        &self,
        series: usize,
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<EventOccurrence<'_>> {
        let mut found = Vec::new();
        if let Some(event) = self.event(series).filter(|event| !event.deleted) {
            self.expand(series, event, from, to, &mut found);
            for (place, event) in self.overrides(event.calendar, &event.id) {
                if !event.deleted {
                    found.extend(self.whole(place, event));
                }
            }
        }
        within(found, from, to)
    }

    /// The occurrences of one series that do not differ from it, though it be
    /// gone.
    pub fn expanded(
        &self,
        series: usize,
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<EventOccurrence<'_>> {
        let mut found = Vec::new();
        if let Some(event) = self.event(series) {
            self.expand(series, event, from, to, &mut found);
        }
        within(found, from, to)
    }

    /// The occurrence of a series that starts at `original` by its rule,
    /// unless it is cancelled.
    pub fn occurrence(&self, series: usize, original: EventTime) -> Option<EventOccurrence<'_>> {
        let event = self.event(series).filter(|event| !event.deleted)?;
        if let Some(place) = self.override_of(event.calendar, &event.id, original) {
            let event = self.event(place).filter(|event| !event.deleted)?;
            return self.whole(place, event);
        }
        self.falls_on(event, original).then(|| self.occurrence_at(series, event, original))?
    }

    /// An event or an occurrence by its id, unless it is gone.
    pub fn instance(&self, calendar: usize, id: &str) -> Option<EventOccurrence<'_>> {
        if let Some(place) = self.find(calendar, id) {
            let event = self.event(place).filter(|event| !event.deleted)?;
            return self.whole(place, event);
        }
        let (series, original) = self.series_of(calendar, id)?;
        self.occurrence(series, original)
    }

    /// The series and the start that an occurrence's id names, whether there is
    /// such an occurrence or not.
    pub fn series_of(&self, calendar: usize, id: &str) -> Option<(usize, EventTime)> {
        let (series, stamp) = id.rsplit_once('_')?;
        let place = self.find(calendar, series)?;
        self.event(place)?.repeat.as_ref()?;
        Some((place, read_stamp(stamp)?))
    }

    /// True when the rule of a series makes it start at `original`.
    pub fn falls_on(&self, event: &StoredEvent, original: EventTime) -> bool {
        let Some(repeat) = &event.repeat else {
            return false;
        };
        let at = original.instant(&self.zone_of(event));
        let (from, to) = (earlier(at, MARGIN), later(at, MARGIN));
        let starts = repeat.occurrences(&event.start, from, to, MAX_OCCURRENCES);
        starts.contains(&original)
    }

    /// The zone in which an event's days begin.
    pub fn zone_of(&self, event: &StoredEvent) -> TimeZone {
        let calendar = self.calendar(event.calendar);
        calendar.map_or(TimeZone::UTC, |calendar| calendar.time_zone())
    }

    /// The occurrences of a series that nothing stands for.
    fn expand<'a>(
        &'a self,
        place: usize,
        series: &'a StoredEvent,
        from: Timestamp,
        to: Timestamp,
        found: &mut Vec<EventOccurrence<'a>>,
    ) {
        let Some(repeat) = &series.repeat else {
            return;
        };
        let zone = self.zone_of(series);
        let start = series.start.when().instant(&zone);
        let length = start.duration_until(series.end.when().instant(&zone));
        let first = earlier(earlier(from, length.max(SignedDuration::ZERO)), MARGIN);
        let starts = repeat.occurrences(&series.start, first, later(to, MARGIN), MAX_OCCURRENCES);
        let replaced: HashSet<String> = self
            .overrides(series.calendar, &series.id)
            .map(|(_, event)| event.id.clone())
            .collect();
        let left = starts
            .into_iter()
            .filter(|original| !replaced.contains(&instance_id(&series.id, *original)));
        found.extend(left.filter_map(|original| self.occurrence_at(place, series, original)));
    }

    /// An occurrence that does not differ from its series.
    fn occurrence_at<'a>(
        &'a self,
        place: usize,
        series: &StoredEvent,
        original: EventTime,
    ) -> Option<EventOccurrence<'a>> {
        let (start, end) = span(series, original)?;
        let event = StoredEvent {
            id: instance_id(&series.id, original),
            instead_of: Some((series.id.clone(), original)),
            start,
            end,
            repeat: None,
            ..series.clone()
        };
        let zone = self.zone_of(series);
        Some(EventOccurrence {
            place,
            from: event.start.when().instant(&zone),
            to: event.end.when().instant(&zone),
            event: Cow::Owned(event),
        })
    }

    /// An event that is shown as it is.
    fn whole<'a>(&'a self, place: usize, event: &'a StoredEvent) -> Option<EventOccurrence<'a>> {
        let zone = self.zone_of(event);
        Some(EventOccurrence {
            place,
            from: event.start.when().instant(&zone),
            to: event.end.when().instant(&zone),
            event: Cow::Borrowed(event),
        })
    }
}

/// Keeps what touches a range, in order.
fn within(
    found: Vec<EventOccurrence<'_>>,
    from: Timestamp,
    to: Timestamp,
) -> Vec<EventOccurrence<'_>> {
    let mut found: Vec<_> =
        found.into_iter().filter(|it| it.from < to && (it.to > from || it.from >= from)).collect();
    found.sort_by(|one, other| (one.from, &one.event.id).cmp(&(other.from, &other.event.id)));
    found
}

/// Start and end of an occurrence: as long as the first one (RFC 5545, 3.8.5.3:
/// the same exact duration).
fn span(series: &StoredEvent, original: EventTime) -> Option<(ZonedTime, ZonedTime)> {
    match (&series.start, &series.end, original) {
        (ZonedTime::Day(first), ZonedTime::Day(last), EventTime::Day(day)) => {
            let length = first.duration_until(*last);
            Some((ZonedTime::Day(day), ZonedTime::Day(day.checked_add(length).ok()?)))
        }
        (ZonedTime::At(_, zone), ZonedTime::At(_, end_zone), EventTime::At(at)) => {
            let length = instant(&series.start).duration_until(instant(&series.end));
            let end = at.checked_add(length).ok()?;
            Some((moment(at, zone), moment(end, end_zone)))
        }
        _ => None,
    }
}

/// The instant of a time that is no day.
fn instant(moment: &ZonedTime) -> Timestamp {
    moment.when().instant(&TimeZone::UTC)
}

/// An instant as a time in a zone; in UTC where the local time means an earlier
/// instant, for clocks were set back.
pub(crate) fn moment(at: Timestamp, zone: &str) -> ZonedTime {
    let known = find_zone(zone).unwrap_or(TimeZone::UTC);
    let local = known.to_datetime(at);
    if resolve(local, &known) == at {
        ZonedTime::At(local, zone.to_owned())
    } else {
        ZonedTime::At(TimeZone::UTC.to_datetime(at), "UTC".to_owned())
    }
}

/// The start that an instance id ends with.
fn read_stamp(stamp: &str) -> Option<EventTime> {
    match stamp.strip_suffix('Z') {
        Some(local) => {
            let local = DateTime::strptime("%Y%m%dT%H%M%S", local).ok()?;
            let at = TimeZone::UTC.to_timestamp(local).ok()?;
            Some(EventTime::At(at))
        }
        None => jiff::civil::Date::strptime("%Y%m%d", stamp).ok().map(EventTime::Day),
    }
}

fn earlier(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.checked_sub(by).unwrap_or(Timestamp::MIN)
}

fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.checked_add(by).unwrap_or(Timestamp::MAX)
}
