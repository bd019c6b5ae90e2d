//! The state that an undo id refers to, as the store keeps it.

use std::collections::BTreeSet;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{AccountId, DraftId, FolderId};
use daysheet_core::provider::mail::MailState;
use serde::{Deserialize, Serialize};

use crate::pipeline::context::Context;
use crate::store::SealedText;

/// The state needed for an undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum UndoState {
    /// A change to messages, by account.
    Mail(Vec<AccountUndo>),
    /// An edit of a draft.
    Draft(DraftUndo),
    /// Writes to events, in the order in which they are undone.
    Events { events: Vec<EventUndo> },
}

/// A change in one account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AccountUndo {
    /// The account's id.
    pub(crate) account: AccountId,
    pub(crate) mail: Vec<MessageUndo>,
    /// The folders and labels that were created for it, which stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) created: Vec<CreatedUndo>,
}

/// A folder or label that a change created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CreatedUndo {
    /// The provider's id.
    pub(crate) id: FolderId,
    /// True for a category: a label that is not a folder.
    pub(crate) category: bool,
}

/// A change to one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageUndo {
    pub(crate) before: MailState,
    /// `None` if unknown.
    pub(crate) after: Option<MailState>,
}

/// An edit of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DraftUndo {
    /// The account's id.
    pub(crate) account: AccountId,
    /// The provider's id of the draft.
    pub(crate) draft: DraftId,
    /// The sealed content before the edit.
    pub(crate) sealed: SealedText,
    /// The hash of the content after it; empty if unknown.
    pub(crate) after: String,
}

/// A write to an event. Without `sealed` it was created, without `version` deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventUndo {
    /// The handle, which a restored event keeps even if its id is a new one.
    pub(crate) event: String,
    /// The sealed event before the write.
    pub(crate) sealed: Option<SealedText>,
    /// The version after it; empty if unknown.
    pub(crate) version: Option<String>,
    /// The hash of the content after it, by which a state that was restored is recognized.
    pub(crate) content: String,
}

/// The writes to events of one call, as far as they can be undone.
#[derive(Debug, Default)]
pub(crate) struct UndoLog {
    /// The number of its id, once it is stored.
    pub(crate) number: Option<u64>,
    /// The number of writes that were made, whether they can be undone or not.
    pub(crate) writes: usize,
    /// The ids of the accounts.
    pub(crate) accounts: BTreeSet<AccountId>,
    pub(crate) events: Vec<EventUndo>,
}

impl UndoState {
    /// Parses the stored state of the undo id `id`.
    pub(crate) fn parse_stored(id: &str, state: &str) -> Result<Self> {
        serde_json::from_str(state)
            .map_err(|_| Error::new(ErrorKind::Store, format!("`{id}` cannot be read")))
    }

    /// Returns the form that is stored.
    pub(crate) fn write(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|_| Error::new(ErrorKind::Internal, "a change could not be recorded"))
    }
}

/// Stores the writes that can be undone so far.
///
/// # Errors
/// [`ErrorKind::Store`].
pub(crate) async fn save_undo(ctx: &Context, log: &mut UndoLog) -> Result<()> {
    let state = UndoState::Events { events: log.events.clone() }.write()?;
    let state = Some(state).filter(|_| !log.events.is_empty());
    match (log.number, state) {
        (None, None) => {}
        (None, Some(state)) => {
            let accounts: Vec<&str> = log.accounts.iter().map(AccountId::as_str).collect();
            let accounts = accounts.join(" ");
            log.number = Some(ctx.store.keep_undo(&accounts, "events", &state).await?);
        }
        (Some(number), state) => ctx.store.trim_undo(number, state.as_deref()).await?,
    }
    // An undo without events is not offered.
    log.number = log.number.filter(|_| !log.events.is_empty());
    Ok(())
}
