//! The limits of each person on a server for many.

use daysheet_core::error::Result;
use daysheet_core::provider::upstream;

use super::settings::SettingSources;

/// The limits of each person on a server for many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonLimits {
    /// Calls at once; others wait for a while.
    pub calls_at_once: usize,
    /// Calls per minute; 0 means no limit.
    pub calls_per_minute: usize,
    /// Tokens of answers per day (UTC); 0 means no limit.
    pub tokens_per_day: usize,
    /// Concurrent requests to providers of all people together; one person gets at most a quarter.
    pub upstream_at_once: usize,
    /// Concurrent requests to the server of all people together; others are refused.
    pub requests_at_once: usize,
}

impl PersonLimits {
    /// Reads the section `limits`.
    pub(super) fn from(settings: &SettingSources) -> Result<Self> {
        Ok(Self {
            calls_at_once: settings.number("limits.calls_at_once", 1..=1_000, 8)?,
            calls_per_minute: settings.number("limits.calls_per_minute", 0..=100_000, 120)?,
            tokens_per_day: settings.number("limits.tokens_per_day", 0..=usize::MAX, 0)?,
            // One person gets a quarter, which has to be at least one request.
            upstream_at_once: settings.number(
                "limits.upstream_at_once",
                4..=100_000,
                upstream::MAX_IN_FLIGHT,
            )?,
            requests_at_once: settings.number("limits.requests_at_once", 1..=100_000, 1_024)?,
        })
    }
}
