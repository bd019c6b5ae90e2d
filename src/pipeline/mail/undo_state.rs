//! What an undo id stands for, as the store keeps it.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::provider::mail::MailState;

/// What is kept for an undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum UndoState {
    /// A change to messages, by account.
    Mail(Vec<AccountUndo>),
    /// An edit of a draft.
    Draft(DraftUndo),
}

/// A change in one account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AccountUndo {
    /// The account's id.
    pub(super) account: String,
    pub(super) mail: Vec<MessageUndo>,
}

/// A change to one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MessageUndo {
    pub(super) before: MailState,
    /// Nothing if nobody knows.
    pub(super) after: Option<MailState>,
}

/// An edit of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DraftUndo {
    /// The account's id.
    pub(super) account: String,
    /// The provider's id of the draft.
    pub(super) draft: String,
    /// The sealed content before the edit.
    pub(super) sealed: String,
    /// The hash of the content after it; empty if unknown.
    pub(super) after: String,
}

impl UndoState {
    /// Reads the stored state of the undo id `id`.
    pub(super) fn read(id: &str, state: &str) -> Result<Self> {
        serde_json::from_str(state)
            .map_err(|_| Error::new(Kind::Store, format!("`{id}` cannot be read")))
    }

    /// Returns the form that is stored.
    pub(super) fn write(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|_| Error::new(Kind::Internal, "a change could not be recorded"))
    }
}
