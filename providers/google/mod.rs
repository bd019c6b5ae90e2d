//! Google: Gmail, Google Calendar and the People API.

pub mod calendar;
pub(super) mod client;
pub mod mail;
mod people;
mod wire;
