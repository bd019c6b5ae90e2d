//! Refused requests, with their statuses and messages.

use super::*;
use crate::common::clock;

#[tokio::test]
async fn bad_requests_are_refused() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let good = meeting("Talk", "2026-02-03T09:00:00", "2026-02-03T10:00:00");
    mira.post(EVENTS, with(good.clone(), json!({ "id": "talk0" }))).await;
    let talk = format!("{EVENTS}/talk0");
    let change = |more: Value| with(good.clone(), more);
    let start = |start: Value| with(good.clone(), json!({ "start": start }));
    let insert = |body: Value| ("POST", EVENTS.to_owned(), body);
    let list = |query: &str| ("GET", format!("{EVENTS}?{query}"), Value::Null);
    let cases = [
        // What an event has to have.
        (insert(json!({})), 400, "required"),
        (insert(start(json!({ "date": "2026-02-30" }))), 400, "invalid"),
        (insert(start(json!({ "dateTime": "2026-02-03T09:00:00" }))), 400, "required"),
        (insert(start(json!({ "date": "2026-02-03" }))), 400, "invalid"),
        (insert(start(json!({ "dateTime": "2026-02-03T10:00:01+01:00" }))), 400, "timeRangeEmpty"),
        (insert(change(json!({ "recurrence": ["RRULE:FREQ=NEVER"] }))), 400, "invalid"),
        (insert(change(json!({ "recurrence": ["EXDATE:20260204T080000Z"] }))), 400, "invalid"),
        // The rest of an event.
        (insert(change(json!({ "id": "Ab-1" }))), 400, "invalid"),
        (insert(change(json!({ "id": "talk0" }))), 409, "duplicate"),
        (insert(change(json!({ "attendees": [{ "displayName": "A" }] }))), 400, "required"),
        (insert(change(json!({ "attendees": [{ "email": "not an address" }] }))), 400, "invalid"),
        (insert(change(json!({ "colorId": "12" }))), 400, "invalid"),
        (insert(change(json!({ "summary": 7 }))), 400, "invalid"),
        (insert(change(json!({ "subject": "x" }))), 400, "invalid"),
        (insert(json!([1])), 400, "parseError"),
        (("PATCH", talk.clone(), json!({ "start": { "date": "2026-02-03" } })), 400, "invalid"),
        (("PUT", talk.clone(), json!({ "summary": "no time" })), 400, "required"),
        (("POST", format!("{EVENTS}/import"), good.clone()), 400, "required"),
        (("POST", format!("{EVENTS}?sendUpdates=some"), good.clone()), 400, "invalid"),
        // Lists.
        (list("timeMin=2026-02-03"), 400, "badRequest"),
        (list("timeMin=2026-02-03T00:00:00Z&timeMax=2026-02-03T00:00:00Z"), 400, "timeRangeEmpty"),
        (list("orderBy=startTime"), 400, "badRequest"),
        (list("maxResults=0"), 400, "invalid"),
        (list("pageToken=x"), 400, "invalidParameter"),
        (list("fields=items(subject)"), 400, "invalidParameter"),
        // What is not there.
        (("GET", format!("{EVENTS}/none"), Value::Null), 404, "notFound"),
        (("DELETE", format!("{EVENTS}/none"), Value::Null), 404, "notFound"),
        (("GET", format!("calendars/{ZOE}/events"), Value::Null), 404, "notFound"),
        (("POST", format!("{EVENTS}/quickAdd?text=x"), Value::Null), 404, "notFound"),
        (("POST", "freeBusy".to_owned(), json!({})), 400, "required"),
        (("POST", "calendars".to_owned(), json!({})), 400, "required"),
    ];
    for ((method, path, body), status, reason) in cases {
        let (reported, why, _) = mira.refused(method, &path, body.clone()).await;
        assert_eq!((reported, why.as_str()), (status, reason), "{method} {path} {body}");
    }
    // Nothing of all that was written.
    let all = mira.json(EVENTS).await;
    assert_eq!(each(all["items"].as_array().unwrap(), "/summary"), ["Talk"]);
    assert_eq!(all["items"][0]["sequence"], 0);
}

