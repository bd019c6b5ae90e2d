//! How a mailbox is set up: rules, settings, categories, contacts.

use serde_json::{Value, json};

use super::{ANA, BEN, at, changed, does, made, mira, people, refused};
use crate::common::client::encoded;
use crate::graph_client::{column, text};

const RULES: &str = "me/mailFolders/inbox/messageRules";

/// Rules are kept as they are sent.
#[tokio::test]
async fn rules_are_stored() {
    let (_dir, _sandbox, user) = mira().await;
    let folder = made(&user, "me/mailFolders", json!({ "displayName": "Bills" })).await;
    let rule = made(&user, RULES, json!({
        "displayName": "Bills", "sequence": 2,
        "conditions": { "subjectContains": ["invoice", "bill"] },
        "exceptions": { "senderContains": ["ben"] },
        "actions": { "moveToFolder": folder["id"], "assignCategories": ["Money"], "markAsRead": true },
    }))
    .await;
    assert_eq!(
        rule,
        json!({
            "@odata.context": rule["@odata.context"], "id": rule["id"], "displayName": "Bills",
            "sequence": 2, "isEnabled": true, "hasError": false, "isReadOnly": false,
            "conditions": { "subjectContains": ["invoice", "bill"] },
            "actions": {
                "moveToFolder": folder["id"], "assignCategories": ["Money"], "markAsRead": true,
            },
            "exceptions": { "senderContains": ["ben"] },
        })
    );
    let first = made(
        &user,
        RULES,
        json!({
            "displayName": "Away", "sequence": 1, "isEnabled": false,
            "conditions": { "fromAddresses": people(&[ANA]) },
            "actions": { "delete": true, "stopProcessingRules": true },
        }),
    )
    .await;
    assert_eq!(column(&user.json(RULES).await, "displayName"), ["Away", "Bills"]);
    let path = format!("{RULES}/{}", encoded(text(&first["id"])));
    let on = changed(&user, &path, json!({ "isEnabled": true })).await;
    assert_eq!((&on["isEnabled"], &on["displayName"]), (&json!(true), &json!("Away")));
    does(&user, "DELETE", &path, Value::Null, 204).await;
    assert_eq!(
        user.json(&format!("{RULES}?%24select=displayName")).await["value"],
        json!([{ "id": rule["id"], "displayName": "Bills" }])
    );
    for (method, path, body, status, code) in cases! {
        "POST", RULES, json!({ "displayName": "x" }), 400, "ErrorInvalidRequest";
        "POST", RULES,
            json!({ "displayName": "x", "sequence": 0, "actions": { "markAsRead": true } }), 400,
            "ErrorInboxRulesValidationError";
        "POST", RULES, json!({ "displayName": "x", "actions": { "moveToFolder": "nowhere" } }), 400,
            "ErrorInboxRulesValidationError";
        "POST", RULES, json!({ "displayName": "x", "actions": { "explode": true } }), 400,
            "RequestBodyRead";
        "POST", "me/mailFolders/archive/messageRules", json!({}), 400, "ErrorInvalidRequest";
        "DELETE", path.as_str(), Value::Null, 404, "ErrorItemNotFound";
    } {
        let reply = user.write(method, path, &[], &body).await;
        assert_eq!(refused(&reply), (status, code.to_owned()), "{path} {body}");
    }
}

/// Settings are merged, and told as they are kept.
#[tokio::test]
async fn settings_are_merged_and_returned() {
    let (_dir, _sandbox, user) = mira().await;
    let before = user.json("me/mailboxSettings").await;
    let time = |time: &str| json!({ "dateTime": time, "timeZone": "W. Europe Standard Time" });
    let after = changed(
        &user,
        "me/mailboxSettings",
        json!({
            "automaticRepliesSetting": {
                "status": "Scheduled", "externalAudience": "contactsOnly",
                "internalReplyMessage": "<p>Away</p>",
                "scheduledStartDateTime": time("2026-03-01T08:00:00"),
                "scheduledEndDateTime": time("2026-03-08T08:00:00"),
            },
            "timeZone": "Pacific Standard Time", "language": { "locale": "nb-NO" },
        }),
    )
    .await;
    let mut expected = before.clone();
    expected["automaticRepliesSetting"] = json!({
        "status": "scheduled", "externalAudience": "contactsOnly",
        "internalReplyMessage": "<p>Away</p>", "externalReplyMessage": "",
        "scheduledStartDateTime": time("2026-03-01T08:00:00.0000000"),
        "scheduledEndDateTime": time("2026-03-08T08:00:00.0000000"),
    });
    expected["timeZone"] = "Pacific Standard Time".into();
    expected["language"] = json!({ "locale": "nb-NO", "displayName": "nb-NO" });
    expected["workingHours"]["timeZone"]["name"] = "Pacific Standard Time".into();
    assert_eq!(after, expected);
    assert_eq!(user.json("me/mailboxSettings").await, expected);
    for (body, code) in cases! {
        json!({ "timeZone": "Mars" }), "TimeZoneNotSupportedException";
        json!({ "language": { "locale": "?" } }), "ErrorPropertyValidationFailure";
        json!({ "automaticRepliesSetting": { "status": "scheduled", "scheduledEndDateTime": time("2026-02-01T08:00:00") } }),
            "ErrorPropertyValidationFailure";
        json!({ "automaticRepliesSetting": { "status": "perhaps" } }), "RequestBodyRead";
        json!({ "signature": "x" }), "RequestBodyRead";
    } {
        let reply = user.write("PATCH", "me/mailboxSettings", &[], &body).await;
        assert_eq!(refused(&reply), (400, code.to_owned()), "{body}");
    }
    assert_eq!(user.json("me/mailboxSettings").await, expected);
}

