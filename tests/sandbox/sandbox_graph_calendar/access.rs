//! Permissions, and batch requests.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ANA, at, hour, made, mira, refused};
use crate::common::client::{ME, User};
use crate::graph_client::{column, text};

#[tokio::test]
async fn permissions_limit_access_to_calendars() {
    let (_dir, sandbox, user) = mira().await;
    let event = made(&user, "me/events", hour("x", 3, 9)).await;
    let path = at(&event);
    let reader = User::at_graph(sandbox.base(), ME, "User.Read Calendars.Read").await;
    let other = User::at_graph(sandbox.base(), ME, "User.Read Mail.Read").await;
    let denied = (403, "ErrorAccessDenied".to_owned());
    let body = hour("y", 3, 9);
    for (method, path, body, reads) in cases! {
        "GET", "me/calendars", &Value::Null, true;
        "GET", "me/calendarView/delta?startDateTime=2026-01-01&endDateTime=2026-02-01",
            &Value::Null, true;
        "GET", path.as_str(), &Value::Null, true;
        "POST", "me/events", &body, false;
        "PATCH", path.as_str(), &json!({}), false;
        "DELETE", path.as_str(), &Value::Null, false;
        "POST", "me/calendars", &json!({ "name": "x" }), false;
        "POST", &format!("{path}/cancel"), &json!({}), false;
    } {
        let reply = other.write(method, path, &[], body).await;
        assert_eq!(refused(&reply), denied, "{method} {path}");
        let reply = reader.write(method, path, &[], body).await;
        if reads {
            assert_eq!(reply.status, 200, "{method} {path}");
        } else {
            assert_eq!(refused(&reply), denied, "{method} {path}");
        }
    }
    // Asking when people are busy is reading.
    let time = json!({ "dateTime": "2026-02-03T00:00:00", "timeZone": "UTC" });
    let later = json!({ "dateTime": "2026-02-04T00:00:00", "timeZone": "UTC" });
    let ask = json!({ "schedules": [ME], "startTime": time, "endTime": later });
    let reply = reader.write("POST", "me/calendar/getSchedule", &[], &ask).await;
    assert_eq!(reply.status, 200);

    // Another's calendars take a permission of their own.
    let theirs = format!("users/{ANA}/calendars");
    assert_eq!(refused(&user.get(&theirs).await), denied);
    let shared = User::at_graph(sandbox.base(), ME, "Calendars.Read.Shared").await;
    let list = shared.json(&theirs).await;
    assert_eq!(list["value"][0]["owner"]["address"], ANA);
    assert_eq!(user.get(&format!("users/{ME}/calendars")).await.status, 200);

    // Rooms take an administrator.
    let rooms = "places/microsoft.graph.room";
    assert_eq!(refused(&user.get(rooms).await), denied);
    sandbox.allow_rooms(true);
    let list = user.json(rooms).await;
    assert_eq!(column(&list, "displayName"), ["Fjord", "Attic"]);
    assert_eq!(list["value"][0]["emailAddress"], "room-fjord@example.com");
}

#[tokio::test]
async fn batches_write_events() {
    let (_dir, _sandbox, user) = mira().await;
    let event = made(&user, "me/events", hour("x", 3, 9)).await;
    let path = format!("/{}", at(&event));
    let etag = text(&event["@odata.etag"]);
    let json_headers = json!({ "Content-Type": "application/json" });
    let matched = |etag: &str| json!({ "Content-Type": "application/json", "If-Match": etag });
    let reply = user
        .batch(&json!({ "requests": [
            { "id": "1", "method": "POST", "url": "/me/events", "headers": json_headers, "body": hour("y", 4, 9) },
            { "id": "2", "method": "PATCH", "url": path, "headers": matched(etag), "body": { "subject": "z" } },
            { "id": "3", "method": "PATCH", "url": path, "headers": matched(etag), "body": { "subject": "late" } },
            { "id": "4", "method": "POST", "url": "/me/events", "headers": { "Content-Type": "text/plain" }, "body": hour("no type", 4, 9) },
            { "id": "5", "method": "GET", "url": "/me/calendarView?startDateTime=2026-02-01&endDateTime=2026-03-01&$select=subject" },
            { "id": "6", "method": "DELETE", "url": path },
            { "id": "7", "method": "POST", "url": "/me/calendar/getSchedule", "headers": json_headers, "body": {
                "schedules": [ME],
                "startTime": { "dateTime": "2026-02-03T00:00:00", "timeZone": "UTC" },
                "endTime": { "dateTime": "2026-02-04T00:00:00", "timeZone": "UTC" },
            } },
        ] }))
        .await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let body = reply.json();
    let answers: BTreeMap<&str, &Value> =
        body["responses"].as_array().unwrap().iter().map(|it| (text(&it["id"]), it)).collect();
    let status: Vec<u64> = answers.values().map(|it| it["status"].as_u64().unwrap()).collect();
    assert_eq!(status, [201, 200, 412, 400, 200, 204, 200]);
    assert_eq!(answers["2"]["body"]["subject"], "z");
    assert_eq!(answers["3"]["body"]["error"]["code"], "ErrorIrresolvableConflict");
    assert_eq!(column(&answers["5"]["body"], "subject"), ["z", "y"]);
    assert_eq!(answers["6"].get("body"), None);
}
