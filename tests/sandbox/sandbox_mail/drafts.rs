//! Drafts from the first to the last: made, read, listed, changed, sent,
//! deleted.

use super::*;

const HEAD: [&str; 4] = [
    "From: Mira <mira@example.com>",
    "To: zoe@example.com",
    "Subject: Plan",
    "Message-ID: <plan@example.com>",
];

#[tokio::test]
async fn draft_is_created_changed_and_sent() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let mut seen = Vec::new();

    let made = user.post("drafts", json!({ "message": { "raw": raw(&HEAD, "one") } })).await;
    assert_eq!(
        steady(made.clone(), &mut seen),
        json!({ "id": "#1", "message": { "id": "#2", "threadId": "#2", "labelIds": ["DRAFT"] } })
    );

    let path = at("drafts", &made);
    assert_eq!(
        steady(user.json(&format!("{path}?format=minimal")).await, &mut seen),
        json!({
            "id": "#1",
            "message": {
                "id": "#2", "threadId": "#2", "labelIds": ["DRAFT"], "snippet": "one",
                "sizeEstimate": 144, "historyId": "…", "internalDate": "…",
            },
        })
    );
    assert_eq!(
        steady(user.json("drafts").await, &mut seen),
        json!({
            "drafts": [{ "id": "#1", "message": { "id": "#2", "threadId": "#2" } }],
            "resultSizeEstimate": 1,
        })
    );
    assert_eq!(user.json("drafts?q=nothing").await, json!({ "resultSizeEstimate": 0 }));

    // Another message under the same draft id, in the same conversation.
    let changed = user.ok("PUT", &path, json!({ "message": { "raw": raw(&HEAD, "two") } })).await;
    assert_eq!(
        steady(changed.clone(), &mut seen),
        json!({ "id": "#1", "message": { "id": "#3", "threadId": "#2", "labelIds": ["DRAFT"] } })
    );
    let gone = at("messages", &made["message"]);
    assert_eq!(user.call("GET", &gone, Value::Null).await.0, 404);
    assert_eq!(user.bytes(&changed["message"]["id"]).await, wire(&HEAD, "two"));

    let sent = user.post("drafts/send", json!({ "id": made["id"] })).await;
    assert_eq!(
        steady(sent.clone(), &mut seen),
        json!({ "id": "#4", "threadId": "#2", "labelIds": ["SENT"] })
    );
    assert_eq!(user.bytes(&sent["id"]).await, wire(&HEAD, "two"));
    assert_eq!(user.json("drafts").await, json!({ "resultSizeEstimate": 0 }));
    assert_eq!(user.call("GET", &path, Value::Null).await.0, 404);
    assert_eq!(user.call("POST", "drafts/send", json!({ "id": made["id"] })).await.0, 404);
    assert_eq!(sandbox.labels_of(MIRA, "plan@example.com"), [["SENT"]]);
    assert_eq!(sandbox.labels_of(ZOE, "plan@example.com"), [["UNREAD", "INBOX"]]);
}

#[tokio::test]
async fn missing_header_fields_are_added_to_drafts() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let message = "Subject: bare\r\n\r\nx\r\n";
    let made =
        user.post("drafts", json!({ "message": { "raw": URL_SAFE_NO_PAD.encode(message) } })).await;
    let path = format!("{}?format=full&fields=message/payload/headers", at("drafts", &made));
    let headers = user.json(&path).await;
    let headers = headers["message"]["payload"]["headers"].as_array().unwrap();
    let shown: Vec<(&str, &str)> = headers
        .iter()
        .map(|header| {
            let name = header["name"].as_str().unwrap();
            let value = header["value"].as_str().unwrap();
            match name {
                // They hold the time of now.
                "Date" => (name, &value[value.len() - 5..]),
                "Message-ID" => (name, &value[..9]),
                _ => (name, value),
            }
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("Date", "+0000"),
            ("From", "mira@example.com"),
            ("Message-ID", "<sandbox."),
            ("Subject", "bare"),
        ]
    );
}

/// A conversation is joined by a reference and the subject, not by its id.
#[tokio::test]
async fn thread_is_joined_by_reference_and_subject() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let first = user.json("messages").await["messages"][0].clone();
    let thread = first["threadId"].clone();
    for (name, lines, joins) in cases! {
        "an answer", vec!["Subject: Re: Lamps", "In-Reply-To: <first.mira@example.com>"], true;
        "another subject", vec!["Subject: Cables", "In-Reply-To: <first.mira@example.com>"], false;
        "no reference", vec!["Subject: Re: Lamps"], false;
        "a reference to elsewhere", vec!["Subject: Re: Lamps", "References: <other@example.com>"],
            false;
    } {
        let mut head = vec!["From: mira@example.com", "To: zoe@example.com"];
        head.extend(lines);
        let body = json!({ "message": { "raw": raw(&head, name), "threadId": thread } });
        let made = user.post("drafts", body).await;
        assert_eq!(made["message"]["threadId"] == thread, joins, "{name}");
    }
}
