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
