//! Requests of all kinds, thrown at random.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ANA, SCOPES, mira, people};
use crate::common::client::{ME, User, encoded, form};
use crate::graph_client::text;

/// A value that may be what is wanted, or anything.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        prop_oneof![
            Just("2026-02-03T09:00:00"),
            Just("9999-12-31T23:59:59"),
            Just("-009999-01-01T00:00:00"),
            Just("0001-01-01T00:00:00Z"),
            Just("2026-03-29T02:30:00"),
            Just("Europe/Berlin"),
            Just("UTC"),
            Just("weekly"),
            Just("daily"),
            Just("noEnd"),
            Just("2026-02-03"),
            Just("9999-12-31"),
            Just("html"),
            Just("<div class=\"teams-meeting\">"),
            Just(ANA),
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(member(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The name of a member, mostly one that there is.
fn member() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "dateTime",
            "timeZone",
            "emailAddress",
            "address",
            "name",
            "type",
            "content",
            "contentType",
            "pattern",
            "range",
            "interval",
            "startDate",
            "endDate",
            "daysOfWeek",
            "dayOfMonth",
            "month",
            "index",
            "firstDayOfWeek",
            "numberOfOccurrences",
            "displayName",
            "start",
            "end",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ]
}

/// A time that is one, at least in its looks.
fn any_time() -> impl Strategy<Value = Value> {
    let zones =
        vec!["Europe/Berlin", "UTC", "Pacific/Apia", "Asia/Kathmandu", "Dateline Standard Time"];
    (-9999..=9999_i32, 1..=12_u8, 1..=31_u8, 0..=23_u8, prop::sample::select(zones)).prop_map(
        |(year, month, day, hour, zone)| {
            let hour = hour * u8::from(day % 2 == 0);
            let year = if year < 0 { format!("-{:06}", -year) } else { format!("{year:04}") };
            json!({ "dateTime": format!("{year}-{month:02}-{day:02}T{hour:02}:00:00"), "timeZone": zone })
        },
    )
}

/// A recurrence that is one, at least in its looks.
fn any_recurrence() -> impl Strategy<Value = Value> {
    let kinds = vec![
        "daily",
        "weekly",
        "absoluteMonthly",
        "relativeMonthly",
        "absoluteYearly",
        "relativeYearly",
    ];
    let days = vec!["monday", "tuesday", "friday", "sunday"];
    (
        prop::sample::select(kinds),
        -1..1000_i32,
        -1..33_i32,
        -1..14_i32,
        prop::collection::vec(prop::sample::select(days), 0..3),
        prop::sample::select(vec!["first", "last", "fourth"]),
        prop::sample::select(vec!["noEnd", "endDate", "numbered"]),
        any_time(),
    )
        .prop_map(|(kind, interval, day, month, days, index, end, time)| {
            let start = &text(&time["dateTime"])[..10.min(text(&time["dateTime"]).len())];
            json!({
                "start": time,
                "end": time,
                "recurrence": {
                    "pattern": {
                        "type": kind, "interval": interval, "dayOfMonth": day, "month": month,
                        "daysOfWeek": days, "index": index, "firstDayOfWeek": "sunday",
                    },
                    "range": {
                        "type": end, "startDate": start, "endDate": "9999-12-31", "numberOfOccurrences": day,
                    },
                },
            })
        })
}

