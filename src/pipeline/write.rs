//! Writes: the audience that one may reach and the user's confirmation, the log of all writes, the
//! report of their outcomes, and the state for an undo.

pub(super) mod confirm;
pub(super) mod interrupted;
pub(super) mod log;
pub(super) mod report;
pub(super) mod undo_state;
