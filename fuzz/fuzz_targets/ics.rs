//! iCalendar documents: parsed events can be written and parsed again.
#![no_main]

use daysheet_core::ical;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(document) = ical::read(text, &TimeZone::UTC) else { return };
    let written = ical::write(&document, Timestamp::UNIX_EPOCH);
    let again = ical::read(&written, &TimeZone::UTC).expect("what we write can be read");
    assert_eq!(again.entries.len(), document.entries.len(), "{written}");
});
