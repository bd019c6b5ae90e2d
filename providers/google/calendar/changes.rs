//! Changes in the calendars since a cursor, by Google's sync tokens.
//!
//! Each calendar has a token of its own; one cursor holds them all. A recurring event is reported
//! once, with its exceptions: renaming a series is one change, not hundreds. A cancelled occurrence
//! is a change of its series, too.
//!
//! An event is new if it was created since the cursor, or if it was created earlier by someone who
//! has now invited the account. `created` does not suffice: it has whole seconds, and is the
//! organizer's. A cursor therefore has short hashes of the existing events, which also show how
//! they differ later.

use std::collections::{BTreeMap, BTreeSet};

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{CalendarId, EventId};
use daysheet_core::project::Projection;
use daysheet_core::provider::calendar::{ChangeFeed, ItemDifference, NamedCalendar, shown_names};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::account::{GoogleCalendar, call, page_items};
use super::events::time;
use super::facts::{self as read, flag, list, mask, some};
use crate::json::text;
use crate::net::path_segment;
use crate::tracked::{TrackedEvent, TrackedItems};

/// The page size for changes of one calendar. It is the same for the first token,
/// because Google requires identical parameters.
const AT_ONCE: i32 = 2_500;
/// The range before now in which events are followed, in hours. Older ones rarely matter, and the
/// first token costs a page for every 2,500 events.
const BACK: i64 = 31 * 24;
/// The field with guests' comments, which are requested only for changes.
const COMMENT: &str = "attendees/comment";
/// The maximum number of pages that are read for a first token.
const PAGES: usize = 40;
/// The time before a calendar was read in which new events may be missing from it.
const SHORTLY: SignedDuration = SignedDuration::from_mins(2);

/// The sync points of the calendars, by calendar id.
type SyncPoints = BTreeMap<CalendarId, SyncPoint>;

/// The state of a calendar at a cursor.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct SyncPoint {
    /// Google's sync token.
    sync: String,
    /// The calendar's `updated` at the cursor; events created later are new.
    seen: String,
    /// Events that existed at the cursor.
    #[serde(default)]
    tracked: TrackedItems,
    /// The token of the next page of changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
}

/// The changes in one calendar.
#[derive(Default)]
struct CalendarChanges {
    point: SyncPoint,
    items: Vec<Value>,
    started_over: bool,
}

