//! The sandbox's Google Calendar, from outside: events, series, meetings, lists, changes, refusals.
//!
//! All requests go over HTTP, as in the rest of the program. Expected answers are complete; values
//! that differ from run to run (etags, times of writing) are checked for their form and then
//! replaced by [`steady`].

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use daysheet_sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::client::{ME as MIRA, User};
use crate::common::clock;

mod history;
mod lists;
mod meetings;
mod refusals;
mod series;
mod writes;

const ZOE: &str = "zoe@example.com";
const FULL: &str = "https://www.googleapis.com/auth/calendar";
const EVENTS: &str = "calendars/primary/events";

/// Starts a sandbox with two empty main calendars, all in memory.
async fn sandbox() -> Sandbox {
    let dir = TempDir::new().unwrap();
    for address in [MIRA, ZOE] {
        let folder = dir.path().join(address);
        fs::create_dir(&folder).unwrap();
        let message = format!("From: a@example.com\nTo: {address}\nMessage-ID: <first>\n\nhi\n");
        fs::write(folder.join("a.eml"), message).unwrap();
    }
    let options =
        SandboxOptions { mail: Some(dir.path().to_owned()), ..SandboxOptions::new(clock::clock()) };
    Sandbox::start(options).await.unwrap()
}

async fn signed_in(sandbox: &Sandbox, address: &str) -> User {
    User::at_calendar(sandbox.base(), address, FULL).await
}

impl User {
    /// Returns the events of the main calendar in a year, by their start.
    async fn year(&self, year: u16) -> Vec<Value> {
        let list = self
            .json(&format!(
                "{EVENTS}?singleEvents=true&orderBy=startTime&timeMin={year}-01-01T00:00:00Z\
                 &timeMax={}-01-01T00:00:00Z",
                year + 1
            ))
            .await;
        list["items"].as_array().unwrap().clone()
    }
}

/// Returns an answer without the values that differ from run to run, after checking their form.
fn steady(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let text = value.as_str().unwrap_or_default();
                    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
                    match key.as_str() {
                        "etag" => {
                            let inner = text.trim_matches('"').trim_start_matches('p');
                            assert!(inner.len() == 16 && digits(inner), "{text}");
                            *value = "E".into();
                        }
                        "created" | "updated" => {
                            let at: jiff::Timestamp = text.parse().unwrap();
                            assert_eq!(at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(), text);
                            *value = "T".into();
                        }
                        "htmlLink" => {
                            let (_, eid) = text.split_once("/event?eid=").unwrap();
                            let eid = STANDARD_NO_PAD.decode(eid).unwrap();
                            *value = String::from_utf8(eid).unwrap().into();
                        }
                        "nextSyncToken" => *value = "S".into(),
                        _ => walk(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

/// Returns an event at a time of day in Berlin.
fn meeting(title: &str, start: &str, end: &str) -> Value {
    json!({
        "summary": title, "start": { "dateTime": start, "timeZone": "Europe/Berlin" },
        "end": { "dateTime": end, "timeZone": "Europe/Berlin" },
    })
}

/// Returns `value` with more members.
fn with(mut value: Value, more: Value) -> Value {
    let members = more.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(members);
    value
}

/// Returns one member of each item.
fn each<'a>(items: &'a [Value], key: &str) -> Vec<&'a str> {
    let text = |item: &'a Value| item.pointer(key).and_then(Value::as_str).unwrap_or("-");
    items.iter().map(text).collect()
}
