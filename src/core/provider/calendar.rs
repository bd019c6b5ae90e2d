//! The calendar half of the port.
//!
//! As with mail, events cross as the service's own JSON, and only the registry reads
//! rows from it. The properties of an event that a change, a conflict check or a split
//! of a series depends on cross as [`EventData`], plain data that the adapter extracts.
//!
//! Ids are the adapter's: an event's id is enough to find it again, so it includes the
//! calendar's id where the service needs that.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

use super::CalendarCapabilities;
use super::ListPage;
use crate::error::{Error, Result};
use crate::event_time::{EventTime, ZonedTime};
use crate::project::Projection;
use crate::recurrence::EventRecurrence;
use crate::schemas::Service;
use crate::text::Note;
use crate::words;

/// The name by which answers call an account's main calendar, whose own is mostly an address.
pub const MAIN: &str = "main";

/// Returns what answers call the calendars of an account, by id, from the id and the name of each
/// and whether it is the main one: that one is `main`, unless another has that name.
pub fn shown_names(all: &[(String, String, bool)]) -> HashMap<String, String> {
    let taken = all.iter().any(|(_, name, main)| !main && name.trim().eq_ignore_ascii_case(MAIN));
    let shown = |name: &String, main| if main && !taken { MAIN.to_owned() } else { name.clone() };
    all.iter().map(|(id, name, main)| (id.clone(), shown(name, *main))).collect()
}

/// A request for the events of a range: one page for each calendar.
#[derive(Debug, Clone)]
pub struct EventListRequest {
    /// The calendars, and where the page before ended, in the service's words.
    pub calendars: Vec<(String, Option<String>)>,
    /// Events that end after this instant.
    pub from: Timestamp,
    /// Events that start before this instant.
    pub to: Timestamp,
    /// True to return each recurring event once instead of its occurrences; single
    /// events as usual, and exceptions where the service lists them.
    pub series: bool,
    /// The columns that the answer will show; [`EventData`] can be extracted from every
    /// item regardless.
    pub projection: Projection,
    /// The approximate number of events of each calendar, in order of their start.
    pub limit: usize,
}

/// The properties of an event that the pipeline's decisions depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventData {
    /// The adapter's id of it.
    pub id: String,
    /// The calendar it is in, if reported.
    pub calendar: Option<String>,
    /// The id of the recurring event that it is an occurrence of.
    pub series: Option<String>,
    /// When an occurrence would start by the rule, if it is one.
    pub original: Option<EventTime>,
    /// The start.
    pub start: EventTime,
    /// The end.
    pub end: EventTime,
    /// Its own zone, as IANA names it; that of the calendar if none.
    pub zone: Option<String>,
    /// The rule of a recurring event.
    pub repeat: Option<EventRecurrence>,
    /// The iCalendar UID of the event or its series, as [`crate::ical::series_uid`] has it.
    pub uid: Option<String>,
    /// `SEQUENCE`, which grows when the organizer moves the event, if the service reports it.
    pub sequence: Option<u32>,
    /// The title.
    pub title: String,
    /// The location.
    pub place: String,
    /// True if the account's owner is the organizer, or it has no guests.
    pub own: bool,
    /// The organizer's address, if reported and not the owner's.
    pub organizer: Option<String>,
    /// The guests, without the organizer.
    pub guests: Vec<EventGuest>,
    /// True if the service does not list all guests.
    pub omitted: bool,
    /// True if a guest's change applies to everyone.
    pub joint: bool,
    /// The owner's own answer, when it is an invitation.
    pub answer: Option<InvitationAnswer>,
    /// True for an invitation that the owner has not answered.
    pub unanswered: bool,
    /// True when it takes the owner's time: neither free, nor cancelled, nor
    /// declined by them.
    pub busy: bool,
    /// How its time appears, whether or not it is the owner's.
    pub show: ShowAs,
    /// True when it is cancelled.
    pub cancelled: bool,
    /// The version, which differs after every change (`etag`, `@odata.etag`).
    pub version: Option<String>,
    /// The URL of the online meeting.
    pub link: Option<String>,
    /// Its description, as the service has it.
    pub notes: Option<String>,
}

