//! Calendar documents and their events as plain values, with the limits of their size. Reading and
//! writing are in the files beside.

use crate::event::recurrence::EventRecurrence;
use crate::event::time::{EventTime, ZonedTime};
use crate::event::{Event, EventGuest, EventVisibility, Invitation, ShowAs};
use crate::ids::{EventId, MessageId};
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
    pub entries: Vec<IcalEvent>,
    /// Events that only identify themselves, as cancellations and answers may. Their times have
    /// no meaning.
    pub timeless: Vec<IcalEvent>,
    /// Notes on skipped or guessed content, with line numbers where known.
    pub notes: Vec<Note>,
}

/// One `VEVENT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IcalEvent {
    /// `UID`, in the form of [`series_uid`](crate::event::series_uid).
    pub uid: String,
    /// `SEQUENCE`.
    pub sequence: u32,
    /// `RECURRENCE-ID`: the original start of the occurrence in its series.
    pub recurrence_id: Option<EventTime>,
    /// `DTSTART`.
    pub start: ZonedTime,
    /// `DTEND`, or the end according to `DURATION`.
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
    /// The `ATTENDEE`s without the organizer, whose answer is in `organizer`.
    pub guests: Vec<EventGuest>,
    /// `TRANSP`, and `X-MICROSOFT-CDO-BUSYSTATUS`.
    pub show: ShowAs,
    /// `CLASS`.
    pub visibility: EventVisibility,
    /// The minutes before the start, from the first `VALARM`.
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

    /// Returns the event in the form that all services share. It has no id.
    pub fn event(&self) -> Event {
        let zone = match &self.start {
            ZonedTime::At(_, zone) => Some(zone.clone()),
            ZonedTime::Day(_) => None,
        };
        Event {
            original: self.recurrence_id,
            zone,
            repeat: self.repeat.clone(),
            uid: Some(self.uid.clone()).filter(|uid| !uid.is_empty()),
            sequence: Some(self.sequence),
            title: self.title.clone(),
            place: self.place.clone(),
            organizer: self.organizer.clone(),
            guests: self.guests.clone(),
            show: self.show,
            visibility: self.visibility,
            reminder: self.reminder,
            categories: self.categories.clone(),
            online: self.link.is_some(),
            link: self.link.clone(),
            notes: Some(self.notes.clone()).filter(|notes| !notes.is_empty()),
            cancelled: self.cancelled,
            ..Event::new(EventId::default(), self.start.when(), self.end.when())
        }
    }

    /// Returns the event as an invitation that was not compared with a calendar. `method` is the
    /// document's, in lower case; `timed` is false for an event that only identifies itself.
    pub fn invitation(&self, method: &str, timed: bool) -> Invitation {
        Invitation {
            message: MessageId::default(),
            kind: if self.cancelled { "cancel" } else { method }.to_owned(),
            event: self.event(),
            is_timeless: !timed,
            known: None,
            clashes: Vec::new(),
        }
    }

    /// Returns every text from the document, for cleaning.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let own = [&mut self.uid, &mut self.title, &mut self.place, &mut self.notes];
        let rule = self.repeat.as_mut().map(|repeat| &mut repeat.rule);
        let guests = self.organizer.iter_mut().chain(&mut self.guests);
        let people = guests.flat_map(|one| [Some(one.address.text_mut()), one.name.as_mut()]);
        own.into_iter()
            .chain(rule)
            .chain(people.flatten())
            .chain(&mut self.categories)
            .chain(&mut self.link)
    }

    /// Excludes the cancelled ones of its occurrences from a series, and returns the others.
    pub fn exclude_cancelled(&mut self, occurrences: Vec<Self>) -> Vec<Self> {
        let (cancelled, others): (Vec<_>, _) =
            occurrences.into_iter().partition(|one| one.cancelled);
        if let Some(repeat) = &mut self.repeat {
            repeat.except.extend(cancelled.into_iter().filter_map(|one| one.recurrence_id));
        }
        others
    }
}

/// The maximum size of a document in bytes.
pub const MAX_DOCUMENT: usize = 2 * 1024 * 1024;

/// The maximum number of components of a document that are read.
pub const COMPONENTS: usize = 10_000;
