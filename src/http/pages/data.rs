//! A person's own data: downloading it, and erasing it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use maud::html;

use super::layout::{PageProblem, page, sentence};
use super::session::{BrowserSession, FormPost, PageVisitor};
use super::state::PageState;
use super::work::carry_out;

/// The word to type before everything is erased.
const WORD: &str = "erase";

/// `GET /accounts/data`.
pub(super) async fn show(PageVisitor { session, .. }: PageVisitor) -> Response {
    form(&session, None)
}

fn form(session: &BrowserSession, problem: Option<&str>) -> Response {
    let body = html! {
        h2 { "Download your data" }
        p {
            "Daysheet stores your accounts, short ids of messages and events, a journal of sent \
             messages, earlier states for undo, and the audit log. It does not store mailboxes. \
             The file contains all of this as JSON, without tokens."
        }
        p { a.button #export href="/accounts/export" { "Download" } }
        h2 { "Erase everything" }
        p {
            "Disconnects all your accounts and deletes everything that Daysheet stores for you. \
             Mail and calendars at your providers do not change. This cannot be undone."
        }
        @if let Some(problem) = problem { p #problem role="alert" { (sentence(problem)) } }
        form method="post" action="/accounts/erase" {
            (session.field("/accounts/erase"))
            label for="confirm" { "Type " code { (WORD) } " to confirm" }
            input #confirm name="confirm" type="text" autocomplete="off" required;
            div.row { button.danger #erase { "Erase everything" } }
        }
    };
    page("Your data", Some(session), body)
}

/// `GET /accounts/export`.
pub(super) async fn export(
    PageVisitor { app, .. }: PageVisitor,
) -> std::result::Result<Response, PageProblem> {
    let data = app.store().export().await?;
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CONTENT_DISPOSITION, "attachment; filename=\"daysheet.json\""),
    ];
    Ok((headers, format!("{data:#}\n")).into_response())
}

/// `POST /accounts/erase`.
pub(super) async fn erase(
    State(pages): State<Arc<PageState>>,
    post: FormPost,
) -> std::result::Result<Response, PageProblem> {
    let PageVisitor { session, app, .. } = post.manager()?;
    if !post.field("confirm").is_some_and(|word| word.eq_ignore_ascii_case(WORD)) {
        return Ok(form(session, Some(&format!("nothing was erased: type {WORD} to confirm"))));
    }
    let (service, person, owner) = (pages.service.clone(), app.clone(), session.owner.clone());
    let work = async move {
        // A call running meanwhile would leave behind rows that it writes afterwards.
        let _alone = service.limits.alone(&owner).await?;
        let mut outcomes = Vec::new();
        for account in person.accounts.list().await? {
            outcomes.push((account.email, person.accounts.remove(account.id.as_str()).await?));
        }
        // The accounts come first: revoking their access needs the tokens in these rows.
        person.erase().await?;
        service.people.forget(&owner);
        Ok(outcomes)
    };
    let outcomes = carry_out(app, work).await?;
    let body = html! {
        p #erased { "Everything that Daysheet stored for you has been deleted." }
        @if !outcomes.is_empty() {
            ul { @for (account, outcome) in &outcomes { li { (account) ": " (outcome) } } }
        }
    };
    let mut response = page("Erased", None, body);
    pages.set_cookie(&mut response, "session", "", 0);
    Ok(response)
}
