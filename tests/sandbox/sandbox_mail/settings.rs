//! Filters, vacation, signatures, language.

use super::*;

const BASIC: &str = "https://www.googleapis.com/auth/gmail.settings.basic";

#[tokio::test]
async fn filters_are_kept() {
    let sandbox = sandbox().await;
    let owner = User::at_gmail(sandbox.base(), ZOE, &format!("{BASIC} {MODIFY}")).await;
    owner.post("labels", json!({ "name": "Invoices" })).await;
    let bodies = [
        json!({
            "criteria": { "from": "mira@example.com", "subject": "invoice" },
            "action": { "addLabelIds": ["Label_1"], "removeLabelIds": ["INBOX"] },
        }),
        json!({
            "criteria": { "query": "lamp OR cable", "negatedQuery": "silk" },
            "action": { "addLabelIds": ["STARRED"] },
        }),
        json!({
            "criteria": { "to": "zoe+shop@example.com" }, "action": { "addLabelIds": ["TRASH"] },
        }),
    ];
    assert_eq!(owner.json("settings/filters").await, json!({}));
    let mut made = Vec::new();
    for body in bodies {
        let filter = owner.post("settings/filters", body.clone()).await;
        let mut expected = body.clone();
        expected["id"] = filter["id"].clone();
        assert_eq!(filter, expected);
        assert_eq!(
            owner.refused("POST", "settings/filters", body).await,
            (400, "failedPrecondition".to_owned(), "Filter already exists".to_owned())
        );
        made.push(filter);
    }
    assert_eq!(owner.json("settings/filters").await, json!({ "filter": made }));
    assert_eq!(owner.json(&at("settings/filters", &made[1])).await, made[1]);

    let path = at("settings/filters", &made[0]);
    assert_eq!(owner.call("DELETE", &path, Value::Null).await, (204, Value::Null));
    assert_eq!(owner.call("DELETE", &path, Value::Null).await.0, 404);
    assert_eq!(owner.json("settings/filters").await, json!({ "filter": made[1..] }));
}

#[tokio::test]
async fn settings_are_written_and_stored() {
    let sandbox = sandbox().await;
    let user = User::at_gmail(sandbox.base(), MIRA, BASIC).await;
    let on = json!({
        "enableAutoReply": true, "responseSubject": "Away",
        "responseBodyHtml": "<p>Back in May.</p>", "restrictToContacts": true,
        "restrictToDomain": false, "startTime": "1793000000000", "endTime": "1794000000000",
    });
    assert_eq!(user.ok("PUT", "settings/vacation", on.clone()).await, on);
    assert_eq!(user.json("settings/vacation").await, on);
    let off = json!({
        "enableAutoReply": false, "responseSubject": "", "restrictToContacts": false,
        "restrictToDomain": false,
    });
    assert_eq!(user.ok("PUT", "settings/vacation", json!({})).await, off);

    let language = json!({ "displayLanguage": "de" });
    assert_eq!(user.ok("PUT", "settings/language", language.clone()).await, language);
    assert_eq!(user.json("settings/language").await, language);

    let path = "settings/sendAs/mira%2Bnews%40example.com";
    let alias = json!({
        "sendAsEmail": "mira+news@example.com", "displayName": "", "replyToAddress": "",
        "signature": "<b>M.</b>", "treatAsAlias": true, "verificationStatus": "accepted",
    });
    let own = json!({
        "sendAsEmail": "mira@example.com", "displayName": "Mira L.", "replyToAddress": "",
        "signature": "", "isPrimary": true, "isDefault": true,
    });
    assert_eq!(user.ok("PATCH", path, json!({ "signature": "<b>M.</b>" })).await, alias);
    let named = json!({ "displayName": "Mira L." });
    assert_eq!(user.ok("PATCH", "settings/sendAs/mira@example.com", named).await, own);
    assert_eq!(user.json(path).await, alias);
    assert_eq!(user.json("settings/sendAs").await, json!({ "sendAs": [own, alias] }));
}
