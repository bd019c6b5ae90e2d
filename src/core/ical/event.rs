//! Calendar documents as plain values, with the limits of their size. Reading and writing are in the
//! files beside.

use crate::event::Event;
use crate::text::Note;

/// An iCalendar document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CalendarDocument {
    /// `METHOD`: `REQUEST`, `REPLY`, `CANCEL`, …
    pub method: Option<String>,
    /// `X-WR-CALNAME`.
    pub name: Option<String>,
    /// `X-WR-TIMEZONE`, as an IANA name.
    pub zone: Option<String>,
    /// The events in the order of the document, each in its latest version.
    pub entries: Vec<Event>,
    /// Events that only identify themselves, as cancellations and answers may. Their times have
    /// no meaning.
    pub timeless: Vec<Event>,
    /// Notes on skipped or guessed content, with line numbers where known.
    pub notes: Vec<Note>,
}

/// The maximum size of a document in bytes.
pub const MAX_DOCUMENT: usize = 2 * 1024 * 1024;

/// The maximum number of components of a document that are read.
pub const COMPONENTS: usize = 10_000;
