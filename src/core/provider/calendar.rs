//! The port's calendar half: what a calendar service does for us.
//!
//! As with mail, events cross as the service's own JSON, which the registry
//! alone reads for rows. What a change, a conflict or a split of a series has to
//! know of an event crosses as [`Facts`], plain data that the adapter reads out.
//!
//! Ids are the adapter's: an event's id is enough to find it again, so at
//! Google it holds the calendar's too.

use super::CalendarCapabilities;
use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

use super::Page;
use crate::error::Result;
use crate::project::Projection;
use crate::recurrence::Repeat;
use crate::schemas::Api;
use crate::text::Note;
use crate::when::{Moment, When};
use crate::words;

/// Events of a range, asked for: of each calendar a page.
#[derive(Debug, Clone)]
pub struct AskEvents {
    /// The calendars, and where the page before ended, in the service's words.
    pub calendars: Vec<(String, Option<String>)>,
    /// Events that end after this instant.
    pub from: Timestamp,
    /// Events that start before this instant.
    pub to: Timestamp,
    /// Recurring events once each, instead of their occurrences; single events
    /// as ever, and occurrences that differ where the service lists them.
    pub series: bool,
    /// What the answer is going to show; [`Facts`] can be read of every
    /// item besides.
    pub projection: Projection,
    /// About so many of each calendar, in order of their start.
    pub limit: usize,
}

/// What the pipeline has to know of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The adapter's id of it.
    pub id: String,
    /// The calendar it is in, where that is told.
    pub calendar: Option<String>,
    /// The id of the recurring event that it is an occurrence of.
    pub series: Option<String>,
    /// When an occurrence would start by the rule, if it is one.
    pub original: Option<When>,
    /// When it starts.
    pub start: When,
    /// When it ends.
    pub end: When,
    /// Its own zone, as IANA names it; that of the calendar if none.
    pub zone: Option<String>,
    /// The rule of a recurring event.
    pub repeat: Option<Repeat>,
    /// The iCalendar UID.
    pub uid: Option<String>,
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub place: String,
    /// True when the account's owner called it, or nobody else is asked.
    pub own: bool,
    /// The address of who called it, when that is told and is somebody else.
    pub organizer: Option<String>,
    /// Who is asked, the organizer not among them.
    pub guests: Vec<Guest>,
    /// True when the service does not name everybody who is asked.
    pub omitted: bool,
    /// True when a change by somebody who is asked changes it for everybody.
    pub joint: bool,
    /// The owner's own answer, when it is an invitation.
    pub answer: Option<Answer>,
    /// True when it takes the owner's time: neither free, nor cancelled, nor
    /// declined by them.
    pub busy: bool,
    /// True when it is cancelled.
    pub cancelled: bool,
    /// What changes with every change of it (`etag`, `@odata.etag`).
    pub version: Option<String>,
    /// Where the online meeting is joined.
    pub link: Option<String>,
    /// Its description, as the service has it.
    pub notes: Option<String>,
}

/// Somebody who is asked to a meeting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guest {
    /// The address, as it was written.
    pub address: String,
    /// The display name.
    pub name: Option<String>,
    /// What they have answered.
    pub answer: Option<Answer>,
    /// True when they need not come.
    pub optional: bool,
    /// True for a room or another thing that is booked.
    pub room: bool,
    /// True for the account's owner.
    pub me: bool,
}

/// An answer to an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Accepted,
    /// No.
    Declined,
    /// Perhaps.
    Tentative,
}

/// What an event is going to be; what is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// What it is called.
    pub title: Option<String>,
    /// When it starts and ends, both at once.
    pub time: Option<(Moment, Moment)>,
    /// Where it is; empty for nowhere.
    pub place: Option<String>,
    /// Its description, plain text; empty for none.
    pub notes: Option<String>,
    /// Everybody who is asked, the organizer not among them. Of those who were
    /// asked before, the adapter keeps what it knows (answers, above all).
    pub guests: Option<Vec<Guest>>,
    /// How it recurs; `Some(None)` for not any more.
    pub repeat: Option<Option<Repeat>>,
    /// With an online meeting (Google Meet, Teams), or without one.
    pub online: Option<bool>,
    /// How the time is shown to others.
    pub show: Option<Show>,
    /// Who may see what it is about.
    pub visibility: Option<Visibility>,
    /// Minutes before the start to remind at; `Some(None)` for no reminder.
    pub reminder: Option<Option<u32>>,
    /// A colour by its name (Google), or a category (Outlook); empty for none.
    pub category: Option<String>,
    /// The iCalendar UID, for events that come from elsewhere.
    pub uid: Option<String>,
    /// Who called it, for events that come from elsewhere.
    pub organizer: Option<Guest>,
}

words! {
    /// How the time of an event is shown to others.
    #[expect(missing_docs, reason = "the words say it")]
    pub enum Show {
        Busy = "busy",
        Free = "free",
        Tentative = "tentative",
        /// Out of office.
        Oof = "oof",
        /// Focus time: Google only.
        Focus = "focus",
        /// Working elsewhere, or from another place.
        Elsewhere = "elsewhere",
    }
}

words! {
    /// Who may see what an event is about.
    #[expect(missing_docs, reason = "the words say it")]
    pub enum Visibility {
        Default = "default",
        Public = "public",
        Private = "private",
        Confidential = "confidential",
    }
}

words! {
    /// Who is told of a change by mail.
    pub enum Notify {
        /// Everybody who is asked.
        All = "all",
        /// Those who do not use the same service.
        External = "external",
        /// Nobody.
        Nobody = "none",
    }
}

/// An answer to an invitation, with what goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The answer.
    pub answer: Answer,
    /// A word to the organizer.
    pub comment: Option<String>,
    /// Another time that is proposed.
    pub propose: Option<(Timestamp, Timestamp)>,
    /// True to tell the organizer.
    pub notify: bool,
}

