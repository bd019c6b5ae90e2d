//! Writes to the sandbox's Gmail, from outside: drafts, sending and delivery, labels, uploads,
//! filters, contacts, refusals.
//!
//! All requests go over HTTP, as in the rest of the program. Expected answers are complete;
//! [`steady`] replaces ids and times that differ from run to run, and numbers the ids in order of
//! appearance.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use daysheet_sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::client::{ME as MIRA, User};
use crate::common::clock;

mod contacts;
mod delivery;
mod drafts;
mod modify;
mod refusals;
mod settings;
mod uploads;
mod volume;

const ZOE: &str = "zoe@example.com";
const MODIFY: &str = "https://www.googleapis.com/auth/gmail.modify";
const ALL: &str = "https://mail.google.com/";

/// Starts a sandbox with two mailboxes of one message each, all in memory.
async fn sandbox() -> Sandbox {
    let dir = TempDir::new().unwrap();
    for (address, name) in [(MIRA, "mira"), (ZOE, "zoe")] {
        let folder = dir.path().join(address);
        fs::create_dir(&folder).unwrap();
        let message = format!(
            "From: Ada <ada@example.com>\nTo: {address}\nSubject: Lamps\n\
             Message-ID: <first.{name}@example.com>\nDate: Mon, 2 Nov 2026 09:00:00 +0000\n\nhi\n"
        );
        fs::write(folder.join("a.eml"), message).unwrap();
    }
    let options =
        SandboxOptions { mail: Some(dir.path().to_owned()), ..SandboxOptions::new(clock::clock()) };
    Sandbox::start(options).await.unwrap()
}

async fn signed_in(sandbox: &Sandbox, address: &str) -> User {
    User::at_gmail(sandbox.base(), address, MODIFY).await
}

impl User {
    /// Sends a message, which is a draft first.
    async fn sends(&self, message: Value) -> Value {
        let draft = self.post("drafts", json!({ "message": message })).await;
        self.post("drafts/send", json!({ "id": draft["id"] })).await
    }

    /// Changes the labels of one message.
    async fn relabels(&self, message: &Value, add: &[&str], remove: &[&str]) {
        let ids = [&message["id"]];
        let body = json!({ "ids": ids, "addLabelIds": add, "removeLabelIds": remove });
        self.ok("POST", "messages/batchModify", body).await;
    }

    /// Returns the bytes of a message.
    async fn bytes(&self, id: &Value) -> String {
        let path = format!("messages/{}?format=raw", id.as_str().unwrap());
        let raw = self.json(&path).await["raw"].as_str().unwrap().to_owned();
        String::from_utf8(URL_SAFE.decode(raw).unwrap()).unwrap()
    }
}

/// Returns a message of these header lines and this text, in Base64 as requests carry it.
fn raw(head: &[&str], text: &str) -> String {
    URL_SAFE_NO_PAD.encode(wire(head, text))
}

/// Returns the bytes of a message, with a fixed `Date` field.
fn wire(head: &[&str], text: &str) -> String {
    let mut message = String::new();
    for line in head {
        message.push_str(line);
        message.push_str("\r\n");
    }
    message.push_str("Date: Tue, 3 Nov 2026 10:00:00 +0000\r\n");
    format!("{message}\r\n{text}\r\n")
}

/// Returns the path of an item: `base`, such as `drafts`, and its id.
fn at(base: &str, value: &Value) -> String {
    format!("{base}/{}", value["id"].as_str().unwrap())
}

/// Numbers ids in the order in which they turn up, and hides times and sizes.
fn steady(mut value: Value, seen: &mut Vec<String>) -> Value {
    hide(&mut value, seen);
    value
}

fn hide(value: &mut Value, seen: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, seen)),
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value.as_str()) {
                    ("id" | "threadId", Some(id)) if !id.starts_with("Label_") => {
                        let id = id.to_owned();
                        let place = seen.iter().position(|known| *known == id);
                        let place = place.unwrap_or_else(|| {
                            seen.push(id);
                            seen.len() - 1
                        });
                        *value = format!("#{}", place + 1).into();
                    }
                    ("historyId" | "internalDate", Some(_)) => *value = "…".into(),
                    _ => hide(value, seen),
                }
            }
        }
        _ => {}
    }
}
