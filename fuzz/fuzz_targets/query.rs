//! Queries and times, as people write them.
#![no_main]

use daysheet_core::query::{self, DateContext};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let clock = DateContext { now: Timestamp::UNIX_EPOCH, zone: TimeZone::UTC };
    if let Ok(query) = query::parse(text, &clock) {
        let _ = (query.terms().len(), query.alternatives().len());
    }
    let _ = query::parse_search(text, &clock);
});
