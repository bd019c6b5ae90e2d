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

/// A discarded draft is in the trash; it cannot be sent from there, but it can be restored.
#[tokio::test]
async fn discarded_draft_stays_in_the_trash() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        let draft = json!({"account": account, "to": ["lena@studio.example"],
                           "subject": "Discarded", "body": "Hello."});
        let draft = session.json("mail_draft", draft).await["draft"].clone();
        session.ok("mail_draft", json!({"mode": "discard", "id": draft})).await;
        for (tool, again) in [
            ("mail_send", json!({"id": draft})),
            ("mail_draft", json!({"mode": "discard", "id": draft})),
        ] {
            let error = session.error(tool, again).await;
            let expected = "was discarded: mail_modify undo=u";
            assert!(error.contains(expected), "{account}: {tool}: {error}");
        }
        let arguments = json!({"q": "in:trash subject:discarded", "account": account});
        let found = column(&session.json("mail_search", arguments).await, "messages", "id");
        assert_eq!(found.len(), 1, "{account}");
        let restored = session.ok("mail_modify", json!({"ids": found, "do": "restore"})).await;
        assert!(restored[0].starts_with("done: 1\n"), "{account}: {restored:?}");
        let sent = session.ok("mail_send", json!({"id": draft})).await;
        assert!(sent[0].contains("\tsend\tsent\t"), "{account}: {sent:?}");
    }
}

/// A word is not an id: it is not sent to a service and gets no handle.
#[tokio::test]
async fn words_are_no_ids() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, SandboxUser::Usual).await;
    for (tool, arguments) in [
        ("mail_read", json!({"ids": ["Choir"]})),
        ("mail_modify", json!({"ids": ["Choir", "x"], "do": "read"})),
        ("mail_attachment", json!({"ids": ["Choir"]})),
        ("mail_draft", json!({"mode": "reply", "id": "Choir", "body": "Yes."})),
        ("mail_send", json!({"id": "Choir"})),
        ("calendar_delete", json!({"id": "Choir"})),
        ("calendar_respond", json!({"id": "Choir", "response": "accept"})),
    ] {
        let error = session.error(tool, arguments).await;
        assert!(error.contains("`Choir` is not an id: give "), "{tool}: {error}");
    }
    // Only one account has the sender's address.
    session
        .ok("mail_draft", json!({"from": "mira@lindqvist-lamps.example", "subject": "Lamps"}))
        .await;
}

/// A folder can have the same name as a folder within another one. It is deleted with its content
/// and its subfolders if the call allows that; a label has only a name.
#[tokio::test]
async fn nested_folders_may_share_names_and_delete_recursively() {
    for account in [GOOGLE, MICROSOFT] {
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
        let manage = |op: &str, more: Value| {
            let mut arguments = json!({"kind": "folder", "op": op, "account": account});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            arguments
        };
        for name in ["Shelf/Box", "Box", "Box/Lid"] {
            let create = manage("create", json!({"name": name}));
            session.ok("manage", create.clone()).await;
            let again = session.error("manage", create).await;
            assert!(again.contains("already"), "{account}: {again}");
        }
        let folders = json!({"kind": "folders", "q": "box", "account": account});
        let folders = session.json("lookup", folders).await;
        let mut names = column(&folders, "folders", "name");
        names.retain(|name| name.starts_with("Box") || name.starts_with("Shelf"));
        names.sort();
        assert_eq!(names, ["Box", "Box/Lid", "Shelf/Box"], "{account}");
        let delete = |name: &str| manage("delete", json!({"id": name}));
        session.ok("manage", delete("Box/Lid")).await;
        session.ok("manage", delete("Box")).await;
        let inbox = json!({"q": "in:inbox", "limit": 1, "account": account});
        let id = column(&session.json("mail_search", inbox).await, "messages", "id");
        let moved = json!({"ids": id, "do": "move", "to": "Shelf/Box"});
        session.ok("mail_modify", moved).await;
        if account == GOOGLE {
            let reported = session.ok("manage", delete("Shelf/Box")).await;
            assert!(reported[0].contains("its messages stay"), "{reported:?}");
            continue;
        }
        // The message is in the subfolder; the folder itself is empty.
        let error = session.error("manage", delete("Shelf")).await;
        assert!(error.contains("Shelf holds 1 message"), "{error}");
        let planned = manage("delete", json!({"id": "Shelf", "dry_run": true}));
        let planned = session.ok("manage", planned).await;
        assert!(planned[0].contains("1 message; with its content"), "{planned:?}");
        let reported = manage("delete", json!({"id": "Shelf", "set": {"messages": "trash"}}));
        session.ok("manage", reported).await;
        let error = session.error("manage", delete("Shelf/Box")).await;
        assert!(error.contains("Shelf/Box"), "{error}");
    }
}

/// Returns a value of a draft's answer by its line's name; empty if the line is missing.
fn line<'a>(blocks: &'a [String], name: &str) -> &'a str {
    let start = format!("{name}: ");
    blocks[0].lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default()
}

/// `mail_modify` accepts folders and labels under the names that `lookup` returns.
#[tokio::test]
async fn mail_is_filed_by_handles_of_folders() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        let made = json!({"kind": "folder", "op": "create", "name": "Kilns", "account": account});
        session.ok("manage", made).await;
        let folders = json!({"kind": "folders", "q": "Kilns", "account": account});
        let folder = column(&session.json("lookup", folders).await, "folders", "id").remove(0);
        let newest = json!({"limit": 1, "folder": "inbox", "account": account});
        let newest = column(&session.json("mail_search", newest).await, "messages", "id");
        session.ok("mail_modify", json!({"ids": newest, "do": "move", "to": [folder]})).await;
        let filed = session.json("mail_search", json!({"folder": folder})).await;
        assert_eq!(column(&filed, "messages", "id"), newest, "{account}");
    }
}

