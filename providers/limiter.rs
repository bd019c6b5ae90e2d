//! Limits the rate of calls to one account: how many run at once, when they wait, and when they are
//! retried.
//!
//! Every read goes through [`RateLimiter::read`]: it limits the calls in flight, holds them all
//! back if the provider throttles, retries temporary errors, and renews a refused token once. Every
//! write goes through [`RateLimiter::write`], which repeats only calls that the provider has
//! certainly not carried out. No provider is known here; the callers interpret responses.

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

/// The maximum wait for one response. A call that took this long is not repeated, because the user
/// is waiting.
const PATIENCE: Duration = Duration::from_secs(45);
/// The maximum number of attempts at one call.
const ATTEMPTS: u32 = 5;
/// The maximum time for which a response can hold an account back. A service that requests more is
/// broken or hostile.
const MAX_PAUSE: Duration = Duration::from_hours(24);
/// The maximum wait before another attempt. If the provider requests a longer one, the error is
/// returned instead.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Awaits the response to a request, counting and tracing it.
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
    /// Set while a change is rehearsed; true once its first write was reached.
    static REHEARSED: Cell<bool>;
}

/// Runs a change up to its first write, which is not made.
///
/// # Errors
/// The error of the change, if it failed before its first write.
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

/// Stops the write of a rehearsed change.
fn in_earnest() -> Result<()> {
    match REHEARSED.try_with(|reached| reached.set(true)) {
        Ok(()) => Err(Error::new(ErrorKind::Internal, "a rehearsal ends here")),
        Err(_) => Ok(()),
    }
}

/// The rate limiter of one account's calls.
pub struct RateLimiter {
    tokens: TokenSource,
    /// The provider's name in commands.
    provider: &'static str,
    title: &'static str,
    /// The way to sign in again.
    sign_in: String,
    in_flight: Semaphore,
    share: UpstreamShare,
    /// The time for which the effect of a write is looked up after its response was lost.
    look: Duration,
    /// The wait before the second attempt.
    retry: Duration,
    clock: Clock,
    /// No call starts before this instant, because a response requested a wait.
    quiet_until: Mutex<Option<Instant>>,
}

impl RateLimiter {
    /// Creates the limiter of an account with these tokens, which allows `in_flight` calls at once.
    /// `provider` is the name in commands, `title` the name for people.
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
            sign_in: services.sign_in(provider),
            in_flight: Semaphore::new(in_flight),
            share: services.share.clone(),
            look: services.look,
            retry: services.retry,
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

    /// Returns the share of the process's requests that this account uses.
    pub fn share(&self) -> &UpstreamShare {
        &self.share
    }

    /// Makes a call that only reads.
    ///
    /// `make` makes one attempt with the given access token, and reports errors as
    /// [`ErrorKind::RateLimited`], [`ErrorKind::Network`] or [`ErrorKind::Provider`] with the status. Temporary
    /// errors are retried; others are final.
    pub async fn read<T, F>(&self, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        self.read_weighted(1, make).await
    }

    /// Makes a call that writes.
    ///
    /// It is repeated only after throttling, or with a new token after a 401, because the provider
    /// has not carried it out then.
    pub async fn write<T, F>(&self, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        self.write_within(PATIENCE, make).await
    }

    /// Writes like [`RateLimiter::write`] with a longer time limit, for large requests. The usual
    /// limit is the minimum.
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

    /// Writes like [`RateLimiter::write`], for a call that the provider carries out as `weight`
    /// calls at once.
    pub async fn write_weighted<T, F>(&self, weight: u32, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        in_earnest()?;
        progress::begin_write()?;
        self.attempts(weight, PATIENCE, is_rate_limited, make).await
    }

    /// Makes a call once, whatever the response. Only an invalid token is replaced, because the
    /// call was not carried out then.
    pub async fn send_once<T, F>(&self, patience: Duration, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        in_earnest()?;
        progress::begin_write()?;
        self.attempts(1, patience.max(PATIENCE), |_| false, make).await
    }

