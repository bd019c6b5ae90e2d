//! Changes in Outlook's calendars since a cursor.
//!
//! Graph reports changes in a fixed range of one calendar: here from a month ago to a year ahead,
//! renewed every two months. Of a changed series it lists every occurrence, and as removed all
//! occurrences that were ever cancelled. The series is reported once, with its exceptions. The
//! cursor has the events of the range, so that their changes can be named.

use std::collections::{BTreeSet, HashMap};

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::time::EventTime;
use daysheet_core::ids::{CalendarId, EventId};
use daysheet_core::provider::calendar::{ChangeFeed, ItemDifference, NamedCalendar, shown_names};
use daysheet_core::text::{note, quoted};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::events::facts::{self, times};
use super::events::{by_id, put_in};
use crate::json::{is, text};
use crate::microsoft::client::GraphAccount;
use crate::microsoft::delta::{
    DeltaPoint, DeltaPoints, DeltaRound, is_too_old, read, rounds, write,
};
use crate::net;
use crate::tracked::{TrackedItems, short_series};

/// The ends of the range, relative to the day it is begun.
const BACK: SignedDuration = SignedDuration::from_hours(31 * 24);
const AHEAD: SignedDuration = SignedDuration::from_hours(366 * 24);
/// The time for which a range is used before it is renewed.
const LASTS: SignedDuration = SignedDuration::from_hours(60 * 24);
/// The maximum number of removed events that are looked up: Graph also reports events as removed
/// that have only left the range.
const LOOKED_FOR: usize = 100;

/// Returns the changes since `cursor`, or only a cursor to start from.
pub async fn changes(
    graph: &GraphAccount,
    me: &str,
    calendars: &[Value],
    cursor: Option<&str>,
    now: Timestamp,
) -> Result<ChangeFeed> {
    let known: DeltaPoints = cursor.map(read).transpose()?.unwrap_or_default();
    let mut found = ChangeFeed::default();
    let mut points = DeltaPoints::new();
    let mut begin = Vec::new();
    let mut proceed = Vec::new();
    for calendar in calendars {
        let id = text(calendar, "id");
        match known.get(id) {
            Some(point) => proceed.push((calendar, point)),
            None => begin.push(calendar),
        }
    }
    let own = calendars.iter().map(|one| {
        let main = is(one, "isDefaultCalendar");
        NamedCalendar { id: text(one, "id").into(), name: text(one, "name").to_owned(), main }
    });
    let names = shown_names(&own.collect::<Vec<_>>());
    found.names = names.into_iter().map(|(id, name)| (id.into(), name)).collect();
    let links: Vec<String> = proceed.iter().map(|(_, point)| point.link.clone()).collect();
    let mut continued = Vec::new();
    for ((calendar, point), round) in proceed.into_iter().zip(rounds(graph, &links).await) {
        let id = text(calendar, "id");
        match round {
            Ok(round) => {
                // Renewed only after its last page, so that no changes are skipped.
                let old = now.duration_since(point.begun) > LASTS && !round.more;
                if old {
                    begin.push(calendar);
                }
                found.more |= round.more;
                let next = DeltaPoint::next(Some(point), &round, now, created_at);
                points.insert(id.to_owned(), next);
                continued.push((id, round));
            }
            Err(error) if is_too_old(&error) => {
                found.started_over = true;
                begin.push(calendar);
            }
            // It was listed a moment ago, and is no longer shared.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            // Kept, because access may be restored.
            Err(error) if is_closed(&error) => {
                points.insert(id.to_owned(), point.clone());
            }
            Err(error) => return Err(error),
        }
    }
    let first: Vec<String> = begin.iter().map(|calendar| start(graph, calendar, now)).collect();
    for (calendar, round) in begin.into_iter().zip(rounds(graph, &first).await) {
        let id = text(calendar, "id");
        match round {
            // Events that exist at the beginning are not changes.
            Ok(round) => {
                found.more |= round.more;
                let mut next = DeltaPoint::next(None, &round, now, created_at);
                round.items.iter().for_each(|item| track(&mut next.tracked, item, me));
                points.insert(id.to_owned(), next);
            }
            Err(error) if is_closed(&error) => found.notes.push(note!(
                "Outlook does not report changes in the calendar {}",
                quoted(text(calendar, "name"))
            )),
            Err(error) => return Err(error),
        }
    }
    sort_out(graph, me, continued, (&known, &mut points), &mut found).await?;
    found.cursor = write(&points)?;
    Ok(found)
}