/// The body of an event that could be one, far away in time as it may be.
fn sound_body() -> impl Strategy<Value = Value> {
    let zones = vec!["Europe/Berlin", "UTC", "Pacific/Apia", "Dateline Standard Time"];
    let ends = vec![
        json!({ "type": "noEnd" }),
        json!({ "type": "endDate", "endDate": "9999-12-31" }),
        json!({ "type": "numbered", "numberOfOccurrences": 999 }),
    ];
    let kinds = vec![
        json!({ "type": "daily", "interval": 1 }),
        json!({ "type": "daily", "interval": 999 }),
        json!({ "type": "weekly", "interval": 3, "daysOfWeek": ["sunday", "friday"] }),
        json!({ "type": "absoluteMonthly", "interval": 1, "dayOfMonth": 31 }),
        json!({ "type": "relativeMonthly", "interval": 2, "daysOfWeek": ["monday"], "index": "last" }),
        json!({ "type": "absoluteYearly", "interval": 1, "dayOfMonth": 29, "month": 2 }),
        json!({ "type": "relativeYearly", "interval": 1, "daysOfWeek": ["friday"], "month": 5 }),
    ];
    let years = prop_oneof![3 => 2020..2030_i32, 1 => 1..=9999_i32];
    (
        (years, 1..=12_u8, 1..=27_u8, 0..=22_u8),
        prop::sample::select(zones),
        any::<bool>(),
        prop::option::of((prop::sample::select(kinds), prop::sample::select(ends))),
        prop::sample::subsequence(vec![ANA, ME, "cy@far.example"], 0..=3),
        any::<bool>(),
    )
        .prop_map(|((year, month, day, hour), zone, whole, repeat, guests, online)| {
            let time = |day: u8, hour: u8| {
                json!({
                    "dateTime": format!("{year:04}-{month:02}-{day:02}T{hour:02}:00:00"),
                    "timeZone": zone,
                })
            };
            let (start, end) = match whole {
                true => (time(day, 0), time(day + 1, 0)),
                false => (time(day, hour), time(day, hour + 1)),
            };
            let mut body = json!({
                "subject": "Sound",
                "start": start,
                "end": end,
                "isAllDay": whole,
                "attendees": people(&guests),
                "isOnlineMeeting": online,
            });
            if let Some((pattern, mut range)) = repeat {
                range["startDate"] = format!("{year:04}-{month:02}-{day:02}").into();
                body["recurrence"] = json!({ "pattern": pattern, "range": range });
            }
            body
        })
}

/// The body of an event, more or less.
fn any_body() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "subject",
        "body",
        "start",
        "end",
        "isAllDay",
        "attendees",
        "recurrence",
        "location",
        "locations",
        "showAs",
        "categories",
        "reminderMinutesBeforeStart",
        "isReminderOn",
        "isOnlineMeeting",
        "transactionId",
        "name",
        "comment",
        "sendResponse",
        "proposedNewTime",
        "toRecipients",
        "schedules",
        "startTime",
        "endTime",
        "availabilityViewInterval",
    ]);
    let odd = prop::collection::btree_map(names.prop_map(str::to_owned), any_value(), 0..5)
        .prop_map(|map| Value::Object(map.into_iter().collect()));
    let timed = (any_time(), any_time(), any::<bool>()).prop_map(|(start, end, whole)| {
        json!({ "start": start, "end": end, "isAllDay": whole, "attendees": people(&[ANA]) })
    });
    let asked = (any_time(), any_time()).prop_map(
        |(start, end)| json!({ "schedules": [ANA, ME, "x"], "startTime": start, "endTime": end }),
    );
    prop_oneof![3 => odd, 3 => timed, 3 => any_recurrence(), 1 => asked, 1 => any_value()]
}

/// A path below the user; `@` is the id of something that is there.
fn any_path() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "me/calendars",
        "me/calendars/@",
        "me/calendar",
        "me/events",
        "me/events/@",
        "me/events/@/instances",
        "me/events/@/accept",
        "me/events/@/decline",
        "me/events/@/cancel",
        "me/events/@/forward",
        "me/events/@/tentativelyAccept",
        "me/events/@/attachments",
        "me/events/@/calendar",
        "me/calendar/events/@",
        "me/calendarView",
        "me/calendarView/delta",
        "me/calendar/getSchedule",
        "me/calendars/@/events",
        "me/mailFolders/inbox/messages/delta",
        "me/outlook/supportedTimeZones(@)",
        "me/mailboxSettings/timeZone",
        "users/ana@example.com/events",
        "places/microsoft.graph.room",
    ]);
    prop_oneof![9 => known.prop_map(str::to_owned), 1 => "me/[a-zA-Z@/%]{0,20}"]
}