/// A person or room invited to an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventGuest {
    /// The address, as it was written.
    pub address: String,
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
    /// Their comment or proposed time, as the service has it; only in [`ChangeFeed`].
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
pub struct EventChange {
    /// The title.
    pub title: Option<String>,
    /// The start and the end.
    pub time: Option<(ZonedTime, ZonedTime)>,
    /// The location; empty for none.
    pub place: Option<String>,
    /// Its description, plain text; empty for none.
    pub notes: Option<String>,
    /// All guests, without the organizer. For existing guests, the adapter preserves
    /// what it knows (above all their answers).
    pub guests: Option<Vec<EventGuest>>,
    /// The recurrence; `Some(None)` to end it.
    pub repeat: Option<Option<EventRecurrence>>,
    /// True to add an online meeting (Google Meet, Teams), false to remove it.
    pub online: Option<bool>,
    /// How the time appears to others.
    pub show: Option<ShowAs>,
    /// Who may see the details.
    pub visibility: Option<EventVisibility>,
    /// Minutes before the start to remind at; `Some(None)` for no reminder.
    pub reminder: Option<Option<u32>>,
    /// A colour by its name, or a category, whichever the provider has; empty for none.
    pub category: Option<String>,
    /// The iCalendar UID, for imported events.
    pub uid: Option<String>,
    /// The start by the rule of the series, for an imported occurrence: the UID names its series.
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

words! {
    /// The guests who are notified of a change by mail.
    pub enum GuestNotice {
        /// All guests.
        All = "all",
        /// Guests who do not use the same service.
        External = "external",
        /// Nobody.
        Nobody = "none",
    }
}

/// A reply to an invitation, with its text and proposed time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitationReply {
    /// The answer.
    pub answer: InvitationAnswer,
    /// A word to the organizer.
    pub comment: Option<String>,
    /// Another time that is proposed.
    pub propose: Option<(Timestamp, Timestamp)>,
    /// True to notify the organizer.
    pub notify: bool,
}

/// When a person or room is busy.
#[derive(Debug, Clone)]
pub struct BusySchedule {
    /// The address, as it was requested.
    pub who: String,
    /// The intervals as objects of the table `busy`.
    pub busy: Vec<Value>,
    /// Their working hours, if the service reports them.
    pub hours: Option<WorkingHours>,
}

/// A person's working hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingHours {
    /// IANA's name of their zone.
    pub zone: String,
    /// The days of the week, Monday being 0.
    pub days: Vec<i8>,
    /// From this minute of the day.
    pub from: u16,
    /// To this minute of the day.
    pub to: u16,
}

/// The changes since a cursor.
#[derive(Debug, Clone, Default)]
pub struct ChangeFeed {
    /// New items.
    pub new: Vec<Value>,
    /// Items that have changed.
    pub changed: Vec<Value>,
    /// Ids of items that were removed.
    pub gone: Vec<String>,
    /// Messages that were drafts and have been sent, as they are now.
    pub sent: Vec<Value>,
    /// Drafts that were deleted and can still be read.
    pub deleted: Vec<Value>,
    /// Ids of drafts that were deleted.
    pub gone_drafts: Vec<String>,
    /// How items differ from before, by their ids; unknown for those missing here.
    pub differences: HashMap<String, ItemDifference>,
    /// When removed events started, by their ids, as far as that is known.
    pub starts: HashMap<String, EventTime>,
    /// Names of labels and folders, and [`shown_names`] of calendars, that the items name by id.
    pub names: HashMap<String, String>,
    /// The position to continue from, in the adapter's form.
    pub cursor: String,
    /// True when there is more at once.
    pub more: bool,
    /// True if the cursor was too old, so that the changes in between are unknown.
    pub started_over: bool,
    /// Changes that may be missing from the list, in words.
    pub notes: Vec<Note>,
}

