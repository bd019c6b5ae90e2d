//! The sandbox's calendars: what they hold and how they change, for no
//! provider in particular.
//!
//! Every address has calendars; every calendar has events. A recurring event is
//! one entry with a rule; an occurrence that differs is an entry of its own that
//! names its series and the start it stands for. Nothing is ever forgotten:
//! what is deleted stays as a tombstone, so that both halves can tell what has
//! changed since a mark.

pub(crate) mod expand;
pub(crate) mod share;
mod write;

use std::collections::HashMap;

use daysheet_core::clock::Clock;
use daysheet_core::event_time::{self, EventTime, ZonedTime};
use daysheet_core::provider::calendar::{EventGuest, EventVisibility, ShowAs};
use daysheet_core::recurrence::EventRecurrence;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// All calendars of a sandbox.
///
/// Calendars and events are named by their places, which never change. What is
/// read of them is here; `expand.rs` works out occurrences,
/// `write.rs` changes events, and `share.rs` carries a change to
/// the other people of a meeting.
#[derive(Debug)]
pub(crate) struct SandboxCalendars {
    clock: Clock,
    pub(crate) calendars: Vec<StoredCalendar>,
    pub(crate) events: Vec<StoredEvent>,
    /// How many changes there have been; the mark of the last one.
    pub(crate) mark: u64,
    /// The places of each calendar's events.
    by_calendar: Vec<Vec<usize>>,
    /// The place of an event by its calendar and id.
    by_id: HashMap<(usize, String), usize>,
    /// The places of all events with a UID.
    by_uid: HashMap<String, Vec<usize>>,
    /// The places of what stands for occurrences, by calendar and series.
    by_series: HashMap<(usize, String), Vec<usize>>,
}

/// A calendar.
#[derive(Debug, Clone)]
pub(crate) struct StoredCalendar {
    /// Its id: the address for a main calendar, else as Google makes them.
    pub id: String,
    /// Whose it is.
    pub owner: String,
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub notes: String,
    /// IANA's name of its zone.
    pub zone: String,
    /// True for the owner's main calendar.
    pub main: bool,
    /// What the owner may do with it.
    pub access: CalendarAccess,
    /// Google's number of its colour.
    pub colour: u8,
    /// True once it is deleted.
    pub deleted: bool,
    /// The mark of its last change.
    pub mark: u64,
}

impl StoredCalendar {
    /// The main calendar of an address.
    pub fn main(address: &str, zone: &str) -> Self {
        Self {
            id: address.to_owned(),
            owner: address.to_owned(),
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

    /// A further calendar; the same owner and name make the same id.
    pub fn further(owner: &str, name: &str, zone: &str) -> Self {
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

    /// Its zone; one that is not known is UTC.
    pub fn time_zone(&self) -> TimeZone {
        event_time::find_zone(&self.zone).unwrap_or(TimeZone::UTC)
    }
}

/// What somebody may do with a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalendarAccess {
    /// All.
    Owner,
    /// Write events.
    #[expect(dead_code, reason = "no calendar is loaded with it yet")]
    Writer,
    /// Read events.
    Reader,
    /// See when it is busy.
    Busy,
}

/// An event, a series, or an occurrence that differs from its series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredEvent {
    /// Its id as Google writes them (base32hex); Graph's is made from it.
    pub id: String,
    /// The place of its calendar.
    pub calendar: usize,
    /// The iCalendar UID.
    pub uid: String,
    /// For an occurrence that differs: the id of its series and the start that
    /// it stands for.
    pub instead_of: Option<(String, EventTime)>,
    /// When it starts.
    pub start: ZonedTime,
    /// When it ends.
    pub end: ZonedTime,
    /// How it recurs.
    pub repeat: Option<EventRecurrence>,
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub place: String,
    /// Its description; HTML as it was written, or plain text.
    pub notes: String,
    /// Who called it.
    pub organizer: EventGuest,
    /// Who is asked, without the organizer.
    pub guests: Vec<EventGuest>,
    /// How its time is shown.
    pub show: ShowAs,
    /// Who may see what it is about.
    pub visibility: EventVisibility,
    /// Minutes before the start to remind at; `None` for the calendar's default.
    pub reminder: Option<Option<u32>>,
    /// Google's number of its colour.
    pub colour: Option<u8>,
    /// Outlook's categories.
    pub categories: Vec<String>,
    /// Where the online meeting is joined.
    pub link: Option<String>,
    /// True once it is cancelled or deleted.
    pub deleted: bool,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
    /// The mark of its last change; what etags are made of.
    pub mark: u64,
    /// iCalendar's SEQUENCE.
    pub sequence: u32,
    /// What people wrote with their answers, of each the last.
    pub replies: Vec<GuestAnswer>,
    /// What only one provider's API knows of, by its own names there. A half
    /// looks here for nothing but what it put in itself.
    pub more: Map<String, Value>,
    /// The same, but of this copy alone: what one of several people has added
    /// for themselves.
    pub private: Map<String, Value>,
}

/// An answer as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuestAnswer {
    /// Whose it is.
    pub address: String,
    /// When it was sent.
    pub at: Timestamp,
    /// What it says besides.
    pub comment: Option<String>,
    /// The start and end that it proposes.
    pub proposed: Option<(ZonedTime, ZonedTime)>,
}

