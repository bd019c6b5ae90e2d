//! The calendars of one account: the connection, and the list of calendars.
//!
//! All other files of this folder that make requests build on it.

use std::time::{Duration, Instant};

use daysheet_core::error::Result;
use daysheet_core::ids::CalendarId;
use daysheet_core::provider::{Account, ServiceSettings, TokenSource};
use google_calendar3::CalendarHub;
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use super::facts::{flag, some};
use super::ids::PRIMARY;
use crate::google::client::{CALENDAR, GoogleClient, page};
use crate::google::wire::{self, LoopbackConnector};

/// The time for which the list of calendars is cached.
const LIST_LASTS: Duration = Duration::from_mins(1);
/// The fields of a list's page other than its items.
const OF_A_PAGE: &[&str] = &[
    "accessRole", "defaultReminders", "description", "etag", "kind", "nextPageToken",
    "nextSyncToken", "summary", "timeZone", "updated",
];

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
                    .add_scope(google_calendar3::api::Scope::Full)
                    .delegate(&mut watch)
                    .doit()
                    .await
            })
            .await
    };
}

pub(super) use call;

/// The calendars of one account.
pub struct GoogleCalendar {
    /// The generated client.
    pub(super) hub: CalendarHub<LoopbackConnector>,
    /// The client that sends the requests.
    pub(super) google: GoogleClient,
    /// The base URL of the API.
    pub(super) base: Url,
    /// The account's address.
    pub(super) own: String,
    /// The list of calendars, with the time of fetching it.
    pub(super) calendars: Mutex<Option<(Instant, Vec<Value>)>>,
}

impl GoogleCalendar {
    /// Connects an account to the configured endpoint.
    pub fn new(services: &ServiceSettings, tokens: TokenSource, account: &Account) -> Result<Self> {
        let google = GoogleClient::new(services, tokens, CALENDAR);
        let base = services.endpoints.google_calendar.clone();
        let mut hub = CalendarHub::new(wire::client(services.share.clone()), google.bearer());
        hub.base_url(base.as_str().to_owned());
        hub.root_url(base.as_str().to_owned());
        Ok(Self { hub, google, base, own: account.email.to_string(), calendars: Mutex::new(None) })
    }

    /// Returns the account's calendars, the main one first; cached for [`LIST_LASTS`].
    pub(super) async fn calendar_list(&self) -> Result<Vec<Value>> {
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
    pub(super) async fn primary(&self) -> Result<CalendarId> {
        let calendars = self.calendar_list().await?;
        let main = calendars.first().filter(|first| flag(first, "primary"));
        Ok(main.and_then(|main| some(main, "id")).map_or(PRIMARY.into(), CalendarId::from))
    }
}

/// Returns the items of a page. An empty list may be missing.
///
/// # Errors
/// [`ErrorKind::Provider`](daysheet_core::error::ErrorKind::Provider) for any other response.
pub(super) fn page_items(answer: &Value) -> Result<&[Value]> {
    page(answer, "items", OF_A_PAGE)
}
