//! The outcome of connecting a mailbox, shown once on the accounts page.
//!
//! It exists only in the browser, sealed in a cookie for the session that connected the mailbox.

use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use daysheet_core::error::{Error, ErrorKind, Result};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::layout::sentence;
use super::session::BrowserSession;
use super::state::PageState;

/// The name of the cookie, and its lifetime in seconds.
const OUTCOME: &str = "outcome";
const SECONDS: i64 = 60;

/// The outcome of connecting a mailbox.
#[derive(Serialize, Deserialize)]
pub(super) struct ConnectOutcome {
    pub(super) what: String,
    pub(super) note: Option<String>,
    /// The provider for another attempt, if the connection failed.
    pub(super) again: Option<String>,
}

impl ConnectOutcome {
    /// Returns the outcome in the browser's cookie, if it belongs to this session.
    pub(super) async fn take(
        pages: &PageState,
        session: &BrowserSession,
        headers: &HeaderMap,
    ) -> Result<Option<Self>> {
        let Some(sealed) = pages.cookie(headers, OUTCOME) else {
            return Ok(None);
        };
        let opened = pages.opened(&session.token(OUTCOME), sealed).await?;
        Ok(opened.and_then(|opened| serde_json::from_slice(&opened).ok()))
    }

    /// Redirects the browser to the accounts page, which shows the outcome.
    pub(super) async fn redirect(
        &self,
        pages: &PageState,
        session: &BrowserSession,
    ) -> Result<Response> {
        let content = serde_json::to_vec(self)
            .map_err(|_| Error::new(ErrorKind::Internal, "the outcome could not be serialized"))?;
        let sealed = pages.server.seal(&session.token(OUTCOME), &content).await?;
        let mut response = Redirect::to("/accounts").into_response();
        pages.set_cookie(&mut response, OUTCOME, sealed.as_str(), SECONDS);
        Ok(response)
    }

    /// Removes the cookie, for a response that shows the outcome.
    pub(super) fn clear(pages: &PageState, response: &mut Response) {
        pages.set_cookie(response, OUTCOME, "", 0);
    }

    /// Returns the outcome as a part of the page.
    pub(super) fn markup(&self) -> Markup {
        html! {
            @if let Some(provider) = &self.again {
                p #problem role="alert" {
                    (sentence(&self.what)) " "
                    a href={ "/connect/" (provider) } { "Try again" }
                }
            } @else {
                p.notice #connected { (sentence(&self.what)) }
            }
            @if let Some(note) = &self.note { p.notice { (sentence(note)) } }
        }
    }
}
