//! The common part of the Google adapters: calling the generated client safely.
//!
//! The generated client has no timeout, drops status and `Retry-After` unless a
//! delegate keeps them, reads a response of any length ([`wire`] limits that), and
//! decodes it completely or not at all. [`GoogleClient::call`] adds what is missing: the limiter
//! of `limiter.rs`, and errors in our words. Responses are read as plain JSON, because the
//! generated types drop a whole message for one part with unpadded base64.
//!
//! [`wire`]: super::wire

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daysheet_core::access::AccessLevel;
use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::{ServiceSettings, TokenSource};
use daysheet_core::text::quoted_words;
use google_apis_common::{Delegate, GetToken, Response, Retry};
use http_body_util::BodyExt;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, IF_MATCH};
use hyper::{HeaderMap, Method};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;

use super::wire::{LISTS, TransferFailure};
use crate::limiter::{self, RateLimiter};
use crate::net::{self, ResponsePermit, WholeResponse};

/// Returns the scopes that a sign-in requests from Google. Gmail has one scope for
/// organizing mail, drafts and sending; only permanent deletion needs more.
pub fn scopes(access: AccessLevel) -> Vec<&'static str> {
    let mut scopes = match access {
        AccessLevel::Read => vec![
            "https://www.googleapis.com/auth/gmail.readonly",
            "https://www.googleapis.com/auth/calendar.readonly",
            "https://www.googleapis.com/auth/contacts.readonly",
        ],
        AccessLevel::Organize | AccessLevel::Draft | AccessLevel::Send => vec![
            "https://www.googleapis.com/auth/gmail.modify",
            "https://www.googleapis.com/auth/gmail.settings.basic",
            "https://www.googleapis.com/auth/calendar",
            "https://www.googleapis.com/auth/contacts",
        ],
        AccessLevel::Full => vec![
            "https://mail.google.com/",
            "https://www.googleapis.com/auth/gmail.settings.basic",
            "https://www.googleapis.com/auth/calendar",
            "https://www.googleapis.com/auth/contacts",
        ],
    };
    scopes.push("https://www.googleapis.com/auth/contacts.other.readonly");
    scopes
}

/// The maximum number of calls of one account in flight. Gmail throttles bursts of 100
/// and tolerates 25.
pub const IN_FLIGHT: usize = 25;
/// The slowest way that is waited for when much is sent, in bytes a second.
const SLOWEST: u64 = 50_000;
/// The status that continues an upload.
const GO_ON: u16 = 308;
/// One attempt at a write.
type WriteAttempt<'a> = Pin<Box<dyn Future<Output = Result<Value>> + Send + 'a>>;
/// The result of a generated call.
pub type CallResult<T> = google_apis_common::Result<(Response, T)>;

/// A response with its headers.
#[derive(Debug)]
pub struct FullResponse {
    /// True if an upload is incomplete, and more is expected.
    pub more: bool,
    /// The headers.
    pub headers: HeaderMap,
    /// The JSON; null if there is none.
    pub body: Value,
}

/// One of Google's services, with its names for errors.
#[derive(Debug)]
pub struct GoogleService {
    name: &'static str,
    /// The APIs that have to be enabled for it.
    apis: &'static str,
}

/// Mail, and the people one writes to.
pub const GMAIL: &GoogleService =
    &GoogleService { name: "Gmail", apis: "the Gmail API and the People API" };
/// Calendars.
pub const CALENDAR: &GoogleService =
    &GoogleService { name: "Google Calendar", apis: "the Google Calendar API" };

/// The client of one account for one of Google's services.
pub struct GoogleClient {
    limiter: RateLimiter,
    service: &'static GoogleService,
}

/// Provides our tokens to the generated client, which asks before every request.
#[derive(Clone)]
pub struct GoogleTokens(TokenSource);

