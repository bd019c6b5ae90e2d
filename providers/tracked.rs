//! The states of a feed's items in a cursor, by which later differences are named.
//!
//! Cursors are stored on disk, where no mail may be. They have short hashes of ids and texts, marks
//! for flags, and start times of events. No I/O; the adapters decide which items to track.

use std::collections::BTreeMap;

use daysheet_core::event::time::EventTime;
use daysheet_core::event::{Event, EventGuest, InvitationAnswer, ShowAs};
use daysheet_core::provider::calendar::ItemDifference;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::written::hash;

/// The maximum number of tracked items per feed; those tracked last are kept.
const MAX_TRACKED: usize = 2_000;
/// The lengths of the hash of a text and of the short id of a series, in characters.
const SHORT: usize = 3;
const SERIES: usize = 4;

/// The states of a feed's items, by short hashes of their ids, the latest last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TrackedItems {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    states: Vec<(String, String)>,
    /// The full ids of series that have tracked parts, by their short ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    series: BTreeMap<String, String>,
    /// True if every item of the feed is tracked; false in cursors of old versions.
    #[serde(default)]
    complete: bool,
}

/// The tracked state of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackedEvent {
    /// A single event, a series or an exception.
    Event(EventState),
    /// An unchanged occurrence: the short id of its series, and its start.
    Occurrence(String, EventTime),
    /// A cancelled occurrence.
    Cancelled,
}

/// The properties of an event that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventState {
    start: EventTime,
    minutes: i64,
    /// Marks for the owner's answer, for how the time is shown, and for a cancellation.
    marks: [char; 3],
    /// Short hashes of the properties in [`PARTS`].
    parts: Vec<String>,
}

/// The words for differences, in the order of the marks and of the parts.
const FLAGS: [&str; 3] = ["your answer", "show", "cancelled"];
const PARTS: [&str; 7] = [
    "title",
    "place",
    "guests",
    "answers",
    "comments or proposed times",
    "your comment or proposed time",
    "repeats",
];

impl TrackedItems {
    /// Creates the state of an empty feed, or of one whose items are all added next.
    pub fn new() -> Self {
        Self { complete: true, ..Self::default() }
    }

    /// Returns true if an untracked item was not in the feed.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns true if an item was in the feed.
    pub fn has(&self, id: &str) -> bool {
        self.get(id).is_some()
    }

    /// Returns the state of an item as text.
    pub fn get(&self, id: &str) -> Option<&str> {
        let key = hash(id);
        let mut states = self.states.iter();
        states.find(|(known, _)| *known == key).map(|(_, state)| state.as_str())
    }

    /// Records the state of an item.
    pub fn set_state(&mut self, id: &str, state: String) {
        self.remove(id);
        if self.states.len() >= MAX_TRACKED {
            // The oldest state is dropped; from now on, an untracked item may have been in the
            // feed.
            self.states.remove(0);
            self.complete = false;
        }
        self.states.push((hash(id), state));
    }

    /// Drops an item that has left the feed.
    pub fn remove(&mut self, id: &str) {
        let key = hash(id);
        self.states.retain(|(known, _)| *known != key);
    }

    /// Records the state of an event, with the series of an exception. For an event without a time,
    /// only its existence is recorded.
    pub fn put_event(&mut self, id: &str, series: &str, event: Option<&Event>) {
        let mut state = event.map(|event| EventState::new(event).to_string()).unwrap_or_default();
        // The short id of the series is the fourth field; `part` reads it.
        if !series.is_empty() && event.is_some() {
            state = format!("{state} {}", self.put_series(series));
        }
        self.set_state(id, state);
    }

    /// Records an unchanged occurrence.
    pub fn put_occurrence(&mut self, id: &str, series: &str, start: EventTime) {
        let series = self.put_series(series);
        self.set_state(id, format!("o{series} {}", write_time(start)));
    }

