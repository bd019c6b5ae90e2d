//! Signing in to the pages, and out.
//!
//! A server for many people sends the browser to their issuer and back. A sign-in in progress
//! exists only in the browser, sealed in a cookie: the issuer's answer to somebody else's sign-in
//! is useless here, no answer is read twice in one browser, and the issuer accepts its code once.
//! A request for the page alone stores nothing.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Query, RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use daysheet_auth::web::{Pending, Web};
use daysheet_auth::{Denial, Person, Verifier, fingerprint};
use maud::html;
use serde::{Deserialize, Serialize};
use url::Url;

use super::Pages;
use super::layout::{Problem, page, sentence};
use super::session::{Post, fields};
use crate::error::{Error, Kind, Result};
use crate::http::guard;
use crate::store::{SERVER, Store};

/// How long a person has to sign in at their issuer, in seconds.
const PATIENCE: i64 = 15 * 60;
/// How long the link of `daysheet ui` is valid, in seconds.
const LINK: i64 = 10 * 60;
/// The kind of the tickets of links.
const LINKED: &str = "ui";
/// The cookie of a sign-in under way, and what it is sealed for.
const BEGUN: &str = "sign-in";
/// The longest path that is returned to, in bytes: a cookie has room for 4,096.
const LONGEST: usize = 1_024;

/// How people sign in to the pages.
pub(super) enum Way<'a> {
    /// Without anything: only this machine can reach the pages, and MCP likewise.
    Open,
    /// With a token of the server, entered once.
    Token,
    /// With a printed link: [`link`].
    Link,
    /// At their issuer.
    Issuer(&'a Web),
    /// Nobody can: this server has no client at its issuer.
    Closed,
}

impl Pages {
    /// Returns how people sign in here.
    pub(super) fn way(&self) -> Way<'_> {
        match &self.service.verifier {
            _ if self.service.links => Way::Link,
            Verifier::Open(_) => Way::Open,
            Verifier::Known(_) => Way::Token,
            Verifier::Issuer(issuer) => issuer.web().map_or(Way::Closed, Way::Issuer),
        }
    }
}

/// Returns the path of a link that signs in the one person of this machine, once.
///
/// # Errors
/// [`Kind::Store`].
pub async fn link(store: &Store) -> Result<String> {
    let id = store.for_owner(SERVER).put_ticket(LINKED, "", LINK).await?;
    Ok(format!("/sign-in?link={id}"))
}

/// A sign-in at the issuer that is in progress.
#[derive(Serialize, Deserialize)]
struct Begun {
    pending: Pending,
    /// The path to which the browser is sent afterwards.
    path: String,
    /// When it is too old, in seconds since 1970.
    expires: i64,
}

/// Returns the path in `return` if it is on this server; else that of the accounts.
fn returned(pages: &Pages, asked: &HashMap<String, String>) -> String {
    let url = asked.get("return").and_then(|path| pages.public.join(path).ok());
    let own = url.filter(|url| url.origin() == pages.public.origin());
    // Only the path is kept; one that begins with two slashes would be an address again.
    let fits = |url: &Url| !url.path().starts_with("//") && url.as_str().len() <= LONGEST;
    match own.filter(fits) {
        Some(url) => match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        },
        None => "/accounts".to_owned(),
    }
}

