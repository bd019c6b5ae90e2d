//! Changes since the last round, in calendars and in folders.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ANA, at, hour, made, mira, refused, with};
use crate::common::client::{ME, User, encoded, form};
use crate::graph_client::text;

/// Follows a round to its end. Returns its entries and the link to the next round.
pub async fn round(user: &User, path: &str, size: usize) -> (Vec<Value>, String) {
    let (mut path, mut entries) = (path.to_owned(), Vec::new());
    loop {
        let prefer = format!("odata.maxpagesize={size}");
        let reply = user.prefer(&path, &prefer).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        let page = reply.json();
        let rows = page["value"].as_array().unwrap();
        assert!(rows.len() <= size);
        entries.extend(rows.clone());
        if let Some(link) = page["@odata.deltaLink"].as_str() {
            assert_eq!(page.get("@odata.nextLink"), None);
            return (entries, link.to_owned());
        }
        path = text(&page["@odata.nextLink"]).to_owned();
    }
}

#[tokio::test]
async fn calendar_delta_returns_changes() {
    let (_dir, sandbox, user) = mira().await;
    let mut events = Vec::new();
    for (subject, day) in [("One", 3), ("Two", 4), ("Three", 5)] {
        events.push(made(&user, "me/events", hour(subject, day, 9)).await);
    }
    made(&user, "me/events", with(hour("Outside", 20, 9), json!({}))).await;
    let path =
        "me/calendarView/delta?startDateTime=2026-02-01T00:00:00Z&endDateTime=2026-02-10T00:00:00Z";
    let (entries, link) = round(&user, path, 2).await;
    let subjects: Vec<&str> = entries.iter().map(|it| text(&it["subject"])).collect();
    assert_eq!(subjects, ["One", "Two", "Three"]);
    assert_eq!(entries[0]["@odata.type"], "#microsoft.graph.event");
    let (entries, link) = round(&user, &link, 2).await;
    assert_eq!(entries, Vec::<Value>::new());

    user.write("PATCH", &at(&events[0]), &[], &json!({ "subject": "Uno" })).await;
    user.write("DELETE", &at(&events[1]), &[], &Value::Null).await;
    let away = json!({
        "start": { "dateTime": "2026-03-05T09:00:00", "timeZone": "UTC" },
        "end": { "dateTime": "2026-03-05T10:00:00", "timeZone": "UTC" },
    });
    user.write("PATCH", &at(&events[2]), &[], &away).await;
    let fresh = made(&user, "me/events", hour("Four", 6, 9)).await;
    for _again in 0..2 {
        let (entries, _) = round(&user, &link, 1).await;
        assert_eq!(entries[0]["subject"], "Uno");
        let removed = |event: &Value| {
            json!({
                "@odata.type": "#microsoft.graph.event", "id": event["id"],
                "@removed": { "reason": "deleted" },
            })
        };
        assert_eq!(entries[1..3], [removed(&events[1]), removed(&events[2])]);
        assert_eq!((entries.len(), &entries[3]["id"]), (4, &fresh["id"]));
    }

    // What happens while pages are turned comes in the next round.
    let first = user.prefer(&link, "odata.maxpagesize=3").await.json();
    user.write("PATCH", &at(&fresh), &[], &json!({ "subject": "Vier" })).await;
    let (entries, after) = round(&user, text(&first["@odata.nextLink"]), 3).await;
    assert_eq!(entries, Vec::<Value>::new());
    let (entries, _) = round(&user, &after, 3).await;
    assert_eq!((entries.len(), &entries[0]["subject"]), (1, &json!("Vier")));

    let main = user.json("me/calendars").await["value"][0].clone();
    let other = path.replace(
        "me/calendarView",
        &format!("me/calendars/{}/calendarView", encoded(text(&main["id"]))),
    );
    let (entries, _) = round(&user, &other, 50).await;
    assert_eq!(entries.len(), 2);
    for (path, status, code) in [
        ("me/calendarView/delta".to_owned(), 400, "ErrorInvalidParameter"),
        (format!("{path}&%24select=subject"), 400, "ErrorInvalidUrlQuery"),
        ("me/calendarView/delta?%24deltatoken=x".to_owned(), 400, "SyncStateInvalid"),
    ] {
        assert_eq!(refused(&user.get(&path).await), (status, code.to_owned()), "{path}");
    }
    sandbox.expire_sync_tokens();
    assert_eq!(refused(&user.get(&link).await), (410, "SyncStateNotFound".to_owned()));
    let (entries, link) = round(&user, path, 50).await;
    assert_eq!(entries.len(), 2);
    assert_eq!(user.get(&link).await.status, 200);
}

