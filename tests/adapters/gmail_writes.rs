//! Writes to a Gmail mailbox: the requests sent, and how their responses are interpreted.

mod draft;
mod gmail;
mod limits;
mod manage;
mod modify;
mod upload;

use daysheet_core::provider::mail::{MailState, OutgoingMessage, StoredDraft};
use serde_json::{Value, json};

use crate::common::messages::{file, outgoing, person};

const ME: &str = "mira@example.com";

/// A small message of Mira's.
fn sample_message() -> OutgoingMessage {
    let from = person("Mira Lindqvist", ME);
    OutgoingMessage {
        bcc: vec![person("", "ana@example.com")],
        subject: "Proofs".to_owned(),
        text: "The proofs are here.\n".to_owned(),
        html: "<p>The proofs are here.</p>\n".to_owned(),
        ..outgoing("proofs-2@example.com", from, vec![person("", "bo@example.com")])
    }
}

fn draft() -> StoredDraft {
    StoredDraft {
        id: "r1".into(),
        message: "a1".into(),
        thread: "t1".into(),
        version: "a1".to_owned(),
        content: sample_message(),
    }
}

/// A draft as Gmail returns it, containing the message `message`.
fn reported(message: &str) -> Value {
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
    MailState { id: id.into(), folder: folder.into(), ..MailState::default() }
}