#[tokio::test]
async fn rows_of_threads_do_not_count_drafts() {
    let columns = ["id", "date", "people", "subject", "count", "last", "snippet", "flags"];
    for (account, me) in
        [(GOOGLE, "Mira Lindqvist <mira@example.com>"), (MICROSOFT, "mira@example.com")]
    {
        // Each provider starts with an unmodified sample.
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
        let threads =
            |q: &str| json!({"q": q, "by": "thread", "fields": columns, "account": account});
        let before = session.json("mail_search", threads("in:inbox")).await["threads"].clone();
        let is_free = |row: &Value| !row["flags"].as_str().unwrap_or_default().contains("draft");
        let oldest = before.as_array().unwrap().iter().rposition(is_free).unwrap();
        let reply = json!({"mode": "reply", "id": before[oldest]["id"], "body": "Zinc it is."});
        session.ok("mail_draft", reply).await;
        let mut after = session.json("mail_search", threads("in:inbox")).await["threads"].clone();
        let flags = after[oldest]["flags"].as_str().unwrap();
        let others = flags.strip_suffix("draft").unwrap().trim_end();
        after[oldest]["flags"] = if others.is_empty() { Value::Null } else { others.into() };
        assert_eq!(after, before, "{account}");
        // A row that has only drafts is dated by the newest.
        let alone = json!({"to": ["priya@example.com"], "subject": "Alone", "body": "Not yet.",
                           "account": account});
        session.ok("mail_draft", alone).await;
        let mut alone =
            session.json("mail_search", threads("subject:alone")).await["threads"].clone();
        for varies in ["id", "date", "provider_id"] {
            assert!(alone[0][varies].take().is_string(), "{account} {varies}");
        }
        let expected = json!([{
            "id": null, "date": null, "people": me,
            "subject": "Alone", "count": 0, "last": "", "snippet": "Not yet.", "flags": "draft",
            "provider_id": null,
        }]);
        assert_eq!(alone, expected, "{account}");
    }
}

#[tokio::test]
async fn archived_messages_were_in_the_archive() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        let newest = json!({"q": "in:inbox", "limit": 1, "account": account});
        let newest = column(&session.json("mail_search", newest).await, "messages", "id");
        for (action, before, after) in [
            (json!({"do": "archive"}), "inbox", "archive"),
            (json!({"do": "move", "to": ["inbox"]}), "archive", "inbox"),
            (json!({"do": "archive"}), "inbox", "archive"),
            (json!({"do": "trash"}), "archive", "trash"),
        ] {
            let mut call = action.clone();
            call["ids"] = json!(newest);
            let done = session.json("mail_modify", call).await;
            let row = &done["modified"][0];
            assert_eq!(
                (&row["before"], &row["after"]),
                (&json!(before), &json!(after)),
                "{account} {action}"
            );
        }
    }
}

#[tokio::test]
async fn scheduled_message_in_the_trash_is_not_reported_as_sent() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    let draft = json!({"to": ["priya@example.com"], "subject": "Later", "body": "Yes.",
                       "account": MICROSOFT});
    let made = session.ok("mail_draft", draft).await;
    let draft = line(&made, "draft");
    session.ok("mail_send", json!({"id": draft, "at": "2999-01-01 09h00"})).await;
    let waits = session.ok("mail_send", json!({"id": draft})).await;
    assert!(waits[0].contains("for 2999-01-01 09h00; cancel it in Outlook"), "{waits:?}");
    session.ok("mail_modify", json!({"ids": draft, "do": "trash"})).await;
    let cancelled = session.ok("mail_send", json!({"id": draft})).await;
    let expected =
        "not sent\t\"the draft is in Deleted Items, which cancels it: write a new draft\"";
    assert!(cancelled[0].contains(expected), "{cancelled:?}");
}

