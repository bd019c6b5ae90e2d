//! The session of a signed-in browser: a sealed cookie, and a ticket in the person's rows.
//!
//! Any instance can open the cookie with the server's own key; no one else can create or read one.
//! Each sign-in replaces it, so that a cookie planted earlier is useless. The session is valid
//! while its ticket exists: signing out deletes the ticket, for all instances at once. A session
//! that began with a token also ends with that token, and has the token's present access level.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::{COOKIE, HeaderMap, ORIGIN, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_auth::CallingPerson;
use daysheet_core::access::AccessLevel;
use daysheet_core::error::{Error, ErrorKind, Result};
use hmac::{Hmac, KeyInit, Mac};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::layout::{PageProblem, SignedIn};
use super::state::{PageState, SignInWay};
use crate::app::App;
use crate::server::RequestPermit;
use crate::store::{SealedText, TicketKind};

/// The lifetime of sessions, in seconds. Sessions begun at an issuer are shorter, because the
/// issuer does not report that a person was barred; people with a session there sign in again
/// without typing.
const LASTS: i64 = 8 * 60 * 60;
const LASTS_AT_ISSUER: i64 = 60 * 60;
/// The name of the cookie.
const SESSION: &str = "session";
/// The name of the form field with the session's token.
const TOKEN: &str = "token";

/// A signed-in browser.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BrowserSession {
    /// The owner of the rows that the pages show.
    pub(super) owner: String,
    /// The person's name or address, if known.
    pub(super) name: Option<String>,
    /// The highest access level that the sign-in allows, as a word.
    access: String,
    /// The fingerprint of the static token used for signing in.
    bearer: Option<String>,
    /// The id of its ticket, from which the tokens of its forms are also derived.
    ticket: String,
}

impl BrowserSession {
    /// Returns the highest access level that the sign-in allows.
    pub(super) fn access(&self) -> AccessLevel {
        AccessLevel::find(&self.access).unwrap_or(AccessLevel::Read)
    }

    fn person(&self) -> CallingPerson {
        CallingPerson { owner: self.owner.clone(), name: self.name.clone(), access: self.access() }
    }

    fn mac(&self, purpose: &str) -> Option<Hmac<Sha256>> {
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(self.ticket.as_bytes()).ok()?;
        mac.update(purpose.as_bytes());
        Some(mac)
    }

    /// Returns the token for the form at `path`, which only this session has.
    pub(super) fn token(&self, path: &str) -> String {
        let bytes = self.mac(path).map(|mac| mac.finalize().into_bytes());
        bytes.map(|bytes| URL_SAFE_NO_PAD.encode(bytes)).unwrap_or_default()
    }

    /// Returns true if `token` is [`BrowserSession::token`] of this path; the comparison takes constant
    /// time.
    pub(super) fn is_token(&self, path: &str, token: &str) -> bool {
        let token = URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
        self.mac(path).is_some_and(|mac| mac.verify_slice(&token).is_ok())
    }

    /// Returns the hidden field that every form at `path` needs.
    pub(super) fn field(&self, path: &str) -> Markup {
        html! { input type="hidden" name=(TOKEN) value=(self.token(path)); }
    }
}

impl SignedIn for BrowserSession {
    fn person(&self) -> Markup {
        html! {
            form method="post" action="/sign-out" {
                (self.field("/sign-out"))
                @if let Some(name) = &self.name { span #person { "Signed in as " (name) } " " }
                button #sign-out { "Sign out" }
            }
        }
    }
}

impl PageState {
    /// Returns the full name of a cookie. Over HTTPS its prefix binds it to this host. Plain HTTP
    /// is used only on loopback, where some browsers reject secure cookies, and all ports share
    /// their cookies.
    fn cookie_name(&self, name: &str) -> String {
        match self.public.scheme() {
            "https" => format!("__Host-{name}"),
            _ => format!("{name}-{}", self.public.port_or_known_default().unwrap_or_default()),
        }
    }

    /// Returns a cookie of the request.
    pub(super) fn cookie<'a>(&self, headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
        let name = self.cookie_name(name);
        headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find_map(|(known, value)| (known == name).then_some(value))
    }

