//! The base of the Google adapters: safe calls through the generated client.
//!
//! The generated client has no timeout, drops status and `Retry-After` unless a delegate keeps
//! them, reads a response of any length ([`wire`] limits that), and decodes it completely or not at
//! all. [`GoogleClient::call`] adds the limiter of `limiter.rs` and errors in our words. Responses are
//! read as plain JSON, because the generated types drop a whole message for one part with unpadded
//! base64.
//!
//! [`wire`]: super::wire

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daysheet_core::access::AccessLevel;
use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::refusals::{
    RefusalMeaning, RefusalSigns, RefusalStage, known_refusal,
};
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
    // No other scope covers people with whom mail was exchanged, and it is read-only at every
    // level.
    scopes.push("https://www.googleapis.com/auth/contacts.other.readonly");
    scopes
}

/// The maximum number of calls of one account in flight. Gmail throttles bursts of 100
/// and tolerates 25.
pub const IN_FLIGHT: usize = 25;
/// The lowest speed that time limits of long requests allow for, in bytes per second.
const SLOWEST: u64 = 50_000;
/// The maximum length of a page's URL in a message of Google's, in bytes.
const MAX_PAGE: usize = 200;
/// The status of a resumable upload that expects more bytes (308).
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
    /// The JSON body; null if the response is empty.
    pub body: Value,
}

/// One of Google's services, as errors name it.
#[derive(Debug)]
pub struct GoogleService {
    name: &'static str,
    /// The APIs that a Google Cloud project has to enable for it.
    apis: &'static str,
}

/// Mail and contacts.
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
    /// The reason why the response is incomplete, from [`wire`](super::wire).
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
        // The limiter retries, because it knows the other calls of the account.
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

    /// Makes a read-only call and returns its JSON.
    ///
    /// `make` builds the call anew for every attempt. The generated client requests the token
    /// itself, from the limiter's token source.
    pub async fn call<T, F>(&self, make: impl Fn(FailureWatch) -> F) -> Result<Value>
    where
        F: Future<Output = CallResult<T>>,
    {
        self.limiter
            .read(|_token| async {
                // One for each attempt, so that no failure of an earlier attempt remains.
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

    /// Fetches a response of at most `most` bytes without the generated client, which holds several
    /// copies, and converts it with `take`. Keep the [`ResponsePermit`] of a long response until the result
    /// has been reduced.
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

    /// Sends a write once and returns the JSON of the response, or null for an empty one. With
    /// `version`, the write fails unless the resource at `url` still has that version.
    ///
    /// The generated client is not used: it drops the nulls that clear fields, and cannot send
    /// `If-Match`.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] for another version; [`ErrorKind::Network`] or [`ErrorKind::Timeout`] if the
    /// outcome is unknown.
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

    /// Sends a write like [`GoogleClient::send`], but never again, even after throttling: for sending
    /// messages.
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
                // Deletions succeed without a body.
                if answer.status().is_success() && answer.body().is_empty() {
                    return Ok(Value::Null);
                }
                self.success_json(&answer).map_err(open)
            })
        };
        (call, time)
    }

    /// Sends bytes of any type once and returns the response with its headers. The time limit grows
    /// with their number. An incomplete upload (308) is a success.
    ///
    /// # Errors
    /// See [`GoogleClient::send`].
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
        // Front ends answer some errors in HTML; the status alone has to do.
        let body = serde_json::from_slice(answer.body()).unwrap_or_default();
        Err(error_of(self.service, seen, &body))
    }
}

/// Returns the time limit for sending this many bytes.
fn time_for(length: usize) -> Duration {
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    net::TIMEOUT + Duration::from_secs(length / SLOWEST)
}

/// Marks errors after which the write may still have been carried out.
fn open(error: Error) -> Error {
    let (kind, message) = match error.kind() {
        // A 5xx does not say that nothing was done.
        ErrorKind::Provider(500..=599) => (ErrorKind::Network, error.message()),
        ErrorKind::Network => (ErrorKind::Network, "the connection to Google broke"),
        ErrorKind::Timeout => (ErrorKind::Timeout, "Google did not answer in time"),
        _ => return error,
    };
    Error::new(kind, format!("{message}; whether it was done is unknown"))
        .next("check before retrying")
}

