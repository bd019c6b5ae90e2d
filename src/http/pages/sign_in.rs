//! Signing in to the pages, and signing out.
//!
//! A server for many people sends the browser to their issuer and back. A sign-in in progress
//! exists only in the browser, sealed in a cookie: the issuer's response to another person's
//! sign-in is useless here, a browser uses each response once, and the issuer accepts its code
//! once. Requests for the page alone store nothing.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Query, RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use daysheet_auth::web::PendingSignIn;
use daysheet_auth::{CallingPerson, RequestDenial, fingerprint};
use daysheet_core::error::{Error, ErrorKind, Result};
use maud::html;
use serde::{Deserialize, Serialize};
use url::Url;

use super::layout::{PageProblem, page, sentence};
use super::session::{FormPost, fields};
use super::state::{PageState, SignInWay};
use crate::http::guard;
use crate::store::{SERVER, Store, TicketKind};

/// The time limit for signing in at the issuer, in seconds.
const PATIENCE: i64 = 15 * 60;
/// The lifetime of the link of `daysheet ui`, in seconds.
const LINK: i64 = 10 * 60;
/// The cookie of a sign-in in progress, and the purpose it is sealed for.
const BEGUN: &str = "sign-in";
/// The maximum length of a path to return to, in bytes; a cookie has room for 4,096.
const MAX_PATH: usize = 1_024;

/// Returns the path of a link that signs in the one person of this machine, once, and leads to the
/// page at `path`.
///
/// # Errors
/// [`ErrorKind::Store`] if the link cannot be stored.
pub async fn link(store: &Store, path: &str) -> Result<String> {
    let id = store.for_owner(SERVER).put_ticket(TicketKind::PageLink, "", LINK).await?;
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("link", &id)
        .append_pair("return", path)
        .finish();
    Ok(format!("/sign-in?{query}"))
}

/// A sign-in in progress at the issuer.
#[derive(Serialize, Deserialize)]
struct BegunSignIn {
    pending: PendingSignIn,
    /// The path to return to afterwards.
    path: String,
    /// The time of expiry, in seconds since 1970.
    expires: i64,
}

/// Returns the path in `return` if it is on this server, or else the path of the accounts.
fn returned(pages: &PageState, asked: &HashMap<String, String>) -> String {
    let url = asked.get("return").and_then(|path| pages.public.join(path).ok());
    let own = url.filter(|url| url.origin() == pages.public.origin());
    // Only the path is kept. With two slashes at its beginning it would be read as a host.
    let fits = |url: &Url| !url.path().starts_with("//") && url.as_str().len() <= MAX_PATH;
    match own.filter(fits) {
        Some(url) => match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        },
        None => "/accounts".to_owned(),
    }
}

/// `GET /sign-in`: signs in, or shows the way to sign in.
pub(super) async fn ask(
    State(pages): State<Arc<PageState>>,
    headers: HeaderMap,
    Query(asked): Query<HashMap<String, String>>,
) -> std::result::Result<Response, PageProblem> {
    let path = returned(&pages, &asked);
    if let (SignInWay::Link, Some(id)) = (pages.way(), asked.get("link")) {
        // Taking the ticket makes the link work only once.
        if pages.server.take_ticket(TicketKind::PageLink, id).await?.is_none() {
            return Err(PageProblem::new(
                StatusCode::FORBIDDEN,
                "this link was already used or has expired; run `daysheet ui` again",
            ));
        }
        let person = CallingPerson::local(pages.service.people.base().config.access);
        return Ok(pages.signed_in(&person, None, &path).await?);
    }
    if pages.session(&headers).await?.is_some() {
        return Ok(Redirect::to(&path).into_response());
    }
    let web = match pages.way() {
        SignInWay::Issuer(web) => web,
        way => return Ok(form(&way, &path, None)),
    };
    let redirect = pages.address("/sign-in/callback");
    let (address, pending) = web.begin(&redirect).await?;
    let expires = pages.server.now() + PATIENCE;
    let begun = serde_json::to_vec(&BegunSignIn { pending, path, expires })
        .map_err(|_| Error::new(ErrorKind::Internal, "a sign-in could not be serialized"))?;
    let sealed = pages.server.seal(BEGUN, &begun).await?;
    let mut response = Redirect::to(address.as_str()).into_response();
    pages.set_cookie(&mut response, BEGUN, sealed.as_str(), PATIENCE);
    Ok(response)
}

