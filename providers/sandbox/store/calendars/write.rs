//! How events change: every change has its mark, and what is deleted stays as a
//! tombstone.

use daysheet_core::event_time::EventTime;

use super::{SandboxCalendars, StoredCalendar, StoredEvent};

impl SandboxCalendars {
    /// Adds an event; its place. With `tell`, the people who are asked get it
    /// into their main calendars.
    pub fn insert(&mut self, event: StoredEvent, tell: bool) -> usize {
        let place = self.load(event);
        self.share(place, tell);
        place
    }

    /// Changes an event. Copies of it in other people's calendars follow; with
    /// `tell`, people who are newly asked get one. `SEQUENCE` counts up when
    /// the change is one that people have to hear of.
    ///
    /// Id, UID, calendar and series of an event are not to be changed.
    pub fn change(&mut self, place: usize, tell: bool, change: impl FnOnce(&mut StoredEvent)) {
        if self.alter(place, change) {
            self.prune(place);
            self.share(place, tell);
        }
    }

    /// Deletes an event; a series with all of its occurrences. The copies of
    /// one's own meeting go too; with `tell`, deleting an invitation declines
    /// it.
    pub fn remove(&mut self, place: usize, tell: bool) {
        let Some(event) = self.event(place).filter(|event| !event.deleted) else {
            return;
        };
        let (calendar, id) = (event.calendar, event.id.clone());
        let overrides: Vec<usize> = self.overrides(calendar, &id).map(|(place, _)| place).collect();
        for place in overrides {
            self.alter(place, |event| event.deleted = true);
        }
        self.alter(place, |event| {
            event.deleted = true;
            event.sequence += 1;
        });
        self.share_removal(place, tell);
    }

    /// Makes an occurrence of a series an event of its own, to be changed or
    /// removed; its place. Nothing when there is no such occurrence, or it is
    /// cancelled.
    pub fn exception(&mut self, series: usize, original: EventTime) -> Option<usize> {
        let occurrence = self.occurrence(series, original)?;
        if occurrence.place != series {
            return Some(occurrence.place);
        }
        let event = StoredEvent {
            created: self.now(),
            updated: self.now(),
            ..occurrence.event.into_owned()
        };
        Some(self.load(event))
    }

    /// Deletes an occurrence, as [`SandboxCalendars::remove`] does; false when there is
    /// none.
    pub fn remove_occurrence(&mut self, series: usize, original: EventTime, tell: bool) -> bool {
        let Some(place) = self.exception(series, original) else {
            return false;
        };
        self.remove(place, tell);
        true
    }

    /// Changes a calendar.
    pub fn change_calendar(&mut self, place: usize, change: impl FnOnce(&mut StoredCalendar)) {
        if let Some(calendar) = self.calendars.get_mut(place) {
            change(calendar);
            self.mark += 1;
            calendar.mark = self.mark;
        }
    }

    /// Deletes a calendar with all of its events.
    pub fn remove_calendar(&mut self, place: usize) {
        let events: Vec<usize> = self
            .events_of(place)
            .filter(|(_, event)| !event.deleted)
            .map(|(place, _)| place)
            .collect();
        for event in events {
            self.remove(event, true);
        }
        self.change_calendar(place, |calendar| calendar.deleted = true);
    }

    /// Changes one event and nothing else; false when that changes nothing.
    pub(crate) fn alter(&mut self, place: usize, change: impl FnOnce(&mut StoredEvent)) -> bool {
        let Some(event) = self.events.get_mut(place) else {
            return false;
        };
        let before = event.clone();
        change(event);
        if *event == before {
            return false;
        }
        // RFC 5546, 2.1.4: a new time is one that all have to answer.
        if before.start != event.start || before.end != event.end || before.repeat != event.repeat {
            event.sequence = event.sequence.max(before.sequence + 1);
        }
        self.mark += 1;
        event.mark = self.mark;
        event.updated = self.clock.now();
        true
    }

    /// What stands for occurrences that a new rule does not have any more is
    /// gone.
    fn prune(&mut self, series: usize) {
        let Some(event) = self.event(series) else {
            return;
        };
        let stale: Vec<usize> = self
            .overrides(event.calendar, &event.id)
            .filter(|(_, it)| !it.deleted)
            .filter(|(_, it)| !it.original().is_some_and(|at| self.falls_on(event, at)))
            .map(|(place, _)| place)
            .collect();
        for place in stale {
            self.alter(place, |event| event.deleted = true);
        }
    }
}
