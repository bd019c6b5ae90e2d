//! The messages that a call reads.

use crate::body::Readable;
use crate::error::Result;
use crate::provider::MessageContent;
use crate::schemas::{Field, MESSAGE};
use crate::tools::Columns;
use crate::words::Words;
use serde::{Deserialize, Serialize};

/// The columns of a message that is read.
pub(in crate::pipeline) const COLUMNS: &[&str] = &[
    "id", "date", "from", "to", "cc", "bcc", "subject", "flags", "draft", "thread", "auth", "warn",
    "answered", "unsubscribe",
];

/// The rest of a read, still to be shown; saved under a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::pipeline) struct ReadRest {
    #[serde(rename = "letters")]
    pub(in crate::pipeline) messages: Vec<MessageTarget>,
    pub(in crate::pipeline) body: String,
    pub(in crate::pipeline) quoted: bool,
    #[serde(default)]
    pub(in crate::pipeline) signature: bool,
    pub(in crate::pipeline) links: bool,
    /// The zone that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::pipeline) tz: Option<String>,
}

/// A message to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::pipeline) struct MessageTarget {
    /// The account's id.
    pub(in crate::pipeline) account: String,
    /// The provider's id.
    pub(in crate::pipeline) id: String,
}

/// A fetched message.
pub(in crate::pipeline) struct FetchedMessage {
    pub(in crate::pipeline) target: MessageTarget,
    pub(in crate::pipeline) message: MessageContent,
    pub(in crate::pipeline) readable: Readable,
}

/// Splits the messages into runs of the same account, as `fetch` has ordered them.
pub(in crate::pipeline) fn by_account(
    fetched: &[FetchedMessage],
) -> impl Iterator<Item = &[FetchedMessage]> {
    fetched.chunk_by(|one, other| one.target.account == other.target.account)
}

/// Returns the columns of a message that is read.
pub(in crate::pipeline) fn columns() -> Result<Vec<&'static Field>> {
    Columns::Named(COLUMNS.iter().map(|name| (*name).to_owned()).collect()).of(&MESSAGE)
}

/// Groups messages by account, in the order of the first of each.
pub(in crate::pipeline) fn by_owner(
    targets: Vec<MessageTarget>,
) -> Vec<(String, Vec<MessageTarget>)> {
    let mut groups: Vec<(String, Vec<MessageTarget>)> = Vec::new();
    for target in targets {
        match groups.iter_mut().find(|(account, _)| *account == target.account) {
            Some((_, group)) => group.push(target),
            None => groups.push((target.account.clone(), vec![target])),
        }
    }
    groups
}
