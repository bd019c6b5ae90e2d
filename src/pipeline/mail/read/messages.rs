//! The messages that a call reads: their columns, their order by account, and those that a
//! cursor keeps for later.

use daysheet_core::body::ReadableText;
use daysheet_core::error::Result;
use daysheet_core::ids::{AccountId, MessageId};
use daysheet_core::provider::MessageContent;
use daysheet_core::schemas::{MESSAGE, TableColumn};
use serde::{Deserialize, Serialize};

use crate::tools::ColumnChoice;

/// The columns of a message that is read.
pub(crate) const COLUMNS: &[&str] = &[
    "id", "date", "from", "to", "cc", "bcc", "subject", "flags", "draft", "thread", "auth", "warn",
    "answered", "unsubscribe",
];

/// The rest of a read, still to be shown; saved under a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReadRest {
    // The stored name, which existing cursors have.
    #[serde(rename = "letters")]
    pub(super) messages: Vec<MessageTarget>,
    pub(super) body: String,
    pub(super) quoted: bool,
    #[serde(default)]
    pub(super) signature: bool,
    pub(super) links: bool,
    /// The zone that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tz: Option<String>,
}

/// A message to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct MessageTarget {
    /// The account's id.
    pub(crate) account: AccountId,
    /// The provider's id.
    pub(crate) id: MessageId,
}

/// A fetched message.
pub(super) struct FetchedMessage {
    pub(super) target: MessageTarget,
    pub(super) message: MessageContent,
    pub(super) readable: ReadableText,
}

/// Splits the messages into runs of the same account, as `fetch_messages` has ordered them.
pub(super) fn by_account(fetched: &[FetchedMessage]) -> impl Iterator<Item = &[FetchedMessage]> {
    fetched.chunk_by(|one, other| one.target.account == other.target.account)
}

/// Returns the columns of a message that is read.
pub(crate) fn columns() -> Result<Vec<&'static TableColumn>> {
    ColumnChoice::Named(COLUMNS.iter().map(|name| (*name).to_owned()).collect())
        .columns_of(&MESSAGE)
}

/// Groups messages by account, in the order of the first of each.
pub(crate) fn by_owner(targets: Vec<MessageTarget>) -> Vec<(AccountId, Vec<MessageTarget>)> {
    let mut groups: Vec<(AccountId, Vec<MessageTarget>)> = Vec::new();
    for target in targets {
        match groups.iter_mut().find(|(account, _)| *account == target.account) {
            Some((_, group)) => group.push(target),
            None => groups.push((target.account.clone(), vec![target])),
        }
    }
    groups
}
