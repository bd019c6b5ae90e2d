//! `mail_draft` with files on the disk, with many people, and with changes during a call. Previews, the content written and refusals are in
//! `tests/transcripts/drafts.txt` and `tests/transcripts/send.txt`.

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
        let quote = blocks[0].lines().find_map(|line| line.strip_prefix("quote: ")).unwrap();
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
    assert!(blocks[0].contains("\nto: jonas@example.com\n"), "{}", blocks[0]);
    let headers = headers(&mut session, "d1").await;
    assert!(headers.contains("\nTo: <jonas@example.com>\n"), "{headers}");
    assert!(headers.contains("\nReferences: <j0@example.com> <many@example.com>\n"), "{headers}");
}

/// The change is reported even if the audit log cannot write its second line.
#[tokio::test]
async fn failing_audit_log_afterwards_is_a_note() {
    let _files = crate::common::postgres::in_files();
    let mut session = Session::sample().await;
    let log = session.app.config.home.join("audit.jsonl");
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
    assert!(blocks[0].starts_with("draft: d1\n"), "{blocks:?}");
    assert!(blocks[1].contains("audit.jsonl cannot be opened"), "{blocks:?}");
    assert!(headers(&mut session, "d1").await.contains("\nSubject: Lamps\n"));
}

/// A discard is made even if the state of the draft before it cannot be read.
#[tokio::test]
async fn discard_without_the_earlier_state_cannot_be_undone() {
    let mut session = Session::sample().await;
    asked(&mut session, "early", "X-Gmail-Labels: Drafts\n", "Hello").await;
    let search = json!({"q": "subject:early", "fields": ["draft"]});
    let found = session.json("mail_search", search).await;
    let [draft, message] =
        ["draft", "provider_id"].map(|name| column(&found, "messages", name).remove(0));
    session.sandbox.set_faults(format!("500=1,only=/{message}").parse().unwrap());
    let discard = json!({"mode": "discard", "id": draft});
    let blocks = session.ok("mail_draft", discard.clone()).await;
    assert!(blocks[0].ends_with("\tdiscard\tdone\tit was not sent"), "{blocks:?}");
    assert!(!blocks[0].contains("undo: "), "{blocks:?}");
    assert!(blocks[1].starts_with("this discard cannot be undone: "), "{blocks:?}");
    session.sandbox.set_faults("".parse().unwrap());
    let error = session.error("mail_draft", discard).await;
    assert!(error.contains("Gmail has no such item"), "{error}");
}

#[tokio::test]
async fn every_address_is_in_the_preview() {
    let mut session = Session::sample().await;
    let people: Vec<String> =
        (0..90).map(|at| format!("Person Number {at} <p{at}@example.com>")).collect();
    let blocks = session.ok("mail_draft", json!({"to": people, "subject": "x"})).await;
    let to = blocks[0].lines().find_map(|line| line.strip_prefix("to: ")).unwrap();
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
    for (from, expected) in [("mira+news@example.com", true), (ME, false)] {
        let new = json!({"from": from, "to": "jonas@example.com", "subject": "x"});
        let written = session.json("mail_draft", new).await;
        let headers = headers(&mut session, written["draft"].as_str().unwrap()).await;
        let has_address = headers.contains("\nReply-To: <office@lindqvist-lamps.example>\n");
        assert_eq!(has_address, expected, "{headers}");
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
    let attached = "\nattached: plan.pdf 6 B, my logo.png 4 B (shown)\n";
    assert!(blocks[0].contains(attached), "{}", blocks[0]);
    let blocks = session.ok("mail_attachment", json!({"ids": "d1"})).await;
    assert!(blocks[0].contains("\tplan.pdf\tapplication/pdf\t6"), "{}", blocks[0]);
    let plan = json!({"ids": "a1", "as": "inline"});
    assert!(session.ok("mail_attachment", plan).await[1].contains("\nJVBERi0x\n"));
}
