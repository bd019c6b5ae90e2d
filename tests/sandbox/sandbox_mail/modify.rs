//! Labels of messages: what modifying does, and what the history tells of it.

use super::*;

/// The mailbox's only message at the start.
async fn first(user: &User) -> Value {
    user.json("messages").await["messages"][0].clone()
}

#[tokio::test]
async fn labels_are_added_and_removed() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let message = first(&user).await;
    let path = at("messages", &message);
    for (add, remove, labels) in [
        (&["STARRED"][..], &["UNREAD"][..], &["INBOX", "STARRED"][..]),
        (&["STARRED"], &[], &["INBOX", "STARRED"]),
        (&["TRASH"], &[], &["STARRED", "TRASH"]),
        (&[], &["TRASH"], &["STARRED"]),
        (&["INBOX", "IMPORTANT"], &[], &["STARRED", "INBOX", "IMPORTANT"]),
        (&["SPAM"], &[], &["STARRED", "IMPORTANT", "SPAM"]),
    ] {
        user.relabels(&message, add, remove).await;
        let shown = user.json(&format!("{path}?format=minimal")).await;
        assert_eq!(shown["labelIds"], json!(labels), "{add:?} {remove:?}");
    }
    let trashed = user.post(&format!("{path}/trash"), Value::Null).await;
    assert_eq!(trashed["labelIds"], json!(["STARRED", "IMPORTANT", "TRASH"]));
}

/// Every kind of change stands in the history, in its order; what changes
/// nothing does not.
#[tokio::test]
async fn history_lists_every_change_in_order() {
    let sandbox = sandbox().await;
    let user = User::at_gmail(sandbox.base(), MIRA, ALL).await;
    let message = first(&user).await;
    let start = user.json("profile").await["historyId"].clone();
    let start = start.as_str().unwrap();
    for _ in 0..2 {
        user.relabels(&message, &["STARRED"], &["UNREAD"]).await;
    }
    let lines = ["From: mira@example.com", "To: a@example.org", "Subject: New"];
    let draft_with = |text: &str| json!({ "message": { "raw": raw(&lines, text) } });
    let draft = user.post("drafts", draft_with("one")).await;
    user.ok("PUT", &at("drafts", &draft), draft_with("two")).await;
    user.post("drafts/send", json!({ "id": draft["id"] })).await;
    user.ok("POST", "messages/batchDelete", json!({ "ids": [message["id"]] })).await;

    let history = user.json(&format!("history?startHistoryId={start}")).await;
    let mut seen = vec![message["id"].as_str().unwrap().to_owned()];
    let rows: Vec<Value> = history["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let mut row = row.clone();
            let row = row.as_object_mut().unwrap();
            row.remove("id");
            row.remove("messages");
            steady(Value::Object(row.clone()), &mut seen)
        })
        .collect();
    let own = |labels: &[&str]| json!({ "id": "#1", "threadId": "#1", "labelIds": labels });
    let new = |id: &str, label: &str| json!([{ "message": { "id": id, "threadId": "#2", "labelIds": [label] } }]);
    let gone = |id: &str, thread: &str| json!([{ "message": { "id": id, "threadId": thread } }]);
    assert_eq!(
        Value::from(rows),
        json!([
            {
                "labelsAdded": [{ "message": own(&["INBOX", "STARRED"]), "labelIds": ["STARRED"] }],
                "labelsRemoved": [
                    { "message": own(&["INBOX", "STARRED"]), "labelIds": ["UNREAD"] },
                ],
            },
            { "messagesAdded": new("#2", "DRAFT") }, { "messagesAdded": new("#3", "DRAFT") },
            { "messagesDeleted": gone("#2", "#2") }, { "messagesAdded": new("#4", "SENT") },
            { "messagesDeleted": gone("#3", "#2") }, { "messagesDeleted": gone("#1", "#1") },
        ])
    );
}

#[tokio::test]
async fn thousand_messages_change_in_one_request() {
    let sandbox = sandbox().await;
    let user = User::at_gmail(sandbox.base(), MIRA, ALL).await;
    for number in 0..1_000 {
        let message = format!("From: a@example.com\r\nMessage-ID: <{number}@n>\r\n\r\n{number}");
        assert!(sandbox.deliver(MIRA, message.as_bytes()).unwrap());
    }
    let mut ids: Vec<Value> = Vec::new();
    let mut page = "messages?maxResults=500".to_owned();
    while ids.len() < 1_000 {
        let answer = user.json(&page).await;
        let rows = answer["messages"].as_array().unwrap();
        ids.extend(rows.iter().map(|row| row["id"].clone()));
        let next = answer["nextPageToken"].as_str().unwrap();
        page = format!("messages?maxResults=500&pageToken={next}");
    }
    assert_eq!(ids.len(), 1_000);
    // An id of nothing is passed over.
    ids[999] = "1000000000000001".into();
    let start = user.json("profile").await["historyId"].clone();
    let body = json!({ "ids": ids, "addLabelIds": ["TRASH"], "removeLabelIds": ["UNREAD"] });
    assert_eq!(user.call("POST", "messages/batchModify", body.clone()).await, (204, Value::Null));
    let count = |label: Value| label["messagesTotal"].clone();
    assert_eq!(count(user.json("labels/TRASH").await), 999);
    assert_eq!(count(user.json("labels/UNREAD").await), 2);
    let path = format!("history?maxResults=500&startHistoryId={}", start.as_str().unwrap());
    let first = user.json(&path).await;
    let next = first["nextPageToken"].as_str().unwrap();
    let second = user.json(&format!("{path}&pageToken={next}")).await;
    let rows = |page: &Value| page["history"].as_array().unwrap().len();
    assert_eq!((rows(&first), rows(&second)), (500, 499));

    let mut more = body;
    more["ids"].as_array_mut().unwrap().push("1000000000000002".into());
    assert_eq!(
        user.refused("POST", "messages/batchModify", more).await,
        (400, "invalidArgument".to_owned(), "Too many message ids specified".to_owned())
    );
    let deleted = user.call("POST", "messages/batchDelete", json!({ "ids": ids })).await;
    assert_eq!(deleted, (204, Value::Null));
    assert_eq!(user.json("profile").await["messagesTotal"], 2);
}
