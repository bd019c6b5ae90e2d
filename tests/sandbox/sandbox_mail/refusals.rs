//! Refusals by Gmail: bodies, ids, labels, scopes.

use super::*;

/// A message without recipients, in Base64.
const NOBODY: &str = "U3ViamVjdDogeA0KDQp4";

#[tokio::test]
async fn invalid_requests_are_refused() {
    let sandbox = sandbox().await;
    let scope = format!("{ALL} https://www.googleapis.com/auth/gmail.settings.basic");
    let user = User::at_gmail(sandbox.base(), MIRA, &scope).await;
    let id = user.json("messages").await["messages"][0]["id"].clone();
    user.post("labels", json!({ "name": "Here" })).await;
    user.post("labels", json!({ "name": "There" })).await;
    let nobody = user.post("drafts", json!({ "message": { "raw": NOBODY } })).await;
    let bad_to = raw(&["To: nowhere", "Subject: x"], "x");
    let bad_to = user.post("drafts", json!({ "message": { "raw": bad_to } })).await;
    let argument = (400, "invalidArgument");
    let missing = (404, "notFound");
    let stranger = json!({ "message": { "raw": NOBODY, "threadId": "1000000000000001" } });
    let red = json!({ "textColor": "red", "backgroundColor": "#000000" });
    let star = json!({ "addLabelIds": ["STARRED"] });
    let unlabelled = json!({ "addLabelIds": ["Label_9"] });
    for (method, path, body, expected) in cases! {
        "POST", "drafts", json!({}), argument;
        "POST", "drafts", json!({ "message": { "colour": 1 } }), (400, "invalid");
        "POST", "drafts", json!({ "message": { "raw": "!" } }), (400, "invalid");
        "POST", "drafts", stranger, missing;
        "PUT", "drafts/r99", json!({ "message": { "raw": NOBODY } }), missing;
        "GET", "drafts/1", Value::Null, missing;
        "POST", "drafts/send", json!({}), argument;
        "POST", "drafts/send", json!({ "id": "r99" }), missing;
        "POST", "drafts/send", json!({ "id": nobody["id"] }), argument;
        "POST", "drafts/send", json!({ "id": bad_to["id"] }), argument;
        "POST", "messages/batchModify", json!({ "ids": [id] }), argument;
        "POST", "messages/batchModify", star.clone(), argument;
        "POST", "messages/batchModify", json!({ "ids": [id], "addLabelIds": ["SENT"] }), argument;
        "POST", "messages/batchModify", json!({ "ids": [id], "addLabelIds": ["None"] }), argument;
        "POST", "messages/batchModify",
            json!({ "ids": vec![&id; 1_001], "addLabelIds": ["STARRED"] }), argument;
        "POST", "messages/1000000000000001/trash", Value::Null, missing;
        "POST", "messages/xyz/trash", Value::Null, argument;
        "POST", "labels", json!({ "name": "a//b" }), argument;
        "POST", "labels", json!({ "name": "inbox" }), argument;
        "POST", "labels", json!({ "name": "here" }), (409, "aborted");
        "PATCH", "labels/Label_2", json!({ "name": "Here" }), (409, "aborted");
        "POST", "labels", json!({ "name": "x", "color": red }), argument;
        "DELETE", "labels/INBOX", Value::Null, argument;
        "DELETE", "labels/Label_9", Value::Null, missing;
        "POST", "settings/filters", json!({ "action": star }), argument;
        "POST", "settings/filters", json!({ "criteria": { "from": "a" }, "action": unlabelled }),
            argument;
        "GET", "settings/filters/none", Value::Null, missing;
        "GET", "settings/sendAs/zoe@example.com", Value::Null, missing;
        "PUT", "settings/vacation", json!({ "enableAutoReply": true }), argument;
        "PATCH", "drafts/r1", json!({}), missing;
    } {
        let (status, reason, _) = user.refused(method, path, body.clone()).await;
        assert_eq!((status, reason.as_str()), expected, "{method} {path} {body}");
    }
    // Nothing of it has come to anything.
    assert_eq!(user.json("profile").await["messagesTotal"], 3);
}

/// Each scope opens the listed methods and no others, regardless of the request.
#[tokio::test]
async fn each_scope_allows_only_its_methods() {
    const METHODS: [(&str, &str, &str); 10] = [
        ("draft list", "GET", "drafts"),
        ("draft", "POST", "drafts"),
        ("draft send", "POST", "drafts/send"),
        ("batch", "POST", "messages/batchModify"),
        ("batch delete", "POST", "messages/batchDelete"),
        ("label", "POST", "labels"),
        ("filters", "GET", "settings/filters"),
        ("filter", "POST", "settings/filters"),
        ("vacation", "PUT", "settings/vacation"),
        ("signature", "PATCH", "settings/sendAs/mira@example.com"),
    ];
    let sandbox = sandbox().await;
    for (scope, opened) in cases! {
        "gmail.readonly", "draft list, filters";
        "gmail.modify", "draft list, draft, draft send, batch, label, filters";
        "gmail.compose", "draft list, draft, draft send";
        "gmail.labels", "label";
        "gmail.settings.basic", "filters, filter, vacation, signature";
        "https://mail.google.com/",
            "draft list, draft, draft send, batch, batch delete, label, filters";
    } {
        let full = if scope.contains("://") {
            scope.to_owned()
        } else {
            format!("https://www.googleapis.com/auth/{scope}")
        };
        let user = User::at_gmail(sandbox.base(), MIRA, &full).await;
        let mut open = Vec::new();
        for (name, method, path) in METHODS {
            let refused = user.refused(method, path, Value::Null).await;
            if refused.1 != "insufficientPermissions" {
                open.push(name);
            }
        }
        assert_eq!(open.join(", "), opened, "{scope}");
    }
}
