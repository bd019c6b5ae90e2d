//! Graph's delta queries: the changes in folders and calendars.
//!
//! A feed is one folder or one calendar. A round fetches the pages of a feed until Graph returns
//! the link for the next call; the pages of many feeds are fetched in one batch. The callers
//! interpret the items.

use std::collections::BTreeMap;

use daysheet_core::error::{Error, ErrorKind, Result};
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::client::GraphAccount;
use super::response::{not_ours, page};
use crate::json::text;
use crate::tracked::TrackedItems;

/// The page size, and the maximum number of pages of a feed in one round.
const SIZE: usize = 200;
const PAGES: usize = 100;
/// The maximum difference between our clock and the service's.
const SHORTLY: SignedDuration = SignedDuration::from_mins(5);

/// The position in a feed after a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeltaPoint {
    /// The request for the next changes.
    pub link: String,
    /// The time of that call, by our clock.
    #[serde(with = "millis")]
    seen: Timestamp,
    /// Items created shortly before that. They may be reported again as created after it, because
    /// clocks differ and some times have whole seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edge: Vec<String>,
    /// The time at which the feed was begun; it matters for feeds of a fixed range.
    #[serde(with = "millis")]
    pub begun: Timestamp,
    /// The items of the feed, as far as callers track them.
    #[serde(default)]
    pub tracked: TrackedItems,
}

impl DeltaPoint {
    /// Returns the position after a round; `point` is the previous position.
    pub fn next(
        point: Option<&Self>,
        round: &DeltaRound,
        now: Timestamp,
        created: impl Fn(&Value) -> Option<Timestamp>,
    ) -> Self {
        let mut edge: Vec<String> = Vec::new();
        let (mut seen, mut begun) = (now, now);
        let mut tracked = TrackedItems::new();
        if let Some(point) = point {
            tracked = point.tracked.clone();
            begun = point.begun;
            // Remaining pages still belong to the previous position.
            if round.more {
                seen = point.seen;
            }
            // Positions close together share the items between them.
            if seen.duration_since(point.seen) < SHORTLY {
                edge.clone_from(&point.edge);
            }
        }
        let from = seen.checked_sub(SHORTLY).unwrap_or(seen);
        if point.is_none() || !round.more {
            for item in &round.items {
                let id = text(item, "id");
                let shortly = created(item).is_some_and(|created| created >= from);
                if shortly && !edge.iter().any(|known| known == id) {
                    edge.push(id.to_owned());
                }
            }
        }
        Self { link: round.link.clone(), seen, edge, begun, tracked }
    }

    /// Returns true if an item was created after this position.
    pub fn is_new(&self, id: &str, created: Option<Timestamp>) -> bool {
        let from = self.seen.checked_sub(SHORTLY).unwrap_or(self.seen);
        created.is_some_and(|created| created >= from) && !self.edge.iter().any(|known| known == id)
    }

    /// Returns true if an item has not changed since this position, nor shortly before.
    pub fn is_old(&self, changed: Option<Timestamp>) -> bool {
        let from = self.seen.checked_sub(SHORTLY).unwrap_or(self.seen);
        changed.is_some_and(|changed| changed < from)
    }
}

/// Instants in milliseconds, to keep cursors short.
mod millis {
    use jiff::Timestamp;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(at.as_millisecond())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        Timestamp::from_millisecond(i64::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// The positions in the feeds, by the id of each.
pub type DeltaPoints = BTreeMap<String, DeltaPoint>;

/// The result of one round of a feed.
#[derive(Debug, Default)]
pub struct DeltaRound {
    /// Items that are new or have changed, the latest state of each.
    pub items: Vec<Value>,
    /// The ids of items that have left the feed.
    pub gone: Vec<String>,
    /// The request to continue with.
    pub link: String,
    /// True if more pages can be fetched immediately.
    pub more: bool,
}

/// Runs one round of each feed. Returns one result for each, in order.
pub async fn rounds(graph: &GraphAccount, requests: &[String]) -> Vec<Result<DeltaRound>> {
    let mut rounds: Vec<Result<DeltaRound>> = requests
        .iter()
        .map(|request| {
            Ok(DeltaRound { link: request.clone(), more: true, ..DeltaRound::default() })
        })
        .collect();
    let mut pages: Vec<Vec<String>> = vec![Vec::new(); requests.len()];
    for _ in 0..PAGES {
        let open: Vec<usize> = rounds
            .iter()
            .enumerate()
            .filter(|(_, round)| round.as_ref().is_ok_and(|round| round.more))
            .map(|(at, _)| at)
            .collect();
        if open.is_empty() {
            break;
        }
        let links: Vec<String> = open
            .iter()
            .filter_map(|at| Some(rounds.get(*at)?.as_ref().ok()?.link.clone()))
            .collect();
        let answers = graph.batch_of_pages(&links, SIZE).await;
        for (at, answer) in open.into_iter().zip(answers) {
            let (Some(round), Some(last)) = (rounds.get_mut(at), pages.get_mut(at)) else {
                continue;
            };
            let read = match (answer, round.as_mut()) {
                (Ok(answer), Ok(round)) => add(graph, round, last, answer),
                (Err(error), _) => Err(error),
                _ => continue,
            };
            if let Err(error) = read {
                *round = Err(error);
            }
        }
    }
    rounds
}

/// Adds a page to a round; `last` has the ids of the previous page.
fn add(
    graph: &GraphAccount,
    round: &mut DeltaRound,
    last: &mut Vec<String>,
    answer: Value,
) -> Result<()> {
    let delta = text(&answer, "@odata.deltaLink").to_owned();
    let (items, next) = page(answer)?;
    let ids: Vec<String> = items.iter().map(|item| text(item, "id").to_owned()).collect();
    // The service has been seen to return the same page forever.
    if !ids.is_empty() && ids == *last {
        return Err(Error::new(ErrorKind::Provider(200), "Outlook's list of changes does not end")
            .next("call changes without cursor"));
    }
    *last = ids;
    for item in items {
        let id = text(&item, "id").to_owned();
        if id.is_empty() {
            continue;
        }
        // A later page has the later state of an item.
        round.items.retain(|known| text(known, "id") != id);
        round.gone.retain(|known| *known != id);
        match item.get("@removed") {
            Some(_) => round.gone.push(id),
            None => round.items.push(item),
        }
    }
    round.more = next.is_some();
    let link = next.unwrap_or(delta);
    if link.is_empty() {
        return Err(not_ours("list of changes"));
    }
    round.link = graph.resolve_next_link(&link)?;
    Ok(())
}

/// Returns true if a link was refused as expired.
pub fn is_too_old(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Provider(400 | 410))
}

/// Reads a cursor.
pub fn read<T: DeserializeOwned>(cursor: &str) -> Result<T> {
    serde_json::from_str(cursor).map_err(|_opaque| {
        Error::argument("the cursor does not belong to Outlook's changes")
            .next("call changes without cursor")
    })
}

/// Writes a cursor.
pub fn write(points: &DeltaPoints) -> Result<String> {
    serde_json::to_string(points)
        .map_err(|_opaque| Error::new(ErrorKind::Internal, "a cursor could not be saved"))
}
