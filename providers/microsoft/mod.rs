//! Microsoft: Outlook's mail and calendars, through Graph.

#[cfg(feature = "microsoft")]
mod answer;
#[cfg(feature = "microsoft")]
mod batch;
#[cfg(feature = "microsoft")]
mod bearer;
#[cfg(feature = "microsoft")]
pub mod calendar;
#[cfg(feature = "microsoft")]
mod client;
#[cfg(feature = "microsoft")]
mod delta;
#[cfg(feature = "microsoft")]
pub mod mail;
#[cfg(feature = "microsoft")]
mod people;
#[cfg(feature = "microsoft")]
pub(super) mod scopes;

/// What of it needs no SDK is in every build.
#[cfg(not(feature = "microsoft"))]
pub mod mail {
    pub mod query;
}
