//! iCalendar documents (RFC 5545): reading and writing.
//!
//! The `calcard` library parses and writes; this module converts its components to plain entries
//! and back. The purpose of a document (an invitation, an import, the sandbox's store) is left to
//! the caller.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::error::Result;
use crate::text;
use crate::text::charset::{self, CharsetDoubt};

mod event;
mod read;
mod rules;
mod scan;
mod settle;
mod times;
mod values;
mod write;
mod zones;

pub use event::{COMPONENTS, CalendarDocument, MAX_DOCUMENT};

/// Returns true if a file or part of a message is a calendar, by its media type or name.
pub fn is_calendar(media: &str, name: &str) -> bool {
    let media = media.to_ascii_lowercase();
    matches!(&*media, "text/calendar" | "application/ics")
        || name.to_ascii_lowercase().ends_with(".ics")
}

/// Returns the text of a document's bytes, with a doubt if the charset is uncertain. Lines folded
/// within a character are joined (RFC 5545, 3.1, folds bytes).
pub fn decode(bytes: &[u8], charset: Option<&str>) -> (String, Option<CharsetDoubt>) {
    let whole = scan::whole_characters(bytes);
    charset::decode(whole.as_deref().unwrap_or(bytes), charset)
}

/// Returns a document with the method from its `Content-Type` (RFC 6047, 2.4), unless the
/// document states one itself.
pub fn with_method(mut text: String, method: Option<&str>) -> String {
    const END: &str = "END:VCALENDAR";
    let mut starts = text.lines().filter_map(|line| line.get(..7));
    if let (Some(method), false) = (method, starts.any(|it| it.eq_ignore_ascii_case("METHOD:")))
        // Inserted at the end, so that line numbers do not change.
        && let Some(at) = text.to_ascii_uppercase().rfind(END)
    {
        text.insert_str(at, &format!("METHOD:{}\r\n", text::cell(method)));
    }
    text
}

/// Reads a document. Times without a zone are in the document's own zone (`X-WR-TIMEZONE`), or in
/// `floating` if it has none.
///
/// Reading is lenient: lines that are not properties and components that cannot be read are
/// skipped with a note on their line.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) if the text is not a calendar, or is
/// too large.
pub fn read(text: &str, floating: &TimeZone) -> Result<CalendarDocument> {
    read::document(text, floating)
}

/// Writes a document, with a `VTIMEZONE` for every zone it uses. `now` becomes `DTSTAMP`.
///
/// No text can break out of its property, whatever it contains. Notes from reading the document
/// are not written.
pub fn write(document: &CalendarDocument, now: Timestamp) -> String {
    write::document(document, now)
}