/// Reports a request that cannot be built: its variable parts (ids, versions, page tokens) come
/// from Google.
fn unwritten(_opaque: hyper::http::Error) -> Error {
    Error::new(ErrorKind::Provider(200), "an id or version from Google cannot be sent back")
        .next("list it again, and repeat the call with the new id")
}

/// Returns the wait that a response requests.
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
    // The generated client takes our mark for an ordinary error of the service.
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

/// Reads the JSON object of a response. Anything else is an error: read as an empty object, it
/// would turn a broken service into an empty mailbox.
pub fn json(body: &[u8]) -> Result<Value> {
    match parse(body)? {
        object @ Value::Object(_) => Ok(object),
        _ => Err(not_ours("object")),
    }
}

/// Deserializes the JSON object of a response.
pub fn parse<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T> {
    // Serde would read a list as the fields of the type, in their order.
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

/// Returns the list under `key`, in a response that always has it.
///
/// # Errors
/// [`ErrorKind::Provider`] if the list is missing.
pub fn items_of(mut answer: Value, key: &str) -> Result<Vec<Value>> {
    match answer.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => Ok(items),
        _ => Err(not_ours("list")),
    }
}

/// Returns the items of a page. An empty list may be missing, but only if all other fields are
/// among `others`.
///
/// # Errors
/// [`ErrorKind::Provider`] for any other response.
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

/// Returns the `reason` among the details of an error, which Google's newer APIs have.
fn detail(error: &Value) -> Option<&str> {
    let details = error.get("details")?.as_array()?;
    details.iter().find_map(|detail| detail.get("reason").and_then(Value::as_str))
}

/// Returns how to enable a service's APIs: on the page that Google's message names, if it names one.
fn enabling(service: &GoogleService, summary: &str) -> String {
    let mut pages = summary.split_whitespace().filter_map(|word| Url::parse(word).ok());
    let consoles = ["console.developers.google.com", "console.cloud.google.com"];
    let page = pages.find(|url| {
        url.scheme() == "https"
            && url.host_str().is_some_and(|host| consoles.contains(&host))
            && url.as_str().len() <= MAX_PAGE
    });
    match page {
        Some(page) => format!("open {page} and press Enable"),
        None => format!("enable {} under APIs & Services, Library", service.apis),
    }
}

/// Converts Google's error response to an error of ours.
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
    // Google's message may quote names and other text by others.
    let summary = text("message").lines().next().unwrap_or_default().trim_end_matches('.');
    let message = if summary.is_empty() {
        format!("Google answered with status {}", seen.status)
    } else {
        format!("Google answered with status {}: {}", seen.status, quoted_words(summary))
    };
    let missing = || Error::new(ErrorKind::NotFound, format!("{} has no such item", service.name));
    let signs = RefusalSigns {
        provider: "google",
        stage: RefusalStage::Call,
        number: None,
        words: [reason, ""],
        description: summary,
    };
    match seen.status {
        429 => Error::new(ErrorKind::RateLimited(seen.retry_after), message),
        // Gmail reports some exceeded rates as 403.
        403 if limited => Error::new(ErrorKind::RateLimited(seen.retry_after), message),
        400 | 403 if let Some(known) = known_refusal(&signs) => {
            let kind = match known.end {
                RefusalMeaning::Withdrawn => ErrorKind::Auth,
                _ => ErrorKind::Provider(seen.status),
            };
            let next = known.next.replace("{api}", &enabling(service, summary));
            Error::new(kind, known.why).next(next)
        }
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
        // Gmail's answer to ids of another form.
        400 if summary.starts_with("Invalid id") => missing(),
        // Calendar answers deletions of deleted events so. A 410 with any other reason is an
        // expired sync token.
        410 if reason == "deleted" => missing(),
        412 => Error::new(ErrorKind::Conflict, "it was changed meanwhile")
            .next("read it again, and repeat the change if it still fits"),
        status => Error::new(ErrorKind::Provider(status), message),
    }
}
