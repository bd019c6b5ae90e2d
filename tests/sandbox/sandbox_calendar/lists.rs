//! Lists, sync tokens, and calendars with their settings.

use super::*;
use crate::common::clock;

#[tokio::test]
async fn event_lists_are_filtered_and_ordered() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    for (title, day, more) in cases! {
        "Late", "05", json!({ "location": "Attic" });
        "Early", "02", json!({ "description": "about the Attic roof" });
        "Middle", "03",
            json!({ "attendees": [{ "email": "rolf@attic.example", "displayName": "Rolf" }] });
    } {
        let at = |time: &str| format!("2026-02-{day}T{time}:00");
        let id = json!({ "id": format!("{}00", title.to_lowercase().replace('y', "i")) });
        let body = with(with(meeting(title, &at("09:00"), &at("10:00")), more), id);
        mira.post(EVENTS, body).await;
    }
    let list = mira.json(&format!("{EVENTS}?maxResults=1&timeMin=2026-02-04T00:00:00Z")).await;
    assert_eq!(
        steady(with(list, json!({ "items": [] }))),
        json!({
            "kind": "calendar#events", "etag": "E", "summary": MIRA, "updated": "T",
            "timeZone": "Europe/Berlin", "accessRole": "owner",
            "defaultReminders": [{ "method": "popup", "minutes": 10 }], "nextSyncToken": "S",
            "items": [],
        })
    );
    mira.patch(&format!("{EVENTS}/earli00"), json!({ "colorId": "2" })).await;
    for (query, titles) in [
        ("", "Late Early Middle"),
        ("?singleEvents=true", "Late Early Middle"),
        ("?singleEvents=true&orderBy=startTime", "Early Middle Late"),
        ("?iCalUID=late00%40google.com", "Late"),
        ("?timeMax=2026-02-03T08:00:00Z", "Early"),
        ("?timeMin=2026-02-03T09:00:00Z", "Late"),
        ("?timeMin=2026-02-03T09:00:00.5Z", "Late"),
    ] {
        let list = mira.json(&format!("{EVENTS}{query}")).await;
        let items = list["items"].as_array().unwrap();
        assert_eq!(each(items, "/summary").join(" "), titles, "{query}");
    }
    let masked = mira
        .json(&format!("{EVENTS}?fields=items(summary),nextSyncToken&iCalUID=earli00%40google.com"))
        .await;
    assert_eq!(masked, json!({ "items": [{ "summary": "Early" }] }));
    // Times stand in the zone that is asked for, and keep their own beside it.
    let mask = "fields=timeZone,items/start&iCalUID=earli00%40google.com";
    let there = mira.json(&format!("{EVENTS}?timeZone=America/New_York&{mask}")).await;
    let start = json!({ "dateTime": "2026-02-02T03:00:00-05:00", "timeZone": "Europe/Berlin" });
    assert_eq!(there, json!({ "timeZone": "America/New_York", "items": [{ "start": start }] }));
    assert_eq!(mira.get(&format!("{EVENTS}?timeZone=Mars/Olympus")).await.status, 400);
}

