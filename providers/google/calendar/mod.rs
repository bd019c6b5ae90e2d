//! Google Calendar behind the port: reads, and the form of ids.
//!
//! An event is identified by its calendar and its id there, so ids cross the port as
//! `calendar/event`. Writes are in `write.rs`, changes since a cursor in `changes.rs`, and the
//! facts of an event in `facts.rs`.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::CalendarCapabilities;
use daysheet_core::provider::ListPage;
use daysheet_core::provider::calendar::{
    BusySchedule, CalendarOp, Calendars, ChangeFeed, EventChange, EventData, EventListRequest,
    GuestNotice, InvitationReply,
};
use daysheet_core::provider::{Account, ServiceSettings, TokenSource};
use daysheet_core::schemas::Service;
use facts::{self as read, flag, mask, some};
use futures_util::future::join_all;
use google_calendar3::CalendarHub;
use google_calendar3::api::Scope;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use super::client::{CALENDAR, GoogleClient, page};
use super::wire::{self, LoopbackConnector};
use crate::json::text;
use crate::limiter::rehearse;
use crate::net::path_segment;

/// Google's id of the main calendar.
const PRIMARY: &str = "primary";
/// The time for which the list of calendars is cached.
const LIST_LASTS: Duration = Duration::from_secs(60);
/// The maximum page size at Google.
const MAX_PAGE: usize = 2_500;
/// The minimum length of an id that a caller may give.
const SHORTEST_ID: usize = 12;
/// The maximum number of pages that are read for one iCalendar UID, which exceptions share.
const UID_PAGES: usize = 10;

/// Makes a generated call with our delegate, a `fields` mask and the scope. A macro, because the
/// generated builders have these setters in common, but no trait.
macro_rules! call {
    ($calendar:expr, $fields:expr, |$hub:ident| $build:expr) => {
        $calendar
            .google
            .call(|mut watch| async move {
                let $hub = &$calendar.hub;
                $build
                    .param("fields", $fields)
                    .add_scope(Scope::Full)
                    .delegate(&mut watch)
                    .doit()
                    .await
            })
            .await
    };
}

pub mod body;
mod busy;
mod changes;
pub mod facts;
mod write;

/// The calendars of one account.
pub struct GoogleCalendar {
    hub: CalendarHub<LoopbackConnector>,
    google: GoogleClient,
    /// The base URL of the API.
    base: Url,
    /// The account's address.
    own: String,
    calendars: Mutex<Option<(Instant, Vec<Value>)>>,
}

impl GoogleCalendar {
    /// Connects an account to the configured endpoint.
    pub fn new(services: &ServiceSettings, tokens: TokenSource, account: &Account) -> Result<Self> {
        let google = GoogleClient::new(services, tokens, CALENDAR);
        let base = services.endpoints.google_calendar.clone();
        let mut hub = CalendarHub::new(wire::client(services.share.clone()), google.bearer());
        hub.base_url(base.as_str().to_owned());
        hub.root_url(base.as_str().to_owned());
        Ok(Self { hub, google, base, own: account.email.clone(), calendars: Mutex::new(None) })
    }

    /// Returns the account's calendars, the main one first; cached for [`LIST_LASTS`].
    async fn calendar_list(&self) -> Result<Vec<Value>> {
        // Held during the request, so that concurrent calls make only one.
        let mut known = self.calendars.lock().await;
        if let Some((when, calendars)) = known.as_ref()
            && when.elapsed() < LIST_LASTS
        {
            return Ok(calendars.clone());
        }
        let mut calendars: Vec<Value> = Vec::new();
        let mut token = String::new();
        loop {
            let from = &token;
            let fields = "nextPageToken,items(id,summary,summaryOverride,timeZone,accessRole,\
                          primary,selected)";
            let answer = call!(self, fields, |hub| {
                let mut call = hub.calendar_list().list().max_results(250);
                if !from.is_empty() {
                    call = call.page_token(from);
                }
                call
            })?;
            calendars.extend_from_slice(page_items(&answer)?);
            match some(&answer, "nextPageToken") {
                // A repeated token would return the same page forever.
                Some(next) if next != token => token = next,
                _ => break,
            }
        }
        calendars.sort_by_key(|calendar| !flag(calendar, "primary"));
        *known = Some((Instant::now(), calendars.clone()));
        Ok(calendars)
    }

