//! One mailbox at two providers: the same messages give the same rows, and the same query finds the
//! same messages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use daysheet::cli::sandboxed::SandboxUser;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::query_cases::CASES;
use crate::support::{ME, Session, column, write_message};

const GOOGLE: &str = "google:mira@example.com";
const MICROSOFT: &str = "microsoft:mira@example.com";

/// The sample's private mailbox at both providers, and no other account.
const BOTH: SandboxUser = SandboxUser::These(&[("google", ME), ("microsoft", ME)]);

const WORK: &str = "mira@lindqvist-lamps.example";

/// The sample's private mailbox, and the one for work.
const WITH_WORK: SandboxUser = SandboxUser::These(&[("google", ME), ("microsoft", WORK)]);

/// Returns all rows of a search from all its pages.
async fn all(
    session: &mut Session,
    mut arguments: Value,
    table: &str,
) -> Result<Vec<Value>, String> {
    arguments["format"] = "json".into();
    arguments["limit"] = 100.into();
    arguments["budget"] = 100_000.into();
    let mut rows = Vec::new();
    loop {
        let answer = session.call("mail_search", arguments).await;
        if answer.is_error {
            return Err(answer.blocks[0].clone());
        }
        let page: Value = serde_json::from_str(&answer.blocks[0]).unwrap();
        rows.extend(page[table].as_array().unwrap().iter().cloned());
        match page["next"].as_str() {
            Some(next) => arguments = json!({"cursor": next, "format": "json", "budget": 100_000}),
            None => return Ok(rows),
        }
    }
}

/// Returns rows by a column that is the same at both providers, without provider-specific columns.
fn by(rows: Vec<Value>, key: &str, without: &[&str]) -> BTreeMap<String, Value> {
    let count = rows.len();
    let rows: BTreeMap<_, _> = rows
        .into_iter()
        .map(|mut row| {
            let name = row[key].as_str().unwrap_or_default().to_owned();
            let row_map = row.as_object_mut().unwrap();
            for column in without.iter().chain(&["id", "provider_id", "account", "draft"]) {
                row_map.remove(*column);
            }
            (name, row)
        })
        .collect();
    assert_eq!(rows.len(), count, "two rows of the same {key}");
    rows
}

#[tokio::test]
async fn same_messages_give_the_same_rows() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    let mut found = Vec::new();
    for account in [GOOGLE, MICROSOFT] {
        let arguments = json!({"q": "in:anywhere", "detail": "full", "account": account});
        let rows = all(&mut session, arguments, "messages").await.unwrap();
        // Graph returns a shorter beginning of a text.
        found.push(by(rows, "message_id", &["thread", "snippet"]));
    }
    assert_eq!(found[0].len(), 60);
    for (name, row) in &found[0] {
        assert_eq!(found[1].get(name), Some(row), "{name}");
    }
    assert_eq!(found[0].len(), found[1].len());

    let mut threads = Vec::new();
    for account in [GOOGLE, MICROSOFT] {
        let arguments =
            json!({"q": "in:anywhere", "by": "thread", "detail": "full", "account": account});
        let mut rows = all(&mut session, arguments, "threads").await.unwrap();
        for row in &mut rows {
            row["key"] = format!("{} {}", row["date"], row["subject"]).into();
        }
        threads.push(by(rows, "key", &["snippet"]));
    }
    assert!(threads[0].len() > 30);
    for (name, row) in &threads[0] {
        assert_eq!(threads[1].get(name), Some(row), "{name}");
    }
    assert_eq!(threads[0].len(), threads[1].len());
}

