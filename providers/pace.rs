//! The pace of calls to one account: how many at once, when to wait, when to
//! try again.
//!
//! Every read goes through [`Pace::call`]: it limits the calls in flight, keeps
//! all of them quiet when the provider said so, tries again what may pass, and
//! gets one fresh token when one was refused. Every write goes through
//! [`Pace::change`], which tries again only what the provider certainly has not
//! carried out. It knows no provider; what an answer means is decided where the
//! call is made.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{Timestamp, Zoned};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use daysheet_core::call::course;
use daysheet_core::call::doubt::look_for;
use daysheet_core::error::{Error, Kind, Result};
use daysheet_core::provider::TokenSource;

/// Longest wait for one answer. A server that took so long is not asked again:
/// somebody waits for the call.
const PATIENCE: Duration = Duration::from_secs(45);
/// Attempts at one call, the first included.
const ATTEMPTS: u32 = 5;
/// Longest time that an answer can keep an account quiet; what asks for more is
/// broken, or hostile.
const LONGEST_HUSH: Duration = Duration::from_secs(24 * 60 * 60);
/// Longest single wait before another attempt; a provider that asks for more
/// gets its wish told to the caller instead.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

tokio::task_local! {
    /// There while a change is rehearsed: true once its first call was to be made.
    static REHEARSED: Cell<bool>;
}

/// Carries out a change as far as its first call that would change something, and
/// does not make that one.
///
/// # Errors
/// What the change is refused for before.
pub async fn rehearsed<T>(change: impl Future<Output = Result<T>>) -> Result<()> {
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
        Ok(()) => Err(Error::new(Kind::Internal, "a rehearsal ends here")),
        Err(_) => Ok(()),
    }
}

/// The pace of one account's calls.
pub struct Pace {
    tokens: TokenSource,
    /// The provider's name in commands, and for people.
    provider: &'static str,
    title: &'static str,
    in_flight: Semaphore,
    /// How long a write whose answer did not come is looked for.
    look: Duration,
    /// Nobody starts a call before this instant: the last answer said to wait.
    quiet_until: Mutex<Option<Instant>>,
}

impl Pace {
    /// The pace of the account whose tokens these are, with at most `in_flight`
    /// calls at once. `provider` is the name in commands, `title` that for people;
    /// a write whose answer did not come is looked for as long as `look`.
    pub fn new(
        tokens: TokenSource,
        provider: &'static str,
        title: &'static str,
        in_flight: usize,
        look: Duration,
    ) -> Self {
        Self {
            tokens,
            provider,
            title,
            in_flight: Semaphore::new(in_flight),
            look,
            quiet_until: Mutex::new(None),
        }
    }

    /// Where the account's tokens come from.
    pub fn tokens(&self) -> &TokenSource {
        &self.tokens
    }

    /// Carries out a call that only reads.
    ///
    /// `make` makes one attempt with the access token it is given, and says
    /// what failed as [`Kind::RateLimited`], [`Kind::Network`] or
    /// [`Kind::Provider`] with the status; of these, what may pass is tried
    /// again. Other errors are final.
    pub async fn call<T, F>(&self, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        self.call_of(1, make).await
    }

    /// Carries out a call that changes something.
    ///
    /// As [`Pace::call`], but it is tried again only after an answer that it came
    /// too often, or that its token is not valid: then nothing has been done.
    pub async fn change<T, F>(&self, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        self.change_within(PATIENCE, make).await
    }

    /// [`Pace::change`] with another patience, for much that is sent; never less
    /// than the usual one.
    pub async fn change_within<T, F>(
        &self,
        patience: Duration,
        make: impl Fn(String) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        in_earnest()?;
        course::begin_write()?;
        self.attempts(1, patience.max(PATIENCE), limited, make).await
    }

    /// [`Pace::change`] for a call that the provider carries out as `weight` calls
    /// at once.
    pub async fn change_of<T, F>(&self, weight: u32, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        in_earnest()?;
        course::begin_write()?;
        self.attempts(weight, PATIENCE, limited, make).await
    }