impl GetToken for GoogleTokens {
    fn get_token<'a>(
        &'a self,
        _scopes: &'a [&str],
    ) -> Pin<
        Box<
            dyn Future<
                    Output = std::result::Result<
                        Option<String>,
                        Box<dyn std::error::Error + Send + Sync>,
                    >,
                > + Send
                + 'a,
        >,
    > {
        Box::pin(async move {
            match self.0.bearer().await {
                Ok(token) => Ok(Some(token)),
                Err(error) => Err(error.into()),
            }
        })
    }
}

/// Keeps the parts of a failed response that the generated client would drop. Clones
/// share them, because the call owns one while it runs.
#[derive(Debug, Clone)]
pub struct FailureWatch {
    info: Arc<Mutex<FailureInfo>>,
    clock: Clock,
}

/// The status of a failed response, and how long it said to wait.
#[derive(Debug, Clone, Copy, Default)]
struct FailureInfo {
    status: u16,
    retry_after: Option<Duration>,
    /// Why there is no whole answer.
    failed: Option<TransferFailure>,
}

impl FailureWatch {
    fn new(clock: Clock) -> Self {
        Self { info: Arc::default(), clock }
    }

    fn seen(&self) -> FailureInfo {
        *self.info.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Delegate for FailureWatch {
    fn http_failure(&mut self, response: &Response, _: Option<&Value>) -> Retry {
        *self.info.lock().unwrap_or_else(PoisonError::into_inner) = FailureInfo {
            status: response.status().as_u16(),
            retry_after: retry_after(response.headers(), &self.clock),
            failed: TransferFailure::from_headers(response.headers()),
        };
        Retry::Abort
    }
}

impl GoogleClient {
    /// Creates a client for a service with the tokens of one account.
    pub fn new(
        services: &ServiceSettings,
        tokens: TokenSource,
        service: &'static GoogleService,
    ) -> Self {
        Self { limiter: RateLimiter::new(tokens, "google", "Google", IN_FLIGHT, services), service }
    }

    /// Returns the token source in the form that the generated hub takes.
    pub fn bearer(&self) -> GoogleTokens {
        GoogleTokens(self.limiter.tokens().clone())
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        self.limiter.clock().now()
    }

    /// Makes a call that only reads, and returns its JSON.
    ///
    /// `make` builds the call anew for every attempt; it asks for its token itself, and
    /// gets the one that the limiter knows of.
    pub async fn call<T, F>(&self, make: impl Fn(FailureWatch) -> F) -> Result<Value>
    where
        F: Future<Output = CallResult<T>>,
    {
        self.limiter
            .read(|_token| async {
                let watch = FailureWatch::new(self.limiter.clock().clone());
                match make(watch.clone()).await {
                    Ok((response, _)) => match response.into_body().collect().await {
                        Ok(body) => json(&body.to_bytes()),
                        Err(_) => Err(broken_off()),
                    },
                    Err(error) => recover(self.service, error, watch.seen()),
                }
            })
            .await
    }

    /// Fetches JSON from a Google API that has no generated client here.
    pub async fn get(&self, url: &Url) -> Result<Value> {
        Ok(self.get_as(url, LISTS, &json).await?.0)
    }

    /// Fetches a response of at most `most` bytes without the generated client, which holds it
    /// several times over, and takes from it what `take` does. Its turn, if it is a long one, is
    /// to be kept until the result is smaller again.
    pub async fn get_as<T>(
        &self,
        url: &Url,
        most: usize,
        take: &(impl Fn(&[u8]) -> Result<T> + Sync),
    ) -> Result<(T, Option<ResponsePermit>)> {
        self.limiter
            .read(|token| async move {
                let request = hyper::Request::get(url.as_str())
                    .header(AUTHORIZATION, format!("Bearer {token}"))
                    .body(Vec::new())
                    .map_err(unwritten)?;
                match net::exchange(request, most, Some(self.limiter.share())).await {
                    Ok(WholeResponse { answer, turn }) => Ok((self.success(&answer, take)?, turn)),
                    Err(failure) => Err(TransferFailure::from(&failure).error()),
                }
            })
            .await
    }

    /// Sends a write, and returns the JSON of the response, null if there is none. With
    /// `version`, nothing is done unless the resource at `url` still has it.
    ///
    /// It is sent once. The generated client is not used: it drops the nulls that clear
    /// fields, and cannot send `If-Match`.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if the version is another; [`ErrorKind::Network`] or
    /// [`ErrorKind::Timeout`] if it is unknown whether it was done.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        version: Option<&str>,
        body: Option<&Value>,
    ) -> Result<Value> {
        let (call, time) = self.write(method, url, version, body);
        self.limiter.write_within(time, call).await
    }

    /// Sends a write as [`GoogleClient::send`] does, but does not repeat it even if it was
    /// throttled: for sending messages.
    pub async fn send_once(&self, url: &Url, body: &Value) -> Result<Value> {
        let (call, time) = self.write(Method::POST, url, None, Some(body));
        self.limiter.send_once(time, call).await
    }

    /// Looks up the effect of an interrupted write: see [`RateLimiter::settle`].
    pub async fn settle<T, F>(&self, error: Error, look: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<Option<T>>>,
    {
        self.limiter.settle(error, look).await
    }

    /// Returns one attempt at a write, and its time limit.
    fn write<'a>(
        &'a self,
        method: Method,
        url: &'a Url,
        version: Option<&'a str>,
        body: Option<&Value>,
    ) -> (impl Fn(String) -> WriteAttempt<'a>, Duration) {
        let written = body.map(|body| body.to_string().into_bytes());
        let time = time_for(written.as_ref().map_or(0, Vec::len));
        let call = move |token: String| -> WriteAttempt<'a> {
            let (method, written) = (method.clone(), written.clone());
            Box::pin(async move {
                let mut request = hyper::Request::builder()
                    .method(method)
                    .uri(url.as_str())
                    .header(AUTHORIZATION, format!("Bearer {token}"));
                if let Some(version) = version {
                    request = request.header(IF_MATCH, version);
                }
                if written.is_some() {
                    request = request.header(CONTENT_TYPE, "application/json");
                }
                let request = request.body(written.unwrap_or_default()).map_err(unwritten)?;
                let answer = net::send_within(request, time).await.map_err(open)?;
                if answer.status().is_success() && answer.body().is_empty() {
                    return Ok(Value::Null);
                }
                self.success_json(&answer).map_err(open)
            })
        };
        (call, time)
    }