impl GoogleCalendar {
    pub(super) async fn since(
        &self,
        cursor: Option<&str>,
        projection: &Projection,
    ) -> Result<ChangeFeed> {
        let known: SyncPoints = match cursor {
            None => SyncPoints::new(),
            Some(cursor) => serde_json::from_str(cursor).map_err(|_opaque| {
                Error::argument("the cursor is not Google Calendar's")
                    .next("call changes without cursor")
            })?,
        };
        let calendars = self.calendar_list().await?;
        // The role shows only busy times, no events.
        let readable = |calendar: &&Value| text(calendar, "accessRole") != "freeBusyReader";
        let ids = calendars.iter().filter(readable).map(|one| CalendarId::from(text(one, "id")));
        let steps = join_all(ids.map(|id| {
            let point = known.get(&id);
            async move {
                let step = self.step(&id, point, projection).await;
                (id, step)
            }
        }));
        let mut points = SyncPoints::new();
        let mut changes = ChangeFeed::default();
        for (id, step) in steps.await {
            let step = match step {
                Ok(step) => step,
                // It was listed a moment ago, and is no longer shared.
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Provider(403)) =>
                {
                    continue;
                }
                Err(error) => return Err(error),
            };
            changes.started_over |= step.started_over;
            changes.more |= step.point.page.is_some();
            if let Some(point) = known.get(&id) {
                self.sort_out(&id, point, step.items, &mut changes).await?;
            }
            points.insert(id, step.point);
        }
        let own = calendars.iter().filter_map(|one| {
            let name = some(one, "summaryOverride").or_else(|| some(one, "summary"));
            Some(NamedCalendar {
                id: some(one, "id")?.into(),
                name: name?,
                main: flag(one, "primary"),
            })
        });
        let names = shown_names(&own.collect::<Vec<_>>());
        changes.names = names.into_iter().map(|(id, name)| (id.into(), name)).collect();
        changes.cursor = serde_json::to_string(&points)
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        Ok(changes)
    }

    /// Sorts the changes of a calendar into new, changed and deleted. A series that has changed, or
    /// has cancelled occurrences, is one change together with its exceptions.
    async fn sort_out(
        &self,
        calendar: &CalendarId,
        point: &SyncPoint,
        items: Vec<Value>,
        changes: &mut ChangeFeed,
    ) -> Result<()> {
        let id_of = |id: &str| read::join(Some(calendar), id);
        let (cancelled, items): (Vec<Value>, Vec<Value>) =
            items.into_iter().partition(|item| text(item, "status") == "cancelled");
        let singles = |items: &[Value]| -> BTreeSet<String> {
            let items = items.iter().filter(|item| text(item, "recurringEventId").is_empty());
            items.map(|item| text(item, "id").to_owned()).collect()
        };
        let (masters, deleted) = (singles(&items), singles(&cancelled));
        let mut parts: BTreeMap<String, ItemDifference> = BTreeMap::new();
        for item in &cancelled {
            let (id, series) = (text(item, "id"), text(item, "recurringEventId"));
            // Part of a deleted series, or reported as cancelled before.
            if deleted.contains(series) || point.tracked.event(id) == Some(TrackedEvent::Cancelled)
            {
                continue;
            }
            let original = item.get("originalStartTime").and_then(read::read_when);
            if let Some(original) = original.filter(|_| !series.is_empty()) {
                let start = point.tracked.start(id).unwrap_or(original);
                parts.entry(series.to_owned()).or_default().cancelled.push(start);
            } else {
                let start = point.tracked.start(id);
                changes.starts.extend(start.map(|start| (id_of(id).into(), start)));
                changes.gone.push(id_of(id).into());
            }
        }
        let mut shown = Vec::new();
        for item in items {
            let series = text(&item, "recurringEventId");
            let facts = read::read(&item, &self.own);
            let difference = facts
                .as_ref()
                .and_then(|facts| point.tracked.difference(text(&item, "id"), series, facts));
            // If the series has changed too, its exceptions belong to that change.
            if !masters.contains(series) {
                shown.push((item, difference));
            } else if let Some(facts) = facts
                && difference.as_ref().is_none_or(|one| !one.words.is_empty())
            {
                let parts = parts.entry(series.to_owned()).or_default();
                parts.add_occurrence(&facts, difference.as_ref());
            }
        }
        for (item, difference) in shown {
            let id = text(&item, "id").to_owned();
            let parts = parts.remove(&id);
            if point.is_new(&item) {
                changes.differences.extend(parts.map(|parts| (id_of(&id).into(), parts)));
                changes.new.push(item);
                continue;
            }
            let difference = match (difference, parts) {
                (Some(difference), Some(parts)) => Some(difference.with(parts)),
                (difference, parts) => difference.or(parts),
            };
            changes
                .differences
                .extend(difference.map(|difference| (id_of(&id).into(), difference)));
            changes.changed.push(item);
        }
        let (ids, parts): (Vec<EventId>, Vec<ItemDifference>) =
            parts.into_iter().map(|(series, parts)| (id_of(&series), parts)).unzip();
        // Of these series, the page has only occurrences.
        let found = join_all(ids.iter().map(|id| self.fetch_by_id(id))).await;
        for ((id, parts), series) in ids.iter().zip(parts).zip(found) {
            match series {
                // Google promises nothing more of a deleted event than its id.
                Ok(series) if text(&series, "status") == "cancelled" => {}
                Ok(series) => {
                    changes.differences.insert(id.to_string(), parts);
                    changes.changed.push(series);
                }
                // It was deleted meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn step(
        &self,
        calendar: &CalendarId,
        point: Option<&SyncPoint>,
        projection: &Projection,
    ) -> Result<CalendarChanges> {
        // A calendar added after the cursor was created starts here, too.
        let Some(point) = point else {
            return self.begin(calendar).await;
        };
        match self.proceed(calendar, point, projection).await {
            // Google has dropped the token.
            Err(error) if error.kind() == ErrorKind::Provider(410) => {
                Ok(CalendarChanges { started_over: true, ..self.begin(calendar).await? })
            }
            step => step,
        }
    }

    /// Requests a first sync token, with enough of each event to recognize it later.
    async fn begin(&self, calendar: &CalendarId) -> Result<CalendarChanges> {
        let id = &path_segment(calendar.as_str());
        let now = self.google.now();
        let from = time(now.checked_sub(BACK.hours()).unwrap_or(now))?;
        let mut page = String::new();
        let mut there = Vec::new();
        for _ in 0..PAGES {
            let token = &page;
            let fields = &format!(
                "nextPageToken,nextSyncToken,updated,items(created,{COMMENT},{})",
                mask(&[])
            );
            let answer = call!(self, fields, |hub| {
                let mut call = hub.events().list(id);
                call = call.time_min(from).max_results(AT_ONCE);
                if !token.is_empty() {
                    call = call.page_token(token);
                }
                call
            })?;
            there.extend_from_slice(list(&answer, "items"));
            if let Some(sync) = some(&answer, "nextSyncToken") {
                let mut point = SyncPoint {
                    sync,
                    seen: some(&answer, "updated").unwrap_or_else(|| now.to_string()),
                    tracked: TrackedItems::new(),
                    page: None,
                };
                for item in &mut there {
                    read::place(item, calendar, &self.own);
                }
                point.know(&there, &self.own);
                return Ok(CalendarChanges { point, ..CalendarChanges::default() });
            }
            match some(&answer, "nextPageToken") {
                // A repeated token would return the same page forever.
                Some(next) if next != page => page = next,
                _ => break,
            }
        }
        Err(Error::new(
            ErrorKind::Provider(200),
            "Google Calendar gave no starting point for changes",
        ))
    }

    /// Fetches one page of changes.
    async fn proceed(
        &self,
        calendar: &CalendarId,
        point: &SyncPoint,
        projection: &Projection,
    ) -> Result<CalendarChanges> {
        let id = &path_segment(calendar.as_str());
        let items = mask(&projection.paths);
        let fields =
            &format!("nextPageToken,nextSyncToken,updated,items(created,{COMMENT},{items})");
        let answer = call!(self, fields, |hub| {
            let mut call = hub.events().list(id);
            call = call.sync_token(&point.sync).max_results(AT_ONCE);
            if let Some(page) = &point.page {
                call = call.page_token(page);
            }
            call
        })?;
        let mut items = page_items(&answer)?.to_vec();
        for item in &mut items {
            read::place(item, calendar, &self.own);
        }
        let mut next = match some(&answer, "nextSyncToken") {
            Some(sync) => SyncPoint {
                sync,
                seen: some(&answer, "updated").unwrap_or_else(|| point.seen.clone()),
                page: None,
                ..point.clone()
            },
            None => SyncPoint { page: some(&answer, "nextPageToken"), ..point.clone() },
        };
        next.know(&items, &self.own);
        Ok(CalendarChanges { point: next, items, started_over: false })
    }
}

impl SyncPoint {
    /// Returns true if an event did not exist at the cursor.
    fn is_new(&self, item: &Value) -> bool {
        if self.tracked.has(text(item, "id")) {
            return false;
        }
        let may_be_new = is_of_others(item) && self.tracked.is_complete();
        match some(item, "recurringEventId") {
            // An exception has its series' creation time, and someone may be invited to a single
            // occurrence.
            Some(series) => may_be_new && !self.tracked.has(&series),
            None => may_be_new || self.is_late(item),
        }
    }

    /// Returns true if an event was created after the calendar was read, or shortly before.
    fn is_late(&self, item: &Value) -> bool {
        let created: Option<Timestamp> = text(item, "created").parse().ok();
        let seen: Option<Timestamp> = self.seen.parse().ok();
        let from = seen.and_then(|seen| seen.checked_sub(SHORTLY).ok());
        matches!((created, from), (Some(created), Some(from)) if created >= from)
    }

    /// Records the present state of events.
    fn know(&mut self, items: &[Value], own: &str) {
        for item in items {
            let id = text(item, "id");
            match (text(item, "status"), some(item, "recurringEventId")) {
                ("cancelled", Some(_)) => self.tracked.put_cancelled(id),
                ("cancelled", None) => self.tracked.remove(id),
                _ => self.tracked.put_event(id, "", read::read(item, own).as_ref()),
            }
        }
    }
}

/// Returns true if someone else organizes the event.
fn is_of_others(item: &Value) -> bool {
    let organizer = item.get("organizer");
    organizer.is_some_and(|one| one.get("self").and_then(Value::as_bool) != Some(true))
}
