//! The parts that writes of all tools share. A call asks whether its items may reach their audience
//! ([`confirm`]), writes them in order ([`plan`]), each between two lines of the audit log
//! ([`log`]), and reports the outcomes ([`report`]), with the state for an undo.

pub(super) mod confirm;
pub(super) mod interrupted;
pub(super) mod log;
pub(super) mod object;
pub(super) mod plan;
pub(super) mod report;
pub(super) mod undo_state;