/// Returns the sign-in page of a server without redirects to an issuer.
fn form(way: &SignInWay, path: &str, problem: Option<&str>) -> Response {
    page(
        "Sign in",
        None,
        html! {
            @if let Some(problem) = problem { p #problem role="alert" { (sentence(problem)) } }
            @if matches!(way, SignInWay::Link) {
                p { "Open the address printed by " code { "daysheet ui" } ". Each address \
                     works once." }
            } @else if matches!(way, SignInWay::Closed) {
                p { "This server has no client at its issuer, so nobody can sign in here. The \
                     operator has to set " code { "http.client_id" } " and "
                    code { "http.client_secret" } "." }
            } @else {
                form method="post" action="/sign-in" {
                    input type="hidden" name="return" value=(path);
                    @if matches!(way, SignInWay::Token) {
                        label for="bearer" { "Token" }
                        input #bearer type="password" name="bearer" required
                            autocomplete="current-password" aria-describedby="bearer-hint";
                        p.hint #bearer-hint {
                            "One of the tokens of this server. It is not stored."
                        }
                    } @else {
                        p { "This server can be reached from this machine only, and needs no \
                             token." }
                    }
                    div.row { button.main #sign-in { "Sign in" } }
                }
            }
        },
    )
}

/// `POST /sign-in`: signs in with a token, or as the one person of this machine.
pub(super) async fn with_token(
    State(pages): State<Arc<PageState>>,
    request: Request,
) -> std::result::Result<Response, PageProblem> {
    let (parts, body) = request.into_parts();
    // Another site must not be able to sign the browser in as someone else.
    pages.check_origin(&parts.headers)?;
    let takes_token = match pages.way() {
        SignInWay::Open => false,
        SignInWay::Token => true,
        // Refused before the body is read, which anyone may send, and slowly.
        SignInWay::Link | SignInWay::Issuer(_) | SignInWay::Closed => {
            let why = "this server has no sign-in form";
            return Err(PageProblem::new(StatusCode::NOT_FOUND, why));
        }
    };
    let place = pages.service.limits.sign_in()?;
    let body = match guard::read(guard::SIGN_IN, &parts.headers, body).await {
        Ok(body) => body,
        Err(refusal) => return Ok(refusal),
    };
    drop(place);
    let fields = fields(&body);
    let token = fields.get("bearer").map_or("", |token| token.trim());
    let token = takes_token.then_some(token);
    let path = returned(&pages, &fields);
    match pages.service.verifier.verify(token).await {
        Ok(person) => Ok(pages.signed_in(&person, token.map(fingerprint), &path).await?),
        Err(RequestDenial::Unavailable(error)) => Err(error.into()),
        Err(_) => {
            let page = form(&pages.way(), &path, Some("this token is not valid on this server"));
            Ok((StatusCode::FORBIDDEN, page).into_response())
        }
    }
}

/// `GET /sign-in/callback`: handles the return from the issuer.
pub(super) async fn back(
    State(pages): State<Arc<PageState>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let outcome = finished(&pages, &headers, &query.unwrap_or_default()).await;
    let mut response = outcome.into_response();
    // Removed whatever the outcome, so that the browser cannot use the response again.
    pages.set_cookie(&mut response, BEGUN, "", 0);
    response
}

/// Signs in the person in the issuer's response.
async fn finished(
    pages: &PageState,
    headers: &HeaderMap,
    query: &str,
) -> std::result::Result<Response, PageProblem> {
    let SignInWay::Issuer(web) = pages.way() else {
        return Err(PageProblem::new(StatusCode::NOT_FOUND, "this server has no issuer"));
    };
    let other = || PageProblem::bad("this sign-in was not started in this browser; sign in again");
    let sealed = pages.cookie(headers, BEGUN).ok_or_else(other)?;
    let opened = pages.opened(BEGUN, sealed).await?.ok_or_else(other)?;
    let begun: BegunSignIn = serde_json::from_slice(&opened).map_err(|_| other())?;
    // The cookie's `Max-Age` is enforced only by the browser.
    if begun.expires <= pages.server.now() {
        return Err(other());
    }
    let person = web.finish(begun.pending, query).await?;
    Ok(pages.signed_in(&person, None, &begun.path).await?)
}

/// `POST /sign-out`: ends the session.
pub(super) async fn out(
    State(pages): State<Arc<PageState>>,
    post: FormPost,
) -> std::result::Result<Response, PageProblem> {
    let body = html! {
        p { "This browser is signed out of Daysheet. Programs that use your accounts stay \
             signed in." }
        p { a.button href="/sign-in" { "Sign in" } }
    };
    let mut response = page("Signed out", None, body);
    pages.sign_out(&post.visitor.session, &mut response).await?;
    Ok(response)
}
