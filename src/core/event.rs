//! Events: their properties, times and recurrence, patches of them, and the identity of a meeting
//! across calendars.
//!
//! Plain values, the same for every service and for iCalendar. Adapters and `ical` make them from
//! their own formats; requests to services are left to the port.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::recurrence::EventRecurrence;
use self::time::{EventTime, ZonedTime, find_zone};
use crate::ids::{CalendarId, EmailAddress, EventId, MessageId};
use crate::words;

pub mod recurrence;
pub mod time;
mod uid;

pub use uid::series_uid;

/// An event, a series, or one occurrence of a series.
///
/// Complete if it was fetched alone. In lists, it has the properties that decisions depend on and the
/// requested columns; all others are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The id of the event.
    pub id: EventId,
    /// The calendar it is in, if reported.
    pub calendar: Option<CalendarId>,
    /// The id of the series, for an occurrence.
    pub series: Option<EventId>,
    /// The start of an occurrence according to the recurrence rule; `None` for other events.
    pub original: Option<EventTime>,
    /// The start.
    pub start: EventTime,
    /// The end.
    pub end: EventTime,
    /// Its own time zone: an IANA name, or the service's if that is unknown; `None` if it uses the
    /// calendar's.
    pub zone: Option<String>,
    /// The time zone of its end, if that is another one and reported.
    pub end_zone: Option<String>,
    /// The rule of a recurring event.
    pub repeat: Option<EventRecurrence>,
    /// The iCalendar UID of the event or its series, in the form of [`series_uid`].
    pub uid: Option<String>,
    /// `SEQUENCE`, which grows when the organizer moves the event, if the service reports it.
    pub sequence: Option<u32>,
    /// The title.
    pub title: String,
    /// The location.
    pub place: String,
    /// True if the account's owner is the organizer, or the event has no guests.
    pub own: bool,
    /// The organizer, if reported.
    pub organizer: Option<EventGuest>,
    /// True if the service lists the organizer among the guests.
    pub organizer_listed: bool,
    /// The guests, without the organizer.
    pub guests: Vec<EventGuest>,
    /// True if the service does not list all guests.
    pub omitted: bool,
    /// True if a change by a guest applies to everyone.
    pub joint: bool,
    /// The owner's own answer, for an invitation.
    pub answer: Option<InvitationAnswer>,
    /// True for an invitation that the owner has not answered.
    pub unanswered: bool,
    /// True if it takes the owner's time: not shown as free, not cancelled and not declined by
    /// them.
    pub busy: bool,
    /// Its free/busy status, for the owner's and other people's events alike.
    pub show: ShowAs,
    /// True if it is cancelled.
    pub cancelled: bool,
    /// The version, which differs after every change (`etag`, `@odata.etag`).
    pub version: Option<String>,
    /// The visibility of the details.
    pub visibility: EventVisibility,
    /// The minutes between the reminder and the start; `None` for none, or the calendar's default.
    pub reminder: Option<u32>,
    /// The name of its colour, or its categories, whichever the provider has.
    pub categories: Vec<String>,
    /// True if it has an online meeting.
    pub online: bool,
    /// The URL of the online meeting.
    pub link: Option<String>,
    /// The URL of its page in the service's web client.
    pub page: Option<String>,
    /// Its description, in the service's form: plain text or HTML.
    pub notes: Option<String>,
    /// The time of the last change.
    pub updated: Option<Timestamp>,
    /// The service's own object that the event was made from; null for other events. Only its adapter
    /// reads it; other code stores it for an undo, or measures its size.
    pub wire: Value,
}

impl Event {
    /// Creates a busy event of the account's owner that has only an id and a time.
    pub fn new(id: EventId, start: EventTime, end: EventTime) -> Self {
        Self {
            id,
            calendar: None,
            series: None,
            original: None,
            start,
            end,
            zone: None,
            end_zone: None,
            repeat: None,
            uid: None,
            sequence: None,
            title: String::new(),
            place: String::new(),
            own: true,
            organizer: None,
            organizer_listed: false,
            guests: Vec::new(),
            omitted: false,
            joint: false,
            answer: None,
            unanswered: false,
            busy: true,
            show: ShowAs::Busy,
            cancelled: false,
            version: None,
            visibility: EventVisibility::Default,
            reminder: None,
            categories: Vec::new(),
            online: false,
            link: None,
            page: None,
            notes: None,
            updated: None,
            wire: Value::Null,
        }
    }

    /// Returns the start and the end as local times in the event's own zones, or in UTC.
    pub fn zoned_times(&self) -> (ZonedTime, ZonedTime) {
        let find = |name: &Option<String>| name.as_deref().and_then(find_zone);
        let zone = find(&self.zone).unwrap_or(TimeZone::UTC);
        let end = find(&self.end_zone);
        (self.start.zoned(&zone), self.end.zoned(end.as_ref().unwrap_or(&zone)))
    }

    /// Sets the start and the end, with their zones.
    pub fn set_times(&mut self, start: &ZonedTime, end: &ZonedTime) {
        (self.start, self.end) = (start.when(), end.when());
        self.zone = start.zone().map(str::to_owned);
        self.end_zone = end.zone().filter(|zone| Some(*zone) != start.zone()).map(str::to_owned);
    }

