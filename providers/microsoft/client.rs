//! The client of one account for Microsoft Graph.
//!
//! The SDK builds each request and adds the token. This module adds what the SDK lacks: the rate
//! limiter of `limiter.rs`, a client that follows no redirects, a cap on the length of responses,
//! and page links that lead only to the configured endpoint. `response.rs` reads responses,
//! `batch.rs` has `$batch`.
//!
//! Reads are retried, writes are not: see [`GraphAccount::write`].
//!
//! Requests are given as path and query below the base, percent-encoded; they are the same alone
//! and in a batch. The SDK's own builders are not used for them: they split an id with a slash into
//! two segments, and encode an encoded one again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::{ServiceSettings, TokenSource};
use graph_rs_sdk::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, IF_MATCH};
use graph_rs_sdk::http::{BodyRead, Method};
use graph_rs_sdk::{GraphClient, GraphClientConfiguration};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use url::Url;

use super::bearer::{GraphTokens, no_token};
use super::response::{GraphResponse, MAX_ANSWER, connection_error, page, read};
use crate::limiter::RateLimiter;
use crate::net;

/// The maximum number of calls of one account in flight. Outlook allows four per
/// mailbox, and Graph sends it the parts of a batch four at a time.
pub(super) const IN_FLIGHT: u32 = 4;
/// The maximum number of attempts at a list that the service is too slow for.
const SLOW_ATTEMPTS: u32 = 2;
/// The time limit for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Ids that stay the same when a message moves, and times of events in UTC, where each local time
/// is exactly one instant.
pub(super) const PREFER: &str = "IdType=\"ImmutableId\", outlook.timezone=\"UTC\"";

/// The characters of a query that are not encoded. A space becomes `%20`, because `+` means a plus
/// in the URL of a part of a batch.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b',')
    .remove(b':')
    .remove(b'(')
    .remove(b')')
    .remove(b'/')
    .remove(b'$');

/// The client of one account for one mailbox at Graph.
pub struct GraphAccount {
    sdk: GraphClient,
    pub(crate) http: reqwest::Client,
    /// Ends in a slash.
    pub(crate) base: Url,
    /// `me`, or `users/ADDRESS` for a mailbox that is shared with the user.
    owner: String,
    pub(crate) limiter: RateLimiter,
}

/// One attempt at a request.
#[derive(Clone, Copy)]
pub(crate) struct GraphRequest<'a> {
    pub method: &'a Method,
    pub request: &'a str,
    pub prefer: &'a str,
    /// The version that the resource must still have (`If-Match`).
    pub version: Option<&'a str>,
    pub body: Option<&'a Value>,
    /// The maximum size of the response, in bytes.
    pub most: usize,
}

impl<'a> GraphRequest<'a> {
    pub fn get(request: &'a str) -> Self {
        Self {
            method: &Method::GET,
            request,
            prefer: PREFER,
            version: None,
            body: None,
            most: MAX_ANSWER,
        }
    }
}

/// Returns the HTTP client that all accounts share, for `https` only if `secure`. It has a pool of
/// connections but no tokens, which are in each request.
fn shared_http(secure: bool) -> Result<reqwest::Client> {
    static CLIENTS: [OnceLock<reqwest::Client>; 2] = [const { OnceLock::new() }; 2];
    let [any, https] = &CLIENTS;
    let client = if secure { https } else { any };
    if let Some(client) = client.get() {
        return Ok(client.clone());
    }
    // `get_or_init` takes no fallible function; of two clients built at once, one is dropped.
    let built = reqwest::Client::builder()
        .use_rustls_tls()
        .https_only(secure)
        // A redirect could carry the token elsewhere.
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        // The sign-in uses no proxies either, and a sandbox is on this machine.
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_initial_stream_window_size(net::STREAM_WINDOW)
        .http2_initial_connection_window_size(net::CONNECTION_WINDOW)
        .build()
        .map_err(|error| {
            Error::new(ErrorKind::Internal, format!("TLS cannot be set up: {error}"))
        })?;
    Ok(client.get_or_init(|| built).clone())
}

