//! Messages in Graph's shapes: single ones, lists, and attachments.

pub(crate) mod attachments;
pub(crate) mod list;
pub(crate) mod matching;
pub(crate) mod message;
mod search;
