//! The sandbox's calendars and events, independent of any provider.
//!
//! Every address has calendars, and every calendar has events. A recurring event is one entry with
//! a rule; an exception is an entry of its own that names its series and original start. Deleted
//! events remain as tombstones, so that both providers can report what changed after a given mark.

mod alter;
pub(crate) mod expand;
pub(crate) mod share;
mod write;

use std::collections::HashMap;

use daysheet_core::clock::Clock;
use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::{self, EventTime, ZonedTime};
use daysheet_core::event::{EventGuest, EventVisibility, ShowAs};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// All calendars of a sandbox.
///
/// Calendars and events are identified by their places, which never change. This file reads them;
/// `expand.rs` computes occurrences, `alter.rs` changes single events, `share.rs` carries changes
/// to the other people of a meeting, and `write.rs` does both.
#[derive(Debug)]
pub(crate) struct SandboxCalendars {
    clock: Clock,
    /// The maximum number of events on a page.
    pub(crate) max_page: usize,
    pub(crate) calendars: Vec<StoredCalendar>,
    pub(crate) events: Vec<StoredEvent>,
    /// The number of changes so far, and so the mark of the last one.
    pub(crate) mark: u64,
    /// The places of each calendar's events.
    by_calendar: Vec<Vec<usize>>,
    /// The place of an event by its calendar and id.
    by_id: HashMap<(usize, String), usize>,
    /// The places of all events with a UID.
    by_uid: HashMap<String, Vec<usize>>,
    /// The places of exceptions, by calendar and series.
    by_series: HashMap<(usize, String), Vec<usize>>,
}

/// A calendar.
#[derive(Debug, Clone)]
pub(crate) struct StoredCalendar {
    /// The id: the address for a main calendar, else in Google's form.
    pub id: String,
    /// The address of the owner.
    pub owner: String,
    /// The address of the person who shared it with the owner, if its events are that person's.
    pub shared_by: Option<String>,
    /// The name.
    pub name: String,
    /// The description.
    pub notes: String,
    /// The IANA name of the zone.
    pub zone: String,
    /// True for the owner's main calendar.
    pub main: bool,
    /// The owner's access to it.
    pub access: CalendarAccess,
    /// Google's number for its colour.
    pub colour: u8,
    /// True once it is deleted.
    pub deleted: bool,
    /// The mark of its last change.
    pub mark: u64,
}

impl StoredCalendar {
    /// Returns the main calendar of an address.
    pub fn main(address: &str, zone: &str) -> Self {
        Self {
            id: address.to_owned(),
            owner: address.to_owned(),
            shared_by: None,
            name: address.to_owned(),
            notes: String::new(),
            zone: zone.to_owned(),
            main: true,
            access: CalendarAccess::Owner,
            colour: 14,
            deleted: false,
            mark: 0,
        }
    }

    /// Returns a further calendar. The same owner and name yield the same id.
    pub fn further(owner: &str, name: &str, zone: &str) -> Self {
        // The zero byte keeps the pairs (`ab`, `c`) and (`a`, `bc`) from sharing an id.
        let digest = Sha256::new()
            .chain_update(owner.to_lowercase())
            .chain_update([0])
            .chain_update(name)
            .finalize();
        let mut id = String::from("c_");
        for byte in digest {
            id.push_str(&format!("{byte:02x}"));
        }
        Self {
            id: id + "@group.calendar.google.com",
            name: name.to_owned(),
            main: false,
            ..Self::main(owner, zone)
        }
    }

    /// Returns the zone, or UTC if it is unknown.
    pub fn time_zone(&self) -> TimeZone {
        time::find_zone(&self.zone).unwrap_or(TimeZone::UTC)
    }
}

/// A person's access to a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalendarAccess {
    /// Everything.
    Owner,
    /// Writing events.
    Writer,
    /// Reading events.
    Reader,
    /// Seeing busy times only.
    Busy,
}