#[tokio::test]
async fn every_method_needs_its_scope() {
    let sandbox = sandbox().await;
    let scope = |name: &str| format!("https://www.googleapis.com/auth/{name}");
    let busy = json!({ "timeMin": "2026-02-03T00:00:00Z", "timeMax": "2026-02-04T00:00:00Z" });
    let body = meeting("x", "2026-02-03T09:00:00", "2026-02-03T10:00:00");
    let calls = [
        ("GET", EVENTS, Value::Null),
        ("POST", EVENTS, body),
        ("GET", "users/me/calendarList", Value::Null),
        ("POST", "calendars", json!({ "summary": "x" })),
        ("POST", "freeBusy", busy),
    ];
    for (name, open) in [
        ("calendar", [true; 5]),
        ("calendar.readonly", [true, false, true, false, true]),
        ("calendar.events", [true, true, false, false, false]),
        ("calendar.events.readonly", [true, false, false, false, false]),
        ("calendar.freebusy", [false, false, false, false, true]),
        ("calendar.calendarlist.readonly", [false, false, true, false, false]),
        ("gmail.modify", [false; 5]),
    ] {
        let user = User::at_calendar(sandbox.base(), MIRA, &scope(name)).await;
        for ((method, path, body), open) in calls.iter().zip(open) {
            let (status, answer) = user.call(method, path, body.clone()).await;
            assert_eq!(status == 200, open, "{name} {method} {path}: {status}");
            if !open {
                assert_eq!(status, 403);
                assert_eq!(answer["error"]["errors"][0]["reason"], "insufficientPermissions");
            }
        }
    }
    let mut nobody = signed_in(&sandbox, MIRA).await;
    nobody.token = "ya29.none".to_owned();
    assert_eq!(nobody.refused("GET", EVENTS, Value::Null).await.1, "authError");
}

#[tokio::test]
async fn read_only_calendars_are_not_written() {
    let dir = TempDir::new().unwrap();
    let calendars = dir.path().join("calendars").join(MIRA);
    let mail = dir.path().join("mail").join(MIRA);
    for folder in [&calendars, &mail] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(mail.join("a.eml"), "From: a@example.com\n\nhi\n").unwrap();
    let feast = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:feast\r\n\
                 DTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:20260501\r\nSUMMARY:Feast\r\n\
                 END:VEVENT\r\nEND:VCALENDAR\r\n";
    fs::write(calendars.join("Feasts.readonly.ics"), feast).unwrap();
    fs::write(calendars.join("calendar.ics"), feast.replace("feast", "own")).unwrap();
    let options = SandboxOptions {
        mail: Some(dir.path().join("mail")),
        calendar: Some(dir.path().join("calendars")),
        ..SandboxOptions::new(clock::clock())
    };
    let sandbox = Sandbox::start(options).await.unwrap();
    let mira = signed_in(&sandbox, MIRA).await;
    let list = mira.json("users/me/calendarList").await;
    let feasts = list["items"].as_array().unwrap();
    let feasts = feasts.iter().find(|it| it["accessRole"] == "reader").unwrap();
    let id = feasts["id"].as_str().unwrap();
    let events = format!("calendars/{id}/events");
    let all = mira.json(&events).await;
    assert_eq!(all["accessRole"], "reader");
    let event = format!("{events}/{}", all["items"][0]["id"].as_str().unwrap());
    let body = meeting("x", "2026-02-03T09:00:00", "2026-02-03T10:00:00");
    let import = with(body.clone(), json!({ "iCalUID": "x" }));
    for (method, path, body) in [
        ("POST", events.clone(), body.clone()),
        ("POST", format!("{events}/import"), import),
        ("PATCH", event.clone(), json!({ "summary": "x" })),
        ("PUT", event.clone(), body),
        ("DELETE", event.clone(), Value::Null),
        ("PATCH", format!("calendars/{id}"), json!({ "summary": "x" })),
        ("DELETE", format!("calendars/{id}"), Value::Null),
    ] {
        let (status, reason, _) = mira.refused(method, &path, body).await;
        assert_eq!((status, reason.as_str()), (403, "requiredAccessLevel"), "{method} {path}");
    }
    assert_eq!(mira.json(&event).await["summary"], "Feast");
}
