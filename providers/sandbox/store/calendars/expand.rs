//! Occurrences of events within a range of time.
//!
//! Recurrence rules are expanded by `recurrence.rs`. This file replaces occurrences by their
//! exceptions and leaves out cancelled ones.

use std::borrow::Cow;
use std::collections::HashSet;

use daysheet_core::event::time::{EventTime, ZonedTime, find_zone, resolve};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{SandboxCalendars, StoredEvent, instance_id};

/// The maximum number of occurrences of one series in one answer.
const MAX_OCCURRENCES: usize = 5_000;

/// A margin around a range, wider than any zone's offset from UTC, so that whole-day events at its
/// edges are found in every zone.
const MARGIN: SignedDuration = SignedDuration::from_hours(48);

/// A single event, or one occurrence of a series.
#[derive(Debug, Clone)]
pub(crate) struct EventOccurrence<'a> {
    /// The place of the event to write to: that of the exception, or of the series if the
    /// occurrence does not differ from it.
    pub place: usize,
    /// The occurrence as an event, with its own id, start and end. It does not recur, and
    /// `instead_of` names its series and original start.
    pub event: Cow<'a, StoredEvent>,
    /// The start. Days begin in the calendar's zone.
    pub from: Timestamp,
    /// The end, likewise.
    pub to: Timestamp,
}

impl SandboxCalendars {
    /// Returns the single events and occurrences of a calendar between `from` and `to`, by start.
    pub fn occurrences(
        &self,
        calendar: usize,
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<EventOccurrence<'_>> {
        let mut found = Vec::new();
        // Exceptions are entries of their own here, with their own times.
        for (place, event) in self.events_of(calendar).filter(|(_, event)| !event.deleted) {
            match event.repeat {
                Some(_) => self.expand(place, event, from, to, &mut found),
                None => found.extend(self.whole(place, event)),
            }
        }
        within(found, from, to)
    }

    /// Returns the occurrences of one series between `from` and `to`, exceptions included, by
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
            // An exception may have moved into the range or out of it; `within` checks its own
            // time.
            for (place, event) in self.overrides(event.calendar, &event.id) {
                if !event.deleted {
                    found.extend(self.whole(place, event));
                }
            }
        }
        within(found, from, to)
    }

    /// Returns the occurrences that do not differ from their series, even if the series is deleted.
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

    /// Returns the occurrence of a series whose original start is `original`, unless it is
    /// cancelled.
    pub fn occurrence(&self, series: usize, original: EventTime) -> Option<EventOccurrence<'_>> {
        let event = self.event(series).filter(|event| !event.deleted)?;
        if let Some(place) = self.override_of(event.calendar, &event.id, original) {
            let event = self.event(place).filter(|event| !event.deleted)?;
            return self.whole(place, event);
        }
        self.falls_on(event, original).then(|| self.occurrence_at(series, event, original))?
    }

    /// Returns an event or occurrence by its id, unless it is deleted.
    pub fn instance(&self, calendar: usize, id: &str) -> Option<EventOccurrence<'_>> {
        if let Some(place) = self.find(calendar, id) {
            let event = self.event(place).filter(|event| !event.deleted)?;
            return self.whole(place, event);
        }
        let (series, original) = self.series_of(calendar, id)?;
        self.occurrence(series, original)
    }

    /// Returns the series and original start in an occurrence's id. There may be no such
    /// occurrence.
    pub fn series_of(&self, calendar: usize, id: &str) -> Option<(usize, EventTime)> {
        // Event ids are base32hex and have no underscore; the last one precedes the start.
        let (series, stamp) = id.rsplit_once('_')?;
        let place = self.find(calendar, series)?;
        self.event(place)?.repeat.as_ref()?;
        Some((place, read_stamp(stamp)?))
    }

    /// Returns true if the rule of a series generates an occurrence at `original`.
    pub fn falls_on(&self, event: &StoredEvent, original: EventTime) -> bool {
        let Some(repeat) = &event.repeat else {
            return false;
        };
        let at = original.instant(&self.zone_of(event));
        let (from, to) = (earlier(at, MARGIN), later(at, MARGIN));
        let starts = repeat.occurrences(&event.start, from, to, MAX_OCCURRENCES);
        starts.contains(&original)
    }

    /// Returns the zone in which an event's days begin.
    pub fn zone_of(&self, event: &StoredEvent) -> TimeZone {
        let calendar = self.calendar(event.calendar);
        calendar.map_or(TimeZone::UTC, super::StoredCalendar::time_zone)
    }

    /// Adds the occurrences of a series that no exception replaces.
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
        // An occurrence that began before the range may still be going on in it.
        let first = earlier(earlier(from, length.max(SignedDuration::ZERO)), MARGIN);
        let starts = repeat.occurrences(&series.start, first, later(to, MARGIN), MAX_OCCURRENCES);
        // Tombstones count as well: a cancelled occurrence must not return from the rule.
        let replaced: HashSet<String> = self
            .overrides(series.calendar, &series.id)
            .map(|(_, event)| event.id.clone())
            .collect();
        let left = starts
            .into_iter()
            .filter(|original| !replaced.contains(&instance_id(&series.id, *original)));
        found.extend(left.filter_map(|original| self.occurrence_at(place, series, original)));
    }

    /// Returns an occurrence that does not differ from its series.
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

    /// Returns an event as an occurrence of its own.
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

/// Keeps the occurrences that overlap a range, sorted by start and id.
fn within(
    found: Vec<EventOccurrence<'_>>,
    from: Timestamp,
    to: Timestamp,
) -> Vec<EventOccurrence<'_>> {
    // A zero-length event at the start of the range is within it, although it does not end after
    // it.
    let mut found: Vec<_> =
        found.into_iter().filter(|it| it.from < to && (it.to > from || it.from >= from)).collect();
    found.sort_by(|one, other| (one.from, &one.event.id).cmp(&(other.from, &other.event.id)));
    found
}

/// Returns the start and end of an occurrence, which has the same exact duration as the first one
/// (RFC 5545, 3.8.5.3).
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
        // RFC 5545, 3.8.2.2: start and end have the same value type.
        _ => None,
    }
}

/// Returns the instant of a time that is not a whole day.
fn instant(moment: &ZonedTime) -> Timestamp {
    moment.when().instant(&TimeZone::UTC)
}

/// Returns an instant as a local time in a zone, or in UTC if the clocks were set back and the
/// local time would mean the earlier of two instants.
pub(crate) fn moment(at: Timestamp, zone: &str) -> ZonedTime {
    let known = find_zone(zone).unwrap_or(TimeZone::UTC);
    let local = known.to_datetime(at);
    if resolve(local, &known) == at {
        ZonedTime::At(local, zone.to_owned())
    } else {
        ZonedTime::At(TimeZone::UTC.to_datetime(at), "UTC".to_owned())
    }
}

/// Reads the original start at the end of an occurrence's id.
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
