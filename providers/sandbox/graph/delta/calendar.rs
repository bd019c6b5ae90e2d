//! Changes within a time range of a calendar.
//!
//! Regular occurrences of a series have only their times; the whole series comes before them.
//! Events that changed and are outside of the range are reported as deleted, as Graph does.

use daysheet_core::event::time::EventTime;
use jiff::Timestamp;
use serde_json::Value;

use super::round::{ChangeRound, EntryKey, removed_entry, there};
use crate::graph::calendar::answer::{as_is, touches, window};
use crate::graph::calendar::context::{CalendarContext, CalendarRef};
use crate::graph::calendar::event::called_off;
use crate::graph::calendar::shown::{EventKind, ShownEvent, second};
use crate::graph::error::GraphError;
use crate::store::calendars::StoredEvent;

/// The maximum number of occurrences reported for a deleted series.
const MAX_OCCURRENCES: usize = 1_000;

/// Returns the entries of a round in order.
pub(super) fn changes(
    context: &CalendarContext<'_>,
    at: CalendarRef<'_>,
    round: &ChangeRound,
) -> Result<Vec<(EntryKey, Value)>, GraphError> {
    let calendar = context.calendar_at(at)?;
    let (from, to) = window(context)?;
    let first = round.since == 0;
    let mut rows = Vec::new();
    for (place, event) in context.agenda.changed_since(calendar, round.since) {
        if event.mark > round.until {
            continue;
        }
        let mut entries = match event.repeat {
            Some(_) => series(context, place, event, from, to),
            None => single(context, place, from, to),
        };
        // A client without earlier entries has nothing to remove.
        if first {
            entries.retain(|entry| entry.get("@removed").is_none());
        }
        let mark = i64::try_from(event.mark).unwrap_or(i64::MAX);
        rows.extend((0..).zip(entries).map(|(at, entry)| ((mark, at), entry)));
    }
    Ok(rows)
}

/// Returns the entry of a single event or an exception.
fn single(
    context: &CalendarContext<'_>,
    place: usize,
    from: Timestamp,
    to: Timestamp,
) -> Vec<Value> {
    let Some(it) = as_is(context.agenda, place) else {
        return Vec::new();
    };
    // An event that its organizer cancelled stays in a guest's calendar until it is removed there.
    let there_still = !it.event.deleted || called_off(&it.event);
    let inside = there_still && touches(&it, from, to);
    let shown = ShownEvent::new(context, it);
    if inside {
        vec![there("event", shown.json(context))]
    } else {
        vec![removed_entry("event", shown.id(context))]
    }
}

/// Returns the entries of a series and its regular occurrences.
fn series(
    context: &CalendarContext<'_>,
    place: usize,
    event: &StoredEvent,
    from: Timestamp,
    to: Timestamp,
) -> Vec<Value> {
    let id = |original: Option<EventTime>| {
        let immutable = context.base.prefer.immutable;
        removed_entry("event", context.ids().event(place, original.map(second), immutable))
    };
    let occurrences = context.agenda.instances(place, from, to);
    if event.deleted || occurrences.is_empty() {
        let mut entries = vec![id(None)];
        // Clients know a series by its occurrences, so these are reported as removed one by one.
        if let Some(repeat) = event.repeat.as_ref().filter(|_| event.deleted) {
            let starts = repeat.occurrences(&event.start, from, to, MAX_OCCURRENCES);
            entries.extend(starts.into_iter().map(|original| id(Some(original))));
        }
        return entries;
    }
    let Some(master) = as_is(context.agenda, place) else {
        return Vec::new();
    };
    let mut entries = vec![there("event", ShownEvent::new(context, master).json(context))];
    // Occurrences that were deleted from a series are reported by their ids alone.
    let left_out = event.repeat.iter().flat_map(|repeat| &repeat.except);
    let zone = context.agenda.zone_of(event);
    entries.extend(
        left_out
            .filter(|original| {
                let at = original.instant(&zone);
                at >= from && at < to
            })
            .map(|original| id(Some(*original))),
    );
    let same = occurrences.into_iter().map(|it| ShownEvent::new(context, it));
    entries.extend(
        // Exceptions are events of their own, with their own marks.
        same.filter(|shown| shown.kind == EventKind::Occurrence)
            .map(|shown| there("event", shown.sketch(context))),
    );
    entries
}