#[tokio::test]
async fn drafts_behave_the_same() {
    let mut lives = Vec::new();
    for account in [GOOGLE, MICROSOFT] {
        // Each provider starts with an unmodified sample.
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
        let mut life = Vec::new();
        let sign = json!({"kind": "signature", "op": "update", "set": {"text": "Mira L."},
                          "account": account});
        session.ok("manage", sign).await;
        let kept = json!({"kind": "signatures", "account": account});
        let kept = session.json("lookup", kept).await;
        life.push(kept["signatures"][0]["text"].as_str().unwrap().to_owned());
        let found = json!({"q": "in:inbox from:jonas", "fields": ["thread"], "limit": 1, "account": account});
        let found = session.json("mail_search", found).await;
        let row = &found["messages"][0];
        let reply = |mode: &str, id: &Value| json!({"mode": mode, "id": id, "body": "Yes."});
        let mut drafts = Vec::new();
        // A reply to a thread answers its newest message that is not a draft.
        for (mode, id) in [("reply", &row["id"]), ("reply_all", &row["thread"])] {
            let made = session.ok("mail_draft", reply(mode, id)).await;
            life.push(format!(
                "{} {} {}",
                line(&made, "signature"),
                line(&made, "quote").contains(" characters, "),
                line(&made, "text")
            ));
            life.push(
                made[1].lines().next().unwrap().split(": mail_draft").next().unwrap().to_owned(),
            );
            drafts.push(line(&made, "draft").to_owned());
        }
        let draft = &drafts[0];
        // The draft's earlier ids stay valid.
        let read = session.json("mail_read", json!({"ids": draft, "body": "none"})).await;
        let message = read["messages"][0]["id"].clone();
        let edit = json!({"mode": "edit", "id": draft, "body": "No."});
        let edited = session.ok("mail_draft", edit).await;
        life.push(format!(
            "{} {}",
            line(&edited, "quote").contains(" characters, "),
            line(&edited, "text")
        ));
        life.push(edited[1].clone().replace(draft, "d"));
        for id in [&json!(draft), &message] {
            let read = session.ok("mail_read", json!({"ids": id, "quoted": true})).await;
            life.push(read[1].lines().find(|line| line.starts_with("No.")).unwrap().to_owned());
        }
        let error = session.error("mail_draft", reply("reply", &json!(drafts[1]))).await;
        life.push(error.replace(&drafts[1], "d"));
        // Undo, and undo of the undo.
        let undo = json!({"undo": line(&edited, "undo")});
        let undone = session.ok("mail_modify", undo.clone()).await;
        life.push(line(&undone, "text").to_owned());
        let more = json!({"mode": "edit", "id": draft, "body": "And no.", "append": true});
        let more = session.ok("mail_draft", more).await;
        life.push(format!("{} {}", line(&more, "text"), more[1].replace(draft, "d")));
        session.ok("mail_modify", json!({"undo": line(&more, "undo")})).await;
        let twice = session.error("mail_modify", undo).await;
        life.push(twice.replace(draft, "d"));
        let discarded = session.ok("mail_draft", json!({"mode": "discard", "id": draft})).await;
        let thread = json!({"ids": row["thread"], "body": "none"});
        let shown = session.ok("mail_read", thread.clone()).await;
        let filed = json!({"ids": row["thread"], "do": "archive"});
        let filed = session.ok("mail_modify", filed).await;
        let saved = session.ok("mail_attachment", json!({"ids": row["thread"]})).await;
        for blocks in [shown, filed, saved] {
            let notes = blocks.last().unwrap().split(": in:").next().unwrap();
            life.push(notes.replace(row["thread"].as_str().unwrap(), "t"));
        }
        session.ok("mail_modify", json!({"undo": line(&discarded, "undo")})).await;
        session.ok("mail_draft", json!({"mode": "edit", "id": draft, "subject": "Back"})).await;
        session.ok("mail_draft", json!({"mode": "discard", "id": draft})).await;
        session.ok("mail_modify", json!({"ids": draft, "do": "restore"})).await;
        let found = json!({"q": "in:drafts subject:Back", "account": account});
        let found = session.json("mail_search", found).await;
        life.push(found["messages"].as_array().unwrap().len().to_string());
        // The handle of a sent draft reads the sent message.
        session.ok("mail_send", json!({"id": drafts[1]})).await;
        let read = session.json("mail_read", json!({"ids": drafts[1]})).await;
        life.push(read["messages"][0]["subject"].as_str().unwrap().to_owned());
        let edit = json!({"mode": "edit", "id": drafts[1], "body": "No."});
        let error = session.error("mail_draft", edit).await;
        let sent = read["messages"][0]["id"].as_str().unwrap();
        life.push(error.replace(&drafts[1], "d").replace(sent, "m"));
        // Outlook's text of HTML has an additional empty line.
        lives.push(life.join("\n").replace("--\\n\\n", "--\\n").replace("17 char", "16 char"));
    }
    assert_eq!(lives[0], lives[1]);
    assert_eq!(
        lives[0],
        "Mira L.\nyes true \"Yes.\\n\\n--\\nMira L.\"\n\
         nothing was sent; mail_send id=d1 sends it\n\
         yes true \"Yes.\\n\\n--\\nMira L.\"\nthis thread already had a draft\n\
         true \"No.\\n\\n--\\nMira L.\"\n\
         replaced: the earlier text (16 characters)\nnothing was sent; mail_send id=d sends it\n\
         No.\nNo.\n\
         d is a draft: change it with mode=edit, or reply to a message that was sent\n\
         \"Yes.\\n\\n--\\nMira L.\"\n\
         \"Yes.\\n\\nAnd no.\\n\\n--\\nMira L.\" nothing was sent; mail_send id=d sends it\n\
         d was changed since: undo the later edit first, or edit it with mail_draft\n\
         messages: 3\nt: 1 more of them in trash or spam\n\
         t: 1 more of them in trash or spam\n\
         attachments: 1\nt: 1 more of them in trash or spam\n1\n\
         Re: Quote 2211, boxes for Vesper\nd was sent as m: write a new draft, or reply to it"
    );
}

#[tokio::test]
async fn drafts_show_their_sender_blind_copies_and_lasting_id() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        let draft = json!({"to": "pat@example.com", "bcc": "b@example.com", "subject": "Blind",
            "body": "Hello.", "account": account});
        let draft = line(&session.ok("mail_draft", draft).await, "draft").to_owned();
        // At Gmail, editing a draft changes the id of its message.
        session.ok("mail_draft", json!({"mode": "edit", "id": draft, "body": "Bye."})).await;
        let listed = json!({"q": "in:drafts subject:Blind", "account": account});
        let listed = session.json("mail_search", listed).await["messages"][0].clone();
        let read = session.json("mail_read", json!({"ids": draft})).await["messages"][0].clone();
        for row in [&listed, &read] {
            assert_eq!(row["draft"], draft, "{account}");
            assert!(row["from"].as_str().unwrap().contains(ME), "{account}: {row}");
        }
        assert_eq!(read["bcc"], "b@example.com", "{account}");
        assert_eq!(read["id"], listed["id"], "{account}");
    }
}

/// Provider-defined folders exist even if they are empty.
#[tokio::test]
async fn empty_folders_are_listed() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        let all = json!({"q": "in:spam", "account": account, "do": "move", "to": "inbox"});
        session.ok("mail_modify", all).await;
        let spam = json!({"kind": "folders", "q": "spam", "account": account});
        let row = session.json("lookup", spam).await["folders"][0].clone();
        assert_eq!([&row["name"], &row["total"]], [&json!("spam"), &json!(0)], "{account}");
    }
}

/// A completed flag is not a star, and its message is not unflagged either.
#[tokio::test]
async fn flags_that_are_done_are_shown() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    let found = json!({"q": "in:inbox", "limit": 1, "account": MICROSOFT});
    let found = session.json("mail_search", found).await["messages"][0]["id"].clone();
    for (verb, expected) in [("star", [true, false]), ("done", [false, true])] {
        session.ok("mail_modify", json!({"ids": found, "do": verb})).await;
        for (tool, arguments, rows) in cases! {
            "mail_search", json!({"q": "in:inbox", "account": MICROSOFT}), "messages";
            "mail_search", json!({"q": "in:inbox", "account": MICROSOFT, "by": "thread"}), "threads";
            "mail_read", json!({"ids": found}), "messages";
        } {
            let row = session.json(tool, arguments).await[rows][0].clone();
            let flags = row["flags"].to_string();
            let shown = ["starred", "done"].map(|word| flags.contains(word));
            assert_eq!(shown, expected, "{tool}: {row}");
        }
    }
}

