//! A person's activity: the journal of sent messages, and the audit log of all writes.

use axum::extract::Query;
use axum::response::Response;
use daysheet_core::ids::AccountId;
use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::layout::{PageProblem, page, table, time};
use super::session::PageVisitor;
use crate::store::sends::JournalledSend;

/// The number of rows on a page.
const ROWS: usize = 100;

/// The parts of both tables that a page shows.
#[derive(Debug, Deserialize)]
pub(super) struct ShownActivity {
    /// The line of the log before which to begin; `None` for the most recent lines.
    before: Option<i64>,
    /// The page of the journal, from 0.
    #[serde(default)]
    sent: usize,
}

/// `GET /accounts/activity`.
pub(super) async fn show(
    PageVisitor { session, app, .. }: PageVisitor,
    Query(shown): Query<ShownActivity>,
) -> std::result::Result<Response, PageProblem> {
    let zone = &app.config.zone;
    // One row more than fits shows whether there is another page.
    let sent = app.store().sent(shown.sent.saturating_mul(ROWS), ROWS + 1).await?;
    let log = app.store().audit_lines(shown.before, ROWS + 1).await?;
    let labels = app.accounts.labels().await?;
    let label = |id: &AccountId| labels.get(id).map_or_else(|| id.to_string(), String::clone);
    let messages: Vec<_> = sent
        .iter()
        .take(ROWS)
        .map(|one| {
            vec![
                time(one.started, zone),
                html! { (label(&one.account)) },
                html! { (one.recipients) },
                html! { (state(one)) @if let Some(due) = one.due { ", due " (time(due, zone)) } },
                html! { (one.message_id) },
            ]
        })
        .collect();
    let lines: Vec<_> = log
        .iter()
        .take(ROWS)
        .map(|line| {
            let line: Value = serde_json::from_str(&line.line).unwrap_or_default();
            let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
            let at = text("time").parse::<Timestamp>().map(Timestamp::as_second);
            vec![
                at.map_or_else(|_| html! { "unknown" }, |at| time(at, zone)),
                html! { (text("account")) },
                html! { (text("tool")) " " (text("op")) },
                html! { (text("outcome")) },
                html! { (list(&line, "ids")) },
                html! {
                    (line.get("recipients").and_then(Value::as_u64).unwrap_or_default())
                    @if !list(&line, "domains").is_empty() { ": " (list(&line, "domains")) }
                },
            ]
        })
        .collect();
    let body = html! {
        p { "Everything that programs have changed through Daysheet, most recent first. Subjects \
             and texts are not recorded." }
        h2 { "Sent messages" }
        @if messages.is_empty() { p #no-sent { "No messages have been sent." } } @else {
            (table("sent", "Messages, and whether they were sent",
                &["Started", "Account", "Recipients", "State", "Message-ID"], &messages))
        }
        (paging_links(&TablePart {
            id: "sent",
            title: "sent messages",
            newer: (shown.sent > 0).then(|| address(shown.before, shown.sent.saturating_sub(1))),
            older: (sent.len() > ROWS)
                .then(|| address(shown.before, shown.sent.saturating_add(1))),
        }))
        h2 { "Audit log" }
        @if lines.is_empty() { p #no-log { "Nothing has been changed." } } @else {
            (table("log", "Writes: one line before each, and one after",
                &["Time", "Account", "Operation", "Outcome", "Ids", "Recipients"], &lines))
        }
        (paging_links(&TablePart {
            id: "log",
            title: "audit log",
            newer: shown.before.map(|_| address(None, shown.sent)),
            older: (log.len() > ROWS)
                .then(|| address(log.get(ROWS - 1).map(|line| line.number), shown.sent)),
        }))
    };
    Ok(page("Activity", Some(&session), body))
}

/// Returns the state of a message in words.
fn state(one: &JournalledSend) -> &'static str {
    if one.sent { "sent" } else { "not confirmed" }
}

/// Returns the texts of a list in a log line, separated by commas.
fn list(line: &Value, name: &str) -> String {
    let items = line.get(name).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

/// Returns the address of this page for other parts of the tables.
fn address(before: Option<i64>, sent: usize) -> String {
    let before = before.map(|before| format!("before={before}&")).unwrap_or_default();
    format!("/accounts/activity?{before}sent={sent}")
}

/// The part of a table that a page shows.
struct TablePart {
    /// The id of the table's element.
    id: &'static str,
    /// The name of the table in the label of its links.
    title: &'static str,
    /// The address of the part with newer rows, if there is one.
    newer: Option<String>,
    /// The address of the part with older rows, if there is one.
    older: Option<String>,
}

/// Returns the links to the newer and the older part of a table.
fn paging_links(part: &TablePart) -> Markup {
    let TablePart { id, title, newer, older } = part;
    html! {
        @if newer.is_some() || older.is_some() {
            nav.row aria-label={ "Pages of " (title) } {
                @if let Some(newer) = newer { a.button href={ (newer) "#" (id) } { "Newer" } }
                @if let Some(older) = older { a.button href={ (older) "#" (id) } { "Older" } }
            }
        }
    }
}