#[tokio::test]
async fn sync_token_returns_what_has_changed() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let body = |id: &str, day: &str| {
        let at = |time: &str| format!("2026-02-{day}T{time}:00");
        with(meeting(id, &at("09:00"), &at("10:00")), json!({ "id": id }))
    };
    for (id, day) in [("aaaaa", "02"), ("bbbbb", "03"), ("ccccc", "04")] {
        mira.post(EVENTS, body(id, day)).await;
    }
    let series = with(body("ddddd", "05"), json!({ "recurrence": ["RRULE:FREQ=DAILY;COUNT=3"] }));
    mira.post(EVENTS, series).await;
    // A list in pages gives the token at its end, and it covers what happened
    // between the pages.
    let first = mira.json(&format!("{EVENTS}?maxResults=3")).await;
    assert!(first["nextSyncToken"].is_null());
    mira.patch(&format!("{EVENTS}/aaaaa"), json!({ "summary": "between" })).await;
    let next = first["nextPageToken"].as_str().unwrap();
    let last = mira.json(&format!("{EVENTS}?maxResults=3&pageToken={next}")).await;
    let token = last["nextSyncToken"].as_str().unwrap();
    let changes = mira.json(&format!("{EVENTS}?syncToken={token}")).await;
    assert_eq!(each(changes["items"].as_array().unwrap(), "/summary"), ["between"]);
    let token = changes["nextSyncToken"].as_str().unwrap();
    let none = mira.json(&format!("{EVENTS}?syncToken={token}")).await;
    assert_eq!(none["items"], json!([]));

    mira.delete(&format!("{EVENTS}/bbbbb")).await;
    mira.delete(&format!("{EVENTS}/ddddd_20260206T080000Z")).await;
    mira.post(EVENTS, body("eeeee", "07")).await;
    mira.patch(&format!("{EVENTS}/ccccc"), json!({ "location": "x" })).await;
    let changes = mira.json(&format!("{EVENTS}?syncToken={token}&fields=items")).await;
    let reported: Vec<_> =
        changes["items"].as_array().unwrap().iter().cloned().map(steady).collect();
    assert_eq!(each(&reported, "/id"), ["bbbbb", "ddddd_20260206T080000Z", "eeeee", "ccccc"]);
    assert_eq!(
        reported[..2],
        [
            json!({ "kind": "calendar#event", "etag": "E", "id": "bbbbb", "status": "cancelled" }),
            json!({
                "kind": "calendar#event", "etag": "E", "id": "ddddd_20260206T080000Z",
                "status": "cancelled", "recurringEventId": "ddddd",
                "originalStartTime": {
                    "dateTime": "2026-02-06T09:00:00+01:00", "timeZone": "Europe/Berlin",
                },
            }),
        ]
    );
    // The changes come in pages, too.
    let mut seen = Vec::new();
    let mut path = format!("{EVENTS}?syncToken={token}&maxResults=3");
    loop {
        let page = mira.json(&path).await;
        let items = page["items"].as_array().unwrap();
        seen.extend(each(items, "/id").into_iter().map(str::to_owned));
        let Some(next) = page["nextPageToken"].as_str() else {
            assert!(page["nextSyncToken"].is_string());
            break;
        };
        path = format!("{EVENTS}?syncToken={token}&maxResults=3&pageToken={next}");
    }
    assert_eq!(seen, ["bbbbb", "ddddd_20260206T080000Z", "eeeee", "ccccc"]);

    // Expanded, a changed series is told by its occurrences.
    let single = mira.json(&format!("{EVENTS}?singleEvents=true")).await;
    let token = single["nextSyncToken"].as_str().unwrap().to_owned();
    let year = clock::now().to_zoned(jiff::tz::TimeZone::UTC).year();
    let now = with(
        meeting("now", &format!("{year}-06-05T09:00:00"), &format!("{year}-06-05T10:00:00")),
        json!({ "id": "nnnnn", "recurrence": ["RRULE:FREQ=DAILY;COUNT=3"] }),
    );
    mira.post(EVENTS, now).await;
    let path = format!("{EVENTS}?singleEvents=true&syncToken={token}");
    let changes = mira.json(&path).await;
    let days = ["05", "06", "07"].map(|day| format!("nnnnn_{year}06{day}T070000Z"));
    assert_eq!(each(changes["items"].as_array().unwrap(), "/id"), days);
    mira.delete(&format!("{EVENTS}/nnnnn")).await;
    let changes = mira.json(&path).await;
    assert_eq!(each(changes["items"].as_array().unwrap(), "/id"), days);
    assert_eq!(each(changes["items"].as_array().unwrap(), "/status"), ["cancelled"; 3]);

    // Some lists give no token, and some parameters do not go with one.
    let query = "iCalUID=x";
    let list = mira.json(&format!("{EVENTS}?{query}")).await;
    assert!(list["nextSyncToken"].is_null());
    let refused = mira.refused("GET", &format!("{path}&{query}"), Value::Null).await;
    let message = "Sync token cannot be used with other request restrictions.";
    assert_eq!(refused, (400, "badRequest".to_owned(), message.to_owned()));
    let range = mira.json(&format!("{EVENTS}?timeMin=2026-01-01T00:00:00Z")).await;
    assert!(range["nextSyncToken"].is_string());
    for query in [
        "timeMin=2026-01-01T00:00:00Z&singleEvents=true",
        "showDeleted=false&singleEvents=true",
        "singleEvents=false",
    ] {
        let path = format!("{EVENTS}?syncToken={token}&{query}");
        assert_eq!(mira.refused("GET", &path, Value::Null).await.0, 400, "{query}");
    }
    let zoe = signed_in(&sandbox, ZOE).await;
    for (user, token) in [(&zoe, token.as_str()), (&mira, "CPDAlvWDx70C"), (&mira, "%00")] {
        let refused = user
            .refused("GET", &format!("{EVENTS}?singleEvents=true&syncToken={token}"), Value::Null)
            .await;
        assert_eq!(refused.2, "Invalid sync token value.");
    }
    sandbox.expire_sync_tokens();
    let (status, answer) = mira.call("GET", &path, Value::Null).await;
    assert_eq!(status, 410);
    assert_eq!(
        answer,
        json!({ "error": {
            "errors": [{
                "domain": "calendar",
                "reason": "fullSyncRequired",
                "message": "Sync token is no longer valid, a full sync is required.",
                "locationType": "parameter",
                "location": "syncToken",
            }],
            "code": 410,
            "message": "Sync token is no longer valid, a full sync is required.",
        } })
    );
    let fresh = mira.json(EVENTS).await;
    let fresh = fresh["nextSyncToken"].as_str().unwrap();
    assert_eq!(mira.json(&format!("{EVENTS}?syncToken={fresh}")).await["items"], json!([]));
}

