//! Moving, copying, deleting and marking messages, and their folders.

use serde_json::{Value, json};

use super::{ANA, IMMUTABLE, SCOPES, at, changed, does, made, mira, refused, subjects};
use crate::common::client::{ME, User, encoded};
use crate::graph_client::{column, text};

/// A regular id changes when the message moves, and the old id is not found.
#[tokio::test]
async fn moving_and_copying_change_message_ids() {
    let (_dir, _sandbox, user) = mira().await;
    let message = user.message("Report 1").await;
    let moved =
        made(&user, &format!("{}/move", at(&message)), json!({ "destinationId": "archive" })).await;
    assert_ne!(moved["id"], message["id"]);
    assert_ne!(moved["changeKey"], message["changeKey"]);
    let reply = user.get(&at(&message)).await;
    assert_eq!(refused(&reply), (404, "ErrorItemNotFound".to_owned()));
    let copy =
        made(&user, &format!("{}/copy", at(&moved)), json!({ "destinationId": "Inbox" })).await;
    assert_ne!(copy["id"], message["id"]);
    assert_eq!(copy["conversationId"], message["conversationId"]);
    assert_eq!(
        (subjects(&user, "archive").await.len(), subjects(&user, "inbox").await.len()),
        (1, 20)
    );

    // Deleted, it is among what was deleted; deleted there, it is gone.
    does(&user, "DELETE", &at(&moved), Value::Null, 204).await;
    let list = user.json("me/mailFolders/deleteditems/messages").await;
    let deleted = &list["value"][0];
    assert_eq!(deleted["subject"], "Report 1");
    let back =
        made(&user, &format!("{}/move", at(deleted)), json!({ "destinationId": "inbox" })).await;
    does(&user, "DELETE", &at(&back), Value::Null, 204).await;
    let list = user.json("me/mailFolders/deleteditems/messages").await;
    does(&user, "DELETE", &at(&list["value"][0]), Value::Null, 204).await;
    assert!(subjects(&user, "deleteditems").await.is_empty());
    does(&user, "POST", &format!("{}/permanentDelete", at(&copy)), Value::Null, 204).await;
    assert_eq!(subjects(&user, "inbox").await.len(), 19);
    let reply = user.get(&at(&copy)).await;
    assert_eq!(refused(&reply), (404, "ErrorItemNotFound".to_owned()));
}

/// Read state, categories, importance and flags: each change is returned and stored.
#[tokio::test]
async fn message_marks_are_written_and_returned() {
    let (_dir, _sandbox, user) = mira().await;
    let message = user.message("Report 2").await;
    let path = at(&message);
    let utc = |time: &str| json!({ "dateTime": time, "timeZone": "UTC" });
    let due = json!({
        "flagStatus": "flagged",
        "startDateTime": { "dateTime": "2026-03-02T09:00:00", "timeZone": "Europe/Berlin" },
        "dueDateTime": { "dateTime": "2026-03-03T09:00:00", "timeZone": "Europe/Berlin" },
    });
    let flagged = json!({
        "flagStatus": "flagged", "startDateTime": utc("2026-03-02T08:00:00.0000000"),
        "dueDateTime": utc("2026-03-03T08:00:00.0000000"),
    });
    let done = json!({ "flagStatus": "complete" });
    let mut keys = vec![text(&message["changeKey"]).to_owned()];
    for (change, name, expected) in cases! {
        json!({ "isRead": true }), "isRead", json!(true);
        json!({ "isRead": false }), "isRead", json!(false);
        json!({ "categories": ["Blue", "travel"] }), "categories", json!(["Blue", "travel"]);
        json!({ "categories": ["travel"] }), "categories", json!(["travel"]);
        json!({ "categories": [] }), "categories", json!([]);
        json!({ "importance": "low" }), "importance", json!("low");
        json!({ "importance": "HIGH" }), "importance", json!("high");
        json!({ "importance": "normal" }), "importance", json!("normal");
        json!({ "flag": due }), "flag", flagged;
        json!({ "flag": done }), "flag", done.clone();
        json!({ "flag": { "flagStatus": "notFlagged" } }), "flag",
            json!({ "flagStatus": "notFlagged" });
    } {
        let after = changed(&user, &path, change.clone()).await;
        assert_eq!(after[name], expected, "{change}");
        assert_eq!(user.json(&path).await[name], expected, "{change}");
        keys.push(text(&after["changeKey"]).to_owned());
    }
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 12);
    let query = encoded("importance eq 'low'");
    changed(&user, &path, json!({ "importance": "low" })).await;
    let list = user.json(&format!("me/messages?%24filter={query}")).await;
    assert_eq!(column(&list, "subject"), ["Report 2"]);
}

