//! Shared parts of answers: fitting, cursors, and rows shown before.

pub(super) mod cursor;
pub(super) mod fit;
pub(super) mod inspect;
pub(super) mod offered;
pub(super) mod output;
pub(super) mod recorded;
pub(super) mod shown;
pub(super) mod snapshots;