/// How a changed item differs from before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemDifference {
    /// What is different, in words that may contain names of folders and labels; empty
    /// if it is nothing that is tracked.
    pub words: Vec<String>,
    /// When an event started before, if that is among the words, as `time`.
    pub was: Option<EventTime>,
    /// The occurrences of a series that were moved: when each started before, and starts now.
    pub moved: Vec<(EventTime, EventTime)>,
    /// The number of other occurrences of a series that have changed.
    pub occurrences: usize,
    /// When those occurrences of a series started that were cancelled.
    pub cancelled: Vec<EventTime>,
}

impl ItemDifference {
    /// Adds an occurrence of the series that differs from before, or was not known then.
    pub fn add_occurrence(&mut self, now: &EventData, difference: Option<&Self>) {
        let was = match difference {
            Some(difference) => difference.was,
            None => now.original.filter(|original| *original != now.start),
        };
        match was {
            Some(was) => self.moved.push((was, now.start)),
            None => self.occurrences += 1,
        }
    }

    /// Adds what became of single occurrences. Those of a series that is at other times
    /// were replaced, not cancelled.
    #[must_use]
    pub fn with(mut self, occurrences: Self) -> Self {
        self.occurrences += occurrences.occurrences;
        self.moved.extend(occurrences.moved);
        if !self.words.iter().any(|word| word == "time" || word == "repeats") {
            self.cancelled.extend(occurrences.cancelled);
        }
        self
    }
}

/// A change to a calendar as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CalendarOp {
    /// Make one.
    Create {
        /// The name, which no other calendar of the account has.
        name: String,
        /// IANA's name of its zone.
        zone: Option<String>,
    },
    /// Call it otherwise.
    Rename {
        /// Its id.
        id: String,
        /// The new name.
        name: String,
    },
    /// Delete it, with its events.
    Delete {
        /// Its id.
        id: String,
    },
}

/// The calendars of one account.
///
/// Reads are retried; writes are carried out once, and an error of the kind
/// [`Kind::Network`](crate::error::ErrorKind::Network) or
/// [`Kind::Timeout`](crate::error::ErrorKind::Timeout) leaves open whether they were.
#[async_trait]
pub trait Calendars: Send + Sync {
    /// Returns the API whose JSON the objects are.
    fn api(&self) -> Service;

    /// Returns what the calendars support.
    fn capabilities(&self) -> &'static CalendarCapabilities;

