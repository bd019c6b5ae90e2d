//! What Gmail refuses, and how: bodies, ids, labels, scopes.

use super::*;

/// A letter to nobody.
const NOBODY: &str = "U3ViamVjdDogeA0KDQp4";

#[tokio::test]
async fn requests_that_make_no_sense_are_refused() {
    let sandbox = sandbox().await;
    let scope = format!("{ALL} https://www.googleapis.com/auth/gmail.settings.basic");
    let user = User::at_gmail(sandbox.base(), MIRA, &scope).await;
    let first = user.json("messages").await["messages"][0].clone();
    let modify = format!("{}/modify", at("messages", &first));
    let bad_to = raw(&["To: nowhere", "Subject: x"], "x");
    user.post("labels", json!({ "name": "Here" })).await;
    user.post("labels", json!({ "name": "There" })).await;
    let missing = "'raw' RFC822 payload message string or uploading message via /upload/* URL \
                   required";
    let not_found = "Requested entity was not found.";
    let unknown = "Invalid JSON payload received. Unknown name \"colour\" at 'message': Cannot \
                   find field.";
    for (method, path, body, status, reason, message) in [
        ("POST", "drafts", json!({}), 400, "invalidArgument", missing),
        ("POST", "drafts", json!({ "message": { "colour": 1 } }), 400, "invalid", unknown),
        (
            "POST",
            "drafts",
            json!({ "message": { "raw": "!" } }),
            400,
            "invalid",
            "Invalid value at 'raw' (TYPE_BYTES), Base64 decoding failed.",
        ),
        (
            "POST",
            "drafts",
            json!({ "message": { "raw": NOBODY, "threadId": "1000000000000001" } }),
            404,
            "notFound",
            not_found,
        ),
        ("PUT", "drafts/r1", json!({ "message": { "raw": NOBODY } }), 404, "notFound", not_found),
        ("GET", "drafts/1", Value::Null, 404, "notFound", not_found),
        ("POST", "drafts/send", json!({}), 400, "invalidArgument", "Invalid draft"),
        ("POST", "drafts/send", json!({ "id": "r1" }), 404, "notFound", not_found),
        (
            "POST",
            "messages/send",
            json!({ "raw": NOBODY }),
            400,
            "invalidArgument",
            "Recipient address required",
        ),
        (
            "POST",
            "messages/send",
            json!({ "raw": bad_to }),
            400,
            "invalidArgument",
            "Invalid To header",
        ),
        ("POST", "messages/send", json!({}), 400, "invalidArgument", missing),
        ("POST", &modify, json!({}), 400, "invalidArgument", "No label add or removes specified"),
        (
            "POST",
            &modify,
            json!({ "addLabelIds": ["Label_9"] }),
            400,
            "invalidArgument",
            "Invalid label: Label_9",
        ),
        (
            "POST",
            &modify,
            json!({ "removeLabelIds": ["SENT"] }),
            400,
            "invalidArgument",
            "Invalid label: SENT",
        ),
        (
            "POST",
            &modify,
            json!({ "addLabelIds": ["DRAFT"] }),
            400,
            "invalidArgument",
            "Invalid label: DRAFT",
        ),
        ("POST", "messages/1000000000000001/trash", Value::Null, 404, "notFound", not_found),
        ("DELETE", "messages/xyz", Value::Null, 400, "invalidArgument", "Invalid id value"),
        ("DELETE", "messages/1000000000000001", Value::Null, 404, "notFound", not_found),
        ("DELETE", "threads/1000000000000001", Value::Null, 404, "notFound", not_found),
        (
            "POST",
            "messages/batchModify",
            json!({ "addLabelIds": ["STARRED"] }),
            400,
            "invalidArgument",
            "No message ids specified",
        ),
        ("POST", "labels", json!({ "name": "" }), 400, "invalidArgument", "Invalid label name"),
        ("POST", "labels", json!({ "name": "a//b" }), 400, "invalidArgument", "Invalid label name"),
        (
            "POST",
            "labels",
            json!({ "name": "inbox" }),
            400,
            "invalidArgument",
            "Invalid label name",
        ),
        (
            "POST",
            "labels",
            json!({ "name": "here" }),
            409,
            "aborted",
            "Label name exists or conflicts",
        ),
        (
            "PATCH",
            "labels/Label_2",
            json!({ "name": "Here" }),
            409,
            "aborted",
            "Label name exists or conflicts",
        ),
        (
            "POST",
            "labels",
            json!({ "name": "x", "color": { "textColor": "red", "backgroundColor": "#000000" } }),
            400,
            "invalidArgument",
            "Label color red is not on the allowed color palette",
        ),
        ("DELETE", "labels/INBOX", Value::Null, 400, "invalidArgument", "Invalid delete request"),
        ("DELETE", "labels/Label_9", Value::Null, 404, "notFound", not_found),
        (
            "POST",
            "settings/filters",
            json!({ "action": { "addLabelIds": ["STARRED"] } }),
            400,
            "invalidArgument",
            "Missing filter criteria",
        ),
        (
            "POST",
            "settings/filters",
            json!({ "criteria": { "from": "a" }, "action": { "addLabelIds": ["Label_9"] } }),
            400,
            "invalidArgument",
            "Invalid label: Label_9",
        ),
        ("GET", "settings/filters/none", Value::Null, 404, "notFound", not_found),
        ("GET", "settings/sendAs/zoe@example.com", Value::Null, 404, "notFound", not_found),
        (
            "PUT",
            "settings/vacation",
            json!({ "enableAutoReply": true }),
            400,
            "invalidArgument",
            "Missing vacation response",
        ),
        ("PATCH", "drafts/r1", json!({}), 404, "notFound", "Method not found."),
    ] {
        let refused = user.refused(method, path, body.clone()).await;
        let wanted = (status, reason.to_owned(), message.to_owned());
        assert_eq!(refused, wanted, "{method} {path} {body}");
    }
    // Nothing of it has come to anything.
    assert_eq!(user.json("profile").await["messagesTotal"], 1);
}

