//! `mail_draft` with files on the disk, with many people, and with changes during a call. All else
//! is in `tests/transcripts/drafts.txt` and `tests/transcripts/send.txt`.

mod saved;

use std::cell::Cell;

use daysheet::cli::client::InProcessClient;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet_sandbox::{AnswerAlteration, AnswerObserver, ApiExchange};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ME, Session, column};

/// Delivers a message of Jonas with further header fields, which end with a line break; returns its
/// handle.
async fn asked(session: &mut Session, name: &str, headers: &str, text: &str) -> String {
    let message = format!(
        "From: Jonas Berg <jonas@example.com>\nTo: {ME}\nSubject: {name} lamps\n\
         Message-ID: <{name}@example.com>\n{headers}\n{text}\n"
    );
    assert!(session.sandbox.deliver(ME, message.as_bytes()).unwrap());
    let search = json!({"q": format!("subject:{name}"), "fields": ["subject"], "limit": 1});
    let found = session.json("mail_search", search).await;
    column(&found, "messages", "id").remove(0)
}

/// Returns the header fields of a draft.
async fn headers(session: &mut Session, draft: &str) -> String {
    session.ok("mail_read", json!({"ids": draft, "body": "headers"})).await.join("\n")
}

/// Returns the value of a line `name: value`.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// A reply to a long message is composed on a thread for such work. While all of these threads are
/// busy, other calls are still answered.
#[test]
fn long_quotes_are_written_off_the_event_loop() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        // At Outlook a short draft needs no such thread; for Gmail, it is written as MIME on one.
        let who = SandboxUser::These(&[("microsoft", ME)]);
        let mut session = Session::signed_in(TempDir::new().unwrap(), None, who).await;
        let short = asked(&mut session, "short", "", "Do you have lamps?").await;
        let long = asked(&mut session, "long", "", &"> and so on\n".repeat(20_000)).await;
        let mut other = InProcessClient::connect(session.app.server()).await.unwrap();
        let reply = |id: &str| json!({"mode": "reply", "id": id, "body": "Yes."});
        let (release, taken) = std::sync::mpsc::channel::<()>();
        let occupied = tokio::task::spawn_blocking(move || taken.recv());
        let is_written = Cell::new(false);
        let waiting = async {
            let blocks = session.ok("mail_draft", reply(&long)).await;
            is_written.set(true);
            blocks
        };
        let others = async {
            for _ in 0..3 {
                let answer = other.call("mail_draft", reply(&short)).await.unwrap();
                assert!(!answer.is_error, "{answer:?}");
            }
            let was_written = is_written.get();
            release.send(()).unwrap();
            occupied.await.unwrap().unwrap();
            was_written
        };
        let (blocks, was_written) = futures_util::future::join(waiting, others).await;
        assert!(!was_written);
        let quote = field(&blocks[0], "quote").unwrap();
        let length = quote.trim_start_matches('"').split(' ').next().unwrap();
        assert!(length.parse::<usize>().unwrap() > 200_000, "{quote}");
    });
}

#[tokio::test]
async fn people_of_a_reply_to_too_many_are_given() {
    let mut session = Session::sample().await;
    let people: Vec<String> = (0..501).map(|n| format!("p{n}@example.com")).collect();
    let many = format!("References: <j0@example.com>\nReply-To: {}\n", people.join(",\n "));
    let id = asked(&mut session, "many", &many, "Do you have lamps?").await;
    let reply = json!({"mode": "reply", "id": id, "body": "Yes."});
    assert_eq!(
        session.error("mail_draft", reply.clone()).await,
        "a reply would go to 501 people, more than 500: give `to`"
    );
    let mut given = reply;
    given["to"] = json!("jonas@example.com");
    let blocks = session.ok("mail_draft", given).await;
    assert_eq!(field(&blocks[0], "to"), Some("jonas@example.com"));
    let headers = headers(&mut session, "d1").await;
    assert_eq!(field(&headers, "To"), Some("<jonas@example.com>"));
    assert_eq!(field(&headers, "References"), Some("<j0@example.com> <many@example.com>"));
}

