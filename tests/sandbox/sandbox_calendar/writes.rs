//! Single events: created, read, patched, replaced, deleted, moved, imported.

use super::*;

#[tokio::test]
async fn created_event_is_read_back() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let body = json!({
        "id": "kiln0001", "summary": "Kiln talk", "description": "<b>Bring</b> the plan",
        "location": "Workshop 2", "colorId": "5", "visibility": "private",
        "transparency": "transparent",
        "start": { "dateTime": "2026-02-03T09:00:00-05:00", "timeZone": "America/New_York" },
        "end": { "dateTime": "2026-02-03T15:45:00.250Z" },
        "attendees": [
            { "email": MIRA, "responseStatus": "accepted" },
            { "email": "jonas@example.com", "displayName": "Jonas", "optional": true },
            { "email": "JONAS@example.com" },
            { "email": "room-2@example.com", "resource": true, "responseStatus": "accepted",
              "comment": "yours" },
        ],
        "reminders": { "useDefault": false, "overrides": [
            { "method": "email", "minutes": 60 }, { "method": "popup", "minutes": 5 },
        ] },
        "guestsCanInviteOthers": false,
        "source": { "url": "https://example.com/plan", "title": "Plan" },
        "attachments": [{ "fileUrl": "https://example.com/file" }],
        "conferenceData": { "createRequest": {
            "requestId": "r1", "conferenceSolutionKey": { "type": "hangoutsMeet" },
        } },
    });
    let made = mira.post(&format!("{EVENTS}?conferenceDataVersion=1"), body).await;
    let code = made["conferenceData"]["conferenceId"].as_str().unwrap();
    let lengths: Vec<usize> = code.split('-').map(str::len).collect();
    assert_eq!(lengths, [3, 4, 3], "{code}");
    let link = format!("https://meet.google.com/{code}");
    let expected = json!({
        "kind": "calendar#event", "etag": "E", "id": "kiln0001", "status": "confirmed",
        "htmlLink": "kiln0001 mira@example.com", "created": "T", "updated": "T",
        "summary": "Kiln talk", "description": "<b>Bring</b> the plan", "location": "Workshop 2",
        "colorId": "5", "creator": { "email": MIRA, "self": true },
        "organizer": { "email": MIRA, "self": true },
        "start": { "dateTime": "2026-02-03T15:00:00+01:00", "timeZone": "America/New_York" },
        "end": { "dateTime": "2026-02-03T16:45:00+01:00", "timeZone": "Europe/Berlin" },
        "transparency": "transparent", "visibility": "private", "iCalUID": "kiln0001@google.com",
        "sequence": 0,
        "attendees": [
            { "email": MIRA, "organizer": true, "self": true, "responseStatus": "accepted" },
            { "email": "jonas@example.com", "displayName": "Jonas", "optional": true,
              "responseStatus": "needsAction" },
            { "email": "room-2@example.com", "resource": true, "responseStatus": "accepted",
              "comment": "yours" },
        ],
        "hangoutLink": link,
        "conferenceData": {
            "createRequest": {
                "requestId": "r1", "conferenceSolutionKey": { "type": "hangoutsMeet" },
                "status": { "statusCode": "success" },
            },
            "entryPoints": [{
                "entryPointType": "video",
                "uri": link,
                "label": format!("meet.google.com/{code}"),
            }],
            "conferenceSolution": { "key": { "type": "hangoutsMeet" }, "name": "Google Meet" },
            "conferenceId": code,
        },
        "guestsCanInviteOthers": false,
        "source": { "url": "https://example.com/plan", "title": "Plan" },
        "reminders": { "useDefault": false, "overrides": [
            { "method": "email", "minutes": 60 }, { "method": "popup", "minutes": 5 },
        ] },
        "eventType": "default",
    });
    assert_eq!(steady(made.clone()), expected);
    let event = format!("{EVENTS}/kiln0001");
    assert_eq!(mira.json(&event).await, made);
    // Its own address is as good as `primary`.
    assert_eq!(mira.json(&format!("calendars/{MIRA}/events/kiln0001")).await, made);
}

