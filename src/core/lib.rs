//! Daysheet without I/O: from a provider's JSON for a message or an event to the text that a
//! model reads.
//!
//! `query`, `time_parse` and `ical` parse the content of texts and documents; `event` has the form
//! of an event that all others share, its times and its recurrence; `text` makes untrusted text
//! safe. `project` determines the data to request for the columns of `schemas`, `flatten` converts
//! it to rows, `budget` chooses the rows that fit, and `encode` writes them. `provider` is the
//! port: the traits that adapters implement. `body` and `compose` read and write messages; `call`
//! represents a running call and its caller.
//!
//! This crate opens no files and no connections, and reads no environment variables; only `clock`
//! reads the time.

pub use daysheet_schemas as schemas;

pub mod access;
pub mod choice;
pub mod clock;
pub mod error;
pub mod event;
pub mod ids;
pub mod query;
pub mod row;
pub mod text;
pub mod time_parse;

pub mod budget;
pub mod describe;
pub mod encode;
pub mod flatten;
pub mod project;

pub mod body;
pub mod call;
pub mod compose;
pub mod ical;
pub mod provider;
