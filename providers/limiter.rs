//! Limits the pace of calls to one account: how many at once, when to wait, when to retry.
//!
//! Every read goes through [`RateLimiter::read`]: it limits the calls in flight, holds all of them back
//! if the provider throttles, retries temporary errors, and gets one new token if one was
//! refused. Every write goes through [`RateLimiter::write`], which repeats only what the provider
//! certainly has not carried out. It knows no provider; the callers interpret responses.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use daysheet_core::call::doubt::look_for;
use daysheet_core::call::progress;
use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::upstream::{CountKind, UpstreamShare, outcome};
use daysheet_core::provider::{ServiceSettings, TokenSource};
use jiff::{Timestamp, Zoned};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::Instrument;
use tracing::field::Empty;

/// The maximum wait for one response. A call that took this long is not repeated,
/// because the user is waiting.
const PATIENCE: Duration = Duration::from_secs(45);
/// Attempts at one call, the first included.
const ATTEMPTS: u32 = 5;
/// The maximum time that a response can hold an account back; a service that requests
/// more is broken, or hostile.
const MAX_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum wait before another attempt; a longer one that the provider requests is
/// reported to the caller instead.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Awaits the response to a request to a provider, which is counted and traced.
pub async fn counted<T>(
    share: &UpstreamShare,
    provider: &'static str,
    response: impl Future<Output = Result<T>>,
) -> Result<T> {
    let span = tracing::info_span!(
        target: "telemetry", "upstream",
        otel.name = provider, otel.kind = "client", otel.status_code = Empty, outcome = Empty
    );
    let response = response.instrument(span.clone()).await;
    let outcome = outcome(&response);
    span.record("outcome", outcome);
    if response.is_err() {
        span.record("otel.status_code", "ERROR");
    }
    share.upstream().count(CountKind::Request, provider, outcome);
    response
}

tokio::task_local! {
    /// Present while a change is rehearsed: true once its first write was reached.
    static REHEARSED: Cell<bool>;
}

/// Carries a change out up to its first write, and does not make that one.
///
/// # Errors
/// Whatever the change is refused for before that.
pub async fn rehearse<T>(change: impl Future<Output = Result<T>>) -> Result<()> {
    let until = async {
        let done = change.await;
        (done, REHEARSED.with(Cell::get))
    };
    match REHEARSED.scope(Cell::new(false), until).await {
        (_, true) => Ok(()),
        (done, false) => done.map(drop),
    }
}

/// Stops a change that is only rehearsed.
fn in_earnest() -> Result<()> {
    match REHEARSED.try_with(|reached| reached.set(true)) {
        Ok(()) => Err(Error::new(ErrorKind::Internal, "a rehearsal ends here")),
        Err(_) => Ok(()),
    }
}

/// The rate limiter of one account's calls.
pub struct RateLimiter {
    tokens: TokenSource,
    /// The provider's name in commands, and for people.
    provider: &'static str,
    title: &'static str,
    in_flight: Semaphore,
    share: UpstreamShare,
    /// How long the effect of a write is looked for if its response was lost.
    look: Duration,
    clock: Clock,
    /// No call starts before this instant, because the last response said to wait.
    quiet_until: Mutex<Option<Instant>>,
}

impl RateLimiter {
    /// Creates the pace of the account with these tokens, with at most `in_flight`
    /// calls at once. `provider` is the name in commands, `title` that for people.
    pub fn new(
        tokens: TokenSource,
        provider: &'static str,
        title: &'static str,
        in_flight: usize,
        services: &ServiceSettings,
    ) -> Self {
        Self {
            tokens,
            provider,
            title,
            in_flight: Semaphore::new(in_flight),
            share: services.share.clone(),
            look: services.look,
            clock: services.clock.clone(),
            quiet_until: Mutex::new(None),
        }
    }

