//! The calendar half of the port.
//!
//! Events cross as [`Event`]: the adapter makes it from the service's object, and keeps that object
//! in it for writes. Calendars, rooms and busy times cross as the service's own JSON, of which the
//! registry makes rows, as with mail.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

use super::capabilities::CalendarCapabilities;
use crate::error::{Error, Result};
use crate::event::time::EventTime;
use crate::event::{Event, EventPatch, InvitationAnswer};
use crate::ids::{CalendarId, EventId};
use crate::project::Projection;
use crate::schemas::Service;
use crate::text::Note;
use crate::words;

/// The name of an account's main calendar in answers. Its own name is usually an address.
pub const MAIN: &str = "main";

/// A calendar of an account, by its own name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCalendar {
    /// The id.
    pub id: CalendarId,
    /// The calendar's own name.
    pub name: String,
    /// True for the main calendar.
    pub main: bool,
}

/// Returns the names of an account's calendars in answers, by id. The main calendar is `main`
/// unless another calendar has that name.
pub fn shown_names(all: &[NamedCalendar]) -> HashMap<CalendarId, String> {
    // Two calendars called `main` could not be distinguished.
    let taken = all.iter().any(|one| !one.main && one.name.trim().eq_ignore_ascii_case(MAIN));
    let shown = |one: &NamedCalendar| {
        if one.main && !taken { MAIN.to_owned() } else { one.name.clone() }
    };
    all.iter().map(|one| (one.id.clone(), shown(one))).collect()
}

/// A request for the events of a range: one page for each calendar.
#[derive(Debug, Clone)]
pub struct EventListRequest {
    /// The calendars, and the position at which the previous page of each ended, in the service's
    /// form.
    pub calendars: Vec<(CalendarId, Option<String>)>,
    /// Events that end after this instant.
    pub from: Timestamp,
    /// Events that start before this instant.
    pub to: Timestamp,
    /// True to return each recurring event once instead of its occurrences. Single events are
    /// returned as usual, and exceptions if the service lists them.
    pub series: bool,
    /// The columns that the answer will show. Properties on which decisions depend are requested
    /// regardless.
    pub projection: Projection,
    /// The approximate number of events per calendar, sorted by start.
    pub limit: usize,
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
    /// A message to the organizer.
    pub comment: Option<String>,
    /// A proposed new start and end.
    pub propose: Option<(Timestamp, Timestamp)>,
    /// True to notify the organizer.
    pub notify: bool,
}

/// The times when a person or room is busy.
#[derive(Debug, Clone)]
pub struct BusySchedule {
    /// The address, as requested.
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
    /// The working days; Monday is 0.
    pub days: Vec<i8>,
    /// From this minute of the day.
    pub from: u16,
    /// To this minute of the day.
    pub to: u16,
}

/// A page of the events of one calendar.
#[derive(Debug, Clone, Default)]
pub struct EventPage {
    /// The events, sorted by start unless series were requested.
    pub events: Vec<Event>,
    /// The number of the service's objects that have no id or no time, and are left out.
    pub unreadable: usize,
    /// The position at which the next page starts, if there is one.
    pub next: Option<String>,
}

/// The changes since a cursor: of events, or of messages as the service's own JSON.
#[derive(Debug, Clone)]
pub struct ChangeFeed<T = Value> {
    /// New items.
    pub new: Vec<T>,
    /// Items that have changed.
    pub changed: Vec<T>,
    /// Ids of items that were removed.
    pub gone: Vec<String>,
    /// Messages that were drafts and have been sent, in their current state.
    pub sent: Vec<T>,
    /// Drafts that were deleted and can still be read.
    pub deleted: Vec<T>,
    /// Ids of drafts that were deleted.
    pub gone_drafts: Vec<String>,
    /// Differences from the previous state, by item id. For items without an entry they are
    /// unknown.
    pub differences: HashMap<String, ItemDifference>,
    /// The starts of removed events, by id, as far as they are known.
    pub starts: HashMap<String, EventTime>,
    /// Names of labels and folders, and [`shown_names`] of calendars, that the items name by id.
    pub names: HashMap<String, String>,
    /// The position to continue from, in the adapter's form.
    pub cursor: String,
    /// True if more changes are available immediately.
    pub more: bool,
    /// True if the cursor was too old, so that the changes in between are unknown.
    pub started_over: bool,
    /// Changes that may be missing from the list, in words.
    pub notes: Vec<Note>,
}

