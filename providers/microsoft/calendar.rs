//! Outlook Calendar behind the port.
//!
//! This module has the calendars themselves and the port. `events.rs` reads events,
//! `events/facts.rs` extracts their facts, `write.rs` changes them, `changes.rs` has the changes
//! since a cursor, and `schedule.rs` busy times.

mod body;
mod changes;
pub mod events;
pub mod online;
mod schedule;
mod write;
pub mod zones;

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::ids::{CalendarId, EventId};
use daysheet_core::project::Projection;
use daysheet_core::provider::CalendarCapabilities;
use daysheet_core::provider::calendar::{
    BusySchedule, CalendarOp, Calendars, ChangeFeed, EventListRequest, EventPage, GuestNotice,
    InvitationReply,
};
use daysheet_core::provider::{Account, ServiceSettings, TokenSource};
use daysheet_core::schemas::Service;
use events::facts;
use graph_rs_sdk::http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use write::calendar_error;

use super::client::{GraphAccount, request};
use super::response::{DENIED, not_ours};
use crate::json::{is, text};
use crate::limiter::rehearse;
use crate::net;
use crate::written::{has_values, not_readable, written_unreadably};

/// The properties of a calendar that are requested.
const CALENDAR: &str = "id,name,canEdit,canShare,isDefaultCalendar,owner";
/// The page size, and the maximum number of pages, of the list of calendars.
const CALENDAR_TOP: &str = "100";
const CALENDAR_PAGES: usize = 10;
/// The page size, and the maximum number of pages, of the list of rooms.
const ROOM_TOP: &str = "100";
const ROOM_PAGES: usize = 50;

/// The calendars of one account.
pub struct OutlookCalendar {
    graph: GraphAccount,
    /// The mailbox's address.
    address: String,
}

impl OutlookCalendar {
    /// Connects `account` to the configured endpoint.
    ///
    /// # Errors
    /// See [`GraphAccount::new`].
    pub fn new(services: &ServiceSettings, tokens: TokenSource, account: &Account) -> Result<Self> {
        let shared = account.via.is_some().then_some(account.email.as_str());
        Ok(Self {
            graph: GraphAccount::new(services, tokens, shared)?,
            address: account.email.to_string(),
        })
    }

    /// Makes an event from Graph's object.
    ///
    /// # Errors
    /// [`ErrorKind::Provider`] if it has no id or no time.
    fn readable(&self, wire: Value) -> Result<Event> {
        facts::event(wire, &self.address).ok_or_else(|| not_readable("Outlook"))
    }

    /// Makes the event that a write returned.
    ///
    /// # Errors
    /// [`ErrorKind::Network`], because the write has been made, if it has no id or no time.
    fn written(&self, wire: Value) -> Result<Event> {
        facts::event(wire, &self.address).ok_or_else(|| written_unreadably("Outlook"))
    }

    /// Makes events from Graph's objects. Unreadable objects are left out.
    fn readable_ones(&self, wires: Vec<Value>) -> Vec<Event> {
        wires.into_iter().filter_map(|wire| facts::event(wire, &self.address)).collect()
    }

    /// Makes a page of events from Graph's objects and the position of the next page.
    fn event_page(&self, (wires, next): (Vec<Value>, Option<String>)) -> EventPage {
        let listed = wires.len();
        let events = self.readable_ones(wires);
        EventPage { unreadable: listed - events.len(), events, next }
    }

    /// Returns the request for a calendar.
    fn calendar_url(&self, id: &CalendarId) -> Result<String> {
        events::check_calendar(id.as_str())?;
        let path = format!("calendars/{}", net::path_segment(id.as_str()));
        Ok(self.graph.mailbox_url(&path, &[]))
    }

    /// Returns a calendar that was written, with the properties that a list has.
    async fn as_listed(&self, calendar: Value) -> Result<Value> {
        let id = text(&calendar, "id");
        if id.is_empty() {
            return Err(not_ours("calendar"));
        }
        let listed = self.all_calendars().await.unwrap_or_default();
        let listed = listed.into_iter().find(|listed| text(listed, "id") == id);
        Ok(listed.unwrap_or(calendar))
    }

