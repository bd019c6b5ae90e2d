//! Calendars: searched, written, answered, and when people are free.

pub(super) mod agenda;
mod free;
pub(super) mod guests;
mod outward;
pub(super) mod save;
pub(super) mod target;