/// The list of categories, which messages do not change and do not follow.
#[tokio::test]
async fn categories_are_managed_independently_of_messages() {
    const LIST: &str = "me/outlook/masterCategories";
    let (_dir, _sandbox, user) = mira().await;
    let before = column(&user.json(LIST).await, "displayName");
    let made_one = made(&user, LIST, json!({ "displayName": "Travel", "color": "preset7" })).await;
    assert_eq!(
        made_one,
        json!({ "@odata.context": made_one["@odata.context"], "id": made_one["id"], "displayName": "Travel", "color": "preset7" })
    );
    let path = format!("{LIST}/{}", text(&made_one["id"]));
    let after = changed(&user, &path, json!({ "color": "preset3" })).await;
    assert_eq!(after["color"], "preset3");
    let list = user.json(LIST).await["value"].clone();
    assert!(list.as_array().unwrap().iter().any(|one| one["color"] == "preset3"));
    for (method, path, body, status, code) in cases! {
        "POST", LIST, json!({ "displayName": "travel" }), 409, "CategoryNameDuplicate";
        "POST", LIST, json!({ "displayName": "x", "color": "blue" }), 400, "RequestBodyRead";
        "PATCH", path.as_str(), json!({ "displayName": "Trips" }), 400,
            "ErrorPropertyValidationFailure";
        "DELETE", "me/outlook/masterCategories/none", Value::Null, 404, "ErrorItemNotFound";
    } {
        let reply = user.write(method, path, &[], &body).await;
        assert_eq!(refused(&reply), (status, code.to_owned()), "{body}");
    }
    let message = user.message("Report 5").await;
    changed(&user, &at(&message), json!({ "categories": ["Travel", "Unheard of"] })).await;
    does(&user, "DELETE", &path, Value::Null, 204).await;
    assert_eq!(column(&user.json(LIST).await, "displayName"), before);
    let now = user.json(&at(&message)).await;
    assert_eq!(now["categories"], json!(["Travel", "Unheard of"]));
}

/// Contacts that somebody makes, and those that the mail makes known.
#[tokio::test]
async fn contacts_are_created_changed_and_deleted() {
    let (_dir, _sandbox, user) = mira().await;
    let known = user.json("me/contacts").await["value"][0].clone();
    assert_eq!(known["emailAddresses"][0]["address"], "all@example.com");
    let card = made(
        &user,
        "me/contacts",
        json!({
            "displayName": "Ben Ochs", "companyName": "Other",
            "emailAddresses": [{ "address": BEN }], "businessPhones": ["+49 30 1"],
        }),
    )
    .await;
    assert_eq!(
        card,
        json!({
            "@odata.context": card["@odata.context"], "id": card["id"],
            "createdDateTime": card["createdDateTime"],
            "lastModifiedDateTime": card["lastModifiedDateTime"], "changeKey": card["changeKey"],
            "categories": [], "parentFolderId": known["parentFolderId"], "displayName": "Ben Ochs",
            "emailAddresses": [{ "name": BEN, "address": BEN }], "companyName": "Other",
            "jobTitle": null, "businessPhones": ["+49 30 1"], "mobilePhone": null,
        })
    );
    let path = format!("me/contacts/{}", encoded(text(&card["id"])));
    let after = changed(&user, &path, json!({ "jobTitle": "Cook" })).await;
    assert_eq!((&after["jobTitle"], &after["companyName"]), (&json!("Cook"), &json!("Other")));
    assert_ne!(after["changeKey"], card["changeKey"]);
    let old = format!("me/contacts/{}", encoded(text(&known["id"])));
    changed(&user, &old, json!({ "displayName": "Everybody" })).await;
    assert_eq!(column(&user.json("me/contacts").await, "displayName"), ["Everybody", "Ben Ochs"]);
    let query = encoded(&format!("emailAddresses/any(a:a/address eq '{BEN}')"));
    let found = user.json(&format!("me/contacts?%24filter={query}")).await;
    assert_eq!(column(&found, "displayName"), ["Ben Ochs"]);
    for path in [&path, &old] {
        does(&user, "DELETE", path, Value::Null, 204).await;
        let reply = user.get(path).await;
        assert_eq!(refused(&reply), (404, "ErrorItemNotFound".to_owned()));
    }
    assert_eq!(user.json("me/contacts").await["value"], json!([]));
}
