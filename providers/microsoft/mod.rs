//! Microsoft: Outlook's mail and calendars, through Graph.

mod answer;
mod batch;
mod bearer;
pub mod calendar;
mod client;
mod delta;
pub mod mail;
mod people;
pub(super) mod scopes;
