//! Outlook Calendar behind the port.
//!
//! This module has the calendars themselves and the port. `events.rs` reads events,
//! `events/facts.rs` extracts their facts, `write.rs` changes them, `changes.rs` has the changes
//! since a cursor, and `schedule.rs` busy times.

mod body;
mod changes;
pub(super) mod events;
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
use daysheet_core::provider::ListPage;
use daysheet_core::provider::calendar::{
    BusySchedule, CalendarOp, Calendars, ChangeFeed, EventListRequest, GuestNotice, InvitationReply,
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
use crate::written::has_values;

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

    async fn events(&self, ask: &EventListRequest) -> Vec<Result<ListPage>> {
        events::events(&self.graph, ask).await
    }

    async fn event(&self, ids: &[EventId]) -> Vec<Result<Value>> {
        events::by_id(&self.graph, ids).await
    }

    async fn by_uid(&self, uid: &str) -> Result<Vec<Value>> {
        events::by_uid(&self.graph, uid).await
    }

    async fn instances(
        &self,
        series: &EventId,
        from: Timestamp,
        to: Timestamp,
        projection: &Projection,
    ) -> Result<Vec<Value>> {
        events::instances(&self.graph, series, from, to, projection).await
    }

    fn event_data(&self, event: &Value) -> Option<Event> {
        facts::facts(event, &self.address)
    }

    fn own_notes(&self, event: &Value) -> Option<String> {
        Some(online::own_notes(event)).filter(|notes| !notes.is_empty())
    }

    async fn create(
        &self,
        calendar: Option<&CalendarId>,
        event: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Value> {
        write::create(&self.graph, calendar, event, notify).await
    }

    async fn update(
        &self,
        current: &Value,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Value> {
        write::update(&self.graph, current, change, notify).await
    }

    async fn delete(
        &self,
        current: &Value,
        message: Option<&str>,
        notify: GuestNotice,
    ) -> Result<()> {
        write::delete(&self.graph, current, message, notify).await
    }

    fn content(&self, event: &Value) -> Option<String> {
        Some(body::content(event))
    }

    fn irreversible(&self, event: &Value, change: Option<&EventPatch>) -> Option<&'static str> {
        body::irreversible(event, change)
    }

    async fn restore(&self, before: &Value, now: Option<&Value>) -> Result<Value> {
        write::restore(&self.graph, before, now).await
    }

    async fn respond(&self, current: &Value, response: &InvitationReply) -> Result<Option<Value>> {
        write::respond(&self.graph, current, response).await
    }

    async fn forward(&self, current: &Value, to: &[String], comment: Option<&str>) -> Result<()> {
        write::forward(&self.graph, current, to, comment).await
    }

    async fn busy(
        &self,
        who: &[String],
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Result<BusySchedule>> {
        schedule::busy(&self.graph, &self.address, who, from, to).await
    }

    async fn changes(&self, cursor: Option<&str>, _projection: &Projection) -> Result<ChangeFeed> {
        // Graph's deltas return complete events, whatever is requested.
        let calendars = self.all_calendars().await?;
        changes::changes(&self.graph, &self.address, &calendars, cursor, self.graph.now()).await
    }

    fn check(
        &self,
        current: Option<&Value>,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<()> {
        body::check(change, current, notify)
    }

    fn check_deletion(&self, current: &Value, notify: GuestNotice) -> Result<()> {
        body::check_notice(notify, write::cancels(current))
    }

    async fn rehearse(
        &self,
        calendar: Option<&CalendarId>,
        current: Option<&Value>,
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
