//! Drafts, from creation to delivery.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use daysheet_core::clock::ManualClock;
use daysheet_sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};

use super::{
    ANA, BEN, IMMUTABLE, SCOPES, addresses, at, does, made, mira, people, refused, subjects,
};
use crate::common::client::{ME, User, encoded};
use crate::common::clock;
use crate::graph_client::{mailboxes_of_three, text};

/// A draft returns every property that was set, and a change affects no other property.
#[tokio::test]
async fn draft_keeps_its_content_until_sent() {
    let (_dir, sandbox, user) = mira().await;
    let body = json!({
        "subject": "Møte på fredag",
        "body": { "contentType": "HTML", "content": "<p>Kommer <b>du</b>?</p>" },
        "toRecipients": [{ "emailAddress": { "name": "Lima, Ana", "address": ANA } }],
        "bccRecipients": people(&[BEN]), "replyTo": people(&["team@example.com"]),
        "importance": "High", "internetMessageId": "<own.1@example.com>",
        "categories": ["Blue"],
        "flag": { "flagStatus": "flagged" },
        "attachments": [{
            "@odata.type": "#microsoft.graph.fileAttachment",
            "name": "plan ü.txt", "contentType": "text/plain",
            "contentBytes": STANDARD.encode("Plan\n"),
        }],
        "singleValueExtendedProperties": [
            { "id": "String {00020329-0000-0000-c000-000000000046} Name x", "value": "1" },
        ],
    });
    let reply = user.write("POST", "me/messages", &[IMMUTABLE], &body).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    let draft = reply.json();
    let id = text(&draft["id"]).to_owned();
    assert_eq!(id.len(), 68);
    assert!(reply.header("location").ends_with(&format!("/messages('{id}')")));
    let drafts = user.json("me/mailFolders/drafts").await;
    let expected = json!({
        "@odata.context": draft["@odata.context"],
        "@odata.etag": format!("W/\"{}\"", text(&draft["changeKey"])), "id": id,
        "createdDateTime": draft["createdDateTime"],
        "lastModifiedDateTime": draft["lastModifiedDateTime"], "changeKey": draft["changeKey"],
        "categories": ["Blue"], "receivedDateTime": draft["createdDateTime"],
        "sentDateTime": draft["createdDateTime"], "hasAttachments": true,
        "internetMessageId": "<own.1@example.com>", "subject": "Møte på fredag",
        "bodyPreview": "Kommer du?", "importance": "high", "parentFolderId": drafts["id"],
        "conversationId": draft["conversationId"], "isRead": true, "isDraft": true,
        "webLink": draft["webLink"], "inferenceClassification": "focused",
        "body": {
            "contentType": "html",
            "content": "<html><head>\r\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\"></head><body><p>Kommer <b>du</b>?</p></body></html>",
        },
        "toRecipients": [{ "emailAddress": { "name": "Lima, Ana", "address": ANA } }],
        "ccRecipients": [], "bccRecipients": [{ "emailAddress": { "name": BEN, "address": BEN } }],
        "replyTo": [
            { "emailAddress": { "name": "team@example.com", "address": "team@example.com" } },
        ],
        "flag": { "flagStatus": "flagged" },
    });
    assert_eq!(draft, expected);
    let path = at(&draft);
    let files = user.json(&format!("{path}/attachments")).await;
    assert_eq!(files["value"][0]["name"], "plan ü.txt");
    assert_eq!(files["value"][0]["contentBytes"], STANDARD.encode("Plan\n"));

    // What changes is changed alone, and whoever is late is told so.
    let etag = text(&draft["@odata.etag"]).to_owned();
    let change =
        json!({ "subject": "Møte på lørdag", "ccRecipients": people(&["cy@far.example"]) });
    let headers = [IMMUTABLE, ("if-match", etag.as_str())];
    let reply = user.write("PATCH", &path, &headers, &change).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let after = reply.json();
    assert_ne!(after["changeKey"], draft["changeKey"]);
    let mut expected = draft.clone();
    for name in ["@odata.context", "@odata.etag", "changeKey", "lastModifiedDateTime"] {
        expected[name] = after[name].clone();
    }
    expected["subject"] = change["subject"].clone();
    expected["ccRecipients"] =
        json!([{ "emailAddress": { "name": "cy@far.example", "address": "cy@far.example" } }]);
    assert_eq!(after, expected);
    for (method, path, body) in [
        ("PATCH", path.clone(), change.clone()),
        ("DELETE", path.clone(), Value::Null),
        ("POST", format!("{path}/send"), Value::Null),
        ("POST", format!("{path}/move"), json!({ "destinationId": "archive" })),
    ] {
        let reply = user.write(method, &path, &headers, &body).await;
        assert_eq!(refused(&reply), (412, "ErrorIrresolvableConflict".to_owned()), "{method}");
    }

    // Sent, it is the same message in another folder, and others have it.
    does(&user, "POST", &format!("{path}/send"), Value::Null, 202).await;
    let sent = user.prefer(&path, "IdType=\"ImmutableId\"").await.json();
    assert_eq!((&sent["id"], &sent["isDraft"]), (&draft["id"], &json!(false)));
    assert_eq!(sent["conversationId"], draft["conversationId"]);
    assert_eq!(sent["categories"], json!(["Blue"]));
    assert_eq!(sent["from"]["emailAddress"], json!({ "name": "Mira Lindqvist", "address": ME }));
    assert_eq!(addresses(&sent["bccRecipients"]), [BEN]);
    let query = encoded("internetMessageId eq '<own.1@example.com>'");
    for list in ["me/messages", "me/mailFolders/sentitems/messages"] {
        let found = user.json(&format!("{list}?%24filter={query}&%24select=id")).await;
        assert_eq!(found["value"].as_array().unwrap().len(), 1, "{list}");
    }
    assert!(subjects(&user, "drafts").await.is_empty());
    for address in [ANA, BEN] {
        let other = User::at_graph(sandbox.base(), address, SCOPES).await;
        let got = other.message("Møte på lørdag").await;
        assert_eq!(
            (&got["isRead"], &got["isDraft"], &got["bccRecipients"], &got["hasAttachments"]),
            (&json!(false), &json!(false), &json!([]), &json!(true)),
            "{address}"
        );
        assert_eq!(got["internetMessageId"], "<own.1@example.com>");
        assert_eq!(got["body"], draft["body"]);
    }
    let reply = user.write("POST", &format!("{path}/send"), &[], &Value::Null).await;
    assert_eq!(refused(&reply), (400, "ErrorInvalidPropertySet".to_owned()));
}