/// The change is reported even if the audit log cannot write its second line.
#[tokio::test]
async fn failing_audit_log_afterwards_is_a_note() {
    let _files = crate::common::postgres::in_files();
    let mut session = Session::sample().await;
    let log = session.app.config.home.join("audit.jsonl");
    let expected = format!(
        "{} cannot be opened for writing (Is a directory (os error 21)): check the folder's \
         permissions, or set DAYSHEET_HOME to another folder",
        log.display()
    );
    session.sandbox.set_observer(Some(AnswerObserver::new(move |exchange: ApiExchange| {
        // The first line has been written.
        if exchange.method == "POST" && exchange.path.ends_with("/drafts") {
            std::fs::remove_file(&log).unwrap();
            std::fs::create_dir(&log).unwrap();
        }
        Box::pin(std::future::ready(()))
    })));
    let new = json!({"to": "priya@example.com", "subject": "Lamps"});
    let blocks = session.ok("mail_draft", new).await;
    assert_eq!(field(&blocks[0], "draft"), Some("d1"));
    assert_eq!(blocks[1], format!("nothing was sent; mail_send id=d1 sends it\n{expected}"));
    assert_eq!(field(&headers(&mut session, "d1").await, "Subject"), Some("Lamps"));
}

#[tokio::test]
async fn every_address_is_in_the_preview() {
    let mut session = Session::sample().await;
    let people: Vec<String> =
        (0..90).map(|at| format!("Person Number {at} <p{at}@example.com>")).collect();
    let blocks = session.ok("mail_draft", json!({"to": people, "subject": "x"})).await;
    let to = field(&blocks[0], "to").unwrap();
    let shown: Vec<&str> = to.trim_matches('"').split(", ").collect();
    let expected: Vec<String> = (0..90).map(|at| format!("p{at}@example.com")).collect();
    assert_eq!(shown, expected);
}

/// Answers to mail from an address go where the settings of that address say.
#[tokio::test]
async fn draft_has_the_reply_address_of_its_sender() {
    let mut session = Session::sample().await;
    session.sandbox.set_alter(Some(AnswerAlteration::new(|answer: &mut Value| {
        if let Some(address) = answer.pointer_mut("/sendAs/1/replyToAddress") {
            *address = "office@lindqvist-lamps.example".into();
        }
    })));
    let office = Some("<office@lindqvist-lamps.example>");
    for (from, expected) in [("mira+news@example.com", office), (ME, None)] {
        let new = json!({"from": from, "to": "jonas@example.com", "subject": "x"});
        let written = session.json("mail_draft", new).await;
        let headers = headers(&mut session, written["draft"].as_str().unwrap()).await;
        assert_eq!(field(&headers, "Reply-To"), expected);
    }
}

/// Files on the disk; all other kinds are in `tests/transcripts/send.txt`.
#[tokio::test]
async fn attachments_of_every_kind_are_added() {
    let mut session = Session::sample().await;
    let folder = session.app.config.files[0].clone();
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("plan.pdf"), b"%PDF-1").unwrap();
    std::fs::write(folder.join("my logo.png"), b"\x89PNG").unwrap();
    let attach = json!(["plan.pdf", folder.join("my logo.png")]);
    let new = json!({"subject": "x", "body": "![logo](<cid:my logo.png>)", "attach": attach});
    let blocks = session.ok("mail_draft", new).await;
    assert_eq!(field(&blocks[0], "attached"), Some("plan.pdf 6 B, my logo.png 4 B (shown)"));
    let blocks = session.ok("mail_attachment", json!({"ids": "d1"})).await;
    assert_eq!(blocks[0].lines().nth(1), Some("  a1\tm1\tplan.pdf\tapplication/pdf\t6\tnull"));
    let plan = session.ok("mail_attachment", json!({"ids": "a1", "as": "inline"})).await;
    assert_eq!(plan[1].lines().nth(1), Some("JVBERi0x"));
}
