//! Messages made: bytes, people, texts, quotes.

mod bytes;
mod people;
mod texts;

use daysheet_core::provider::mail::OutgoingMessage;

pub use crate::common::messages::{outgoing, person};

/// A message with no more in it than has to be.
pub fn message() -> OutgoingMessage {
    let from = person("Mira Lindqvist", "mira@example.com");
    outgoing("k1@example.com", from, vec![person("", "jonas@example.com")])
}
