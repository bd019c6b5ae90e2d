//! Messages that arrive, change and disappear while the sandbox runs, and Gmail's history of them.

use super::*;

const GMAIL: &str = "https://www.googleapis.com/auth/gmail.readonly";

async fn reader(sandbox: &Sandbox) -> User {
    User::at_gmail(sandbox.base(), MIRA, GMAIL).await
}

/// Returns the current history id.
async fn now(user: &User) -> String {
    user.json("profile").await["historyId"].as_str().unwrap().to_owned()
}

fn message(id: &str, more: &str) -> Vec<u8> {
    format!("From: a@example.com\nMessage-ID: <{id}>\nSubject: plan\n{more}\nhello\n").into_bytes()
}

#[tokio::test]
async fn message_changes_appear_in_the_history() {
    let sandbox = sandbox().await;
    let mira = reader(&sandbox).await;
    let start = now(&mira).await;
    let none = mira.json(&format!("history?startHistoryId={start}")).await;
    assert_eq!(none, json!({ "historyId": start }));

    // The second answers the first, though it says that it is older.
    assert!(sandbox.deliver(MIRA, &message("one", "")).unwrap());
    let answer = message("two", "In-Reply-To: <one>\nDate: Mon, 5 Jan 2026 10:00:00 +0000\n");
    assert!(sandbox.deliver(MIRA, &answer).unwrap());
    assert!(!sandbox.deliver(MIRA, &answer).unwrap(), "it is there already");
    assert!(!sandbox.deliver("nobody@example.com", &answer).unwrap());
    assert!(sandbox.deliver(MIRA, b"no letter").is_err());
    assert!(sandbox.relabel(MIRA, "one", &["INBOX", "STARRED"]));
    assert!(sandbox.discard(MIRA, "two"));
    assert!(!sandbox.discard(MIRA, "two"));

    let reported = mira.json(&format!("history?startHistoryId={start}")).await;
    let one = &reported["history"][0]["messages"][0];
    let two = &reported["history"][1]["messages"][0];
    assert_ne!(one["id"], two["id"]);
    assert_eq!(one["id"], one["threadId"]);
    assert_eq!(two["threadId"], one["threadId"]);
    let number: u64 = start.parse().unwrap();
    let at = |after: u64| (number + after).to_string();
    let labelled =
        |message: &Value, labels: Value| with(message.clone(), json!({ "labelIds": labels }));
    let came = json!(["UNREAD", "INBOX"]);
    assert_eq!(
        reported,
        json!({
            "history": [
                {
                    "id": at(1), "messages": [one],
                    "messagesAdded": [{ "message": labelled(one, came.clone()) }],
                },
                {
                    "id": at(2), "messages": [two],
                    "messagesAdded": [{ "message": labelled(two, came) }],
                },
                {
                    "id": at(3), "messages": [one],
                    "labelsAdded": [{
                        "message": labelled(one, json!(["INBOX", "STARRED"])),
                        "labelIds": ["STARRED"],
                    }],
                    "labelsRemoved": [{
                        "message": labelled(one, json!(["INBOX", "STARRED"])),
                        "labelIds": ["UNREAD"],
                    }],
                },
                { "id": at(4), "messages": [two], "messagesDeleted": [{ "message": two }] },
            ],
            "historyId": at(4),
        })
    );
    // The lists show the same.
    let list = mira.json("messages").await;
    let ids = each(list["messages"].as_array().unwrap(), "/id");
    assert_eq!(ids.len(), 2);
    assert_eq!(ids[0], one["id"]);
    let message = mira.json(&format!("messages/{}", one["id"].as_str().unwrap())).await;
    assert_eq!(message["labelIds"], json!(["INBOX", "STARRED"]));
    assert_eq!(message["historyId"], at(3));
    let response = mira.get(&format!("messages/{}", two["id"].as_str().unwrap())).await;
    assert_eq!(response.status, 404);

    for (query, found) in [
        ("historyTypes=messageAdded", vec![1, 2]),
        ("historyTypes=labelAdded&historyTypes=messageDeleted", vec![3, 4]),
        ("labelId=STARRED", vec![3]),
        ("maxResults=2", vec![1, 2]),
        ("maxResults=4", vec![1, 2, 3, 4]),
    ] {
        let page = mira.json(&format!("history?startHistoryId={start}&{query}")).await;
        let found: Vec<_> = found.into_iter().map(at).collect();
        assert_eq!(each(page["history"].as_array().unwrap(), "/id"), found, "{query}");
        let more = query == "maxResults=2";
        assert_eq!(page["nextPageToken"].is_string(), more, "{query}");
        if more {
            let next = page["nextPageToken"].as_str().unwrap();
            let path = format!("history?startHistoryId={start}&{query}&pageToken={next}");
            let rest = mira.json(&path).await;
            assert_eq!(each(rest["history"].as_array().unwrap(), "/id"), [at(3), at(4)]);
            assert!(rest["nextPageToken"].is_null());
        }
    }
    for (query, status) in [
        ("", 400),
        ("startHistoryId=x", 400),
        ("startHistoryId=1", 404),
        ("startHistoryId=100000&historyTypes=x", 400),
        ("startHistoryId=100000&pageToken=x", 400),
    ] {
        assert_eq!(mira.get(&format!("history?{query}")).await.status, status, "{query}");
    }
    sandbox.expire_sync_tokens();
    let old = mira.get(&format!("history?startHistoryId={}", at(4))).await;
    assert_eq!((old.status, &old.json()["error"]["status"]), (404, &json!("NOT_FOUND")));
    let now = now(&mira).await;
    assert!(mira.json(&format!("history?startHistoryId={now}")).await["history"].is_null());
}
