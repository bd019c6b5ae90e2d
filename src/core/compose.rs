//! Composing of messages: from the text that a person wrote to an Internet message (RFC 5322).
//!
//! All functions are pure. Recipients are parsed strictly in [`people`], texts are converted to
//! plain and HTML form in [`text`], the original is quoted in [`quote`] and determines recipients
//! and subject in [`reply`], attachments get storable names in [`names`], and [`mime`] writes the
//! bytes. The pipeline decides what to do with the result; the adapters deliver it.

mod clean;
pub mod ids;
pub mod names;
mod parse;
pub mod people;
pub mod quote;
pub mod reply;
pub mod text;
mod write;

pub use clean::{clean_html, without_remote_pictures};
pub use parse::read;
pub use write::{mime, unstructured};