/// Returns the time at which an event was created.
fn created_at(event: &Value) -> Option<Timestamp> {
    text(event, "createdDateTime").parse().ok()
}

/// Records the present state of an event, if it is complete.
fn track(tracked: &mut TrackedItems, event: &Value, me: &str) {
    let (id, series) = (text(event, "id"), text(event, "seriesMasterId"));
    let occurrence = text(event, "type").eq_ignore_ascii_case("occurrence");
    match (occurrence, times(event).0) {
        (true, Some(start)) => tracked.put_occurrence(id, series, start),
        (true, None) => {}
        (false, _) => tracked.put_event(id, series, facts::read(event, me).as_ref()),
    }
}

fn is_closed(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Auth | ErrorKind::Provider(403))
}

/// Returns the request that begins to follow a calendar.
fn start(graph: &GraphAccount, calendar: &Value, now: Timestamp) -> String {
    let path = if is(calendar, "isDefaultCalendar") {
        "calendarView/delta".to_owned()
    } else {
        let id = net::path_segment(text(calendar, "id"));
        format!("calendars/{id}/calendarView/delta")
    };
    // Whole days, so that requests of one day are identical.
    let day = |at: Timestamp| at.strftime("%Y-%m-%dT00:00:00Z").to_string();
    let from = day(now.checked_sub(BACK).unwrap_or(now));
    let to = day(now.checked_add(AHEAD).unwrap_or(now));
    let query = [("startDateTime", from.as_str()), ("endDateTime", &to)];
    graph.mailbox_url(&path, &query)
}

/// An occurrence that no longer exists: its id, its series in short form, and its start.
type LostOccurrence = (String, String, EventTime);

