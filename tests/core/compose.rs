//! Composing of messages: bytes, people, texts, quotes.

mod bytes;
mod people;
mod texts;

use daysheet_core::provider::mail::OutgoingMessage;

pub use crate::common::messages::{outgoing, person};

/// Returns a message with the minimum of content.
pub fn message() -> OutgoingMessage {
    let from = person("Mira Lindqvist", "mira@example.com");
    outgoing("k1@example.com", from, vec![person("", "jonas@example.com")])
}
