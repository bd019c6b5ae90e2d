//! The rows of all accounts in one order, one of each event.

use std::collections::HashMap;

use super::pages::{AgendaPart, EventRow};
use super::position::EventPosition;
use crate::pipeline::answer::cursor::IdDigest;

/// The rows of all accounts in one order.
pub(super) struct MergedRows {
    /// The rows to show, each with the position of its part.
    pub(super) shown: Vec<(usize, EventRow)>,
    /// The number of copies left out.
    pub(super) copies: usize,
    /// The number of rows left, as far as known.
    pub(super) left: usize,
    /// The positions of parts that have some of those.
    pub(super) rest: Vec<usize>,
    /// The position before which all events were shown; `None` if no more events are left.
    pub(super) end: Option<EventPosition>,
}

/// Merges the rows of all accounts in one order, one for each event, and takes as many
/// as are requested and known to be next.
pub(super) fn merge(parts: &mut [AgendaPart], limit: usize) -> MergedRows {
    let known = parts.iter().map(|part| part.gathered.reach()).min();
    let known = known.unwrap_or(i64::MAX);
    let mut all: Vec<(usize, EventRow)> = Vec::new();
    let mut places: HashMap<IdDigest, usize> = HashMap::new();
    let mut copies: HashMap<IdDigest, usize> = HashMap::new();
    for (at, part) in parts.iter_mut().enumerate() {
        for row in part.gathered.rows.drain(..) {
            let known = places.get(&row.mark).copied();
            match known.and_then(|place| all.get_mut(place)) {
                None => {
                    places.insert(row.mark, all.len());
                    all.push((at, row));
                }
                Some(copy) => {
                    *copies.entry(row.mark).or_default() += 1;
                    // Of several copies, the reader's own is shown, or else one in a writable
                    // calendar.
                    if row.rank > copy.1.rank {
                        *copy = (at, row);
                    }
                }
            }
        }
    }
    all.sort_by(|(one_part, one), (other_part, other)| {
        (one.at, &one.event.title, one_part, &one.event.id)
            .cmp(&(other.at, &other.event.title, other_part, &other.event.id))
    });
    // From `known` on, a row may have to follow one that is not fetched yet.
    let fit = all.partition_point(|(_, row)| row.at.start() < known);
    let rest = all.split_off(fit.min(limit));
    let end = match all.last() {
        _ if rest.is_empty() && !parts.iter().any(|part| part.gathered.is_open()) => None,
        Some((_, last)) if all.len() == limit => Some(last.at),
        // A short page ends where an account was not read further.
        _ => Some(EventPosition::before(known)),
    };
    MergedRows {
        copies: all.iter().filter_map(|(_, row)| copies.get(&row.mark)).sum(),
        left: rest.len(),
        rest: rest.iter().map(|(part, _)| *part).collect(),
        shown: all,
        end,
    }
}
