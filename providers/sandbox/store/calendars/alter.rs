//! Changes of a single event, without its copies in other calendars.

use daysheet_core::event::time::EventTime;

use super::{SandboxCalendars, StoredEvent};

impl SandboxCalendars {
    /// Changes a single event, without its copies. Returns false if nothing changed.
    pub(crate) fn alter(&mut self, place: usize, change: impl FnOnce(&mut StoredEvent)) -> bool {
        let Some(event) = self.events.get_mut(place) else {
            return false;
        };
        let before = event.clone();
        change(event);
        // An unchanged event keeps its mark and thus its etag, and is not listed as changed.
        if *event == before {
            return false;
        }
        // RFC 5546, 2.1.4: a new time or rule increments SEQUENCE. A copy that follows the
        // organizer's event already has the new number.
        if before.start != event.start || before.end != event.end || before.repeat != event.repeat {
            event.sequence = event.sequence.max(before.sequence + 1);
        }
        self.mark += 1;
        event.mark = self.mark;
        event.updated = self.clock.now();
        true
    }

    /// Makes an occurrence an exception, to be changed or removed, and returns its place. `None` if
    /// the occurrence does not exist or is cancelled.
    pub fn exception(&mut self, series: usize, original: EventTime) -> Option<usize> {
        let occurrence = self.occurrence(series, original)?;
        // It already is an exception.
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
}