impl GraphAccount {
    /// Creates a client at the configured endpoint with the tokens of one account, for its own
    /// mailbox or for a shared `mailbox`.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if TLS cannot be set up, which no setting can cause.
    pub fn new(
        services: &ServiceSettings,
        tokens: TokenSource,
        mailbox: Option<&str>,
    ) -> Result<Self> {
        let base = services.endpoints.graph.clone();
        // `config.rs` accepts plain http only for this machine.
        let secure = base.scheme() == "https";
        let agent = concat!("daysheet/", env!("CARGO_PKG_VERSION"));
        let http = shared_http(secure)?;
        let in_flight = IN_FLIGHT as usize;
        let limiter = RateLimiter::new(tokens, "microsoft", "Outlook", in_flight, services);
        let sdk = GraphClientConfiguration::new()
            .client_application(GraphTokens(limiter.tokens().clone()))
            .user_agent(HeaderValue::from_static(agent))
            .referer(false)
            .https_only(secure);
        Ok(Self {
            sdk: GraphClient::from(sdk),
            http,
            base,
            owner: match mailbox {
                Some(address) => format!("users/{}", net::path_segment(address)),
                None => "me".to_owned(),
            },
            limiter,
        })
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        self.limiter.clock().now()
    }

    /// Returns true if the mailbox belongs to someone else.
    pub fn is_shared(&self) -> bool {
        self.owner != "me"
    }

    /// Returns a request about the mailbox. `path` is below its owner, with ids encoded by
    /// [`net::path_segment`]; the query is not encoded yet.
    pub fn mailbox_url(&self, path: &str, query: &[(&str, &str)]) -> String {
        request(&format!("{}/{path}", self.owner), query)
    }

    /// Returns a request about the mailbox's owner.
    pub fn user_url(&self, query: &[(&str, &str)]) -> String {
        request(&self.owner, query)
    }

