//! Fixed clocks, and clocks that a test advances.

use std::time::Duration;

use daysheet_core::clock::{Clock, ManualClock};
use jiff::Timestamp;

fn leap_day() -> Timestamp {
    "2028-02-29T23:59:59.5Z".parse().unwrap()
}

#[test]
fn fixed_clock_stands_still() {
    let clock = Clock::fixed(leap_day());
    assert_eq!(clock.now(), leap_day());
    assert_eq!(clock.seconds(), leap_day().as_second());
    assert_eq!(clock.clone().now(), clock.now());
}

#[test]
fn advanced_clock_shows_the_same_time_to_everyone_who_has_it() {
    let manual = ManualClock::at(leap_day());
    let handed_in = manual.clock();
    let passed_on = handed_in.clone();
    manual.advance(Duration::from_millis(500));
    let midnight: Timestamp = "2028-03-01T00:00:00Z".parse().unwrap();
    assert_eq!([handed_in.now(), passed_on.now(), manual.clock().now()], [midnight; 3]);
}

#[test]
fn advanced_clock_ends_at_the_last_instant() {
    let manual = ManualClock::at(Timestamp::MAX);
    manual.advance(Duration::from_secs(1));
    assert_eq!(manual.clock().now(), Timestamp::MAX);
}
