//! Writes that wait for the person's approval, each with its complete text.
//!
//! A visit makes no decision. A decision is a form with the token of the browser's session, which
//! no program has, and it counts for one call.

use axum::response::Response;
use daysheet_core::error::Result;
use jiff::tz::TimeZone;
use maud::{Markup, html};

use super::layout::{PageProblem, page, time};
use super::session::{BrowserSession, FormPost, PageVisitor};
use crate::store::{ApprovalDecision, ApprovalId, Store, WaitingWrite};

/// The path of the page and of its forms.
const PATH: &str = "/approve";

/// `GET /approve`.
pub(super) async fn show(
    PageVisitor { session, app, .. }: PageVisitor,
) -> std::result::Result<Response, PageProblem> {
    let body = waiting(app.store(), &session, &app.config.zone).await?;
    Ok(page("Approvals", Some(&session), body))
}

/// `POST /approve`: records a decision, and shows the writes that still wait.
pub(super) async fn decide(post: FormPost) -> std::result::Result<Response, PageProblem> {
    let PageVisitor { session, app, .. } = post.manager()?;
    let id = ApprovalId::from_form(post.field("id").unwrap_or_default());
    // Any other word must not approve.
    let (decision, outcome) = match post.field("decision") {
        Some("approve") => (
            ApprovalDecision::Approved,
            "Approved. Your assistant can now do this once, within ten minutes.",
        ),
        Some("refuse") => (ApprovalDecision::Refused, "Refused. Nothing is done."),
        _ => return Err(PageProblem::bad("the decision is missing; open the page again")),
    };
    if !app.store().record_decision(&id, decision).await? {
        return Err(PageProblem::bad(
            "this no longer waits: it has expired, or was decided elsewhere; ask your assistant to \
             try again",
        ));
    }
    let rest = waiting(app.store(), session, &app.config.zone).await?;
    let body = html! {
        p.notice #decided role="status" { (outcome) " You can go back to the chat." }
        (rest)
    };
    Ok(page("Approvals", Some(session), body))
}

/// Returns the waiting writes, each with its form.
async fn waiting(store: &Store, session: &BrowserSession, zone: &TimeZone) -> Result<Markup> {
    let writes = store.waiting_writes().await?;
    Ok(html! {
        @if writes.is_empty() {
            p #none-wait { "Nothing waits for your approval." }
        } @else {
            p { "Your assistant asks to do this. Approve it only if you asked for it, and if the \
                 recipients and the text are right. Without an answer, nothing is done." }
        }
        @for (id, write) in &writes { (section(id, write, session, zone)) }
    })
}

/// Returns a waiting write, with the buttons to decide.
fn section(
    id: &ApprovalId,
    write: &WaitingWrite,
    session: &BrowserSession,
    zone: &TimeZone,
) -> Markup {
    let (title, lines) = write.question.split_once('\n').unwrap_or((&write.question, ""));
    html! {
        section.write aria-labelledby={ "title-" (id.as_str()) } {
            h2 id={ "title-" (id.as_str()) } { (title) }
            @if !lines.is_empty() { p.lines { (lines) } }
            @if !write.content.is_empty() {
                h3 { "Text" }
                div.lines.outgoing { (write.content) }
            }
            p.hint { "Expires at " (time(write.until, zone)) }
            form method="post" action=(PATH) {
                (session.field(PATH))
                input type="hidden" name="id" value=(id.as_str());
                div.row {
                    button.main name="decision" value="approve" { "Approve" }
                    button.danger name="decision" value="refuse" { "Refuse" }
                }
            }
        }
    }
}
