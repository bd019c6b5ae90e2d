//! Continues Outlook's searches beyond the results that Graph returns.
//!
//! A `$search` ends after 1,000 results. It is then repeated for messages up to the time of the
//! oldest result. Messages of that second are returned again, and are recognized by short hashes.
//! `list.rs` makes the requests and reads the responses.

use serde_json::Value;

use super::mailbox::count as length;
use crate::json::text;
use crate::written::hash;

/// The number of results after which Graph ends a search.
const ENDS: u64 = 1_000;
/// Separates the request of a cursor from the progress of its search.
const COUNTED: char = '#';

/// A search that can be repeated from any time.
pub(super) struct OnwardSearch {
    /// The path of the list, below the mailbox.
    pub folder: String,
    pub kql: String,
    pub select: String,
    /// True if sizes are requested.
    pub sized: bool,
    pub top: String,
}

/// The progress of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SearchProgress {
    /// The number of results before this page, since the search was last repeated.
    count: u64,
    /// The upper bound on the time of results; empty in the first search.
    bound: String,
    /// The time of the oldest result so far, and short hashes of the messages received at that
    /// time.
    oldest: String,
    ids: Vec<String>,
}

/// The effect of a page.
pub(super) struct PageOutcome {
    /// The progress after the page.
    pub progress: SearchProgress,
    /// True if the search must be repeated with a new bound.
    pub anew: bool,
    /// True if there may be more results that cannot be reached.
    pub ends: bool,
}

impl SearchProgress {
    /// Returns the request of a cursor and the progress of its search; without a cursor, the
    /// initial progress.
    pub fn read(cursor: Option<&str>) -> (Option<&str>, Self) {
        let Some((request, progress)) = cursor.and_then(|cursor| cursor.rsplit_once(COUNTED))
        else {
            return (cursor, Self::default());
        };
        let mut parts = progress.split(',').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        let progress = Self {
            count: part().parse().unwrap_or(0),
            bound: part(),
            oldest: part(),
            ids: parts.collect(),
        };
        (Some(request), progress)
    }

    /// Returns a request as a cursor.
    pub fn cursor(&self, request: &str) -> String {
        let Self { count, bound, oldest, ids } = self;
        let ids = ids.join(",");
        format!("{request}{COUNTED}{count},{bound},{oldest},{ids}")
    }

    /// Returns the upper bound on the time of results; empty in the first search.
    pub fn bound(&self) -> &str {
        &self.bound
    }

    /// Processes a page, and removes messages that were returned before. `last` is true if Graph
    /// returns no further page.
    pub fn step(&self, items: &mut Vec<Value>, last: bool) -> PageOutcome {
        let mut progress = self.clone();
        progress.count = self.count.saturating_add(length(items.len()));
        // A repeated search begins with known messages. If it does not, the service interpreted the
        // bound differently, and results are missing.
        let first = self.count == 0 && !self.bound.is_empty();
        let gap = first && !items.iter().any(|item| self.knows(item));
        items.retain(|item| !gap && !self.knows(item));
        items.iter().for_each(|item| progress.add(item));
        // A search with fewer results ends because there are no more.
        let full = last && progress.count >= ENDS;
        let ends = gap || full && progress.oldest == self.bound;
        if full {
            progress.count = 0;
            progress.bound.clone_from(&progress.oldest);
        }
        PageOutcome { progress, anew: full, ends }
    }

    /// Returns true if the message was returned before.
    fn knows(&self, item: &Value) -> bool {
        let time = text(item, "receivedDateTime");
        let newer = !self.bound.is_empty() && time > self.bound.as_str();
        newer || time == self.oldest && self.ids.contains(&hash(text(item, "id")))
    }

    fn add(&mut self, item: &Value) {
        let time = text(item, "receivedDateTime");
        if time.is_empty() {
            return;
        }
        if self.oldest.is_empty() || time < self.oldest.as_str() {
            time.clone_into(&mut self.oldest);
            self.ids.clear();
        }
        if time == self.oldest {
            self.ids.push(hash(text(item, "id")));
        }
    }
}