    /// Adds a cookie to a response that lives for `seconds`; 0 removes it.
    pub(super) fn set_cookie(
        &self,
        response: &mut Response,
        name: &str,
        value: &str,
        seconds: i64,
    ) {
        let secure = if self.public.scheme() == "https" { "; Secure" } else { "" };
        let cookie = format!(
            "{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}",
            self.cookie_name(name)
        );
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }

    /// Returns the content of a sealed cookie, or `None` if it is not ours or has expired.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] or [`ErrorKind::Config`] if that cannot be determined.
    pub(super) async fn opened(&self, identity: &str, sealed: &str) -> Result<Option<Vec<u8>>> {
        match self.server.unseal(identity, &SealedText::stored(sealed)).await {
            Ok(opened) => Ok(Some(opened)),
            // An unavailable database must not sign anyone out.
            Err(_) => self.server.compare_keys().await.map(|()| None),
        }
    }

    /// Returns the purpose that sessions are sealed for. It includes the way to sign in, so that
    /// sessions end when the settings change that.
    fn identity(&self) -> String {
        let way = match self.way() {
            SignInWay::Open => "open",
            SignInWay::Token => "token",
            SignInWay::Link => "link",
            SignInWay::Issuer(web) => web.issuer(),
            SignInWay::Closed => "closed",
        };
        format!("session of {way}")
    }

    /// Signs a browser in and redirects it to `path`. `bearer` is the fingerprint of the static
    /// token used.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if the session cannot be stored.
    pub(super) async fn signed_in(
        &self,
        person: &CallingPerson,
        bearer: Option<String>,
        path: &str,
    ) -> Result<Response> {
        let lasts = match self.way() {
            SignInWay::Issuer(_) => LASTS_AT_ISSUER,
            _ => LASTS,
        };
        let session = BrowserSession {
            owner: person.owner.clone(),
            name: person.name.clone(),
            access: person.access.word().to_owned(),
            bearer,
            ticket: self
                .server
                .for_owner(&person.owner)
                .put_ticket(TicketKind::PageSession, "", lasts)
                .await?,
        };
        let session = serde_json::to_vec(&session)
            .map_err(|_| Error::new(ErrorKind::Internal, "a session could not be serialized"))?;
        let sealed = self.server.seal(&self.identity(), &session).await?;
        let mut response = Redirect::to(path).into_response();
        self.set_cookie(&mut response, SESSION, sealed.as_str(), lasts);
        Ok(response)
    }

    /// Returns the session of a request, or `None` if it is missing or has expired.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if it cannot be determined whether the session has ended.
    pub(super) async fn session(&self, headers: &HeaderMap) -> Result<Option<BrowserSession>> {
        let Some(sealed) = self.cookie(headers, SESSION) else {
            return Ok(None);
        };
        let opened = self.opened(&self.identity(), sealed).await?;
        let session =
            opened.and_then(|opened| serde_json::from_slice::<BrowserSession>(&opened).ok());
        let Some(mut session) = session else {
            return Ok(None);
        };
        // The token may have been removed or restricted since.
        if let Some(bearer) = &session.bearer {
            match self.service.verifier.holder(bearer) {
                Some(person) => session.access = person.access.word().to_owned(),
                None => return Ok(None),
            }
        }
        let store = self.server.for_owner(&session.owner);
        // Signing out deletes the ticket, in whichever browser that happens.
        let ticket = store.peek_ticket(TicketKind::PageSession, &session.ticket).await?;
        Ok(ticket.map(|_| session))
    }

    /// Ends a session in every browser that has its cookie.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if the ticket cannot be deleted.
    pub(super) async fn sign_out(
        &self,
        session: &BrowserSession,
        response: &mut Response,
    ) -> Result<()> {
        let store = self.server.for_owner(&session.owner);
        store.take_ticket(TicketKind::PageSession, &session.ticket).await?;
        self.set_cookie(response, SESSION, "", 0);
        Ok(())
    }

    /// Checks that a form was sent from our own pages, as far as the browser reports it.
    pub(super) fn check_origin(&self, headers: &HeaderMap) -> std::result::Result<(), PageProblem> {
        let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let own = self.public.origin().ascii_serialization();
        // Browsers without these headers pass; forms of a session also have its token.
        let site = header("sec-fetch-site").is_none_or(|site| site == "same-origin");
        let origin = header(ORIGIN.as_str()).is_none_or(|origin| origin == own);
        if site && origin { Ok(()) } else { Err(foreign()) }
    }
}