    async fn all_calendars(&self) -> Result<Vec<Value>> {
        let list = [("$top", CALENDAR_TOP), ("$select", CALENDAR)];
        let requests = [
            self.graph.mailbox_url("calendars", &list),
            self.graph.mailbox_url("mailboxSettings", &[]),
        ];
        let mut answers = self.graph.batch(&requests).await.into_iter();
        let lost = || Err(Error::new(ErrorKind::Internal, "the calendars were left out"));
        let answer = answers.next().unwrap_or_else(lost)?;
        // The sign-in may lack access to the settings but have access to the calendars.
        let settings = answers.next().and_then(Result::ok).unwrap_or_default();
        let (mut calendars, _) = self.graph.all(answer, usize::MAX, CALENDAR_PAGES).await?;
        calendars.retain(|calendar| !text(calendar, "id").is_empty());
        // The sort is stable: the others keep Graph's order.
        calendars.sort_by_key(|calendar| !is(calendar, "isDefaultCalendar"));
        if let Some(zone) = settings.get("timeZone").filter(|zone| zone.is_string()) {
            for calendar in calendars.iter_mut().filter_map(Value::as_object_mut) {
                calendar.insert("timeZone".to_owned(), zone.clone());
            }
        }
        Ok(calendars)
    }
}

#[async_trait]
impl Calendars for OutlookCalendar {
    fn api(&self) -> Service {
        Service::Microsoft
    }

