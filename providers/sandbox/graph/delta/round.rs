//! A round of changes, and the form of its entries.

use serde_json::{Map, Value, json};

use crate::json::merge;

/// The sort key of an entry in its round.
pub(super) type EntryKey = (i64, u64);

/// A round of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangeRound {
    /// The mark after which changes are reported; everything is reported if it is zero.
    pub since: u64,
    /// The mark up to which changes are reported.
    pub until: u64,
    /// The entry before this page.
    pub after: Option<EntryKey>,
}

/// Returns the entry of an existing item.
pub(super) fn there(kind: &str, members: Map<String, Value>) -> Value {
    let mut entry = json!({ "@odata.type": format!("#microsoft.graph.{kind}") });
    merge(&mut entry, members.into());
    entry
}

/// Returns the entry of a removed item.
pub(super) fn removed_entry(kind: &str, id: String) -> Value {
    json!({
        "@odata.type": format!("#microsoft.graph.{kind}"),
        "id": id,
        "@removed": { "reason": "deleted" },
    })
}
