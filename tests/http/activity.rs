//! The activity page: every write in words, filters, and subjects on request.

use regex::Regex;
use serde_json::{Value, json};

use crate::browser::{Browser, Page};
use crate::stage::{Stage, person};

/// Lines of an audit log, oldest first: tool, operation, ids, domains, recipients, outcome.
const LINES: &[(&str, &str, &str, &str, usize, &str)] = &[
    ("mail_draft", "new", "", "a.example", 2, "begun"),
    ("mail_draft", "new", "d1", "a.example", 2, "done"),
    ("mail_draft", "reply_all", "", "a.example", 1, "begun"),
    ("mail_draft", "reply_all", "", "a.example", 1, "failed"),
    ("mail_send", "approval", "x1", "", 0, "waiting"),
    ("mail_send", "approval", "x1", "", 0, "approved"),
    ("mail_send", "send", "d1 one@a.example", "a.example", 2, "sending"),
    ("mail_send", "send", "d1 one@a.example", "a.example", 2, "sent"),
    (
        "mail_send",
        "send",
        "d2 two@a.example",
        "a.example b.example c.example d.example",
        5,
        "sending",
    ),
    (
        "mail_send",
        "send",
        "d2 two@a.example",
        "a.example b.example c.example d.example",
        5,
        "scheduled",
    ),
    ("mail_send", "send", "d3 three@a.example", "a.example", 1, "sending"),
    ("mail_send", "send", "d3 three@a.example", "a.example", 1, "unknown"),
    // A later call found it in sent mail.
    ("mail_send", "send", "d3", "", 0, "sent"),
    ("mail_send", "send", "d4 four@a.example", "a.example", 1, "sending"),
    ("mail_send", "send", "d4 four@a.example", "a.example", 1, "refused"),
    ("mail_send", "approval", "x2", "", 0, "waiting"),
    ("mail_send", "approval", "x2", "", 0, "refused"),
    ("mail_send", "approval", "x3", "", 0, "waiting"),
    // Two calls that write at the same time.
    ("mail_modify", "archive", "m1 m2 m3", "", 0, "begun"),
    ("mail_modify", "trash", "m4", "", 0, "begun"),
    ("mail_modify", "trash", "m4", "", 0, "done 1 of 1"),
    ("mail_modify", "archive", "m1 m2 m3", "", 0, "done 2 of 3"),
    ("mail_modify", "unsubscribe", "m5", "lists.example", 1, "begun"),
    ("mail_modify", "unsubscribe", "m5", "lists.example", 1, "unknown"),
    ("mail_modify", "delete", "m6 m7", "", 0, "begun"),
    // The next call reports that this one was interrupted.
    ("mail_modify", "call", "", "", 0, "cut off"),
    ("calendar_save", "create", "", "a.example", 3, "begun"),
    ("calendar_save", "create", "e1", "a.example", 3, "done"),
    ("calendar_respond", "answer", "e2", "", 0, "begun"),
    ("calendar_respond", "answer", "e2", "", 0, "done"),
    ("calendar_delete", "delete", "e3", "", 0, "begun"),
    ("calendar_delete", "delete", "e3", "", 0, "failed"),
    ("manage", "update auto_reply", "", "", 0, "begun"),
    ("manage", "update auto_reply", "", "", 0, "done"),
    ("manage", "create folder", "Taxes", "", 0, "begun"),
    ("manage", "create folder", "Taxes", "", 0, "done"),
    ("mail_modify", "read", "m1", "", 0, "begun"),
    // Of a later version.
    ("calendar_save", "duplicate", "e1", "", 0, "done"),
];

/// The page of these lines.
const ALL: &str = "\
A call to change the calendar
Began to mark a message as read · No outcome recorded
Created a folder
Changed the automatic reply
Did not delete an event · Not done
Answered an invitation
Created an event and informed 3 people at a.example
May have permanently deleted 2 messages · Outcome unknown
May have left the mailing list of a message · Outcome unknown
Moved a message to the trash
Archived 2 of 3 messages · Partly done
You were asked to approve a request to send a message · Not answered
You refused a request to send a message · Refused
Did not send a message to 1 person at a.example · Not done
Sent a message to 1 person at a.example
Scheduled a message to 5 people at a.example, b.example, c.example and 1 more
Sent a message to 2 people at a.example
You approved a request to send a message
Did not draft a reply to 1 person at a.example · Not done
Drafted a message to 2 people at a.example
An entry of the log that cannot be read · Outcome unknown
";

/// Returns the rows of a page, a line each, without their times and accounts.
fn rows(page: &Page) -> String {
    let (_, list) = page.html.split_once("<ol").unwrap_or(("", ""));
    let (list, _) = list.split_once("</ol>").unwrap_or_default();
    let quiet = Regex::new("<time.*?</time>( · ann@example.com)?").unwrap();
    let tags = Regex::new("<[^>]*>").unwrap();
    list.split("<li>")
        .skip(1)
        .map(|row| {
            let row = tags.replace_all(&quiet.replace_all(row, ""), "").into_owned();
            format!("{}\n", html_escape::decode_html_entities(&row))
        })
        .collect()
}

