//! Filters.

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
