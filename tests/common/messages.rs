//! Messages, their people and files, drafts, and mail folders for the sandbox.

#![allow(dead_code, reason = "no suite needs all of it")]

use std::path::Path;

use daysheet_core::provider::mail::{
    AttachmentContent, Importance, MailPerson, OutgoingAttachment, OutgoingMessage, StoredDraft,
};
use tempfile::TempDir;

/// Returns a person; an empty name counts as none given.
pub fn person(name: &str, address: &str) -> MailPerson {
    MailPerson { name: (!name.is_empty()).then(|| name.to_owned()), address: address.into() }
}

/// Returns a message about lamps with the minimum of content.
pub fn outgoing(message_id: &str, from: MailPerson, to: Vec<MailPerson>) -> OutgoingMessage {
    OutgoingMessage {
        message_id: message_id.to_owned(),
        from,
        to,
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

/// Returns a message as a draft. The id of its message is the draft's, prefixed with `m-`.
pub fn stored_draft(
    id: &str,
    thread: &str,
    version: &str,
    content: OutgoingMessage,
) -> StoredDraft {
    StoredDraft {
        id: id.into(),
        message: format!("m-{id}").into(),
        thread: thread.into(),
        version: version.to_owned(),
        content,
    }
}

/// Returns a PDF attachment.
pub fn file(name: &str, bytes: &[u8]) -> OutgoingAttachment {
    OutgoingAttachment {
        name: name.to_owned(),
        media: "application/pdf".to_owned(),
        cid: None,
        content: AttachmentContent::Bytes(bytes.into()),
    }
}

/// Writes a small message into a folder.
pub fn write_message(folder: &Path, name: &str, headers: &str, body: &str) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(name), format!("{headers}\n\n{body}")).unwrap();
}

/// Writes a mail folder with a mailbox of one message for each of these people.
pub fn mailboxes(owners: &[&str]) -> TempDir {
    let mail = TempDir::new().unwrap();
    for owner in owners {
        let from = format!("From: x@example.com\nTo: {owner}\nSubject: for {owner}");
        let headers = format!("{from}\nMessage-ID: <1@{owner}>");
        write_message(&mail.path().join(owner), "one.eml", &headers, "hello");
    }
    mail
}
