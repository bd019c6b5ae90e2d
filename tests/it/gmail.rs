//! Mail over the sandbox: requests, sign-in, long and large messages, outputs and handles of several
//! processes, faults.

use std::fmt::Write as _;
use std::str::FromStr;

use base64::Engine;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::budget::count;
use daysheet_sandbox::FaultRates;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{ME, Session, agree, column, first_of, mailboxes, write_message};

#[tokio::test]
async fn only_fields_that_columns_need_are_requested() {
    let mut session = Session::sample().await;
    for (fields, requests) in [
        // The list already has the ids.
        (json!(["id"]), 1),
        (json!(["id", "thread"]), 1),
        (json!(["subject"]), 1 + 30),
        // Label names take one more request, once.
        (json!(["labels"]), 1 + 30 + 1),
        (json!(["labels"]), 1 + 30),
    ] {
        let before = session.sandbox.requests();
        session.ok("mail_search", json!({"fields": fields, "limit": 30})).await;
        assert_eq!(session.sandbox.requests() - before, requests, "{fields}");
    }
}

/// A search makes one request for its list and one for each row, several at a time.
#[tokio::test]
async fn search_costs_one_request_plus_one_per_row() {
    let mut session = Session::sample().await;
    let before = session.sandbox.requests();
    session.ok("mail_search", json!({"limit": 50})).await;
    // Also, once in a while, two lists of known people; and the list of drafts, because a draft is
    // among the rows.
    assert_eq!(session.sandbox.requests() - before, 51 + 2 + 1);
    let before = session.sandbox.requests();
    session.ok("mail_search", json!({"limit": 10, "by": "thread"})).await;
    assert_eq!(session.sandbox.requests() - before, 11);
}

