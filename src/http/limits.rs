//! The limits of each person on a shared server: calls at once, calls per minute, tokens per day,
//! and memory for request bodies.
//!
//! Calls are counted in the memory of this instance, so every instance allows as many. Tokens are
//! counted in the store, for all instances together. Requests to providers are shared out by the
//! core (`provider/upstream.rs`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, ErrorKind, Result};
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};
use tokio::sync::Semaphore;

use super::metrics::{CallLabels, ServiceMetrics};
use crate::config;
use crate::pipeline::ToolAnswer;
use crate::server::{RequestPermit, RequestWatch};
use crate::store::Store;

/// The time for which a call waits for another one to end.
const PATIENCE: Duration = Duration::from_secs(20);
/// The number of calls that may wait, per call that may run.
const WAITING: usize = 4;
/// The number of people from which on those without state worth keeping are dropped.
const MANY: usize = 1_000;
const MINUTE: f64 = 60.0;
/// The maximum number of a person's bodies that arrive at the same time.
const ARRIVING: usize = 32;
/// The maximum number of sign-in forms that arrive at the same time, from anyone.
const SIGN_INS: usize = 64;
/// The size up to which a body needs no reserved memory, in KiB. Nearly all calls are shorter, so
/// other people's long bodies do not delay them.
const SHORT: usize = 64;
/// The memory for longer bodies of one person and of all people, in KiB.
const ROOM: usize = 16 << 10;
const ROOM_OF_ALL: usize = 64 << 10;

/// The limits of all people.
pub struct RequestLimits {
    limits: config::PersonLimits,
    metrics: Arc<ServiceMetrics>,
    clock: Clock,
    patience: Duration,
    people: Mutex<HashMap<String, Arc<PersonUse>>>,
    /// Permits for sign-in forms that arrive.
    sign_ins: Arc<Semaphore>,
    /// Permits for long bodies of all people, one per KiB.
    room: Arc<Semaphore>,
}

/// One person's current use.
struct PersonUse {
    places: Arc<Semaphore>,
    /// Permits to wait for a place.
    queue: Semaphore,
    /// Permits to read a document at the reader's own speed.
    readers: Arc<Semaphore>,
    /// Permits for bodies that arrive.
    arriving: Arc<Semaphore>,
    /// Permits for long bodies, one per KiB.
    room: Arc<Semaphore>,
    bucket: Mutex<TokenBucket>,
}

/// The permits for a request's body.
pub struct BodyPermit {
    /// Held while the body arrives.
    pub arriving: RequestPermit,
    /// Held while the body is in memory, until its request has been answered.
    pub room: RequestPermit,
}

/// A refusal by one of the limits.
struct LimitRefusal {
    /// The name of the limit in the metrics.
    limit: &'static str,
    /// The time after which a call can succeed.
    wait: Duration,
    /// The reason, as a clause.
    what: String,
    /// Advice that continues the sentence about the wait; may be empty.
    advice: &'static str,
}

/// A token bucket of calls: refilled steadily, up to the number that a minute allows.
#[derive(Debug)]
pub struct TokenBucket {
    calls: f64,
    since: Instant,
}

impl TokenBucket {
    /// Creates a full bucket.
    pub fn full(most: usize, now: Instant) -> Self {
        Self { calls: most as f64, since: now }
    }

    /// Takes one call out of a bucket of `most` per minute.
    ///
    /// # Errors
    /// The time until the next call is possible, if the bucket is empty.
    pub fn take_call(&mut self, most: usize, now: Instant) -> std::result::Result<(), Duration> {
        let most = most as f64;
        let passed = now.saturating_duration_since(self.since).as_secs_f64();
        self.calls = (self.calls + passed * most / MINUTE).min(most);
        self.since = now;
        if self.calls < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - self.calls) * MINUTE / most));
        }
        self.calls -= 1.0;
        Ok(())
    }

    /// Returns true if the bucket is full again.
    fn is_full(&self, most: usize, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.since).as_secs_f64();
        let most = most as f64;
        self.calls + passed * most / MINUTE >= most
    }
}

impl RequestLimits {
    /// Creates the limits of the settings; refusals are counted in `metrics`.
    pub fn new(limits: config::PersonLimits, metrics: Arc<ServiceMetrics>, clock: Clock) -> Self {
        Self {
            limits,
            metrics,
            clock,
            patience: PATIENCE,
            people: Mutex::default(),
            sign_ins: Arc::new(Semaphore::new(SIGN_INS)),
            room: Arc::new(Semaphore::new(ROOM_OF_ALL)),
        }
    }