/// Folders are created, renamed, and deleted with their content.
#[tokio::test]
async fn folders_are_created_renamed_and_deleted() {
    let (_dir, _sandbox, user) = mira().await;
    let top = made(&user, "me/mailFolders", json!({ "displayName": "Club" })).await;
    assert_eq!(
        top,
        json!({
            "@odata.context": top["@odata.context"], "id": top["id"], "displayName": "Club",
            "parentFolderId": user.json("me/mailFolders/msgfolderroot").await["id"],
            "childFolderCount": 0, "unreadItemCount": 0, "totalItemCount": 0, "isHidden": false,
        })
    );
    let path = format!("me/mailFolders/{}", encoded(text(&top["id"])));
    let child =
        made(&user, &format!("{path}/childFolders"), json!({ "displayName": "2025" })).await;
    let child_path = format!("me/mailFolders/{}", encoded(text(&child["id"])));
    let child = changed(&user, &child_path, json!({ "displayName": "2027" })).await;
    assert_eq!((&child["displayName"], &child["parentFolderId"]), (&json!("2027"), &top["id"]));
    let message = user.message("Report 3").await;
    made(&user, &format!("{}/move", at(&message)), json!({ "destinationId": child["id"] })).await;
    for (method, path, body, status, code) in cases! {
        "POST", "me/mailFolders".to_owned(), json!({ "displayName": "club" }), 409,
            "ErrorFolderExists";
        "POST", "me/mailFolders".to_owned(), json!({ "displayName": " " }), 400,
            "ErrorPropertyValidationFailure";
        "PATCH", path.clone(), json!({ "displayName": "Inbox" }), 409, "ErrorFolderExists";
        "PATCH", "me/mailFolders/inbox".to_owned(), json!({ "displayName": "In" }), 400,
            "ErrorDeleteDistinguishedFolder";
        "DELETE", "me/mailFolders/sentitems".to_owned(), Value::Null, 400,
            "ErrorDeleteDistinguishedFolder";
    } {
        let reply = user.write(method, &path, &[], &body).await;
        assert_eq!(refused(&reply), (status, code.to_owned()), "{method} {path}");
    }
    does(&user, "DELETE", &path, Value::Null, 204).await;
    assert_eq!(user.json(&child_path).await["totalItemCount"], 1);
    does(&user, "DELETE", &path, Value::Null, 204).await;
    for path in [&path, &child_path] {
        let reply = user.get(path).await;
        assert_eq!(refused(&reply), (404, "ErrorFolderNotFound".to_owned()));
    }
    assert_eq!(subjects(&user, "inbox").await.len(), 19);
    let query = encoded("subject eq 'Report 3'");
    let list = user.json(&format!("me/messages?%24filter={query}")).await;
    assert_eq!(list["value"], json!([]));
}

/// Another person's mailbox needs the shared permissions.
#[tokio::test]
async fn other_mailboxes_need_their_permissions() {
    let (_dir, sandbox, user) = mira().await;
    let body =
        json!({ "subject": "For Ana", "toRecipients": [{ "emailAddress": { "address": ME } }] });
    let path = format!("users/{ANA}/messages");
    let reply = user.write("POST", &path, &[], &body).await;
    assert_eq!(refused(&reply), (403, "ErrorAccessDenied".to_owned()));
    let shared = "Mail.ReadWrite.Shared Mail.Send.Shared Mail.Read";
    let user = User::at_graph(sandbox.base(), ME, shared).await;
    let reply = user.write("POST", &path, &[IMMUTABLE], &body).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    let id = text(&reply.json()["id"]).to_owned();
    does(&user, "POST", &format!("{path}/{}/send", encoded(&id)), Value::Null, 202).await;
    let ana = User::at_graph(sandbox.base(), ANA, SCOPES).await;
    assert_eq!(subjects(&ana, "sentitems").await, ["For Ana", "Hello"]);
    let got = user.message("For Ana").await;
    assert_eq!(got["from"]["emailAddress"]["address"], ANA);
}