/// An event, a series, or an exception of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredEvent {
    /// The id in Google's form (base32hex); Graph's id is derived from it.
    pub id: String,
    /// The place of its calendar.
    pub calendar: usize,
    /// The iCalendar UID.
    pub uid: String,
    /// For an exception: the id of its series and its original start.
    pub instead_of: Option<(String, EventTime)>,
    /// The start.
    pub start: ZonedTime,
    /// The end.
    pub end: ZonedTime,
    /// The recurrence rule and its exceptions.
    pub repeat: Option<EventRecurrence>,
    /// The title.
    pub title: String,
    /// The location.
    pub place: String,
    /// The description: the HTML that was written, or plain text.
    pub notes: String,
    /// The person who called it.
    pub organizer: EventGuest,
    /// The guests, without the organizer.
    pub guests: Vec<EventGuest>,
    /// Free, busy, or another status of the time.
    pub show: ShowAs,
    /// The visibility of the details.
    pub visibility: EventVisibility,
    /// The reminder in minutes before the start: `None` for the calendar's default, `Some(None)`
    /// for no reminder.
    pub reminder: Option<Option<u32>>,
    /// Google's number for its colour.
    pub colour: Option<u8>,
    /// Outlook's categories.
    pub categories: Vec<String>,
    /// The address of the online meeting.
    pub link: Option<String>,
    /// True once it is cancelled or deleted.
    pub deleted: bool,
    /// The time of creation.
    pub created: Timestamp,
    /// The time of the last change.
    pub updated: Timestamp,
    /// The mark of the last change, from which etags are made.
    pub mark: u64,
    /// iCalendar's SEQUENCE.
    pub sequence: u32,
    /// The guests' answers with comments or proposals, only the latest of each person.
    pub replies: Vec<GuestAnswer>,
    /// Properties that only one provider's API has, under that API's names. Each provider's half
    /// reads only the ones that it has stored itself.
    pub more: Map<String, Value>,
    /// Properties of the same kind that one person added to their own copy.
    pub private: Map<String, Value>,
}

/// A guest's answer, as sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuestAnswer {
    /// The guest's address.
    pub address: String,
    /// The time of sending.
    pub at: Timestamp,
    /// The comment.
    pub comment: Option<String>,
    /// The proposed start and end.
    pub proposed: Option<(ZonedTime, ZonedTime)>,
}

impl StoredEvent {
    /// Returns an event with an id, a UID, a start and an end, created at `now`, and defaults for
    /// all else.
    pub fn new(
        calendar: usize,
        id: &str,
        uid: &str,
        (start, end): (ZonedTime, ZonedTime),
        now: Timestamp,
    ) -> Self {
        Self {
            id: id.to_owned(),
            calendar,
            uid: uid.to_owned(),
            instead_of: None,
            start,
            end,
            repeat: None,
            title: String::new(),
            place: String::new(),
            notes: String::new(),
            organizer: EventGuest::default(),
            guests: Vec::new(),
            show: ShowAs::Busy,
            visibility: EventVisibility::Default,
            reminder: None,
            colour: None,
            categories: Vec::new(),
            link: None,
            deleted: false,
            created: now,
            updated: now,
            mark: 0,
            sequence: 0,
            replies: Vec::new(),
            more: Map::new(),
            private: Map::new(),
        }
    }

    /// Returns the guest with an address.
    pub fn guest(&self, address: impl AsRef<str>) -> Option<&EventGuest> {
        self.guests.iter().find(|guest| guest.address.is(&address))
    }

    /// Returns the original start of an exception.
    pub fn original(&self) -> Option<EventTime> {
        self.instead_of.as_ref().map(|(_, original)| *original)
    }
}

/// Returns true if two addresses differ at most in case.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Returns the event id for a UID, the same on every run, in the characters that Google accepts in
/// ids (base32hex).
pub(crate) fn event_id(uid: &str) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
    let digest = Sha256::digest(uid);
    // Google's own event ids have 26 characters.
    let bytes = digest.iter().take(26);
    let digits = bytes.filter_map(|byte| DIGITS.get(usize::from(byte & 31)));
    digits.map(|digit| char::from(*digit)).collect()
}

/// Returns the id of an occurrence in Google's form: the id of the series and the original start.
pub(crate) fn instance_id(series: &str, original: EventTime) -> String {
    match original {
        EventTime::Day(day) => format!("{series}_{}", day.strftime("%Y%m%d")),
        EventTime::At(at) => format!("{series}_{}", at.strftime("%Y%m%dT%H%M%SZ")),
    }
}