    /// Carries out a call that is made once, whatever is answered: only a token
    /// that is not valid is got anew, because then nothing has been looked at.
    pub async fn once_only<T, F>(&self, patience: Duration, make: impl Fn(String) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        in_earnest()?;
        course::begin_write()?;
        self.attempts(1, patience.max(PATIENCE), |_| false, make).await
    }

    /// Looks for what came of a write that broke off with `error`, again and
    /// again until `look` finds it done: a service may carry a request out
    /// seconds after its connection broke. Errors that leave nothing open are
    /// returned as they are.
    ///
    /// # Errors
    /// `error`, if it was not found in time. It says nothing of whether the
    /// write will still be carried out, so it stays open.
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

    /// [`Pace::call`] for a call that the provider carries out as `weight` calls
    /// at once; no more than the pace allows.
    pub async fn call_of<T, F>(&self, weight: u32, make: impl Fn(String) -> F) -> Result<T>
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
            let error = match self.once(weight, patience, make(token.clone())).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            if error.kind() == Kind::Provider(401) && !refreshed {
                refreshed = true;
                self.tokens.refreshed_after_401(&token).await?;
                continue;
            }
            if let Kind::RateLimited(after) = error.kind() {
                self.hush(after.unwrap_or_else(|| backoff(attempt)));
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
            .map_err(|_| Error::new(Kind::Internal, "the account's call limit is gone"))?;
        let quiet = *self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = quiet {
            let wait = until.saturating_duration_since(Instant::now());
            if wait > LONGEST_WAIT {
                return Err(Error::new(
                    Kind::RateLimited(Some(wait)),
                    format!("{} asked to pause calls for a while", self.title),
                ));
            }
            tokio::time::sleep_until(until).await;
        }
        tokio::time::timeout(patience, attempt).await.unwrap_or_else(|_elapsed| {
            Err(Error::new(
                Kind::Timeout,
                format!("{} did not answer within {} seconds", self.title, patience.as_secs()),
            ))
        })
    }

    /// Keeps every call of the account waiting for a while.
    pub fn hush(&self, wait: Duration) {
        let until = Instant::now() + wait.min(LONGEST_HUSH);
        let mut quiet = self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner);
        if quiet.is_none_or(|already| already < until) {
            *quiet = Some(until);
        }
    }

    /// How long to wait after the failed attempt number `attempt` (from 1) of
    /// something that is carried out again by the caller; nothing when there is
    /// no use in it any more.
    pub fn wait(&self, attempt: u32, error: &Error) -> Option<Duration> {
        let wait = match error.kind() {
            Kind::RateLimited(after) => after.unwrap_or_else(|| backoff(attempt)),
            Kind::Network | Kind::Provider(500..=599) => backoff(attempt),
            _ => return None,
        };
        (attempt < ATTEMPTS && wait <= LONGEST_WAIT).then_some(wait)
    }

    /// Adds the next step for errors that are final here.
    pub fn advise(&self, error: Error) -> Error {
        if error.next_step().is_some() {
            return error;
        }
        match error.kind() {
            Kind::Provider(401) => {
                Error::new(Kind::Auth, format!("{} rejects this account's sign-in", self.title))
                    .next(format!("run `daysheet account add {}`", self.provider))
            }
            Kind::RateLimited(Some(wait)) => {
                let seconds = wait.as_secs();
                error.next(format!("wait {seconds} s and try again, or ask for fewer items"))
            }
            Kind::RateLimited(None) => error.next("try again in a minute, or ask for fewer items"),
            Kind::Network | Kind::Timeout => error.next("check the connection and try again"),
            Kind::Provider(500..=599) => error.next("try again in a minute"),
            Kind::NotFound => error.next("it may have been deleted; search again for its handle"),
            _ => error,
        }
    }
}

/// True for a refusal that came because there were too many calls.
fn limited(error: &Error) -> bool {
    matches!(error.kind(), Kind::RateLimited(_))
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

/// Reads `Retry-After` (RFC 9110, 10.2.3): seconds, or a date to wait for.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until: Zoned = jiff::fmt::rfc2822::parse(value).ok()?;
    let seconds = until.timestamp().as_second() - now.as_second();
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}