/// Threads decide whether a message is answered: a draft is not an answer, and the user's own
/// messages need none.
#[tokio::test]
async fn messages_are_answered_or_not_at_both() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    let mut counts = Vec::new();
    for account in [GOOGLE, MICROSOFT] {
        let mut found = Vec::new();
        for q in ["is:answered", "is:unanswered in:inbox", "-is:answered in:inbox", "in:inbox"] {
            let arguments =
                json!({"q": q, "fields": ["message_id", "answered"], "account": account});
            let rows = all(&mut session, arguments, "messages").await.unwrap();
            let states = rows.iter().map(|row| {
                let state = row["answered"].as_str().unwrap_or("own");
                (row["message_id"].to_string(), state.split(' ').next().unwrap().to_owned())
            });
            found.push(states.collect::<BTreeMap<_, _>>());
        }
        assert!(found[0].values().all(|state| state == "yes"), "{found:?}");
        assert_eq!(found[1], found[2]);
        let open = |state: &String| state == "no" || state == "draft";
        let inbox = found[3].iter().filter(|(_, state)| open(state));
        assert_eq!(
            inbox.map(|(id, state)| (id.clone(), state.clone())).collect::<BTreeMap<_, _>>(),
            found[1]
        );
        counts.push((found[0].clone(), found[3].clone()));
    }
    assert!(!counts[0].0.is_empty() && counts[0].1.values().any(|state| state == "draft"));
    assert_eq!(counts[0], counts[1]);
    for (q, why) in [
        ("is:answered OR is:starred", "`is:answered` works once, outside groups and OR"),
        ("-(is:unanswered x)", "`is:unanswered` works once, outside groups and OR"),
        ("is:answered is:unanswered", "`is:unanswered` works once, outside groups and OR"),
    ] {
        let error = all(&mut session, json!({"q": q}), "messages").await.unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    let changed = json!({"q": "is:answered", "do": "read", "account": GOOGLE});
    let refused = session.call("mail_modify", changed).await;
    assert!(refused.is_error && refused.blocks[0].contains("only mail_search"), "{refused:?}");
}

/// Bulk mail and mail to the owner alone are recognised by the columns of the listed messages.
#[tokio::test]
async fn bulk_and_direct_messages_are_found_by_their_columns_at_both() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    let mut found = Vec::new();
    for account in [GOOGLE, MICROSOFT] {
        let mut search = async |q: &str, fields: &[&str]| {
            let arguments = json!({"q": q, "fields": fields, "account": account, "limit": 20});
            all(&mut session, arguments, "messages").await.unwrap()
        };
        let whole = search("in:inbox", &["message_id", "bulk", "to", "cc"]).await;
        let ids = |keep: &dyn Fn(&Value) -> bool| {
            let kept = whole.iter().filter(|row| keep(row));
            kept.map(|row| row["message_id"].to_string()).collect::<BTreeSet<_>>()
        };
        let is_bulk = |row: &Value| {
            let signs = row["bulk"].as_str().unwrap_or_default();
            signs.split_whitespace().any(|sign| sign != "aside")
        };
        let is_direct = |row: &Value| {
            let to = row["to"].as_str().unwrap_or_default();
            to.contains(ME) && !to.contains(',') && row["cc"].as_str().is_none_or(str::is_empty)
        };
        for (q, expected) in [
            ("in:inbox is:bulk", ids(&is_bulk)),
            ("-is:bulk in:inbox", ids(&|row| !is_bulk(row))),
            ("is:direct in:inbox", ids(&is_direct)),
            ("is:direct in:inbox -is:bulk", ids(&|row| is_direct(row) && !is_bulk(row))),
        ] {
            let rows = search(q, &["message_id"]).await;
            let listed: BTreeSet<_> =
                rows.iter().map(|row| row["message_id"].to_string()).collect();
            assert!(!listed.is_empty() && listed.len() < whole.len(), "{q}");
            assert_eq!(listed, expected, "{q}");
            found.push(listed.len());
        }
    }
    assert_eq!(found[..4], found[4..]);
    let refused = session.call("mail_search", json!({"q": "is:bulk", "by": "thread"})).await;
    assert!(refused.blocks[0].contains("`is:bulk` and `is:direct` are of messages"), "{refused:?}");
}

