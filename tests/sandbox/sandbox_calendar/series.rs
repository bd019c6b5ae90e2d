//! Series: expanded across clock changes, changed in parts, cancelled in parts.

use super::*;

/// Returns a series of four Sundays at 02:30, across the day the clocks go forward.
fn weekly() -> Value {
    with(
        meeting("Walk", "2026-03-15T02:30:00", "2026-03-15T03:15:00"),
        json!({ "id": "hike0", "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=4"] }),
    )
}

#[tokio::test]
async fn occurrences_keep_their_local_time() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let made = mira.post(EVENTS, weekly()).await;
    assert_eq!(made["recurrence"], json!(["RRULE:FREQ=WEEKLY;COUNT=4"]));
    let all = mira.year(2026).await;
    let reported: Vec<_> = all
        .iter()
        .map(|item| {
            let text = |key: &str| item.pointer(key).unwrap().as_str().unwrap().to_owned();
            [text("/id"), text("/start/dateTime"), text("/end/dateTime")]
        })
        .collect();
    // On the 29th, 2:30 is skipped: RFC 5545 takes the offset from before.
    assert_eq!(
        reported,
        [
            ["hike0_20260315T013000Z", "2026-03-15T02:30:00+01:00", "2026-03-15T03:15:00+01:00"],
            ["hike0_20260322T013000Z", "2026-03-22T02:30:00+01:00", "2026-03-22T03:15:00+01:00"],
            ["hike0_20260329T013000Z", "2026-03-29T03:30:00+02:00", "2026-03-29T04:15:00+02:00"],
            ["hike0_20260405T003000Z", "2026-04-05T02:30:00+02:00", "2026-04-05T03:15:00+02:00"],
        ]
        .map(|row| row.map(str::to_owned))
    );
    let one = mira.json(&format!("{EVENTS}/hike0_20260405T003000Z")).await;
    assert_eq!(one, all[3]);
    assert_eq!(
        steady(one),
        json!({
            "kind": "calendar#event", "etag": "E", "id": "hike0_20260405T003000Z",
            "status": "confirmed", "htmlLink": "hike0_20260405T003000Z mira@example.com",
            "created": "T", "updated": "T", "summary": "Walk",
            "creator": { "email": MIRA, "self": true },
            "organizer": { "email": MIRA, "self": true },
            "start": { "dateTime": "2026-04-05T02:30:00+02:00", "timeZone": "Europe/Berlin" },
            "end": { "dateTime": "2026-04-05T03:15:00+02:00", "timeZone": "Europe/Berlin" },
            "recurringEventId": "hike0",
            "originalStartTime": {
                "dateTime": "2026-04-05T02:30:00+02:00", "timeZone": "Europe/Berlin",
            },
            "iCalUID": "hike0@google.com", "sequence": 0, "reminders": { "useDefault": true },
            "eventType": "default",
        })
    );
    for id in ["hike0_20260412T003000Z", "hike0_20260405", "hike0_x", "none_20260405T003000Z"] {
        let refused = mira.refused("GET", &format!("{EVENTS}/{id}"), Value::Null).await;
        assert_eq!((refused.0, &*refused.1), (404, "notFound"), "{id}");
    }
    // Where 2:30 comes twice, an hour after 1:30 is the first of them.
    let fold = with(
        meeting("Back", "2026-10-18T01:30:00", "2026-10-18T02:30:00"),
        json!({ "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=2"] }),
    );
    mira.post(EVENTS, fold).await;
    let all = mira.year(2026).await;
    assert_eq!(each(&all[5..], "/start/dateTime"), ["2026-10-25T01:30:00+02:00"]);
    assert_eq!(each(&all[5..], "/end/dateTime"), ["2026-10-25T02:30:00+02:00"]);
}

#[tokio::test]
async fn whole_day_events_recur_as_days() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let leap = json!({
        "id": "leap0", "summary": "Leap", "start": { "date": "2024-02-29" },
        "end": { "date": "2024-03-02" },
        "recurrence": ["RRULE:FREQ=YEARLY", "EXDATE;VALUE=DATE:20280229",
                       "RDATE;VALUE=DATE:20260301"],
    });
    let made = mira.post(EVENTS, leap).await;
    assert_eq!(
        made["recurrence"],
        json!(["RRULE:FREQ=YEARLY", "RDATE;VALUE=DATE:20260301", "EXDATE;VALUE=DATE:20280229"])
    );
    let list = mira
        .json(&format!("{EVENTS}?singleEvents=true&orderBy=startTime&timeMax=2033-01-01T00:00:00Z"))
        .await;
    let items = list["items"].as_array().unwrap();
    assert_eq!(each(items, "/id"), ["leap0_20240229", "leap0_20260301", "leap0_20320229"]);
    assert_eq!(each(items, "/end/date"), ["2024-03-02", "2026-03-03", "2032-03-02"]);
    assert_eq!(items[1]["originalStartTime"], json!({ "date": "2026-03-01" }));
}

