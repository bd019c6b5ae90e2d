//! Mail: searching, reading, writing, sending and organizing.

pub(super) mod answered;
pub(super) mod attachment;
pub(super) mod draft;
pub(crate) mod files;
mod listed;
pub(super) mod listed_threads;
pub(super) mod modify;
mod pages;
pub mod read;
pub(super) mod search;
pub(super) mod send;
pub(super) mod send_recovery;
pub(super) mod senders;
pub(super) mod subjects;