    /// Sets the time for which a call waits for another one to end.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Returns the watch over the person who owns `store`.
    pub fn watch_for(self: &Arc<Self>, store: Store) -> Arc<dyn RequestWatch> {
        let person = self.person(store.owner());
        let tokens_per_day = self.limits.tokens_per_day;
        Arc::new(WatchedPerson { limits: self.clone(), person, store, tokens_per_day })
    }

    /// Returns the watch over the pages that a person opens. Pages have the same limits as calls,
    /// but are counted separately, so that people can stop a program there after it has exhausted
    /// its limits.
    pub fn of_pages(self: &Arc<Self>, store: Store) -> Arc<dyn RequestWatch> {
        let person = self.person(&format!("pages of {}", store.owner()));
        Arc::new(WatchedPerson { limits: self.clone(), person, store, tokens_per_day: 0 })
    }

    /// Waits until no call of a person runs at this instance, and prevents further ones while the
    /// permit is held.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if running calls take too long.
    pub async fn alone(&self, owner: &str) -> Result<RequestPermit> {
        let person = self.person(owner);
        let all = u32::try_from(self.limits.calls_at_once).unwrap_or(u32::MAX);
        // The semaphore is fair: calls that arrive meanwhile wait behind this request for all
        // permits.
        let places = person.places.clone().acquire_many_owned(all);
        match tokio::time::timeout(self.patience, places).await {
            Ok(places) => Ok(Box::new((places.ok(), person))),
            Err(_elapsed) => {
                Err(Error::new(ErrorKind::Conflict, "calls of your programs are still running")
                    .next("nothing was done; try again when they have ended"))
            }
        }
    }

    /// Reserves memory for the body of a person's request, before it is read. `length` is its
    /// maximum in bytes. A long body waits until the person's other ones have been answered.
    ///
    /// # Errors
    /// [`ErrorKind::RateLimited`] if too many bodies are arriving, or if the memory stays in use for too
    /// long.
    pub async fn body(&self, owner: &str, length: usize) -> Result<BodyPermit> {
        let person = self.person(owner);
        let busy = || {
            let what = "the requests that you have sent are still being read".to_owned();
            self.refuse(LimitRefusal {
                limit: "bodies_at_once",
                wait: Duration::from_secs(1),
                what,
                advice: ", with fewer at once",
            })
        };
        let Ok(arriving) = person.arriving.clone().try_acquire_owned() else {
            return Err(busy());
        };
        let kib = length.div_ceil(1 << 10);
        if kib <= SHORT {
            return Ok(BodyPermit { arriving: Box::new(arriving), room: Box::new(()) });
        }
        let kib = u32::try_from(kib.min(ROOM)).unwrap_or(u32::MAX);
        let room = async {
            // One's own permits come first, so that waiting for them holds nothing that other
            // people need.
            let own = person.room.clone().acquire_many_owned(kib).await.ok();
            (own, self.room.clone().acquire_many_owned(kib).await.ok())
        };
        let room = tokio::time::timeout(self.patience, room).await.map_err(|_elapsed| busy())?;
        Ok(BodyPermit { arriving: Box::new(arriving), room: Box::new(room) })
    }

    /// Admits a sign-in form, which anyone may send.
    ///
    /// # Errors
    /// [`ErrorKind::RateLimited`] if too many are arriving.
    pub fn sign_in(&self) -> Result<RequestPermit> {
        let place = self.sign_ins.clone().try_acquire_owned();
        place.map(|place| Box::new(place) as RequestPermit).map_err(|_full| {
            let what = "too many people are signing in".to_owned();
            self.refuse(LimitRefusal {
                limit: "sign_ins_at_once",
                wait: Duration::from_secs(10),
                what,
                advice: "",
            })
        })
    }

    fn person(&self, owner: &str) -> Arc<PersonUse> {
        let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(person) = people.get(owner) {
            return person.clone();
        }
        let (most, now) = (self.limits.calls_per_minute, Instant::now());
        if people.len() >= MANY {
            people.retain(|_, person| {
                let bucket = person.bucket.lock().unwrap_or_else(PoisonError::into_inner);
                // A person in use, or with a used bucket, must not get fresh limits.
                Arc::strong_count(person) > 1 || !bucket.is_full(most, now)
            });
        }
        let person = Arc::new(PersonUse {
            places: Arc::new(Semaphore::new(self.limits.calls_at_once)),
            queue: Semaphore::new(self.limits.calls_at_once.saturating_mul(WAITING)),
            readers: Arc::new(Semaphore::new(self.limits.calls_at_once)),
            arriving: Arc::new(Semaphore::new(ARRIVING)),
            room: Arc::new(Semaphore::new(ROOM)),
            bucket: Mutex::new(TokenBucket::full(most, now)),
        });
        people.insert(owner.to_owned(), person.clone());
        person
    }

