//! The ids of calendars and events at Google.

use daysheet_core::error::{Error, Result};

/// Google's id of the main calendar.
pub(super) const PRIMARY: &str = "primary";

/// Checks an id. Paths escape ids, so only impossible ones are refused.
pub(super) fn check(id: &str) -> Result<()> {
    let (calendar, event) = id.rsplit_once('/').unwrap_or((PRIMARY, id));
    let fits = (1..=1_100).contains(&event.len())
        && event
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'@' | b'.'))
        // Dots alone would change the path.
        && !event.bytes().all(|byte| byte == b'.');
    if fits && check_calendar(calendar).is_ok() {
        return Ok(());
    }
    Err(not_googles())
}

/// Returns the error for an id that is not from Google Calendar.
pub(super) fn not_googles() -> Error {
    Error::argument("the id is not Google Calendar's (calendar/event)")
        .next("use a handle such as e12 from a search")
}

/// Checks the id of a calendar.
pub(super) fn check_calendar(id: &str) -> Result<()> {
    let fits = (1..=320).contains(&id.len())
        && !id.contains(|char: char| char.is_control() || char.is_whitespace() || char == '/')
        && !id.bytes().all(|byte| byte == b'.');
    if fits {
        return Ok(());
    }
    Err(Error::argument("the id is not a Google calendar's")
        .next("use a handle such as c2 from lookup kind=calendars"))
}
