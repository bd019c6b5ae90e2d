//! `mail_modify` with a thousand messages, a service that does not make the changes it confirmed,
//! and a user who answers later. Other cases are in `tests/transcripts/modify.txt`.

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::budget::count::tokens;
use daysheet_core::call::client::Confirmation;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_sandbox::AnswerAlteration;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::harness::{FakeUser, call};
use crate::support::{ME, Session, column, write_message};

/// The owner of a mailbox at Microsoft.
const BO: &str = "bo@example.com";

/// Writes messages into the inbox of a person, the newest last. So many are unread, the oldest.
fn fill(mail: &TempDir, owner: &str, count: usize, unread: usize) {
    for at in 0..count {
        let label = if at < unread { "Unread" } else { "Opened" };
        let headers = format!(
            "X-Gmail-Labels: Inbox,{label}\nFrom: Ana <ana@example.com>\nTo: {owner}\n\
             Subject: Letter {at}\nDate: Tue, 3 Nov 2026 10:{:02}:{:02} +0000\n\
             Message-ID: <{at}@{owner}>",
            at / 60,
            at % 60
        );
        write_message(&mail.path().join(owner), &format!("{at}.eml"), &headers, "hello");
    }
}

/// Returns the subjects of the newest unread messages at Google.
async fn unread(session: &mut Session, limit: usize) -> Vec<String> {
    let call = json!({"q": "is:unread", "account": ME, "fields": ["subject"], "limit": limit});
    column(&session.json("mail_search", call).await, "messages", "subject")
}

/// Returns the number of changes of messages at Gmail.
fn writes(session: &Session) -> u64 {
    let routes = session.sandbox.routes();
    let is_write = |name: &str| name.contains("/messages/batch");
    routes.iter().filter(|(name, _)| is_write(name)).map(|(_, hits)| *hits).sum()
}

#[tokio::test]
async fn thousand_messages_are_reported_in_few_words() {
    let mail = TempDir::new().unwrap();
    fill(&mail, ME, 1050, 1048);
    fill(&mail, BO, 1010, 100);
    let who = SandboxUser::These(&[("google", ME), ("microsoft", BO)]);
    let mut session = Session::signed_in(TempDir::new().unwrap(), Some(mail.path()), who).await;
    // Google only estimates the number of messages, so its answers do not say how many are left.
    let before = writes(&session);
    let read = json!({"q": "in:inbox", "do": "read", "account": ME});
    let answer = session.ok("mail_modify", read).await.join("\n--\n");
    assert!(answer.starts_with("done: 998\nunchanged: 2\nundo: u1\n--\n"), "{answer}");
    assert!(answer.ends_with("more messages remain: call again for them"), "{answer}");
    assert!(tokens(&answer) <= 60, "{}", tokens(&answer));
    assert_eq!(writes(&session) - before, 1);
    // The newest messages were changed.
    assert_eq!(unread(&mut session, 1).await, ["Letter 49"]);
    let undone = session.ok("mail_modify", json!({"undo": "u1"})).await;
    assert_eq!(undone, ["undone: 998\nundo: u2"]);
    // The two messages that had been read before are not unread now.
    assert_eq!(unread(&mut session, 1).await, ["Letter 1047"]);
    // The undo is undone.
    let undone = session.ok("mail_modify", json!({"undo": "u2"})).await;
    assert_eq!(undone, ["undone: 998\nundo: u3"]);
    assert_eq!(unread(&mut session, 1).await, ["Letter 49"]);
    session.ok("mail_modify", json!({"undo": "u3"})).await;
    // Of several accounts, small ones are taken in full.
    let star = json!({"q": "is:unread", "do": "star"});
    let answer = session.ok("mail_modify", star).await.join("\n--\n");
    let shares = format!("done: 1000\nundo: u5\n--\n{ME}: 900 done\n{BO}: 100 done\n");
    assert!(answer.starts_with(&shares), "{answer}");
    assert!(answer.ends_with("more messages remain: call again for them"), "{answer}");
    // Microsoft counts the messages.
    let archive = json!({"q": "in:inbox", "do": "archive", "account": BO, "dry_run": true});
    let answer = session.ok("mail_modify", archive).await.join("\n--\n");
    assert!(answer.starts_with("planned: 1000\n"), "{answer}");
    assert!(answer.ends_with("\n10 more messages remain: call again for them"), "{answer}");
}

/// A service that confirms a move and leaves the message where it was, or puts it elsewhere.
#[tokio::test]
async fn message_that_was_not_moved_as_confirmed_is_named() {
    let who = SandboxUser::These(&[("microsoft", ME)]);
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, who).await;
    session.ok("mail_search", json!({"q": "in:inbox", "limit": 1})).await;
    // The answer to a move has the folder, but not the other parts of the message's state.
    session.sandbox.set_alter(Some(AnswerAlteration::new(|answer: &mut Value| {
        let parts = answer.pointer_mut("/responses").and_then(Value::as_array_mut);
        for body in parts.into_iter().flatten().filter_map(|part| part.get_mut("body")) {
            if body["parentFolderId"].is_string() && body["isRead"].is_null() {
                body["parentFolderId"] = "elsewhere".into();
            }
        }
    })));
    let archive = json!({"ids": "m1", "do": "archive"});
    let answer = session.ok("mail_modify", archive).await.join("\n--\n");
    assert!(answer.starts_with("done: 0\nundo: u1\n"), "{answer}");
    assert!(
        answer.ends_with(
            "m1\tarchive\tfailed\t\"the provider accepted the change but did not apply it: look at \
             it with mail_read\""
        ),
        "{answer}"
    );
}

/// No message is deleted before the user has answered.
#[tokio::test]
async fn permanent_deletion_waits_for_an_answer_that_comes_later() {
    let mut session = Session::sample().await;
    let before = unread(&mut session, 50).await;
    let user = FakeUser::says(Confirmation::Later);
    let delete = json!({"q": "is:unread", "do": "delete"});
    let format = Format::Toon(Delimiter::Tab);
    let pipeline = &session.app.pipeline;
    let error = call(pipeline, "mail_modify", delete, format, &user).await.unwrap_err();
    assert_eq!(error.to_string(), "the user is being asked");
    assert_eq!(user.questions().len(), 1);
    assert_eq!(writes(&session), 0);
    assert_eq!(unread(&mut session, 50).await, before);
}