    /// Returns the id of the main calendar as the list has it.
    async fn primary(&self) -> Result<String> {
        let calendars = self.calendar_list().await?;
        let main = calendars.first().filter(|first| flag(first, "primary"));
        Ok(main.and_then(|main| some(main, "id")).unwrap_or(PRIMARY.to_owned()))
    }

    /// Splits an id into the calendar and the event.
    async fn split(&self, id: &str) -> Result<(String, String)> {
        check(id)?;
        match id.rsplit_once('/') {
            Some((calendar, event)) => Ok((calendar.to_owned(), event.to_owned())),
            None => Ok((self.primary().await?, id.to_owned())),
        }
    }

    /// Fetches an event with all its fields.
    async fn fetch(&self, calendar: &str, event: &str) -> Result<Value> {
        let (in_path, id) = (&path_segment(calendar), &path_segment(event));
        let mut found = call!(self, "*", |hub| hub.events().get(in_path, id))?;
        read::place(&mut found, calendar, &self.own);
        Ok(found)
    }

    /// Fetches a page of one calendar.
    async fn page(
        &self,
        ask: &EventListRequest,
        calendar: &str,
        cursor: Option<&str>,
    ) -> Result<ListPage> {
        check_calendar(calendar)?;
        let id = &path_segment(calendar);
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
        Ok(ListPage { items, next: some(&answer, "nextPageToken"), ..ListPage::default() })
    }

    /// Returns the events of one calendar that have this UID.
    async fn uid_in(&self, calendar: &str, uid: &str) -> Result<Vec<Value>> {
        let id = &path_segment(calendar);
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

#[async_trait]
impl Calendars for GoogleCalendar {
    fn api(&self) -> Service {
        Service::Google
    }

    fn capabilities(&self) -> &'static CalendarCapabilities {
        &crate::google::CALENDAR
    }

    fn person<'a>(&self, id: &'a str) -> Option<&'a str> {
        // Secondary, group and holiday calendars have ids of this domain.
        Some(id).filter(|id| id.contains('@') && !id.ends_with(".calendar.google.com"))
    }

    async fn calendars(&self) -> Result<Vec<Value>> {
        self.calendar_list().await
    }

    async fn rooms(&self) -> Result<Vec<Value>> {
        let mut rooms = self.calendar_list().await?;
        rooms.retain(read::is_room);
        Ok(rooms)
    }

    async fn manage(&self, op: &CalendarOp) -> Result<Option<Value>> {
        self.keep(op).await
    }

    async fn events(&self, ask: &EventListRequest) -> Vec<Result<ListPage>> {
        let pages = ask
            .calendars
            .iter()
            .map(|(calendar, cursor)| self.page(ask, calendar, cursor.as_deref()));
        // The limiter bounds the number of calls in flight.
        join_all(pages).await
    }

    async fn event(&self, ids: &[String]) -> Vec<Result<Value>> {
        join_all(ids.iter().map(|id| async move {
            let (calendar, event) = self.split(id).await?;
            self.fetch(&calendar, &event).await
        }))
        .await
    }

    async fn by_uid(&self, uid: &str) -> Result<Vec<Value>> {
        let calendars = self.calendar_list().await?;
        let own = calendars
            .iter()
            .filter(|calendar| matches!(text(calendar, "accessRole"), "owner" | "writer"))
            .map(|calendar| text(calendar, "id"));
        let mut found = Vec::new();
        for answer in join_all(own.map(|calendar| self.uid_in(calendar, uid))).await {
            found.extend(answer?);
        }
        Ok(found)
    }

    async fn instances(
        &self,
        series: &str,
        from: Timestamp,
        to: Timestamp,
        projection: &Projection,
    ) -> Result<Vec<Value>> {
        let (calendar, event) = self.split(series).await?;
        let (in_path, id) = (&path_segment(&calendar), &path_segment(&event));
        let fields = &format!("items({})", mask(&projection.paths));
        let (from, to) = (time(from)?, time(to)?);
        let answer = call!(self, fields, |hub| {
            hub.events().instances(in_path, id).time_min(from).time_max(to).show_deleted(false)
        })?;
        let mut items = page_items(&answer)?.to_vec();
        for item in &mut items {
            read::place(item, &calendar, &self.own);
        }
        // Google promises no order.
        items.sort_by_key(|item| {
            self.event_data(item).map(|facts| facts.start.instant(&TimeZone::UTC))
        });
        Ok(items)
    }

    fn event_data(&self, event: &Value) -> Option<EventData> {
        read::facts(event, &self.own)
    }

    async fn create(
        &self,
        calendar: Option<&str>,
        event: &EventChange,
        notify: GuestNotice,
    ) -> Result<Value> {
        self.insert(calendar, event, notify).await
    }

    async fn update(
        &self,
        current: &Value,
        change: &EventChange,
        notify: GuestNotice,
    ) -> Result<Value> {
        self.patch(current, change, notify).await
    }

    /// Deletes an event. A message to the guests cannot be included: Google's own mail only says
    /// that the event was cancelled.
    async fn delete(
        &self,
        current: &Value,
        _message: Option<&str>,
        notify: GuestNotice,
    ) -> Result<()> {
        self.remove(current, notify).await
    }

    fn content(&self, event: &Value) -> Option<String> {
        Some(body::restored(event, &Value::Null).to_string())
    }

    async fn restore(&self, before: &Value, now: Option<&Value>) -> Result<Value> {
        self.put_back(before, now).await
    }

    fn own_comment(&self, event: &Value) -> Option<String> {
        body::own_comment(event, &self.own)
    }

    async fn respond(&self, current: &Value, response: &InvitationReply) -> Result<Option<Value>> {
        self.answer(current, response).await.map(Some)
    }

    async fn forward(&self, current: &Value, to: &[String], comment: Option<&str>) -> Result<()> {
        self.invite(current, to, comment).await
    }

    async fn busy(
        &self,
        who: &[String],
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Result<BusySchedule>> {
        self.schedules(who, from, to).await
    }

    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<ChangeFeed> {
        self.since(cursor, projection).await
    }

    fn check(
        &self,
        current: Option<&Value>,
        change: &EventChange,
        _notify: GuestNotice,
    ) -> Result<()> {
        // Building the body finds everything that Google cannot do; notifying plays no part in it.
        match current {
            Some(current) => body::patch_body(current, change, "").map(drop),
            None => body::new(change, "", "UTC").map(drop),
        }
    }

    async fn rehearse(
        &self,
        calendar: Option<&str>,
        current: Option<&Value>,
        change: &EventChange,
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

/// Converts a time to the time type of the generated client, through JSON, so that the type is not
/// named here.
fn time<T: DeserializeOwned>(at: Timestamp) -> Result<T> {
    serde_json::from_value(at.to_string().into())
        .map_err(|_opaque| Error::argument("a time is out of range for Google Calendar"))
}

/// Checks an id. Paths escape ids, so only impossible ones are refused.
fn check(id: &str) -> Result<()> {
    let (calendar, event) = id.rsplit_once('/').unwrap_or((PRIMARY, id));
    let fits = (1..=1_100).contains(&event.len())
        && event
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'@' | b'.'))
        // Dots alone would change the path.
        && !event.bytes().all(|byte| byte == b'.');
    if fits && check_calendar(calendar).is_ok() {
        return Ok(());
    }
    Err(not_googles())
}