#[tokio::test]
async fn whole_day_event_has_no_times() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let body = json!({
        "summary": "Fair", "start": { "date": "2026-03-28" }, "end": { "date": "2026-03-31" },
    });
    let made = mira.post(EVENTS, body).await;
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!(
        steady(made),
        json!({
            "kind": "calendar#event", "etag": "E", "id": id, "status": "confirmed",
            "htmlLink": format!("{id} {MIRA}"), "created": "T", "updated": "T", "summary": "Fair",
            "creator": { "email": MIRA, "self": true },
            "organizer": { "email": MIRA, "self": true }, "start": { "date": "2026-03-28" },
            "end": { "date": "2026-03-31" }, "iCalUID": format!("{id}@google.com"), "sequence": 0,
            "reminders": { "useDefault": true }, "eventType": "default",
        })
    );
    // Berlin's days; the last one ends with the 30th.
    for (min, max, found) in [
        ("2026-03-27T00:00:00%2B01:00", "2026-03-28T00:00:00%2B01:00", 0),
        ("2026-03-27T00:00:00%2B01:00", "2026-03-28T00:00:01%2B01:00", 1),
        ("2026-03-30T23:59:59%2B02:00", "2026-04-02T00:00:00%2B02:00", 1),
        ("2026-03-31T00:00:00%2B02:00", "2026-04-02T00:00:00%2B02:00", 0),
    ] {
        let list = mira.json(&format!("{EVENTS}?timeMin={min}&timeMax={max}")).await;
        let items = list["items"].as_array().unwrap();
        assert_eq!(items.len(), found, "{min} {max}");
    }
}

#[tokio::test]
async fn patch_keeps_fields_it_does_not_name() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let body = with(
        meeting("Talk", "2026-02-03T09:00:00", "2026-02-03T10:00:00"),
        json!({
            "location": "Here", "colorId": "3",
            "attendees": [{ "email": "a@example.com", "displayName": "A" },
                          { "email": "b@example.com", "responseStatus": "tentative" }],
            "conferenceData": { "createRequest": { "requestId": "r1" } },
            "reminders": { "useDefault": false },
        }),
    );
    let made = mira.post(&format!("{EVENTS}?conferenceDataVersion=1"), body).await;
    let event = format!("{EVENTS}/{}", made["id"].as_str().unwrap());
    let link = made["hangoutLink"].clone();
    assert!(link.is_string());

    // Null takes away; objects are laid over each other; arrays are replaced.
    let patched = mira
        .patch(
            &event,
            json!({
                "location": null, "summary": "Walk",
                "start": { "dateTime": "2026-02-03T09:30:00+01:00" },
                "attendees": [{ "email": "b@example.com", "responseStatus": "tentative" },
                              { "email": "c@example.com" }],
            }),
        )
        .await;
    let mut expected = made.clone();
    expected["summary"] = "Walk".into();
    expected.as_object_mut().unwrap().remove("location");
    expected["start"]["dateTime"] = "2026-02-03T09:30:00+01:00".into();
    expected["attendees"] = json!([
        { "email": "b@example.com", "responseStatus": "tentative" },
        { "email": "c@example.com", "responseStatus": "needsAction" },
    ]);
    // A new time is a new sequence.
    expected["sequence"] = 1.into();
    assert_ne!(patched["etag"], made["etag"]);
    assert_eq!(steady(patched), steady(expected));

    // A client that does not know of conferences does not lose them, not even
    // when it replaces the event.
    let whole = meeting("Short", "2026-02-03T09:30:00", "2026-02-03T10:00:00");
    let replaced = mira.ok("PUT", &event, whole.clone()).await;
    for (key, value) in [
        ("summary", json!("Short")),
        ("hangoutLink", link),
        ("attendees", Value::Null),
        ("colorId", Value::Null),
        ("reminders", json!({ "useDefault": true })),
        ("created", made["created"].clone()),
        ("iCalUID", made["iCalUID"].clone()),
        ("sequence", json!(1)),
    ] {
        assert_eq!(replaced[key], value, "{key}");
    }
    let version = format!("{event}?conferenceDataVersion=1");
    let without = mira.ok("PUT", &version, whole).await;
    assert_eq!(without["hangoutLink"], Value::Null);
    assert_eq!(without["conferenceData"], Value::Null);
    // From times to a day, and back.
    let day = json!({
        "start": { "date": "2026-02-04", "dateTime": null, "timeZone": null },
        "end": { "date": "2026-02-05", "dateTime": null, "timeZone": null },
    });
    let day = mira.patch(&event, day).await;
    assert_eq!(day["start"], json!({ "date": "2026-02-04" }));
    // What changes nothing leaves the etag.
    let again = mira.patch(&event, json!({ "summary": "Short" })).await;
    assert_eq!(again["etag"], day["etag"]);
}

