//! Continues a search of Outlook's where Graph ends it.
//!
//! A `$search` ends after a number of results. It is repeated for messages until the
//! time of the oldest of them; the messages of that second, which come again, are
//! recognized by short hashes. `list.rs` makes the requests and reads the responses.

use serde_json::Value;

use super::count as length;
use crate::json::text;
use crate::written::hash;

/// The number of results after which Graph ends a search.
const ENDS: u64 = 1_000;
/// Precedes the progress of a search in a cursor.
const COUNTED: char = '#';

/// A search, from any time on.
pub(super) struct OnwardSearch {
    /// Where, below the mailbox.
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
    /// The time it was repeated from; empty for the newest.
    bound: String,
    /// The time of the oldest result so far, and short hashes of the messages of
    /// that time.
    oldest: String,
    ids: Vec<String>,
}

/// The result of a page.
pub(super) struct PageOutcome {
    /// The progress of the search after it.
    pub progress: SearchProgress,
    /// True if the search has to be repeated.
    pub anew: bool,
    /// True when there may be more, and no way to it.
    pub ends: bool,
}

impl SearchProgress {
    /// Returns the request in a cursor, and the progress of its search; the beginning
    /// without one.
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

    /// Returns the time that the search starts from; empty for the newest.
    pub fn bound(&self) -> &str {
        &self.bound
    }

    /// Takes in a page, which is the `last` one that Graph returns, and removes from it
    /// what came before.
    pub fn step(&self, items: &mut Vec<Value>, last: bool) -> PageOutcome {
        let mut progress = self.clone();
        progress.count = self.count.saturating_add(length(items.len()));
        // A repeated search begins with known messages; if it does not, the time was
        // interpreted differently, and there is a gap.
        let first = self.count == 0 && !self.bound.is_empty();
        let gap = first && !items.iter().any(|item| self.knows(item));
        items.retain(|item| !gap && !self.knows(item));
        items.iter().for_each(|item| progress.add(item));
        let full = last && progress.count >= ENDS;
        let ends = gap || full && progress.oldest == self.bound;
        if full {
            progress.count = 0;
            progress.bound.clone_from(&progress.oldest);
        }
        PageOutcome { progress, anew: full, ends }
    }

    /// Returns true for a message that came before.
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