/// Deferred messages wait in the outbox until they are due, and can be deleted there.
#[tokio::test]
async fn deferred_message_waits_in_the_outbox() {
    let time = ManualClock::at(clock::now());
    let dir = mailboxes_of_three();
    let options =
        SandboxOptions { mail: Some(dir.path().to_owned()), ..SandboxOptions::new(time.clock()) };
    let sandbox = Sandbox::start(options).await.unwrap();
    let user = User::at_graph(sandbox.base(), ME, SCOPES).await;
    let ana = User::at_graph(sandbox.base(), ANA, SCOPES).await;
    let at_time =
        |time: jiff::Timestamp| json!([{ "id": "SystemTime 0x3FEF", "value": time.to_string() }]);
    let tomorrow = clock::now() + jiff::SignedDuration::from_hours(24);
    let soon = clock::now() + jiff::SignedDuration::from_mins(5);
    for (subject, time) in [("Soon", soon), ("Tomorrow", tomorrow), ("Never", soon)] {
        let body = json!({
            "subject": subject, "toRecipients": people(&[ANA]),
            "singleValueExtendedProperties": at_time(time),
        });
        let draft = made(&user, "me/messages", body).await;
        does(&user, "POST", &format!("{}/send", at(&draft)), Value::Null, 202).await;
    }
    assert_eq!(subjects(&user, "outbox").await, ["Never", "Tomorrow", "Soon"]);
    assert!(subjects(&ana, "inbox").await.is_empty());
    let never = user.message("Never").await;
    assert_eq!(never["isDraft"], true);
    does(&user, "DELETE", &at(&never), Value::Null, 204).await;
    time.advance(std::time::Duration::from_mins(5));
    assert_eq!(subjects(&ana, "inbox").await, ["Soon"]);
    assert_eq!(subjects(&user, "outbox").await, ["Tomorrow"]);
    assert_eq!(subjects(&user, "sentitems").await, ["Soon", "Hello"]);
}
