//! What is written in a mailbox of Gmail's: the calls that are made, and what
//! their answers come to.

mod arrange;
mod compose;
mod gmail;
mod limits;
mod organize;
mod sandboxed;
mod upload;

use daysheet_core::provider::mail::{
    Content, Enclosure, HeldDraft, Importance, MailState, Outgoing, Person,
};
use serde_json::{Value, json};

const ME: &str = "mira@example.com";

fn person(name: Option<&str>, address: &str) -> Person {
    Person { name: name.map(str::to_owned), address: address.to_owned() }
}

/// A small letter of Mira's.
fn letter() -> Outgoing {
    Outgoing {
        message_id: "proofs-2@example.com".to_owned(),
        from: person(Some("Mira Lindqvist"), ME),
        to: vec![person(None, "bo@example.com")],
        cc: Vec::new(),
        bcc: vec![person(None, "ana@example.com")],
        reply_to: Vec::new(),
        subject: "Proofs".to_owned(),
        text: "The proofs are here.\n".to_owned(),
        html: "<p>The proofs are here.</p>\n".to_owned(),
        importance: Importance::Normal,
        in_reply_to: None,
        references: Vec::new(),
        files: Vec::new(),
    }
}

fn file(name: &str, bytes: &[u8]) -> Enclosure {
    Enclosure {
        name: name.to_owned(),
        media: "application/pdf".to_owned(),
        cid: None,
        content: Content::Bytes(bytes.into()),
    }
}

fn draft() -> HeldDraft {
    HeldDraft {
        id: "r1".to_owned(),
        message: "a1".to_owned(),
        thread: "t1".to_owned(),
        version: "a1".to_owned(),
        letter: letter(),
    }
}

/// A draft as Gmail tells it, as the message `message`.
fn told(message: &str) -> Value {
    json!({"id": "r1", "message": {
        "id": message, "threadId": "t1", "labelIds": ["DRAFT"],
        "payload": {
            "partId": "", "mimeType": "text/plain", "filename": "",
            "headers": [
                {"name": "Message-ID", "value": "<proofs-2@example.com>"},
                {"name": "From", "value": "Mira Lindqvist <mira@example.com>"},
                {"name": "To", "value": "bo@example.com"},
                {"name": "Subject", "value": "Proofs"},
                {"name": "Content-Type", "value": "text/plain; charset=utf-8"},
            ],
            "body": {"size": 5, "data": "RG9uZS4="},
        },
    }})
}

fn at(id: &str, folder: &str) -> MailState {
    MailState { id: id.to_owned(), folder: folder.to_owned(), ..MailState::default() }
}