#[tokio::test]
async fn levels_created_with_a_folder_are_named_and_deleted_with_it() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        let folder = |op: &str, name: &str| {
            let key = if op == "create" { "name" } else { "id" };
            json!({"kind": "folder", "op": op, key: name, "account": account})
        };
        let made = session.ok("manage", folder("create", "2026/Taxes/Receipts")).await;
        assert_eq!(made[1], "created above it: `2026`, `2026/Taxes`", "{account}");
        session.ok("manage", folder("create", "2026/Rent")).await;
        let deleted = session.ok("manage", folder("delete", "2026/Taxes/Receipts")).await;
        // The parent folder has another subfolder, so it stays.
        let goes = if account == GOOGLE { "deleted" } else { "moved to Deleted Items" };
        let empty = format!("also {goes}, as created with it and empty: `2026/Taxes`");
        assert_eq!(deleted[1], empty, "{account}");

        let found = json!({"q": "in:inbox", "limit": 1, "account": account});
        let found = session.json("mail_search", found).await["messages"][0]["id"].clone();
        let to = json!({"ids": found, "do": "move", "to": "2027/Receipts", "create": true});
        let moved = session.ok("mail_modify", to).await;
        let created = format!("{account}: created `2027/Receipts`, and above it `2027`");
        assert!(moved[1].contains(&created), "{moved:?}");
        let kind = if account == GOOGLE { "label" } else { "folder" };
        let undo = json!({"undo": line(&moved, "undo")});
        let undone = session.ok("mail_modify", undo).await.join("\n");
        let stay = format!(
            "`2027/Receipts`, `2027` were created by the change and stay: manage kind={kind} \
             op=delete id=`2027/Receipts` deletes them while they are empty"
        );
        assert!(undone.contains(&stay), "{undone}");
        let error = session.error("manage", folder("create", "2027")).await;
        assert!(error.starts_with("2027 already exists"), "{error}");
    }
}

#[tokio::test]
async fn rule_creates_its_label_and_runs_over_existing_mail() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    // Rules that hide mail are refused once untrusted text was shown, so this comes first.
    for account in [GOOGLE, MICROSOFT] {
        let set = json!({"when": "from:jonas", "then": "move:Nowhere"});
        let rule = json!({"kind": "rule", "op": "create", "set": set, "account": account});
        let error = session.error("manage", rule).await;
        assert!(error.ends_with("; create=true in `set` creates it"), "{account}: {error}");
    }
    for account in [GOOGLE, MICROSOFT] {
        let rule = |set: Value, dry_run: bool| {
            json!({"kind": "rule", "op": "create", "set": set, "account": account,
                   "dry_run": dry_run})
        };
        // The sandbox's mailboxes share their labels.
        let label = account.split(':').next().unwrap();
        let then = format!("label:{label}");
        let set = json!({"when": "from:jonas", "then": &then, "create": true, "run": "all"});
        let planned = session.ok("manage", rule(set.clone(), true)).await.join("\n");
        assert!(planned.contains(&format!("`{label}` would be created")), "{account}: {planned}");
        let made = session.ok("manage", rule(set, false)).await.join("\n");
        assert!(made.contains(&format!("\ncreated `{label}`\n")), "{account}: {made}");
        assert!(made.contains("all mail except sent mail, drafts, spam and trash"), "{made}");
        let all = |q: &str| json!({"q": q, "account": account, "limit": 100});
        let from = session.json("mail_search", all("from:jonas -in:sent -in:drafts")).await;
        let labelled = session.json("mail_search", all(&then)).await;
        let ids = |found: &Value| column(found, "messages", "id");
        assert!(!ids(&labelled).is_empty(), "{account}");
        assert_eq!(ids(&from), ids(&labelled), "{account}");
    }
}

#[tokio::test]
async fn messages_of_a_deleted_folder_go_where_the_call_says() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        let found = json!({"q": "in:inbox", "limit": 2, "account": account});
        let found = column(&session.json("mail_search", found).await, "messages", "id");
        let to = json!({"ids": found, "do": "move", "to": "Old", "create": true});
        session.ok("mail_modify", to).await;
        let delete = |dry_run: bool| {
            json!({"kind": "folder", "op": "delete", "id": "Old", "account": account,
                   "set": {"messages": "inbox"}, "dry_run": dry_run})
        };
        let planned = session.ok("manage", delete(true)).await;
        assert!(planned[0].starts_with("planned: 2\n"), "{account}: {planned:?}");
        let deleted = session.ok("manage", delete(false)).await;
        assert!(deleted[0].starts_with("done: 2\n"), "{account}: {deleted:?}");
        assert!(deleted[0].contains("Old\tdelete\tdone\t"), "{account}: {deleted:?}");
        for id in found {
            let read = json!({"q": "in:inbox", "limit": 100, "account": account});
            let inbox = column(&session.json("mail_search", read).await, "messages", "id");
            assert!(inbox.contains(&id), "{account}: {id}");
        }
    }
}

#[tokio::test]
async fn automatic_replies_keep_their_paragraphs() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        let reply = json!({"kind": "auto_reply", "op": "update", "account": account,
            "set": {"from": "2036-03-04", "to": "2036-03-06", "text": "Hello,\n\nI am away.",
                    "audience": "organization"}});
        let set = session.ok("manage", reply).await;
        assert!(set[0].contains("Hello, ¶ I am away."), "{account}: {set:?}");
        assert!(set[1].contains("`to` includes 2036-03-06"), "{account}: {set:?}");
    }
}

/// Returns rows, outcomes and notes of an event's write, without the parts that are always the
/// same.
fn event_answer(blocks: &[String]) -> String {
    let lines = blocks.iter().flat_map(|block| block.lines());
    let lines = lines.filter(|line| !line.starts_with("zone:") && !line.ends_with("}:"));
    let row = |line: &str| line.trim().split('\t').take(4).collect::<Vec<_>>().join(" ");
    lines.map(row).collect::<Vec<_>>().join("\n")
}

/// Returns the same without the rows of occurrences, whose numbers differ for a series that was
/// created again.
fn series_answer(blocks: &[String]) -> String {
    let is_occurrence = |line: &&str| line.split('\t').count() == 3;
    let without = |block: &String| {
        block.lines().filter(|line| !is_occurrence(line)).collect::<Vec<_>>().join("\n")
    };
    event_answer(&blocks.iter().map(without).collect::<Vec<_>>())
}

/// Returns the arguments of a change of a series.
fn series(id: &str, scope: &str, change: Value) -> Value {
    json!({"id": id, "scope": scope, "events": [change]})
}

