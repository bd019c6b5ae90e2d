//! The current time, passed to everything that needs it.
//!
//! A program creates one [`Clock`] at startup and passes clones of it down, so that a test, a
//! sample or an example can run on any day. No other file reads the machine's clock, which
//! `tests/it/layers.rs` enforces. Durations are measured with [`Instant`](std::time::Instant),
//! which cannot be set.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;

/// A source of the current time. Clones show the same time.
#[derive(Debug, Clone)]
pub struct Clock(TimeSource);

#[derive(Debug, Clone)]
enum TimeSource {
    System,
    Manual(ManualClock),
}

impl Clock {
    /// Returns the machine's clock.
    pub const fn system() -> Self {
        Self(TimeSource::System)
    }

    /// Returns a clock that always shows `now`.
    pub fn fixed(now: Timestamp) -> Self {
        ManualClock::at(now).clock()
    }

    /// Returns the current time. The machine's clock may be set back between two calls.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            TimeSource::System => Timestamp::now(),
            TimeSource::Manual(clock) => clock.now(),
        }
    }

    /// Returns the current time in whole seconds since 1970, the unit of stored times.
    pub fn seconds(&self) -> i64 {
        self.now().as_second()
    }
}

/// A clock that stops until it is advanced. Clones are the same clock.
#[derive(Debug, Clone)]
pub struct ManualClock {
    /// Microseconds since 1970.
    now: Arc<AtomicI64>,
}

impl ManualClock {
    /// Creates a clock that shows `now`, truncated to microseconds.
    pub fn at(now: Timestamp) -> Self {
        Self { now: Arc::new(AtomicI64::new(now.as_microsecond())) }
    }

    /// Advances the time, also for every [`Clock`] made from this one.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        let advanced = |now: i64| Some(now.saturating_add(by));
        // Cannot fail, because the closure always returns a time.
        let _ = self.now.fetch_update(Ordering::SeqCst, Ordering::SeqCst, advanced);
    }

    /// Returns a [`Clock`] that shows this clock's time.
    pub fn clock(&self) -> Clock {
        Clock(TimeSource::Manual(self.clone()))
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.now.load(Ordering::SeqCst)).unwrap_or(Timestamp::MAX)
    }
}