#[tokio::test]
async fn account_is_added_and_removed_by_tool() {
    let mail = mailboxes(&["ana@example.com", "bo@example.com"]);
    let mut session = Session::over(Some(mail.path())).await;
    let both = session.json("accounts", json!({})).await;
    assert_eq!(column(&both, "accounts", "email"), ["ana@example.com", "bo@example.com"]);
    let merged = session.json("mail_search", json!({})).await;
    assert_eq!(column(&merged, "messages", "account"), ["ana@example.com", "bo@example.com"]);

    let removed =
        session.json("accounts", json!({"op": "remove", "account": "bo@example.com"})).await;
    assert_eq!(column(&removed, "outcomes", "result"), ["done"]);
    let found = session.json("mail_search", json!({})).await;
    assert_eq!(column(&found, "messages", "subject"), ["for ana@example.com"]);

    let started = session
        .json("accounts", json!({"op": "add", "provider": "google", "account": "bo@example.com"}))
        .await;
    assert_eq!(column(&started, "outcomes", "result"), ["waiting"]);
    let detail = column(&started, "outcomes", "detail")[0].clone();
    let waiting = session.json("accounts", json!({})).await;
    assert_eq!(column(&waiting, "accounts", "status"), ["ok", "waiting for the sign-in page"]);
    let page = detail.split_whitespace().find(|word| word.starts_with("http")).unwrap();
    agree(page).await;
    for _ in 0..100 {
        let now = session.json("accounts", json!({})).await;
        if column(&now, "accounts", "status") == ["ok", "ok"] {
            let found = session.json("mail_search", json!({"account": "bo@example.com"})).await;
            assert_eq!(column(&found, "messages", "subject"), ["for bo@example.com"]);
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the sign-in did not finish in the background");
}

#[tokio::test]
async fn same_text_has_the_same_fence() {
    let mut session = Session::sample().await;
    let found = session.json("mail_search", json!({"q": "subject:(overdue 88213)"})).await;
    let id = column(&found, "messages", "id")[0].clone();
    let blocks = session.ok("mail_read", json!({"ids": [id]})).await;
    // The sender could not have known the fence's word.
    let word = blocks[1].lines().next().unwrap().strip_prefix("<<<b1 ").unwrap();
    assert_eq!(word.len(), 8);
    assert_eq!(blocks[1].matches(word).count(), 2);
    assert_eq!(session.ok("mail_read", json!({"ids": [id]})).await, blocks);
}

/// Every sample message is readable and has no invisible characters left.
#[tokio::test]
async fn every_sample_message_is_readable() {
    let mut session = Session::sample().await;
    let page = session.json("mail_search", json!({"q": "in:anywhere", "limit": 100})).await;
    let ids = column(&page, "messages", "id");
    assert_eq!(ids.len(), 60);
    for ids in ids.chunks(10) {
        let read = session.json("mail_read", json!({"ids": ids, "quoted": true})).await;
        for (id, text) in ids.iter().zip(column(&read, "bodies", "text")) {
            assert!(text.trim().len() > 20, "{id}: {text}");
            assert_eq!(first_of(&text, &["\u{fffd}", "IGNORE ALL PREVIOUS"]), None, "{id}: {text}");
            let odd: Vec<_> =
                text.chars().filter(|c| daysheet_core::text::is_invisible(*c)).collect();
            assert!(odd.len() < 4, "{id}: {odd:?}");
        }
    }
    for subject in column(&page, "messages", "subject") {
        assert_eq!(first_of(&subject, &["=?", "\u{fffd}"]), None, "{subject}");
    }
}

/// Returns the id of the output that a shortened answer names.
fn output(document: &str) -> String {
    let (_, id) = document.split_once("whole: output_read id=").unwrap();
    id.split('"').next().unwrap().to_owned()
}

/// A message of 200 KB is shown as a window. The offsets in the window lead to all omitted text.
#[tokio::test]
async fn windowed_long_body_loses_nothing() {
    let mail = TempDir::new().unwrap();
    let mut long = String::new();
    for line in 0..4000 {
        writeln!(long, "This is line number {line} of a very long letter.").unwrap();
    }
    let head =
        "From: a@example.com\nTo: me@example.com\nSubject: long\nMessage-ID: <long@example.com>";
    write_message(mail.path(), "long.eml", head, &long);
    write_message(
        mail.path(),
        "short.eml",
        "From: b@example.com\nTo: me@example.com\nSubject: short\nMessage-ID: <short@example.com>",
        "Just this.",
    );
    let mut session = Session::over(Some(mail.path())).await;
    let found = session.json("mail_search", json!({})).await;
    let ids = column(&found, "messages", "id");
    let blocks = session.ok("mail_read", json!({"ids": ids, "budget": 2000})).await;
    let tokens: usize = blocks.iter().map(|block| count::tokens(block)).sum();
    assert!((1_600..=2_000).contains(&tokens), "{tokens}");
    let lines = |block: &String| block.lines().count();
    let (short, windowed) = if lines(&blocks[1]) == 3 { (1, 2) } else { (2, 1) };
    assert_eq!(blocks[short].lines().nth(1), Some("Just this."));
    let id = output(&blocks[0]);

    let lines: Vec<&str> = blocks[windowed].lines().collect();
    let word = lines[0].split(' ').nth(1).unwrap();
    let mut text = Vec::new();
    for line in &lines[1..lines.len() - 1] {
        let Some(marker) = line.strip_prefix(&format!("…{word} ")) else {
            text.push((*line).to_owned());
            continue;
        };
        let (many, offset) = marker.split_once(" lines left out, offset=").unwrap();
        let (mut many, mut offset): (usize, usize) =
            (many.parse().unwrap(), offset.parse().unwrap());
        while many > 0 {
            let arguments = json!({"id": id, "offset": offset, "limit": many.min(5_000)});
            let page = session.ok("output_read", arguments).await;
            let shown: Vec<&str> = page[1].lines().collect();
            let shown = &shown[1..shown.len() - 1];
            text.extend(shown.iter().map(|line| (*line).to_owned()));
            many -= shown.len();
            offset += shown.len();
        }
    }
    assert!(text.join("\n") == long.trim_end(), "{} lines", text.len());
}

/// Text outside a window is available to a process that has never seen it: the process repeats the
/// call and gets the same answer.
#[tokio::test]
async fn output_is_continued_by_another_process() {
    let mut session = Session::sample().await;
    let arguments = json!({"detail": "full", "limit": 60, "budget": 1500});
    let blocks = session.ok("mail_search", arguments.clone()).await;
    let id = output(&blocks[0]);
    let here = session.ok("output_read", json!({"id": id, "limit": 9})).await;
    let mut other = Session::in_home(session.home, None).await;
    let there = other.ok("output_read", json!({"id": id, "limit": 9})).await;
    assert_eq!(here, there);
    // The same request gives the same answer, chunk by chunk.
    assert_eq!(other.ok("mail_search", arguments.clone()).await, blocks);
    let mut seen = Vec::new();
    for chunk in 1..100 {
        let mut arguments = arguments.clone();
        arguments["chunk"] = chunk.into();
        let answer = other.call("mail_search", arguments).await;
        if answer.is_error {
            assert!(chunk > 2, "{:?}", answer.blocks);
            break;
        }
        let tokens: usize = answer.blocks.iter().map(|block| count::tokens(block)).sum();
        assert!(tokens <= 1_500, "{tokens}");
        let rows = answer.blocks[0].lines().filter_map(|line| line.strip_prefix("  "));
        seen.extend(rows.map(|row| row.split('\t').next().unwrap().to_owned()));
    }
    let all = other.json("mail_search", json!({"fields": ["id"], "limit": 60})).await;
    // Each level has a table of its own rows, the most complete first.
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    assert_eq!(sorted(seen), sorted(column(&all, "messages", "id")));
    // If the answer would differ now, the call must be repeated.
    let mut third = Session::in_home(other.home, None).await;
    let new = b"From: x@example.com\r\nTo: mira@example.com\r\nSubject: new\r\n\r\nHello.";
    assert!(third.sandbox.deliver(ME, new).unwrap());
    assert_eq!(
        third.error("output_read", json!({"id": id})).await,
        format!("the answer `{id}` has changed since (new mail?): call mail_search again")
    );
}

/// The state folder contains ids, digests and queries, but no mail.
#[tokio::test]
async fn no_mail_is_kept_on_disk() {
    let mut session = Session::sample().await;
    let page = session.json("mail_search", json!({"q": "in:anywhere", "limit": 100})).await;
    assert_eq!(first_of(&page.to_string(), &["Guest list"]), Some("Guest list"));
    let short = json!({"q": "in:anywhere", "limit": 60, "detail": "full", "budget": 1500});
    let blocks = session.ok("mail_search", short).await;
    output(&blocks[0]);
    let next = session.json("mail_search", json!({"q": "in:anywhere", "limit": 7})).await;
    session.ok("mail_search", json!({"cursor": next["next"]})).await;
    session.ok("mail_read", json!({"ids": column(&page, "messages", "id")[..9]})).await;
    let events = json!({"from": "2026-11-01", "to": "2026-12-31"});
    let events = session.json("calendar_search", events).await;
    let titles = column(&events, "events", "title");
    let title = titles.iter().max_by_key(|title| title.len()).unwrap();
    let made = session.json("mail_draft", json!({"body": "Kilns in Lisbon"})).await;
    let edit = json!({"mode": "edit", "id": made["draft"], "body": "None"});
    assert_eq!(session.json("mail_draft", edit).await["undo"], "u1");
    let (mut files, mut folders) = (Vec::new(), vec![session.home.path().to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.extend(std::fs::read(path).unwrap());
            }
        }
    }
    let files = String::from_utf8_lossy(&files);
    // The ids are present, so the right files were searched.
    let id = column(&page, "messages", "provider_id").remove(0);
    assert_eq!(first_of(&files, &[&id]), Some(&*id));
    assert_eq!(first_of(&files, &["Guest list", "anselm", "Anselm", "Kilns in", title]), None);
}

/// Mail that arrives between two chunks does not move rows.
#[tokio::test]
async fn chunks_are_of_one_snapshot() {
    let mut session = Session::sample().await;
    let arguments = json!({"limit": 40, "budget": 700});
    let first = session.ok("mail_search", arguments.clone()).await;
    let mut next = arguments.clone();
    next["chunk"] = 2.into();
    let second = session.ok("mail_search", next.clone()).await;
    let new = b"From: x@example.com\r\nTo: mira@example.com\r\nSubject: new\r\n\r\nHello.";
    assert!(session.sandbox.deliver(ME, new).unwrap());
    assert_eq!(session.ok("mail_search", next.clone()).await, second);
    // A different budget would move the chunk boundaries; without one, the first chunk's budget
    // applies.
    let mut other = next.clone();
    other["budget"] = 900.into();
    assert_eq!(
        session.error("mail_search", other.clone()).await,
        "chunk=2 is of an answer with budget=700, and the budget or format differs: give the same \
         budget and format, or start again without chunk"
    );
    other.as_object_mut().unwrap().remove("budget");
    assert_eq!(session.ok("mail_search", other).await, second);
    let fresh = session.ok("mail_search", arguments).await;
    assert_ne!(fresh, first);
    assert_ne!(session.ok("mail_search", next).await, second);
}

#[tokio::test]
async fn reads_survive_faults() {
    let mut session = Session::sample().await;
    let whole = session.json("mail_search", json!({"limit": 20})).await;
    for spec in ["429=0.2", "403=0.2", "500=0.3", "reset=0.2", "half=0.2", "html=0.2"] {
        session.sandbox.set_faults(FaultRates::from_str(spec).unwrap());
        let page = session.json("mail_search", json!({"limit": 20})).await;
        assert_eq!(column(&page, "messages", "id"), column(&whole, "messages", "id"), "{spec}");
    }
}

#[tokio::test]
async fn expired_token_is_refreshed_and_revoked_grant_reported() {
    let mut session = Session::sample().await;
    session.sandbox.expire_access_tokens();
    session.ok("mail_search", json!({"limit": 5})).await;
    session.sandbox.revoke_all();
    assert_eq!(
        session.error("mail_search", json!({"limit": 5})).await,
        "the Google grant of mira@example.com was refused (expired or revoked; projects in Testing \
         mode lose grants after 7 days): run `daysheet account add google`"
    );
    let accounts = session.json("accounts", json!({})).await;
    assert_ne!(column(&accounts, "accounts", "status"), ["ok"]);
    // Microsoft gives fewer details of the reason.
    let who = SandboxUser::These(&[("microsoft", ME)]);
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, who).await;
    session.sandbox.expire_access_tokens();
    session.ok("mail_search", json!({"limit": 5})).await;
    session.sandbox.revoke_all();
    let error = session.error("mail_search", json!({"limit": 5})).await;
    assert!(error.ends_with("run `daysheet account add microsoft` again"), "{error}");
}