#[tokio::test]
async fn ids_of_occurrences_follow_their_series() {
    let weekly = json!({"title": "Weekly", "start": "2036-02-05 09h00",
        "repeats": "FREQ=WEEKLY;COUNT=4"});
    let mut lives = Vec::new();
    for account in [GOOGLE, MICROSOFT] {
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
        let mut life = Vec::new();
        let calls = [
            json!({"account": account, "events": [weekly], "if_conflict": "ignore"}),
            series("e1", "series", json!({"start": "2036-02-06 11h00"})),
            series("e3", "this", json!({"title": "Special"})),
            series("e4", "following", json!({"where": "Room 9"})),
            series("e5", "this", json!({"title": "Last"})),
            series("e1", "series", json!({"repeats": "FREQ=MONTHLY;COUNT=2"})),
        ];
        for call in calls {
            life.push(event_answer(&session.ok("calendar_save", call).await));
        }
        let gone = series("e3", "this", json!({"title": "Gone"}));
        // Google keeps a deleted occurrence as cancelled; Outlook removes it.
        let error = session.error("calendar_save", gone).await;
        life.push(error.split(':').next().unwrap().replace("cancelled", "deleted"));
        lives.push(life.join("\n"));
    }
    assert_eq!(lives[0], lives[1]);
    assert_eq!(
        lives[0],
        "undo: u1\n\
         e1 Tue 2036-02-05 09h00 10h00 Weekly\n\
         e2 Tue 2036-02-05 09h00 10h00\n\
         e3 Tue 2036-02-12 09h00 10h00\n\
         e4 Tue 2036-02-19 09h00 10h00\n\
         e5 Tue 2036-02-26 09h00 10h00\n\
         undo: u2\n\
         e1 Wed 2036-02-06 11h00 12h00 Weekly\n\
         e2 Wed 2036-02-06 11h00 12h00\n\
         e3 Wed 2036-02-13 11h00 12h00\n\
         e4 Wed 2036-02-20 11h00 12h00\n\
         e5 Wed 2036-02-27 11h00 12h00\n\
         undo: u3\n\
         e3 Wed 2036-02-13 11h00 12h00 Special\n\
         e6 Wed 2036-02-20 11h00 12h00 Weekly\n\
         e1 Wed 2036-02-06 11h00 12h00 Weekly\n\
         e4 Wed 2036-02-20 11h00 12h00\n\
         e5 Wed 2036-02-27 11h00 12h00\n\
         no undo: occurrences that differ from their series cannot be restored\n\
         the series was split: e1 has the earlier part, the first row the later\n\
         undo: u4\n\
         e5 Wed 2036-02-27 11h00 12h00 Last\n\
         e1 Wed 2036-02-06 11h00 12h00 Weekly\n\
         e2 Wed 2036-02-06 11h00 12h00\n\
         e7 Thu 2036-03-06 11h00 12h00\n\
         an occurrence changed individually follows the rule again: Wed 2036-02-13 11h00\n\
         no undo: occurrences that differ from their series cannot be restored\n\
         no longer occurrences of the series: e3\n\
         e3 was deleted"
    );
}

#[tokio::test]
async fn descriptions_of_online_meetings_are_copied_without_joining_details() {
    let weekly = json!({"title": "Weekly", "start": "2036-02-05 09h00", "online": true,
        "repeats": "FREQ=WEEKLY;COUNT=3", "notes": "Agenda"});
    let mut lives = Vec::new();
    for account in [GOOGLE, MICROSOFT] {
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
        let create = json!({"account": account, "events": [weekly], "if_conflict": "ignore"});
        session.ok("calendar_save", create).await;
        let notes = async |session: &mut Session| {
            let found = json!({"ids": ["e3"], "fields": ["notes", "link"]});
            let rows = session.json("calendar_search", found).await;
            let cell = |name| column(&rows, "events", name).remove(0);
            (cell("notes"), cell("link"))
        };
        let (shown, link) = notes(&mut session).await;
        session.ok("calendar_save", series("e3", "following", json!({"title": "New"}))).await;
        let (copied, other) = notes(&mut session).await;
        assert_eq!(shown, copied);
        assert_ne!(link, other, "the new series has a meeting of its own");
        // The notes as a reader sees them, with a line added.
        let edit = json!({"notes": format!("{shown}\nBring ink")});
        session.ok("calendar_save", series("e3", "series", edit)).await;
        let (edited, _) = notes(&mut session).await;
        lives.push([copied, edited].map(|notes| notes.replace(" Join the meeting now", "")));
    }
    assert_eq!(lives[0], lives[1]);
    assert_eq!(lives[0], ["Agenda", "Agenda Bring ink"]);
}

#[tokio::test]
async fn clashes_show_what_decides_which_event_gives_way() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, SandboxUser::Usual).await;
    const WORK: &str = "mira@lindqvist-lamps.example";
    let review = json!({"title": "Review", "start": "2036-02-05 09h00", "duration": "2h",
        "people": [ME, "yusuf@lindqvist-lamps.example"]});
    let create = json!({"account": WORK, "events": [review], "notify": "all"});
    session.ok("calendar_save", create).await;
    let dentist = json!({"title": "Dentist", "start": "2036-02-05 10h00"});
    // Events this long outside the main calendar are mentioned but not counted as clashes.
    let firing = json!({"title": "Firing", "start": "2036-02-05 07h00", "duration": "12h"});
    let create = json!({"account": ME, "calendar": "Family", "events": [dentist, firing]});
    session.ok("calendar_save", create).await;
    let mut tables = Vec::new();
    for account in ["all", ME, WORK] {
        let mut call = json!({"q": "is:clash", "from": "2036-02-05", "to": "2036-02-05"});
        if account != "all" {
            call["account"] = account.into();
            call["fields"] = json!(["people"]);
        }
        let blocks = session.ok("calendar_search", call).await;
        let table = blocks[0].split_once('\n').map_or("", |(_, table)| table.trim());
        tables.push(table.replace('\t', "|"));
        let notes = ["clashes: ", "`fields`", "at the same time"];
        let is_note = |line: &&str| notes.iter().any(|note| line.starts_with(note));
        tables.extend(blocks[1].lines().filter(is_note).map(str::to_owned));
    }
    let note =
        "`fields` and `detail` do not apply to q=is:clash: calendar_search ids=ID shows more";
    let beside = "at the same time, but not counted: e4 `Firing` Tue 2036-02-05 07h00 to 19h00";
    assert_eq!(
        tables,
        [
            "clashes[1|]{id|start|end|title|with|guests|movable|calendar|account}:\n  \
             e1|Tue 2036-02-05 09h00|11h00|Review|e3 10h00 to 11h00 `Dentist` (movable, Family of \
             mira@example.com)|2|true|main|mira@lindqvist-lamps.example",
            "clashes: 1 in 2 events of yours, by start, Tue 2036-02-05",
            beside,
            // The clash as a guest sees it.
            "clashes[1|]{id|start|end|title|with|guests|movable|calendar}:\n  \
             e2|Tue 2036-02-05 09h00|11h00|Review|e3 10h00 to 11h00 `Dentist` (movable, Family)|1|false|main",
            "clashes: 1 in 2 events of yours, by start, Tue 2036-02-05",
            note,
            beside,
            "",
            "clashes: 0 in 1 event of yours, by start, Tue 2036-02-05",
            note,
        ]
    );
}