/// The rows of senders are the sums of their messages.
#[tokio::test]
async fn messages_add_up_to_their_senders_at_both() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        let mut search = async |by: &str, fields: &[&str], table: &str| {
            let arguments =
                json!({"q": "in:inbox", "account": account, "by": by, "fields": fields});
            all(&mut session, arguments, table).await.unwrap()
        };
        let columns = ["id", "date", "from", "subject", "flags", "unsubscribe"];
        let mut expected: Vec<Value> = Vec::new();
        let address = |row: &Value| {
            let from = row["from"].as_str().unwrap_or_default().to_lowercase();
            from.rsplit('<').next().unwrap_or_default().trim_end_matches('>').to_owned()
        };
        for mut message in search("message", &columns, "messages").await {
            let flags = message.as_object_mut().unwrap().remove("flags").unwrap();
            let unread = u64::from(flags.as_str().is_some_and(|flags| flags.contains("unread")));
            if let Some(sender) =
                expected.iter_mut().find(|sender| address(sender) == address(&message))
            {
                sender["count"] = (sender["count"].as_u64().unwrap() + 1).into();
                sender["unread"] = (sender["unread"].as_u64().unwrap() + unread).into();
            } else {
                message["count"] = 1.into();
                message["unread"] = unread.into();
                expected.push(message);
            }
        }
        // Senders of equal counts are ordered by date, newest first.
        expected.sort_by_key(|sender| std::cmp::Reverse(sender["count"].as_u64()));
        let columns = ["id", "date", "from", "subject", "unsubscribe", "count", "unread"];
        let senders = search("sender", &columns, "senders").await;
        assert!(senders.iter().any(|sender| sender["unsubscribe"] == "one-click"));
        assert_eq!(senders, expected);

        let arguments = json!({"by": "sender", "q": "in:inbox", "account": account, "limit": 2});
        let answer = session.call("mail_search", arguments).await;
        let count = format!("senders: 2 of {} with", senders.len());
        assert!(answer.blocks[1].contains(&count), "{answer:?}");
    }
    let refused = session.call("mail_search", json!({"by": "sender", "cursor": "p1"})).await;
    assert!(refused.blocks[0].contains("a search by sender has no pages"), "{refused:?}");
}

/// The column of lengths has the length that reading the message states.
#[tokio::test]
async fn lengths_in_lists_are_those_of_the_texts_read_at_both() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        let arguments = json!({"account": account, "fields": ["id", "chars"], "limit": 12,
                               "format": "json", "sort": "oldest"});
        let answer = session.call("mail_search", arguments).await;
        let listed: Value = serde_json::from_str(&answer.blocks[0]).unwrap();
        let listed: BTreeMap<_, _> = listed["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["id"].to_string(), row["chars"].clone()))
            .collect();
        let ids: Vec<_> = listed.keys().map(|id| id.trim_matches('"').to_owned()).collect();
        let arguments = json!({"ids": ids, "body": "none", "format": "json"});
        let answer = session.call("mail_read", arguments).await;
        let read: Value = serde_json::from_str(&answer.blocks[0]).unwrap();
        let read: BTreeMap<_, _> = read["bodies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["id"].to_string(), row["chars"].clone()))
            .collect();
        assert_eq!(listed, read);
        assert!(listed.len() == 12 && listed.values().all(|chars| chars.as_u64() > Some(0)));
    }
}

/// No message has a label or folder that an account lacks. In an OR, the other parts are searched,
/// with a note; on its own it is an error.
#[tokio::test]
async fn label_an_account_lacks_matches_nothing_in_or() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    let called = |account: &str, kind: &str| match (account, kind) {
        (GOOGLE, _) => "label or folder",
        (_, "label" | "category") => "category",
        _ => "folder",
    };
    for (q, same, kind) in [
        ("in:Nowhere OR is:starred", "is:starred", "in"),
        ("is:starred OR in:Nowhere/2026", "is:starred", "in"),
        ("label:Nowhere OR is:starred", "is:starred", "label"),
        ("category:Nowhere OR is:starred", "is:starred", "category"),
        // Words and labels in one OR, which Outlook cannot search for together.
        ("label:Nowhere OR from:henrike", "from:henrike", "label"),
        ("(label:Nowhere OR from:henrike) -is:starred", "from:henrike -is:starred", "label"),
        ("from:henrike -(in:Nowhere OR is:starred)", "from:henrike -is:starred", "in"),
    ] {
        for account in [GOOGLE, MICROSOFT] {
            let arguments = |q: &str| json!({"q": q, "fields": ["message_id"], "account": account});
            let found = session.json("mail_search", arguments(q)).await;
            let expected = session.json("mail_search", arguments(same)).await;
            let ids = |document: &Value| column(document, "messages", "message_id");
            assert_eq!(ids(&found), ids(&expected), "{account} {q}");
            assert!(same != "is:starred" || ids(&found).len() == 6, "{account} {q}");
            let notes = session.ok("mail_search", arguments(q)).await.pop().unwrap();
            let note = format!("there is no {} `Nowhere", called(account, kind));
            assert!(notes.contains(&note), "{account} {q}: {notes}");
            assert!(notes.contains("that part of the OR matches nothing here"));
        }
    }
    for q in ["in:Nowhere", "in:Nowhere is:starred", "in:Nowhere OR in:Nothing"] {
        for account in [GOOGLE, MICROSOFT] {
            let arguments = json!({"q": q, "account": account});
            let error = session.error("mail_search", arguments).await;
            assert!(error.contains(" `Nowhere`"), "{error}");
        }
    }
}

