//! Changes in calendars and mail since a cursor.

use std::sync::Mutex;

use daysheet_core::schemas::MESSAGE;

use super::*;
use crate::common::clock;

const MAIN: &str = "AAMkAGVmMDEzMTM4-main";
const CHOIR: &str = "AAMkAGVmMDEzMTM4-choir";

/// A service of two calendars, whose feeds say what a script has for them: for
/// each question that begins so, the answers one after the other.
async fn service(script: Vec<(&'static str, u16, Value)>) -> Outlook {
    let script = Mutex::new(script);
    let answer = move |request: &str| {
        if request.starts_with("GET /me/calendars?") {
            return (
                200,
                json!({"value": [
                    {"id": MAIN, "name": "Calendar", "isDefaultCalendar": true},
                    {"id": CHOIR, "name": "Choir"},
                ]}),
            );
        }
        if request == "GET /me/mailboxSettings" {
            return (403, json!({"error": {"code": "ErrorAccessDenied"}}));
        }
        let mut script = script.lock().unwrap();
        let at = script.iter().position(|(start, ..)| request.starts_with(start));
        let at = at.unwrap_or_else(|| panic!("not in the script: {request}"));
        let (_, status, body) = script.remove(at);
        (status, body)
    };
    Outlook::scripted(move |seen| Some(each(seen, &answer))).await
}

fn page(items: Value, next: &str, link: &str) -> Value {
    json!({ "value": items, next: format!("https://graph.microsoft.com/v1.0/{link}") })
}

fn last(items: Value, link: &str) -> Value {
    page(items, "@odata.deltaLink", link)
}

fn event(id: &str, kind: &str, created: &str, changed: &str) -> Value {
    json!({
        "id": id, "type": kind, "subject": id,
        "createdDateTime": created, "lastModifiedDateTime": changed,
        "start": {"dateTime": "2026-02-03T17:05:00.0000000", "timeZone": "UTC"},
        "end": {"dateTime": "2026-02-03T17:50:00.0000000", "timeZone": "UTC"},
    })
}

/// Returns the cursor without its instants, which depend on the clock.
fn links(cursor: &str) -> Value {
    let mut cursor: Value = serde_json::from_str(cursor).unwrap();
    for mark in cursor.as_object_mut().unwrap().values_mut() {
        let mark = mark.as_object_mut().unwrap();
        assert!(mark.remove("seen").unwrap().is_i64());
        assert!(mark.remove("begun").unwrap().is_i64());
        mark.remove("edge");
        mark.remove("tracked");
    }
    cursor
}

/// A cursor that was made at an instant.
fn made(at: &str, main: &str, choir: &str) -> String {
    let at = at.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let begun = clock::now().as_millisecond();
    json!({
        MAIN: {"link": main, "seen": at, "begun": begun},
        CHOIR: {"link": choir, "seen": at, "begun": begun},
    })
    .to_string()
}

#[tokio::test]
async fn first_cursor_begins_at_the_current_state() {
    let old = "2026-01-01T00:00:00Z";
    let outlook = service(Vec::from(cases! {
        "GET /me/calendarView/delta?startDateTime=", 200,
            page(
                json!([event("AAMkOld", "singleInstance", old, old)]),
                "@odata.nextLink",
                "me/m?$skiptoken=1",
            );
        "GET /me/calendars/AAMkAGVmMDEzMTM4-choir/calendarView/delta?startDateTime=", 200,
            last(json!([]), "me/c?$deltatoken=1");
        "GET /me/m?$skiptoken=1", 200, last(json!([]), "me/m?$deltatoken=1");
    }))
    .await;
    let begun = outlook.calendars().await.changes(None, &columns(&["id"])).await.unwrap();
    assert_eq!((begun.new.len(), begun.changed.len(), begun.gone.len()), (0, 0, 0));
    assert!(!begun.more && !begun.started_over && begun.notes.is_empty());
    assert_eq!(begun.names[CHOIR], "Choir");
    assert_eq!(
        links(&begun.cursor),
        json!({MAIN: {"link": "me/m?$deltatoken=1"}, CHOIR: {"link": "me/c?$deltatoken=1"}})
    );
    let requests = outlook.tap.requests();
    let pages = format!("{PREFER}, odata.maxpagesize=200");
    let preferred: Vec<&Value> = requests[1].body["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| &part["headers"]["Prefer"])
        .collect();
    assert_eq!(preferred, [&json!(pages); 2]);
    // A month back and a year ahead, in whole days.
    let url = url::Url::parse(&format!(
        "http://x{}",
        requests[1].line.lines().nth(1).unwrap().trim_start_matches("GET ")
    ))
    .unwrap();
    let days: Vec<jiff::civil::Date> = url
        .query_pairs()
        .map(|(_, value)| value.strip_suffix("T00:00:00Z").unwrap().parse().unwrap())
        .collect();
    let between = days[0].until(days[1]).unwrap().get_days();
    assert_eq!(between, 31 + 366);
}

#[tokio::test]
async fn new_changed_and_deleted_events_are_reported() {
    let (before, after) = ("2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z");
    let mut seventh = event("AAMkSeriesOfTheChoir", "seriesMaster", before, after);
    seventh["recurrence"] = Value::Null;
    let sketch = |id: &str| {
        json!({"id": id, "type": "occurrence", "seriesMasterId": "AAMkSeriesOfTheChoir",
        "start": {}, "end": {}})
    };
    let outlook = service(Vec::from(cases! {
        "GET /me/m?$deltatoken=1", 200,
            page(
                json!([
                    event("AAMkNewEvent-1234567", "singleInstance", after, after),
                    event("AAMkChangedEvent-1234", "singleInstance", before, after),
                    {"id": "AAMkGoneEvent-1234567", "@removed": {"reason": "deleted"}},
                    {"id": "AAMkOutOfRange-123456", "@removed": {"reason": "deleted"}},
                    {"id": "AAMkMovedEvent-123456", "@removed": {"reason": "deleted"}},
                    {"id": "AAMkPartOfIt-12345678", "type": "singleInstance"},
                ]),
                "@odata.nextLink",
                "me/m?$skiptoken=2",
            );
        "GET /me/m?$skiptoken=2", 200,
            last(
                json!([event("AAMkNewEvent-1234567", "singleInstance", after, after)]),
                "me/m?$deltatoken=2",
            );
        "GET /me/c?$deltatoken=1", 200,
            last(
                json!([
                    sketch("AAMkOccurrence-1"), sketch("AAMkOccurrence-2"),
                    event("AAMkException-Old", "exception", before, before),
                    event("AAMkException-New", "exception", before, after),
                    event("AAMkMovedEvent-123456", "singleInstance", before, after),
                ]),
                "me/c?$deltatoken=2",
            );
        "GET /me/events/AAMkGoneEvent-1234567", 404,
            json!({"error": {"code": "ErrorItemNotFound"}});
        "GET /me/events/AAMkOutOfRange-123456", 200,
            event("AAMkOutOfRange-123456", "singleInstance", before, after);
        "GET /me/events/AAMkPartOfIt-12345678", 200,
            event("AAMkPartOfIt-12345678", "singleInstance", before, after);
        "GET /me/events/AAMkSeriesOfTheChoir", 200, seventh;
    }))
    .await;
    let calendars = outlook.calendars().await;
    let cursor = made("2026-02-01T00:00:00Z", "me/m?$deltatoken=1", "me/c?$deltatoken=1");
    let reported = calendars.changes(Some(&cursor), &columns(&["id"])).await.unwrap();
    let mut changed = ids(&reported.changed);
    changed.sort_unstable();
    assert_eq!(ids(&reported.new), ["AAMkNewEvent-1234567"]);
    assert_eq!(
        changed,
        [
            "AAMkChangedEvent-1234", "AAMkException-New", "AAMkMovedEvent-123456",
            "AAMkOutOfRange-123456", "AAMkPartOfIt-12345678", "AAMkSeriesOfTheChoir",
        ]
    );
    assert_eq!(reported.gone, ["AAMkGoneEvent-1234567"]);
    let place = |id: &str| {
        let event = reported.changed.iter().find(|event| event.id == id).unwrap();
        event.calendar.clone().unwrap()
    };
    assert_eq!(place("AAMkSeriesOfTheChoir"), CHOIR);
    assert_eq!(place("AAMkOutOfRange-123456"), MAIN);
    assert_eq!(
        links(&reported.cursor),
        json!({MAIN: {"link": "me/m?$deltatoken=2"}, CHOIR: {"link": "me/c?$deltatoken=2"}})
    );
}

#[tokio::test]
async fn expired_delta_token_starts_over() {
    let expired = json!({"error": {"code": "SyncStateNotFound", "message": "Too old."}});
    let outlook = service(vec![
        ("GET /me/m?$deltatoken=1", 410, expired),
        // Shared no longer.
        ("GET /me/c?$deltatoken=1", 404, json!({"error": {"code": "ErrorItemNotFound"}})),
        ("GET /me/calendarView/delta?", 200, last(json!([]), "me/m?$deltatoken=9")),
    ])
    .await;
    let calendars = outlook.calendars().await;
    let cursor = made("2026-02-01T00:00:00Z", "me/m?$deltatoken=1", "me/c?$deltatoken=1");
    let reported = calendars.changes(Some(&cursor), &columns(&["id"])).await.unwrap();
    assert!(reported.started_over && !reported.more);
    assert_eq!(links(&reported.cursor), json!({MAIN: {"link": "me/m?$deltatoken=9"}}));
}

#[tokio::test]
async fn endless_delta_feed_is_an_error() {
    let same = |link: &str| page(json!([{"id": "AAMkAlwaysTheSame-12"}]), "@odata.nextLink", link);
    let outlook = service(vec![
        ("GET /me/m?$deltatoken=1", 200, same("me/m?$skiptoken=2")),
        ("GET /me/m?$skiptoken=2", 200, same("me/m?$skiptoken=3")),
        ("GET /me/c?$deltatoken=1", 200, last(json!([]), "me/c?$deltatoken=2")),
    ])
    .await;
    let calendars = outlook.calendars().await;
    let cursor = made("2026-02-01T00:00:00Z", "me/m?$deltatoken=1", "me/c?$deltatoken=1");
    let reported = calendars.changes(Some(&cursor), &columns(&["id"])).await;
    assert_eq!(
        reported.unwrap_err().to_string(),
        "Outlook's list of changes does not end: call changes without cursor"
    );
    for odd in ["", "{}x", "[1]", "{\"a\": {\"link\": 7}}"] {
        let reported = calendars.changes(Some(odd), &columns(&["id"])).await;
        assert_eq!(
            reported.unwrap_err().to_string(),
            "the cursor does not belong to Outlook's changes: call changes without cursor"
        );
    }
}

/// A mailbox of an inbox and an archive, and of a bin that is not followed.
fn folders(request: &str) -> Option<Value> {
    let folder = |id: &str| json!({"id": id, "displayName": id, "childFolderCount": 0});
    if request.starts_with("GET /me/mailFolders?") {
        return Some(
            json!({"value": [folder("inbox-id"), folder("archive-id"), folder("trash-id")]}),
        );
    }
    let name = request.strip_prefix("GET /me/mailFolders/")?.strip_suffix("?$select=id")?;
    Some(match name {
        "inbox" => json!({"id": "inbox-id"}),
        "archive" => json!({"id": "archive-id"}),
        "deleteditems" => json!({"id": "trash-id"}),
        _ => json!({"id": format!("{name}-nowhere")}),
    })
}

#[tokio::test]
async fn mail_changes_are_followed_folder_by_folder() {
    let message = |id: &str, came: &str| {
        json!({"id": id, "receivedDateTime": came, "createdDateTime": came, "subject": id,
               "parentFolderId": "inbox-id", "isRead": true, "isDraft": false,
               "flag": {"flagStatus": "notFlagged"}, "categories": []})
    };
    let script = Mutex::new(Vec::from(cases! {
        "GET /me/mailFolders/inbox-id/messages/delta?$filter=receivedDateTime ge ", 200,
            last(
                json!([message("AAMkOldMessage-12345", "2026-01-01T00:00:00Z")]),
                "me/i?$deltatoken=1",
            );
        "GET /me/mailFolders/archive-id/messages/delta?", 200,
            last(json!([]), "me/a?$deltatoken=1");
        // The next time.
        "GET /me/i?$deltatoken=1", 200,
            last(
                json!([
                    message("AAMkNewMessage-12345", "2999-01-01T00:00:00Z"),
                    {"id": "AAMkReadMessage-1234", "isRead": true},
                    {"id": "AAMkLostMessage-1234", "isRead": true},
                    {"id": "AAMkMovedMessage-123", "@removed": {"reason": "deleted"}},
                    {"id": "AAMkGoneMessage-1234", "@removed": {"reason": "deleted"}},
                ]),
                "me/i?$deltatoken=2",
            );
        "GET /me/a?$deltatoken=1", 410, json!({"error": {"code": "SyncStateNotFound"}});
        "GET /me/mailFolders/archive-id/messages/delta?", 200,
            last(
                json!([
                    message("AAMkThereBefore-1234", "2026-01-01T00:00:00Z"),
                    message("AAMkMovedMessage-123", "2026-01-01T00:00:00Z"),
                ]),
                "me/a?$deltatoken=2",
            );
        "GET /me/messages/AAMkReadMessage-1234?$select=id,receivedDateTime,createdDateTime,\
         parentFolderId,isRead,isDraft,flag,categories,subject",
            200, message("AAMkReadMessage-1234", "2026-01-01T00:00:00Z");
        "GET /me/messages/AAMkGoneMessage-1234", 404,
            json!({"error": {"code": "ErrorItemNotFound"}});
        "GET /me/messages/AAMkLostMessage-1234", 404,
            json!({"error": {"code": "ErrorItemNotFound"}});
    }));
    let answer = move |request: &str| {
        if let Some(folder) = folders(request) {
            return (200, folder);
        }
        let mut script = script.lock().unwrap();
        let at = script.iter().position(|(start, ..)| request.starts_with(start));
        let at = at.unwrap_or_else(|| panic!("not in the script: {request}"));
        let (_, status, body) = script.remove(at);
        (status, body)
    };
    let outlook = Outlook::scripted(move |seen| Some(each(seen, &answer))).await;
    let mailbox = outlook.mailbox().await;
    let projection = project(
        Service::Microsoft,
        &[MESSAGE.field("id").unwrap(), MESSAGE.field("subject").unwrap()],
    );
    let begun = mailbox.changes(None, &projection).await.unwrap();
    assert_eq!((begun.new.len(), begun.changed.len(), begun.gone.len()), (0, 0, 0));
    assert_eq!(
        links(&begun.cursor),
        json!({"inbox-id": {"link": "me/i?$deltatoken=1"}, "archive-id": {"link": "me/a?$deltatoken=1"}})
    );
    let reported = mailbox.changes(Some(&begun.cursor), &projection).await.unwrap();
    assert!(reported.started_over);
    assert_eq!(texts(&reported.new, "id"), ["AAMkNewMessage-12345"]);
    assert_eq!(texts(&reported.changed, "id"), ["AAMkReadMessage-1234", "AAMkMovedMessage-123"]);
    assert_eq!(reported.gone, ["AAMkGoneMessage-1234", "AAMkLostMessage-1234"]);
    assert_eq!(reported.names["inbox-id"], "inbox");
    assert_eq!(
        links(&reported.cursor),
        json!({"inbox-id": {"link": "me/i?$deltatoken=2"}, "archive-id": {"link": "me/a?$deltatoken=2"}})
    );
}

#[tokio::test]
async fn mail_changes_are_followed_in_a_hundred_folders() {
    let ids = (0..120).map(|at| format!("folder-{at}"));
    let folders: Value =
        ids.map(|id| json!({"id": id, "displayName": id, "childFolderCount": 0})).collect();
    let answer = move |request: &str| {
        let body = match request {
            request if request.starts_with("GET /me/mailFolders?") => json!({"value": folders}),
            request if request.contains("/messages/delta?") => {
                last(json!([]), "me/d?$deltatoken=1")
            }
            request => json!({"id": request.replace(|c: char| !c.is_alphanumeric(), "-")}),
        };
        (200, body)
    };
    let outlook = Outlook::scripted(move |seen| Some(each(seen, &answer))).await;
    let mailbox = outlook.mailbox().await;
    let projection = project(Service::Microsoft, &[MESSAGE.field("id").unwrap()]);
    let begun = mailbox.changes(None, &projection).await.unwrap();
    assert_eq!(begun.notes, ["only the mailbox's first 100 folders are tracked"]);
    assert_eq!(links(&begun.cursor).as_object().unwrap().len(), 100);
}