    /// Sends bytes of any type, once, with a time limit that depends on their number;
    /// returns the response with its headers. An upload to be continued is no error.
    ///
    /// # Errors
    /// As [`GoogleClient::send`].
    pub async fn send_bytes(
        &self,
        method: Method,
        url: &Url,
        headers: &[(&str, &str)],
        bytes: &[u8],
    ) -> Result<FullResponse> {
        let time = time_for(bytes.len());
        self.limiter
            .write_within(time, |token| {
                let method = method.clone();
                async move {
                    let mut request = hyper::Request::builder()
                        .method(method)
                        .uri(url.as_str())
                        .header(AUTHORIZATION, format!("Bearer {token}"));
                    for (name, value) in headers {
                        request = request.header(*name, *value);
                    }
                    let request = request.body(bytes.to_vec()).map_err(unwritten)?;
                    let answer = net::send_within(request, time).await.map_err(open)?;
                    let status = answer.status().as_u16();
                    let body = if status == GO_ON
                        || (answer.status().is_success() && answer.body().is_empty())
                    {
                        Value::Null
                    } else {
                        self.success_json(&answer).map_err(open)?
                    };
                    Ok(FullResponse {
                        more: status == GO_ON,
                        headers: answer.into_parts().0.headers,
                        body,
                    })
                }
            })
            .await
    }

    fn success_json(&self, answer: &hyper::Response<Vec<u8>>) -> Result<Value> {
        self.success(answer, json)
    }