/// The methods that each scope opens: all others are refused, whatever is asked.
#[tokio::test]
async fn every_scope_opens_its_own() {
    const METHODS: [(&str, &str, &str); 14] = [
        ("draft list", "GET", "drafts"),
        ("draft", "POST", "drafts"),
        ("draft send", "POST", "drafts/send"),
        ("send", "POST", "messages/send"),
        ("insert", "POST", "messages"),
        ("modify", "POST", "messages/1/modify"),
        ("batch", "POST", "messages/batchModify"),
        ("delete", "DELETE", "messages/1000000000000001"),
        ("batch delete", "POST", "messages/batchDelete"),
        ("label", "POST", "labels"),
        ("filters", "GET", "settings/filters"),
        ("filter", "POST", "settings/filters"),
        ("vacation", "PUT", "settings/vacation"),
        ("signature", "PATCH", "settings/sendAs/mira@example.com"),
    ];
    let sandbox = sandbox().await;
    for (scope, opened) in [
        ("gmail.readonly", "draft list, filters"),
        (
            "gmail.modify",
            "draft list, draft, draft send, send, insert, modify, batch, label, filters",
        ),
        ("gmail.compose", "draft list, draft, draft send, send"),
        ("gmail.send", "send"),
        ("gmail.insert", "insert"),
        ("gmail.labels", "label"),
        ("gmail.settings.basic", "filters, filter, vacation, signature"),
        ("gmail.metadata", ""),
        (
            "https://mail.google.com/",
            "draft list, draft, draft send, send, insert, modify, batch, delete, batch delete, \
             label, filters",
        ),
    ] {
        let full = match scope.contains("://") {
            true => scope.to_owned(),
            false => format!("https://www.googleapis.com/auth/{scope}"),
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
