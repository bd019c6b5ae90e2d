//! Letters made: bytes, people, texts, quotes.

mod bytes;
mod people;
mod texts;

use daysheet_core::provider::mail::{Importance, Outgoing, Person};

pub fn person(name: &str, address: &str) -> Person {
    Person { name: (!name.is_empty()).then(|| name.to_owned()), address: address.to_owned() }
}

/// A letter with no more in it than has to be.
pub fn letter() -> Outgoing {
    Outgoing {
        message_id: "k1@example.com".to_owned(),
        from: person("Mira Lindqvist", "mira@example.com"),
        to: vec![person("", "jonas@example.com")],
        cc: Vec::new(),
        bcc: Vec::new(),
        reply_to: Vec::new(),
        subject: "Lamps".to_owned(),
        text: "Hello".to_owned(),
        html: "<p>Hello</p>".to_owned(),
        importance: Importance::Normal,
        in_reply_to: None,
        references: Vec::new(),
        files: Vec::new(),
    }
}
