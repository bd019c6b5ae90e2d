//! Google Calendar behind the port.
//!
//! An event is identified by its calendar and its id there, so ids cross the port as
//! `calendar/event`. The account is in `account.rs`, reads of events are in `events.rs`, writes in
//! `write.rs`, changes since a cursor in `changes.rs`, and the facts of an event in `facts.rs`.
//! This file implements the port; no other file of the folder uses it.

mod account;
pub mod body;
mod busy;
mod changes;
mod events;
pub mod facts;
mod ids;
mod write;

use async_trait::async_trait;
use daysheet_core::error::Result;
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::ids::{CalendarId, EventId};
use daysheet_core::project::Projection;
use daysheet_core::provider::CalendarCapabilities;
use daysheet_core::provider::calendar::{
    BusySchedule, CalendarOp, Calendars, ChangeFeed, EventListRequest, EventPage, GuestNotice,
    InvitationReply,
};
use daysheet_core::schemas::Service;
use futures_util::future::join_all;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

pub use self::account::GoogleCalendar;
use self::account::{call, page_items};
use self::events::time;
use self::facts::{self as read, mask};
use self::ids::{check, not_googles};
use crate::json::text;
use crate::limiter::rehearse;
use crate::net::path_segment;

/// The minimum length of an id that a caller may give.
const SHORTEST_ID: usize = 12;

#[async_trait]
impl Calendars for GoogleCalendar {
    fn api(&self) -> Service {
        Service::Google
    }

    fn capabilities(&self) -> &'static CalendarCapabilities {
        &crate::google::CALENDAR
    }

    fn person<'a>(&self, id: &'a CalendarId) -> Option<&'a str> {
        // Secondary, group and holiday calendars have ids of this domain.
        Some(id.as_str()).filter(|id| id.contains('@') && !id.ends_with(".calendar.google.com"))
    }

    async fn calendars(&self) -> Result<Vec<Value>> {
        self.calendar_list().await
    }

    async fn forget_calendars(&self) {
        *self.calendars.lock().await = None;
    }

    async fn rooms(&self) -> Result<Vec<Value>> {
        let mut rooms = self.calendar_list().await?;
        rooms.retain(read::is_room);
        Ok(rooms)
    }

    async fn manage(&self, op: &CalendarOp) -> Result<Option<Value>> {
        self.keep(op).await
    }

    async fn events(&self, ask: &EventListRequest) -> Vec<Result<EventPage>> {
        let pages = ask
            .calendars
            .iter()
            .map(|(calendar, cursor)| self.page(ask, calendar, cursor.as_deref()));
        // The limiter bounds the number of calls in flight.
        join_all(pages).await
    }

    async fn event(&self, ids: &[EventId]) -> Vec<Result<Event>> {
        let found = join_all(ids.iter().map(|id| self.fetch_by_id(id))).await;
        found.into_iter().map(|event| self.readable(event?)).collect()
    }

    async fn by_uid(&self, uid: &str) -> Result<Vec<Event>> {
        let calendars = self.calendar_list().await?;
        let own = calendars
            .iter()
            .filter(|calendar| matches!(text(calendar, "accessRole"), "owner" | "writer"))
            .map(|calendar| CalendarId::from(text(calendar, "id")));
        let mut found = Vec::new();
        let answers = own.map(|calendar| async move { self.uid_in(&calendar, uid).await });
        for answer in join_all(answers).await {
            found.extend(answer?);
        }
        Ok(self.readable_ones(found))
    }

    async fn instances(
        &self,
        series: &EventId,
        from: Timestamp,
        to: Timestamp,
        projection: &Projection,
    ) -> Result<Vec<Event>> {
        let (calendar, event) = self.split(series).await?;
        let (in_path, id) = (&path_segment(calendar.as_str()), &path_segment(&event));
        let fields = &format!("items({})", mask(&projection.paths));
        let (from, to) = (time(from)?, time(to)?);
        let answer = call!(self, fields, |hub| {
            hub.events().instances(in_path, id).time_min(from).time_max(to).show_deleted(false)
        })?;
        let mut items = page_items(&answer)?.to_vec();
        for item in &mut items {
            read::place(item, &calendar, &self.own);
        }
        let mut events = self.readable_ones(items);
        // Google promises no order.
        events.sort_by_key(|event| event.start.instant(&TimeZone::UTC));
        Ok(events)
    }

    fn read_event(&self, wire: Value) -> Option<Event> {
        read::event(wire, &self.own)
    }

    async fn create(
        &self,
        calendar: Option<&CalendarId>,
        event: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Event> {
        self.written(self.insert(calendar, event, notify).await?)
    }

    async fn update(
        &self,
        current: &Event,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Event> {
        self.written(self.patch(&current.wire, change, notify).await?)
    }

    /// Deletes an event. A message to the guests cannot be included: Google's own mail only says
    /// that the event was cancelled.
    async fn delete(
        &self,
        current: &Event,
        _message: Option<&str>,
        notify: GuestNotice,
    ) -> Result<()> {
        self.remove(&current.wire, notify).await
    }

    fn content(&self, event: &Event) -> Option<String> {
        Some(body::restored(&event.wire, &Value::Null).to_string())
    }

    async fn restore(&self, before: &Event, now: Option<&Event>) -> Result<Event> {
        self.written(self.put_back(&before.wire, now.map(|now| &now.wire)).await?)
    }

    async fn respond(&self, current: &Event, response: &InvitationReply) -> Result<Option<Event>> {
        self.written(self.answer(&current.wire, response).await?).map(Some)
    }

    async fn forward(&self, current: &Event, to: &[String], _comment: Option<&str>) -> Result<()> {
        // The pipeline refuses a comment.
        self.invite(&current.wire, to).await
    }

    async fn busy(
        &self,
        who: &[String],
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Result<BusySchedule>> {
        self.schedules(who, from, to).await
    }

    async fn changes(
        &self,
        cursor: Option<&str>,
        projection: &Projection,
    ) -> Result<ChangeFeed<Event>> {
        let changes = self.since(cursor, projection).await?;
        Ok(changes.filter_map(|wire| self.read_event(wire)))
    }

    fn check(
        &self,
        current: Option<&Event>,
        change: &EventPatch,
        _notify: GuestNotice,
    ) -> Result<()> {
        // Building the body finds everything that Google cannot do; notifying plays no part in it.
        match current {
            Some(current) => body::patch_body(&current.wire, change, "").map(drop),
            None => body::new(change, "", "UTC").map(drop),
        }
    }

    async fn rehearse(
        &self,
        calendar: Option<&CalendarId>,
        current: Option<&Event>,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<()> {
        match current {
            Some(current) => rehearse(self.update(current, change, notify)).await,
            None => rehearse(self.create(calendar, change, notify)).await,
        }
    }

    async fn rehearse_op(&self, op: &CalendarOp) -> Result<()> {
        rehearse(self.manage(op)).await
    }

    fn check_id(&self, id: &str) -> Result<()> {
        // Google's own ids have at least 26 characters; a shorter text is a word.
        if id.len() >= SHORTEST_ID { check(id) } else { Err(not_googles()) }
    }
}
