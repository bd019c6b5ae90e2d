//! The audit log: what was written, by whom, to whom, with what outcome.
//!
//! One JSON object per line in `audit.jsonl` in the state folder, readable by
//! its owner alone. No subject, no text, and of recipients the domains only.

use serde_json::{Value, json};

use super::Pipeline;
use crate::error::Result;

/// One thing that was written, or refused.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry<'a> {
    /// The account's address.
    pub(super) account: &'a str,
    /// The tool.
    pub(super) tool: &'a str,
    /// What was done.
    pub(super) op: &'a str,
    /// Handles or providers' ids of what it was done to.
    pub(super) ids: Vec<String>,
    /// Addresses of recipients; their domains are kept.
    pub(super) recipients: Vec<&'a str>,
    /// What became of it.
    pub(super) outcome: &'a str,
}

impl Pipeline {
    /// Adds a line to the audit log.
    ///
    /// # Errors
    /// [`Kind::Store`](crate::error::Kind::Store) if it cannot be written: then
    /// nothing should be.
    pub(super) async fn audit(&self, entry: Entry<'_>) -> Result<()> {
        let mut domains: Vec<&str> = entry
            .recipients
            .iter()
            .filter_map(|address| Some(address.rsplit_once('@')?.1))
            .collect();
        domains.sort_unstable();
        domains.dedup();
        let line: Value = json!({
            "time": self.clock().now.to_string(),
            "account": entry.account,
            "tool": entry.tool,
            "op": entry.op,
            "ids": entry.ids,
            "domains": domains,
            "recipients": entry.recipients.len(),
            "outcome": entry.outcome,
        });
        self.store.append_audit(&line.to_string())
    }
}
