//! Google: Gmail, Google Calendar and the People API.

#[cfg(feature = "google")]
pub mod calendar;
#[cfg(feature = "google")]
pub(super) mod client;
#[cfg(feature = "google")]
pub mod mail;
#[cfg(feature = "google")]
mod people;
#[cfg(feature = "google")]
mod wire;

/// What of it needs no SDK is in every build.
#[cfg(not(feature = "google"))]
pub mod calendar {
    pub mod body;
    pub mod facts;
}

/// What of it needs no SDK is in every build.
#[cfg(not(feature = "google"))]
pub mod mail {
    pub mod query;
}
