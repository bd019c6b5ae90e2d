//! What the steps of a draft share.

use std::sync::Arc;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::mail::OutgoingMessage;
use daysheet_core::provider::{Account, Mailbox};
use daysheet_core::text::Note;

/// Shorter texts, in bytes, are worked on at once.
pub(crate) const LONG: usize = 64 << 10;

/// The mailbox that a draft is in.
pub(super) struct DraftContext {
    pub(super) account: Account,
    pub(super) mailbox: Arc<dyn Mailbox>,
}

/// Works on the text of a message of this size, on a thread of its own if it is long: it may
/// have many megabytes, and the session has to respond meanwhile.
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

/// A message that is to become a draft, with its notes.
pub(super) struct NewDraft {
    pub(super) content: OutgoingMessage,
    pub(super) notes: Vec<Note>,
    /// True if its text is known to be the user's: nobody else has a part in it.
    pub(super) own: bool,
}
