//! Lists of events, and the calendars themselves.

use serde_json::{Value, json};

use super::{hour, made, mira, refused, view};
use crate::common::client::{ME, encoded, form};
use crate::graph_client::{column, text};

#[tokio::test]
async fn event_lists_are_filtered_and_ordered() {
    let (_dir, _sandbox, user) = mira().await;
    for (subject, day, at) in
        [("Alpha", 3, 9), ("beta", 4, 9), ("Gamma", 2, 9), ("Alpha two", 5, 9)]
    {
        made(&user, "me/events", hour(subject, day, at)).await;
    }
    let uid = text(&view(&user).await[0]["iCalUId"]).to_owned();
    let by_uid = format!("iCalUId eq '{uid}'");
    for (options, expected) in [
        (&[][..], &["Alpha two", "Gamma", "beta", "Alpha"][..]),
        (&[("$orderby", "start/dateTime")], &["Gamma", "Alpha", "beta", "Alpha two"]),
        (&[("$filter", &by_uid)], &["Gamma"]),
        (&[("$skip", "3")], &["Alpha"]),
    ] {
        let query = form(options.iter().copied());
        let list = user.json(&format!("me/events?%24select=subject&{query}")).await;
        assert_eq!(column(&list, "subject"), expected, "{options:?}");
    }
    for (option, code) in [
        (("$filter", "subject eq"), "BadRequest"),
        (("$filter", "subject eq 'Alpha'"), "ErrorInvalidUrlQueryFilter"),
        (("$orderby", "attendees"), "ErrorInvalidUrlQuery"),
        (("$select", "colour"), "RequestBroker--ParseUri"),
        (("$search", "\"x\""), "BadRequest"),
    ] {
        let reply = user.get(&format!("me/events?{}", form([option]))).await;
        assert_eq!(refused(&reply), (400, code.to_owned()), "{option:?}");
    }

    // Pages part the list, links and all.
    let mut path = "me/events?%24top=3&%24select=subject&%24count=true".to_owned();
    let mut seen = Vec::new();
    loop {
        let page = user.json(&path).await;
        assert_eq!(page["@odata.count"], 4);
        seen.extend(column(&page, "subject"));
        match page["@odata.nextLink"].as_str() {
            Some(next) => path = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(seen, ["Alpha two", "Gamma", "beta", "Alpha"]);

    // A stretch of time, with whatever offset it is said.
    for (from, to, expected) in [
        ("2026-02-03T00:00:00Z", "2026-02-05T00:00:00Z", &["Alpha", "beta"][..]),
        ("2026-02-03T00:00:00", "2026-02-05T00:00:00", &["Alpha", "beta"]),
        ("2026-02-03T10:00:00+01:00", "2026-02-04T09:00:00+01:00", &[]),
        ("2026-02-03T09:59:00+01:00", "2026-02-04T09:01:00+01:00", &["Alpha", "beta"]),
        ("2026-02-05", "2026-02-06", &["Alpha two"]),
    ] {
        let query = form([("startDateTime", from), ("EndDateTime", to)]);
        let list = user.json(&format!("me/calendarView?{query}")).await;
        assert_eq!(column(&list, "subject"), expected, "{from} {to}");
    }
    for (options, code) in cases! {
        &[][..], "ErrorInvalidParameter";
        &[("startDateTime", "2026-02-03")], "ErrorInvalidParameter";
        &[("startDateTime", "soon"), ("endDateTime", "2026-02-03")], "ErrorInvalidParameter";
        &[("startDateTime", "2026-02-04"), ("endDateTime", "2026-02-03")], "ErrorInvalidRequest";
        &[("startDateTime", "2020-01-01"), ("endDateTime", "2026-02-03")], "ErrorInvalidParameter";
    } {
        let query = form(options.iter().copied());
        let reply = user.get(&format!("me/calendarView?{query}")).await;
        assert_eq!(refused(&reply), (400, code.to_owned()), "{options:?}");
    }
    for (id, status, code) in
        [("x", 400, "ErrorInvalidIdMalformed"), ("AAMk", 400, "ErrorInvalidIdMalformed")]
    {
        let reply = user.get(&format!("me/events/{id}")).await;
        assert_eq!(refused(&reply), (status, code.to_owned()), "{id}");
    }
    let message = user.json("me/messages?%24top=1").await;
    let message = encoded(text(&message["value"][0]["id"]));
    let reply = user.get(&format!("me/events/{message}")).await;
    assert_eq!(refused(&reply), (404, "ErrorItemNotFound".to_owned()));
}

#[tokio::test]
async fn calendars_are_created_and_deleted() {
    let (_dir, _sandbox, user) = mira().await;
    let list = user.json("me/calendars").await;
    let mut main = list["value"][0].clone();
    let main_path = format!("me/calendars/{}", encoded(text(&main["id"])));
    assert_eq!(user.json(&format!("{main_path}?%24select=id")).await["id"], main["id"]);
    for name in ["id", "changeKey"] {
        main.as_object_mut().unwrap().remove(name);
    }
    assert_eq!(
        main,
        json!({
            "name": "Calendar", "isDefaultCalendar": true, "canShare": true, "canEdit": true,
            "owner": { "name": "Mira Lindqvist", "address": ME },
        })
    );
    let reply = user.write("POST", "me/calendars", &[], &json!({ "name": "Garden" })).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    let garden = reply.json();
    let path = format!("me/calendars/{}", encoded(text(&garden["id"])));
    assert_eq!((&garden["isDefaultCalendar"], &garden["canEdit"]), (&json!(false), &json!(true)));
    for (method, path, body, status, code) in [
        ("POST", "me/calendars", json!({ "name": "garden" }), 409, "ErrorFolderExists"),
        ("POST", "me/calendars", json!({ "name": " " }), 400, "ErrorPropertyValidationFailure"),
        ("POST", "me/calendars", json!({ "title": "x" }), 400, "RequestBodyRead"),
        ("PATCH", &main_path, json!({ "name": "Mine" }), 403, "ErrorAccessDenied"),
        ("DELETE", &main_path, Value::Null, 400, "ErrorInvalidRequest"),
        ("POST", &main_path, json!({}), 405, "Request_BadRequest"),
        ("PATCH", "me/calendars/x", json!({ "name": "Mine" }), 400, "ErrorInvalidIdMalformed"),
    ] {
        let reply = user.write(method, path, &[], &body).await;
        assert_eq!(refused(&reply), (status, code.to_owned()), "{method} {path} {body}");
    }
    let reply = user.write("PATCH", &path, &[], &json!({ "name": "Yard" })).await;
    assert_eq!((reply.status, &reply.json()["name"]), (200, &json!("Yard")));
    let list = user.json("me/calendars?%24select=name").await;
    assert_eq!(column(&list, "name"), ["Calendar", "Yard"]);

    // Its events are its own.
    let event = made(&user, &format!("{path}/events"), hour("Weeds", 3, 9)).await;
    let id = encoded(text(&event["id"]));
    assert_eq!(view(&user).await, Vec::<Value>::new());
    assert_eq!(user.json("me/events").await["value"], json!([]));
    assert_eq!(column(&user.json(&format!("{path}/events")).await, "subject"), ["Weeds"]);
    let range = "startDateTime=2026-02-01&endDateTime=2026-03-01";
    let seen = user.json(&format!("{path}/calendarView?{range}")).await;
    assert_eq!(column(&seen, "subject"), ["Weeds"]);
    assert_eq!(user.get(&format!("me/events/{id}")).await.status, 200);

    let reply = user.write("DELETE", &path, &[], &Value::Null).await;
    assert_eq!(reply.status, 204);
    assert_eq!(refused(&user.get(&path).await), (404, "ErrorItemNotFound".to_owned()));
    assert_eq!(user.get(&format!("me/events/{id}")).await.status, 404);
    // The same name again is another calendar.
    let again = user.write("POST", "me/calendars", &[], &json!({ "name": "Garden" })).await;
    assert_ne!(again.json()["id"], garden["id"]);
}
