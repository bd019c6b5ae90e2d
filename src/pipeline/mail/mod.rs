//! Mail: searched, read, written, sent and organized.

pub(super) mod attachment;
mod compose;
mod gather;
pub(super) mod modify;
pub mod read;
pub(super) mod search;
pub(super) mod send;
