//! Web pages for people: signing in, connecting accounts, approving writes, reviewing activity,
//! downloading data.
//!
//! Plain HTML without scripts. A page belongs to the person in the browser's session ([`session`]),
//! and reads and changes that person's rows through their own app, as a call does. maud writes all
//! markup and escapes untrusted text.
//!
//! Every form is checked twice: by the origin that the browser reports, and by a token derived from
//! the session and the form's path ([`session::FormPost`]).

mod accounts;
mod activity;
mod approve;
mod clients;
mod connect;
mod data;
mod inspect;
mod layout;
mod outcome;
mod session;
mod sign_in;
mod state;
mod work;

use std::sync::Arc;

use axum::Router;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
};
use axum::response::{Redirect, Response};
use axum::routing::get;
use url::Url;

use self::layout::PageProblem;
pub use self::sign_in::link;
use self::state::PageState;
use crate::http::state::HttpState;
use crate::store::SERVER;

/// Returns the routes of the pages, which browsers see below `public`.
pub(super) fn routes(service: Arc<HttpState>, public: Url) -> Router {
    let server = service.people.base().store().for_owner(SERVER);
    let pages = Arc::new(PageState { service, public, server });
    Router::new()
        .route("/", get(|| async { Redirect::to("/accounts") }))
        .route("/style.css", get(layout::style))
        .route("/icon.svg", get(layout::icon))
        .route("/sign-in", get(sign_in::ask).post(sign_in::with_token))
        .route("/sign-in/callback", get(sign_in::back))
        .route("/sign-out", axum::routing::post(sign_in::out))
        .route("/accounts", get(accounts::list))
        .route("/accounts/disconnect", get(accounts::ask).post(accounts::disconnect))
        .route("/accounts/level", axum::routing::post(accounts::level))
        .route("/approve", get(approve::show).post(approve::decide))
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

/// Adds the headers that isolate a page from other sites.
async fn guarded(mut response: Response) -> Response {
    const HEADERS: [(HeaderName, &str); 4] = [
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
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
