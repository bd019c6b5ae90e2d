//! A person's activity: every write of the audit log in words, one row for each.
//!
//! Subjects are not recorded. They are read from the mailbox when the person asks for them.

mod words;
mod writes;

use axum::extract::Query;
use axum::response::Response;
use daysheet_core::choice::WordChoice;
use daysheet_core::error::{ErrorKind, Result};
use maud::{Markup, html};
use serde::Deserialize;

use self::words::{sentence_of, state_words};
use self::writes::{ShownWrite, WriteKind, WriteState, writes_of};
use super::layout::{PageProblem, page, time};
use super::session::PageVisitor;
use crate::app::App;
use crate::pipeline::LoggedObject;

/// The number of rows on a page, which is also the number of subjects that are looked up at once.
const ROWS: usize = 25;
/// The number of lines that a page reads in search of its rows.
const LINES: usize = 2_000;
/// The number of lines after the page's own that may still be about its writes, because several
/// calls write at once.
const OVERLAP: i64 = 200;

/// The rows that a page shows. An empty filter shows everything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ActivityFilter {
    /// The number of the line that all rows begin before; `None` for the most recent rows.
    before: Option<i64>,
    /// The address of an account.
    account: String,
    /// A [`WriteKind`], as a word.
    kind: String,
    /// `open` for writes that were not completed.
    state: String,
    /// `shown` to look up subjects and titles.
    subjects: String,
}

impl ActivityFilter {
    /// Returns true if every write is on the page or on an older one.
    fn selects_all(&self) -> bool {
        let fields = [&self.account, &self.kind, &self.state];
        self.before.is_none() && fields.into_iter().all(String::is_empty)
    }

    fn selects(&self, write: &ShownWrite) -> bool {
        self.before.is_none_or(|before| write.number < before)
            && (self.account.is_empty() || write.record.account == self.account)
            && WriteKind::from_word(&self.kind)
                .is_none_or(|kind| WriteKind::of(&write.record) == kind)
            && (self.state.is_empty() || write.state != WriteState::Done)
    }

    /// Returns the address of the rows before a line; `None` for the most recent rows.
    fn address(&self, before: Option<i64>) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(before.map(|before| ("before", before.to_string())));
        let fields = [
            ("account", &self.account),
            ("kind", &self.kind),
            ("state", &self.state),
            ("subjects", &self.subjects),
        ];
        query.extend_pairs(fields.into_iter().filter(|(_, value)| !value.is_empty()));
        format!("/accounts/activity?{}", query.finish())
    }
}

/// The rows of a page.
struct ActivityRows {
    writes: Vec<ShownWrite>,
    /// The number of the line before which older rows begin, if there are any.
    older: Option<i64>,
}

/// `GET /accounts/activity`.
pub(super) async fn show(
    PageVisitor { session, app, .. }: PageVisitor,
    Query(filter): Query<ActivityFilter>,
) -> std::result::Result<Response, PageProblem> {
    let rows = rows_of(&app, &filter).await?;
    let titles = if filter.subjects.is_empty() {
        Vec::new()
    } else {
        app.pipeline.logged_titles(rows.writes.iter().map(object_of).collect()).await
    };
    let accounts = app.accounts.list().await?;
    let addresses: Vec<&str> = accounts.iter().map(|account| account.email.as_str()).collect();
    let body = html! {
        p {
            "Everything that programs have changed through Daysheet, most recent first. Subjects are \
             not recorded; if you show them, they are read from your mailbox."
        }
        (filter_form(&filter, &addresses))
        @if rows.writes.is_empty() {
            p #no-log {
                @if rows.older.is_some() { "None of the most recent writes fits." }
                @else if filter.selects_all() { "Nothing has been changed." }
                @else { "No write fits." }
            }
        } @else {
            ol.writes #log {
                @for (at, write) in rows.writes.iter().enumerate() {
                    (row(&app, write, titles.get(at)))
                }
            }
        }
        @if filter.before.is_some() || rows.older.is_some() {
            nav.row aria-label="Pages of the activity" {
                @if filter.before.is_some() { a.button href=(filter.address(None)) { "Newest" } }
                @if rows.older.is_some() { a.button href=(filter.address(rows.older)) { "Older" } }
            }
        }
    };
    Ok(page("Activity", Some(&session), body))
}

/// Reads the rows that a filter selects.
async fn rows_of(app: &App, filter: &ActivityFilter) -> Result<ActivityRows> {
    let before = filter.before.map(|before| before.saturating_add(OVERLAP));
    let lines = app.store().audit_lines(before, LINES).await?;
    let read_all = lines.len() < LINES;
    let oldest = lines.last().map(|line| line.number);
    let mut writes = writes_of(&lines);
    writes.retain(|write| filter.selects(write));
    let is_full = writes.len() > ROWS;
    writes.truncate(ROWS);
    let older = if is_full {
        writes.last().map(|write| write.number)
    } else if read_all {
        None
    } else {
        oldest
    };
    Ok(ActivityRows { writes, older })
}

fn object_of(write: &ShownWrite) -> LoggedObject {
    LoggedObject {
        tool: write.record.tool.clone(),
        account: write.record.account.clone(),
        id: write.record.ids.first().cloned(),
    }
}

/// Returns a write as an item of the list.
fn row(app: &App, write: &ShownWrite, title: Option<&Result<Option<String>>>) -> Markup {
    let more = write.record.ids.len().saturating_sub(1);
    // A sent message is recorded with its Message-ID as a second id.
    let more = if WriteKind::of(&write.record) == WriteKind::Sent { 0 } else { more };
    html! {
        li {
            p.what {
                (sentence_of(write))
                @match title {
                    Some(Ok(Some(title))) => {
                        " · " q { (title) } @if more > 0 { " and " (more) " more" }
                    }
                    Some(Err(error)) => { " · " span.hint { (no_title(error.kind())) } }
                    Some(Ok(None)) | None => {}
                }
            }
            p.hint {
                (time(write.at, &app.config.zone))
                @if !write.record.account.is_empty() { " · " (write.record.account) }
                @if let Some(words) = state_words(write.state) { " · " strong { (words) } }
            }
        }
    }
}

/// Returns the words in place of a title that could not be read.
fn no_title(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "no longer there",
        _ => "its subject cannot be read now",
    }
}

fn filter_form(filter: &ActivityFilter, addresses: &[&str]) -> Markup {
    let option = |value: &str, chosen: &str, words: &str| {
        html! { option value=(value) selected[value == chosen] { (words) } }
    };
    html! {
        form.filters method="get" action="/accounts/activity" {
            div {
                label for="account" { "Account" }
                select #account name="account" {
                    (option("", &filter.account, "All"))
                    @for address in addresses { (option(address, &filter.account, address)) }
                }
            }
            div {
                label for="kind" { "Kind" }
                select #kind name="kind" {
                    (option("", &filter.kind, "All"))
                    @for (word, kind) in WriteKind::TABLE {
                        (option(word, &filter.kind, kind.title()))
                    }
                }
            }
            div {
                label for="state" { "State" }
                select #state name="state" {
                    (option("", &filter.state, "All"))
                    (option("open", &filter.state, "Not completed"))
                }
            }
            div {
                label for="subjects" { "Subjects" }
                select #subjects name="subjects" {
                    (option("", &filter.subjects, "Hidden"))
                    (option("shown", &filter.subjects, "Shown"))
                }
            }
            button #show { "Show" }
        }
    }
}