fn not_googles() -> Error {
    Error::argument("the id is not Google Calendar's (calendar/event)")
        .next("use a handle such as e12 from a search")
}

fn check_calendar(id: &str) -> Result<()> {
    let fits = (1..=320).contains(&id.len())
        && !id.contains(|char: char| char.is_control() || char.is_whitespace() || char == '/')
        && !id.bytes().all(|byte| byte == b'.');
    if fits {
        return Ok(());
    }
    Err(Error::argument("the id is not a Google calendar's")
        .next("use a handle such as c2 from lookup kind=calendars"))
}

/// Turns the refusal of a page token into an error that says it has expired.
fn stale(error: Error, cursor: Option<&str>) -> Error {
    if cursor.is_some() && matches!(error.kind(), ErrorKind::Provider(400 | 410)) {
        return Error::argument("Google Calendar's page cursor expired")
            .next("search again without cursor");
    }
    error
}

/// The fields of a list's page other than its items.
const OF_A_PAGE: &[&str] = &[
    "accessRole", "defaultReminders", "description", "etag", "kind", "nextPageToken",
    "nextSyncToken", "summary", "timeZone", "updated",
];

/// Returns the items of a page. An empty list may be missing.
///
/// # Errors
/// [`ErrorKind::Provider`] for any other response.
fn page_items(answer: &Value) -> Result<&[Value]> {
    page(answer, "items", OF_A_PAGE)
}
