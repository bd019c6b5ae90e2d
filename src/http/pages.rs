//! Web pages for people: signing in, connecting accounts, reviewing activity, downloading data.
//!
//! Plain HTML without scripts. A page belongs to the person in the browser's session ([`session`]),
//! and reads and changes that person's rows through their own app, as a call does. maud writes all
//! markup and escapes untrusted text.
//!
//! Every form is checked twice: by the origin that the browser reports, and by a token derived from
//! the session and the form's path ([`session::FormPost`]).

mod accounts;
mod activity;
mod connect;
mod data;
mod inspect;
mod layout;
mod outcome;
mod session;
mod sign_in;

use std::sync::Arc;

use axum::Router;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
};
use axum::response::{Redirect, Response};
use axum::routing::get;
use daysheet_core::call::progress::{self, CallCourse};
use daysheet_core::error::{Error, ErrorKind, Result};
use layout::PageProblem;
pub use sign_in::link;
use tracing::Instrument;
use url::Url;

use super::state::HttpState;
use crate::app::App;
use crate::store::{SERVER, Store};

/// The state shared by all pages.
pub(super) struct PageState {
    service: Arc<HttpState>,
    /// The URL of the pages as browsers see it, ending in a slash.
    public: Url,
    /// The server's own rows.
    server: Store,
}

impl PageState {
    /// Returns the URL of a page.
    fn address(&self, path: &str) -> Url {
        let mut address = self.public.clone();
        address.set_path(path);
        address
    }
}

/// Returns the routes of the pages, which browsers see below `public`.
pub(super) fn routes(service: Arc<HttpState>, public: Url) -> Router {
    let server = service.people.base().store().for_owner(SERVER);
    let pages = Arc::new(PageState { service, public, server });
    Router::new()
        .route("/", get(|| async { Redirect::to("/accounts") }))
        .route("/style.css", get(layout::style))
        .route("/sign-in", get(sign_in::ask).post(sign_in::with_token))
        .route("/sign-in/callback", get(sign_in::back))
        .route("/sign-out", axum::routing::post(sign_in::out))
        .route("/accounts", get(accounts::list))
        .route("/accounts/disconnect", get(accounts::ask).post(accounts::disconnect))
        .route("/accounts/level", axum::routing::post(accounts::level))
        .route("/accounts/activity", get(activity::show))
        .route("/accounts/data", get(data::show))
        .route("/accounts/export", get(data::export))
        .route("/accounts/erase", axum::routing::post(data::erase))
        .route("/connect/callback", get(connect::back))
        .route("/connect/{provider}", get(connect::ask).post(connect::begin))
        .route("/inspect", get(inspect::form).post(inspect::answer))
        .method_not_allowed_fallback(|| std::future::ready(PageProblem::bad_method()))
        .fallback(|| std::future::ready(PageProblem::missing()))
        .layer(axum::middleware::map_response(guarded))
        .with_state(pages)
}

/// Runs work that must not remain half done, on a task of its own: it completes even if the browser
/// disconnects, and before the server ends.
///
/// # Errors
/// Errors of `work`, and [`ErrorKind::Argument`] if the server is already shutting down.
async fn carried_out<T: Send + 'static>(
    app: &App,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let calls = app.server().calls();
    let work = async move {
        let work = async {
            // A call that has begun to write is not cancelled during shutdown.
            progress::begin_write()?;
            work.await
        };
        calls.run(CallCourse::default(), work).await
    };
    let bug = |_| Err(Error::new(ErrorKind::Internal, "a bug ended this request"));
    tokio::spawn(work.in_current_span()).await.unwrap_or_else(bug)
}

/// Adds the headers that isolate a page from other sites.
async fn guarded(mut response: Response) -> Response {
    const HEADERS: [(HeaderName, &str); 4] = [
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; \
             frame-ancestors 'none'",
        ),
        // With `no-referrer`, browsers send forms with `Origin: null`.
        (REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
