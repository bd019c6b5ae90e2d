//! Changed messages and events as `changes` reports them, over the sandbox.

use daysheet::cli::sandboxed::SandboxUser;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ME, Session, column};

/// The two accounts over the one sample mailbox, which have the same address.
const BOTH: SandboxUser = SandboxUser::These(&[("google", ME), ("microsoft", ME)]);
const ACCOUNTS: [&str; 2] = ["google:mira@example.com", "microsoft:mira@example.com"];

/// Returns the rows since a cursor as `change | what | title | folder`, in order, and the next
/// cursor.
async fn since(session: &mut Session, cursor: &str) -> (Vec<String>, String) {
    let document = session.json("changes", json!({"cursor": cursor})).await;
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let rows = document["changes"].as_array().map_or(&[][..], Vec::as_slice);
    let mut rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells = ["change", "what", "title", "folder"].map(|name| text(&row[name]));
            cells.join(" | ")
        })
        .collect();
    rows.sort();
    (rows, text(&document["next"]))
}

async fn begin(session: &mut Session, account: &str, kind: &str) -> String {
    let begun = session.json("changes", json!({"account": account, "kinds": [kind]})).await;
    begun["next"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn changed_messages_say_what_differs() {
    for account in ACCOUNTS {
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
        for at in 0..6 {
            let message = format!(
                "Message-ID: <c{at}@studio.example>\r\nFrom: lena@studio.example\r\nTo: {ME}\r\n\
                 Subject: Change {at}\r\n\r\nHello.\r\n"
            );
            assert!(session.sandbox.deliver(ME, message.as_bytes()).unwrap());
        }
        let q = json!({"account": account, "q": "in:inbox subject:Change", "fields": ["subject"]});
        let found = session.json("mail_search", q).await;
        let subjects = column(&found, "messages", "subject").into_iter();
        let mut rows: Vec<(String, String)> =
            subjects.zip(column(&found, "messages", "id")).collect();
        rows.sort();
        let cursor = begin(&mut session, account, "mail").await;
        for (at, call) in [
            (0, json!({"do": "archive"})),
            (1, json!({"do": "read"})),
            (1, json!({"do": "star"})),
            (2, json!({"do": "trash"})),
            (3, json!({"do": "label", "to": "Proofs", "create": true})),
        ] {
            let mut call = call;
            call["ids"] = json!([rows[at].1]);
            session.ok("mail_modify", call).await;
        }
        let done = json!({"ids": [rows[4].1], "do": "archive"});
        let done = session.json("mail_modify", done).await;
        session.ok("mail_modify", json!({"undo": done["undo"]})).await;
        let (reported, cursor) = since(&mut session, &cursor).await;
        // An action that was undone is not a change.
        let expected = [
            "changed | archived | Change 0 | archive",
            "changed | labelled Proofs | Change 3 | inbox",
            "changed | read, starred | Change 1 | inbox",
            "changed | trashed | Change 2 | trash",
        ];
        assert_eq!(reported, expected, "{account}");
        for (at, call) in [
            (0, json!({"do": "move", "to": "inbox"})),
            (1, json!({"do": "unstar"})),
            (3, json!({"do": "unlabel", "to": "Proofs"})),
        ] {
            let mut call = call;
            call["ids"] = json!([rows[at].1]);
            session.ok("mail_modify", call).await;
        }
        let (reported, _) = since(&mut session, &cursor).await;
        // A cursor stores only hashes of Outlook's categories, so a removed one has no name.
        let unlabelled = if account.starts_with("google") {
            "changed | unlabelled Proofs | Change 3 | inbox"
        } else {
            "changed | unlabelled | Change 3 | inbox"
        };
        let expected = [
            "changed | moved from archive | Change 0 | inbox",
            unlabelled,
            "changed | unstarred | Change 1 | inbox",
        ];
        assert_eq!(reported, expected, "{account}");
    }
}

#[tokio::test]
async fn changed_events_say_what_differs_and_a_series_is_one_row() {
    for account in ACCOUNTS {
        let mut session = Session::written(BOTH).await;
        let save = |account: &str, events: Value| json!({"account": account, "notify": "none", "if_conflict": "ignore", "events": events});
        let events = json!([
            {"title": "Single", "start": "2026-11-18 09h00", "duration": "1h"},
            {"title": "Deleted", "start": "2026-11-19 09h00", "duration": "1h"},
            {"title": "Daily", "start": "2026-11-20 15h00", "duration": "30m",
             "repeats": "FREQ=DAILY;COUNT=8"},
            {"title": "Weekly", "start": "2026-11-20 16h00", "duration": "30m",
             "repeats": "FREQ=WEEKLY;COUNT=8"},
        ]);
        let made = session.json("calendar_save", save(account, events)).await;
        let ids = column(&made, "events", "id");
        // The other account has the same calendar; in this one the event is never shown.
        let other = ACCOUNTS.into_iter().find(|one| *one != account).unwrap();
        let event = json!([{"title": "Unseen", "start": "2026-11-19 11h00", "duration": "1h"}]);
        let unseen = session.json("calendar_save", save(other, event)).await;
        let unseen = column(&unseen, "events", "id").remove(0);
        let all = json!({"account": account, "from": "2026-11-17 00h00", "to": "2026-12-26 00h00",
                         "q": "Daily", "tz": "Asia/Tokyo"});
        let daily = column(&session.json("calendar_search", all).await, "events", "id");
        session.ok("calendar_delete", json!({"id": daily[6], "scope": "this"})).await;
        let cursor = begin(&mut session, account, "events").await;

        let change = |id: &str, scope: Option<&str>, with: Value| json!({"id": id, "scope": scope, "if_conflict": "ignore", "events": [with]});
        for call in [
            change(&ids[0], None, json!({"start": "2026-11-18 10h00", "where": "Shed"})),
            change(&daily[1], Some("this"), json!({"start": "2026-11-21 17h00"})),
            change(&ids[3], Some("series"), json!({"title": "Weekly round"})),
        ] {
            let mut call = call;
            if call["scope"].is_null() {
                call.as_object_mut().unwrap().remove("scope");
            }
            session.ok("calendar_save", call).await;
        }
        session.ok("calendar_delete", json!({"id": ids[1]})).await;
        session.ok("calendar_delete", json!({"id": unseen})).await;
        let calendar = "main";
        let (rows, cursor) = since(&mut session, &cursor).await;
        let expected = [
            format!("changed | time (was Sat 2026-11-21 15h00) | Daily | {calendar}"),
            format!("changed | time (was Wed 2026-11-18 09h00), place | Single | {calendar}"),
            format!("changed | title | Weekly round | {calendar}"),
            "gone |  | ? | ?".to_owned(),
            "gone |  | Deleted | ?".to_owned(),
        ];
        assert_eq!(rows, expected, "{account}");
        session.ok("calendar_delete", json!({"id": daily[3], "scope": "this"})).await;
        let (rows, cursor) = since(&mut session, &cursor).await;
        let cancelled = "changed | cancelled Mon 2026-11-23 15h00 | Daily";
        assert_eq!(rows, [format!("{cancelled} | {calendar}")]);
        let later = change(&ids[2], Some("series"), json!({"start": "14h00"}));
        session.ok("calendar_save", later).await;
        let (rows, cursor) = since(&mut session, &cursor).await;
        let changed = "changed | time (was Fri 2026-11-20 15h00) | Daily";
        assert_eq!(rows, [format!("{changed} | {calendar}")]);
        session.ok("calendar_delete", json!({"id": ids[2], "scope": "series"})).await;
        let (rows, _) = since(&mut session, &cursor).await;
        assert_eq!(rows, ["gone | ? | Daily | ?"], "{account}");
    }
}

/// Deleted events that were shown in another zone are reported in the answer's zone.
#[tokio::test]
async fn all_times_of_an_answer_are_in_its_zone() {
    let mut session = Session::written(BOTH).await;
    for account in ACCOUNTS {
        let event = json!({"title": "Deleted", "start": "2026-11-18 09h00", "tz": "Asia/Tokyo"});
        let event = json!({"account": account, "if_conflict": "ignore", "events": [event]});
        let event = session.json("calendar_save", event).await;
        let begun = session.json("changes", json!({"account": account, "tz": "Asia/Tokyo"})).await;
        let id = column(&event, "events", "id").remove(0);
        session.ok("calendar_search", json!({"ids": [id]})).await;
        session.ok("calendar_delete", json!({"id": id})).await;
        let gone = session.json("changes", json!({"cursor": begun["next"]})).await;
        assert_eq!(gone["zone"], "Asia/Tokyo");
        assert_eq!(column(&gone, "changes", "when"), ["Wed 2026-11-18 09h00"]);
    }
}

/// A message written and sent since the cursor is not new mail. One to oneself also arrives, which
/// at Gmail is the same message.
#[tokio::test]
async fn sent_messages_are_not_new() {
    for account in ACCOUNTS {
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
        let cursor = begin(&mut session, account, "mail").await;
        let draft = json!({"account": account, "to": ["lena@studio.example"], "subject": "Sent", "body": "Hi"});
        let draft = session.json("mail_draft", draft).await;
        session.ok("mail_send", json!({"id": draft["draft"]})).await;
        let (rows, _) = since(&mut session, &cursor).await;
        assert_eq!(rows, ["sent | ? | Sent | sent"], "{account}");
    }
}

/// Every change is shown exactly once, however small the limit is.
#[tokio::test]
async fn limit_is_kept_and_loses_nothing() {
    for account in ACCOUNTS {
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
        let mut cursor = begin(&mut session, account, "mail").await;
        for at in 0..7 {
            let message = format!(
                "Message-ID: <l{at}@studio.example>\r\nFrom: lena@studio.example\r\nTo: {ME}\r\n\
                 Subject: Limit {at}\r\n\r\nHello.\r\n"
            );
            assert!(session.sandbox.deliver(ME, message.as_bytes()).unwrap());
        }
        let mut shown = Vec::new();
        let mut counts = Vec::new();
        for _ in 0..4 {
            let call = json!({"cursor": cursor, "limit": 3});
            let document = session.json("changes", call).await;
            let titles = column(&document, "changes", "title");
            counts.push(titles.len());
            shown.extend(titles);
            cursor = document["next"].as_str().unwrap().to_owned();
        }
        shown.sort();
        let expected: Vec<String> = (0..7).map(|at| format!("Limit {at}")).collect();
        assert_eq!((counts, shown), (vec![3, 3, 1, 0], expected), "{account}");
    }
}

/// A series created since the cursor says which of its occurrences were moved.
#[tokio::test]
async fn new_series_names_its_moved_occurrences() {
    for account in ACCOUNTS {
        let mut session = Session::written(BOTH).await;
        let cursor = begin(&mut session, account, "events").await;
        let event = json!({"title": "Weekly", "start": "2026-11-18 09h00", "duration": "1h",
                           "repeats": "FREQ=WEEKLY;COUNT=3"});
        let made = json!({"account": account, "if_conflict": "ignore", "events": [event]});
        let made = session.json("calendar_save", made).await;
        let second = column(&made, "occurrences", "id").remove(1);
        let moved = json!({"id": second, "scope": "this", "if_conflict": "ignore",
                           "events": [{"start": "2026-11-25 15h00"}]});
        session.ok("calendar_save", moved).await;
        let calendar = "main";
        let (rows, _) = since(&mut session, &cursor).await;
        let moved = "moved Wed 2026-11-25 09h00 to Wed 2026-11-25 15h00";
        assert_eq!(rows, [format!("new | {moved} | Weekly | {calendar}")], "{account}");
    }
}

/// An answer to an invitation that differs only in its text: a comment at Google, a proposed time
/// at Outlook.
#[tokio::test]
async fn own_words_to_an_invitation_are_named() {
    for account in ACCOUNTS {
        let mut session = Session::written(BOTH).await;
        let q =
            json!({"account": account, "q": "Box check", "from": "2026-11-16", "to": "2026-11-16"});
        let id = column(&session.json("calendar_search", q).await, "events", "id").remove(0);
        let mut answer = json!({"id": id, "response": "tentative", "notify": "all"});
        session.ok("calendar_respond", answer.clone()).await;
        let cursor = begin(&mut session, account, "events").await;
        answer["propose"] = "2026-11-17 10h00/2026-11-17 11h00".into();
        session.ok("calendar_respond", answer).await;
        let calendar = "main";
        let title = "Box check: open ten, shake, decide";
        let (rows, _) = since(&mut session, &cursor).await;
        let words = "your comment or proposed time";
        assert_eq!(rows, [format!("changed | {words} | {title} | {calendar}")], "{account}");
    }
}