#[tokio::test]
async fn handles_are_permanent_and_shared() {
    let mut session = Session::sample().await;
    let first = session.json("mail_search", json!({"limit": 5})).await;
    let second = session.json("mail_search", json!({"limit": 5, "q": "in:sent"})).await;
    // A concurrent process on the same folder, and a later one, use the same handles.
    let home = session.home;
    let mut later = Session::in_home(home, None).await;
    assert_eq!(
        later.json("mail_search", json!({"limit": 5, "q": "in:sent"})).await["messages"],
        second["messages"]
    );
    assert_eq!(later.json("mail_search", json!({"limit": 5})).await["messages"], first["messages"]);
    // The provider's own id is accepted, too.
    let id = &first["messages"][0];
    let by_handle = later.json("mail_read", json!({"ids": [id["id"]]})).await;
    let by_id = later.json("mail_read", json!({"ids": [id["provider_id"]]})).await;
    assert_eq!(by_handle, by_id);
}

#[tokio::test]
async fn large_messages_are_listed_and_read() {
    let mail = TempDir::new().unwrap();
    let many: Vec<_> = (0..5000).map(|n| format!("Person {n} <p{n}@example.com>")).collect();
    write_message(
        mail.path(),
        "many.eml",
        &format!(
            "From: a@example.com\nTo: {}\nSubject: many\nMessage-ID: <1@x.example>",
            many.join(",\n ")
        ),
        "hello",
    );
    let big = base64::engine::general_purpose::STANDARD.encode(vec![7_u8; 30 << 20]);
    write_message(
        mail.path(),
        "big.eml",
        "From: d@example.com\nSubject: big\nMessage-ID: <4@x.example>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=q",
        &format!(
            "--q\nContent-Type: text/plain\n\nsmall text\n--q\nContent-Type: application/zip; name=big.zip\nContent-Disposition: attachment; filename=big.zip\nContent-Transfer-Encoding: base64\n\n{big}\n--q--\n"
        ),
    );
    let mut session = Session::over(Some(mail.path())).await;
    let many = session.json("mail_search", json!({"q": "subject:many", "detail": "full"})).await;
    assert_eq!(
        column(&many, "messages", "to"),
        [
            "Person 0 <p0@example.com>, Person 1 <p1@example.com>, Person 2 <p2@example.com>, Person 3 <p3@example.com>, Person 4 <p4@example.com> +4995"
        ]
    );
    let found = session.json("mail_search", json!({"q": "subject:big"})).await;
    let ids = column(&found, "messages", "id");
    let read = session.json("mail_read", json!({"ids": ids})).await;
    assert_eq!(column(&read, "bodies", "text"), ["small text"]);
    assert_eq!(column(&read, "attachments", "name"), ["big.zip"]);
    assert_eq!(column(&read, "attachments", "size"), [(30 << 20).to_string()]);
    assert_eq!(
        session.error("mail_read", json!({"ids": ids, "body": "raw"})).await,
        "m2: the message is 41943358 bytes, too many to show raw (5242880): read it with body=text \
         or body=headers"
    );
}

/// Ten long messages are not held in memory at once. Later ones are behind a cursor, and none is
/// lost.
#[tokio::test]
async fn long_messages_are_left_to_the_cursor() {
    let mail = TempDir::new().unwrap();
    for number in 0..10 {
        let head = format!(
            "From: a@example.com\nTo: me@example.com\nSubject: long {number}\n\
             Message-ID: <long{number}@example.com>"
        );
        let body = "A line of a very long letter.\n".repeat(19_000);
        write_message(mail.path(), &format!("{number}.eml"), &head, &body);
    }
    let mut session = Session::over(Some(mail.path())).await;
    let found = session.json("mail_search", json!({})).await;
    let ids = column(&found, "messages", "id");
    assert_eq!(ids.len(), 10);
    let blocks = session.ok("mail_read", json!({"ids": ids, "budget": 4000})).await;
    assert_eq!(blocks.last().unwrap(), "messages: 8; 2 more messages: cursor=p1");
    let blocks = session.ok("mail_read", json!({"cursor": "p1", "budget": 4000})).await;
    assert_eq!(blocks.last().unwrap(), "messages: 2");
}