/// Returns a log line with the fields of a row of [`LINES`].
fn line(row: &(&str, &str, &str, &str, usize, &str)) -> Value {
    let (tool, op, ids, domains, recipients, outcome) = row;
    let list = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    json!({
        "time": "2026-11-16T09:00:00Z", "account": "ann@example.com", "tool": tool, "op": op,
        "ids": list(ids), "domains": list(domains), "recipients": recipients, "outcome": outcome,
    })
}

#[tokio::test]
async fn writes_are_shown_in_words() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let store = stage.app.store().for_owner(&person("ann").owner);
    store.append_audit("cut off by a full d").await.unwrap();
    for row in LINES {
        store.append_audit(&line(row).to_string()).await.unwrap();
    }
    let mut ann = Browser::of(&stage, "ann").await;
    let page = ann.get("/accounts/activity").await.is(200);
    assert_eq!(rows(&page), ALL);
    for (query, selected) in [
        ("kind=sent", "Did not send|Sent a|Scheduled"),
        ("kind=approvals", "^You"),
        ("kind=settings&account=ann%40example.com", "folder|automatic"),
        ("state=open&kind=calendar", "delete an event|cannot be read"),
        ("account=bo%40example.com", "^$"),
        ("kind=nonsense&state=", ""),
    ] {
        let page = ann.get(&format!("/accounts/activity?{query}")).await.is(200);
        let selected = Regex::new(selected).unwrap();
        let expected: String = ALL
            .lines()
            .filter(|row| selected.is_match(row))
            .map(|row| format!("{row}\n"))
            .collect();
        assert_eq!(rows(&page), expected, "{query}");
    }
    let mut bo = Browser::of(&stage, "bo").await;
    bo.get("/accounts/activity").await.is(200).says("Nothing has been changed.");
}

/// Pages of rows show each write once, also where lines of several writes are mixed.
#[tokio::test]
async fn older_writes_are_on_further_pages() {
    let stage = Stage::of(&["ann"]).await;
    let store = stage.app.store().for_owner(&person("ann").owner);
    for number in 0..60 {
        for (row, id) in [("begun", number + 1), ("done 1 of 1", number)] {
            let id = format!("m{id}");
            let line = line(&("mail_modify", "star", &id, "", 0, row));
            store.append_audit(&line.to_string()).await.unwrap();
        }
    }
    let mut ann = Browser::of(&stage, "ann").await;
    let mut counts = Vec::new();
    let mut next = Some("/accounts/activity?kind=mail".to_owned());
    let older = Regex::new("href=\"([^\"]*)\">Older").unwrap();
    while let Some(path) = next {
        let page = ann.get(&path).await.is(200);
        let shown = rows(&page);
        counts.push((shown.lines().count(), shown.matches("Began").count()));
        next = older.captures(&page.html).map(|found| found[1].replace("&amp;", "&"));
    }
    // 60 begun writes, and the outcome of one whose first line was deleted.
    assert_eq!(counts, [(25, 1), (25, 0), (11, 0)]);
}

#[tokio::test]
async fn subjects_are_looked_up_on_request() {
    let settings = [("DAYSHEET_NEW_RECIPIENTS", "allow")];
    let stage = Stage::set(&["ann", "bo"], &settings).await;
    let mut call = stage.modern("ann");
    call.capabilities = json!({});
    let draft = json!({"to": ["bo@example.com"], "subject": "A <b>secret</b>", "body": "Hello"});
    let draft = call.ok("mail_draft", draft).await;
    let id = Regex::new(r"\bd\d+\b").unwrap().find(&draft).unwrap().as_str().to_owned();
    call.ok("mail_send", json!({"id": id})).await;
    let event = json!({"title": "Lunch", "start": "2026-11-20 12h00", "end": "2026-11-20 13h00"});
    call.ok("calendar_save", event).await;
    let draft = call.ok("mail_draft", json!({"subject": "Gone", "body": "x"})).await;
    let id = Regex::new(r"\bd\d+\b").unwrap().find(&draft).unwrap().as_str().to_owned();
    call.ok("mail_draft", json!({"id": id, "mode": "discard"})).await;
    let mut ann = Browser::of(&stage, "ann").await;
    let quiet = ann.get("/accounts/activity").await.is(200);
    quiet.omits("secret").omits("Lunch").says("ann@example.com");
    let page = ann.get("/accounts/activity?subjects=shown").await.is(200);
    let expected = "\
        Discarded a draft · Gone\n\
        Drafted a message · Gone\n\
        Created an event · Lunch\n\
        Sent a message to 1 person at example.com · A <b>secret</b>\n\
        Drafted a message to 1 person at example.com · A <b>secret</b>\n";
    assert_eq!(rows(&page), expected);
    page.says("A &lt;b&gt;secret&lt;/b&gt;");
}
