//! Composes messages: turns what a person wrote into an Internet message (RFC 5322).
//!
//! Pure: it reads no file, no network, and no clock except for the `Date` of [`mime`].
//! Recipients are read strictly in [`people`], texts are written both plain and as HTML
//! in [`text`], the original is quoted in [`quote`] and determines recipients and
//! subject in [`reply`], attachments get storable names in [`names`]. The pipeline
//! decides what to do with the result; the adapters deliver it.

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
