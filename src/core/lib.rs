//! Daysheet without I/O: from a provider's JSON for a message or an event to the text
//! that a model reads.
//!
//! `query`, `event_time`, `time_parse`, `recurrence` and `ical` read what people and documents contain;
//! `text` makes untrusted text safe. `project` determines what to request for the columns of
//! `schemas`, `flatten` makes rows from it, `budget` chooses what fits and `encode` writes it.
//! `provider` is the port: the traits that adapters implement. `body` and `compose` read and
//! write messages; `call` represents a running call and its caller.
//!
//! It opens no file and no connection, and reads no environment; only `clock` reads the time.

pub use daysheet_schemas as schemas;

pub mod access;
pub mod choice;
pub mod clock;
pub mod error;

pub mod event_time;
pub mod query;
pub mod recurrence;
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