/// A query, more or less.
fn any_query() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "startDateTime",
        "endDateTime",
        "$select",
        "$filter",
        "$orderby",
        "$top",
        "$skip",
        "$count",
        "$skiptoken",
        "$deltatoken",
        "changeType",
    ]);
    let values = prop_oneof![
        Just("2026-01-01".to_owned()),
        Just("2030-01-01T00:00:00+14:00".to_owned()),
        Just("-009999-01-01".to_owned()),
        Just("9999-12-31T23:59:59Z".to_owned()),
        Just("subject,start,body,recurrence,cancelledOccurrences".to_owned()),
        Just("start/dateTime ge '2026-01-01' and not (isAllDay eq true)".to_owned()),
        Just("5".to_owned()),
        "\\PC{0,30}",
    ];
    prop::collection::vec((names, values), 0..4)
        .prop_map(|pairs| form(pairs.iter().map(|(name, value)| (*name, value.as_str()))))
}

/// Whatever is asked, the answer is one of Graph's: never an accident.
#[test]
fn hostile_requests_are_answered() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (_dir, sandbox, user) = runtime.block_on(mira());
    let ana = runtime.block_on(User::at_graph(sandbox.base(), ANA, SCOPES));
    let ids = std::cell::RefCell::new(vec!["x".to_owned()]);
    let seen = std::cell::RefCell::new(BTreeMap::<u16, usize>::new());
    let methods = prop::sample::select(vec!["GET", "POST", "PATCH", "DELETE", "PUT"]);
    let view = "startDateTime=2026-01-01&endDateTime=2028-01-01&%24top=20";
    let asked = prop_oneof![
        6 => (methods, any_path(), any_query(), any_body()),
        2 => sound_body().prop_map(|body| ("POST", "me/events".to_owned(), String::new(), body)),
        2 => sound_body().prop_map(|body| ("PATCH", "me/events/@".to_owned(), String::new(), body)),
        1 => prop::sample::select(vec![
            "me/calendarView", "me/calendarView/delta", "me/events/@/instances", "me/events/@",
        ])
        .prop_map(move |path| ("GET", path.to_owned(), view.to_owned(), Value::Null)),
        1 => prop::sample::select(vec!["accept", "decline", "tentativelyAccept", "cancel"])
            .prop_map(|action| ("POST", format!("me/events/@/{action}"), String::new(), json!({}))),
        1 => Just(("DELETE", "me/events/@".to_owned(), String::new(), Value::Null)),
    ];
    let request = (asked, any::<prop::sample::Index>(), any::<bool>());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 1_500,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&request, |((method, path, query, body), which, second)| {
            let id = which.get(&ids.borrow()).clone();
            let path = path
                .replace('@', &encoded(&id))
                .replace(&format!("ana{}example", encoded(&id)), "ana@example");
            let path = format!("{path}?{query}");
            let who = if second { &ana } else { &user };
            let uri: Result<hyper::Uri, _> = format!("http://x/v1.0/{path}").parse();
            prop_assume!(uri.is_ok());
            let body = if method == "GET" { Value::Null } else { body };
            let reply = runtime.block_on(who.try_write(method, &path, &[], &body));
            let reply = reply
                .map_err(|why| TestCaseError::fail(format!("{method} {path} {body}: {why}")))?;
            prop_assert!(reply.status < 500, "{method} {path} {body}: {}", reply.text());
            *seen.borrow_mut().entry(reply.status).or_default() += 1;
            if !reply.body.is_empty() {
                let json = reply.json();
                let mut known = ids.borrow_mut();
                let rows = json["value"].as_array().into_iter().flatten();
                for row in std::iter::once(&json).chain(rows) {
                    if let Some(id) = row["id"].as_str() {
                        known.push(id.to_owned());
                    }
                }
                let more = known.len().saturating_sub(60);
                known.drain(..more);
            }
            Ok(())
        })
        .unwrap();
    // Not all of it is nonsense.
    for status in [200, 201, 202, 204, 400, 404] {
        let seen = seen.borrow().get(&status).copied();
        assert!(seen.unwrap_or_default() > 5, "{status}: {seen:?}");
    }
}
