//! Answers that are told beforehand, and what was asked for them.

use std::sync::atomic::{AtomicUsize, Ordering};

use daysheet::provider::calendar::Change;
use serde_json::{Value, json};

use super::ME;
use super::google::Google;
use crate::outlook::wire::{Said, Seen};

pub const GROUP: &str = "c_1881@group.calendar.google.com";
pub const HOLIDAYS: &str = "en.german#holiday@group.v.calendar.google.com";

/// The calendars that there are, unless a test says otherwise.
pub fn list_of_calendars(seen: &Seen) -> Option<Said> {
    seen.raw.starts_with("GET /calendar/v3/users/me/calendarList?").then(|| {
        let items = json!([
            {"id": GROUP, "summary": "Choir", "accessRole": "writer", "timeZone": "UTC"},
            {"id": ME, "summary": ME, "summaryOverride": "Mira", "accessRole": "owner",
             "primary": true, "timeZone": "Europe/Lisbon"},
            {"id": HOLIDAYS, "summary": "Holidays", "accessRole": "reader"},
            {"id": "bo@example.com", "summary": "Bo", "accessRole": "freeBusyReader"},
            {"id": "r2@resource.calendar.google.com", "summary": "Room 2",
             "accessRole": "freeBusyReader"},
        ]);
        Said::json(200, &json!({"items": items}))
    })
}

pub fn refused(status: u16, reason: &str, message: &str) -> Said {
    let error = json!({"domain": "global", "reason": reason, "message": message});
    Said::json(status, &json!({"error": {"code": status, "message": message, "errors": [error]}}))
}

/// An answer that breaks off.
pub fn broken() -> Said {
    Said { cut: true, ..Said::json(200, &json!({"id": "half"})) }
}

pub fn event(id: &str, etag: &str) -> Value {
    json!({
        "id": id, "etag": etag, "status": "confirmed", "summary": "Proofs",
        "organizer": {"email": ME, "self": true},
        "start": {"dateTime": "2026-02-03T18:05:00+01:00", "timeZone": "Europe/Berlin"},
        "end": {"dateTime": "2026-02-03T18:50:00+01:00", "timeZone": "Europe/Berlin"},
    })
}

pub fn fetched(id: &str, etag: &str) -> Value {
    let mut event = event(id, etag);
    event["calendarId"] = ME.into();
    event
}

pub fn titled(title: &str) -> Change {
    Change { title: Some(title.to_owned()), ..Change::default() }
}

/// Answers with each in turn, and with the last one from then on.
pub fn turns(
    of: &'static str,
    answers: Vec<Said>,
) -> impl Fn(&Seen) -> Option<Said> + Send + Sync + 'static {
    let turn = AtomicUsize::new(0);
    move |seen| {
        if !seen.raw.starts_with(of) {
            return None;
        }
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        Some(answers[turn.min(answers.len() - 1)].clone())
    }
}

/// What was sent to write: method, address, version and body.
pub fn sent(google: &Google) -> Vec<(String, String, Value)> {
    let seen = google.wire.seen().into_iter();
    seen.filter(|seen| !seen.raw.contains("/users/me/calendarList?"))
        .map(|seen| (seen.raw.replace("/calendar/v3/", ""), seen.version, seen.body))
        .collect()
}
