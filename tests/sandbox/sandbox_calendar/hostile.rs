//! Nonsense is refused in the API's words; it is never an error of the
//! server's, and never ends the connection.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::common::client::form;

const TIMES: [&str; 12] = [
    "2026-02-03T09:00:00Z",
    "2026-02-03T09:00:00+01:00",
    "2026-02-03T10:00:00",
    "2026-03-29T02:30:00",
    "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z",
    "-009999-01-02T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-02-03T09:00:60Z",
    "2026-02-03",
    "",
    "T",
];

const WORDS: [&str; 16] = [
    "x",
    "cancelled",
    "confirmed",
    "tentative",
    "primary",
    "mira@example.com",
    "seed0",
    "seed0_20260203T090000Z",
    "\u{0}",
    "é\u{202e}",
    "RRULE:FREQ=DAILY",
    "outOfOffice",
    "workingLocation",
    "Europe/Berlin",
    "needsAction",
    "accepted",
];

const RULES: [&str; 10] = [
    "RRULE:FREQ=DAILY;COUNT=99999",
    "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "RRULE:FREQ=DAILY;INTERVAL=4294967295",
    "RRULE:FREQ=MONTHLY;BYDAY=5MO;UNTIL=20260101",
    "RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;WKST=SU",
    "EXDATE:20260204T090000Z",
    "RDATE;VALUE=DATE:99991231",
    "RRULE:",
    "RRULE",
    "",
];

const KEYS: [&str; 24] = [
    "summary",
    "start",
    "end",
    "recurrence",
    "attendees",
    "reminders",
    "conferenceData",
    "id",
    "status",
    "eventType",
    "colorId",
    "iCalUID",
    "originalStartTime",
    "organizer",
    "sequence",
    "extendedProperties",
    "attendeesOmitted",
    "source",
    "visibility",
    "transparency",
    "workingLocationProperties",
    "timeMin",
    "items",
    "timeZone",
];

/// Any JSON, and often what an event is made of.
fn json() -> impl Strategy<Value = Value> {
    let time = || {
        select(&TIMES[..]).prop_map(|time| {
            let key = if time.len() == 10 { "date" } else { "dateTime" };
            json!({ (key): time, "timeZone": "Europe/Berlin" })
        })
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        select(&WORDS[..]).prop_map(Value::from),
        select(&TIMES[..]).prop_map(Value::from),
        select(&RULES[..]).prop_map(Value::from),
        time(),
        Just(json!([{ "email": "zoe@example.com", "responseStatus": "accepted" }])),
        Just(json!({ "createRequest": { "requestId": "r" } })),
    ];
    let some = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(select(&KEYS[..]), inner, 0..4)
                .prop_map(|all| all.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    });
    // Half of the bodies begin as good ones.
    let rules = prop::collection::vec(select(&RULES[..]), 0..3);
    let good = (time(), time(), rules, any::<bool>());
    (some, prop::option::of(good)).prop_map(|(some, good)| match good {
        None => some,
        Some((start, end, rules, recurs)) => {
            let mut body = json!({ "start": start, "end": end });
            if recurs {
                body["recurrence"] = json!(rules);
            }
            if let (Value::Object(body), Value::Object(some)) = (&mut body, some) {
                body.extend(some);
            }
            body
        }
    })
}

fn path() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        select(&["calendars", "events", "primary", "users", "me", "calendarList", "settings"][..]),
        select(
            &["instances", "move", "import", "freeBusy", "colors", "seed0", "%00", "%", ".."][..]
        ),
        select(&["seed0_20260203T090000Z", "seed0_99991231", "_", "mira%40example.com", ""][..]),
    ];
    let any = prop::collection::vec(segment, 0..6).prop_map(|all| all.join("/"));
    let known = select(
        &[
            EVENTS,
            "calendars/primary/events/seed0",
            "calendars/primary/events/seed0_20260205T080000Z",
            "calendars/primary/events/seed0_20260206T080000Z",
            "calendars/primary/events/seed0/instances",
            "calendars/primary/events/seed0/move",
            "calendars/primary/events/import",
            "calendars",
            "freeBusy",
        ][..],
    );
    prop_oneof![1 => any, 4 => known.prop_map(str::to_owned)]
}

fn parameters() -> impl Strategy<Value = String> {
    let name = select(
        &[
            "timeMin",
            "timeMax",
            "singleEvents",
            "orderBy",
            "maxResults",
            "pageToken",
            "syncToken",
            "showDeleted",
            "q",
            "timeZone",
            "sendUpdates",
            "conferenceDataVersion",
            "destination",
            "originalStart",
            "updatedMin",
            "maxAttendees",
            "fields",
            "none",
        ][..],
    );
    let value = prop_oneof![
        select(&TIMES[..]),
        select(&WORDS[..]),
        select(&["true", "startTime", "updated", "0", "1", "2500", "all", "MXwxfDB8fA"][..]),
    ];
    prop::collection::vec((name, value), 0..4).prop_map(form)
}

#[test]
fn nonsense_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (sandbox, mira) = runtime.block_on(async {
        let sandbox = sandbox().await;
        let mira = signed_in(&sandbox, MIRA).await;
        (sandbox, mira)
    });
    let seed = with(
        meeting("Seed", "2026-02-03T09:00:00", "2026-02-03T10:00:00"),
        json!({ "id": "seed0", "recurrence": ["RRULE:FREQ=DAILY;COUNT=9"] }),
    );
    runtime.block_on(mira.post(EVENTS, seed));
    let method = select(&["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"][..]);
    let body = prop_oneof![
        8 => json().prop_map(|json| serde_json::to_vec(&json).unwrap()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ];
    let etag = prop::option::of(select(&["*", "\"x\"", ""][..]));
    let cases = (method, path(), parameters(), body, etag);
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&cases, |(method, path, query, body, etag)| {
            let path = format!("/calendar/v3/{path}?{query}");
            let headers: Vec<_> = etag.map(|etag| ("if-match", etag)).into_iter().collect();
            let reply = runtime.block_on(mira.bearing(method, &path, &headers, body));
            let (status, answer) = (reply.status, reply.body);
            prop_assert!(status < 500, "{method} {path}: {status}");
            if !answer.is_empty() {
                let json: Result<Value, _> = serde_json::from_slice(&answer);
                prop_assert!(json.is_ok(), "{method} {path}: {status}");
            }
            Ok(())
        })
        .unwrap();
    // It is still there, and all that was made can be listed.
    let all = format!("{EVENTS}?singleEvents=true&showDeleted=true&maxResults=2500");
    let list = runtime.block_on(mira.json(&all));
    assert!(list["items"].is_array());
    drop(sandbox);
}