    /// Looks up the effect of a write that was interrupted with `error`, repeatedly until `look`
    /// finds it: services may carry out a request seconds after its connection broke. Errors
    /// without doubt about the outcome are returned unchanged.
    ///
    /// # Errors
    /// `error`, if no effect was found in time. The write may still be carried out later, so it
    /// stays in doubt.
    pub async fn settle<T, F>(&self, error: Error, look: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<Option<T>>>,
    {
        if !error.is_open() {
            return Err(error);
        }
        // Errors of a lookup count as not found yet.
        let found = || async { look().await.ok().flatten() };
        Box::pin(look_for(self.look, found)).await.ok_or(error)
    }

    /// Reads like [`RateLimiter::read`], for a call that the provider carries out as `weight` calls
    /// at once, at most as many as it allows.
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
            // Requested for every attempt, because the token may expire during a wait.
            let token = self.tokens.bearer().await?;
            // Boxed, because every surrounding future would otherwise contain it.
            let request = Box::pin(make(token.clone()));
            let error = match self.once(weight, patience, request).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            // The call was refused before anything was done, so even a write may be repeated.
            if error.kind() == ErrorKind::Provider(401) && !refreshed {
                refreshed = true;
                self.tokens.refreshed_after_401(&token).await?;
                continue;
            }
            if let ErrorKind::RateLimited(after) = error.kind() {
                // All calls of the account wait.
                self.pause_for(after.unwrap_or_else(|| self.backoff(attempt)));
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
        // Read after the permit was acquired: another call may have been throttled meanwhile.
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
        // Acquired last, so that a throttled account does not hold back others.
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

    /// Holds back every call of the account.
    pub fn pause_for(&self, wait: Duration) {
        let until = Instant::now() + wait.min(MAX_PAUSE);
        let mut quiet = self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner);
        if quiet.is_none_or(|already| already < until) {
            *quiet = Some(until);
        }
    }

    /// Returns the wait after the failed attempt number `attempt` (from 1) before a repetition;
    /// `None` if another attempt is pointless.
    pub fn wait(&self, attempt: u32, error: &Error) -> Option<Duration> {
        let wait = match error.kind() {
            ErrorKind::RateLimited(after) => after.unwrap_or_else(|| self.backoff(attempt)),
            ErrorKind::Network | ErrorKind::Provider(500..=599) => self.backoff(attempt),
            // Timeouts are not retried either: they have used up the user's patience.
            _ => return None,
        };
        (attempt < ATTEMPTS && wait <= MAX_WAIT).then_some(wait)
    }

    /// Adds the next step to an error that is final here.
    pub fn advise(&self, error: Error) -> Error {
        if let Some(next) = error.next_step() {
            // The table of refusals leaves open how to sign in.
            let next = next.replace("run {add}", &self.sign_in);
            return error.next(next);
        }
        match error.kind() {
            ErrorKind::Provider(401) => Error::new(
                ErrorKind::Auth,
                format!("{} rejects this account's sign-in", self.title),
            )
            .next(self.sign_in.clone()),
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

    /// Returns the wait before the next attempt, which doubles with each, plus up to half of it at
    /// random, so that callers do not retry in step.
    fn backoff(&self, attempt: u32) -> Duration {
        let base = self.retry * 2_u32.saturating_pow(attempt.saturating_sub(1));
        let mut random = [0_u8; 1];
        let jitter = match getrandom::fill(&mut random) {
            Ok(()) => u32::from(random[0]),
            Err(_) => 0,
        };
        base + base * jitter / 512
    }
}

/// Returns true for an error because of too many calls.
fn is_rate_limited(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::RateLimited(_))
}

/// The maximum wait that is passed on; more could not be planned with.
const DAY: Duration = Duration::from_hours(24);

/// Reads `Retry-After` (RFC 9110, 10.2.3), in seconds or as a date; at most a day.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds).min(DAY));
    }
    let until: Zoned = jiff::fmt::rfc2822::parse(value).ok()?;
    let seconds = until.timestamp().as_second() - now.as_second();
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)).min(DAY))
}
