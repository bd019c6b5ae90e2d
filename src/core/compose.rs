//! Letters made: what a person wrote as a message of the Internet (RFC 5322).
//!
//! Pure: it reads no file and no network, and no clock but for the `Date` of
//! [`mime`]. Whom a letter goes to is read strictly in [`people`], texts are
//! made both plain and HTML in [`text`], what is answered or sent on is quoted
//! in [`quote`] and decides recipients and subject in [`reply`], files get names
//! that can be kept in [`names`]. What is done with all this is decided by the
//! pipeline; how it gets to a provider is the adapters' business.

mod clean;
pub mod names;
mod parse;
pub mod people;
pub mod quote;
pub mod reply;
pub mod text;
mod write;

pub use clean::{cleaned, without_remote_pictures};
pub use parse::read;
pub use write::{mime, mime_at, unstructured};
