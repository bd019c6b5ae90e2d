//! Refused writes, which change nothing.

use serde_json::{Value, json};

use super::{ANA, at, made, mira, people, refused, subjects};
use crate::common::client::{User, encoded};

const RULES: &str = "me/mailFolders/inbox/messageRules";
const CATEGORIES: &str = "me/outlook/masterCategories";

/// Each mistake gets its own refusal, and no write takes effect.
#[tokio::test]
async fn invalid_writes_are_refused_without_effect() {
    let (_dir, _sandbox, user) = mira().await;
    let draft = made(&user, "me/messages", json!({ "subject": "Draft" })).await;
    let path = at(&draft);
    let report = at(&user.message("Report 1").await);
    let odd = encoded(&"A".repeat(152));
    let file = json!({ "@odata.type": "#microsoft.graph.fileAttachment", "name": "a", "contentBytes": "YQ==" });
    let with = |mut body: Value, name: &str, value: Value| {
        body[name] = value;
        body
    };
    let time =
        |day: u8| json!({ "dateTime": format!("2026-03-{day:02}T08:00:00"), "timeZone": "UTC" });
    let cases: Vec<(&str, String, Value, u16, &str)> = Vec::from(cases! {
        // Bodies.
        "POST", "me/messages".into(), Value::Null, 400, "BadRequest";
        "POST", "me/messages".into(), "{".into(), 400, "BadRequest";
        "POST", "me/messages".into(), json!([]), 400, "RequestBodyRead";
        "POST", "me/messages".into(), json!({ "subjekt": "x" }), 400, "RequestBodyRead";
        "POST", "me/messages".into(), json!({ "subject": 1 }), 400, "RequestBodyRead";
        "POST", "me/messages".into(), json!({ "importance": "vital" }), 400, "RequestBodyRead";
        "POST", "me/messages".into(), json!({ "toRecipients": people(&["nobody"]) }), 400,
            "ErrorInvalidRecipients";
        "POST", "me/messages".into(), json!({ "internetMessageId": "x" }), 400, "BadRequest";
        // Messages.
        "PATCH", "me/messages/none".into(), json!({}), 400, "ErrorInvalidIdMalformed";
        "PATCH", format!("me/messages/{odd}"), json!({}), 400, "ErrorInvalidIdMalformed";
        "PATCH", report.clone(), json!({ "subject": "x" }), 400, "ErrorInvalidPropertySet";
        "PATCH", report.clone(), json!({ "internetMessageId": "<a@b>" }), 400,
            "ErrorInvalidPropertySet";
        "PATCH", report.clone(), json!({ "flag": { "dueDateTime": time(3) } }), 400,
            "ErrorInvalidRequest";
        "PATCH", report.clone(),
            json!({ "flag": { "startDateTime": time(4), "dueDateTime": time(3) } }), 400,
            "ErrorInvalidRequest";
        "POST", format!("{report}/move"), json!({}), 400, "RequestBodyRead";
        "POST", format!("{report}/move"), json!({ "destinationId": "nowhere" }), 400,
            "ErrorInvalidIdMalformed";
        "POST", format!("{report}/copy"), json!({ "destination": "inbox" }), 400, "RequestBodyRead";
        "POST", format!("{report}/explode"), json!({}), 400, "BadRequest";
        // Sending.
        "POST", format!("{path}/send"), Value::Null, 400, "ErrorInvalidRecipients";
        "POST", format!("{report}/send"), Value::Null, 400, "ErrorInvalidPropertySet";
        // Attachments.
        "POST", format!("{report}/attachments"), file.clone(), 400, "ErrorInvalidPropertySet";
        "POST", format!("{path}/attachments"),
            with(file.clone(), "@odata.type", "#microsoft.graph.referenceAttachment".into()), 400,
            "RequestBodyRead";
        "POST", format!("{path}/attachments"), with(file.clone(), "name", "".into()), 400,
            "ErrorPropertyValidationFailure";
        "POST", format!("{path}/attachments"), with(file.clone(), "contentBytes", "?".into()), 400,
            "RequestBodyRead";
        "DELETE", format!("{path}/attachments/none"), Value::Null, 400, "ErrorInvalidIdMalformed";
        "POST", format!("{path}/attachments/createUploadSession"),
            json!({ "attachmentItem": { "attachmentType": "file", "name": "a", "size": 0 } }), 400,
            "ErrorPropertyValidationFailure";
        "POST", format!("{path}/attachments/createUploadSession"),
            json!({ "attachmentItem": { "attachmentType": "file", "name": "a", "size": 200_000_000 } }),
            413, "RequestEntityTooLarge";
        // What a mailbox is set up with.
        "PATCH", "me/mailboxSettings".into(), json!({ "timeZone": "Mars" }), 400,
            "TimeZoneNotSupportedException";
        "PATCH", "me/mailboxSettings".into(), json!({ "language": { "locale": "?" } }), 400,
            "ErrorPropertyValidationFailure";
        "PATCH", "me/mailboxSettings".into(),
            json!({ "automaticRepliesSetting": {
                "status": "scheduled",
                "scheduledEndDateTime": { "dateTime": "2025-02-01T08:00:00", "timeZone": "UTC" },
            } }),
            400, "ErrorPropertyValidationFailure";
        "PATCH", "me/mailboxSettings".into(),
            json!({ "automaticRepliesSetting": { "status": "perhaps" } }), 400, "RequestBodyRead";
        "PATCH", "me/mailboxSettings".into(), json!({ "signature": "x" }), 400, "RequestBodyRead";
        "POST", RULES.into(), json!({ "displayName": "x" }), 400, "ErrorInvalidRequest";
        "POST", RULES.into(),
            json!({ "displayName": "x", "sequence": 0, "actions": { "markAsRead": true } }), 400,
            "ErrorInboxRulesValidationError";
        "POST", RULES.into(),
            json!({ "displayName": "x", "actions": { "moveToFolder": "nowhere" } }), 400,
            "ErrorInboxRulesValidationError";
        "POST", RULES.into(), json!({ "displayName": "x", "actions": { "explode": true } }), 400,
            "RequestBodyRead";
        "POST", "me/mailFolders/archive/messageRules".into(), json!({}), 400,
            "ErrorInvalidRequest";
        "DELETE", format!("{RULES}/none"), Value::Null, 404, "ErrorItemNotFound";
        "POST", CATEGORIES.into(), json!({ "displayName": "Forums" }), 409,
            "CategoryNameDuplicate";
        "POST", CATEGORIES.into(), json!({ "displayName": "x", "color": "blue" }), 400,
            "RequestBodyRead";
        "DELETE", format!("{CATEGORIES}/none"), Value::Null, 404, "ErrorItemNotFound";
        "GET", "me/contacts/none".into(), Value::Null, 404, "ErrorItemNotFound";
        // Methods.
        "PUT", path.clone(), json!({}), 405, "Request_BadRequest";
        "PATCH", "me/messages".into(), json!({}), 405, "Request_BadRequest";
        "DELETE", format!("{path}/send"), Value::Null, 405, "Request_BadRequest";
    });
    for (method, path, body, status, code) in cases {
        let reply = user.write(method, &path, &[], &body).await;
        assert_eq!(refused(&reply), (status, code.to_owned()), "{method} {path} {body}");
    }
    assert_eq!(user.json(&path).await["changeKey"], draft["changeKey"]);
    assert_eq!(subjects(&user, "inbox").await.len(), 20);
    assert_eq!(subjects(&user, "drafts").await, ["Draft"]);
    assert_eq!(subjects(&user, "sentitems").await, ["Hello"]);
}

