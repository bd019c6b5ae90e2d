//! iCalendar documents (RFC 5545), read and written.
//!
//! The `calcard` library parses and writes; here its components become plain
//! entries and the other way round. What a document is for (an invitation, an
//! import, the sandbox's store) is its caller's business.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::error::Result;
use crate::event_time::{EventTime, ZonedTime};
use crate::provider::calendar::{EventGuest, EventVisibility, ShowAs};
use crate::recurrence::EventRecurrence;
use crate::text::charset::{self, CharsetDoubt};
use crate::text::{self, Note};

mod read;
pub mod rows;
mod rules;
mod scan;
mod settle;
mod times;
mod uid;
mod values;
mod write;
mod zones;

pub use uid::series_uid;

/// An iCalendar document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CalendarDocument {
    /// `METHOD`: `REQUEST`, `REPLY`, `CANCEL`, …
    pub method: Option<String>,
    /// `X-WR-CALNAME`.
    pub name: Option<String>,
    /// `X-WR-TIMEZONE`, as IANA names it.
    pub zone: Option<String>,
    /// The events, in the order of the document: of each the latest version.
    pub entries: Vec<IcalEvent>,
    /// Events that only identify themselves, as cancellations and answers may: their
    /// times have no meaning.
    pub timeless: Vec<IcalEvent>,
    /// Notes on what was skipped or guessed, with its line where known.
    pub notes: Vec<Note>,
}

/// One `VEVENT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IcalEvent {
    /// `UID`, as [`series_uid`] has it.
    pub uid: String,
    /// `SEQUENCE`.
    pub sequence: u32,
    /// `RECURRENCE-ID`: the start that it stands for in its series.
    pub recurrence_id: Option<EventTime>,
    /// `DTSTART`.
    pub start: ZonedTime,
    /// `DTEND`, or the end that `DURATION` gives.
    pub end: ZonedTime,
    /// `RRULE`, `EXDATE`, `RDATE`.
    pub repeat: Option<EventRecurrence>,
    /// `SUMMARY`.
    pub title: String,
    /// `LOCATION`.
    pub place: String,
    /// `DESCRIPTION`.
    pub notes: String,
    /// `ORGANIZER`.
    pub organizer: Option<EventGuest>,
    /// The `ATTENDEE`s, without the organizer, whose answer is beside them.
    pub guests: Vec<EventGuest>,
    /// `TRANSP`, and `X-MICROSOFT-CDO-BUSYSTATUS`.
    pub show: ShowAs,
    /// `CLASS`.
    pub visibility: EventVisibility,
    /// Minutes before the start, of the first `VALARM`.
    pub reminder: Option<u32>,
    /// `CATEGORIES`.
    pub categories: Vec<String>,
    /// `CONFERENCE` or `URL`.
    pub link: Option<String>,
    /// `STATUS:CANCELLED`.
    pub cancelled: bool,
}

impl IcalEvent {
    /// Creates an event with only its time.
    pub fn new(uid: impl Into<String>, start: ZonedTime, end: ZonedTime) -> Self {
        Self {
            uid: uid.into(),
            sequence: 0,
            recurrence_id: None,
            start,
            end,
            repeat: None,
            title: String::new(),
            place: String::new(),
            notes: String::new(),
            organizer: None,
            guests: Vec::new(),
            show: ShowAs::Busy,
            visibility: EventVisibility::Default,
            reminder: None,
            categories: Vec::new(),
            link: None,
            cancelled: false,
        }
    }

    /// Returns every text that others wrote, to be cleaned.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let own = [&mut self.uid, &mut self.title, &mut self.place, &mut self.notes];
        let rule = self.repeat.as_mut().map(|repeat| &mut repeat.rule);
        let guests = self.organizer.iter_mut().chain(&mut self.guests);
        let people = guests.flat_map(|one| [Some(&mut one.address), one.name.as_mut()]);
        own.into_iter()
            .chain(rule)
            .chain(people.flatten())
            .chain(&mut self.categories)
            .chain(&mut self.link)
    }

    /// Excludes the occurrences of a series that are cancelled; returns the others.
    pub fn exclude_cancelled(&mut self, occurrences: Vec<Self>) -> Vec<Self> {
        let (cancelled, others): (Vec<_>, _) =
            occurrences.into_iter().partition(|one| one.cancelled);
        if let Some(repeat) = &mut self.repeat {
            repeat.except.extend(cancelled.into_iter().filter_map(|one| one.recurrence_id));
        }
        others
    }
}

/// The longest document that is read, in bytes.
pub const MAX_DOCUMENT: usize = 2 * 1024 * 1024;

/// Components of a document that are read.
pub const COMPONENTS: usize = 10_000;

/// Returns true for a file or part of a message that is a calendar, by its media type or name.
pub fn is_calendar(media: &str, name: &str) -> bool {
    let media = media.to_ascii_lowercase();
    matches!(&*media, "text/calendar" | "application/ics")
        || name.to_ascii_lowercase().ends_with(".ics")
}

/// Returns the text of a document's bytes, with a doubt if they may not mean it. Lines that
/// are folded within a character are put together (RFC 5545, 3.1, folds bytes).
pub fn decode(bytes: &[u8], charset: Option<&str>) -> (String, Option<CharsetDoubt>) {
    let whole = scan::whole_characters(bytes);
    charset::decode(whole.as_deref().unwrap_or(bytes), charset)
}

/// Returns a document with the method of its `Content-Type` (RFC 6047, 2.4), if it states none
/// itself.
pub fn with_method(mut text: String, method: Option<&str>) -> String {
    const END: &str = "END:VCALENDAR";
    let mut starts = text.lines().filter_map(|line| line.get(..7));
    if let (Some(method), false) = (method, starts.any(|it| it.eq_ignore_ascii_case("METHOD:")))
        // At the end, where it changes the number of no line.
        && let Some(at) = text.to_ascii_uppercase().rfind(END)
    {
        text.insert_str(at, &format!("METHOD:{}\r\n", text::cell(method)));
    }
    text
}

/// Reads a document. Times without a zone are in the document's own (`X-WR-TIMEZONE`),
/// or else in `floating`.
///
/// Reading is lenient: lines that are not properties and components that cannot be read
/// are skipped with a note that names their line.
///
/// # Errors
/// [`Kind::Argument`](crate::error::ErrorKind::Argument) if it is not a calendar, or too large.
pub fn read(text: &str, floating: &TimeZone) -> Result<CalendarDocument> {
    read::document(text, floating)
}

/// Writes a document, with a `VTIMEZONE` for every zone it uses. `now` is its `DTSTAMP`.
///
/// Texts cannot break out of their property, whatever they contain. The notes from
/// reading the document are not written.
pub fn write(document: &CalendarDocument, now: Timestamp) -> String {
    write::document(document, now)
}