impl StoredEvent {
    /// An event with nothing said but when it is, created at `now`.
    pub fn new(
        calendar: usize,
        id: &str,
        uid: &str,
        start: ZonedTime,
        end: ZonedTime,
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

    /// The guest of an address.
    pub fn guest(&self, address: &str) -> Option<&EventGuest> {
        self.guests.iter().find(|guest| same(&guest.address, address))
    }

    /// The start that it stands for in its series.
    pub fn original(&self) -> Option<EventTime> {
        self.instead_of.as_ref().map(|(_, original)| *original)
    }
}

/// True for two spellings of one address.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// The id of a UID's event, the same on every run, in the messages that Google
/// takes for ids (base32hex).
pub(crate) fn event_id(uid: &str) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
    let digest = Sha256::digest(uid);
    let bytes = digest.iter().take(26);
    let digits = bytes.filter_map(|byte| DIGITS.get(usize::from(byte & 31)));
    digits.map(|digit| char::from(*digit)).collect()
}

/// The id of an occurrence, as Google writes it: the id of the series and the
/// start by its rule.
pub(crate) fn instance_id(series: &str, original: EventTime) -> String {
    match original {
        EventTime::Day(day) => format!("{series}_{}", day.strftime("%Y%m%d")),
        EventTime::At(at) => format!("{series}_{}", at.strftime("%Y%m%dT%H%M%SZ")),
    }
}

impl SandboxCalendars {
    /// No calendars yet.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            calendars: Vec::new(),
            events: Vec::new(),
            mark: 0,
            by_calendar: Vec::new(),
            by_id: HashMap::new(),
            by_uid: HashMap::new(),
            by_series: HashMap::new(),
        }
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Adds a calendar; its place.
    pub fn add_calendar(&mut self, mut calendar: StoredCalendar) -> usize {
        self.mark += 1;
        calendar.mark = self.mark;
        self.calendars.push(calendar);
        self.by_calendar.push(Vec::new());
        self.calendars.len() - 1
    }

    /// Puts an event in as it is, only with a mark; its place. No mail is sent.
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

    /// The calendars of an address that are there, the main one first.
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

    /// The same with those that are deleted.
    pub fn all_of<'a>(&'a self, address: &'a str) -> impl Iterator<Item = &'a StoredCalendar> {
        let there = self.calendars_of(address).map(|(_, calendar)| calendar);
        let all = self.calendars.iter();
        there.chain(all.filter(move |it| it.deleted && same(&it.owner, address)))
    }

    /// The main calendar of an address.
    pub fn main_of(&self, address: &str) -> Option<usize> {
        let first = self.calendars_of(address).next();
        first.filter(|(_, it)| it.main).map(|(place, _)| place)
    }

    /// The calendar at a place.
    pub fn calendar(&self, place: usize) -> Option<&StoredCalendar> {
        self.calendars.get(place)
    }

    /// An address's calendar by its id; `primary` is not one.
    pub fn calendar_by_id(&self, address: &str, id: &str) -> Option<usize> {
        let mut mine = self.calendars_of(address);
        mine.find(|(_, calendar)| same(&calendar.id, id)).map(|(place, _)| place)
    }

    /// The event at a place, a tombstone too.
    pub fn event(&self, place: usize) -> Option<&StoredEvent> {
        self.events.get(place)
    }

    /// The place of an event, a tombstone too; an occurrence that does not
    /// differ from its series has none.
    pub fn find(&self, calendar: usize, id: &str) -> Option<usize> {
        self.by_id.get(&(calendar, id.to_owned())).copied()
    }

    /// The events of a calendar, tombstones too, in the order they came.
    pub fn events_of(&self, calendar: usize) -> impl Iterator<Item = (usize, &StoredEvent)> {
        let places = self.by_calendar.get(calendar).into_iter().flatten();
        places.filter_map(|place| Some((*place, self.events.get(*place)?)))
    }

    /// The events with a UID in all calendars, tombstones too.
    pub fn with_uid(&self, uid: &str) -> impl Iterator<Item = (usize, &StoredEvent)> {
        let places = self.by_uid.get(uid).into_iter().flatten();
        places.filter_map(|place| Some((*place, self.events.get(*place)?)))
    }

    /// What stands for occurrences of a series, tombstones too.
    pub fn overrides(
        &self,
        calendar: usize,
        series: &str,
    ) -> impl Iterator<Item = (usize, &StoredEvent)> {
        let places = self.by_series.get(&(calendar, series.to_owned()));
        let places = places.into_iter().flatten();
        places.filter_map(|place| Some((*place, self.events.get(*place)?)))
    }

    /// What stands for one occurrence of a series, a tombstone too.
    pub fn override_of(&self, calendar: usize, series: &str, original: EventTime) -> Option<usize> {
        let mut overrides = self.overrides(calendar, series);
        let found = overrides.find(|(_, event)| event.original() == Some(original));
        found.map(|(place, _)| place)
    }

    /// What has changed in a calendar since a mark, tombstones too, in the
    /// order of the changes.
    pub fn changed_since(&self, calendar: usize, mark: u64) -> Vec<(usize, &StoredEvent)> {
        let mut changed: Vec<_> =
            self.events_of(calendar).filter(|(_, event)| event.mark > mark).collect();
        changed.sort_by_key(|(_, event)| event.mark);
        changed
    }
}
