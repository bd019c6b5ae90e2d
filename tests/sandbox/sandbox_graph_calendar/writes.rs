//! Changing events, and refused writes.

use serde_json::{Value, json};

use super::{ANA, BEN, SCOPES, at, clear, hour, made, mira, people, refused, view, with};
use crate::common::client::User;
use crate::graph_client::text;

/// Changes keep the fields that they do not name. A write with an outdated ETag is refused.
#[tokio::test]
async fn patches_keep_other_fields_and_detect_conflicts() {
    let (_dir, sandbox, user) = mira().await;
    let body = with(
        hour("First", 3, 9),
        json!({
            "attendees": people(&[ANA, BEN]),
            "body": { "contentType": "html", "content": "<p>As <b>agreed</b></p>" },
            "location": { "displayName": "Attic" }, "categories": ["Work"],
            "isOnlineMeeting": true,
        }),
    );
    let event = made(&user, "me/events", body).await;
    let path = at(&event);
    let ana = User::at_graph(sandbox.base(), ANA, SCOPES).await;
    let copy = at(&view(&ana).await[0]);
    let reply = ana.write("POST", &format!("{copy}/accept"), &[], &json!({})).await;
    assert_eq!((reply.status, reply.text().as_str()), (202, ""));

    let event = user.json(&path).await;
    let etag = text(&event["@odata.etag"]).to_owned();
    let change = json!({ "subject": "Second", "reminderMinutesBeforeStart": 5 });
    let reply = user.write("PATCH", &path, &[("if-match", &etag)], &change).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let changed = reply.json();
    assert_ne!(changed["@odata.etag"], event["@odata.etag"]);
    let mut expected = event.clone();
    for name in ["@odata.etag", "changeKey", "lastModifiedDateTime", "subject"] {
        expected[name] = changed[name].clone();
    }
    expected["reminderMinutesBeforeStart"] = 5.into();
    assert_eq!(changed, expected);
    assert_eq!(changed["attendees"][0]["status"]["response"], "accepted");
    assert_eq!(changed["attendees"][1]["status"]["response"], "none");
    assert_eq!(ana.json(&copy).await["subject"], "Second");

    // The old version is not there any more, for no way of writing.
    for (method, body) in [("PATCH", &change), ("DELETE", &Value::Null)] {
        let reply = user.write(method, &path, &[("if-match", &etag)], body).await;
        assert_eq!(refused(&reply), (412, "ErrorIrresolvableConflict".to_owned()), "{method}");
    }
    for good in [text(&changed["@odata.etag"]), text(&changed["changeKey"]), "*"] {
        let reply = user.write("PATCH", &path, &[("if-match", good)], &json!({})).await;
        // A change of nothing makes no version.
        assert_eq!(reply.json()["changeKey"], changed["changeKey"], "{good}");
    }

    // People are replaced as a whole, and keep their answers.
    let change = json!({ "attendees": people(&[ANA, "cy@far.example"]) });
    let changed = user.write("PATCH", &path, &[], &change).await.json();
    let who: Vec<(&str, &str)> = changed["attendees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(&it["emailAddress"]["address"]), text(&it["status"]["response"])))
        .collect();
    assert_eq!(who, [(ANA, "accepted"), ("cy@far.example", "none")]);

    // A meeting stays online but when Teams' part of the body goes.
    let off = json!({ "isOnlineMeeting": false });
    let changed = user.write("PATCH", &path, &[], &off).await.json();
    assert_eq!(changed["isOnlineMeeting"], true);
    let longer = text(&changed["body"]["content"]).replace("agreed", "agreed twice");
    let change = json!({ "body": { "contentType": "html", "content": longer } });
    let changed = user.write("PATCH", &path, &[], &change).await.json();
    assert_eq!(changed["isOnlineMeeting"], true);
    assert!(text(&changed["bodyPreview"]).starts_with("As agreed twice"));
    let change = json!({ "body": { "contentType": "html", "content": "<p>Bare</p>" } });
    let changed = user.write("PATCH", &path, &[], &change).await.json();
    assert_eq!(
        (&changed["isOnlineMeeting"], &changed["onlineMeeting"], &changed["bodyPreview"]),
        (&json!(false), &Value::Null, &json!("Bare"))
    );

    // Whole days and back.
    let day = |from: &str, to: &str| {
        json!({
            "isAllDay": true, "start": { "dateTime": from, "timeZone": "Europe/Berlin" },
            "end": { "dateTime": to, "timeZone": "Europe/Berlin" },
        })
    };
    let change = day("2026-02-05T00:00:00", "2026-02-06T00:00:00");
    let changed = user.write("PATCH", &path, &[], &change).await.json();
    assert_eq!(changed["isAllDay"], true);
    let off = json!({ "isAllDay": false });
    let changed = user.write("PATCH", &path, &[], &off).await.json();
    assert_eq!(
        (&changed["start"]["dateTime"], &changed["end"]["dateTime"]),
        (&json!("2026-02-04T23:00:00.0000000"), &json!("2026-02-05T23:00:00.0000000"))
    );
    let before = user.json(&path).await;
    for change in [
        day("2026-02-05T00:00:00", "2026-02-05T00:00:00"),
        day("2026-02-05T00:00:00", "2026-02-06T12:00:00"),
        with(
            day("2026-02-05T00:00:00", "2026-02-06T00:00:00"),
            json!({ "end": { "dateTime": "2026-02-06T00:00:00", "timeZone": "UTC" } }),
        ),
        json!({ "end": { "dateTime": "2020-01-01T00:00:00", "timeZone": "UTC" } }),
        json!({ "reminderMinutesBeforeStart": -1 }),
        json!({ "start": { "dateTime": "soon", "timeZone": "UTC" } }),
    ] {
        let reply = user.write("PATCH", &path, &[], &change).await;
        assert_eq!(refused(&reply), (400, "ErrorPropertyValidationFailure".to_owned()), "{change}");
    }
    assert_eq!(user.json(&path).await, before);

    let reply = user.write("DELETE", &path, &[], &Value::Null).await;
    assert_eq!((reply.status, reply.text().as_str()), (204, ""));
    assert_eq!(refused(&user.get(&path).await), (404, "ErrorItemNotFound".to_owned()));

    // Ana's copy stays, as cancelled, until she takes it out.
    let left = view(&ana).await.pop().unwrap();
    assert_eq!(
        (&left["subject"], &left["isCancelled"], &left["showAs"]),
        (&json!("Canceled: Second"), &json!(true), &json!("free"))
    );
    clear(&ana).await;
    assert_eq!(view(&ana).await, Vec::<Value>::new());
}

/// Bodies that Graph refuses.
#[tokio::test]
async fn invalid_event_bodies_are_refused() {
    let (_dir, _sandbox, user) = mira().await;
    let read = "RequestBodyRead";
    let failed = "ErrorPropertyValidationFailure";
    let good = hour("x", 3, 9);
    let many = people(&vec![ANA; 501]);
    let broken = |more: Value| with(good.clone(), more);
    for (body, code) in cases! {
        json!("{\"subject\":"), "BadRequest";
        json!("[]"), read;
        json!("7"), read;
        broken(json!({ "colour": "red" })), read;
        broken(json!({ "Subject": "x" })), read;
        broken(json!({ "subject": 7 })), read;
        broken(json!({ "subject": ["x"] })), read;
        broken(json!({ "isAllDay": "true" })), read;
        broken(json!({ "showAs": "asleep" })), read;
        broken(json!({ "attendees": ANA })), read;
        broken(json!({ "attendees": null })), read;
        broken(json!({ "attendees": [ANA] })), read;
        broken(json!({ "attendees": [{ "address": ANA }] })), read;
        broken(json!({ "body": "text" })), read;
        broken(json!({ "body": { "contentType": "rtf", "content": "" } })), read;
        broken(json!({ "reminderMinutesBeforeStart": 1.5 })), read;
        broken(json!({ "start": "2026-02-03T09:00:00" })), read;
        broken(json!({ "recurrence": { "range": { "startDate": "3.2.2026" } } })), read;
        broken(json!({ "attendees": people(&["nobody"]) })), "ErrorInvalidRecipients";
        broken(json!({ "attendees": people(&["a b@c.example"]) })), "ErrorInvalidRecipients";
        broken(json!({ "attendees": people(&[""]) })), "ErrorInvalidRecipients";
        broken(json!({ "attendees": [{}] })), "ErrorInvalidRecipients";
        broken(json!({ "attendees": many })), failed;
        broken(json!({ "end": good["start"], "start": good["end"] })), failed;
        broken(json!({ "end": null })), failed;
        broken(json!({ "isAllDay": true })), failed;
        broken(json!({ "start": { "dateTime": "2026-02-03T09:00:00", "timeZone": "Nowhere" } })),
            "TimeZoneNotSupportedException";
    } {
        let reply = user.write("POST", "me/events", &[], &body).await;
        assert_eq!(refused(&reply), (400, code.to_owned()), "{body}");
    }
    let (_, _, message) =
        user.write("POST", "me/events", &[], &json!({ "colour": "red" })).await.refusal();
    assert_eq!(
        message,
        "The property 'colour' does not exist on type 'microsoft.graph.event'. Make sure to only \
         use property names that are defined by the type."
    );
    for (headers, body, message) in [
        (&[("content-type", "text/plain")][..], "{}", "Unable to read JSON request payload."),
        (&[("content-type", "application/json"), ("content-length", "0")], "", "Empty Payload."),
    ] {
        let bearer = format!("Bearer {}", user.token);
        let mut headers = headers.to_vec();
        headers.push(("authorization", &bearer));
        let reply = user.send("POST", "/v1.0/me/events", &headers, body).await;
        let (status, code, detail) = reply.refusal();
        assert_eq!((status, code.as_str()), (400, "BadRequest"));
        assert!(detail.starts_with(message), "{detail}");
    }
    let long = json!({ "subject": "x".repeat(5 << 20) });
    let reply = user.write("POST", "me/events", &[], &long).await;
    assert_eq!(refused(&reply).0, 413);
    assert_eq!(view(&user).await, Vec::<Value>::new());

    // What is only read may come back.
    let event = made(&user, "me/events", good.clone()).await;
    let again = user.json(&at(&event)).await;
    let reply = user.write("PATCH", &at(&event), &[], &again).await;
    assert_eq!(reply.status, 200, "{}", reply.text());

    // Without times it is soon.
    let event = made(&user, "me/events", json!({ "subject": "Soon" })).await;
    assert_eq!(event["start"]["timeZone"], "UTC");
}
