//! Positions in the order of an agenda, and the end of a page.
//!
//! No provider's cursor is stored: the next page is queried again from the end of the one before,
//! and leaves out events already shown. No event is lost or shown twice, even if events are added
//! in the meantime.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use daysheet_core::event::Event;
use daysheet_core::event::time::EventTime;
use daysheet_core::ids::{AccountId, CalendarId};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::pipeline::answer::cursor::{IdDigest, SeenIds};

/// The position of an event: by its start, whole days first, then by its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct EventPosition {
    /// Microseconds since 1970.
    start: i64,
    timed: bool,
    end: i64,
}

impl EventPosition {
    /// The position before all events.
    pub(super) const FIRST: Self = Self { start: i64::MIN, timed: false, end: i64::MIN };

    /// Returns the position of an event, with days in `zone`.
    pub(super) fn new(start: EventTime, end: EventTime, zone: &TimeZone) -> Self {
        Self {
            start: start.instant(zone).as_microsecond(),
            timed: !start.is_day(),
            end: end.instant(zone).as_microsecond(),
        }
    }

    /// Returns the position before everything that starts at an instant or later.
    pub(super) fn before(start: i64) -> Self {
        Self { start, ..Self::FIRST }
    }

    /// Returns the start, in microseconds since 1970.
    pub(super) fn start(self) -> i64 {
        self.start
    }

    /// Returns the start as an instant.
    pub(super) fn instant(self) -> Timestamp {
        Timestamp::from_microsecond(self.start).unwrap_or(Timestamp::MIN)
    }
}

/// The position at which one account's part of an agenda continues; part of a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AccountPosition {
    /// The account's id.
    pub(super) account: AccountId,
    /// Everything before this was shown.
    pub(super) at: EventPosition,
    /// Calendars that are behind, because they could not be read before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) late: Vec<(CalendarId, EventPosition)>,
}

impl AccountPosition {
    /// Returns the beginning of an account's part.
    pub(super) fn first(account: AccountId) -> Self {
        Self { account, at: EventPosition::FIRST, late: Vec::new() }
    }

    /// Returns the position at which a calendar of the account continues.
    pub(super) fn position_of(&self, calendar: &CalendarId) -> EventPosition {
        self.late.iter().find(|(late, _)| late == calendar).map_or(self.at, |(_, at)| *at)
    }

    /// Returns the least advanced position.
    pub(super) fn hindmost(&self) -> EventPosition {
        let late = self.late.iter().map(|(_, at)| *at);
        late.fold(self.at, EventPosition::min)
    }
}

/// Returns the mark by which two entries are copies of one event: the UID, the
/// occurrence, and the time. An event without UID has no copies.
pub(super) fn mark(facts: &Event, account: &AccountId) -> IdDigest {
    let time = |when: EventTime| match when {
        EventTime::Day(day) => day.to_string(),
        EventTime::At(at) => at.as_microsecond().to_string(),
    };
    let who = match &facts.uid {
        Some(uid) => format!("uid {uid}"),
        None => format!("id {account} {}", facts.id),
    };
    // With both times, so that an occurrence that was moved in the meantime is shown again.
    let original = time(facts.original.unwrap_or(facts.start));
    SeenIds::digest(&format!("{who}\n{original}\n{}", time(facts.start)))
}

/// Marks of events shown; part of a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct IdDigests(String);

impl IdDigests {
    /// Returns the marks as a set.
    pub(super) fn set(&self) -> HashSet<IdDigest> {
        self.list().into_iter().collect()
    }

    /// Returns the marks in the order they were added.
    pub(super) fn list(&self) -> Vec<IdDigest> {
        let bytes = STANDARD_NO_PAD.decode(&self.0).unwrap_or_default();
        bytes.as_chunks().0.to_vec()
    }

    /// Creates the list from marks.
    pub(super) fn new(marks: &[IdDigest]) -> Self {
        Self(STANDARD_NO_PAD.encode(marks.as_flattened()))
    }
}