#[tokio::test]
async fn absences_are_noted_by_saving_and_by_searching_for_clashes() {
    let (leave, fair) = ("2036-02-05", "2036-02-06");
    let event = |title: &str, day: &str, more: Value| {
        crate::reach::with(json!({"title": title, "start": day}), more)
    };
    let away = [
        event("Leave", leave, json!({"show": "oof"})),
        event("Fair", fair, json!({"show": "elsewhere"})),
    ];
    let meetings = [leave, fair].map(|day| event("Review", &format!("{day} 10h00"), json!({})));
    for who in [&[("google", ME)], &[("microsoft", ME)]] {
        let mut session =
            Session::signed_in(TempDir::new().unwrap(), None, SandboxUser::These(who)).await;
        session.ok("calendar_save", json!({"events": away})).await;
        let saved = session.ok("calendar_save", json!({"events": meetings})).await.remove(1);
        let clashes = json!({"q": "is:clash", "from": leave, "to": fair});
        let found = session.ok("calendar_search", clashes).await.remove(1);
        let found = found.lines().find(|line| line.contains("away")).unwrap();
        assert_eq!(saved.trim(), found);
        // Google's absences run from midnight to midnight.
        let (next, last) = (" 00h00 to Wed 2036-02-06 00h00", " 00h00 to Thu 2036-02-07 00h00");
        assert_eq!(
            found.replace(next, "").replace(last, ""),
            "you are away then, which is no clash: e1 `Leave` Tue 2036-02-05: oof; e2 `Fair` Wed \
             2036-02-06: elsewhere"
        );
    }
}

#[tokio::test]
async fn absence_that_is_saved_lists_the_events_in_it() {
    let day = "2036-02-05";
    let meetings = [
        json!({"title": "Alone", "start": format!("{day} 09h00")}),
        json!({"title": "Meeting", "start": format!("{day} 15h00"),
               "people": ["me", "bo@example.com", "cy@example.com"]}),
        json!({"title": "Free", "start": format!("{day} 11h00"), "show": "free"}),
    ];
    for who in [&[("google", ME)], &[("microsoft", ME)]] {
        let mut session =
            Session::signed_in(TempDir::new().unwrap(), None, SandboxUser::These(who)).await;
        let create = json!({"events": meetings, "notify": "all"});
        let notes = session.ok("calendar_save", create).await.remove(1);
        let me = "Meeting`: `me` was left out of the guests: you are the organizer";
        assert!(notes.contains(me), "{notes}");
        let leave = json!({"events": [{"title": "Leave", "start": day, "show": "oof"}]});
        let saved = session.ok("calendar_save", leave).await.remove(1);
        let line = saved.lines().find(|line| line.starts_with("during")).unwrap();
        assert_eq!(
            line,
            "during this absence you have: e1 `Alone` Tue 2036-02-05 09h00 to 10h00; e3 `Meeting` \
             Tue 2036-02-05 15h00 to 16h00, with `bo@example.com` and 1 more"
        );
    }
}

#[tokio::test]
async fn answer_that_nobody_was_sent_is_undone() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, SandboxUser::Usual).await;
    const WORK: &str = "mira@lindqvist-lamps.example";
    let meeting = json!({"title": "Meeting", "start": "2036-02-05 09h00", "people": [ME]});
    let create = json!({"account": WORK, "events": [meeting], "notify": "all"});
    session.ok("calendar_save", create).await;
    let found = json!({"account": ME, "from": "2036-02-05", "to": "2036-02-05"});
    let rows = session.json("calendar_search", found).await;
    let id = column(&rows, "events", "id").remove(0);
    let answer = |response: &str, more: Value| {
        let mut call = json!({"id": id, "response": response});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("calendar_respond", call)
    };
    let calls = [
        answer("tentative", json!({"comment": "Perhaps late"})),
        answer("accept", json!({"comment": "On time"})),
        answer("decline", json!({"notify": "none"})),
        ("calendar_save", json!({"undo": "u1"})),
    ];
    let mut life = Vec::new();
    for (tool, call) in calls {
        let blocks = session.ok(tool, call).await;
        let row = blocks[0].lines().find(|line| line.starts_with("  e")).unwrap();
        life.push(row.split('\t').nth(6).unwrap().to_owned());
        life.extend(blocks.get(1).map(|notes| notes.trim().to_owned()));
    }
    assert_eq!(
        life.join("\n"),
        "me~\n\
         the organizer was sent the answer and the comment; to change it, answer again\n\
         me+\n\
         your earlier comment was replaced: `Perhaps late`\n\
         the organizer was sent the answer and the comment; to change it, answer again\n\
         me-\n\
         your earlier comment stays: `On time`; another `comment` replaces it\n\
         the organizer was not notified\n\
         me+"
    );
}