/// Sorts the changes of the rounds into new, changed and deleted.
async fn sort_out(
    graph: &GraphAccount,
    me: &str,
    continued: Vec<(&str, DeltaRound)>,
    (known, points): (&DeltaPoints, &mut DeltaPoints),
    found: &mut ChangeFeed,
) -> Result<()> {
    // The events to report, each with its calendar.
    let mut events: Vec<(&str, Value)> = Vec::new();
    let mut there = BTreeSet::new();
    // The events to fetch, each with its calendar.
    let mut ask: HashMap<String, &str> = HashMap::new();
    let mut gone = Vec::new();
    for (calendar, round) in continued {
        gone.extend(round.gone.into_iter().map(|id| (calendar, id)));
        let point = known.get(calendar);
        for item in round.items {
            let id = text(&item, "id").to_owned();
            let kind = text(&item, "type");
            let is = |word: &str| kind.eq_ignore_ascii_case(word);
            if is("occurrence") {
                // It is listed because its series has changed.
                ask.insert(text(&item, "seriesMasterId").to_owned(), calendar);
                if let Some(point) = points.get_mut(calendar) {
                    track(&mut point.tracked, &item, me);
                }
                there.insert(id);
                continue;
            }
            let changed = text(&item, "lastModifiedDateTime").parse::<Timestamp>().ok();
            let is_old = point.is_some_and(|point| point.is_old(changed));
            there.insert(id.clone());
            if is("exception") && is_old {
                // It is listed because its series has changed.
                continue;
            }
            // Deltas may return an event with only some properties.
            if item.get("start").is_some() && item.get("subject").is_some() {
                events.push((calendar, item));
            } else {
                ask.insert(id, calendar);
            }
        }
    }
    gone.retain(|(_, id)| !there.contains(id));
    let lost = lost_occurrences(&mut gone, known, points);
    ask.retain(|id, _| !id.is_empty() && !events.iter().any(|(_, event)| text(event, "id") == id));
    for (_, series, _) in &lost {
        let found = known.iter().find_map(|(calendar, point)| {
            Some((point.tracked.series(series)?.to_owned(), calendar.as_str()))
        });
        ask.extend(found.filter(|(id, _)| !events.iter().any(|(_, one)| text(one, "id") == id)));
    }
    for (calendar, id) in gone.iter().take(LOOKED_FOR) {
        ask.insert(id.clone(), calendar);
    }
    let mut ids: Vec<EventId> = ask.keys().map(|id| id.as_str().into()).collect();
    ids.sort();
    for (id, event) in ids.iter().zip(by_id(graph, &ids).await) {
        match (event, ask.get(id.as_str())) {
            (Ok(event), Some(calendar)) => {
                gone.retain(|(_, gone)| *id != **gone);
                events.push((calendar, event));
            }
            (Err(error), _) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    // Occurrences of a deleted series are reported with it.
    let deleted: BTreeSet<String> = gone.iter().map(|(_, id)| short_series(id)).collect();
    let lost = lost.into_iter().filter(|(_, series, _)| !deleted.contains(series));
    report(me, events, lost, (known, points), found);
    for (calendar, id) in gone {
        let start = known.get(calendar).and_then(|point| point.tracked.start(&id));
        found.starts.extend(start.map(|start| (id.clone(), start)));
        found.gone.push(id);
    }
    Ok(())
}

/// Moves occurrences of series out of the removed events, and drops those that did not exist at the
/// cursor: together with a series, Graph lists all that were ever cancelled.
fn lost_occurrences(
    gone: &mut Vec<(&str, String)>,
    known: &DeltaPoints,
    points: &mut DeltaPoints,
) -> Vec<LostOccurrence> {
    let mut lost = Vec::new();
    gone.retain(|(calendar, id)| {
        if let Some(point) = points.get_mut(*calendar) {
            point.tracked.remove(id);
        }
        let Some(tracked) = known.get(*calendar).map(|point| &point.tracked) else {
            return true;
        };
        match tracked.series_and_start(id) {
            Some((series, start)) => {
                lost.push((id.clone(), series, start));
                false
            }
            _ => tracked.has(id) || !tracked.is_complete(),
        }
    });
    lost
}

/// Reports events that are new or have changed, a series once.
fn report(
    me: &str,
    mut events: Vec<(&str, Value)>,
    lost: impl Iterator<Item = LostOccurrence>,
    (known, points): (&DeltaPoints, &mut DeltaPoints),
    found: &mut ChangeFeed,
) {
    let mut parts: HashMap<String, ItemDifference> = HashMap::new();
    for (id, series, start) in lost {
        if let Some((_, event)) =
            events.iter().find(|(_, event)| short_series(text(event, "id")) == series)
        {
            let parts = parts.entry(text(event, "id").to_owned()).or_default();
            parts.cancelled.push(start);
        } else {
            found.starts.insert(id.clone(), start);
            found.gone.push(id);
        }
    }
    for (calendar, event) in &mut events {
        put_in(event, Some(&CalendarId::from(*calendar)));
    }
    let differences: Vec<Option<ItemDifference>> = events
        .iter()
        .map(|(calendar, event)| {
            let tracked = &known.get(*calendar)?.tracked;
            let series = text(event, "seriesMasterId");
            tracked.difference(text(event, "id"), series, &facts::read(event, me)?)
        })
        .collect();
    // An exception is reported as part of its series, or by itself if the series is unchanged.
    let mut instead = BTreeSet::new();
    let mut with = BTreeSet::new();
    for ((_, event), difference) in events.iter().zip(&differences) {
        let series = text(event, "seriesMasterId");
        let master = events.iter().position(|(_, other)| text(other, "id") == series);
        let Some(master) = master.filter(|_| !series.is_empty()) else {
            continue;
        };
        let same = differences.get(master).is_some_and(|one| {
            one.as_ref().is_some_and(|one| one.words.is_empty()) && !parts.contains_key(series)
        });
        if same {
            _ = instead.insert(series.to_owned());
        } else {
            with.insert(text(event, "id").to_owned());
            if let Some(facts) = facts::read(event, me)
                && difference.as_ref().is_none_or(|one| !one.words.is_empty())
            {
                let parts = parts.entry(series.to_owned()).or_default();
                parts.add_occurrence(&facts, difference.as_ref());
            }
        }
    }
    for ((calendar, event), difference) in events.into_iter().zip(differences) {
        let id = text(&event, "id").to_owned();
        if let Some(point) = points.get_mut(calendar) {
            track(&mut point.tracked, &event, me);
        }
        if with.contains(&id) || instead.contains(&id) {
            continue;
        }
        // An exception is created long after its series, so only the series can be new.
        let is_known = |point: &DeltaPoint| {
            point.tracked.has(&id) || point.tracked.has(text(&event, "seriesMasterId"))
        };
        let point = known.get(calendar).filter(|point| !is_known(point));
        let parts = parts.remove(&id);
        if point.is_some_and(|point| point.is_new(&id, created_at(&event))) {
            found.differences.extend(parts.map(|parts| (id, parts)));
            found.new.push(event);
            continue;
        }
        let difference = match (difference, parts) {
            (Some(difference), Some(parts)) => Some(difference.with(parts)),
            (difference, parts) => difference.or(parts),
        };
        found.differences.extend(difference.map(|difference| (id, difference)));
        found.changed.push(event);
    }
}