    /// Returns a page link as a request. Only its path below the base and its query are used, so
    /// the token cannot leave the API.
    ///
    /// # Errors
    /// [`ErrorKind::Provider`] if the link leads outside the API.
    pub fn resolve_next_link(&self, link: &str) -> Result<String> {
        let outside = || {
            Error::new(ErrorKind::Provider(200), "Outlook's link to the next page leaves its API")
        };
        let url = Url::parse(link).map_err(|_opaque| outside())?;
        let path = url.path().strip_prefix(self.base.path());
        let path = path.filter(|path| !path.is_empty()).ok_or_else(outside)?;
        Ok(match url.query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        })
    }

    /// Fetches JSON.
    pub async fn get(&self, request: &str) -> Result<Value> {
        let call = |_token| async { self.send(GraphRequest::get(request)).await?.json() };
        self.limiter.read(call).await.map_err(|error| self.with_account(request, error))
    }

    /// Fetches JSON for a query that is too long for a path. It changes nothing, so it is retried
    /// like any read.
    pub async fn post_query(&self, request: &str, question: &Value) -> Result<Value> {
        let call = |_token| async {
            let call = GraphRequest {
                method: &Method::POST,
                body: Some(question),
                ..GraphRequest::get(request)
            };
            self.send(call).await?.json()
        };
        self.limiter.read(call).await
    }

    /// Sends a write once; it is repeated only if the service said that nothing was done. With a
    /// `version`, the resource is changed only if it still has that version. Returns the response
    /// unless it is empty.
    ///
    /// # Errors
    /// [`ErrorKind::Network`] and [`ErrorKind::Timeout`] mean that the outcome is unknown.
    pub async fn write(
        &self,
        method: &Method,
        request: &str,
        version: Option<&str>,
        body: Option<&Value>,
    ) -> Result<Option<Value>> {
        let call = |_token| async {
            let call = GraphRequest { method, version, body, ..GraphRequest::get(request) };
            self.send(call).await?.some_json()
        };
        self.limiter.write(call).await.map_err(|error| self.with_account(request, open(error)))
    }

    /// Looks up the effect of an interrupted write: see [`RateLimiter::settle`].
    pub async fn settle<T, F>(&self, error: Error, look: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<Option<T>>>,
    {
        self.limiter.settle(error, look).await
    }

    /// Writes like [`GraphAccount::write`], and looks up an interrupted write with `look`.
    pub async fn write_for_sure<F>(
        &self,
        method: &Method,
        request: &str,
        version: Option<&str>,
        body: Option<&Value>,
        look: impl Fn() -> F,
    ) -> Result<Option<Value>>
    where
        F: Future<Output = Result<Option<Value>>>,
    {
        match self.write(method, request, version, body).await {
            Err(error) => self.settle(error, look).await.map(Some),
            done => done,
        }
    }

    /// Returns the resource, or `None` if it does not exist.
    pub async fn there(&self, request: &str) -> Result<Option<Value>> {
        match self.get(request).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Deletes a resource. If the response is lost, checks whether it still exists.
    pub async fn delete(&self, request: &str, version: Option<&str>) -> Result<()> {
        let was_deleted = async || {
            let found = self.there(request).await?;
            Ok(found.is_none().then_some(Value::Null))
        };
        self.write_for_sure(&Method::DELETE, request, version, None, was_deleted).await.map(drop)
    }

    /// Sends a POST that is not repeated even if it was throttled: for sending a message. Neither
    /// the request nor the response has a body.
    pub async fn post_once(&self, request: &str) -> Result<()> {
        let call = |_token| async {
            let call = GraphRequest { method: &Method::POST, ..GraphRequest::get(request) };
            self.send(call).await?.some_json()
        };
        self.limiter
            .send_once(Duration::ZERO, call)
            .await
            .map(drop)
            .map_err(|error| self.with_account(request, open(error)))
    }

    /// Fetches JSON that the service may be too slow for, at most [`SLOW_ATTEMPTS`] times: a list
    /// that took too long twice will do so again.
    pub async fn get_slow(&self, request: &str) -> Result<Value> {
        // The number of attempts that were too slow, including the present one.
        let slow = &AtomicU32::new(0);
        let call = |_token| async move {
            let before = slow.fetch_add(1, Ordering::Relaxed);
            if before >= SLOW_ATTEMPTS {
                // The limiter broke the last attempt off, and would make more.
                return Ok(Err(Error::new(ErrorKind::Timeout, "Outlook did not answer in time")));
            }
            let answer = self.send(GraphRequest::get(request)).await;
            // An `Ok` around the error keeps the limiter from retrying.
            match answer.and_then(GraphResponse::json) {
                Err(error) if is_slow(&error) && before + 1 >= SLOW_ATTEMPTS => Ok(Err(error)),
                Err(error) if is_slow(&error) => Err(error),
                other => {
                    slow.fetch_sub(1, Ordering::Relaxed);
                    other.map(Ok)
                }
            }
        };
        match self.limiter.read(call).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.limiter.advise(error)),
            Err(error) => Err(self.with_account(request, error)),
        }
    }

    /// Returns the items of a list's response and of its next pages, until there are `enough` items
    /// or `pages` pages. The flag is true if these are all.
    pub async fn all(
        &self,
        answer: Value,
        enough: usize,
        pages: usize,
    ) -> Result<(Vec<Value>, bool)> {
        let (mut items, mut link) = page(answer)?;
        let mut read = 1;
        let mut last = String::new();
        while let Some(next) = link {
            let request = self.resolve_next_link(&next)?;
            // A page that names itself as the next would be read forever.
            if items.len() >= enough || read >= pages || request == last {
                return Ok((items, false));
            }
            let (more, after) = page(self.get(&request).await?)?;
            items.extend(more);
            (link, last) = (after, request);
            read += 1;
        }
        Ok((items, true))
    }

    /// Fetches at most `most` bytes of another type than JSON.
    pub async fn bytes(&self, request: &str, most: usize) -> Result<Vec<u8>> {
        let call = |_token| async {
            let call = GraphRequest { most, ..GraphRequest::get(request) };
            self.send(call).await?.bytes()
        };
        self.limiter.read(call).await.map_err(|error| self.with_account(request, error))
    }

    /// Makes one attempt. The SDK builds the request, but our client sends it, because the SDK's
    /// follows redirects.
    pub(crate) async fn send(&self, call: GraphRequest<'_>) -> Result<GraphResponse> {
        // The variable parts of a request came from Graph: ids, versions, page links.
        let unwritten = || {
            let what = "an id or version from Outlook cannot be sent back";
            Error::new(ErrorKind::Provider(200), what)
                .next("list it again, and repeat the call with the new id")
        };
        let mut sdk = self.sdk.clone();
        // The SDK panics for URLs with a query, and accepts only six hosts otherwise, so the URL is
        // checked here.
        sdk.use_test_endpoint(&self.check_url(&format!("{}{}", self.base, call.request))?);
        let body = call.body.map(|body| BodyRead::new(body.to_string()));
        let has_body = body.is_some();
        let header = |text: &str| HeaderValue::from_str(text).map_err(|_opaque| unwritten());
        let mut request = sdk
            .custom(call.method.clone(), body)
            .header(HeaderName::from_static("prefer"), header(call.prefer)?);
        if has_body {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if !has_body && call.method == Method::POST {
            // Exchange refuses a POST without its length.
            request = request.header(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        if let Some(version) = call.version {
            request = request.header(IF_MATCH, header(version)?);
        }
        let built = request.build().await.map_err(no_token)?;
        let built = built.build().map_err(|_opaque| unwritten())?;
        let answer = self.http.execute(built).await.map_err(|error| connection_error(&error))?;
        read(answer, call.most, &self.limiter).await
    }

    /// Returns `url` if it is at or below the base.
    fn check_url(&self, url: &str) -> Result<Url> {
        Url::parse(url)
            .ok()
            .filter(|url| {
                let below = url.path().starts_with(self.base.path().trim_end_matches('/'));
                url.origin() == self.base.origin() && below
            })
            .ok_or_else(|| Error::new(ErrorKind::Internal, "a request to Outlook left its API"))
    }

    /// Replaces errors about access to another person's mail: the owner grants that, not a scope.
    pub(crate) fn with_account(&self, request: &str, error: Error) -> Error {
        let below = request.strip_prefix(self.owner.as_str());
        let mail = ["/messages", "/mailFolders"];
        let is_mail = below.is_some_and(|below| mail.iter().any(|mail| below.starts_with(mail)));
        // Advice to sign in again would be wrong here.
        if self.is_shared()
            && is_mail
            && error.kind() == ErrorKind::Auth
            && error.message() == super::response::DENIED
        {
            return Error::new(
                ErrorKind::Provider(403),
                "the mailbox is no longer shared with this sign-in, or not for this",
            )
            .next("ask its owner for access");
        }
        error
    }
}

/// Returns a request from an encoded path and a query that is not encoded yet.
pub fn request(path: &str, query: &[(&str, &str)]) -> String {
    let mut text = path.to_owned();
    for (at, (name, value)) in query.iter().enumerate() {
        text.push(if at == 0 { '?' } else { '&' });
        text.push_str(name);
        text.push('=');
        text.extend(utf8_percent_encode(value, QUERY));
    }
    text
}

/// Returns true if Graph took too long.
fn is_slow(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Provider(503 | 504) | ErrorKind::Timeout)
}

pub(super) fn left_out() -> Error {
    Error::new(ErrorKind::Provider(200), "Outlook left one of several requests unanswered")
        .next("try again")
}

/// Marks errors after which the write may still have been carried out.
pub(super) fn open(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Provider(500..=599) => Error::new(
            ErrorKind::Network,
            format!("{}; whether it was done is unknown", error.message()),
        )
        .next("check before retrying"),
        _ => error,
    }
}
