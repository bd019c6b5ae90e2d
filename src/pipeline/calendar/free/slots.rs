//! Slots for a meeting, the best first, and stretches in which people are free.
//!
//! A slot begins at a quarter of an hour and is within everyone's hours. The best slots are those
//! with the fewest busy people, then those with the fewest tentatively free ones. Of equally good
//! slots the roundest time is taken, and then always the one furthest from those already taken, in
//! whole hours, so that the selection is spread over the range and not over one free morning. The
//! earliest of the best replaces the first. No two slots overlap. No clock and no I/O.

use std::cmp::Reverse;

use daysheet_core::words;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::hours::TimeStretch;
use super::people::{BusyKind, BusyPerson};

/// Seconds of the grid that slots begin on, in local time.
const QUARTER: i64 = 15 * 60;

/// A time at which a meeting could be held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MeetingSlot {
    pub(super) time: TimeStretch,
    /// The people not known to be free, by their positions, each with the reason.
    pub(super) missing: Vec<(usize, AbsenceReason)>,
}

words! {
    /// Why somebody is missing.
    #[derive(PartialOrd, Ord)]
    pub(super) enum AbsenceReason {
        /// Not free.
        Busy = "busy",
        /// Out of office.
        Oof = "oof",
        /// Free, unless they accept something else.
        Perhaps = "perhaps",
        /// Nobody knows.
        Unknown = "unknown",
    }
}

/// Returns the best slots of this length within `open`, the hours of everyone; quarters of hours
/// are in `zone`.
///
/// At least one of the first `request` people must be known to be available.
pub(super) fn slots(
    people: &[BusyPerson],
    request: usize,
    open: &[TimeStretch],
    zone: &TimeZone,
    (length, most): (SignedDuration, usize),
) -> Vec<MeetingSlot> {
    let mut all: Vec<SlotCandidate> = Vec::new();
    for stretch in open {
        let mut start = first_quarter(stretch.from, zone);
        while let Some(time) = start.and_then(|from| TimeStretch::new(from, length)) {
            if time.to > stretch.to {
                break;
            }
            if let Some(slot) = slot(people, request, time) {
                let count = |reasons: &[AbsenceReason]| {
                    let mut missing = slot.missing.iter().map(|(_, why)| why);
                    missing.by_ref().filter(|why| reasons.contains(why)).count()
                };
                let busy = count(&[AbsenceReason::Busy, AbsenceReason::Oof]);
                let perhaps = count(&[AbsenceReason::Perhaps]);
                let local = zone.to_datetime(time.from).minute();
                // Whole hours are remembered best, then halves.
                let odd = u8::from(local != 0) + u8::from(local % 30 != 0);
                all.push(SlotCandidate { class: (busy, perhaps), odd, slot });
            }
            start = time.from.checked_add(SignedDuration::from_secs(QUARTER)).ok();
        }
    }
    let earliest = all.iter().min_by_key(|one| (one.class, one.slot.time.from));
    let earliest = earliest.map(|one| one.slot.clone());
    let mut best: Vec<SlotCandidate> = Vec::new();
    while best.len() < most {
        let apart = |one: &SlotCandidate| {
            let hours = best.iter().map(|other| one.hours_from(other));
            hours.min().unwrap_or_default()
        };
        let next = all
            .iter()
            .enumerate()
            .min_by_key(|(_, one)| (one.class, Reverse(apart(one)), one.odd, one.slot.time.from));
        let Some(place) = next.map(|(place, _)| place) else {
            break;
        };
        let next = all.swap_remove(place);
        all.retain(|one| !one.slot.time.overlaps(next.slot.time));
        best.push(next);
    }
    best.sort_by_key(|one| (one.class, one.slot.time.from));
    if let (Some(first), Some(earliest)) = (best.first_mut(), earliest) {
        first.slot = earliest;
    }
    best.into_iter().map(|one| one.slot).collect()
}

