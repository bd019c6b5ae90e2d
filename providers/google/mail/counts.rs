//! How many messages Gmail's labels have.
//!
//! A list of labels has no counts: each label is a request. They are kept for a while, and the
//! history says which of them may be others by now.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use daysheet_core::project::Projection;
use serde_json::Value;

use super::changes::number;
use super::states::labels;
use super::{GmailMailbox, LABEL_LISTED, list, mask};
use crate::json::text;

/// What is kept of a label.
const COUNTS: &[&str] = &["messagesTotal", "messagesUnread", "threadsTotal", "threadsUnread"];
/// How long counts are kept: Gmail may count later than it writes its history.
const LAST: Duration = Duration::from_secs(600);
/// The records of the history that are read; with more, everything is counted again.
const RECORDS: &str = "500";

/// Labels with their counts.
pub(super) struct LabelCounts {
    since: Instant,
    /// What was requested of each.
    mask: String,
    /// Where the history was when they were counted.
    history: String,
    labels: HashMap<String, Value>,
}

impl GmailMailbox {
    /// Returns the labels with known counts, by their ids, as the projection reads them.
    pub(super) async fn known_counts(&self, projection: &Projection) -> HashMap<String, Value> {
        if !is_counted(projection) {
            return HashMap::new();
        }
        let mut counts = self.counts.lock().await;
        let known = counts
            .take()
            .filter(|known| known.since.elapsed() < LAST && known.mask == mask(projection));
        *counts = match known {
            Some(known) => self.still_true(known).await,
            None => None,
        };
        if counts.is_none() {
            // What changes from here on may change a count.
            *counts = self.history_id().await.ok().map(|history| LabelCounts {
                since: Instant::now(),
                mask: mask(projection),
                history,
                labels: HashMap::new(),
            });
        }
        counts.as_ref().map(|counts| counts.labels.clone()).unwrap_or_default()
    }

    /// Keeps the counts of labels.
    pub(super) async fn keep_counts(&self, projection: &Projection, counted: &[Value]) {
        if let Some(counts) = self.counts.lock().await.as_mut()
            && counts.mask == mask(projection)
        {
            let named = counted.iter().map(|label| (text(label, "id").to_owned(), label.clone()));
            counts.labels.extend(named);
        }
    }

    /// Drops the counts that may be others by now; all of them if that is not known.
    async fn still_true(&self, mut known: LabelCounts) -> Option<LabelCounts> {
        let params = [
            ("startHistoryId", known.history.as_str()),
            ("maxResults", RECORDS),
            (
                "fields",
                "historyId,nextPageToken,history(messagesAdded/message/labelIds,\
                 messagesDeleted/message/id,labelsAdded(labelIds,message/labelIds),\
                 labelsRemoved(labelIds,message/labelIds))",
            ),
        ];
        // It fails, too, if it begins before what Gmail still has.
        let page = self.get(&["history"], &params).await.ok()?;
        let history = number(&page).filter(|_| text(&page, "nextPageToken").is_empty())?;
        let records = list(&page, "history");
        // Of a deleted message it is not known which labels it had.
        let deleted = records.iter().any(|record| !list(record, "messagesDeleted").is_empty());
        let mut changed: HashSet<String> = HashSet::new();
        for record in &records {
            for key in ["messagesAdded", "labelsAdded", "labelsRemoved"] {
                for entry in list(record, key) {
                    changed.extend(labels(&entry));
                    changed.extend(entry.get("message").map(labels).unwrap_or_default());
                }
            }
        }
        known.labels.retain(|id, _| !deleted && !changed.contains(id));
        known.history = history;
        Some(known)
    }
}

/// Returns true if a projection reads nothing but what lists have, and counts.
fn is_counted(projection: &Projection) -> bool {
    let given: Vec<&str> = LABEL_LISTED.iter().chain(COUNTS).copied().collect();
    projection.within(&given) && !projection.within(LABEL_LISTED)
}
