//! Changes in Outlook's calendars since a cursor.
//!
//! Graph reports changes of a fixed range in one calendar: here from a month ago to a
//! year ahead, and the range is renewed every two months. Of a changed series it lists
//! every occurrence; the series is reported once, with its exceptions.

use std::collections::{BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::events::{by_id, put_in};
use crate::json::{is, text};
use crate::microsoft::client::Graph;
use crate::microsoft::delta::{
    DeltaPoint, DeltaPoints, DeltaRound, is_too_old, read, rounds, write,
};
use crate::net;
use daysheet_core::error::{Error, Kind, Result};
use daysheet_core::provider::calendar::Changes;
use daysheet_core::text::{note, quoted};

/// The range that is looked at, around the day it is begun.
const BACK: SignedDuration = SignedDuration::from_hours(31 * 24);
const AHEAD: SignedDuration = SignedDuration::from_hours(366 * 24);
/// How long a range is used before it is renewed.
const LASTS: SignedDuration = SignedDuration::from_hours(60 * 24);
/// Events that are looked up if Graph reports them as removed: it also reports those
/// that have only left the range.
const LOOKED_FOR: usize = 100;

/// Returns the changes since `cursor`; without one, only the cursor to start from.
pub async fn changes(
    graph: &Graph,
    calendars: &[Value],
    cursor: Option<&str>,
    now: Timestamp,
) -> Result<Changes> {
    let known: DeltaPoints = cursor.map(read).transpose()?.unwrap_or_default();
    let mut found = Changes::default();
    let mut points = DeltaPoints::new();
    let mut begin = Vec::new();
    let mut proceed = Vec::new();
    for calendar in calendars {
        let id = text(calendar, "id");
        match known.get(id) {
            Some(point) => proceed.push((calendar, point)),
            None => begin.push(calendar),
        }
        found.names.insert(id.to_owned(), text(calendar, "name").to_owned());
    }
    let links: Vec<String> = proceed.iter().map(|(_, point)| point.link.clone()).collect();
    let mut continued = Vec::new();
    for ((calendar, point), round) in proceed.into_iter().zip(rounds(graph, &links).await) {
        let id = text(calendar, "id");
        match round {
            Ok(round) => {
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
            // It was in the list a moment ago, and is shared no longer.
            Err(error) if error.kind() == Kind::NotFound => {}
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
            // Existing events are not changes.
            Ok(round) => {
                found.more |= round.more;
                let next = DeltaPoint::next(None, &round, now, created_at);
                points.insert(id.to_owned(), next);
            }
            Err(error) if is_closed(&error) => found.notes.push(note!(
                "Outlook does not report changes in the calendar {}",
                quoted(text(calendar, "name"))
            )),
            Err(error) => return Err(error),
        }
    }
    sort_out(graph, continued, &known, &mut found).await?;
    found.cursor = write(&points)?;
    Ok(found)
}

/// Returns when an event was created.
fn created_at(event: &Value) -> Option<Timestamp> {
    text(event, "createdDateTime").parse().ok()
}

fn is_closed(error: &Error) -> bool {
    matches!(error.kind(), Kind::NotFound | Kind::Auth | Kind::Provider(403))
}

/// Returns the request that starts following a calendar.
fn start(graph: &Graph, calendar: &Value, now: Timestamp) -> String {
    let path = match is(calendar, "isDefaultCalendar") {
        true => "calendarView/delta".to_owned(),
        false => {
            let id = net::path_segment(text(calendar, "id"));
            format!("calendars/{id}/calendarView/delta")
        }
    };
    // Whole days, so that a range is one whenever it is begun on a day.
    let day = |at: Timestamp| at.strftime("%Y-%m-%dT00:00:00Z").to_string();
    let from = day(now.checked_sub(BACK).unwrap_or(now));
    let to = day(now.checked_add(AHEAD).unwrap_or(now));
    let query = [("startDateTime", from.as_str()), ("endDateTime", &to)];
    graph.mailbox_url(&path, &query)
}

/// Sorts the changes of the rounds: new, changed, deleted.
async fn sort_out(
    graph: &Graph,
    continued: Vec<(&str, DeltaRound)>,
    known: &DeltaPoints,
    found: &mut Changes,
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
                // It has changed because its series has.
                ask.insert(text(&item, "seriesMasterId").to_owned(), calendar);
                there.insert(id);
                continue;
            }
            let changed = text(&item, "lastModifiedDateTime").parse::<Timestamp>().ok();
            let is_old = point.is_some_and(|point| point.is_old(changed));
            there.insert(id.clone());
            if is("exception") && is_old {
                // Listed beside its series.
                continue;
            }
            match item.get("start").is_some() && item.get("subject").is_some() {
                true => events.push((calendar, item)),
                false => {
                    ask.insert(id, calendar);
                }
            }
        }
    }
    ask.retain(|id, _| !id.is_empty() && !events.iter().any(|(_, event)| text(event, "id") == id));
    gone.retain(|(_, id)| !there.contains(id));
    for (calendar, id) in gone.iter().take(LOOKED_FOR) {
        ask.insert(id.clone(), calendar);
    }
    let mut ids: Vec<String> = ask.keys().cloned().collect();
    ids.sort();
    for (id, event) in ids.iter().zip(by_id(graph, &ids).await) {
        match (event, ask.get(id)) {
            (Ok(event), Some(calendar)) => {
                gone.retain(|(_, gone)| gone != id);
                events.push((calendar, event));
            }
            (Err(error), _) if error.kind() != Kind::NotFound => return Err(error),
            _ => {}
        }
    }
    found.gone = gone.into_iter().map(|(_, id)| id).collect();
    for (calendar, mut event) in events {
        put_in(&mut event, Some(calendar));
        let point = known.get(calendar);
        match point.is_some_and(|point| point.is_new(text(&event, "id"), created_at(&event))) {
            true => found.new.push(event),
            false => found.changed.push(event),
        }
    }
    Ok(())
}
