//! Message counts of Gmail's labels.
//!
//! A list of labels has no counts, and each label costs a request. Counts are therefore cached for
//! a while, and the history shows which of them may have changed.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use daysheet_core::ids::FolderId;
use daysheet_core::project::Projection;
use serde_json::Value;

use super::fetch::{LABEL_LISTED, history_of, list, mask};
use super::mailbox::{GmailMailbox, LabelCounts};
use super::states::labels;
use crate::json::text;

/// The cached fields of a label.
const COUNTS: &[&str] = &["messagesTotal", "messagesUnread", "threadsTotal", "threadsUnread"];
/// The time for which counts are cached: Gmail may update a count later than its history.
const LAST: Duration = Duration::from_mins(10);
/// The number of history records that are read; if there are more, all labels are counted again.
const RECORDS: &str = "500";

impl GmailMailbox {
    /// Returns the labels with cached counts, by id, as the projection reads them.
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
            // Taken before counting: any change from here on may affect a count.
            *counts = self.history_id().await.ok().map(|history| LabelCounts {
                since: Instant::now(),
                mask: mask(projection),
                history,
                labels: HashMap::new(),
            });
        }
        counts.as_ref().map(|counts| counts.labels.clone()).unwrap_or_default()
    }

    /// Caches the counts of labels.
    pub(super) async fn keep_counts(&self, projection: &Projection, counted: &[Value]) {
        if let Some(counts) = self.counts.lock().await.as_mut()
            && counts.mask == mask(projection)
        {
            let named = counted.iter().map(|label| (text(label, "id").to_owned(), label.clone()));
            counts.labels.extend(named);
        }
    }

    /// Drops counts that may have changed; all of them if the history cannot tell.
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
        // This also fails if Gmail no longer has the history since then.
        let page = self.get(&["history"], &params).await.ok()?;
        let history = history_of(&page).filter(|_| text(&page, "nextPageToken").is_empty())?;
        let records = list(&page, "history");
        // The history does not say which labels a deleted message had.
        let deleted = records.iter().any(|record| !list(record, "messagesDeleted").is_empty());
        let mut changed: HashSet<FolderId> = HashSet::new();
        for record in &records {
            for key in ["messagesAdded", "labelsAdded", "labelsRemoved"] {
                for entry in list(record, key) {
                    changed.extend(labels(&entry));
                    changed.extend(entry.get("message").map(labels).unwrap_or_default());
                }
            }
        }
        known.labels.retain(|id, _| !deleted && !changed.contains(id.as_str()));
        known.history = history;
        Some(known)
    }
}

/// Returns true if a projection reads counts, and nothing besides them that lists lack.
fn is_counted(projection: &Projection) -> bool {
    let given: Vec<&str> = LABEL_LISTED.iter().chain(COUNTS).copied().collect();
    projection.within(&given) && !projection.within(LABEL_LISTED)
}
