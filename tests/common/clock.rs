//! The clock of the tests, which no test reads from the machine.
//!
//! Every suite runs at 11:05 in Berlin on Monday, 16 November 2026, around which the samples are
//! written. `DAYSHEET_SANDBOX_NOW` moves all suites to another instant, as it moves the program;
//! a test whose expected output names a day uses [`written`] instead, and a test in which time
//! passes advances a [`ManualClock`](daysheet_core::clock::ManualClock).

#![allow(dead_code, reason = "no suite needs all of it")]

use std::sync::LazyLock;

use daysheet_core::clock::Clock;
use jiff::Timestamp;

/// The setting of the program that stops its clock in the sandbox modes.
pub const SETTING: &str = "DAYSHEET_SANDBOX_NOW";

/// The instant around which the samples are written.
pub const WRITTEN: &str = "2026-11-16T11:05+01:00";

static NOW: LazyLock<Timestamp> = LazyLock::new(|| {
    let now = std::env::var(SETTING).unwrap_or_else(|_| WRITTEN.to_owned());
    now.parse().unwrap_or_else(|error| panic!("{SETTING}={now}: {error}"))
});

/// The time of this run of the tests.
pub fn now() -> Timestamp {
    *NOW
}

/// A clock that always shows [`now`].
pub fn clock() -> Clock {
    Clock::fixed(now())
}

/// A clock that shows the instant around which the samples are written, whenever the tests run.
pub fn written() -> Clock {
    at(WRITTEN)
}

/// A clock that always shows this instant.
pub fn at(now: &str) -> Clock {
    Clock::fixed(now.parse().unwrap())
}
