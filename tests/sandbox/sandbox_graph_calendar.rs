//! The sandbox's Graph half, from outside: calendars and their events.
//!
//! Three people of one sandbox, over HTTP, as in the rest of the program.

use daysheet_sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::client::{ME, User, encoded};
use crate::common::clock;
use crate::graph_client::{ANA, BEN, made, mailboxes_of_three, refused, text};

mod access;
mod changes;
mod events;
mod lists;
mod meetings;
mod series;
mod writes;

/// The scopes that all calendar requests need together.
const SCOPES: &str = "User.Read Mail.Read MailboxSettings.Read Calendars.ReadWrite";

/// Starts a sandbox of three people with a message each.
async fn sandbox() -> (TempDir, Sandbox) {
    let dir = mailboxes_of_three();
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

/// Returns an event of one hour on a day of February 2026, in Berlin.
fn hour(subject: &str, day: u8, hour: u8) -> Value {
    let at = |hour: u8| json!({ "dateTime": format!("2026-02-{day:02}T{hour:02}:00:00"), "timeZone": "Europe/Berlin" });
    json!({ "subject": subject, "start": at(hour), "end": at(hour + 1) })
}

fn with(mut body: Value, more: Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn people(addresses: &[&str]) -> Value {
    addresses
        .iter()
        .map(|address| json!({ "emailAddress": { "address": address }, "type": "required" }))
        .collect()
}

/// Returns the path of an event.
fn at(event: &Value) -> String {
    format!("me/events/{}", encoded(text(&event["id"])))
}

/// Returns the calendar view of the first half of 2026.
async fn view(user: &User) -> Vec<Value> {
    let path = "me/calendarView?startDateTime=2026-01-01T00:00:00Z\
                &endDateTime=2026-07-01T00:00:00Z&%24top=200";
    let list = user.json(path).await;
    list["value"].as_array().unwrap().clone()
}

/// Deletes all events of a calendar.
async fn clear(user: &User) {
    for event in view(user).await {
        let reply = user.write("DELETE", &at(&event), &[], &Value::Null).await;
        assert_eq!(reply.status, 204);
    }
}
