//! Changes since a cursor, against scripted responses.

use daysheet_core::event::Event;
use daysheet_core::project::Projection;
use serde_json::{Value, json};

use super::ME;
use super::google::{GROUP, request_lines, scripted};
use crate::tap::{refused_by_google as refused, respond};

#[tokio::test]
async fn calendar_changes_are_reported_since_a_cursor() {
    let google = scripted(|seen| {
        let raw = seen.raw.as_str();
        let has = |text: &str| raw.contains(text);
        let answer = match raw {
            _ if has("holiday") => return Some(refused(404, "notFound", "Not Found")),
            _ if has("c_1881") && has("syncToken") => {
                return Some(refused(
                    410,
                    "fullSyncRequired",
                    "Sync token is no longer valid",
                ));
            }
            _ if has("c_1881") => json!({"nextSyncToken": "g1", "updated": "2026-02-01T00:00:00Z"}),
            _ if has("syncToken=s1") && has("pageToken=p2") => json!({
                "items": [{"id": "d", "status": "cancelled"}],
                "nextSyncToken": "s2", "updated": "2026-02-05T00:00:00.000Z"}),
            _ if has("syncToken=s1") => json!({"nextPageToken": "p2", "items": [
                {"id": "a", "created": "2026-02-03T12:00:00.000Z"},
                {"id": "b", "created": "2026-02-01T12:00:00.000Z"},
                {"id": "c_1", "recurringEventId": "c", "created": "2026-02-03T12:00:00.000Z"},
                // `created` has whole seconds, and what changed last does not.
                {"id": "soon", "created": "2026-02-01T23:59:59.000Z"},
                {"id": "late", "created": "2026-02-01T23:59:59.000Z"},
                // Created by somebody else long ago, who asks us now; or did before.
                {"id": "asked", "created": "2025-02-01T12:00:00.000Z", "organizer": {}},
                {"id": "theirs", "created": "2025-02-01T12:00:00.000Z", "organizer": {}},
                {"id": "theirs_1", "recurringEventId": "theirs", "organizer": {}},
                {"id": "d_1", "recurringEventId": "d", "organizer": {"self": false}}]}),
            _ if has("pageToken=t2") => json!({
                "nextSyncToken": "s1", "updated": "2026-02-02T00:00:00.300Z",
                "items": [{"id": "theirs", "created": "2025-02-01T12:00:00.000Z", "organizer": {}}]}),
            _ => json!({"nextPageToken": "t2", "items": [
                {"id": "b", "created": "2026-02-01T12:00:00.000Z", "organizer": {"self": true}},
                {"id": "late", "created": "2026-02-01T23:59:59.000Z", "organizer": {"self": true}}]}),
        };
        let mut answer: Value = answer;
        for item in answer["items"].as_array_mut().into_iter().flatten() {
            item["start"] = json!({"date": "2026-02-03"});
        }
        Some(respond(200, &answer)).filter(|_| has("/events"))
    })
    .await;
    let nothing = Projection::default();
    let first = google.calendars().await.changes(None, &nothing).await.unwrap();
    assert!(first.new.is_empty() && first.changed.is_empty() && first.gone.is_empty());
    assert_eq!((first.more, first.started_over), (false, false));
    let marks: Value = serde_json::from_str(&first.cursor).unwrap();
    assert_eq!(
        (&marks[ME]["sync"], &marks[ME]["seen"], &marks[GROUP]),
        (
            &json!("s1"),
            &json!("2026-02-02T00:00:00.300Z"),
            &json!({"sync": "g1", "seen": "2026-02-01T00:00:00Z", "tracked": {"complete": true}}),
        )
    );
    assert_eq!(marks[ME]["tracked"]["states"].as_array().unwrap().len(), 3);
    google.tap.requests();
    let second = google.calendars().await.changes(Some(&first.cursor), &nothing).await.unwrap();
    let ids = |list: &[Event]| -> Vec<String> {
        list.iter().map(|one| one.wire["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&second.new), ["a", "soon", "asked", "d_1"]);
    assert_eq!(second.new[0].calendar, Some(ME.into()));
    assert_eq!(ids(&second.changed), ["b", "c_1", "late", "theirs"]);
    assert_eq!((second.more, second.started_over), (true, true));
    assert_eq!(second.names[ME], "main");
    let begin = "timeMin=lately maxResults=2500 \
                 fields=nextPageToken,nextSyncToken,updated,items(created,attendees/comment,FACTS)";
    let proceed = "maxResults=2500 \
                   fields=nextPageToken,nextSyncToken,updated,items(created,attendees/comment,FACTS)";
    let group = "GET calendars/c_1881%40group.calendar.google.com/events";
    assert_eq!(
        request_lines(&google),
        [
            format!("{group} syncToken=g1 {proceed}"),
            format!("{group} {begin}"),
            format!(
                "GET calendars/en.german%23holiday%40group.v.calendar.google.com/events {begin}"
            ),
            format!("GET calendars/mira%40example.com/events syncToken=s1 {proceed}"),
        ]
    );
    let third = google.calendars().await.changes(Some(&second.cursor), &nothing).await.unwrap();
    assert_eq!(third.gone, ["mira@example.com/d"]);
    assert!(!third.more);
    let mark = &serde_json::from_str::<Value>(&third.cursor).unwrap()[ME];
    assert_eq!((&mark["sync"], &mark["seen"]), (&json!("s2"), &json!("2026-02-05T00:00:00.000Z")));
    let odd = google.calendars().await.changes(Some("m12"), &nothing).await;
    assert_eq!(
        odd.unwrap_err().to_string(),
        "the cursor is not Google Calendar's: call changes without cursor"
    );
}

#[tokio::test]
async fn mail_changes_are_reported_from_the_history() {
    let google = scripted(|seen| {
        let raw = seen.raw.as_str();
        let has = |text: &str| raw.contains(text);
        let message = |id: &str| json!({"message": {"id": id, "threadId": "t"}});
        let labels = |id: &str, label: &str| {
            json!({"message": {"id": id, "threadId": "t"}, "labelIds": [label]})
        };
        let answer = match raw {
            _ if has("/profile") => json!({"historyId": "900"}),
            _ if has("startHistoryId=7&") => return Some(refused(404, "notFound", "Not Found")),
            _ if has("/history") && has("pageToken=p2") => json!({"historyId": "901", "history": [
                {"id": "812", "messagesDeleted": [message("m5")]}]}),
            _ if has("/history") => json!({"historyId": "901", "nextPageToken": "p2", "history": [
                {"id": "801", "messagesAdded": [message("m1")]},
                {"id": "802", "labelsAdded": [labels("m1", "STARRED"), labels("m8", "STARRED")]},
                {"id": "803", "labelsRemoved": [labels("m2", "INBOX"), labels("m8", "STARRED")],
                 "labelsAdded": [labels("m2", "Label_7")]},
                {"id": "804", "messagesAdded": [message("m3")]},
                {"id": "805", "messagesDeleted": [message("m3"), message("m4")]},
                {"id": "806", "messagesAdded": [message("m6")]},
                {"id": "807", "labelsAdded": [labels("m7", "STARRED"), {"labelIds": ["X"]}]}]}),
            _ if has("/labels") => json!({"labels": [
                {"id": "Label_7", "name": "Print", "type": "user"}]}),
            _ if has("messages/m6") || has("messages/m7") => {
                return Some(refused(404, "notFound", "Not Found"));
            }
            _ => json!({"id": raw.split(['/', '?']).nth(6), "snippet": "x"}),
        };
        Some(respond(200, &answer)).filter(|_| has("/gmail/"))
    })
    .await;
    let snippets =
        Projection { paths: vec!["id".to_owned(), "snippet".to_owned()], ..Projection::default() };
    let ids = |list: &[Value]| -> Vec<String> {
        list.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = google.mailbox().await.changes(None, &snippets).await.unwrap();
    assert_eq!((first.cursor.as_str(), first.started_over), ("900", false));
    let reported = google.mailbox().await.changes(Some("800"), &snippets).await.unwrap();
    assert_eq!(ids(&reported.new), ["m1"]);
    // What was done and undone, as with m8, is no change.
    assert_eq!(ids(&reported.changed), ["m2"]);
    assert_eq!(reported.differences["m2"].words, ["archived", "labelled Print"]);
    assert_eq!(reported.gone, ["m4", "m7"]);
    assert_eq!((reported.cursor.as_str(), reported.more), ("800 p2", true));
    let reported = google.mailbox().await.changes(Some("800 p2"), &snippets).await.unwrap();
    assert_eq!(reported.gone, ["m5"]);
    assert_eq!((reported.cursor.as_str(), reported.more), ("901", false));
    let reported = google.mailbox().await.changes(Some("7"), &snippets).await.unwrap();
    assert_eq!((reported.cursor.as_str(), reported.started_over), ("900", true));
    let odd = google.mailbox().await.changes(Some("p7"), &snippets).await;
    assert_eq!(
        odd.unwrap_err().to_string(),
        "the cursor is not Gmail's: call changes without cursor"
    );
}
