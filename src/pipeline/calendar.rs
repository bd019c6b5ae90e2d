//! Calendars: searching, writing, answering invitations, and free/busy.

pub(super) mod audience;
pub(super) mod clashes;
pub(super) mod delete;
pub(super) mod free;
pub(super) mod guests;
pub(super) mod manage;
pub(super) mod occurrences;
pub(super) mod respond;
pub(super) mod save;
pub(super) mod search;
pub(super) mod target;
pub(crate) mod undo;
pub(super) mod write;
