//! Mail, people and calendars as the sandbox holds them, for no provider in
//! particular.

pub(super) mod agenda;
pub(super) mod head;
pub(super) mod labels;
pub(super) mod letter;
pub(super) mod mailbox;
pub(super) mod mime;
pub(super) mod settings;
pub(super) mod threads;
mod transfer;
pub(super) mod words;