fn foreign() -> PageProblem {
    PageProblem::new(
        StatusCode::FORBIDDEN,
        "this form was not sent from its own page, or the page has expired; open it again",
    )
}

/// A signed-in person who visits a page.
pub(super) struct PageVisitor {
    pub(super) session: BrowserSession,
    /// The person's own app.
    pub(super) app: Arc<App>,
    /// Held until the response is ready.
    _permit: RequestPermit,
}

impl FromRequestParts<Arc<PageState>> for PageVisitor {
    type Rejection = Response;

    /// Redirects a browser without a session to the sign-in, which returns it to this page.
    async fn from_request_parts(
        parts: &mut Parts,
        pages: &Arc<PageState>,
    ) -> std::result::Result<Self, Response> {
        let session = pages.session(&parts.headers).await;
        let Some(session) = session.map_err(|error| PageProblem::from(error).into_response())?
        else {
            let ended = "your session has ended; sign in and try again";
            return Err(match parts.method {
                Method::GET => {
                    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
                    let query = url::form_urlencoded::Serializer::new(String::new())
                        .append_pair("return", path)
                        .finish();
                    Redirect::to(&format!("/sign-in?{query}")).into_response()
                }
                _ => PageProblem::new(StatusCode::UNAUTHORIZED, ended).into_response(),
            });
        };
        let visitor = async {
            let app = pages.service.people.app_of(&session.person()).await?;
            let watch = pages.service.limits.of_pages(app.store().clone());
            let permit = watch.admit().await.map_err(too_many)?;
            Ok(Self { session, app, _permit: permit })
        };
        visitor.await.map_err(|error: Error| PageProblem::from(error).into_response())
    }
}

/// Rephrases the error of a limit for a page.
fn too_many(error: Error) -> Error {
    match error.kind() {
        ErrorKind::RateLimited(Some(wait)) => {
            let what = "too many of your pages were opened within a short time";
            Error::new(error.kind(), what)
                .next(format!("wait {} s and open it again", wait.as_secs()))
        }
        _ => error,
    }
}

/// A form that a signed-in person sent from one of our pages.
pub(super) struct FormPost {
    pub(super) visitor: PageVisitor,
    /// True if the sign-in allows everything that the server allows.
    manages: bool,
    fields: HashMap<String, String>,
    /// Held until the response is ready.
    _room: RequestPermit,
}

impl FormPost {
    /// Returns the visitor, for changes that affect all programs of the person.
    ///
    /// # Errors
    /// A refusal if the person signed in with a token of a lower access level than the server's.
    pub(super) fn manager(&self) -> std::result::Result<&PageVisitor, PageProblem> {
        if self.manages {
            Ok(&self.visitor)
        } else {
            Err(PageProblem::new(
                StatusCode::FORBIDDEN,
                "the token that you signed in with does not allow this; sign in with a token \
                 without an access level of its own",
            ))
        }
    }

    /// Returns a field's text, trimmed; `None` if it is empty or missing.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|text| text.trim()).filter(|text| !text.is_empty())
    }
}

/// Reads the fields of a form.
pub(super) fn fields(body: &[u8]) -> HashMap<String, String> {
    url::form_urlencoded::parse(body).into_owned().collect()
}

impl FromRequest<Arc<PageState>> for FormPost {
    type Rejection = Response;

    async fn from_request(
        request: Request,
        pages: &Arc<PageState>,
    ) -> std::result::Result<Self, Response> {
        // Before the body is read, which is the more expensive check.
        pages.check_origin(request.headers()).map_err(IntoResponse::into_response)?;
        let (mut parts, body) = request.into_parts();
        let visitor = PageVisitor::from_request_parts(&mut parts, pages).await?;
        let owner = &visitor.session.owner;
        let (body, room) = pages.service.body(owner, &parts.headers, body).await?;
        let fields = fields(&body);
        let token = fields.get(TOKEN).map_or("", String::as_str);
        let most = pages.service.people.base().config.access;
        if !visitor.session.is_token(parts.uri.path(), token) {
            return Err(foreign().into_response());
        }
        let manages = visitor.session.access() >= most;
        Ok(Self { visitor, manages, fields, _room: room })
    }
}
