//! Labels of messages: what modifying does.

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
