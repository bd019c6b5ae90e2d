//! The times for which a message in doubt is looked for, and within which it may still be sent.

use std::time::Duration;

/// The times that apply to a message in doubt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SendRecovery {
    /// The time for which it is looked for before it is reported as unknown.
    pub(crate) look: Duration,
    /// The time, from when sending began, within which it may still be sent: longer than any
    /// process waits for its call.
    pub(crate) open: Duration,
}

impl SendRecovery {
    /// Creates the times; messages in doubt are looked for as long as other writes.
    pub(crate) fn new(look: Duration) -> Self {
        Self { look, open: Duration::from_mins(3) }
    }
}