    fn capabilities(&self) -> &'static CalendarCapabilities {
        &crate::microsoft::CALENDAR
    }

    async fn calendars(&self) -> Result<Vec<Value>> {
        self.all_calendars().await
    }

    async fn rooms(&self) -> Result<Vec<Value>> {
        let list = request("places/microsoft.graph.room", &[("$top", ROOM_TOP)]);
        let no_rooms = |error: Error| match error.kind() {
            ErrorKind::Auth if error.message() == DENIED => Error::new(
                ErrorKind::Provider(403),
                "this sign-in may not list rooms: that needs the permission Place.Read.All from an \
                 administrator",
            )
            .next("request it, or name the room by its address"),
            _ => error,
        };
        let answer = self.graph.get(&list).await.map_err(no_rooms)?;
        let (mut rooms, _) = self.graph.all(answer, usize::MAX, ROOM_PAGES).await?;
        // Rooms without an address cannot be booked.
        rooms.retain(|room| !text(room, "emailAddress").is_empty());
        Ok(rooms)
    }

    async fn manage(&self, op: &CalendarOp) -> Result<Option<Value>> {
        match op {
            CalendarOp::Create { zone: Some(_), .. } => {
                Err(Error::argument("Outlook's calendars have the mailbox's time zone")
                    .next("leave out the zone"))
            }
            CalendarOp::Create { name, zone: None } => {
                let list = self.graph.mailbox_url("calendars", &[]);
                let body = json!({"name": name});
                // The caller has ensured that no other calendar has this name.
                let made = async || {
                    let all = self.all_calendars().await?;
                    Ok(all.into_iter().find(|one| text(one, "name") == name))
                };
                let made = self.graph.write_for_sure(&Method::POST, &list, None, Some(&body), made);
                self.as_listed(made.await.map_err(calendar_error)?.unwrap_or_default())
                    .await
                    .map(Some)
            }
            CalendarOp::Rename { id, name } => {
                let body = json!({"name": name});
                let request = self.calendar_url(id)?;
                let named = async || {
                    let found = self.graph.there(&request).await?;
                    Ok(found.filter(|found| has_values(Some(found), &body)))
                };
                let renamed =
                    self.graph.write_for_sure(&Method::PATCH, &request, None, Some(&body), named);
                let answer = renamed.await.map_err(calendar_error)?;
                let calendar = match answer.filter(|answer| !text(answer, "id").is_empty()) {
                    Some(calendar) => calendar,
                    None => self.graph.get(&request).await?,
                };
                self.as_listed(calendar).await.map(Some)
            }
            CalendarOp::Delete { id } => {
                let request = self.calendar_url(id)?;
                let deleted = self.graph.delete(&request, None);
                deleted.await.map_err(calendar_error)?;
                Ok(None)
            }
        }
    }

    async fn events(&self, ask: &EventListRequest) -> Vec<Result<EventPage>> {
        let pages = events::events(&self.graph, ask).await.into_iter();
        pages.map(|page| Ok(self.event_page(page?))).collect()
    }

    async fn event(&self, ids: &[EventId]) -> Vec<Result<Event>> {
        let found = events::by_id(&self.graph, ids).await.into_iter();
        found.map(|event| self.readable(event?)).collect()
    }

    async fn by_uid(&self, uid: &str) -> Result<Vec<Event>> {
        Ok(self.readable_ones(events::by_uid(&self.graph, uid).await?))
    }

    async fn instances(
        &self,
        series: &EventId,
        from: Timestamp,
        to: Timestamp,
        projection: &Projection,
    ) -> Result<Vec<Event>> {
        let found = events::instances(&self.graph, series, from, to, projection).await?;
        Ok(self.readable_ones(found))
    }

    fn read_event(&self, wire: Value) -> Option<Event> {
        facts::event(wire, &self.address)
    }

    fn own_notes(&self, event: &Event) -> Option<String> {
        Some(online::own_notes(&event.wire)).filter(|notes| !notes.is_empty())
    }

    async fn create(
        &self,
        calendar: Option<&CalendarId>,
        event: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Event> {
        self.written(write::create(&self.graph, calendar, event, notify).await?)
    }

    async fn update(
        &self,
        current: &Event,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Event> {
        self.written(write::update(&self.graph, &current.wire, change, notify).await?)
    }

    async fn delete(
        &self,
        current: &Event,
        message: Option<&str>,
        notify: GuestNotice,
    ) -> Result<()> {
        write::delete(&self.graph, &current.wire, message, notify).await
    }

    fn content(&self, event: &Event) -> Option<String> {
        Some(body::content(&event.wire))
    }

    fn irreversible(&self, event: &Event, change: Option<&EventPatch>) -> Option<&'static str> {
        body::irreversible(&event.wire, change)
    }

    async fn restore(&self, before: &Event, now: Option<&Event>) -> Result<Event> {
        let now = now.map(|now| &now.wire);
        self.written(write::restore(&self.graph, before, now).await?)
    }

    async fn respond(&self, current: &Event, response: &InvitationReply) -> Result<Option<Event>> {
        let answered = write::respond(&self.graph, &current.wire, response).await?;
        answered.map(|event| self.written(event)).transpose()
    }

    async fn forward(&self, current: &Event, to: &[String], comment: Option<&str>) -> Result<()> {
        write::forward(&self.graph, &current.wire, to, comment).await
    }

    async fn busy(
        &self,
        who: &[String],
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Result<BusySchedule>> {
        schedule::busy(&self.graph, &self.address, who, from, to).await
    }

    async fn changes(
        &self,
        cursor: Option<&str>,
        _projection: &Projection,
    ) -> Result<ChangeFeed<Event>> {
        // Graph's deltas return complete events, whatever is requested.
        let calendars = self.all_calendars().await?;
        let (graph, me) = (&self.graph, &self.address);
        let changes = changes::changes(graph, me, &calendars, cursor, graph.now()).await?;
        Ok(changes.filter_map(|wire| self.read_event(wire)))
    }

    fn check(
        &self,
        current: Option<&Event>,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<()> {
        body::check(change, current.map(|current| &current.wire), notify)
    }

    fn check_deletion(&self, current: &Event, notify: GuestNotice) -> Result<()> {
        body::check_notice(notify, write::cancels(&current.wire))
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
        events::check(id)
    }
}