    /// Returns every text that its author chose, for cleaning.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let own = [&mut self.title, &mut self.place];
        let rule = self.repeat.as_mut().map(|repeat| &mut repeat.rule);
        let guests = self.organizer.iter_mut().chain(&mut self.guests);
        let people = guests.flat_map(|one| [Some(one.address.text_mut()), one.name.as_mut()]);
        own.into_iter()
            .chain(&mut self.uid)
            .chain(&mut self.notes)
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
            repeat.except.extend(cancelled.into_iter().filter_map(|one| one.original));
        }
        others
    }

    /// Returns the event as an invitation that was not compared with a calendar. `method` is the
    /// document's, in lower case; `is_timeless` is true if the event only identifies itself.
    pub fn invitation(self, method: &str, is_timeless: bool) -> Invitation {
        Invitation {
            message: MessageId::default(),
            kind: if self.cancelled { "cancel" } else { method }.to_owned(),
            event: self,
            is_timeless,
            known: None,
            clashes: Vec::new(),
        }
    }

    /// Returns the organizer's address, unless that is the account's owner.
    pub fn other_organizer(&self) -> Option<&EmailAddress> {
        let other = self.organizer.as_ref().filter(|one| !one.me)?;
        Some(&other.address).filter(|address| !address.is_empty())
    }
}

/// An event that came by mail, compared with the calendar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The id of the message.
    pub message: MessageId,
    /// The method (iTIP, RFC 5546) in lower case, such as `request`.
    pub kind: String,
    /// The event. If the calendar has it, its guests have the answers from the calendar.
    pub event: Event,
    /// True if it only identifies an event, and the calendar lacks that event: it has no valid times.
    pub is_timeless: bool,
    /// The id of its event in the calendar.
    pub known: Option<EventId>,
    /// A line for each other event at that time.
    pub clashes: Vec<String>,
}

impl Invitation {
    /// Removes the properties that a file cannot state, or that no row shows.
    #[must_use]
    pub fn of_file(self) -> Self {
        let Event { start, end, repeat, title, place, organizer, guests, .. } = self.event;
        let stranger = |guest: EventGuest| EventGuest { me: false, ..guest };
        let event = Event {
            repeat,
            title,
            place,
            organizer: organizer.map(stranger),
            guests: guests.into_iter().map(stranger).collect(),
            ..Event::new(EventId::default(), start, end)
        };
        Self { event, known: None, clashes: Vec::new(), ..self }
    }
}

/// A person or room invited to an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventGuest {
    /// The address in its original spelling.
    pub address: EmailAddress,
    /// The display name.
    pub name: Option<String>,
    /// Their answer to the invitation.
    pub answer: Option<InvitationAnswer>,
    /// True if their attendance is optional.
    pub optional: bool,
    /// True for a room or other bookable resource.
    pub room: bool,
    /// True for the account's owner.
    pub me: bool,
    /// The comment on their answer.
    pub comment: Option<String>,
    /// The start and the end of the time that they propose.
    pub proposal: Option<(Timestamp, Timestamp)>,
}

/// An answer to an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvitationAnswer {
    /// Yes.
    Accepted,
    /// No.
    Declined,
    /// Perhaps.
    Tentative,
}

/// New values for an event; a field that is `None` stays unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventPatch {
    /// The title.
    pub title: Option<String>,
    /// The start and the end.
    pub time: Option<(ZonedTime, ZonedTime)>,
    /// The location; empty to clear it.
    pub place: Option<String>,
    /// The description as plain text; empty to clear it.
    pub notes: Option<String>,
    /// All guests, without the organizer. The adapter keeps the state of existing guests, above
    /// all their answers.
    pub guests: Option<Vec<EventGuest>>,
    /// The recurrence; `Some(None)` ends it.
    pub repeat: Option<Option<EventRecurrence>>,
    /// True to add an online meeting (Google Meet, Teams), false to remove it.
    pub online: Option<bool>,
    /// The free/busy status shown to others.
    pub show: Option<ShowAs>,
    /// The visibility of the details.
    pub visibility: Option<EventVisibility>,
    /// The minutes between a reminder and the start; `Some(None)` for no reminder.
    pub reminder: Option<Option<u32>>,
    /// A colour by name, or a category, whichever the provider has; empty for none.
    pub category: Option<String>,
    /// The iCalendar UID, for imported events.
    pub uid: Option<String>,
    /// The start of an imported occurrence by the rule of its series, which the UID identifies.
    pub original: Option<EventTime>,
    /// The organizer, for imported events.
    pub organizer: Option<EventGuest>,
}

words! {
    /// The free/busy status of an event for others.
    #[derive(Serialize, Deserialize)]
    #[expect(missing_docs, reason = "the words say it")]
    pub enum ShowAs {
        Busy = "busy",
        Free = "free",
        Tentative = "tentative",
        /// Out of office.
        Oof = "oof",
        /// Focus time, where the provider has it.
        Focus = "focus",
        /// Working elsewhere, or from another place.
        Elsewhere = "elsewhere",
    }
}

words! {
    /// The visibility of an event's details.
    #[derive(Serialize, Deserialize)]
    #[expect(missing_docs, reason = "the words say it")]
    pub enum EventVisibility {
        Default = "default",
        Public = "public",
        Private = "private",
        Confidential = "confidential",
    }
}
