//! Calendars: searched, written, answered, and when people are free.

pub(super) mod agenda;
mod free;
mod outward;
pub(super) mod save;
pub(super) mod target;