#[tokio::test]
async fn writes_to_events_are_undone_alike() {
    let day = "2036-02-05";
    let plain = json!({"title": "Plain", "start": format!("{day} 10h00"), "notes": "Bring it.",
        "where": "Room 3", "reminder": "5", "tz": "America/New_York", "duration": "90m"});
    let other = json!({"title": "Other", "start": "2036-02-06", "end": "2036-02-06", "notes": "", "where": "",
        "reminder": "none", "show": "free", "visibility": "private"});
    let weekly = json!({"title": "Weekly", "start": format!("{day} 09h00"), "repeats": "FREQ=WEEKLY;COUNT=5"});
    let guest = json!({"title": "Meeting", "start": format!("{day} 15h00"),
        "people": ["bo@example.com"]});
    let mut lives = Vec::new();
    for account in [GOOGLE, MICROSOFT] {
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
        let create = |event: &Value| json!({"account": account, "events": [event], "notify": "all", "if_conflict": "ignore"});
        let details = json!({"ids": "e1", "fields": ["notes", "show", "visibility", "reminder",
            "zone", "uid"]});
        let undo = |id: u8| json!({"undo": format!("u{id}")});
        let mut life = Vec::new();
        session.ok("calendar_save", create(&plain)).await;
        let before = session.json("calendar_search", details.clone()).await;
        let calls = [
            ("calendar_save", json!({"id": "e1", "events": [other]})),
            ("calendar_save", json!({"undo": "u2", "dry_run": true})),
            ("mail_modify", undo(2)),
            ("calendar_save", undo(2)),
            // The undo is undone, and then that undo.
            ("calendar_save", undo(3)),
            ("calendar_save", undo(4)),
            ("calendar_delete", json!({"id": "e1"})),
            ("calendar_save", undo(6)),
            ("calendar_save", undo(6)),
            // Earlier writes to a restored event can still be undone.
            ("calendar_save", undo(3)),
            ("calendar_save", undo(2)),
        ];
        for (tool, call) in calls {
            life.push(series_answer(&session.ok(tool, call).await));
        }
        let after = session.json("calendar_search", details).await;
        let cells = |found: &Value| {
            let mut row = found["events"][0].clone();
            // A re-created event has a new UID and id.
            row["uid"].take();
            row["provider_id"].take();
            row.to_string()
        };
        assert_eq!(cells(&after), cells(&before));
        let calls = [
            ("calendar_save", undo(1)),
            ("calendar_save", undo(1)),
            ("calendar_save", undo(2)),
            ("calendar_save", create(&guest)),
            ("calendar_save", create(&weekly)),
            ("calendar_delete", json!({"id": "e3", "scope": "series"})),
            ("calendar_save", undo(12)),
        ];
        for (tool, call) in calls {
            life.push(series_answer(&session.ok(tool, call).await));
        }
        let found = json!({"account": account, "from": day, "to": "2036-03-15", "q": "Weekly",
            "fields": ["start", "title"]});
        let rows = session.json("calendar_search", found.clone()).await;
        let occurrences = column(&rows, "events", "id");
        let calls = [
            ("calendar_delete", json!({"id": occurrences[3], "scope": "following"})),
            ("calendar_save", series("e3", "series", json!({"start": "11h00"}))),
            ("calendar_save", series(&occurrences[2], "following", json!({"title": "Later"}))),
            ("calendar_save", series(&occurrences[2], "this", json!({"title": "Once"}))),
            ("calendar_delete", json!({"id": occurrences[1], "scope": "this"})),
            ("calendar_save", series("e3", "series", json!({"title": "Renamed", "end": "10h30"}))),
        ];
        for (tool, call) in calls {
            let written = session.ok(tool, call).await;
            life.push(series_answer(&written));
            if !line(&written, "undo").is_empty() {
                let undo = json!({"undo": line(&written, "undo")});
                life.push(series_answer(&session.ok("calendar_save", undo).await));
            }
        }
        // The series has changed since it was created.
        life.push(series_answer(&session.ok("calendar_save", undo(11)).await));
        let rows = session.json("calendar_search", found).await;
        life.push(column(&rows, "events", "start").join(", "));
        lives.push(life.join("\n"));
    }
    let [google, microsoft] = [0, 1].map(|at| lives[at].lines().collect::<Vec<_>>());
    let differ = |these: &[&str], those: &[&str]| {
        let not_there = these.iter().filter(|line| !those.contains(line));
        not_there.map(|line| (*line).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        lives[0],
        "undo: u2\n\
         e1 Wed 2036-02-06 2036-02-06 Other\n\
         e1 Other undo planned back to Tue 2036-02-05 16h00 to 17h30 Plain\n\
         dry run: nothing was written\n\
         undo: u3\n\
         e1 Tue 2036-02-05 16h00 = 10h00 New York 17h30 Plain\n\
         e1 undo unchanged already as it was\n\
         undo: u4\n\
         e1 Wed 2036-02-06 2036-02-06 Other\n\
         undo: u5\n\
         e1 Tue 2036-02-05 16h00 = 10h00 New York 17h30 Plain\n\
         undo: u6\n\
         e1 Plain delete done Tue 2036-02-05 16h00 to 17h30\n\
         calendar_save undo=u6 undoes it\n\
         undo: u7\n\
         e1 Tue 2036-02-05 16h00 = 10h00 New York 17h30 Plain\n\
         e1 undo unchanged it is there\n\
         undo: u8\n\
         e1 Wed 2036-02-06 2036-02-06 Other\n\
         undo: u9\n\
         e1 Tue 2036-02-05 16h00 = 10h00 New York 17h30 Plain\n\
         undo: u10\n\
         e1 Plain undo done deleted\n\
         e1 undo unchanged already deleted\n\
         e1 undo skipped \"deleted since: undo that first\"\n\
         e2 Tue 2036-02-05 15h00 16h00 Meeting\n\
         notified, so no undo: bo@example.com\n\
         undo: u11\n\
         e3 Tue 2036-02-05 09h00 10h00 Weekly\n\
         undo: u12\n\
         e3 Weekly delete done the whole series\n\
         calendar_save undo=u12 undoes it\n\
         undo: u13\n\
         e3 Tue 2036-02-05 09h00 10h00 Weekly\n\
         undo: u14\n\
         e3 Weekly delete done from Tue 2036-02-26 09h00 on\n\
         calendar_save undo=u14 undoes it\n\
         undo: u15\n\
         e3 Tue 2036-02-05 09h00 10h00 Weekly\n\
         undo: u16\n\
         e3 Tue 2036-02-05 11h00 12h00 Weekly\n\
         start: 11h00 = Tue 2036-02-05 11h00 Europe/Berlin\n\
         undo: u17\n\
         e3 Tue 2036-02-05 09h00 10h00 Weekly\n\
         undo: u18\n\
         e9 Tue 2036-02-19 09h00 10h00 Later\n\
         e3 Tue 2036-02-05 09h00 10h00 Weekly\n\
         the series was split: e3 has the earlier part, the first row the later\n\
         undo: u19\n\
         e3 Tue 2036-02-05 09h00 10h00 Weekly\n\
         e9 Later undo done deleted\n\
         undo: u20\n\
         e6 Tue 2036-02-19 09h00 10h00 Once\n\
         undo: u21\n\
         e6 Tue 2036-02-19 09h00 10h00 Weekly\n\
         undo: u22\n\
         e5 Weekly delete done the occurrence Tue 2036-02-12 09h00 to 10h00\n\
         calendar_save undo=u22 undoes it\n\
         undo: u23\n\
         e5 Tue 2036-02-12 09h00 10h00 Weekly\n\
         e3 Tue 2036-02-05 09h00 10h30 Renamed\n\
         2 occurrences changed individually follow the rule again: Tue 2036-02-12 09h00, Tue 2036-02-19 09h00\n\
         no undo: occurrences that differ from their series cannot be restored\n\
         e3 undo skipped \"changed since: left as it is\"\n\
         Tue 2036-02-12 09h00, Tue 2036-02-19 09h00"
    );
    assert_eq!(
        differ(&google, &microsoft),
        [
            "e9 Tue 2036-02-19 09h00 10h00 Later",
            "e9 Later undo done deleted",
            "e6 Tue 2036-02-19 09h00 10h00 Once",
            "e6 Tue 2036-02-19 09h00 10h00 Weekly",
            "undo: u22",
            "e5 Weekly delete done the occurrence Tue 2036-02-12 09h00 to 10h00",
            "calendar_save undo=u22 undoes it",
            "undo: u23",
            "e5 Tue 2036-02-12 09h00 10h00 Weekly",
            "2 occurrences changed individually follow the rule again: Tue 2036-02-12 09h00, \
             Tue 2036-02-19 09h00",
            "Tue 2036-02-12 09h00, Tue 2036-02-19 09h00",
        ]
    );
    assert_eq!(
        differ(&microsoft, &google),
        [
            "e1 was created again: links to it are new",
            "e3 was created again: links to it, and ids of its occurrences, are new",
            "e14 Tue 2036-02-19 09h00 10h00 Later",
            "e14 Later undo done deleted",
            "e11 Tue 2036-02-19 09h00 10h00 Once",
            "e11 Tue 2036-02-19 09h00 10h00 Weekly",
            "e10 Weekly delete done the occurrence Tue 2036-02-12 09h00 to 10h00",
            "no undo: Outlook cannot restore a deleted occurrence",
            "an occurrence changed individually follows the rule again: Tue 2036-02-19 09h00",
            "cancelled stays cancelled: Tue 2036-02-12 09h00",
            "Tue 2036-02-19 09h00",
        ]
    );
}

/// If several names were searched, a row says which one it matches.
#[tokio::test]
async fn several_names_are_looked_up_at_once() {
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, BOTH).await;
    for account in [GOOGLE, MICROSOFT] {
        for names in [
            json!({"emails": ["Priya", "tomasz@example.com", "Nobody"]}),
            json!({"q": "Priya, tomasz@example.com; Nobody"}),
        ] {
            let mut call = names;
            call["kind"] = "contacts".into();
            call["account"] = account.into();
            let found = session.json("lookup", call.clone()).await;
            let rows = column(&found, "contacts", "asked").into_iter();
            let rows: Vec<_> = rows.zip(column(&found, "contacts", "emails")).collect();
            let row = |name: &str, email: &str| (name.to_owned(), email.to_owned());
            let expected = [
                row("Priya", "priya@example.com"),
                row("tomasz@example.com", "tomasz@example.com"),
            ];
            assert_eq!(rows, expected, "{account}");
            let notes = session.ok("lookup", call).await.remove(1);
            assert!(notes.ends_with("Nobody: nobody matches Nobody"), "{notes}");
        }
    }
}

