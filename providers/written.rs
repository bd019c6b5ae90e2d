//! Recognition of written content and of ids seen before. No I/O.
//!
//! The adapters decide which objects to compare, and for how long to look.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::event::time;
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::json::text;

/// Returns eight characters by which an id is recognized.
pub fn hash(id: &str) -> String {
    let digest = Sha256::digest(id.as_bytes());
    URL_SAFE_NO_PAD.encode(digest.get(..6).unwrap_or_default())
}

/// Returns the error about the answer to a write of an event that has no id or no time: the write has
/// been made, although it cannot be shown.
pub fn written_unreadably(service: &str) -> Error {
    let what = format!("{service} returned no event that can be read; it may have been written");
    Error::new(ErrorKind::Network, what).next("check before retrying")
}

/// Returns the error about a service's object that is not an event: it has no id or no time.
pub fn not_readable(service: &str) -> Error {
    let what = format!("{service}'s answer has an event without an id or a time");
    Error::new(ErrorKind::Provider(200), what).next("look at the event where it was created")
}

/// The members that contain HTML.
const HTML: [&str; 4] = ["content", "signature", "internalReplyMessage", "externalReplyMessage"];

/// Returns true if the written values are present, whatever else the provider returns; this
/// identifies a write whose response was lost. Null and false mean an absent value. Times are
/// compared as instants and lists in any order; case and surrounding space do not count, and HTML
/// may have become part of a document.
pub fn has_values(there: Option<&Value>, written: &Value) -> bool {
    let there = there.unwrap_or(&Value::Null);
    match written {
        Value::Null | Value::Bool(false) => is_nothing(there),
        Value::Object(_) if moment(written).is_some() => moment(there) == moment(written),
        Value::Object(expected) => {
            expected.iter().all(|(key, value)| match (key.as_str(), value) {
                (key, Value::String(html)) if HTML.contains(&key) => shows(text(there, key), html),
                _ => has_values(there.get(key), value),
            })
        }
        Value::Array(expected) => {
            let found = there.as_array().map_or(&[][..], Vec::as_slice);
            let is_there = |one: &Value| found.iter().any(|other| has_values(Some(other), one));
            found.len() == expected.len() && expected.iter().all(is_there)
        }
        Value::String(expected) => match there {
            Value::String(found) => alike(found, expected),
            there => expected.is_empty() && there.is_null(),
        },
        // Google writes 64-bit numbers as text.
        Value::Number(expected) => match there {
            Value::Number(found) => found.as_f64() == expected.as_f64(),
            there => there.as_str() == Some(expected.to_string().as_str()),
        },
        Value::Bool(true) => *there == Value::Bool(true),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(is_nothing),
        _ => false,
    }
}

/// Returns true for texts that differ in case, in space, or in the order of parts between
/// semicolons, as recurrence rules may.
fn alike(one: &str, other: &str) -> bool {
    let parts = |text: &str| {
        let lower = text.to_lowercase();
        let value = lower.strip_prefix("rrule:").unwrap_or(&lower);
        let words: Vec<&str> = value.split_whitespace().collect();
        let mut parts: Vec<String> = words.join(" ").split(';').map(str::to_owned).collect();
        parts.sort_unstable();
        parts
    };
    one == other || parts(one) == parts(other)
}

/// Returns true if a document contains the HTML that was written.
fn shows(document: &str, html: &str) -> bool {
    let bare = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    bare(document).contains(&bare(html)) && (html.trim().is_empty() == document.trim().is_empty())
}

/// Returns the instant of a `dateTime`, by its own offset or the zone given with it.
fn moment(value: &Value) -> Option<Timestamp> {
    let time = value.get("dateTime")?.as_str()?;
    let zone = match text(value, "timeZone") {
        "" => "UTC",
        zone => zone,
    };
    time.parse().ok().or_else(|| time::local(time, zone))
}