    fn success<T>(
        &self,
        answer: &hyper::Response<Vec<u8>>,
        take: impl Fn(&[u8]) -> Result<T>,
    ) -> Result<T> {
        if answer.status().is_success() {
            return take(answer.body());
        }
        let seen = FailureInfo {
            status: answer.status().as_u16(),
            retry_after: retry_after(answer.headers(), self.limiter.clock()),
            failed: None,
        };
        let body = serde_json::from_slice(answer.body()).unwrap_or_default();
        Err(error_of(self.service, seen, &body))
    }
}

/// Returns the time limit for sending this many bytes.
fn time_for(length: usize) -> Duration {
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    net::TIMEOUT + Duration::from_secs(length / SLOWEST)
}

/// Converts errors after which the write may still have been carried out.
fn open(error: Error) -> Error {
    let (kind, message) = match error.kind() {
        ErrorKind::Provider(500..=599) => (ErrorKind::Network, error.message()),
        ErrorKind::Network => (ErrorKind::Network, "the connection to Google broke"),
        ErrorKind::Timeout => (ErrorKind::Timeout, "Google did not answer in time"),
        _ => return error,
    };
    Error::new(kind, format!("{message}; whether it was done is unknown"))
        .next("check before retrying")
}

/// Reports an invalid request: its variable parts (ids, versions, page tokens) came from Google.
fn unwritten(_opaque: hyper::http::Error) -> Error {
    Error::new(ErrorKind::Provider(200), "an id or version from Google cannot be sent back")
        .next("list it again, and repeat the call with the new id")
}

/// Reads how long a response says to wait.
fn retry_after(headers: &hyper::HeaderMap, clock: &Clock) -> Option<Duration> {
    let value = headers.get(hyper::header::RETRY_AFTER)?.to_str().ok()?;
    limiter::retry_after(value, clock.now())
}

/// Reads a response that the generated client could not decode, or returns its error.
fn recover(
    service: &GoogleService,
    error: google_apis_common::Error,
    seen: FailureInfo,
) -> Result<Value> {
    use google_apis_common::Error as Generated;
    if let Some(failed) = seen.failed {
        return Err(failed.error());
    }
    match error {
        // The client decodes a body that broke off as an empty one.
        Generated::JsonDecodeError(body, _) if body.is_empty() => Err(broken_off()),
        Generated::JsonDecodeError(body, _) => json(body.as_bytes()),
        Generated::BadRequest(body) => Err(error_of(service, seen, &body)),
        Generated::Failure(_) => Err(error_of(service, seen, &Value::Null)),
        // Our own error, boxed by the generated client.
        Generated::MissingToken(cause) => Err(match cause.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(_) => Error::new(ErrorKind::Auth, "no access token could be obtained"),
        }),
        Generated::HttpError(cause) => Err(Error::new(
            ErrorKind::Network,
            if cause.is_connect() {
                "Google could not be reached"
            } else {
                "the connection to Google broke"
            },
        )),
        Generated::Io(_) => Err(broken_off()),
        other => Err(Error::new(
            ErrorKind::Internal,
            format!("the Google client rejected the call: {other}"),
        )),
    }
}

/// Reads the JSON of a response. All of Google's are objects: to take anything else for
/// an empty one would make a broken service an empty mailbox.
pub fn json(body: &[u8]) -> Result<Value> {
    match parse(body)? {
        object @ Value::Object(_) => Ok(object),
        _ => Err(not_ours("object")),
    }
}

/// Reads the JSON object of a response into a type of its own.
pub fn parse<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T> {
    // A list would be taken for the fields of the type, in their order.
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(not_ours("object"));
    }
    serde_json::from_slice(body)
        .map_err(|error| if error.is_eof() { broken_off() } else { not_ours("JSON") })
}

/// Returns the error for an unexpected response.
pub fn not_ours(what: &str) -> Error {
    Error::new(ErrorKind::Provider(502), format!("Google did not answer with a valid {what}"))
        .next("try again; if it persists, check the endpoint URLs in the settings")
}

