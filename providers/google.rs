//! What the Google adapters share: calling the generated client safely.
//!
//! The generated client has no timeout, loses status and `Retry-After` unless a
//! delegate keeps them, and decodes an answer whole or not at all.
//! [`Google::call`] adds what is missing: a limit on calls in flight, waiting
//! when told to, one retry with a fresh token, and errors in our words.
//! Answers are read as plain JSON, because the generated types drop a whole
//! message for one part with unpadded base64.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use google_apis_common::{Delegate, GetToken, Response, Retry};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::accounts::TokenSource;
use crate::error::{Error, Kind, Result};

/// What a sign-in asks Google for: to read mail, and nothing else.
pub const SCOPES: &[&str] = &["https://www.googleapis.com/auth/gmail.readonly"];

/// Calls of one account in flight at once. Gmail throttles bursts of 100 and
/// bears 25.
pub const IN_FLIGHT: usize = 25;
/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Attempts at one call, the first included.
const ATTEMPTS: u32 = 5;
/// Longest single wait before another attempt; a provider that asks for more
/// gets its wish told to the caller instead.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// What a generated call answers with.
pub type Answer<T> = google_apis_common::Result<(Response, T)>;

/// One account's way to Google.
pub struct Google {
    tokens: TokenSource,
    in_flight: Semaphore,
    /// Nobody starts a call before this instant: the last answer said to wait.
    quiet_until: Mutex<Option<Instant>>,
}

/// Hands our tokens to the generated client, which asks before every request.
#[derive(Clone)]
pub struct Bearer(TokenSource);

impl GetToken for Bearer {
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

/// Keeps what the generated client would drop of a failed answer. Clones share
/// what was seen, because the call owns one while it runs.
#[derive(Debug, Clone, Default)]
pub struct Watch(Arc<Mutex<Seen>>);

/// A failed answer's status and how long it said to wait.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    status: u16,
    retry_after: Option<Duration>,
}

