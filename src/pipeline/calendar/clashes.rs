//! Finds the events that compete for the reader's time, and their overlaps. Takes plain data and
//! returns positions; no I/O.
//!
//! The brief, searches, writes and invitations share this rule.

use daysheet_core::choice::WordChoice;
use daysheet_core::event::time::EventTime;
use daysheet_core::event::{Event, InvitationAnswer, ShowAs};
use daysheet_core::text::{Note, note, ours};
use jiff::SignedDuration;
use jiff::tz::TimeZone;

/// The length from which an uncertain event contains others.
const LONG_UNCERTAIN: SignedDuration = SignedDuration::from_hours(6);
/// The length from which an event without people in another calendar than the main one
/// is about a thing: a kiln, a room.
const LONG_WITHOUT_PEOPLE: SignedDuration = SignedDuration::from_hours(3);

/// Events that are named in a note.
const NAMED: usize = 4;

/// An event that overlaps others, by their positions; each pair is in the row of the
/// event that starts first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventClash {
    pub(crate) first: usize,
    pub(crate) with: Vec<usize>,
}

/// The properties of an event that decide whether it competes for the reader's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeClaim {
    pub(crate) show: ShowAs,
    /// True for a tentative event, and for an invitation that is not accepted.
    pub(crate) uncertain: bool,
    /// True if it is in the main calendar or has guests who are people.
    pub(crate) personal: bool,
}

impl TimeClaim {
    /// Returns the claim of an event; `main` if it is in the account's main calendar.
    pub(crate) fn new(facts: &Event, main: bool) -> Self {
        let invited = !facts.own && facts.answer.is_none();
        Self {
            show: if facts.busy { facts.show } else { ShowAs::Free },
            uncertain: invited
                || facts.show == ShowAs::Tentative
                || facts.answer == Some(InvitationAnswer::Tentative),
            personal: main || facts.guests.iter().any(|guest| !guest.room),
        }
    }

    /// Returns true if an event of this length competes with others.
    pub(super) fn competes(&self, (from, to): (EventTime, EventTime), zone: &TimeZone) -> bool {
        let length = to.instant(zone).duration_since(from.instant(zone));
        let away = matches!(self.show, ShowAs::Free | ShowAs::Oof | ShowAs::Elsewhere);
        // An event that takes no time overlaps nothing.
        !away && !self.is_container((from, to), zone) && length.is_positive()
    }

    /// Returns true for an event so long that others take place in it, or beside it.
    pub(super) fn is_container(&self, (from, to): (EventTime, EventTime), zone: &TimeZone) -> bool {
        let length = to.instant(zone).duration_since(from.instant(zone));
        let is_long = |least| from.is_day() || length >= least;
        self.uncertain && is_long(LONG_UNCERTAIN) || !self.personal && is_long(LONG_WITHOUT_PEOPLE)
    }
}

/// Returns the kinds of events that do not compete, in words.
pub(super) fn not_competing() -> String {
    format!(
        "free, out-of-office and working-elsewhere events; timed against all-day events; tentative \
         or unanswered events of {} h or more; outside the main calendar, your own events without guests of \
         {} h or more",
        LONG_UNCERTAIN.as_hours(),
        LONG_WITHOUT_PEOPLE.as_hours()
    )
}

/// Returns true if two times overlap. A whole day overlaps only whole days: it is about the day,
/// and other events take place within it.
pub(super) fn overlap(
    one: (EventTime, EventTime),
    other: (EventTime, EventTime),
    zone: &TimeZone,
) -> bool {
    one.0.is_day() == other.0.is_day()
        && one.0.instant(zone) < other.1.instant(zone)
        && other.0.instant(zone) < one.1.instant(zone)
}

/// Returns the word for the reader's absence, if an event marks one: out of office, or working
/// elsewhere. Such an event does not compete, even if the service counts it as busy.
pub(crate) fn away(facts: &Event) -> Option<&'static str> {
    let is_away = matches!(facts.show, ShowAs::Oof | ShowAs::Elsewhere);
    (is_away && !facts.cancelled && !is_declined(facts)).then(|| facts.show.word())
}

/// Returns true if a time overlaps an event of [`away`], which may be a whole day.
pub(super) fn meets_absence(time: (EventTime, EventTime), away: &Event, zone: &TimeZone) -> bool {
    time.0.instant(zone) < away.end.instant(zone) && away.start.instant(zone) < time.1.instant(zone)
}

/// Returns the note on events of [`away`], each in words; `None` without events.
pub(super) fn absences(events: Vec<String>) -> Option<Note> {
    (!events.is_empty())
        .then(|| note!("you are away then, which is no clash: {}", ours(first_events(events))))
}

/// Joins the first few of some events, each in words, and the number of the others.
pub(crate) fn first_events(mut events: Vec<String>) -> String {
    let more = events.len().saturating_sub(NAMED);
    events.truncate(NAMED);
    if more > 0 {
        events.push(format!("{more} more"));
    }
    events.join("; ")
}

/// Returns true for an event that the reader has declined.
pub(crate) fn is_declined(facts: &Event) -> bool {
    facts.answer == Some(InvitationAnswer::Declined)
}

/// Returns the overlaps among events, in the order of their first events. The events are
/// sorted by their start; `true` if one is in its account's main calendar.
pub(crate) fn clashes(events: &[(usize, &Event, bool)], zone: &TimeZone) -> Vec<EventClash> {
    let busy: Vec<_> = events
        .iter()
        .map(|(at, facts, main)| (*at, *facts, TimeClaim::new(facts, *main)))
        .filter(|(_, facts, claim)| claim.competes((facts.start, facts.end), zone))
        .collect();
    let mut found = Vec::new();
    for (number, (first, one, _)) in busy.iter().enumerate() {
        let later = busy.iter().skip(number + 1);
        // All events after one that starts later start later still.
        let later =
            later.take_while(|(_, other, _)| other.start.instant(zone) < one.end.instant(zone));
        let with = later.filter(|(_, other, _)| {
            // A meeting in several calendars does not clash with its copies.
            let copy = one.uid.is_some() && one.uid == other.uid;
            !copy && overlap((one.start, one.end), (other.start, other.end), zone)
        });
        let with: Vec<usize> = with.map(|(at, ..)| *at).collect();
        if !with.is_empty() {
            found.push(EventClash { first: *first, with });
        }
    }
    found
}
