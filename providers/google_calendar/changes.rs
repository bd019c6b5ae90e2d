//! What has changed in the calendars since a cursor, by Google's sync tokens.
//!
//! Each calendar has a token of its own; all of them are one cursor. Recurring
//! events are told once, with the occurrences that differ: a series that is
//! renamed is one change, not hundreds.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{GoogleCalendar, Scope, time};
use crate::error::{Error, Kind, Result};
use crate::net::path_segment;
use crate::project::Projection;
use crate::provider::calendar::Changes;
use crate::providers::google_calendar_facts::{self as read, mask, some};
use crate::providers::json::text;

/// How many changes of one calendar are told at once. It is the same for the
/// first token: Google wants all its parameters to be.
const AT_ONCE: i32 = 2_500;
/// How far back events are looked at, in hours: what is older and changes is
/// rarely news, and the first token costs a page for every 2,500 events.
const BACK: i64 = 31 * 24;
/// The most pages that the first token may cost.
const PAGES: usize = 40;

/// Where each calendar was left, by its id.
type Marks = BTreeMap<String, Mark>;

/// Where a calendar was left.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Mark {
    /// Google's sync token.
    sync: String,
    /// When the calendar had last changed then; what was created later is new.
    seen: String,
    /// The next page of what has changed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
}

/// What has happened in one calendar.
#[derive(Default)]
struct Step {
    mark: Mark,
    items: Vec<Value>,
    started_over: bool,
}

impl GoogleCalendar {
    pub(super) async fn since(
        &self,
        cursor: Option<&str>,
        projection: &Projection,
    ) -> Result<Changes> {
        let known: Marks = match cursor {
            None => Marks::new(),
            Some(cursor) => serde_json::from_str(cursor).map_err(|_opaque| {
                Error::argument("the cursor is not one of Google Calendar's")
                    .next("ask for changes without cursor")
            })?,
        };
        let calendars = self.listed().await?;
        let readable = |calendar: &&Value| text(calendar, "accessRole") != "freeBusyReader";
        let ids = calendars.iter().filter(readable).map(|one| text(one, "id"));
        let steps = join_all(ids.map(|id| {
            let mark = known.get(id);
            async move { (id, self.step(id, mark, projection).await) }
        }));
        let mut marks = Marks::new();
        let mut changes = Changes::default();
        for (id, step) in steps.await {
            let step = match step {
                Ok(step) => step,
                // It was in the list a moment ago, and is shared no longer.
                Err(error) if matches!(error.kind(), Kind::NotFound | Kind::Provider(403)) => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            let before = known.get(id).and_then(|mark| mark.seen.parse().ok());
            changes.started_over |= step.started_over;
            changes.more |= step.mark.page.is_some();
            for item in step.items {
                if text(&item, "status") == "cancelled" {
                    changes.gone.push(read::join(Some(id), text(&item, "id")));
                } else if is_new(&item, before) {
                    changes.new.push(item);
                } else {
                    changes.changed.push(item);
                }
            }
            marks.insert(id.to_owned(), step.mark);
        }
        changes.names = calendars
            .iter()
            .filter_map(|one| {
                let name = some(one, "summaryOverride").or_else(|| some(one, "summary"));
                Some((some(one, "id")?, name?))
            })
            .collect();
        changes.cursor = serde_json::to_string(&marks)
            .map_err(|error| Error::new(Kind::Internal, error.to_string()))?;
        Ok(changes)
    }

    async fn step(
        &self,
        calendar: &str,
        mark: Option<&Mark>,
        projection: &Projection,
    ) -> Result<Step> {
        // A calendar that has come since the cursor was made starts here too.
        let Some(mark) = mark else {
            return self.begin(calendar).await;
        };
        match self.proceed(calendar, mark, projection).await {
            Err(error) if error.kind() == Kind::Provider(410) => Ok(Step {
                started_over: true,
                ..self.begin(calendar).await?
            }),
            step => step,
        }
    }

    /// Asks for nothing but a token.
    async fn begin(&self, calendar: &str) -> Result<Step> {
        let id = &path_segment(calendar);
        let now = Timestamp::now();
        let from = time(now.checked_sub(BACK.hours()).unwrap_or(now))?;
        let mut page = String::new();
        for _ in 0..PAGES {
            let token = &page;
            let fields = "nextPageToken,nextSyncToken,updated";
            let answer = call!(self, fields, |hub| {
                let mut call = hub.events().list(id);
                call = call.time_min(from).max_results(AT_ONCE);
                if !token.is_empty() {
                    call = call.page_token(token);
                }
                call
            })?;
            if let Some(sync) = some(&answer, "nextSyncToken") {
                return Ok(Step {
                    mark: Mark {
                        sync,
                        seen: some(&answer, "updated").unwrap_or_else(|| now.to_string()),
                        page: None,
                    },
                    ..Step::default()
                });
            }
            match some(&answer, "nextPageToken") {
                Some(next) if next != page => page = next,
                _ => break,
            }
        }
        Err(Error::new(
            Kind::Provider(200),
            "Google Calendar does not say where changes could be asked from",
        ))
    }

    /// One page of what has changed since.
    async fn proceed(&self, calendar: &str, mark: &Mark, projection: &Projection) -> Result<Step> {
        let id = &path_segment(calendar);
        let items = mask(&projection.paths);
        let fields = &format!("nextPageToken,nextSyncToken,updated,items(created,{items})");
        let answer = call!(self, fields, |hub| {
            let mut call = hub.events().list(id);
            call = call.sync_token(&mark.sync).max_results(AT_ONCE);
            if let Some(page) = &mark.page {
                call = call.page_token(page);
            }
            call
        })?;
        let mut items = read::items(&answer)?.to_vec();
        for item in &mut items {
            read::place(item, calendar, &self.own);
        }
        let mark = match some(&answer, "nextSyncToken") {
            Some(sync) => Mark {
                sync,
                seen: some(&answer, "updated").unwrap_or_else(|| mark.seen.clone()),
                page: None,
            },
            None => Mark {
                page: some(&answer, "nextPageToken"),
                ..mark.clone()
            },
        };
        Ok(Step {
            mark,
            items,
            started_over: false,
        })
    }
}

fn is_new(item: &Value, before: Option<Timestamp>) -> bool {
    let created: Option<Timestamp> = text(item, "created").parse().ok();
    // What differs from its series was created with it.
    let own = item.get("recurringEventId").is_none();
    own && matches!((created, before), (Some(created), Some(before)) if created > before)
}
