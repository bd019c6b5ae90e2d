//! What became of a connection, shown once on the accounts page.
//!
//! It is in the browser alone, sealed in a cookie for the session that made the connection.

use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::Pages;
use super::layout::sentence;
use super::session::Session;
use crate::error::{Error, Kind, Result};

/// The cookie, and its life in seconds.
const NEWS: &str = "news";
const LASTS: i64 = 60;

/// What became of a connection.
#[derive(Serialize, Deserialize)]
pub(super) struct News {
    pub(super) what: String,
    pub(super) note: Option<String>,
    /// The provider to try again at, if nothing was connected.
    pub(super) again: Option<String>,
}

impl News {
    /// Returns the news that a browser brings along, if its session has not shown them yet.
    pub(super) async fn of(
        pages: &Pages,
        session: &Session,
        headers: &HeaderMap,
    ) -> Result<Option<Self>> {
        let Some(sealed) = pages.cookie(headers, NEWS) else {
            return Ok(None);
        };
        let opened = pages.opened(&session.token(NEWS), sealed).await?;
        Ok(opened.and_then(|opened| serde_json::from_slice(&opened).ok()))
    }

    /// Leads the browser to the accounts with the news.
    pub(super) async fn lead_to_accounts(
        &self,
        pages: &Pages,
        session: &Session,
    ) -> Result<Response> {
        let content = serde_json::to_vec(self)
            .map_err(|_| Error::new(Kind::Internal, "the news could not be serialized"))?;
        let sealed = pages.server.seal(&session.token(NEWS), &content).await?;
        let mut response = Redirect::to("/accounts").into_response();
        pages.set_cookie(&mut response, NEWS, &sealed, LASTS);
        Ok(response)
    }

    /// Removes the news that a response shows.
    pub(super) fn remove(pages: &Pages, response: &mut Response) {
        pages.set_cookie(response, NEWS, "", 0);
    }

    /// Returns it as a part of a page.
    pub(super) fn show(&self) -> Markup {
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