// Derived, it would require a default of items.
impl<T> Default for ChangeFeed<T> {
    fn default() -> Self {
        Self {
            new: Vec::new(),
            changed: Vec::new(),
            gone: Vec::new(),
            sent: Vec::new(),
            deleted: Vec::new(),
            gone_drafts: Vec::new(),
            differences: HashMap::new(),
            starts: HashMap::new(),
            names: HashMap::new(),
            cursor: String::new(),
            more: false,
            started_over: false,
            notes: Vec::new(),
        }
    }
}

impl<T> ChangeFeed<T> {
    /// Converts the items, and drops those for which there is no result.
    pub fn filter_map<O>(self, convert: impl Fn(T) -> Option<O>) -> ChangeFeed<O> {
        let all = |items: Vec<T>| items.into_iter().filter_map(&convert).collect();
        ChangeFeed {
            new: all(self.new),
            changed: all(self.changed),
            sent: all(self.sent),
            deleted: all(self.deleted),
            gone: self.gone,
            gone_drafts: self.gone_drafts,
            differences: self.differences,
            starts: self.starts,
            names: self.names,
            cursor: self.cursor,
            more: self.more,
            started_over: self.started_over,
            notes: self.notes,
        }
    }
}

/// The difference between a changed item and its previous state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemDifference {
    /// The changed properties, in words that may contain names of folders and labels; empty if no
    /// tracked property changed.
    pub words: Vec<String>,
    /// The previous start of an event, if `time` is among the words.
    pub was: Option<EventTime>,
    /// The moved occurrences of a series: the previous and the current start of each.
    pub moved: Vec<(EventTime, EventTime)>,
    /// The number of other occurrences of a series that have changed.
    pub occurrences: usize,
    /// The starts of the occurrences of a series that were cancelled.
    pub cancelled: Vec<EventTime>,
}

impl ItemDifference {
    /// Adds a changed or new occurrence of the series; `difference` is `None` for a new one.
    pub fn add_occurrence(&mut self, now: &Event, difference: Option<&Self>) {
        let was = match difference {
            Some(difference) => difference.was,
            // An occurrence without an earlier state was moved if it is not where the rule
            // puts it.
            None => now.original.filter(|original| *original != now.start),
        };
        match was {
            Some(was) => self.moved.push((was, now.start)),
            None => self.occurrences += 1,
        }
    }

    /// Adds the changes of single occurrences. If the series itself changed its time or rule,
    /// missing occurrences were replaced rather than cancelled, and are not added.
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
    /// Creates a calendar.
    Create {
        /// The name, which no other calendar of the account has.
        name: String,
        /// IANA's name of its zone.
        zone: Option<String>,
    },
    /// Renames a calendar.
    Rename {
        /// Its id.
        id: CalendarId,
        /// The new name.
        name: String,
    },
    /// Deletes a calendar and its events.
    Delete {
        /// Its id.
        id: CalendarId,
    },
}

/// The calendars of one account.
///
/// Reads are retried; writes are carried out once, and an error of the kind
/// [`ErrorKind::Network`](crate::error::ErrorKind::Network) or
/// [`ErrorKind::Timeout`](crate::error::ErrorKind::Timeout) leaves open whether they were.
#[async_trait]
pub trait Calendars: Send + Sync {
    /// Returns the API whose JSON format the objects have.
    fn api(&self) -> Service;

    /// Returns the features that the calendars support.
    fn capabilities(&self) -> &'static CalendarCapabilities;

