//! The labels themselves.

use super::*;

fn label(id: &str, name: &str) -> Value {
    json!({
        "id": id, "name": name, "messageListVisibility": "show",
        "labelListVisibility": "labelShow", "type": "user",
    })
}

#[tokio::test]
async fn label_is_created_changed_and_deleted() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let made = user.post("labels", json!({ "name": "Lamps/Linen" })).await;
    assert_eq!(made, label("Label_1", "Lamps/Linen"));
    let colour = json!({ "textColor": "#ffffff", "backgroundColor": "#16a766" });
    let body = json!({ "color": colour, "labelListVisibility": "labelHide" });
    let mut expected = label("Label_1", "Lamps/Linen");
    expected["color"] = colour;
    expected["labelListVisibility"] = "labelHide".into();
    assert_eq!(user.ok("PATCH", "labels/Label_1", body).await, expected);
    expected["name"] = "Lamps/Silk".into();
    assert_eq!(user.ok("PATCH", "labels/Label_1", json!({ "name": "Lamps/Silk" })).await, expected);
    let own: Vec<Value> = user.json("labels").await["labels"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|label| label["type"] == "user")
        .cloned()
        .collect();
    assert_eq!(own, [expected]);

    let message = user.json("messages").await["messages"][0].clone();
    let path = at("messages", &message);
    user.relabels(&message, &["Label_1"], &[]).await;
    let found = user.json("messages?q=label:lamps-silk").await;
    assert_eq!(found["messages"], json!([message]));
    assert_eq!(user.call("DELETE", "labels/Label_1", Value::Null).await, (204, Value::Null));
    let shown = user.json(&format!("{path}?format=minimal&fields=labelIds")).await;
    assert_eq!(shown, json!({ "labelIds": ["UNREAD", "INBOX"] }));
    assert_eq!(user.call("GET", "labels/Label_1", Value::Null).await.0, 404);
    // An id is not given twice.
    assert_eq!(user.post("labels", json!({ "name": "Silk" })).await, label("Label_2", "Silk"));
}