    /// Returns the address of the person whose main calendar has this id, where ids
    /// are addresses.
    fn person<'a>(&self, _id: &'a str) -> Option<&'a str> {
        None
    }

    /// Returns all calendars, as objects of the table `calendar`; the main one first.
    async fn calendars(&self) -> Result<Vec<Value>>;

    /// Rooms that can be booked, as objects of the table `room`.
    async fn rooms(&self) -> Result<Vec<Value>>;

    /// Creates, renames or deletes a calendar; returns the resulting calendar.
    async fn manage(&self, op: &CalendarOp) -> Result<Option<Value>>;

    /// Returns the events of a range: one result for each calendar requested.
    async fn events(&self, request: &EventListRequest) -> Vec<Result<ListPage>>;

    /// Returns events by id, complete, one result for each.
    async fn event(&self, ids: &[String]) -> Vec<Result<Value>>;

    /// Returns the events with this iCalendar UID, masters and exceptions, complete.
    async fn by_uid(&self, uid: &str) -> Result<Vec<Value>>;

    /// Returns occurrences of the recurring event with this id in a range, with the columns of
    /// `projection`, by their start: at most one page of the service.
    async fn instances(
        &self,
        series: &str,
        from: Timestamp,
        to: Timestamp,
        projection: &Projection,
    ) -> Result<Vec<Value>>;

    /// Extracts the facts of an event. Never fails: an odd value reads as absent.
    fn event_data(&self, event: &Value) -> Option<EventData>;

    /// Returns the description of an event for a copy of it, as plain text: without what the
    /// service adds to join this online meeting.
    fn own_notes(&self, event: &Value) -> Option<String> {
        self.event_data(event)?.notes
    }

    /// Creates an event in `calendar`, or in the main one; returns the event as created.
    async fn create(
        &self,
        calendar: Option<&str>,
        event: &EventChange,
        notify: GuestNotice,
    ) -> Result<Value>;

    /// Changes an event that was fetched complete, unless it has changed since; returns
    /// the changed event.
    ///
    /// # Errors
    /// [`Kind::Conflict`](crate::error::ErrorKind::Conflict) if it has changed.
    async fn update(
        &self,
        current: &Value,
        change: &EventChange,
        notify: GuestNotice,
    ) -> Result<Value>;

    /// Deletes an event that was fetched whole, unless it has changed since; a
    /// meeting of one's own is cancelled, with a message where the service
    /// carries one.
    async fn delete(
        &self,
        current: &Value,
        message: Option<&str>,
        notify: GuestNotice,
    ) -> Result<()>;

    /// Returns the parts of an event that [`Calendars::restore`] restores, as one text; `None`
    /// if it restores nothing.
    fn content(&self, event: &Value) -> Option<String> {
        let _ = event;
        None
    }

    /// Returns why a change of an event, or its deletion if there is no `change`, cannot be
    /// undone by [`Calendars::restore`].
    fn irreversible(&self, event: &Value, change: Option<&EventChange>) -> Option<&'static str> {
        let _ = (event, change);
        None
    }

    /// Restores an event as it was fetched before a write, and notifies nobody; returns the
    /// restored event. `now` is the event as it is, which for some services includes a deleted
    /// one. Without it the event is created again.
    ///
    /// # Errors
    /// [`Kind::Conflict`](crate::error::ErrorKind::Conflict) if `now` has changed.
    async fn restore(&self, before: &Value, now: Option<&Value>) -> Result<Value> {
        let _ = (before, now);
        Err(Error::argument("the provider restores no events").next("write it again"))
    }

    /// Returns the comment of the account's owner on an invitation, where a new one replaces it.
    fn own_comment(&self, event: &Value) -> Option<String> {
        let _ = event;
        None
    }

    /// Answers an invitation that was fetched complete; returns the event, if it is
    /// still in the calendar.
    async fn respond(&self, current: &Value, response: &InvitationReply) -> Result<Option<Value>>;

    /// Forwards an invitation.
    async fn forward(&self, current: &Value, to: &[String], comment: Option<&str>) -> Result<()>;

    /// Returns when people and rooms are busy: one result for each, in the order of `who`.
    async fn busy(
        &self,
        who: &[String],
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Result<BusySchedule>>;

    /// Returns the changes since `cursor`; without one, only the cursor to start from.
    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<ChangeFeed>;

    /// Refuses what the service cannot do in a change of `current`, or in a new event,
    /// before anything is written: recurrence rules that it cannot express, guests who
    /// cannot be left unnotified.
    fn check(
        &self,
        current: Option<&Value>,
        change: &EventChange,
        notify: GuestNotice,
    ) -> Result<()> {
        let _ = (current, change, notify);
        Ok(())
    }

    /// Refuses a deletion of `current` that would notify others than `notify` says.
    fn check_deletion(&self, current: &Value, notify: GuestNotice) -> Result<()> {
        let _ = (current, notify);
        Ok(())
    }

    /// Refuses what [`Calendars::update`] of `current`, or without one [`Calendars::create`] in
    /// `calendar`, would refuse before it writes. Writes nothing.
    async fn rehearse(
        &self,
        calendar: Option<&str>,
        current: Option<&Value>,
        change: &EventChange,
        notify: GuestNotice,
    ) -> Result<()> {
        let _ = calendar;
        self.check(current, change, notify)
    }

    /// Does the same for [`Calendars::manage`].
    async fn rehearse_op(&self, op: &CalendarOp) -> Result<()> {
        let _ = op;
        Ok(())
    }

    /// Checks that `id` could be one of this service's event ids.
    fn check_id(&self, id: &str) -> Result<()>;
}
