//! Reads of events at Google: one event, a page of them, or those with a UID.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::Event;
use daysheet_core::ids::{CalendarId, EventId};
use daysheet_core::provider::calendar::{EventListRequest, EventPage};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::account::{GoogleCalendar, call, page_items};
use super::facts::{self as read, mask, some};
use super::ids::{check, check_calendar};
use crate::json::text;
use crate::net::path_segment;
use crate::written::{not_readable, written_unreadably};

/// The maximum page size at Google.
const MAX_PAGE: usize = 2_500;
/// The maximum number of pages that are read for one iCalendar UID, which exceptions share.
const UID_PAGES: usize = 10;

impl GoogleCalendar {
    /// Splits an id into the calendar and the event.
    pub(super) async fn split(&self, id: &EventId) -> Result<(CalendarId, String)> {
        check(id.as_str())?;
        match id.as_str().rsplit_once('/') {
            Some((calendar, event)) => Ok((calendar.into(), event.to_owned())),
            None => Ok((self.primary().await?, id.to_string())),
        }
    }

    /// Fetches an event by its id, with all its fields.
    pub(super) async fn fetch_by_id(&self, id: &EventId) -> Result<Value> {
        let (calendar, event) = self.split(id).await?;
        self.fetch(&calendar, &event).await
    }

    /// Makes an event from Google's object.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a deleted event without a time; [`ErrorKind::Provider`] for any
    /// other event without a time or an id.
    pub(super) fn readable(&self, wire: Value) -> Result<Event> {
        let is_deleted = text(&wire, "status") == "cancelled";
        read::event(wire, &self.own)
            .ok_or_else(|| if is_deleted { deleted() } else { not_readable("Google") })
    }

    /// Makes the event that a write returned.
    ///
    /// # Errors
    /// [`ErrorKind::Network`], because the write has been made, if it has no id or no time.
    pub(super) fn written(&self, wire: Value) -> Result<Event> {
        read::event(wire, &self.own).ok_or_else(|| written_unreadably("Google"))
    }

    /// Makes events from Google's objects. Unreadable objects are left out.
    pub(super) fn readable_ones(&self, wires: Vec<Value>) -> Vec<Event> {
        wires.into_iter().filter_map(|wire| read::event(wire, &self.own)).collect()
    }

    /// Fetches an event with all its fields.
    pub(super) async fn fetch(&self, calendar: &CalendarId, event: &str) -> Result<Value> {
        let (in_path, id) = (&path_segment(calendar.as_str()), &path_segment(event));
        let mut found = call!(self, "*", |hub| hub.events().get(in_path, id))?;
        read::place(&mut found, calendar, &self.own);
        Ok(found)
    }

    /// Fetches a page of one calendar.
    pub(super) async fn page(
        &self,
        ask: &EventListRequest,
        calendar: &CalendarId,
        cursor: Option<&str>,
    ) -> Result<EventPage> {
        check_calendar(calendar.as_str())?;
        let id = &path_segment(calendar.as_str());
        let items = mask(&ask.projection.paths);
        let fields = &format!("nextPageToken,items({items})");
        let (from, to) = (time(ask.from)?, time(ask.to)?);
        let limit = i32::try_from(ask.limit.clamp(1, MAX_PAGE)).unwrap_or(1);
        let answer = call!(self, fields, |hub| {
            let mut call = hub
                .events()
                .list(id)
                .time_min(from)
                .time_max(to)
                .single_events(!ask.series)
                .show_deleted(false)
                .max_results(limit);
            if !ask.series {
                // Google can sort by start only if it expands series.
                call = call.order_by("startTime");
            }
            if let Some(token) = cursor {
                call = call.page_token(token);
            }
            call
        })
        .map_err(|error| stale(error, cursor))?;
        let mut items = page_items(&answer)?.to_vec();
        if ask.series {
            // Without `singleEvents`, Google lists cancelled occurrences beside their series.
            items.retain(|item| text(item, "status") != "cancelled");
        }
        for item in &mut items {
            read::place(item, calendar, &self.own);
        }
        let listed = items.len();
        let events = self.readable_ones(items);
        let unreadable = listed - events.len();
        Ok(EventPage { events, unreadable, next: some(&answer, "nextPageToken") })
    }

    /// Returns the events of one calendar that have this UID.
    pub(super) async fn uid_in(&self, calendar: &CalendarId, uid: &str) -> Result<Vec<Value>> {
        let id = &path_segment(calendar.as_str());
        let mut found = Vec::new();
        let mut token = String::new();
        for _ in 0..UID_PAGES {
            let from = &token;
            let answer = call!(self, "*", |hub| {
                let mut call = hub.events().list(id).i_cal_uid(uid).show_deleted(false);
                if !from.is_empty() {
                    call = call.page_token(from);
                }
                call
            })?;
            found.extend_from_slice(page_items(&answer)?);
            match some(&answer, "nextPageToken") {
                // A repeated token would return the same page forever.
                Some(next) if next != token => token = next,
                _ => break,
            }
        }
        for item in &mut found {
            read::place(item, calendar, &self.own);
        }
        Ok(found)
    }
}

/// Converts a time to the time type of the generated client, through JSON, so that the type is not
/// named here.
pub(super) fn time<T: DeserializeOwned>(at: Timestamp) -> Result<T> {
    serde_json::from_value(at.to_string().into())
        .map_err(|_opaque| Error::argument("a time is out of range for Google Calendar"))
}

/// Returns the error about an event that was deleted.
fn deleted() -> Error {
    Error::new(ErrorKind::NotFound, "the event was deleted").next("search again")
}

/// Turns the refusal of a page token into an error that says it has expired.
fn stale(error: Error, cursor: Option<&str>) -> Error {
    if cursor.is_some() && matches!(error.kind(), ErrorKind::Provider(400 | 410)) {
        return Error::argument("Google Calendar's page cursor expired")
            .next("search again without cursor");
    }
    error
}
