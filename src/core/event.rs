//! Events: their properties, times and recurrence, patches of them, and the identity of a meeting
//! across calendars.
//!
//! Plain values, the same for every service and for iCalendar. Adapters and `ical` make them from
//! their own formats; requests to services are left to the port.

use self::recurrence::EventRecurrence;
use self::time::{EventTime, ZonedTime};
use crate::ids::{CalendarId, EmailAddress, EventId};
use crate::words;

pub mod recurrence;
pub mod time;
mod uid;

pub use uid::series_uid;

/// The properties of an event that the pipeline's decisions depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Its own time zone, an IANA name; `None` if it uses the calendar's.
    pub zone: Option<String>,
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
    /// The organizer's address, if reported and not the owner's.
    pub organizer: Option<EmailAddress>,
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
    /// The URL of the online meeting.
    pub link: Option<String>,
    /// Its description, in the service's form.
    pub notes: Option<String>,
}

/// A person or room invited to an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// Their comment or proposed time, in the service's form; only in changes.
    pub remark: Option<String>,
}

/// An answer to an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// How the time of an event appears to others.
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
    /// Who may see the details of an event.
    #[expect(missing_docs, reason = "the words say it")]
    pub enum EventVisibility {
        Default = "default",
        Public = "public",
        Private = "private",
        Confidential = "confidential",
    }
}