    /// Records the id of a series, and returns its short form.
    fn put_series(&mut self, id: &str) -> String {
        let short = short_series(id);
        self.series.entry(short.clone()).or_insert_with(|| id.to_owned());
        short
    }

    /// Records the cancellation of an occurrence.
    pub fn put_cancelled(&mut self, id: &str) {
        self.set_state(id, "x".to_owned());
    }

    /// Returns the tracked state of an event.
    pub fn event(&self, id: &str) -> Option<TrackedEvent> {
        let text = self.get(id)?;
        if text == "x" {
            return Some(TrackedEvent::Cancelled);
        }
        if let Some(occurrence) = text.strip_prefix('o') {
            let (series, start) = occurrence.split_once(' ')?;
            return Some(TrackedEvent::Occurrence(series.to_owned(), read_time(start)?));
        }
        EventState::read(text).map(TrackedEvent::Event)
    }

    /// Returns the full id of a series.
    pub fn series(&self, short: &str) -> Option<&str> {
        self.series.get(short).map(String::as_str)
    }

    /// Returns the short id of an event's series, and the event's start.
    pub fn series_and_start(&self, id: &str) -> Option<(String, EventTime)> {
        match self.event(id)? {
            TrackedEvent::Event(state) => {
                let series = self.get(id)?.split(' ').nth(3)?;
                Some((series.to_owned(), state.start))
            }
            TrackedEvent::Occurrence(series, start) => Some((series, start)),
            TrackedEvent::Cancelled => None,
        }
    }

    /// Returns the start of an event.
    pub fn start(&self, id: &str) -> Option<EventTime> {
        match self.event(id)? {
            TrackedEvent::Event(state) => Some(state.start),
            TrackedEvent::Occurrence(_, start) => Some(start),
            TrackedEvent::Cancelled => None,
        }
    }

    /// Returns the difference between an event and its tracked state, or for an untracked
    /// exception, that of its series. `None` without a tracked state.
    pub fn difference(&self, id: &str, series: &str, event: &Event) -> Option<ItemDifference> {
        let now = EventState::new(event);
        let before = match self.event(id) {
            Some(TrackedEvent::Event(before)) => before,
            _ => match self.event(series)? {
                TrackedEvent::Event(series) => EventState {
                    start: event.original?,
                    // An exception has no rule of its own.
                    parts: series.parts.iter().take(6).chain(now.parts.get(6)).cloned().collect(),
                    ..series
                },
                _ => return None,
            },
        };
        Some(before.difference(&now))
    }
}

