//! Messages as Graph shows them: lists, one message, what has changed.

pub(crate) mod attachments;
pub(crate) mod list;
pub(crate) mod matching;
pub(crate) mod message;
mod search;
