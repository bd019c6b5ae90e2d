//! Letters made: bytes, people, texts, quotes.

mod bytes;
mod people;
mod texts;

use daysheet_core::provider::mail::OutgoingMessage;

pub use crate::common::letters::{outgoing, person};

/// A letter with no more in it than has to be.
pub fn letter() -> OutgoingMessage {
    let from = person("Mira Lindqvist", "mira@example.com");
    outgoing("k1@example.com", from, vec![person("", "jonas@example.com")])
}
