//! Times at which a meeting could be held, the best first.
//!
//! A slot begins at a quarter of an hour and lies in the hours of everybody. The
//! best is the one for which the fewest are busy, then the fewest only perhaps
//! free, then the earliest. No two slots that are shown overlap, so that a free
//! morning is not told ten times over. No clock and no I/O.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::hours::Stretch;
use super::people::{Person, Show};

/// Seconds of the grid that slots begin on, in local time.
const QUARTER: i64 = 15 * 60;

/// One time at which a meeting could be held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) time: Stretch,
    /// Who is not known to be free then, by their places, and why.
    pub(super) missing: Vec<(usize, Missing)>,
}

/// Why somebody is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Missing {
    /// Not free.
    Busy,
    /// Out of office.
    Oof,
    /// Free, unless they accept something else.
    Perhaps,
    /// Nobody knows.
    Unknown,
}

impl Missing {
    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Oof => "oof",
            Self::Perhaps => "perhaps",
            Self::Unknown => "unknown",
        }
    }
}

/// The best slots of so many minutes within `open`, the hours of everybody;
/// quarters of hours are those of `zone`.
pub(super) fn slots(
    people: &[Person],
    open: &[Stretch],
    zone: &TimeZone,
    length: SignedDuration,
    most: usize,
) -> Vec<Slot> {
    let mut all: Vec<(usize, usize, Slot)> = Vec::new();
    for stretch in open {
        let mut start = first_quarter(stretch.from, zone);
        while let Some(time) = start.and_then(|from| Stretch::of(from, length)) {
            if time.to > stretch.to {
                break;
            }
            if let Some(slot) = slot(people, time) {
                let count = |wanted: &[Missing]| {
                    let mut missing = slot.missing.iter().map(|(_, why)| why);
                    missing.by_ref().filter(|why| wanted.contains(why)).count()
                };
                let busy = count(&[Missing::Busy, Missing::Oof]);
                let perhaps = count(&[Missing::Perhaps]);
                all.push((busy, perhaps, slot));
            }
            start = time
                .from
                .checked_add(SignedDuration::from_secs(QUARTER))
                .ok();
        }
    }
    all.sort_by_key(|(busy, perhaps, slot)| (*busy, *perhaps, slot.time.from));
    let mut best: Vec<Slot> = Vec::new();
    for (_, _, slot) in all {
        if best.len() == most {
            break;
        }
        if !best.iter().any(|other| other.time.overlaps(slot.time)) {
            best.push(slot);
        }
    }
    best
}

/// The slot at a time, unless nobody who is known could come.
fn slot(people: &[Person], time: Stretch) -> Option<Slot> {
    let missing: Vec<_> = people
        .iter()
        .enumerate()
        .filter_map(|(at, person)| Some((at, why(person, time)?)))
        .collect();
    let absent = |(_, why): &&(usize, Missing)| *why != Missing::Perhaps;
    (missing.iter().filter(absent).count() < people.len()).then_some(Slot { time, missing })
}

fn why(person: &Person, time: Stretch) -> Option<Missing> {
    let Some(busy) = &person.busy else {
        return Some(Missing::Unknown);
    };
    // Those that begin before the end; they do not overlap each other.
    let before = busy.partition_point(|(one, _)| one.from < time.to);
    let overlapping = busy.get(..before).unwrap_or_default().iter().rev();
    overlapping
        .take_while(|(one, _)| one.to > time.from)
        .filter_map(|(_, show)| match show {
            Show::Busy => Some(Missing::Busy),
            Show::Oof => Some(Missing::Oof),
            Show::Tentative => Some(Missing::Perhaps),
            // Elsewhere is where one works, too.
            Show::Elsewhere => None,
        })
        .min()
}

/// The first quarter of an hour from an instant on, as clocks show it.
fn first_quarter(from: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let local = zone.to_datetime(from);
    let over = (i64::from(local.minute()) * 60 + i64::from(local.second())).rem_euclid(QUARTER);
    if over == 0 && local.subsec_nanosecond() == 0 {
        return Some(from);
    }
    let at = from
        .checked_add(SignedDuration::from_secs(QUARTER - over))
        .ok()?;
    Timestamp::from_second(at.as_second()).ok()
}
