//! Sending: recipients, labels, and Bcc.

use super::*;

/// Returns the header lines of a message.
fn head(message: &str) -> Vec<&str> {
    let (head, _) = message.split_once("\r\n\r\n").unwrap();
    head.split("\r\n").collect()
}

#[tokio::test]
async fn copies_reach_all_recipients_without_bcc() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let lines = [
        "From: Mira <mira@example.com>",
        "To: Shop: nobody@example.org, other@example.org;",
        "Bcc: Zoe",
        "  <zoe@example.com>",
        "Subject: Quiet",
        "Message-ID: <quiet@example.com>",
    ];
    let body = json!({ "raw": raw(&lines, "hello") });
    let sent = user.sends(body).await;
    let mut seen = Vec::new();
    assert_eq!(
        steady(sent.clone(), &mut seen),
        json!({ "id": "#1", "threadId": "#2", "labelIds": ["SENT"] })
    );
    assert_eq!(user.bytes(&sent["id"]).await, wire(&lines, "hello"));

    let zoe = signed_in(&sandbox, ZOE).await;
    let found = zoe.json("messages?q=subject:quiet").await["messages"][0].clone();
    let copy = zoe.bytes(&found["id"]).await;
    let head = head(&copy);
    assert!(head[1].starts_with("Received: from sandbox.example "), "{copy}");
    assert_eq!(
        [&head[..1], &head[2..]].concat(),
        [
            "Delivered-To: zoe@example.com",
            "From: Mira <mira@example.com>",
            "To: Shop: nobody@example.org, other@example.org;",
            "Subject: Quiet",
            "Message-ID: <quiet@example.com>",
            "Date: Tue, 3 Nov 2026 10:00:00 +0000",
        ]
    );
    assert!(copy.ends_with("\r\n\r\nhello\r\n"), "{copy}");
}

/// Each send is delivered, even if the same message was sent before.
#[tokio::test]
async fn message_sent_twice_arrives_twice() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let lines = [
        "From: mira@example.com",
        "To: zoe@example.com, ZOE@example.com",
        "Cc: zoe@example.com",
        "Message-ID: <twice@example.com>",
        "Subject: Twice",
    ];
    for _ in 0..2 {
        user.sends(json!({ "raw": raw(&lines, "x") })).await;
    }
    assert_eq!(sandbox.labels_of(MIRA, "twice@example.com"), [["SENT"], ["SENT"]]);
    assert_eq!(
        sandbox.labels_of(ZOE, "twice@example.com"),
        [["UNREAD", "INBOX"], ["UNREAD", "INBOX"]]
    );
    assert_eq!(sandbox.labels_of("nobody@example.org", "twice@example.com").len(), 0);
}

#[tokio::test]
async fn reply_joins_the_thread_on_both_sides() {
    let sandbox = sandbox().await;
    let (mira, zoe) = (signed_in(&sandbox, MIRA).await, signed_in(&sandbox, ZOE).await);
    let ask = [
        "From: mira@example.com",
        "To: zoe@example.com",
        "Subject: Cable",
        "Message-ID: <ask@example.com>",
    ];
    let question = mira.sends(json!({ "raw": raw(&ask, "?") })).await;
    let came = zoe.json("messages?q=subject:cable").await["messages"][0].clone();
    let reply = [
        "From: zoe@example.com",
        "To: mira@example.com",
        "Subject: AW: Cable",
        "In-Reply-To: <ask@example.com>",
        "Message-ID: <reply@example.com>",
    ];
    let body = json!({ "raw": raw(&reply, "!"), "threadId": came["threadId"] });
    let answered = zoe.sends(body).await;
    assert_eq!(answered["threadId"], came["threadId"]);
    let path = format!("threads/{}?format=minimal", question["threadId"].as_str().unwrap());
    let thread = mira.json(&path).await;
    let ids = [&question["threadId"], &question["id"]];
    let mut seen = ids.map(|id| id.as_str().unwrap().to_owned()).to_vec();
    let mut shown = steady(thread, &mut seen);
    for message in shown["messages"].as_array_mut().unwrap() {
        message.as_object_mut().unwrap().remove("sizeEstimate");
    }
    assert_eq!(
        shown,
        json!({
            "id": "#1", "historyId": "…",
            "messages": [
                {
                    "id": "#2", "threadId": "#1", "labelIds": ["SENT"], "snippet": "?",
                    "historyId": "…", "internalDate": "…",
                },
                {
                    "id": "#3", "threadId": "#1", "labelIds": ["UNREAD", "INBOX"],
                    "snippet": "!", "historyId": "…", "internalDate": "…",
                },
            ],
        })
    );
}

/// A message to one's own address is stored once, to one's own tagged address twice. A tagged
/// `From` is kept; the address of another person is replaced.
#[tokio::test]
async fn sender_is_always_the_owner() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    for (from, to, shown, labels) in cases! {
        "mira@example.com", "mira@example.com", "mira@example.com",
            vec![vec!["UNREAD", "SENT", "INBOX"]];
        "zoe@example.com", "a@example.org", "mira@example.com", vec![vec!["SENT"]];
        "mira+news@example.com", "a@example.org", "mira+news@example.com", vec![vec!["SENT"]];
        "mira@example.com", "mira+lamps@example.com", "mira@example.com",
            vec![vec!["UNREAD", "INBOX"], vec!["SENT"]];
    } {
        let id = format!("{from}.{to}");
        let lines = [format!("From: {from}"), format!("To: {to}"), format!("Message-ID: <{id}>")];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let sent = user.sends(json!({ "raw": raw(&lines, "x") })).await;
        let message = user.bytes(&sent["id"]).await;
        assert!(message.contains(&format!("From: {shown}\r\n")), "{message}");
        let mut found = sandbox.labels_of(MIRA, &id);
        found.sort_by_key(|labels| labels.contains(&"SENT".to_owned()));
        assert_eq!(found, labels, "{from} to {to}");
    }
}
