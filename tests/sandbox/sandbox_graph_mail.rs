//! The sandbox's Graph half, from outside: writes to mail.
//!
//! Three people of one sandbox, over HTTP, as in the rest of the program.

use std::fs;

use daysheet_sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::client::{ME, User, encoded};
use crate::common::clock;
use crate::graph_client::{ANA, BEN, made, mailboxes_of_three, refused, text};

mod drafts;
mod modify;
mod refusals;
mod threads;
mod uploads;

/// The scopes that all mail requests need together.
const SCOPES: &str = "User.Read Mail.ReadWrite Mail.Send MailboxSettings.ReadWrite \
                      Contacts.ReadWrite";

/// The preference for immutable ids.
const IMMUTABLE: (&str, &str) = ("prefer", "IdType=\"ImmutableId\"");

/// Starts a sandbox of three people. Mira has one sent message and twenty received ones.
async fn sandbox() -> (TempDir, Sandbox) {
    let dir = mailboxes_of_three();
    for number in 1..=20 {
        let message = format!(
            "From: Ana Lima <{ANA}>\nTo: {ME}\nSubject: Report {number}\n\
             Date: Tue, 6 Jan 2026 08:{number:02}:00 +0000\n\
             Message-ID: <report.{number}@example.com>\n\nSee below.\n"
        );
        let path = dir.path().join(ME).join(format!("{number}.eml"));
        fs::write(path, message).unwrap();
    }
    let options =
        SandboxOptions { mail: Some(dir.path().to_owned()), ..SandboxOptions::new(clock::clock()) };
    let sandbox = Sandbox::start(options).await.unwrap();
    (dir, sandbox)
}

async fn mira() -> (TempDir, Sandbox, User) {
    let (dir, sandbox) = sandbox().await;
    let user = User::at_graph(sandbox.base(), ME, SCOPES).await;
    (dir, sandbox, user)
}

/// Changes an item with a PATCH request, and returns it.
async fn changed(user: &User, path: &str, body: Value) -> Value {
    let reply = user.write("PATCH", path, &[], &body).await;
    assert_eq!(reply.status, 200, "{path} {body}: {}", reply.text());
    reply.json()
}

/// Sends a write that is answered with a status alone.
async fn does(user: &User, method: &str, path: &str, body: Value, status: u16) {
    let reply = user.write(method, path, &[], &body).await;
    let found = (reply.status, reply.text());
    assert_eq!(found, (status, String::new()), "{method} {path}");
}

/// Returns the path of a message.
fn at(message: &Value) -> String {
    format!("me/messages/{}", encoded(text(&message["id"])))
}

fn people(addresses: &[&str]) -> Value {
    addresses.iter().map(|address| json!({ "emailAddress": { "address": address } })).collect()
}

/// Returns the addresses of a list of recipients.
fn addresses(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|it| text(&it["emailAddress"]["address"])).collect()
}

/// Returns the subjects in a folder, newest first.
async fn subjects(user: &User, folder: &str) -> Vec<String> {
    let path = format!("me/mailFolders/{folder}/messages");
    user.subjects(&path, &[("$top", "100")]).await
}
