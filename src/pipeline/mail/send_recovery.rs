//! How long a message in doubt is looked for, and how long it may still be sent.

use std::time::Duration;

/// How long a message in doubt is waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SendRecovery {
    /// How long it is looked for before it is reported as unknown.
    pub(crate) look: Duration,
    /// For how long after sending began it may still be sent: longer than any process
    /// waits for its call.
    pub(crate) open: Duration,
}

impl SendRecovery {
    /// Sets that messages in doubt are looked for as long as other writes are.
    pub(crate) fn new(look: Duration) -> Self {
        Self { look, open: Duration::from_secs(180) }
    }
}