/// `GET /sign-in`: signs in, or asks how.
pub(super) async fn ask(
    State(pages): State<Arc<Pages>>,
    headers: HeaderMap,
    Query(asked): Query<HashMap<String, String>>,
) -> std::result::Result<Response, Problem> {
    let path = returned(&pages, &asked);
    if let (Way::Link, Some(id)) = (pages.way(), asked.get("link")) {
        if pages.server.take_ticket(LINKED, id).await?.is_none() {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "this link was already used or has expired; run `daysheet ui` again",
            ));
        }
        let person = Person::local(pages.service.people.base().config.access);
        return Ok(pages.signed_in(&person, None, &path).await?);
    }
    if pages.session(&headers).await?.is_some() {
        return Ok(Redirect::to(&path).into_response());
    }
    let web = match pages.way() {
        Way::Issuer(web) => web,
        way => return Ok(form(&way, &path, None)),
    };
    let redirect = pages.address("/sign-in/callback");
    let (address, pending) = web.begin(&redirect).await?;
    let expires = pages.server.now() + PATIENCE;
    let begun = serde_json::to_vec(&Begun { pending, path, expires })
        .map_err(|_| Error::new(Kind::Internal, "a sign-in could not be serialized"))?;
    let sealed = pages.server.seal(BEGUN, &begun).await?;
    let mut response = Redirect::to(address.as_str()).into_response();
    pages.set_cookie(&mut response, BEGUN, &sealed, PATIENCE);
    Ok(response)
}

/// Returns the sign-in page of a server that does not send browsers to an issuer.
fn form(way: &Way, path: &str, problem: Option<&str>) -> Response {
    page(
        "Sign in",
        None,
        html! {
            @if let Some(problem) = problem { p #problem role="alert" { (sentence(problem)) } }
            @if matches!(way, Way::Link) {
                p { "Open the address printed by " code { "daysheet ui" } ". Each address \
                     works once." }
            } @else if matches!(way, Way::Closed) {
                p { "This server has no client at its issuer, so nobody can sign in here. The \
                     operator has to set " code { "http.client_id" } " and "
                    code { "http.client_secret" } "." }
            } @else {
                form method="post" action="/sign-in" {
                    input type="hidden" name="return" value=(path);
                    @if matches!(way, Way::Token) {
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
    State(pages): State<Arc<Pages>>,
    request: Request,
) -> std::result::Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    pages.check_origin(&parts.headers)?;
    let takes_token = match pages.way() {
        Way::Open => false,
        Way::Token => true,
        // Before the body is read: anybody may send one, as slowly as they like.
        Way::Link | Way::Issuer(_) | Way::Closed => {
            let why = "this server has no sign-in form";
            return Err(Problem::new(StatusCode::NOT_FOUND, why));
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
        Err(Denial::Unavailable(error)) => Err(error.into()),
        Err(_) => {
            let page = form(&pages.way(), &path, Some("this token is not valid on this server"));
            Ok((StatusCode::FORBIDDEN, page).into_response())
        }
    }
}

/// `GET /sign-in/callback`: the browser returns from the issuer.
pub(super) async fn back(
    State(pages): State<Arc<Pages>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let outcome = finished(&pages, &headers, &query.unwrap_or_default()).await;
    let mut response = outcome.into_response();
    pages.set_cookie(&mut response, BEGUN, "", 0);
    response
}

/// Signs in whom the issuer's answer names.
async fn finished(
    pages: &Pages,
    headers: &HeaderMap,
    query: &str,
) -> std::result::Result<Response, Problem> {
    let Way::Issuer(web) = pages.way() else {
        return Err(Problem::new(StatusCode::NOT_FOUND, "this server has no issuer"));
    };
    let other = || Problem::bad("this sign-in was not started in this browser; sign in again");
    let sealed = pages.cookie(headers, BEGUN).ok_or_else(other)?;
    let opened = pages.opened(BEGUN, sealed).await?.ok_or_else(other)?;
    let begun: Begun = serde_json::from_slice(&opened).map_err(|_| other())?;
    if begun.expires <= pages.server.now() {
        return Err(other());
    }
    let person = web.finish(begun.pending, query).await?;
    Ok(pages.signed_in(&person, None, &begun.path).await?)
}

/// `POST /sign-out`: ends the session.
pub(super) async fn out(
    State(pages): State<Arc<Pages>>,
    post: Post,
) -> std::result::Result<Response, Problem> {
    let body = html! {
        p { "This browser is signed out of Daysheet. Programs that use your accounts stay \
             signed in." }
        p { a.button href="/sign-in" { "Sign in" } }
    };
    let mut response = page("Signed out", None, body);
    pages.sign_out(&post.visitor.session, &mut response).await?;
    Ok(response)
}
