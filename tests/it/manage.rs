//! `manage`: what transcripts do not express. The others are in `tests/transcripts/manage.txt` and
//! `folders.txt`.

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::budget::count::tokens;
use daysheet_sandbox::AnswerAlteration;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ME, Session, write_message};

/// A rule that another program made may forward mail.
#[tokio::test]
async fn forwarding_rules_are_shown_and_not_changed() {
    let mut session = Session::written(SandboxUser::These(&[("microsoft", ME)])).await;
    let set = json!({"name": "Out", "when": "from:a@b.example", "then": "important"});
    session.ok("manage", json!({"kind": "rule", "op": "create", "set": set})).await;
    session.sandbox.set_alter(Some(AnswerAlteration::new(|answer| {
        let items = answer.get_mut("value").and_then(Value::as_array_mut);
        for rule in items.into_iter().flatten() {
            if rule["displayName"] == "Out" && rule["actions"].is_object() {
                let person = json!({"emailAddress": {"address": "x@other.example"}});
                rule["actions"] = json!({"forwardTo": [person]});
            }
        }
    })));
    let listed = session.ok("lookup", json!({"kind": "rules"})).await;
    let row = "Out\t\"from:a@b.example\"\t\"forward:x@other.example\"\ttrue\tnull";
    assert!(listed[0].ends_with(row), "{listed:?}");
    let update = json!({"kind": "rule", "op": "update", "id": "Out", "set": {"then": "read"}});
    assert_eq!(
        session.error("manage", update).await,
        "the rule cannot be changed here: it forwards mail: let the user do it in the provider's \
         settings"
    );
}

#[tokio::test]
async fn rule_can_run_over_existing_messages() {
    let mail = TempDir::new().unwrap();
    for number in 0..1_101 {
        let headers = format!(
            "From: old@shop.example\nTo: {ME}\nDate: Tue, 3 Nov 2026 10:00:00 +0000\n\
             Subject: Letter {number}\nMessage-ID: <{number}@shop.example>"
        );
        write_message(&mail.path().join(ME), &format!("{number}.eml"), &headers, "hello");
    }
    let mut session = Session::over(Some(mail.path())).await;
    let set = json!({"when": "from:old@shop.example", "then": "archive label:Bills never_spam",
                     "create": true});
    session.ok("manage", json!({"kind": "rule", "op": "create", "set": set})).await;
    let run = json!({"kind": "rule", "op": "run", "id": "r1"});
    let done = session.ok("manage", run.clone()).await;
    let notes = "only mail in the inbox; filed mail stays as it is\nskipped: never_spam";
    assert_eq!(done[0], "done: 1000\nundo: u1");
    assert!(
        done[1].ends_with(&format!(" messages remain: call again for them\n{notes}")),
        "{done:?}"
    );
    assert!(tokens(&done.join("\n")) <= 60);
    assert_eq!(session.ok("manage", run).await, ["done: 101\nundo: u2", notes]);
    let undo = json!({"undo": "u1"});
    assert_eq!(session.ok("mail_modify", undo).await, ["undone: 1000\nundo: u3"]);
}