/// Returns the list of a response that always has one.
///
/// # Errors
/// [`ErrorKind::Provider`] if it has none.
pub fn items_of(mut answer: Value, key: &str) -> Result<Vec<Value>> {
    match answer.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => Ok(items),
        _ => Err(not_ours("list")),
    }
}

/// Returns the items of a page, whose list may be missing if it is empty; other fields
/// than the `others` make it invalid.
///
/// # Errors
/// [`ErrorKind::Provider`] for a response that is no such page.
pub fn page<'v>(answer: &'v Value, key: &str, others: &[&str]) -> Result<&'v [Value]> {
    let known = |members: &Map<String, Value>| {
        members.keys().all(|member| others.contains(&member.as_str()))
    };
    match (answer.get(key), answer.as_object()) {
        (Some(Value::Array(items)), _) => Ok(items),
        (None, Some(members)) if known(members) => Ok(&[]),
        _ => Err(not_ours("list")),
    }
}

fn broken_off() -> Error {
    Error::new(ErrorKind::Network, "Google's response broke off")
}

/// Returns the reason that Google's newer APIs give among the details of an error.
fn detail(error: &Value) -> Option<&str> {
    let details = error.get("details")?.as_array()?;
    details.iter().find_map(|detail| detail.get("reason").and_then(Value::as_str))
}

/// Converts Google's error response to our kinds.
fn error_of(service: &GoogleService, seen: FailureInfo, body: &Value) -> Error {
    let error = body.get("error").unwrap_or(&Value::Null);
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let reason = error
        .pointer("/errors/0/reason")
        .and_then(Value::as_str)
        .or_else(|| detail(error))
        .unwrap_or_else(|| text("status"));
    let limited = matches!(
        reason,
        "rateLimitExceeded" | "userRateLimitExceeded" | "quotaExceeded" | "RESOURCE_EXHAUSTED"
    );
    // The message is Google's own, and may contain untrusted names.
    let summary = text("message").lines().next().unwrap_or_default().trim_end_matches('.');
    let message = if summary.is_empty() {
        format!("Google answered with status {}", seen.status)
    } else {
        format!("Google answered with status {}: {}", seen.status, quoted_words(summary))
    };
    let missing = || Error::new(ErrorKind::NotFound, format!("{} has no such item", service.name));
    match seen.status {
        429 => Error::new(ErrorKind::RateLimited(seen.retry_after), message),
        403 if limited => Error::new(ErrorKind::RateLimited(seen.retry_after), message),
        403 if matches!(reason, "insufficientPermissions" | "ACCESS_TOKEN_SCOPE_INSUFFICIENT") => {
            Error::new(ErrorKind::Auth, "the sign-in does not allow this")
                .next("run `daysheet account add google` and leave all permissions ticked")
        }
        403 if matches!(reason, "accessNotConfigured" | "SERVICE_DISABLED") => Error::new(
            ErrorKind::Provider(403),
            "an API is not enabled in the client id's Google Cloud project",
        )
        .next(format!(
            "enable {} under APIs & Services, Library, and try again in a minute",
            service.apis
        )),
        403 if reason == "forbiddenForNonOrganizer" => Error::new(
            ErrorKind::Provider(403),
            "only the organizer may change this of the meeting",
        )
        .next("ask the organizer, or create an event of your own"),
        403 if reason == "requiredAccessLevel" => {
            Error::new(ErrorKind::Provider(403), "this account may not do this in that calendar")
                .next("lookup kind=calendars shows its access")
        }
        404 => missing(),
        400 if summary.starts_with("Invalid id") => missing(),
        410 if reason == "deleted" => missing(),
        412 => Error::new(ErrorKind::Conflict, "it was changed meanwhile")
            .next("read it again, and repeat the change if it still fits"),
        status => Error::new(ErrorKind::Provider(status), message),
    }
}