impl EventState {
    fn new(event: &Event) -> Self {
        let instant = |when: EventTime| when.instant(&jiff::tz::TimeZone::UTC).as_second();
        let mut guests = Vec::new();
        let mut answers = Vec::new();
        for guest in event.guests.iter().filter(|guest| !guest.me) {
            let address = guest.address.lower();
            if let Some(answer) = guest.answer {
                answers.push(format!("{address} {}", answer_mark(Some(answer))));
            }
            guests.push(address);
        }
        guests.sort_unstable();
        answers.sort_unstable();
        let remarks = |me: bool| {
            let guests = event.guests.iter().filter(|guest| guest.me == me);
            let remark = |guest: &EventGuest| match guest.proposal {
                Some((from, to)) => Some(format!("{from} {to}")),
                None => guest.comment.clone(),
            };
            let mut remarks: Vec<String> = guests.filter_map(remark).collect();
            remarks.sort_unstable();
            remarks.join(",")
        };
        let repeat = event.repeat.as_ref();
        // Services may reorder the parts of a rule.
        let rule = repeat.map(|repeat| {
            let mut parts: Vec<&str> = repeat.rule.split(';').collect();
            parts.sort_unstable();
            parts.join(";")
        });
        let parts = [
            event.title.trim().to_owned(),
            event.place.trim().to_owned(),
            guests.join(","),
            answers.join(","),
            remarks(false),
            remarks(true),
            rule.unwrap_or_default(),
        ];
        Self {
            start: event.start,
            minutes: (instant(event.end) - instant(event.start)) / 60,
            marks: [
                answer_mark(event.answer),
                match event.show {
                    ShowAs::Busy => 'b',
                    ShowAs::Free => 'f',
                    ShowAs::Tentative => 't',
                    ShowAs::Oof => 'o',
                    ShowAs::Focus => 'c',
                    ShowAs::Elsewhere => 'e',
                },
                if event.cancelled { 'x' } else { '-' },
            ],
            parts: parts.iter().map(|part| short(part)).collect(),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let mut fields = text.split(' ');
        let start = read_time(fields.next()?)?;
        let minutes = fields.next()?.parse().ok()?;
        let mut marks = fields.next()?.chars();
        let flags = [marks.next()?, marks.next()?, marks.next()?];
        let rest: Vec<char> = marks.collect();
        let parts: Vec<String> = rest.chunks(SHORT).map(|part| part.iter().collect()).collect();
        (parts.len() == PARTS.len()).then_some(Self { start, minutes, marks: flags, parts })
    }

    fn difference(&self, now: &Self) -> ItemDifference {
        let mut difference = ItemDifference::default();
        // Only whole minutes are stored.
        if write_time(self.start) != write_time(now.start) {
            difference.words.push("time".to_owned());
            difference.was = Some(self.start);
        } else if self.minutes != now.minutes {
            difference.words.push("end".to_owned());
        }
        let parts = PARTS.iter().zip(self.parts.iter().zip(&now.parts));
        for (word, _) in parts.filter(|(_, (before, now))| before != now) {
            difference.words.push((*word).to_owned());
        }
        let marks = FLAGS.iter().zip(self.marks.iter().zip(now.marks));
        for (word, (_, now)) in marks.filter(|(_, (before, now))| *before != now) {
            difference.words.push(match (*word, now) {
                ("cancelled", '-') => "not cancelled any more".to_owned(),
                (word, _) => word.to_owned(),
            });
        }
        difference
    }
}

/// Writes the stored form.
impl std::fmt::Display for EventState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let marks: String = self.marks.iter().collect();
        write!(f, "{} {} {marks}{}", write_time(self.start), self.minutes, self.parts.concat())
    }
}

/// Returns the short form of a series' id.
pub fn short_series(id: &str) -> String {
    hash(id).chars().take(SERIES).collect()
}

/// Describes a move of a message between folders, by the words of the column `folder`; `None` if
/// the folder is the same.
pub fn moved(from: &str, to: &str) -> Option<String> {
    match (from, to) {
        _ if from == to => None,
        (_, "trash") => Some("trashed".to_owned()),
        (_, "spam") => Some("marked as spam".to_owned()),
        ("inbox", "archive") => Some("archived".to_owned()),
        ("", _) => Some("moved".to_owned()),
        _ => Some(format!("moved from {from}")),
    }
}

/// Returns the short hash of a text for recognizing it.
pub fn short(text: &str) -> String {
    hash(text).chars().take(SHORT).collect()
}

fn answer_mark(answer: Option<InvitationAnswer>) -> char {
    match answer {
        Some(InvitationAnswer::Accepted) => 'a',
        Some(InvitationAnswer::Declined) => 'd',
        Some(InvitationAnswer::Tentative) => 't',
        None => '-',
    }
}

/// Writes an instant as minutes since 1970, and a day as its date.
fn write_time(when: EventTime) -> String {
    match when {
        EventTime::At(at) => at.as_second().div_euclid(60).to_string(),
        EventTime::Day(day) => format!("d{day}"),
    }
}

fn read_time(text: &str) -> Option<EventTime> {
    if let Some(day) = text.strip_prefix('d') {
        day.parse().ok().map(EventTime::Day)
    } else {
        let minutes: i64 = text.parse().ok()?;
        Timestamp::from_second(minutes.checked_mul(60)?).ok().map(EventTime::At)
    }
}