impl SandboxCalendars {
    /// Returns an agenda without calendars.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            max_page: usize::MAX,
            calendars: Vec::new(),
            events: Vec::new(),
            mark: 0,
            by_calendar: Vec::new(),
            by_id: HashMap::new(),
            by_uid: HashMap::new(),
            by_series: HashMap::new(),
        }
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Adds a calendar and returns its place.
    pub fn add_calendar(&mut self, mut calendar: StoredCalendar) -> usize {
        let own = !calendar.main && calendar.shared_by.is_none();
        let mut number = 1;
        // The id depends on the name, so a further calendar of the same name, or of a deleted
        // one's, needs another.
        while own && self.calendars.iter().any(|known| known.id == calendar.id) {
            number += 1;
            let name = format!("{} {number}", calendar.name);
            calendar.id = StoredCalendar::further(&calendar.owner, &name, "").id;
        }
        self.mark += 1;
        calendar.mark = self.mark;
        self.calendars.push(calendar);
        self.by_calendar.push(Vec::new());
        self.calendars.len() - 1
    }

    /// Adds an event unchanged except for its mark, and returns its place. The guests are not
    /// notified.
    pub fn load(&mut self, mut event: StoredEvent) -> usize {
        let place = self.events.len();
        self.mark += 1;
        event.mark = self.mark;
        if let Some(places) = self.by_calendar.get_mut(event.calendar) {
            places.push(place);
        }
        let at = event.calendar;
        self.by_id.insert((at, event.id.clone()), place);
        let of_uid = self.by_uid.entry(event.uid.clone()).or_default();
        of_uid.push(place);
        if let Some((series, _)) = &event.instead_of {
            let of_series = self.by_series.entry((at, series.clone())).or_default();
            of_series.push(place);
        }
        self.events.push(event);
        place
    }

    /// Returns the calendars of an address that are not deleted, the main one first.
    pub fn calendars_of<'a>(
        &'a self,
        address: &'a str,
    ) -> impl Iterator<Item = (usize, &'a StoredCalendar)> {
        let all = self.calendars.iter().enumerate();
        let mine =
            all.filter(move |(_, calendar)| !calendar.deleted && same(&calendar.owner, address));
        let (main, rest): (Vec<_>, Vec<_>) = mine.partition(|(_, calendar)| calendar.main);
        main.into_iter().chain(rest)
    }

    /// Returns the main calendar of an address.
    pub fn main_of(&self, address: &str) -> Option<usize> {
        let first = self.calendars_of(address).next();
        first.filter(|(_, it)| it.main).map(|(place, _)| place)
    }

    /// Returns the calendar at a place.
    pub fn calendar(&self, place: usize) -> Option<&StoredCalendar> {
        self.calendars.get(place)
    }

    /// Returns an address's calendar by its id. The alias `primary` is not resolved here.
    pub fn calendar_by_id(&self, address: &str, id: &str) -> Option<usize> {
        let mut mine = self.calendars_of(address);
        mine.find(|(_, calendar)| same(&calendar.id, id)).map(|(place, _)| place)
    }

    /// Returns the event at a place, or its tombstone.
    pub fn event(&self, place: usize) -> Option<&StoredEvent> {
        self.events.get(place)
    }

    /// Returns the place of an event or tombstone. Occurrences without an exception have no place.
    pub fn find(&self, calendar: usize, id: &str) -> Option<usize> {
        self.by_id.get(&(calendar, id.to_owned())).copied()
    }

    /// Returns the events of a calendar, tombstones included, in the order of their arrival.
    pub fn events_of(&self, calendar: usize) -> impl Iterator<Item = (usize, &StoredEvent)> {
        let places = self.by_calendar.get(calendar).into_iter().flatten();
        places.filter_map(|place| Some((*place, self.events.get(*place)?)))
    }

    /// Returns the events with a UID in all calendars, tombstones included.
    pub fn with_uid(&self, uid: &str) -> impl Iterator<Item = (usize, &StoredEvent)> {
        let places = self.by_uid.get(uid).into_iter().flatten();
        places.filter_map(|place| Some((*place, self.events.get(*place)?)))
    }

    /// Returns the exceptions of a series, tombstones included.
    pub fn overrides(
        &self,
        calendar: usize,
        series: &str,
    ) -> impl Iterator<Item = (usize, &StoredEvent)> {
        let places = self.by_series.get(&(calendar, series.to_owned()));
        let places = places.into_iter().flatten();
        places.filter_map(|place| Some((*place, self.events.get(*place)?)))
    }

    /// Returns the exception at one original start of a series, or its tombstone.
    pub fn override_of(&self, calendar: usize, series: &str, original: EventTime) -> Option<usize> {
        let mut overrides = self.overrides(calendar, series);
        let found = overrides.find(|(_, event)| event.original() == Some(original));
        found.map(|(place, _)| place)
    }

    /// Returns the events of a calendar that changed after a mark, tombstones included, in the
    /// order of the changes.
    pub fn changed_since(&self, calendar: usize, mark: u64) -> Vec<(usize, &StoredEvent)> {
        let mut changed: Vec<_> =
            self.events_of(calendar).filter(|(_, event)| event.mark > mark).collect();
        changed.sort_by_key(|(_, event)| event.mark);
        changed
    }
}
