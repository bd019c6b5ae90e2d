//! One person's reach on a shared server, and the state that an instance keeps of people.

use std::sync::Arc;

use daysheet::config::AccessBy;
use daysheet::http::people::PersonApps;
use daysheet_core::access::AccessLevel;
use serde_json::{Value, json};

use crate::stage::{Caller, OLD, Stage, person};

#[tokio::test]
async fn nobody_reaches_the_machine_of_the_server() {
    let stage = Stage::of(&["ann"]).await;
    let ann = stage.modern("ann");
    let files = stage.shared.home.path().join("files");
    std::fs::create_dir_all(&files).unwrap();
    let file = files.join("secret.ics");
    std::fs::write(&file, "secret").unwrap();
    let path = file.to_str().unwrap();
    let draft = |attach: &str| json!({"to": ["bo@example.com"], "body": "x", "attach": [attach]});
    for (tool, arguments) in [
        ("mail_draft", draft(path)),
        ("mail_draft", draft("/etc/hostname")),
        ("mail_draft", draft("secret.ics")),
        ("calendar_save", json!({"ics": path})),
        ("mail_attachment", json!({"ids": ["m1"], "as": "file"})),
        ("mail_attachment", json!({"ids": ["a1"], "dir": "bills"})),
    ] {
        let refused = ann.error(tool, arguments.clone()).await;
        assert!(refused.contains("on another machine"), "{tool} {arguments}: {refused}");
        assert!(!refused.contains(files.to_str().unwrap()), "{refused}");
    }
    ann.ok("mail_draft", draft("data:text/plain;base64,eA==")).await;
    // No command of that machine is advised.
    let mut mute = stage.modern("ann");
    mute.capabilities = json!({});
    let waiting = mute.ok("mail_send", json!({"id": "d1"})).await;
    let page = format!("ask the user to open {}; then repeat", stage.url("/approve"));
    assert!(waiting.contains(&page) && !waiting.contains("daysheet approve"), "{waiting}");
    // Nor does a person have what the machine's own user may do without a sign-in.
    let mut config = stage.shared.config();
    config.token_commands.insert("google:a@example.com".to_owned(), vec!["true".to_owned()]);
    config.share();
    assert!(config.token_commands.is_empty() && config.google_service_account.is_none());
}

/// A worker of the server reads a file on behalf of the person who owns it.
#[cfg(feature = "documents")]
#[tokio::test]
async fn files_are_read_for_their_owner() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let (ann, bo) = (stage.modern("ann"), stage.modern("bo"));
    let csv = "data:text/csv;base64,SXRlbSxQcmljZQpMYW1wLDEyOS41Cg==";
    let draft = json!({"to": ["bo@example.com"], "body": "x", "attach": [csv]});
    ann.ok("mail_draft", draft).await;
    let read = ann.ok("mail_attachment", json!({"ids": "d1", "as": "text"})).await;
    assert!(read.contains("{Item\tPrice}:\n  Lamp\t129.5\n"), "{read}");
    assert!(ann.ok("mail_attachment", json!({"ids": "a1", "as": "text"})).await.contains("Lamp"));
    let refused = bo.error("mail_attachment", json!({"ids": "a1", "as": "text"})).await;
    assert_eq!(refused, "there is no `a1`: use an id from a search or lookup");
}

#[tokio::test]
async fn apps_of_people_are_kept_while_they_are_used() {
    let stage = Stage::of(&["ann"]).await;
    let people = PersonApps::new(stage.app.clone());
    let of = async |number: usize| people.app_of(&person(&format!("p{number}"))).await.unwrap();
    let held = of(0).await;
    let idle = Arc::downgrade(&of(1).await);
    assert!(Arc::ptr_eq(&held.config, &of(1).await.config), "each has settings of their own");
    for number in 2..2_002 {
        of(number).await;
    }
    assert!(Arc::ptr_eq(&held, &of(0).await), "an app was dropped while somebody had it");
    assert!(idle.upgrade().is_none(), "the app that was idle for longest was kept");
}

/// A merge of two mailboxes, in each era.
#[tokio::test]
async fn progress_comes_on_the_stream_of_the_call() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let ann = stage.app.of_person(&person("ann").owner, AccessLevel::Full, AccessBy::Settings);
    ann.consent("google", "bo@example.com").await.unwrap();
    stage.shared.sandbox.set_faults("delay=1600ms".parse().unwrap());
    let old = stage.old("ann").await;
    for caller in [stage.modern("ann"), Caller::new(&stage, "ann", OLD), old] {
        let mut params = json!({"name": "mail_search", "arguments": {"q": "for"}});
        params["_meta"]["progressToken"] = "here".into();
        let mut stream = caller.stream(&caller.request("tools/call", params)).await;
        assert_eq!(stream.response.headers()["content-type"], "text/event-stream");
        let mut messages = Vec::new();
        while let Some(next) = stream.next().await {
            messages.push(next);
        }
        let last = messages.pop().unwrap();
        assert_eq!((&last["id"], &last["result"]["isError"]), (&json!(7), &Value::Bool(false)));
        let reports: Vec<&Value> = messages.iter().map(|one| &one["params"]).collect();
        assert!(messages.iter().all(|one| one["method"] == "notifications/progress"));
        assert!(reports.iter().all(|one| one["progressToken"] == "here"), "{reports:?}");
        assert!(
            reports.is_sorted_by(|one, next| one["progress"].as_f64() < next["progress"].as_f64())
        );
        let merged =
            |one: &&Value| one["message"].as_str().unwrap_or_default().contains("2 accounts");
        assert!(reports.iter().any(merged), "{reports:?}");
    }
}