/// Returns the stretches of `open` in which no one is known to be busy, by time. People who may be
/// busy, or whose times are unknown, are missing as in a slot.
pub(super) fn stretches(
    people: &[BusyPerson],
    request: usize,
    open: &[TimeStretch],
) -> Vec<MeetingSlot> {
    let mut found: Vec<MeetingSlot> = Vec::new();
    for part in open {
        let busy = people.iter().flat_map(|person| person.busy.iter().flatten());
        let mut bounds: Vec<Timestamp> = busy
            .flat_map(|(time, _)| [time.from, time.to])
            .filter(|at| part.from < *at && *at < part.to)
            .chain([part.from, part.to])
            .collect();
        bounds.sort_unstable();
        bounds.dedup();
        for (from, to) in bounds.iter().zip(bounds.iter().skip(1)) {
            let time = TimeStretch { from: *from, to: *to };
            let is_busy =
                |why: &AbsenceReason| matches!(why, AbsenceReason::Busy | AbsenceReason::Oof);
            let next = slot(people, request, time);
            let next = next.filter(|next| !next.missing.iter().any(|(_, why)| is_busy(why)));
            let Some(next) = next else { continue };
            match found.last_mut() {
                Some(last) if last.time.to == *from && last.missing == next.missing => {
                    last.time.to = *to;
                }
                _ => found.push(next),
            }
        }
    }
    found
}

/// A possible slot.
struct SlotCandidate {
    /// The numbers of busy and of tentatively free people.
    class: (usize, usize),
    /// 0 for a whole hour, 1 for half past, 2 for the other quarters.
    odd: u8,
    slot: MeetingSlot,
}

impl SlotCandidate {
    /// Returns the whole hours between the starts of two.
    fn hours_from(&self, other: &Self) -> i64 {
        let (one, other) = (self.slot.time.from, other.slot.time.from);
        one.duration_until(other).as_hours().abs()
    }
}

/// Returns the slot at a time, unless none of the requested people is known to be available.
fn slot(people: &[BusyPerson], request: usize, time: TimeStretch) -> Option<MeetingSlot> {
    let missing: Vec<_> = people
        .iter()
        .enumerate()
        .filter_map(|(at, person)| Some((at, why(person, time)?)))
        .collect();
    // A person who is only tentatively busy counts as available.
    let absent =
        |(at, why): &&(usize, AbsenceReason)| *at < request && *why != AbsenceReason::Perhaps;
    (missing.iter().filter(absent).count() < request).then_some(MeetingSlot { time, missing })
}

fn why(person: &BusyPerson, time: TimeStretch) -> Option<AbsenceReason> {
    let Some(busy) = &person.busy else {
        return Some(AbsenceReason::Unknown);
    };
    // Busy times do not overlap each other, so only the last ones before the end matter.
    let before = busy.partition_point(|(one, _)| one.from < time.to);
    let overlapping = busy.get(..before).unwrap_or_default().iter().rev();
    overlapping
        .take_while(|(one, _)| one.to > time.from)
        .filter_map(|(_, show)| match show {
            BusyKind::Busy => Some(AbsenceReason::Busy),
            BusyKind::Oof => Some(AbsenceReason::Oof),
            BusyKind::Tentative => Some(AbsenceReason::Perhaps),
            // Someone who works elsewhere can meet, too.
            BusyKind::Elsewhere => None,
        })
        .min()
}

/// Returns the first quarter of an hour from an instant on, in local time.
fn first_quarter(from: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let local = zone.to_datetime(from);
    let over = (i64::from(local.minute()) * 60 + i64::from(local.second())).rem_euclid(QUARTER);
    if over == 0 && local.subsec_nanosecond() == 0 {
        return Some(from);
    }
    let at = from.checked_add(SignedDuration::from_secs(QUARTER - over)).ok()?;
    Timestamp::from_second(at.as_second()).ok()
}