/// Each write requires its permission.
#[tokio::test]
async fn every_write_needs_its_permission() {
    let (_dir, sandbox, full) = mira().await;
    let report = at(&full.message("Report 1").await);
    let draft = at(&made(&full, "me/messages", json!({ "toRecipients": people(&[ANA]) })).await);
    let writes = cases! {
        "Mail.ReadWrite", "POST", "me/messages".to_owned(), json!({ "subject": "x" });
        "Mail.ReadWrite", "PATCH", report.clone(), json!({ "isRead": true });
        "Mail.ReadWrite", "POST", format!("{report}/createReply"), json!({});
        "Mail.ReadWrite", "POST", "me/mailFolders".to_owned(), json!({ "displayName": "x" });
        "Mail.Send", "POST", format!("{draft}/send"), json!({});
        "MailboxSettings.ReadWrite", "PATCH", "me/mailboxSettings".to_owned(), json!({});
        "MailboxSettings.ReadWrite", "POST", "me/outlook/masterCategories".to_owned(),
            json!({ "displayName": "x" });
        "Contacts.ReadWrite", "POST", "me/contacts".to_owned(), json!({ "displayName": "x" });
    };
    let all = ["Mail.ReadWrite", "Mail.Send", "MailboxSettings.ReadWrite", "Contacts.ReadWrite"];
    for (needed, method, path, body) in writes {
        let others: Vec<&str> = all.into_iter().filter(|it| *it != needed).collect();
        let without = User::at_graph(sandbox.base(), "mira@example.com", &others.join(" ")).await;
        let reply = without.write(method, &path, &[], &body).await;
        assert_eq!(refused(&reply), (403, "ErrorAccessDenied".to_owned()), "{method} {path}");
        let with = User::at_graph(sandbox.base(), "mira@example.com", needed).await;
        let reply = with.write(method, &path, &[], &body).await;
        assert_eq!(reply.status / 100, 2, "{method} {path}: {}", reply.text());
    }
}
