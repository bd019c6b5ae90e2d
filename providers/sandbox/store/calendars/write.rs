//! Changes of events. Every change gets a mark, and deleted events remain as tombstones.

use daysheet_core::event::EventGuest;
use daysheet_core::event::time::EventTime;

use super::{SandboxCalendars, StoredCalendar, StoredEvent};

impl SandboxCalendars {
    /// Adds an event and returns its place. With `tell`, it also appears in the main calendars of
    /// its guests.
    pub fn insert(&mut self, event: StoredEvent, tell: bool) -> usize {
        let place = self.load(event);
        self.share(place, tell);
        place
    }

    /// Changes an event, and its copies in other people's calendars. With `tell`, new guests get a
    /// copy. `SEQUENCE` is incremented if the time or the rule changes.
    ///
    /// The change must keep the event's id, UID, calendar and series.
    pub fn change(&mut self, place: usize, tell: bool, change: impl FnOnce(&mut StoredEvent)) {
        if self.alter(place, change) {
            self.prune(place);
            self.share(place, tell);
        }
    }

    /// Deletes an event, or a series with all its occurrences. The guests' copies of the owner's
    /// own meeting are deleted too; with `tell`, deleting an invitation declines it.
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
            // RFC 5546, 3.2.5: a cancellation increments SEQUENCE.
            event.sequence += 1;
        });
        self.share_removal(place, tell);
    }

    /// Deletes an occurrence as [`SandboxCalendars::remove`] does. Returns false if it does not exist.
    pub fn remove_occurrence(&mut self, series: usize, original: EventTime, tell: bool) -> bool {
        let Some(place) = self.exception(series, original) else {
            return false;
        };
        self.remove(place, tell);
        true
    }

    /// Adds guests on behalf of another guest, in the organizer's copy if the organizer is in the
    /// sandbox.
    pub fn ask_more(&mut self, place: usize, more: Vec<EventGuest>, tell: bool) {
        let target = self.at_organizer(place).unwrap_or(place);
        self.change(target, tell, |event| {
            for guest in more {
                if event.guest(&guest.address).is_none() {
                    event.guests.push(guest);
                }
            }
        });
    }

    /// Changes a calendar.
    pub fn change_calendar(&mut self, place: usize, change: impl FnOnce(&mut StoredCalendar)) {
        if let Some(calendar) = self.calendars.get_mut(place) {
            change(calendar);
            self.mark += 1;
            calendar.mark = self.mark;
        }
    }

    /// Deletes a calendar and all its events.
    pub fn remove_calendar(&mut self, place: usize) {
        let events: Vec<usize> = self
            .events_of(place)
            .filter(|(_, event)| !event.deleted)
            .map(|(place, _)| place)
            .collect();
        // Event by event, so that the guests of its meetings lose their copies as well.
        for event in events {
            self.remove(event, true);
        }
        self.change_calendar(place, |calendar| calendar.deleted = true);
    }

    /// Deletes the exceptions whose original start the rule of a series no longer generates.
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
