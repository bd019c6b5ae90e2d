//! Shared parts of the steps of a draft.

use std::sync::Arc;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::mail::OutgoingMessage;
use daysheet_core::provider::{Account, Mailbox};
use daysheet_core::text::Note;

use crate::pipeline::context::Context;

/// The size, in bytes, up to which a text is processed on the thread of its session.
pub(crate) const LONG: usize = 64 << 10;

/// The mailbox that a draft is in.
pub(super) struct DraftContext {
    pub(super) account: Account,
    pub(super) mailbox: Arc<dyn Mailbox>,
}

impl DraftContext {
    /// Opens the mailbox of an account.
    pub(super) fn open(ctx: &Context, account: Account) -> Result<Self> {
        Ok(Self { mailbox: ctx.connect.mailbox(&account)?, account })
    }
}

/// Processes the text of a message of this size, on a thread of its own if it is long: a text may
/// have many megabytes, and the session must respond meanwhile.
pub(super) async fn off_loop<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if size <= LONG {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Error::new(ErrorKind::Internal, "the text of a message could not be read"))
}

/// The message of a future draft, with its notes.
pub(super) struct NewDraft {
    pub(super) content: OutgoingMessage,
    pub(super) notes: Vec<Note>,
    /// True if its text is known to be the user's alone.
    pub(super) own: bool,
}
