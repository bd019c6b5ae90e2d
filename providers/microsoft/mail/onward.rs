//! How a search of Outlook's goes on where Graph ends it.
//!
//! A `$search` ends after so many results. It is asked anew for what came until
//! the time of the oldest of them; the messages of that second, which come again,
//! are known by short hashes. How a request is made, and what of its answer is
//! kept, is up to `list.rs`.

use serde_json::Value;

use super::count as length;
use crate::json::text;
use crate::written::hash;

/// Results after which a search of Graph's ends.
const ENDS: u64 = 1_000;
/// Stands in a cursor before how far a search has come.
const COUNTED: char = '#';

/// A search, from any time on.
pub(super) struct Search {
    /// Where, below the mailbox.
    pub folder: String,
    pub kql: String,
    pub select: String,
    pub top: String,
}

/// How far a search has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// How many results came before this page, since Graph was last asked anew.
    count: u64,
    /// The time that it was asked from then; none for the newest.
    bound: String,
    /// The time of the oldest result so far, and short hashes of the messages of
    /// that time.
    oldest: String,
    ids: Vec<String>,
}

/// What a page comes to.
pub(super) struct Step {
    /// How far the search has come with it.
    pub progress: Progress,
    /// True when Graph has to be asked anew.
    pub anew: bool,
    /// True when there may be more, and no way to it.
    pub ends: bool,
}

impl Progress {
    /// The request in a cursor, and how far the search had come; the beginning
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

    /// A request as a cursor.
    pub fn cursor(&self, request: &str) -> String {
        let Self { count, bound, oldest, ids } = self;
        let ids = ids.join(",");
        format!("{request}{COUNTED}{count},{bound},{oldest},{ids}")
    }

    /// The time that Graph is asked from; none for the newest.
    pub fn bound(&self) -> &str {
        &self.bound
    }

    /// Takes a page in, which is the `last` one that Graph gives, and leaves in it
    /// what did not come before.
    pub fn step(&self, items: &mut Vec<Value>, last: bool) -> Step {
        let mut progress = self.clone();
        progress.count = self.count.saturating_add(length(items.len()));
        // What is asked from a time on begins with what was there before; if it
        // does not, the time was understood otherwise, and there is a gap.
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
        Step { progress, anew: full, ends }
    }

    /// True for a message that came before.
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