#[tokio::test]
async fn event_changed_meanwhile_is_not_written() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let made =
        mira.post(EVENTS, meeting("Talk", "2026-02-03T09:00:00", "2026-02-03T10:00:00")).await;
    let (id, etag) = (made["id"].as_str().unwrap(), made["etag"].as_str().unwrap());
    let event = format!("{EVENTS}/{id}");
    mira.patch(&event, json!({ "summary": "Elsewhere, too" })).await;
    let stale = [("if-match", etag)];
    let body = meeting("Mine", "2026-02-03T09:00:00", "2026-02-03T10:00:00");
    for (method, body) in
        [("PATCH", json!({ "summary": "Mine" })), ("PUT", body), ("DELETE", Value::Null)]
    {
        let (status, answer) = mira.write(method, &event, &stale, &body).await.answer();
        assert_eq!(status, 412, "{method}");
        assert_eq!(
            answer,
            json!({ "error": {
                "errors": [{
                    "domain": "global",
                    "reason": "conditionNotMet",
                    "message": "Precondition Failed",
                    "locationType": "header",
                    "location": "If-Match",
                }],
                "code": 412,
                "message": "Precondition Failed",
            } }),
            "{method}"
        );
    }
    let now = mira.json(&event).await;
    assert_eq!(now["summary"], "Elsewhere, too");
    let fresh = [("if-match", now["etag"].as_str().unwrap())];
    let mine = json!({ "summary": "Mine" });
    assert_eq!(mira.write("PATCH", &event, &fresh, &mine).await.status, 200);
    let any = [("if-match", "*")];
    assert_eq!(mira.write("DELETE", &event, &any, &Value::Null).await.status, 204);
}

#[tokio::test]
async fn deleted_event_leaves_a_tombstone() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let body = with(
        meeting("Talk", "2026-02-03T09:00:00", "2026-02-03T10:00:00"),
        json!({ "id": "talk1" }),
    );
    mira.post(EVENTS, body.clone()).await;
    let event = format!("{EVENTS}/talk1");
    mira.delete(&format!("{event}?sendUpdates=none")).await;
    let refusal = (410, "deleted".to_owned(), "Resource has been deleted".to_owned());
    assert_eq!(mira.refused("DELETE", &event, Value::Null).await, refusal);
    let tombstone = mira.json(&event).await;
    assert_eq!(
        (&tombstone["status"], &tombstone["summary"]),
        (&json!("cancelled"), &json!("Talk"))
    );
    assert_eq!(mira.json(EVENTS).await["items"], json!([]));
    let shown = mira.json(&format!("{EVENTS}?showDeleted=true")).await;
    assert_eq!(
        steady(shown["items"].clone()),
        json!([{ "kind": "calendar#event", "etag": "E", "id": "talk1", "status": "cancelled" }])
    );
    // The id stays taken; the event can come back.
    let taken = mira.refused("POST", EVENTS, body).await;
    assert_eq!((taken.0, &*taken.1), (409, "duplicate"));
    assert_eq!(mira.refused("PATCH", &event, json!({ "summary": "x" })).await.0, 404);
    let back = mira.patch(&event, json!({ "status": "confirmed" })).await;
    assert_eq!((&back["status"], &back["summary"]), (&json!("confirmed"), &json!("Talk")));
    let again = mira.patch(&event, json!({ "status": "cancelled" })).await;
    assert_eq!(again["status"], "cancelled");
    assert_eq!(mira.json(EVENTS).await["items"], json!([]));
}