#[tokio::test]
async fn one_occurrence_is_changed_and_another_cancelled() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let series = mira.post(EVENTS, weekly()).await;
    let second = format!("{EVENTS}/hike0_20260322T013000Z");
    let moved = mira
        .patch(
            &second,
            json!({
                "summary": "Run", "start": { "dateTime": "2026-03-23T10:00:00+01:00" },
                "end": { "dateTime": "2026-03-23T11:00:00+01:00" },
            }),
        )
        .await;
    assert_eq!(moved["id"], "hike0_20260322T013000Z");
    assert_eq!(moved["recurringEventId"], "hike0");
    assert_eq!(
        moved["originalStartTime"],
        json!({ "dateTime": "2026-03-22T02:30:00+01:00", "timeZone": "Europe/Berlin" })
    );
    assert_ne!(moved["etag"], series["etag"]);
    mira.delete(&format!("{EVENTS}/hike0_20260329T013000Z")).await;
    let occurrence = format!("{EVENTS}/hike0_20260329T013000Z");
    assert_eq!(mira.refused("DELETE", &occurrence, Value::Null).await.0, 410);
    assert_eq!(mira.json(&occurrence).await["status"], "cancelled");

    let ids = ["hike0_20260315T013000Z", "hike0_20260322T013000Z", "hike0_20260405T003000Z"];
    assert_eq!(each(&mira.year(2026).await, "/id"), ids);
    let cancelled = json!({
        "kind": "calendar#event", "etag": "E", "id": "hike0_20260329T013000Z",
        "status": "cancelled", "recurringEventId": "hike0",
        "originalStartTime": {
            "dateTime": "2026-03-29T03:30:00+02:00", "timeZone": "Europe/Berlin",
        },
    });
    for (path, place) in [
        (format!("{EVENTS}?singleEvents=true&orderBy=startTime&showDeleted=true"), 2),
        // Without being asked: the series shows what of it does not take place.
        (EVENTS.to_owned(), 2),
    ] {
        let list = mira.json(&path).await;
        let items = list["items"].as_array().unwrap();
        assert_eq!(steady(items[place].clone()), cancelled, "{path}");
    }
    let whole = mira.json(EVENTS).await;
    assert_eq!(
        each(whole["items"].as_array().unwrap(), "/id"),
        ["hike0", "hike0_20260322T013000Z", "hike0_20260329T013000Z"]
    );
    // A series is in a range when one of its occurrences is.
    for (range, found) in [
        ("timeMin=2026-03-23T00:00:00Z&timeMax=2026-03-24T00:00:00Z", 2),
        ("timeMin=2026-03-24T00:00:00Z&timeMax=2026-03-25T00:00:00Z", 0),
        ("timeMin=2026-04-06T00:00:00Z", 0),
    ] {
        let list = mira.json(&format!("{EVENTS}?{range}")).await;
        assert_eq!(list["items"].as_array().unwrap().len(), found, "{range}");
    }

    // What is cancelled can be taken back.
    let back = mira.patch(&occurrence, json!({ "status": "confirmed" })).await;
    assert_eq!(back["status"], "confirmed");
    assert_eq!(mira.year(2026).await.len(), 4);

    // A rule that ends earlier takes what stood for later occurrences along.
    let until = json!({ "recurrence": ["RRULE:FREQ=WEEKLY;UNTIL=20260320T000000Z"] });
    let cut = mira.patch(&format!("{EVENTS}/hike0"), until).await;
    assert_eq!(cut["sequence"], 1);
    assert_eq!(each(&mira.year(2026).await, "/id"), ["hike0_20260315T013000Z"]);
    mira.delete(&format!("{EVENTS}/hike0")).await;
    assert_eq!(mira.year(2026).await, Vec::<Value>::new());
}

#[tokio::test]
async fn endless_series_is_listed_page_by_page() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let daily = with(
        meeting("Tea", "2026-01-01T16:00:00", "2026-01-01T16:15:00"),
        json!({ "id": "teatime", "recurrence": ["RRULE:FREQ=DAILY"] }),
    );
    mira.post(EVENTS, daily).await;
    for (order, most) in [("&orderBy=startTime", "100"), ("", "75")] {
        let base = format!(
            "{EVENTS}?singleEvents=true{order}&maxResults={most}\
             &timeMin=2026-01-01T00:00:00Z&timeMax=2027-01-01T00:00:00Z"
        );
        let mut ids = Vec::new();
        let mut page = mira.json(&base).await;
        loop {
            let items = page["items"].as_array().unwrap();
            ids.extend(each(items, "/id").into_iter().map(str::to_owned));
            let Some(next) = page["nextPageToken"].as_str() else {
                break;
            };
            assert_eq!(items.len().to_string(), most);
            assert!(page["nextSyncToken"].is_null());
            page = mira.json(&format!("{base}&pageToken={next}")).await;
        }
        assert_eq!(ids.len(), 365, "{order}");
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 365, "{order}");
    }
    // A token does not fit another question.
    let page = mira.json(&format!("{EVENTS}?singleEvents=true&maxResults=5")).await;
    let next = page["nextPageToken"].as_str().unwrap();
    let other = format!("{EVENTS}?maxResults=5&pageToken={next}");
    let refused = mira.refused("GET", &other, Value::Null).await;
    assert_eq!(refused.2, "Invalid page token value.");
}