/// The number of sample messages that each search finds, at both providers; Outlook's labels are
/// not folders.
#[tokio::test]
async fn searches_find_what_they_mean() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for (query, google, microsoft) in [
        (json!({}), 56, Some(56)),
        (json!({"q": "in:anywhere"}), 60, Some(60)),
        (json!({"q": "from:henrike has:attachment"}), 0, Some(0)),
        (json!({"q": "in:drafts"}), 2, Some(2)),
        (json!({"folder": "sent"}), 6, Some(6)),
        (json!({"folder": "spam"}), 2, Some(2)),
        (json!({"folder": "Clients/Nordlicht"}), 9, None),
        (json!({"q": "label:Clients/Nordlicht"}), 9, Some(9)),
        (json!({"q": "label:Receipts"}), 6, Some(6)),
        (json!({"q": "is:starred"}), 6, Some(6)),
        (json!({"q": "in:inbox is:unread"}), 20, Some(20)),
        (json!({"q": "is:important"}), 13, Some(13)),
        (json!({"q": "in:archive"}), 10, Some(10)),
        (json!({"q": "filename:csv"}), 1, Some(1)),
        (json!({"q": "after:2026-11-13 before:2026-11-14"}), 6, Some(6)),
        (json!({"q": "category:forums"}), 4, Some(4)),
        (json!({"q": "subject:(lantern walk) from:(dele OR katrin)"}), 2, Some(2)),
        (json!({"q": "from:nordlicht -subject:vesper"}), 1, Some(1)),
        (json!({"q": "\"second reminder\""}), 1, Some(1)),
    ] {
        for (account, expected) in [(GOOGLE, Some(google)), (MICROSOFT, microsoft)] {
            let mut call = query.clone();
            (call["account"], call["fields"]) = (account.into(), json!(["id"]));
            let rows = all(&mut session, call, "messages").await;
            assert_eq!(rows.ok().map(|rows| rows.len()), expected, "{account} {query}");
        }
    }
    // No message can match, and the note names the conditions that exclude each other.
    for (q, why) in [
        ("in:sent is:unanswered", "of received mail"),
        ("after:2026-11-20 before:2026-11-10", "the range is empty"),
        ("larger:10K smaller:5K", "no size is in the range"),
    ] {
        let blocks = session.ok("mail_search", json!({"q": q})).await;
        assert!(blocks.last().unwrap().contains(why), "{q}: {blocks:?}");
    }
}

