//! Lists of events, and the calendars themselves.

use serde_json::{Value, json};

use super::{hour, made, mira, refused, view};
use crate::common::client::{encoded, form};
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
async fn invalid_calendar_requests_are_refused() {
    let (_dir, _sandbox, user) = mira().await;
    let main = user.json("me/calendars").await["value"][0].clone();
    let main_path = format!("me/calendars/{}", encoded(text(&main["id"])));
    made(&user, "me/calendars", json!({ "name": "Garden" })).await;
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
    let list = user.json("me/calendars?%24select=name").await;
    assert_eq!(column(&list, "name"), ["Calendar", "Garden"]);
}
