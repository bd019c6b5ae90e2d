//! The pipeline over a scripted mailbox, for cases that other fakes do not cause on purpose.

use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::{FailedItem, ListPage, MessageContent, SearchTotal};
use daysheet_core::schemas::Service;
use serde_json::{Value, json};

use crate::common::fake_mailbox::{FakeMailbox, MailHarness, Script};
use crate::common::harness;

fn object(id: &str) -> Value {
    json!({"id": id, "labelIds": ["INBOX"], "internalDate": "1770138300000",
           "payload": {"headers": [{"name": "Subject", "value": format!("about {id}")}]}})
}

fn not_found() -> Error {
    Error::new(ErrorKind::NotFound, "Gmail has no such item").next("search again")
}

/// Returns a mailbox in which the second of three messages has been deleted when it is fetched.
fn scripted(name: &'static str) -> FakeMailbox {
    let list = || ListPage {
        items: vec![object("aa"), object("cc")],
        failed: vec![FailedItem { at: 1, id: "bb".to_owned(), error: not_found() }],
        total: Some(SearchTotal::About(90)),
        next: Some("token".to_owned()),
        notes: vec!["a note of the provider".into()],
        ..ListPage::default()
    };
    let script = Script {
        list: Some(Box::new(move |_, _| list())),
        read_message: Some(Box::new(|_, id, _| match id {
            "bb" => Err(not_found()),
            id => Ok(MessageContent { item: object(id), ..MessageContent::default() }),
        })),
        thread: Some(|_| (0..60).map(|number| format!("id{number}")).collect()),
        ..Script::default()
    };
    FakeMailbox::scripted(name, Service::Google, script)
}

async fn harness(names: &[&'static str]) -> MailHarness {
    MailHarness::over(names.iter().map(|name| scripted(name)).collect(), &[]).await.with_tabs()
}

#[tokio::test]
async fn missing_message_is_a_noted_row() {
    let harness = harness(&["a"]).await;
    let arguments = json!({"fields": ["subject", "flags"], "limit": 3});
    assert_eq!(
        harness.call("mail_search", arguments).await.unwrap(),
        [
            "next: p1\n\
             missing: \"1 could not be fetched (m2): Gmail has no such item: search again\"\n\
             messages[3\t]{id\tsubject\tflags}:\n\
             \x20 m1\tabout aa\t\"\"\n  m2\tnull\tnull\n  m3\tabout cc\t\"\"",
            "messages: 3 of ~90, newest first; cursor=p1 has more\n\
             a note of the provider",
        ]
    );
    // With other ids it is a note, on its own an error.
    let blocks = harness.call("mail_read", json!({"ids": ["m1", "m2"]})).await.unwrap();
    assert_eq!(
        harness::notes(&blocks),
        "messages: 1\nit has no text at all\nmissing: 1 could not be fetched (m2): Gmail has no \
         such item: search again"
    );
    let alone = harness.call("mail_read", json!({"ids": ["m2"]})).await;
    assert_eq!(alone.unwrap_err().to_string(), "m2: Gmail has no such item: search again");
}

/// The setting applies to the default budget and to budgets of calls.
#[tokio::test]
async fn reserve_setting_leaves_tokens_to_the_caller() {
    let fakes = || vec![scripted("a")];
    let plain = MailHarness::over(fakes(), &[]).await;
    let reserving = MailHarness::over(fakes(), &[("DAYSHEET_RESERVE", "7890")]).await;
    let limit = json!({"limit": 60});
    let small = plain.error("mail_search", json!({"limit": 60, "budget": 110})).await;
    assert!(small.starts_with("budget_too_small needed=185: "), "{small}");
    // The stated budget includes the reserved tokens.
    let small = reserving.error("mail_search", limit).await;
    assert!(small.starts_with("budget_too_small needed=8073: "), "{small}");
    let refused = reserving.error("mail_search", json!({"budget": 7989})).await;
    assert_eq!(
        refused,
        "budget=7989 leaves under 100 tokens beyond reserve=7890: raise `budget`, or lower \
         `reserve`, which may be a setting"
    );
}

#[tokio::test]
async fn thread_of_sixty_is_read_in_parts() {
    let harness = harness(&["a"]).await;
    harness.call("mail_search", json!({"by": "thread"})).await.unwrap();
    let mut arguments = json!({"ids": ["t1"], "body": "none", "format": "json"});
    let mut seen = Vec::new();
    for expected in [25, 25, 10] {
        let blocks = harness.call("mail_read", arguments).await.unwrap();
        let page: Value = serde_json::from_str(&blocks[0]).unwrap();
        let ids: Vec<_> = page["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["provider_id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(ids.len(), expected);
        seen.extend(ids);
        arguments = json!({"cursor": page["next"], "format": "json"});
    }
    let newest_first: Vec<_> = (0..60).rev().map(|number| format!("id{number}")).collect();
    assert_eq!(seen, newest_first);
}

#[tokio::test]
async fn handles_remember_their_account() {
    let harness = harness(&["a", "b"]).await;
    for (account, expected) in [("a@example.com", "m1"), ("b@example.com", "m4")] {
        let found = harness.call("mail_search", json!({"account": account})).await.unwrap();
        assert!(found[0].contains(&format!("\n  {expected}\t")), "{}", found[0]);
    }
    let blocks = harness.call("mail_read", json!({"ids": ["m6", "m1"]})).await.unwrap();
    assert!(
        blocks[0].contains("bodies[2\t]{id\tblock\ttype\tchars\tshown}:\n  m6\t"),
        "{}",
        blocks[0]
    );
    let wrong = json!({"ids": ["m6"], "account": "a@example.com"});
    assert_eq!(
        harness.call("mail_read", wrong).await.unwrap_err().to_string(),
        "m6: it belongs to b@example.com, not to that account: leave out `account`: the \
         handle implies it"
    );
    // A provider's own id could belong to either kind.
    let own = json!({"ids": ["18c2f0a1b2c3d4e5"]});
    assert_eq!(
        harness.call("mail_read", own).await.unwrap_err().to_string(),
        "18c2f0a1b2c3d4e5: several accounts are signed in: name one as `account`: a@example.com, \
         b@example.com"
    );
}