    /// Counts a refusal, and returns the error of its limit.
    fn refuse(&self, refusal: LimitRefusal) -> Error {
        let LimitRefusal { limit, wait, what, advice } = refusal;
        self.metrics.denied(limit);
        // Rounded up, so that a call after that time is never too early.
        let wait = Duration::from_secs_f64(wait.as_secs_f64().ceil().max(1.0));
        let next = format!("wait {} and call again{advice}", in_words(wait));
        Error::new(ErrorKind::RateLimited(Some(wait)), what).next(next)
    }
}

/// The watch over one person.
struct WatchedPerson {
    limits: Arc<RequestLimits>,
    person: Arc<PersonUse>,
    store: Store,
    tokens_per_day: usize,
}

impl WatchedPerson {
    /// Returns the error of too many calls at once.
    fn full(&self) -> Error {
        let what = format!("{} calls are already running", self.limits.limits.calls_at_once);
        self.limits.refuse(LimitRefusal {
            limit: "calls_at_once",
            wait: Duration::from_secs(5),
            what,
            advice: ", with fewer calls at once",
        })
    }
}

#[async_trait]
impl RequestWatch for WatchedPerson {
    async fn admit(&self) -> Result<RequestPermit> {
        let limits = self.limits.limits;
        let most = limits.calls_per_minute;
        if most > 0 {
            let mut bucket = self.person.bucket.lock().unwrap_or_else(PoisonError::into_inner);
            bucket.take_call(most, Instant::now()).map_err(|wait| {
                let what = format!("more than {most} calls within a minute");
                self.limits.refuse(LimitRefusal {
                    limit: "calls_per_minute",
                    wait,
                    what,
                    advice: "; ask for more in one call",
                })
            })?;
        }
        let most = self.tokens_per_day;
        if most > 0 {
            let now = self.limits.clock.now().to_zoned(TimeZone::UTC);
            // Checked before the call, whose own tokens are unknown until it ends.
            let used = self.store.tokens_used(now.date()).await?;
            if used >= most {
                let what =
                    format!("today's answers used {used} tokens, and {most} are allowed per day");
                return Err(self.limits.refuse(LimitRefusal {
                    limit: "tokens_per_day",
                    wait: until_tomorrow(&now),
                    what,
                    advice: ", or ask the operator of this server for more",
                }));
            }
        }
        // Only a few calls may wait; more would use up memory that other people need.
        let Ok(_waiting) = self.person.queue.try_acquire() else {
            return Err(self.full());
        };
        let place = self.person.places.clone().acquire_owned();
        match tokio::time::timeout(self.limits.patience, place).await {
            Ok(place) => Ok(Box::new((place.ok(), self.limits.metrics.running()))),
            Err(_elapsed) => Err(self.full()),
        }
    }

    fn reads(&self) -> Result<RequestPermit> {
        let place = self.person.readers.clone().try_acquire_owned();
        place.map(|place| Box::new(place) as RequestPermit).map_err(|_full| self.full())
    }

    async fn ended(&self, tool: &'static str, took: Duration, outcome: &Result<ToolAnswer>) {
        self.limits.metrics.called(tool, took, outcome);
        let Ok(answer) = outcome else {
            return;
        };
        if self.tokens_per_day > 0 {
            let today = self.limits.clock.now().to_zoned(TimeZone::UTC).date();
            // The person has the answer already, so a failure to count it is only logged.
            if let Err(error) = self.store.add_usage(today, answer.stats.tokens).await {
                tracing::warn!(%error, "the tokens of an answer were not counted");
            }
        }
    }

    fn cancelled(&self, tool: &'static str, took: Duration) {
        self.limits.metrics.timed(CallLabels { tool, outcome: "cancelled" }, took);
    }
}

/// Returns the time until the end of the day.
fn until_tomorrow(now: &Zoned) -> Duration {
    let tomorrow = now.checked_add(1.day()).and_then(|then| then.start_of_day());
    let left = tomorrow.map(|then| then.timestamp().as_second() - now.timestamp().as_second());
    Duration::from_secs(left.ok().and_then(|left| u64::try_from(left).ok()).unwrap_or(0))
}

/// Returns a time in words, in seconds, minutes or hours, rounded up.
fn in_words(wait: Duration) -> String {
    match wait.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3_600)),
    }
}