/// Outlook also lists spam and trash. At Gmail that takes another request, which a search makes and
/// a list does not.
#[tokio::test]
async fn matches_in_spam_and_trash_are_counted() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    let more = "messages: 56 of 56, newest first; spam and trash have 4 more (in:anywhere)";
    let without_drafts =
        "messages: 54 of 54, newest first; spam and trash have 4 more (in:anywhere)";
    let last = "messages: 16 of 56, newest first, after 40 on earlier pages; spam and trash not \
                searched";
    for (account, mut call, expected) in [
        (GOOGLE, json!({"q": "after:2000-01-01", "limit": 100}), more),
        (MICROSOFT, json!({"q": "after:2000-01-01", "limit": 100}), more),
        (
            GOOGLE,
            json!({"limit": 100}),
            "messages: 56 of 56, newest first; spam and trash not searched",
        ),
        (MICROSOFT, json!({"limit": 100}), more),
        // A search without one folder still covers all others.
        (GOOGLE, json!({"q": "after:2000-01-01 -in:drafts", "limit": 100}), without_drafts),
        (MICROSOFT, json!({"q": "after:2000-01-01 -in:drafts", "limit": 100}), without_drafts),
        // The note counts spam and trash without checking which of it is bulk mail.
        (
            GOOGLE,
            json!({"q": "is:bulk", "limit": 100}),
            "messages: 22 of 22, newest first; spam and trash not searched",
        ),
        (
            MICROSOFT,
            json!({"q": "is:bulk", "limit": 100}),
            "messages: 22 of 22, newest first; spam and trash may have up to 4 more (in:anywhere)",
        ),
        (GOOGLE, json!({"q": "thick pencil"}), "messages: 3 of 3, newest first"),
        (MICROSOFT, json!({"q": "thick pencil"}), "messages: 3 of 3, newest first"),
        (GOOGLE, json!({"q": "after:2000-01-01", "limit": 40}), last),
        (MICROSOFT, json!({"q": "after:2000-01-01", "limit": 40}), last),
    ] {
        (call["account"], call["fields"]) = (account.into(), json!(["id"]));
        let mut blocks = session.ok("mail_search", call.clone()).await;
        if let Some((_, cursor)) = blocks.last().unwrap().split_once("cursor=") {
            let cursor = cursor.split(' ').next().unwrap();
            blocks = session.ok("mail_search", json!({"cursor": cursor})).await;
        }
        assert_eq!(blocks.last().unwrap().lines().next(), Some(expected), "{account} {call}");
    }
}

/// Snippets have the requested width, even if their column is not requested; links are shown only
/// on request.
#[tokio::test]
async fn snippets_and_links_come_as_requested() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        for (by, table) in [("message", "messages"), ("thread", "threads")] {
            for (mut call, least, most, link) in [
                (json!({}), 40, 45, false),
                (json!({"snippet": 20}), 15, 20, false),
                (json!({"snippet": 100}), 90, 100, false),
                (json!({"detail": "minimal", "snippet": 180}), 130, 180, false),
                (json!({"fields": ["link"], "snippet": 60}), 50, 60, true),
                (json!({"detail": "full"}), 110, 120, false),
            ] {
                (call["account"], call["by"]) = (account.into(), by.into());
                let rows = all(&mut session, call.clone(), table).await.unwrap();
                let snippets = rows.iter().filter_map(|row| row["snippet"].as_str());
                let longest = snippets.map(daysheet_core::text::width).max().unwrap();
                assert!((least..=most).contains(&longest), "{account} {call} {longest}");
                let links = rows.iter().filter_map(|row| row["link"].as_str());
                let count = if link { rows.len() } else { 0 };
                assert_eq!(links.filter(|link| link.starts_with("https://")).count(), count);
            }
        }
    }
}

#[tokio::test]
async fn same_messages_read_the_same() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    let mut texts = Vec::new();
    for account in [GOOGLE, MICROSOFT] {
        let arguments = json!({"q": "in:anywhere", "fields": ["message_id"], "account": account});
        let rows = all(&mut session, arguments, "messages").await.unwrap();
        let mut read = BTreeMap::new();
        for row in rows {
            let document =
                session.json("mail_read", json!({"ids": [row["id"]], "body": "text"})).await;
            let mut files: Vec<_> = document["attachments"]
                .as_array()
                .into_iter()
                .flatten()
                // Outlook hides the unnamed parts of a delivery report and the calendar part of an
                // invitation, and it names an attached message by its subject.
                .filter(|file| file["name"] != "")
                .filter(|file| {
                    let kind = file["type"].as_str();
                    !matches!(kind, None | Some("" | "message/rfc822" | "text/calendar"))
                })
                .map(|file| format!("{} {}", file["name"], file["type"]))
                .collect();
            files.sort();
            let name = row["message_id"].as_str().unwrap().to_owned();
            let text = document["bodies"][0]["text"].as_str().unwrap_or_default();
            read.insert(name, (text.to_owned(), files));
        }
        texts.push(read);
    }
    for (name, (text, files)) in &texts[0] {
        let (other, other_files) = &texts[1][name];
        assert_eq!(files, other_files, "{name}");
        assert_eq!(text, other, "{name}");
    }
}