/// A name in place of an address is refused with the contacts it may mean.
#[tokio::test]
async fn names_in_place_of_addresses_suggest_contacts() {
    let priya = "give an address; did you mean `Priya Raman` `priya@example.com`?";
    for provider in ["google", "microsoft"] {
        let who: &'static [(&str, &str)] = match provider {
            "google" => &[("google", ME)],
            _ => &[("microsoft", ME)],
        };
        let mut session = Session::written(SandboxUser::These(who)).await;
        let event =
            |people: &str| json!({"title": "T", "start": "2026-11-20 10h00", "people": [people]});
        for (tool, call, refused) in [
            (
                "mail_draft",
                json!({"to": ["Raman"], "subject": "S", "body": "B"}),
                "`to` `Raman`: `Raman` is not an address",
            ),
            // A name that is spelled slightly differently.
            (
                "mail_draft",
                json!({"to": [ME], "cc": ["Pria Raman"], "subject": "S", "body": "B"}),
                "`cc` `Pria Raman`: `Pria Raman` is not an address",
            ),
            ("calendar_free", json!({"who": ["raman"]}), "`raman` is not an address"),
            (
                "calendar_save",
                json!({"notify": "none", "events": [event(ME), event("Raman")]}),
                "nothing was written: item 2 T: `people` `Raman`: `Raman` is not an address",
            ),
        ] {
            let error = session.error(tool, call).await;
            assert_eq!(error, format!("{refused}: {priya}"), "{provider}");
        }
        // One correction covers several names.
        let both = "give addresses; did you mean `Priya Raman` `priya@example.com` for `Raman`; \
                    `Tomasz Wilk` `tomasz@example.com` for `Wilk`?";
        for (tool, call, refused) in [
            (
                "mail_draft",
                json!({"to": ["Raman", ME], "cc": ["Wilk"], "subject": "S", "body": "B"}),
                "`Raman`, `Wilk` are not addresses",
            ),
            (
                "calendar_free",
                json!({"who": ["Raman", "Wilk"]}),
                "`Raman`, `Wilk` are not addresses",
            ),
        ] {
            let error = session.error(tool, call).await;
            assert_eq!(error, format!("{refused}: {both}"), "{provider}");
        }
    }
}

#[tokio::test]
async fn time_zone_of_a_mailbox_is_shown_as_it_was_set() {
    let who = SandboxUser::These(&[("microsoft", ME)]);
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, who).await;
    for zone in ["Europe/Lisbon", "Asia/Kolkata", "Europe/Amsterdam"] {
        let call = json!({"op": "update", "kind": "settings", "set": {"time_zone": zone}});
        let answer = session.ok("manage", call).await.join("\n");
        assert!(answer.contains(zone) && !answer.contains("Standard Time"), "{answer}");
    }
}
