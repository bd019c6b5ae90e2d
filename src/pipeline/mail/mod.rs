//! Mail: searched, read, written, sent and put in order.

pub(super) mod attachment;
mod compose;
mod gather;
pub(super) mod modify;
pub mod read;
pub(super) mod search;
pub(super) mod send;
