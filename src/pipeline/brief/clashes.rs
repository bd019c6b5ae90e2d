//! Pairs of events that overlap. Plain data in, pairs out; no I/O.

use jiff::tz::TimeZone;

use crate::event_time::EventTime;
use crate::provider::calendar::{Answer, EventData};

/// Two overlapping events, by their positions, and the time of the overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clash {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) start: EventTime,
    pub(super) end: EventTime,
}

/// Returns true for an event that the reader has declined.
pub(super) fn is_declined(facts: &EventData) -> bool {
    facts.answer == Some(Answer::Declined)
}

/// Returns true for an event that takes the reader's time.
fn takes_time(facts: &EventData) -> bool {
    facts.busy && !facts.cancelled && !is_declined(facts)
}

/// Returns the overlaps among events, each once, in the order of the first event and
/// then of the second. The events are sorted by their start.
pub(super) fn clashes(events: &[(usize, &EventData)], zone: &TimeZone) -> Vec<Clash> {
    let busy: Vec<_> = events
        .iter()
        .filter(|(_, facts)| takes_time(facts))
        .map(|(at, facts)| {
            let span = (facts.start.instant(zone), facts.end.instant(zone));
            (*at, *facts, span)
        })
        // An event that takes no time overlaps nothing.
        .filter(|(_, _, (from, to))| from < to)
        .collect();
    let mut found = Vec::new();
    for (number, (first, one, (from, to))) in busy.iter().enumerate() {
        for (second, other, (start, end)) in busy.iter().skip(number + 1) {
            if start >= to {
                // All later events begin later still.
                break;
            }
            let copy = uid(one).is_some() && uid(one) == uid(other);
            if copy || end <= from || start >= end {
                continue;
            }
            // The later start, and the earlier end; of whole days, days.
            found.push(Clash {
                first: *first,
                second: *second,
                start: match from < start || one.start.is_day() {
                    true => other.start,
                    false => one.start,
                },
                end: match end < to || (end == to && one.end.is_day()) {
                    true => other.end,
                    false => one.end,
                },
            });
        }
    }
    found
}

fn uid(facts: &EventData) -> Option<&str> {
    let uid = facts.uid.as_deref().map(str::trim);
    uid.filter(|uid| !uid.is_empty())
}