#[tokio::test]
async fn folder_delta_returns_changes() {
    let (_dir, sandbox, user) = mira().await;
    let message = |number: u8| {
        format!(
            "From: Ana Lima <{ANA}>\nTo: {ME}\nSubject: News {number}\n\
             Date: Tue, 3 Feb 2026 10:0{number}:00 +0000\nMessage-ID: <n{number}@example.com>\n\
             X-Gmail-Labels: Inbox,Unread\n\nnews\n"
        )
    };
    let query = form([
        ("$filter", "receivedDateTime ge 2026-02-03T10:02:00Z"),
        ("$select", "subject,isRead"),
    ]);
    let path = "me/mailFolders/inbox/messages/delta";
    for number in 1..4 {
        assert!(sandbox.deliver(ME, message(number).as_bytes()).unwrap());
    }
    let (entries, link) = round(&user, &format!("{path}?{query}"), 1).await;
    let subjects: Vec<&str> = entries.iter().map(|it| text(&it["subject"])).collect();
    assert_eq!(subjects, ["News 2", "News 3"]);
    assert_eq!(entries[0]["@odata.type"], "#microsoft.graph.message");
    assert_eq!(entries[0].get("from"), None);
    let sorted = form([("$orderby", "receivedDateTime desc")]);
    let (entries, _) = round(&user, &format!("{path}?{sorted}"), 1).await;
    let subjects: Vec<&str> = entries.iter().map(|it| text(&it["subject"])).collect();
    assert_eq!(subjects, ["News 3", "News 2", "News 1"]);
    let ids: BTreeMap<&str, &str> =
        entries.iter().map(|it| (text(&it["subject"]), text(&it["id"]))).collect();

    assert!(sandbox.relabel(ME, "n2@example.com", &["INBOX"]));
    assert!(sandbox.relabel(ME, "n3@example.com", &["TRASH"]));
    assert!(sandbox.discard(ME, "n1@example.com"));
    sandbox.deliver(ME, message(4).as_bytes()).unwrap();
    let removed = |subject: &str| {
        json!({
            "@odata.type": "#microsoft.graph.message", "id": ids[subject],
            "@removed": { "reason": "deleted" },
        })
    };
    let (entries, next) = round(&user, &link, 1).await;
    assert_eq!((&entries[0]["subject"], &entries[0]["isRead"]), (&json!("News 2"), &json!(true)));
    assert_eq!(entries[1..3], [removed("News 3"), removed("News 1")]);
    assert_eq!((entries.len(), &entries[3]["subject"]), (4, &json!("News 4")));
    assert_eq!(round(&user, &next, 1).await.0, Vec::<Value>::new());
    let (entries, _) =
        round(&user, "me/mailFolders/deleteditems/messages/delta?changeType=created", 5).await;
    assert_eq!(entries[0]["subject"], "News 3");
    for (query, code) in [
        (form([("$filter", "isRead eq true")]), "ErrorInvalidUrlQueryFilter"),
        (form([("$orderby", "subject")]), "ErrorInvalidUrlQuery"),
        (form([("$search", "x")]), "BadRequest"),
        (form([("changeType", "lost")]), "BadRequest"),
    ] {
        assert_eq!(
            refused(&user.get(&format!("{path}?{query}")).await),
            (400, code.to_owned()),
            "{query}"
        );
    }
    sandbox.expire_sync_tokens();
    assert_eq!(refused(&user.get(&next).await), (410, "SyncStateNotFound".to_owned()));
}