#[tokio::test]
async fn special_event_types_are_created_and_checked() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let away = with(
        meeting("Away", "2026-02-03T09:00:00", "2026-02-03T17:00:00"),
        json!({
            "eventType": "outOfOffice",
            "outOfOfficeProperties": {
                "autoDeclineMode": "declineOnlyNewConflictingInvitations",
                "declineMessage": "Back on Monday",
            },
        }),
    );
    let made = mira.post(EVENTS, away.clone()).await;
    assert_eq!(made["outOfOfficeProperties"], away["outOfOfficeProperties"]);
    assert_eq!(made["eventType"], "outOfOffice");
    let focus = with(
        meeting("Think", "2026-02-04T09:00:00", "2026-02-04T11:00:00"),
        json!({ "eventType": "focusTime", "focusTimeProperties": { "chatStatus": "doNotDisturb" } }),
    );
    assert_eq!(mira.post(EVENTS, focus).await["eventType"], "focusTime");
    let home = json!({
        "summary": "Home", "start": { "date": "2026-02-05" }, "end": { "date": "2026-02-06" },
        "eventType": "workingLocation", "visibility": "public", "transparency": "transparent",
        "workingLocationProperties": { "type": "homeOffice", "homeOffice": {} },
    });
    let made = mira.post(EVENTS, home.clone()).await;
    assert_eq!(made["workingLocationProperties"], home["workingLocationProperties"]);
    assert_eq!(made["transparency"], "transparent");
    let event = format!("{EVENTS}/{}", made["id"].as_str().unwrap());
    let renamed = mira.patch(&event, json!({ "summary": "At home" })).await;
    assert_eq!(renamed["eventType"], "workingLocation");

    let no = |change: Value| with(away.clone(), change);
    for (body, reason, message) in cases! {
        no(json!({ "start": { "date": "2026-02-03" }, "end": { "date": "2026-02-04" } })),
            "malformedOutOfOfficeEvent", "An out of office event cannot be an all-day event.";
        no(json!({ "attendees": [{ "email": "a@example.com" }] })), "malformedOutOfOfficeEvent",
            "An out of office event cannot have attendees.";
        with(home.clone(), json!({ "visibility": "private" })), "malformedWorkingLocationEvent",
            "A working location event must have a visibility setting of public.";
        with(home.clone(), json!({ "transparency": "opaque" })), "malformedWorkingLocationEvent",
            "A working location event must have a transparency setting of transparent.";
        no(json!({ "eventType": "birthday" })), "invalid", "Invalid value for: eventType";
    } {
        let expected = (400, reason.to_owned(), message.to_owned());
        assert_eq!(mira.refused("POST", EVENTS, body).await, expected);
    }
    let changed = mira.refused("PATCH", &event, json!({ "eventType": "default" })).await;
    assert_eq!(changed.2, "Event type cannot be changed.");
}

#[tokio::test]
async fn events_are_imported_with_their_uid() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    // The organizer is theirs, and nobody is told.
    let import = format!("{EVENTS}/import");
    let body = with(
        meeting("Board", "2026-02-10T09:00:00", "2026-02-10T10:00:00"),
        json!({
            "iCalUID": "board@partner.example", "sequence": 4,
            "organizer": { "email": "vera@partner.example", "displayName": "Vera" },
            "attendees": [{ "email": MIRA, "responseStatus": "needsAction" }, { "email": ZOE }],
            "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=2"],
        }),
    );
    let taken = mira.post(&import, body.clone()).await;
    assert_eq!(
        (&taken["organizer"], &taken["sequence"], &taken["iCalUID"]),
        (
            &json!({ "email": "vera@partner.example", "displayName": "Vera" }),
            &json!(4),
            &json!("board@partner.example")
        )
    );
    assert_eq!(taken["attendees"][0]["self"], true);
    let again = mira.post(&import, with(body.clone(), json!({ "location": "Hall" }))).await;
    assert_eq!(again["id"], taken["id"]);
    let late = with(
        meeting("Board, late", "2026-02-17T11:00:00", "2026-02-17T12:00:00"),
        json!({
            "iCalUID": "board@partner.example",
            "originalStartTime": { "dateTime": "2026-02-17T09:00:00+01:00" },
            "organizer": { "email": "vera@partner.example" },
        }),
    );
    let late = mira.post(&import, late).await;
    assert_eq!(late["recurringEventId"], taken["id"]);
    assert_eq!(
        late["originalStartTime"],
        json!({ "dateTime": "2026-02-17T09:00:00+01:00", "timeZone": "Europe/Berlin" })
    );
    let mine = mira.year(2026).await;
    assert_eq!(each(&mine, "/summary"), ["Board", "Board, late"]);
    let zoe = signed_in(&sandbox, ZOE).await;
    assert_eq!(zoe.year(2026).await, Vec::<Value>::new());
    let found = mira.json(&format!("{EVENTS}?iCalUID=board@partner.example")).await;
    assert_eq!(each(found["items"].as_array().unwrap(), "/summary"), ["Board", "Board, late"]);
}
