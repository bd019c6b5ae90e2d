//! What is refused, and how.

use super::*;

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
        (insert(json!({})), 400, "required", "Missing end time."),
        (insert(json!({ "end": good["end"] })), 400, "required", "Missing start time."),
        (insert(start(json!({}))), 400, "required", "Missing start time."),
        (insert(start(json!("x"))), 400, "invalid", "Invalid start time."),
        (insert(start(json!({ "date": "2026-2-3" }))), 400, "invalid", "Invalid start time."),
        (insert(start(json!({ "date": "2026-02-30" }))), 400, "invalid", "Invalid start time."),
        (insert(start(json!({ "dateTime": "tomorrow" }))), 400, "invalid", "Invalid start time."),
        (
            insert(start(json!({ "dateTime": "2026-02-03T09:00:00Z", "date": "2026-02-03" }))),
            400,
            "invalid",
            "Invalid start time.",
        ),
        (
            insert(start(json!({ "dateTime": "2026-02-03T09:00:00" }))),
            400,
            "required",
            "Missing time zone definition for start time.",
        ),
        (
            insert(start(json!({ "dateTime": "2026-02-03T09:00:00", "timeZone": "Mars/Base" }))),
            400,
            "invalid",
            "Invalid time zone definition for start time.",
        ),
        (
            insert(start(json!({ "dateTime": "2026-02-03T09:00:00",
                                 "timeZone": "W. Europe Standard Time" }))),
            400,
            "invalid",
            "Invalid time zone definition for start time.",
        ),
        (
            insert(start(json!({ "date": "2026-02-03" }))),
            400,
            "invalid",
            "Start and end times must either both be date or both be dateTime.",
        ),
        (
            insert(start(json!({ "dateTime": "2026-02-03T10:00:01+01:00" }))),
            400,
            "timeRangeEmpty",
            "The specified time range is empty.",
        ),
        // Series.
        (
            insert(with(
                start(json!({ "dateTime": "2026-02-03T09:00:00+01:00" })),
                json!({ "recurrence": ["RRULE:FREQ=DAILY"] }),
            )),
            400,
            "required",
            "Missing time zone definition for start time.",
        ),
        (
            insert(change(json!({ "recurrence": ["RRULE:FREQ=NEVER"] }))),
            400,
            "invalid",
            "Invalid recurrence rule.",
        ),
        (
            insert(change(json!({ "recurrence": ["FREQ=DAILY"] }))),
            400,
            "invalid",
            "Invalid recurrence rule.",
        ),
        (
            insert(change(json!({ "recurrence": ["RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY"] }))),
            400,
            "invalid",
            "Invalid recurrence rule.",
        ),
        (
            insert(change(json!({ "recurrence": ["RRULE:FREQ=DAILY", "DTSTART:20260203"] }))),
            400,
            "invalid",
            "Invalid recurrence rule.",
        ),
        (
            insert(change(json!({ "recurrence": ["RRULE:FREQ=DAILY", "EXDATE:x"] }))),
            400,
            "invalid",
            "Invalid recurrence rule.",
        ),
        (
            insert(change(json!({ "recurrence": ["EXDATE:20260204T080000Z"] }))),
            400,
            "invalid",
            "Invalid recurrence rule.",
        ),
        (
            insert(change(json!({ "recurrence": "RRULE:FREQ=DAILY" }))),
            400,
            "invalid",
            "Invalid value for: recurrence",
        ),
        // The rest of an event.
        (insert(change(json!({ "id": "Ab-1" }))), 400, "invalid", "Invalid resource id value."),
        (insert(change(json!({ "id": "abc" }))), 400, "invalid", "Invalid resource id value."),
        (
            insert(change(json!({ "id": "talk0" }))),
            409,
            "duplicate",
            "The requested identifier already exists.",
        ),
        (
            insert(change(json!({ "attendees": [{ "displayName": "A" }] }))),
            400,
            "required",
            "Missing attendee email.",
        ),
        (
            insert(change(json!({ "attendees": [{ "email": "not an address" }] }))),
            400,
            "invalid",
            "Invalid attendee email.",
        ),
        (
            insert(change(
                json!({ "attendees": [{ "email": "a@b.c", "responseStatus": "maybe" }] }),
            )),
            400,
            "invalid",
            "Invalid value for: attendees.responseStatus",
        ),
        (
            insert(change(json!({ "reminders": {
                "useDefault": true, "overrides": [{ "method": "popup", "minutes": 5 }] } }))),
            400,
            "cannotUseDefaultRemindersAndSpecifyOverride",
            "Cannot specify both default reminders and overrides at the same time.",
        ),
        (
            insert(change(json!({ "reminders": {
                "overrides": [{ "method": "popup", "minutes": 40321 }] } }))),
            400,
            "invalid",
            "Invalid value for: reminders.overrides",
        ),
        (insert(change(json!({ "colorId": "12" }))), 400, "invalid", "Invalid value for: colorId"),
        (insert(change(json!({ "summary": 7 }))), 400, "invalid", "Invalid value for: summary"),
        (insert(change(json!({ "status": "x" }))), 400, "invalid", "Invalid value for: status"),
        (
            insert(change(json!({ "subject": "x" }))),
            400,
            "invalid",
            "Invalid JSON payload received. Unknown name \"subject\": Cannot find field.",
        ),
        (insert(json!([1])), 400, "parseError", "Parse Error"),
        (
            ("PATCH", talk.clone(), json!({ "start": { "date": "2026-02-03" } })),
            400,
            "invalid",
            "Invalid start time.",
        ),
        (
            ("PUT", talk.clone(), json!({ "summary": "no time" })),
            400,
            "required",
            "Missing end time.",
        ),
        (
            ("POST", format!("{EVENTS}/import"), good.clone()),
            400,
            "required",
            "Missing required field: iCalUID",
        ),
        (
            ("POST", format!("{talk}/move"), Value::Null),
            400,
            "required",
            "Missing required parameter: destination",
        ),
        (
            ("POST", format!("{EVENTS}?sendUpdates=some"), good.clone()),
            400,
            "invalid",
            "Invalid value for: sendUpdates",
        ),
        (
            (
                "POST",
                format!("{EVENTS}?conferenceDataVersion=1"),
                change(json!({
                "conferenceData": { "createRequest": {
                    "requestId": "r", "conferenceSolutionKey": { "type": "addOn" } } } })),
            ),
            400,
            "invalid",
            "Invalid conference type value.",
        ),
        // Lists.
        (list("timeMin=2026-02-03"), 400, "badRequest", "Bad Request"),
        (list("timeMin=2026-02-03T00:00:00"), 400, "badRequest", "Bad Request"),
        (list("timeMax=soon"), 400, "badRequest", "Bad Request"),
        (
            list("timeMin=2026-02-03T00:00:00Z&timeMax=2026-02-03T00:00:00Z"),
            400,
            "timeRangeEmpty",
            "The specified time range is empty.",
        ),
        (
            list("orderBy=startTime"),
            400,
            "badRequest",
            "The requested ordering is not available for the particular query.",
        ),
        (list("orderBy=title"), 400, "invalid", "Invalid value for: orderBy"),
        (list("timeZone=Nowhere"), 400, "invalid", "Invalid value for: timeZone"),
        (list("maxResults=0"), 400, "invalid", "Invalid value for: maxResults"),
        (list("eventTypes=party"), 400, "invalid", "Invalid value for: eventTypes"),
        (list("pageToken=x"), 400, "invalidParameter", "Invalid page token value."),
        (list("fields=items(subject)"), 400, "invalidParameter", "Invalid field selection subject"),
        // What is not there.
        (("GET", format!("{EVENTS}/none"), Value::Null), 404, "notFound", "Not Found"),
        (("DELETE", format!("{EVENTS}/none"), Value::Null), 404, "notFound", "Not Found"),
        (("GET", format!("calendars/{ZOE}/events"), Value::Null), 404, "notFound", "Not Found"),
        (("GET", "calendars/none".to_owned(), Value::Null), 404, "notFound", "Not Found"),
        (
            ("POST", format!("{EVENTS}/quickAdd?text=x"), Value::Null),
            404,
            "notFound",
            "Method not found.",
        ),
        // Busy times.
        (("POST", "freeBusy".to_owned(), json!({})), 400, "required", "Missing timeMin parameter."),
        (
            (
                "POST",
                "freeBusy".to_owned(),
                json!({
                "timeMin": "2026-02-03T00:00:00Z", "timeMax": "2026-02-02T00:00:00Z" }),
            ),
            400,
            "timeRangeEmpty",
            "The specified time range is empty.",
        ),
        (
            ("POST", "calendars".to_owned(), json!({})),
            400,
            "required",
            "Missing required field: summary",
        ),
        (
            ("POST", "calendars".to_owned(), json!({ "summary": "x", "timeZone": "y" })),
            400,
            "invalid",
            "Invalid value for: timeZone",
        ),
    ];
    for ((method, path, body), status, reason, message) in cases {
        let told = mira.refused(method, &path, body.clone()).await;
        let expected = (status, reason.to_owned(), message.to_owned());
        assert_eq!(told, expected, "{method} {path} {body}");
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
        ("GET", "users/me/settings/timezone", Value::Null),
        ("GET", "colors", Value::Null),
    ];
    for (name, open) in [
        ("calendar", [true; 7]),
        ("calendar.readonly", [true, false, true, false, true, true, true]),
        ("calendar.events", [true, true, false, false, false, false, false]),
        ("calendar.events.readonly", [true, false, false, false, false, false, false]),
        ("calendar.freebusy", [false, false, false, false, true, false, false]),
        ("calendar.calendarlist.readonly", [false, false, true, false, false, false, true]),
        ("gmail.modify", [false; 7]),
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
async fn what_one_may_only_read_is_not_written() {
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
    let options = Options {
        mail: Some(dir.path().join("mail")),
        calendar: Some(dir.path().join("calendars")),
        ..Options::default()
    };
    let sandbox = Sandbox::start(options).await.unwrap();
    let mira = signed_in(&sandbox, MIRA).await;
    let list = mira.json("users/me/calendarList").await;
    let feasts = list["items"].as_array().unwrap();
    let feasts = feasts.iter().find(|it| it["accessRole"] == "reader").unwrap();
    let id = feasts["id"].as_str().unwrap();
    let own = mira.json("users/me/calendarList?minAccessRole=writer&fields=items/id").await;
    assert_eq!(own, json!({ "items": [{ "id": MIRA }] }));
    let events = format!("calendars/{id}/events");
    let all = mira.json(&events).await;
    assert_eq!(all["accessRole"], "reader");
    let event = format!("{events}/{}", all["items"][0]["id"].as_str().unwrap());
    let body = meeting("x", "2026-02-03T09:00:00", "2026-02-03T10:00:00");
    let import = with(body.clone(), json!({ "iCalUID": "x" }));
    for (method, path, body, needed) in [
        ("POST", events.clone(), body.clone(), "writer"),
        ("POST", format!("{events}/import"), import, "writer"),
        ("PATCH", event.clone(), json!({ "summary": "x" }), "writer"),
        ("PUT", event.clone(), body, "writer"),
        ("DELETE", event.clone(), Value::Null, "writer"),
        ("POST", format!("{event}/move?destination=primary"), Value::Null, "writer"),
        ("PATCH", format!("calendars/{id}"), json!({ "summary": "x" }), "owner"),
        ("DELETE", format!("calendars/{id}"), Value::Null, "owner"),
    ] {
        let message = format!("You need to have {needed} access to this calendar.");
        let expected = (403, "requiredAccessLevel".to_owned(), message);
        assert_eq!(mira.refused(method, &path, body).await, expected, "{method} {path}");
    }
    assert_eq!(mira.json(&event).await["summary"], "Feast");
}
