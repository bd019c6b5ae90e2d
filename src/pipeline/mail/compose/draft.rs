//! What the steps of a draft share.

use crate::error::{Error, Kind, Result};
use crate::provider::mail::OutgoingMessage;
use crate::provider::{Account, Mailbox};
use crate::text::Note;
use std::sync::Arc;

/// Shorter texts, in bytes, are worked on at once.
pub(in crate::pipeline) const LONG: usize = 64 << 10;

/// The mailbox that a draft is in.
pub(in crate::pipeline) struct DraftContext {
    pub(in crate::pipeline) account: Account,
    pub(in crate::pipeline) mailbox: Arc<dyn Mailbox>,
}

/// Works on the text of a message of this size, on a thread of its own if it is long: it may
/// have many megabytes, and the session has to respond meanwhile.
pub(in crate::pipeline) async fn off_loop<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if size <= LONG {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Error::new(Kind::Internal, "the text of a message could not be read"))
}

/// A message that is to become a draft, with its notes.
pub(in crate::pipeline) struct NewDraft {
    pub(in crate::pipeline) content: OutgoingMessage,
    pub(in crate::pipeline) notes: Vec<Note>,
    /// True if its text is known to be the user's: nobody else has a part in it.
    pub(in crate::pipeline) own: bool,
}