/// When somebody is busy.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Whose it is, as was asked.
    pub who: String,
    /// The intervals as objects of the table `busy`.
    pub busy: Vec<Value>,
    /// When they work, where the service says so.
    pub hours: Option<Hours>,
}

/// When somebody works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hours {
    /// IANA's name of their zone.
    pub zone: String,
    /// The days of the week, Monday being 0.
    pub days: Vec<i8>,
    /// From this minute of the day.
    pub from: u16,
    /// To this minute of the day.
    pub to: u16,
}

/// What has happened since a cursor.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// New items.
    pub new: Vec<Value>,
    /// Items that have changed.
    pub changed: Vec<Value>,
    /// Ids of items that are gone.
    pub gone: Vec<String>,
    /// Messages that were drafts and have been sent, as they are now.
    pub sent: Vec<Value>,
    /// Drafts that were deleted and can still be read.
    pub deleted: Vec<Value>,
    /// Ids of drafts that were deleted and are gone.
    pub gone_drafts: Vec<String>,
    /// Names of labels, folders or calendars whose ids stand in the items.
    pub names: std::collections::HashMap<String, String>,
    /// Where to ask on from next time, in the adapter's words.
    pub cursor: String,
    /// True when there is more at once.
    pub more: bool,
    /// True when the cursor was too old, so that what happened between is not
    /// known.
    pub started_over: bool,
    /// What is not told although it may have happened, in words.
    pub notes: Vec<Note>,
}

/// What is to become of a calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CalendarOp {
    /// Make one.
    Create {
        /// What it is called; no other calendar of the account is.
        name: String,
        /// IANA's name of its zone.
        zone: Option<String>,
    },
    /// Call it otherwise.
    Rename {
        /// Its id.
        id: String,
        /// What it is called from now on.
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
/// [`Kind::Network`](crate::error::Kind::Network) or
/// [`Kind::Timeout`](crate::error::Kind::Timeout) leaves open whether they were.
#[async_trait]
pub trait Calendars: Send + Sync {
    /// Whose JSON the objects are.
    fn api(&self) -> Api;

    /// What they can do.
    fn capabilities(&self) -> &'static CalendarCapabilities;

    /// Returns the address of the person whose main calendar has this id, where ids
    /// are addresses.
    fn person<'a>(&self, _id: &'a str) -> Option<&'a str> {
        None
    }

    /// All calendars, as objects of the table `calendar`; the main one first.
    async fn calendars(&self) -> Result<Vec<Value>>;

    /// Rooms that can be booked, as objects of the table `contact`.
    async fn rooms(&self) -> Result<Vec<Value>>;

    /// Creates, renames or deletes a calendar; the calendar as it then is.
    async fn manage(&self, op: &CalendarOp) -> Result<Option<Value>>;

    /// Events of a range: one answer for each calendar that was asked for.
    async fn events(&self, ask: &AskEvents) -> Vec<Result<Page>>;

    /// Events by id, whole, an answer for each.
    async fn event(&self, ids: &[String]) -> Vec<Result<Value>>;

    /// The events with this iCalendar UID, masters and exceptions, whole.
    async fn by_uid(&self, uid: &str) -> Result<Vec<Value>>;

    /// What is told by an event. Total: what is odd reads as absent.
    fn facts(&self, event: &Value) -> Option<Facts>;

    /// Creates an event in a calendar, or the main one; the event as it then is.
    async fn create(&self, calendar: Option<&str>, event: &Change, notify: Notify)
    -> Result<Value>;

    /// Changes an event that was fetched whole, unless it has changed since;
    /// the event as it then is.
    ///
    /// # Errors
    /// [`Kind::Conflict`](crate::error::Kind::Conflict) if it has.
    async fn update(&self, current: &Value, change: &Change, notify: Notify) -> Result<Value>;

    /// Deletes an event that was fetched whole, unless it has changed since; a
    /// meeting of one's own is cancelled, with a message where the service
    /// carries one.
    async fn delete(&self, current: &Value, message: Option<&str>, notify: Notify) -> Result<()>;

    /// Answers an invitation that was fetched whole; the event as it then is,
    /// if it is still there.
    async fn respond(&self, current: &Value, response: &Response) -> Result<Option<Value>>;

    /// Forwards an invitation.
    async fn forward(&self, current: &Value, to: &[String], comment: Option<&str>) -> Result<()>;

    /// When people and rooms are busy: an answer for each, in the order of `who`.
    async fn busy(&self, who: &[String], from: Timestamp, to: Timestamp) -> Vec<Result<Schedule>>;

    /// What has happened since a cursor; without one, only where to ask from.
    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<Changes>;

    /// Refuses what the service cannot do with a change of `current`, or with a
    /// new event, before anything is written: rules that it has no words for,
    /// people who cannot be left untold.
    fn check(&self, current: Option<&Value>, change: &Change, notify: Notify) -> Result<()> {
        let _ = (current, change, notify);
        Ok(())
    }

    /// Refuses what [`Calendars::update`] of `current`, or else
    /// [`Calendars::create`] in `calendar`, would refuse before it writes, and
    /// writes nothing.
    async fn rehearse(
        &self,
        calendar: Option<&str>,
        current: Option<&Value>,
        change: &Change,
        notify: Notify,
    ) -> Result<()> {
        let _ = calendar;
        self.check(current, change, notify)
    }

    /// The same for [`Calendars::manage`].
    async fn rehearse_op(&self, op: &CalendarOp) -> Result<()> {
        let _ = op;
        Ok(())
    }

    /// Checks that `id` could be one of this service's event ids.
    fn check_id(&self, id: &str) -> Result<()>;
}
