//! Writes to mail and the owner's data: drafts, sending, moving, attachments, folders, rules and
//! settings each have a file of their own.

mod body;
pub(super) mod categories;
pub(super) mod contacts;
pub(super) mod drafts;
pub(super) mod file;
mod flag;
pub(super) mod folders_write;
pub(super) mod moving;
pub(super) mod read;
pub(super) mod reply_body;
pub(super) mod rules;
pub(super) mod send;
pub(super) mod settings;
pub(super) mod upload;