impl Watch {
    fn seen(&self) -> Seen {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Delegate for Watch {
    fn http_failure(&mut self, response: &Response, _: Option<&Value>) -> Retry {
        let retry_after = response
            .headers()
            .get(hyper::header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.trim().parse().ok())
            .map(Duration::from_secs);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Seen {
            status: response.status().as_u16(),
            retry_after,
        };
        Retry::Abort
    }
}

impl Google {
    /// A way to Google with the tokens of one account.
    pub fn new(tokens: TokenSource) -> Self {
        Self {
            tokens,
            in_flight: Semaphore::new(IN_FLIGHT),
            quiet_until: Mutex::new(None),
        }
    }

    /// The token source in the form that the generated hub takes.
    pub fn bearer(&self) -> Bearer {
        Bearer(self.tokens.clone())
    }

    /// Carries out a call that only reads, and answers with its JSON.
    ///
    /// `make` builds the call anew for every attempt.
    pub async fn call<T, F>(&self, make: impl Fn(Watch) -> F) -> Result<Value>
    where
        F: Future<Output = Answer<T>>,
    {
        let mut attempt = 0;
        let mut refreshed = false;
        loop {
            attempt += 1;
            // The token that the call is going to use, to say which one was refused.
            let token = self.tokens.bearer().await?;
            let error = match self.once(&make).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            if error.kind() == Kind::Provider(401) && !refreshed {
                refreshed = true;
                self.tokens.refreshed_after_401(&token).await?;
                continue;
            }
            let wait = match error.kind() {
                Kind::RateLimited(told) => {
                    let wait = told.unwrap_or_else(|| backoff(attempt));
                    self.hush(wait);
                    wait
                }
                Kind::Network | Kind::Timeout | Kind::Provider(500..=599) => backoff(attempt),
                _ => return Err(advise(error)),
            };
            if attempt == ATTEMPTS || wait > LONGEST_WAIT {
                return Err(advise(error));
            }
            tokio::time::sleep(wait).await;
        }
    }

    async fn once<T, F>(&self, make: impl Fn(Watch) -> F) -> Result<Value>
    where
        F: Future<Output = Answer<T>>,
    {
        let _place = self.in_flight.acquire().await.map_err(|_| closed())?;
        let quiet = *self
            .quiet_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = quiet {
            let wait = until.saturating_duration_since(Instant::now());
            if wait > LONGEST_WAIT {
                return Err(Error::new(
                    Kind::RateLimited(Some(wait)),
                    "Google asked for no calls for a while",
                ));
            }
            tokio::time::sleep_until(until).await;
        }
        let watch = Watch::default();
        let answer = tokio::time::timeout(PATIENCE, make(watch.clone()))
            .await
            .map_err(|_| {
                Error::new(
                    Kind::Timeout,
                    format!(
                        "Google did not answer within {} seconds",
                        PATIENCE.as_secs()
                    ),
                )
            })?;
        match answer {
            Ok((response, _)) => match response.into_body().collect().await {
                Ok(body) => json(&body.to_bytes()),
                Err(_) => Err(broken_off()),
            },
            Err(error) => recover(error, watch.seen()),
        }
    }

    /// Keeps every call of the account waiting for a while.
    fn hush(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut quiet = self
            .quiet_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if quiet.is_none_or(|already| already < until) {
            *quiet = Some(until);
        }
    }
}

/// Reads what the generated client could not decode, or says what went wrong.
fn recover(error: google_apis_common::Error, seen: Seen) -> Result<Value> {
    use google_apis_common::Error as Generated;
    match error {
        // The client decodes a body that broke off as an empty one.
        Generated::JsonDecodeError(body, _) if body.is_empty() => Err(broken_off()),
        Generated::JsonDecodeError(body, _) => json(body.as_bytes()),
        Generated::BadRequest(body) => Err(refused(seen, &body)),
        Generated::Failure(_) => Err(refused(seen, &Value::Null)),
        Generated::MissingToken(cause) => Err(match cause.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(_) => Error::new(Kind::Auth, "no access token could be had"),
        }),
        Generated::HttpError(cause) => Err(Error::new(
            Kind::Network,
            if cause.is_connect() {
                "Google could not be reached"
            } else {
                "the connection to Google broke"
            },
        )),
        Generated::Io(_) => Err(broken_off()),
        other => Err(Error::new(
            Kind::Internal,
            format!("the Google client refused our call: {other}"),
        )),
    }
}

fn json(body: &[u8]) -> Result<Value> {
    serde_json::from_slice(body).map_err(|error| {
        if error.is_eof() {
            broken_off()
        } else {
            Error::new(
                Kind::Provider(502),
                "Google answered with something that is not JSON",
            )
        }
    })
}

fn broken_off() -> Error {
    Error::new(Kind::Network, "Google's answer broke off")
}

fn closed() -> Error {
    Error::new(Kind::Internal, "the account's call limit is gone")
}

/// Google's error answer, in our kinds.
fn refused(seen: Seen, body: &Value) -> Error {
    let error = body.get("error").unwrap_or(&Value::Null);
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let reason = error
        .pointer("/errors/0/reason")
        .and_then(Value::as_str)
        .unwrap_or_else(|| text("status"));
    let limited = matches!(
        reason,
        "rateLimitExceeded" | "userRateLimitExceeded" | "quotaExceeded" | "RESOURCE_EXHAUSTED"
    );
    // The message is Google's own; it is one line and holds no mail.
    let said: String = text("message").chars().take(200).collect();
    let said = said
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches('.');
    let message = if said.is_empty() {
        format!("Google answered with status {}", seen.status)
    } else {
        format!("Google answered with status {}: {said}", seen.status)
    };
    match seen.status {
        429 => Error::new(Kind::RateLimited(seen.retry_after), message),
        403 if limited => Error::new(Kind::RateLimited(seen.retry_after), message),
        403 if matches!(
            reason,
            "insufficientPermissions" | "ACCESS_TOKEN_SCOPE_INSUFFICIENT"
        ) =>
        {
            Error::new(Kind::Auth, "the sign-in does not allow reading mail")
                .next("run `daysheet account add google` and leave the mail permission ticked")
        }
        403 if matches!(reason, "accessNotConfigured" | "SERVICE_DISABLED") => Error::new(
            Kind::Provider(403),
            "the Gmail API is not enabled in the Google Cloud project of the client id",
        )
        .next("enable it under APIs & Services, Library, and try again in a minute"),
        404 => Error::new(Kind::NotFound, "Gmail has no such item"),
        400 if said.starts_with("Invalid id") => {
            Error::new(Kind::NotFound, "Gmail has no such item")
        }
        status => Error::new(Kind::Provider(status), message),
    }
}

/// Adds the next step for errors that are final here.
fn advise(error: Error) -> Error {
    if error.next_step().is_some() {
        return error;
    }
    match error.kind() {
        Kind::Provider(401) => Error::new(Kind::Auth, "Google refuses the sign-in of this account")
            .next("run `daysheet account add google`"),
        Kind::RateLimited(Some(wait)) => {
            let seconds = wait.as_secs();
            error.next(format!(
                "wait {seconds} s and try again, or ask for fewer items"
            ))
        }
        Kind::RateLimited(None) => error.next("try again in a minute, or ask for fewer items"),
        Kind::Network | Kind::Timeout => error.next("check the connection and try again"),
        Kind::Provider(500..=599) => error.next("try again in a minute"),
        Kind::NotFound => error.next("it may have been deleted; search again for its handle"),
        _ => error,
    }
}

/// 0.25 s, 0.5 s, 1 s, … plus up to a half, so that callers do not march in step.
fn backoff(attempt: u32) -> Duration {
    let base = Duration::from_millis(250) * 2_u32.saturating_pow(attempt.saturating_sub(1));
    let mut random = [0_u8; 1];
    let jitter = match getrandom::fill(&mut random) {
        Ok(()) => u32::from(random[0]),
        Err(_) => 0,
    };
    base + base * jitter / 512
}