/// Writes a mailbox in which most queries of the table find messages.
fn mailbox(folder: &Path) {
    let people = [
        "Lena Okafor <lena@studio.example>",
        "\"Okafor, Lena\" <lena@studio.example>",
        "Mira Lindqvist <mira@example.com>",
        "Print shop <proofs@print.example>",
        "o'neil@studio.example",
        "a@b.example",
        "Archive <archive@example.com>",
        "c@d.example",
    ];
    let subjects = [
        "invoice for the annual report",
        "Proof of the autumn catalogue",
        "a b budget",
        "c or not, and near",
        "lunch with Lena?",
        "re-print: plan b",
        "schön 日本 budget plan",
        "say x 12:30",
    ];
    let bodies = [
        "the deadline of the annual report is near",
        "budget and plan, for the team",
        "print it, then print it again; c++ and C:\\mail",
        "http://x.example/y?a=(b) invoice",
        "nothing of note",
    ];
    let labels = [
        "Inbox,Unread",
        "Inbox,Opened,Starred",
        "Sent,Opened",
        "Archived,Unread,Important,Work",
        "Inbox,Opened,Work,Home",
        "Draft,Opened",
        "Spam,Unread",
        "Trash,Opened,Starred",
        "Archived,Opened,Home,\"To do (soon)\"",
        "Inbox,Unread,Starred,Important,Category Promotions",
    ];
    for number in 0..96_usize {
        let pick =
            |list: &[&str], step: usize| list[(number * step + number / 7) % list.len()].to_owned();
        let day = 1 + number % 28;
        let month = 1 + number % 11;
        let file = match number % 6 {
            0 => Some("report.pdf"),
            3 => Some("plan b.docx"),
            _ => None,
        };
        let body = pick(&bodies, 3);
        let headers = format!(
            "From: {}\nTo: {}\nCc: {}\nSubject: {}\nMessage-ID: <case-{number}@example.com>\n\
             Date: {day} {} 2026 {:02}:05:00 +0000\nDelivered-To: mira@example.com\n\
             X-Gmail-Labels: {}\nMIME-Version: 1.0",
            pick(&people, 1),
            pick(&["team@example.com", "Mira <mira@example.com>", "bo@example.com"], 2),
            pick(&["print@example.com", "Lena <lena@studio.example>"], 3),
            pick(&subjects, 5),
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov"]
                [month - 1],
            number % 24,
            pick(&labels, 7),
        );
        let (kind, body) = match file {
            None => ("text/plain; charset=utf-8".to_owned(), body),
            Some(name) => (
                "multipart/mixed; boundary=\"cut\"".to_owned(),
                format!(
                    "--cut\nContent-Type: text/plain; charset=utf-8\n\n{body}\n--cut\n\
                     Content-Type: application/octet-stream; name=\"{name}\"\n\
                     Content-Disposition: attachment; filename=\"{name}\"\n\
                     Content-Transfer-Encoding: base64\n\n{}\n--cut--",
                    "QUJD".repeat(if number % 12 == 0 { 2_000_000 } else { 10 })
                ),
            ),
        };
        let name = format!("{number}.eml");
        write_message(folder, &name, &format!("{headers}\nContent-Type: {kind}"), &body);
    }
}

/// Queries with documented differences between the providers.
const DIFFERENT: &[(&str, &str)] = &[(
    "category:Primary budget",
    "Gmail's tabs are no categories of Outlook's, and a note says so",
)];

