//! How long a message in doubt may still be sent.

use std::time::Duration;

/// How long a message in doubt is waited for.
#[derive(Debug, Clone, Copy)]
pub(in crate::pipeline) struct SendRecovery {
    /// How long it is looked for before it is reported as unknown.
    pub(in crate::pipeline) look: Duration,
    /// For how long after sending began it may still be sent: longer than any process
    /// waits for its call.
    pub(in crate::pipeline) open: Duration,
}

impl SendRecovery {
    /// Sets that messages in doubt are looked for as long as other writes are.
    pub(in crate::pipeline) fn new(look: Duration) -> Self {
        Self { look, open: Duration::from_secs(180) }
    }
}