    /// Returns the source of the account's tokens.
    pub fn tokens(&self) -> &TokenSource {
        &self.tokens
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the share of the process's requests that the account's belong to.
    pub fn share(&self) -> &UpstreamShare {
        &self.share
    }

    /// Makes a call that only reads.
    ///
    /// `make` makes one attempt with the given access token, and reports errors as
    /// [`ErrorKind::RateLimited`], [`ErrorKind::Network`] or [`ErrorKind::Provider`] with the status;
    /// temporary ones are retried. Other errors are final.
    pub async fn read<T, F>(&self, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        self.read_weighted(1, make).await
    }

    /// Makes a call that writes.
    ///
    /// As [`RateLimiter::read`], but it is repeated only after a response that it was
    /// throttled, or that its token is invalid: then nothing has been done.
    pub async fn write<T, F>(&self, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        self.write_within(PATIENCE, make).await
    }

    /// Makes a call as [`RateLimiter::write`] does with another time limit, for large
    /// requests; never less than the usual one.
    pub async fn write_within<T, F>(
        &self,
        patience: Duration,
        make: impl Fn(String) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        in_earnest()?;
        progress::begin_write()?;
        self.attempts(1, patience.max(PATIENCE), is_rate_limited, make).await
    }

    /// Makes a call as [`RateLimiter::write`] does, for one that the provider carries out as
    /// `weight` calls at once.
    pub async fn write_weighted<T, F>(&self, weight: u32, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        in_earnest()?;
        progress::begin_write()?;
        self.attempts(weight, PATIENCE, is_rate_limited, make).await
    }

    /// Makes a call once, whatever the response: only an invalid token is replaced,
    /// because then nothing has been done.
    pub async fn send_once<T, F>(&self, patience: Duration, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        in_earnest()?;
        progress::begin_write()?;
        self.attempts(1, patience.max(PATIENCE), |_| false, make).await
    }

    /// Looks up the effect of a write that was interrupted with `error`, repeatedly
    /// until `look` finds it: a service may carry a request out seconds after its
    /// connection broke. Errors that leave nothing open are returned unchanged.
    ///
    /// # Errors
    /// `error`, if it was not found in time. The write may still be carried out later,
    /// so it stays open.
    pub async fn settle<T, F>(&self, error: Error, look: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<Option<T>>>,
    {
        if !error.is_open() {
            return Err(error);
        }
        let found = || async { look().await.ok().flatten() };
        Box::pin(look_for(self.look, found)).await.ok_or(error)
    }

    /// Makes a call as [`RateLimiter::read`] does, for one that the provider carries out as
    /// `weight` calls at once; no more than it allows.
    pub async fn read_weighted<T, F>(&self, weight: u32, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        self.attempts(weight, PATIENCE, |_| true, make).await
    }

    async fn attempts<T, F>(
        &self,
        weight: u32,
        patience: Duration,
        again: fn(&Error) -> bool,
        make: impl Fn(String) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let mut attempt = 0;
        let mut refreshed = false;
        loop {
            attempt += 1;
            let token = self.tokens.bearer().await?;
            // In a box: the futures around it would each have room for it.
            let request = Box::pin(make(token.clone()));
            let error = match self.once(weight, patience, request).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            // Refused before anything was done, so even a write may be repeated with a new token.
            if error.kind() == ErrorKind::Provider(401) && !refreshed {
                refreshed = true;
                self.tokens.refreshed_after_401(&token).await?;
                continue;
            }
            if let ErrorKind::RateLimited(after) = error.kind() {
                // All calls of the account wait, not only this one.
                self.pause_for(after.unwrap_or_else(|| backoff(attempt)));
            }
            match self.wait(attempt, &error).filter(|_| again(&error)) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(self.advise(error)),
            }
        }
    }

    async fn once<T>(
        &self,
        weight: u32,
        patience: Duration,
        attempt: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let _places = self
            .in_flight
            .acquire_many(weight)
            .await
            .map_err(|_| Error::new(ErrorKind::Internal, "the account's call limit is gone"))?;
        let quiet = *self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = quiet {
            let wait = until.saturating_duration_since(Instant::now());
            if wait > MAX_WAIT {
                return Err(Error::new(
                    ErrorKind::RateLimited(Some(wait)),
                    format!("{} asked to pause calls for a while", self.title),
                ));
            }
            tokio::time::sleep_until(until).await;
        }
        // Last, so that an account that is held back holds back no other.
        let _place = self.share.place().await;
        let response = async {
            tokio::time::timeout(patience, attempt).await.unwrap_or_else(|_elapsed| {
                Err(Error::new(
                    ErrorKind::Timeout,
                    format!("{} did not answer within {} seconds", self.title, patience.as_secs()),
                ))
            })
        };
        counted(&self.share, self.provider, response).await
    }

    /// Holds back every call of the account for a while.
    pub fn pause_for(&self, wait: Duration) {
        let until = Instant::now() + wait.min(MAX_PAUSE);
        let mut quiet = self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner);
        if quiet.is_none_or(|already| already < until) {
            *quiet = Some(until);
        }
    }

    /// Returns how long to wait after the failed attempt number `attempt` (from 1) of a
    /// call that the caller repeats; `None` if another attempt is pointless.
    pub fn wait(&self, attempt: u32, error: &Error) -> Option<Duration> {
        let wait = match error.kind() {
            ErrorKind::RateLimited(after) => after.unwrap_or_else(|| backoff(attempt)),
            ErrorKind::Network | ErrorKind::Provider(500..=599) => backoff(attempt),
            _ => return None,
        };
        (attempt < ATTEMPTS && wait <= MAX_WAIT).then_some(wait)
    }

    /// Adds the next step for errors that are final here.
    pub fn advise(&self, error: Error) -> Error {
        if error.next_step().is_some() {
            return error;
        }
        match error.kind() {
            ErrorKind::Provider(401) => Error::new(
                ErrorKind::Auth,
                format!("{} rejects this account's sign-in", self.title),
            )
            .next(format!("run `daysheet account add {}`", self.provider)),
            ErrorKind::RateLimited(Some(wait)) if wait >= DAY => {
                error.next("try again in a day or later, or ask for fewer items")
            }
            ErrorKind::RateLimited(Some(wait)) => {
                let seconds = wait.as_secs();
                error.next(format!("wait {seconds} s and try again, or ask for fewer items"))
            }
            ErrorKind::RateLimited(None) => {
                error.next("try again in a minute, or ask for fewer items")
            }
            ErrorKind::Network | ErrorKind::Timeout => {
                error.next("check the connection and try again")
            }
            ErrorKind::Provider(500..=599) => error.next("try again in a minute"),
            ErrorKind::NotFound => {
                error.next("it may have been deleted; search again for its handle")
            }
            _ => error,
        }
    }
}

/// Returns true for a refusal because of too many calls.
fn is_rate_limited(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::RateLimited(_))
}

/// Returns 0.25 s, 0.5 s, 1 s, … plus up to a half, so that callers do not retry in step.
fn backoff(attempt: u32) -> Duration {
    let base = Duration::from_millis(250) * 2_u32.saturating_pow(attempt.saturating_sub(1));
    let mut random = [0_u8; 1];
    let jitter = match getrandom::fill(&mut random) {
        Ok(()) => u32::from(random[0]),
        Err(_) => 0,
    };
    base + base * jitter / 512
}

/// The longest time to wait that is passed on: more is no plan.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads `Retry-After` (RFC 9110, 10.2.3): seconds, or a date to wait for; at most a day.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds).min(DAY));
    }
    let until: Zoned = jiff::fmt::rfc2822::parse(value).ok()?;
    let seconds = until.timestamp().as_second() - now.as_second();
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)).min(DAY))
}