#[tokio::test]
async fn same_query_finds_the_same_messages() {
    let mail = TempDir::new().unwrap();
    mailbox(mail.path());
    let who = SandboxUser::Everybody(&["google", "microsoft"]);
    let mut session = Session::signed_in(TempDir::new().unwrap(), Some(mail.path()), who).await;
    let (mut compared, mut with_hits) = (0, 0);
    let mut wrong = Vec::new();
    for (query, _, graph) in CASES {
        if query.starts_with("raw:") || graph[0].starts_with('!') {
            continue;
        }
        let mut found = Vec::new();
        for account in [GOOGLE, MICROSOFT] {
            let arguments = json!({"q": query, "fields": ["message_id"], "account": account});
            let rows = all(&mut session, arguments, "messages").await;
            found.push(rows.map(|rows| {
                let mut names: Vec<_> =
                    rows.iter().map(|row| row["message_id"].as_str().unwrap().to_owned()).collect();
                names.sort();
                names
            }));
        }
        match (&found[0], &found[1]) {
            (Ok(gmail), Ok(graph)) => {
                compared += 1;
                with_hits += usize::from(!gmail.is_empty());
                let reported = DIFFERENT.iter().any(|(known, _)| known == query);
                if (gmail == graph) == reported {
                    let missing: Vec<_> = gmail.iter().filter(|id| !graph.contains(id)).collect();
                    let more: Vec<_> = graph.iter().filter(|id| !gmail.contains(id)).collect();
                    wrong.push(format!("{query}: graph lacks {missing:?} and adds {more:?}"));
                }
            }
            // A label is a folder at Gmail but not at Outlook, so the query is refused by both.
            (one, other) if query.contains("Clients") => {
                assert!(one.is_err() && other.is_err(), "{query}: {one:?} {other:?}");
            }
            (one, other) => wrong.push(format!("{query}: {one:?} and {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 100 && with_hits >= 70, "{compared} {with_hits}");
}

#[tokio::test]
async fn query_only_one_provider_supports_is_refused() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    let raw = json!({"q": "raw:$filter=isRead eq false"});
    assert_eq!(
        session.error("mail_search", raw.clone()).await,
        "`raw:` is one provider's syntax, but the search covers several: name the `account` it is \
         for"
    );
    let mut named = raw;
    named["account"] = MICROSOFT.into();
    let unread = session.json("mail_search", named).await;
    assert_eq!(unread["messages"].as_array().unwrap().len(), 20);
    // An id of one provider is not sent to the other.
    let id = unread["messages"][0]["provider_id"].clone();
    let read = session.json("mail_read", json!({"ids": [id]})).await;
    assert_eq!(read["messages"][0]["provider_id"], id);
    let wrong = session.error("mail_read", json!({"ids": [id], "account": GOOGLE})).await;
    assert!(wrong.contains("the id is not Gmail's"), "{wrong}");
    let wrong = json!({"ids": ["18c2f0a1b2c3d4e5"], "account": MICROSOFT});
    let wrong = session.error("mail_read", wrong).await;
    assert!(wrong.contains("Outlook's"), "{wrong}");
}

/// Returns the rows of `changes` since a cursor as `change title`, and the next cursor.
async fn changed(session: &mut Session, account: &str, cursor: &str) -> (Vec<String>, String) {
    let arguments = json!({"cursor": cursor, "account": account});
    let document = session.json("changes", arguments).await;
    let rows = document["changes"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let mut reported: Vec<String> =
        rows.map(|row| format!("{} {}", text(&row["change"]), text(&row["title"]))).collect();
    reported.sort();
    (reported, text(&document["next"]))
}

/// An edited, sent or deleted draft is reported once, as exactly that change; a removed message
/// that was shown is reported with its title.
#[tokio::test]
async fn changes_report_drafts_and_deleted_messages_as_such() {
    for account in [GOOGLE, MICROSOFT] {
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
        let begun = session.json("changes", json!({"account": account, "kinds": ["mail"]})).await;
        let mut ids = Vec::new();
        for subject in ["Edited", "Sent", "Deleted", "Kept"] {
            let draft = json!({"mode": "new", "account": account, "subject": subject,
                               "to": ["lena@studio.example"], "body": "Hello."});
            let draft = session.json("mail_draft", draft).await;
            ids.push(draft["draft"].as_str().unwrap().to_owned());
        }
        let begun = begun["next"].as_str().unwrap();
        let (reported, cursor) = changed(&mut session, account, begun).await;
        let new = ["new Deleted", "new Edited", "new Kept", "new Sent"];
        assert_eq!(reported, new, "{account}");
        for subject in ["Edited once", "Edited twice"] {
            let edit = json!({"mode": "edit", "id": ids[0], "subject": subject});
            session.ok("mail_draft", edit).await;
        }
        session.ok("mail_send", json!({"id": ids[1]})).await;
        let discard = json!({"mode": "discard", "id": ids[2]});
        session.ok("mail_draft", discard).await;
        let (reported, cursor) = changed(&mut session, account, &cursor).await;
        let became = ["changed Edited twice", "deleted Deleted", "sent Sent"];
        assert_eq!(reported, became, "{account}");
        let (reported, cursor) = changed(&mut session, account, &cursor).await;
        assert!(reported.is_empty(), "{account}: {reported:?}");

        let arguments = json!({"account": account, "fields": ["date", "from", "subject", "message_id"],
                           "limit": 2, "q": "in:inbox"});
        let shown = session.json("mail_search", arguments).await;
        let id = column(&shown, "messages", "message_id")[0].clone();
        let subject = column(&shown, "messages", "subject")[0].clone();
        let discarded = session.sandbox.discard(ME, id.trim_matches(['<', '>']));
        assert!(discarded, "{id}");
        let (reported, _) = changed(&mut session, account, &cursor).await;
        assert_eq!(reported, [format!("gone {subject}")], "{account}");
    }
}

/// Exchange gives each occurrence its own UID; at Google all occurrences share one.
#[tokio::test]
async fn series_in_both_calendars_is_one() {
    let mut session = Session::written(WITH_WORK).await;
    let event = json!({"title": "Glaze tests", "start": "2036-12-10 10h00", "duration": "1h",
        "repeats": "FREQ=WEEKLY;COUNT=3", "people": [ME]});
    let create = json!({"account": WORK, "events": [event], "notify": "all"});
    session.ok("calendar_save", create).await;
    let range = json!({"from": "2036-12-01", "to": "2036-12-31", "q": "glaze"});
    let found = session.json("calendar_search", range).await;
    let starts = |found: &serde_json::Value| column(found, "events", "start");
    let weekly = ["Wed 2036-12-10 10h00", "Wed 2036-12-17 10h00", "Wed 2036-12-24 10h00"];
    assert_eq!(starts(&found), weekly);
    let clashes = json!({"from": "2036-12-01", "to": "2036-12-31", "q": "is:clash"});
    let clashes = session.ok("calendar_search", clashes).await.join("\n");
    assert!(!clashes.contains("Glaze"), "{clashes}");
    // An export with a moved occurrence is one series again after the import.
    let at_work = json!({"from": "2036-12-17", "to": "2036-12-17", "account": WORK, "q": "glaze"});
    let second = column(&session.json("calendar_search", at_work).await, "events", "id").remove(0);
    let moved = json!({"id": second, "scope": "this", "notify": "all",
        "events": [{"start": "2036-12-18 15h00"}]});
    session.ok("calendar_save", moved).await;
    let export = json!({"from": "2036-12-01", "to": "2036-12-31", "account": WORK,
        "series": true, "as": "ics", "q": "glaze"});
    let blocks = session.ok("calendar_search", export).await;
    let text = blocks.join("\n");
    let uids: std::collections::BTreeSet<_> =
        text.lines().filter(|line| line.starts_with("UID:")).collect();
    assert_eq!(uids.len(), 1, "{text}");
    assert!(!text.contains("without the rule"), "{text}");
    let (from, to) = (text.find("BEGIN:VCALENDAR").unwrap(), text.rfind("END:VCALENDAR").unwrap());
    let ics = format!("{}END:VCALENDAR\r\n", &text[from..to]);
    // Its own UID or title would match the existing series.
    let ics = ics.replace(uids.first().unwrap(), "UID:copy@studio.example");
    let ics = ics.replace("Glaze tests", "Copied");
    let family = json!({"account": "google", "calendar": "Family", "ics": ics,
        "if_conflict": "ignore"});
    session.ok("calendar_save", family).await;
    let family =
        json!({"from": "2036-12-01", "to": "2036-12-31", "calendars": ["Family"], "q": "copied"});
    let found = session.json("calendar_search", family).await;
    let expected = ["Wed 2036-12-10 10h00", "Thu 2036-12-18 15h00", "Wed 2036-12-24 10h00"];
    assert_eq!(starts(&found), expected);
}
