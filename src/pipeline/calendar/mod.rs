//! Calendars: searched, written, answered, and when people are free.

pub(super) mod agenda;
pub(super) mod audience;
pub(super) mod clashes;
pub(super) mod free;
pub(super) mod guests;
pub(super) mod occurrences;
pub(super) mod outward;
pub(super) mod save;
pub(super) mod target;
pub(crate) mod undo;