    /// Returns the address of the person whose main calendar has this id, for services whose
    /// calendar ids are addresses.
    fn person<'a>(&self, _id: &'a CalendarId) -> Option<&'a str> {
        None
    }

    /// Returns all calendars, as objects of the table `calendar`; the main one first.
    async fn calendars(&self) -> Result<Vec<Value>>;

    /// Makes the next [`calendars`](Self::calendars) request the list, if the adapter keeps one.
    async fn forget_calendars(&self) {}

    /// Returns the rooms that can be booked, as objects of the table `room`.
    async fn rooms(&self) -> Result<Vec<Value>>;

    /// Creates, renames or deletes a calendar. Returns the resulting calendar; `None` if it was
    /// deleted.
    async fn manage(&self, op: &CalendarOp) -> Result<Option<Value>>;

    /// Returns the events of a range: one result for each calendar requested.
    async fn events(&self, request: &EventListRequest) -> Vec<Result<EventPage>>;

    /// Returns events by id, complete, one result for each.
    async fn event(&self, ids: &[EventId]) -> Vec<Result<Event>>;

    /// Returns the events with this iCalendar UID, masters and exceptions, complete.
    async fn by_uid(&self, uid: &str) -> Result<Vec<Event>>;

    /// Returns the occurrences of a series within a range, sorted by start, with the columns of
    /// `projection`; at most one page of the service.
    async fn instances(
        &self,
        series: &EventId,
        from: Timestamp,
        to: Timestamp,
        projection: &Projection,
    ) -> Result<Vec<Event>>;

    /// Makes an event from the service's object. Odd values read as absent; `None` without an id or
    /// a time.
    fn read_event(&self, wire: Value) -> Option<Event>;

    /// Returns the description of an event for copies, as plain text, without the joining details
    /// of an online meeting that the service adds.
    fn own_notes(&self, event: &Event) -> Option<String> {
        event.notes.clone()
    }

    /// Creates an event in `calendar`, or in the main calendar, and returns it.
    async fn create(
        &self,
        calendar: Option<&CalendarId>,
        event: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Event>;

    /// Changes an event that was fetched complete, unless it has changed since. Returns the
    /// changed event.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`](crate::error::ErrorKind::Conflict) if it has changed.
    async fn update(
        &self,
        current: &Event,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Event>;

    /// Deletes an event that was fetched complete, unless it has changed since. A meeting that
    /// the owner organizes is cancelled, with a message if the service supports one.
    async fn delete(
        &self,
        current: &Event,
        message: Option<&str>,
        notify: GuestNotice,
    ) -> Result<()>;

    /// Returns the properties that [`Calendars::restore`] restores, as one text; `None` if the
    /// service cannot restore events.
    fn content(&self, event: &Event) -> Option<String> {
        let _ = event;
        None
    }

    /// Returns the reason why [`Calendars::restore`] cannot undo a change of an event, or its
    /// deletion if `change` is `None`. Returns `None` if it can.
    fn irreversible(&self, event: &Event, change: Option<&EventPatch>) -> Option<&'static str> {
        let _ = (event, change);
        None
    }

    /// Restores an event to the state fetched before a write, without notifying anyone, and
    /// returns it. `now` is the current event, which for some services may be a deleted one. If
    /// it is `None`, the event is created again.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`](crate::error::ErrorKind::Conflict) if `now` has changed.
    async fn restore(&self, before: &Event, now: Option<&Event>) -> Result<Event> {
        let _ = (before, now);
        Err(Error::argument("the provider restores no events").next("write it again"))
    }

    /// Answers an invitation that was fetched complete. Returns the event if it is still in the
    /// calendar.
    async fn respond(&self, current: &Event, response: &InvitationReply) -> Result<Option<Event>>;

    /// Forwards an invitation.
    async fn forward(&self, current: &Event, to: &[String], comment: Option<&str>) -> Result<()>;

    /// Returns the busy times of people and rooms: one result for each, in the order of `who`.
    async fn busy(
        &self,
        who: &[String],
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Result<BusySchedule>>;

    /// Returns the changes since `cursor`. Without a cursor, returns only the cursor to start
    /// from.
    async fn changes(
        &self,
        cursor: Option<&str>,
        projection: &Projection,
    ) -> Result<ChangeFeed<Event>>;

    /// Refuses a change of `current`, or a new event, that the service cannot carry out, before
    /// anything is written: recurrence rules that it cannot express, guests whom it cannot leave
    /// unnotified.
    fn check(
        &self,
        current: Option<&Event>,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<()> {
        let _ = (current, change, notify);
        Ok(())
    }

    /// Refuses a deletion of `current` that would notify more people than `notify` allows.
    fn check_deletion(&self, current: &Event, notify: GuestNotice) -> Result<()> {
        let _ = (current, notify);
        Ok(())
    }

    /// Makes the checks that [`Calendars::update`] of `current`, or [`Calendars::create`] in
    /// `calendar` if there is no `current`, makes before it writes. Writes nothing.
    async fn rehearse(
        &self,
        calendar: Option<&CalendarId>,
        current: Option<&Event>,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<()> {
        let _ = calendar;
        self.check(current, change, notify)
    }

    /// Makes the checks that [`Calendars::manage`] makes before it writes. Writes nothing.
    async fn rehearse_op(&self, op: &CalendarOp) -> Result<()> {
        let _ = op;
        Ok(())
    }

    /// Checks that `id` has the form of this service's event ids.
    fn check_id(&self, id: &str) -> Result<()>;
}