#[tokio::test]
async fn calendars_are_created_renamed_and_deleted() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let entry = json!({
        "kind": "calendar#calendarListEntry", "etag": "E", "id": MIRA, "summary": MIRA,
        "timeZone": "Europe/Berlin", "colorId": "14", "backgroundColor": "#9fe1e7",
        "selected": true, "accessRole": "owner",
        "defaultReminders": [{ "method": "popup", "minutes": 10 }],
        "primary": true,
    });
    let list = mira.json("users/me/calendarList").await;
    assert_eq!(
        steady(list),
        json!({ "kind": "calendar#calendarList", "etag": "E", "items": [entry] })
    );
    for id in ["primary", MIRA] {
        let one = mira.json(&format!("users/me/calendarList/{id}")).await;
        assert_eq!(steady(one), entry);
    }
    let made = mira.post("calendars", json!({ "summary": "Kiln", "timeZone": "Asia/Tokyo" })).await;
    let id = made["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("c_") && id.ends_with("@group.calendar.google.com"), "{id}");
    assert_eq!(
        steady(made.clone()),
        json!({
            "kind": "calendar#calendar", "etag": "E", "id": id, "summary": "Kiln",
            "timeZone": "Asia/Tokyo",
        })
    );
    let twin = mira.post("calendars", json!({ "summary": "Kiln", "description": "two" })).await;
    assert_ne!(twin["id"], made["id"]);
    assert_eq!(twin["timeZone"], "Europe/Berlin");
    let calendar = format!("calendars/{id}");
    let event = json!({
        "start": { "dateTime": "2026-02-03T09:00:00+09:00" },
        "end": { "dateTime": "2026-02-03T10:00:00+09:00" },
    });
    let event = mira.post(&format!("{calendar}/events"), event).await;
    assert_eq!(
        event["start"],
        json!({ "dateTime": "2026-02-03T09:00:00+09:00", "timeZone": "Asia/Tokyo" })
    );
    let named = mira.patch(&calendar, json!({ "summary": "Oven", "description": "hot" })).await;
    assert_ne!(named["etag"], made["etag"]);
    assert_eq!((&named["summary"], &named["description"]), (&json!("Oven"), &json!("hot")));

    let page = mira.json("users/me/calendarList?maxResults=2").await;
    let next = page["nextPageToken"].as_str().unwrap();
    let rest = mira.json(&format!("users/me/calendarList?maxResults=2&pageToken={next}")).await;
    assert_eq!(each(page["items"].as_array().unwrap(), "/summary"), [MIRA, "Oven"]);
    assert_eq!(each(rest["items"].as_array().unwrap(), "/summary"), ["Kiln"]);
    mira.delete(&calendar).await;
    let events = format!("{calendar}/events");
    assert_eq!(mira.refused("GET", &events, Value::Null).await.0, 404);
    let refused = mira.refused("DELETE", "calendars/primary", Value::Null).await;
    assert_eq!((refused.0, &*refused.1), (400, "cannotDeletePrimaryCalendar"));
    let zoe = signed_in(&sandbox, ZOE).await;
    let path = format!("calendars/{}/events", twin["id"].as_str().unwrap());
    assert_eq!(zoe.refused("GET", &path, Value::Null).await.0, 404);
}
