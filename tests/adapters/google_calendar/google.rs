//! Google Calendar and Gmail as a test sees them: behind a tap, over the sandbox
//! or over scripted answers.

use daysheet_core::event::{Event, EventPatch};
use daysheet_providers::google::calendar::facts as read;
use daysheet_sandbox::SandboxOptions;
use serde_json::{Value, json};

use super::ME;
use crate::common::clock;
use crate::tap::{HttpRequest, HttpResponse, Tapped, respond};

pub const GROUP: &str = "c_1881@group.calendar.google.com";
pub const HOLIDAYS: &str = "en.german#holiday@group.v.calendar.google.com";

/// One with scripted answers.
pub async fn scripted(
    rule: impl Fn(&HttpRequest) -> Option<HttpResponse> + Send + Sync + 'static,
) -> Tapped {
    Tapped::scripted("google", move |seen| rule(seen).or_else(|| list_of_calendars(seen))).await
}

/// The sandbox with the sample, which has no events.
pub async fn sandboxed() -> Tapped {
    let scopes = "https://www.googleapis.com/auth/gmail.readonly \
                  https://www.googleapis.com/auth/calendar";
    Tapped::over("google", scopes, SandboxOptions::new(clock::clock())).await
}

/// Returns and clears the recorded requests, sorted and with decoded queries, without requests for
/// the calendar list.
pub fn request_lines(google: &Tapped) -> Vec<String> {
    let facts = read::mask(&[]);
    let requests = google.tap.requests().into_iter();
    let mut requests: Vec<_> = requests
        .filter(|seen| !seen.raw.contains("/users/me/calendarList?"))
        .map(|seen| {
            let raw = seen.raw.replace("/calendar/v3/", "");
            let (path, query) = raw.split_once('?').unwrap();
            let pairs: Vec<_> = url::form_urlencoded::parse(query.as_bytes())
                .filter(|(name, _)| name != "alt")
                .map(|(name, value)| match (name.as_ref(), value.as_ref()) {
                    ("timeMin", time) if !time.starts_with("2026-02") => {
                        "timeMin=lately".to_owned()
                    }
                    (name, value) => format!("{name}={}", value.replace(&facts, "FACTS")),
                })
                .collect();
            format!("{path} {}", pairs.join(" "))
        })
        .collect();
    requests.sort();
    requests
}

/// Returns and clears the recorded requests: method and address, version (`If-Match`) and body,
/// without requests for the calendar list.
pub fn sent(google: &Tapped) -> Vec<(String, String, Value)> {
    let requests = google.tap.requests().into_iter();
    requests
        .filter(|seen| !seen.raw.contains("/users/me/calendarList?"))
        .map(|seen| {
            let version = seen.header("if-match").to_owned();
            (seen.raw.replace("/calendar/v3/", ""), version, seen.body)
        })
        .collect()
}

/// Answers requests for the calendar list, unless a test overrides it.
fn list_of_calendars(seen: &HttpRequest) -> Option<HttpResponse> {
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
        respond(200, &json!({"items": items}))
    })
}

pub fn event(id: &str, etag: &str) -> Value {
    json!({
        "id": id, "etag": etag, "status": "confirmed", "summary": "Proofs",
        "organizer": {"email": ME, "self": true},
        "start": {"dateTime": "2026-02-03T18:05:00+01:00", "timeZone": "Europe/Berlin"},
        "end": {"dateTime": "2026-02-03T18:50:00+01:00", "timeZone": "Europe/Berlin"},
    })
}

/// The event that the account fetches.
pub fn fetched(id: &str, etag: &str) -> Event {
    fetched_with(id, etag, |_| ())
}

/// The same with a changed object.
pub fn fetched_with(id: &str, etag: &str, change: impl FnOnce(&mut Value)) -> Event {
    let mut event = event(id, etag);
    event["calendarId"] = ME.into();
    change(&mut event);
    read::event(event, ME).unwrap()
}

pub fn titled(title: &str) -> EventPatch {
    EventPatch { title: Some(title.to_owned()), ..EventPatch::default() }
}

/// Answers requests of a kind with each response in turn, and repeats the last one.
pub fn turns(
    of: &'static str,
    answers: Vec<HttpResponse>,
) -> impl Fn(&HttpRequest) -> Option<HttpResponse> + Send + Sync + 'static {
    let next = crate::tap::turns(answers);
    move |seen| seen.raw.starts_with(of).then(&next)
}
