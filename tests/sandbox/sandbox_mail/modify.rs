//! Adding and removing labels of messages.

use super::*;

/// Returns the only message that the mailbox has at the start.
async fn first(user: &User) -> Value {
    user.json("messages").await["messages"][0].clone()
}

#[tokio::test]
async fn labels_are_added_and_removed() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let message = first(&user).await;
    let path = at("messages", &message);
    for (add, remove, labels) in [
        (&["STARRED"][..], &["UNREAD"][..], &["INBOX", "STARRED"][..]),
        (&["STARRED"], &[], &["INBOX", "STARRED"]),
        (&["TRASH"], &[], &["STARRED", "TRASH"]),
        (&[], &["TRASH"], &["STARRED"]),
        (&["INBOX", "IMPORTANT"], &[], &["STARRED", "INBOX", "IMPORTANT"]),
        (&["SPAM"], &[], &["STARRED", "IMPORTANT", "SPAM"]),
    ] {
        user.relabels(&message, add, remove).await;
        let shown = user.json(&format!("{path}?format=minimal")).await;
        assert_eq!(shown["labelIds"], json!(labels), "{add:?} {remove:?}");
    }
    let trashed = user.post(&format!("{path}/trash"), Value::Null).await;
    assert_eq!(trashed["labelIds"], json!(["STARRED", "IMPORTANT", "TRASH"]));
    let change = json!({ "addLabelIds": ["INBOX"], "removeLabelIds": ["TRASH", "IMPORTANT"] });
    let alone = user.post(&format!("{path}/modify"), change.clone()).await;
    assert_eq!(alone["labelIds"], json!(["STARRED", "INBOX"]));
    assert_eq!(user.call("POST", "messages/1/modify", change).await.0, 404);
}

#[tokio::test]
async fn parts_of_a_batch_are_answered_one_by_one() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let id = first(&user).await["id"].as_str().unwrap().to_owned();
    let part = |name: &str, request: &str| {
        format!("--b\nContent-Type: application/http\nContent-ID: <{name}>\n\n{request}\n")
    };
    let gmail = "/gmail/v1/users/me";
    let body = [
        part("x + 1", &format!("GET {gmail}/messages/{id}?format=minimal&fields=id HTTP/1.1\n")),
        part("x + 2", &format!("GET {gmail}/messages/1 HTTP/1.1\nHost: gmail.example\n")),
        part(
            "x + 3",
            &format!(
                "POST {gmail}/messages/{id}/modify HTTP/1.1\nContent-Type: application/json\n\n\
                 {{\"addLabelIds\": [\"STARRED\"]}}"
            ),
        ),
        "--b--\n".to_owned(),
    ]
    .concat();
    let kind = [("content-type", "multipart/mixed; boundary=\"b\"")];
    let reply = user.bearing("POST", "/batch", &kind, body.replace('\n', "\r\n")).await;
    let (_, border) = reply.header("content-type").split_once("boundary=").unwrap();
    let text = reply.text();
    let parts: Vec<&str> = text.split(&format!("--{border}")).collect();
    assert_eq!((reply.status, parts.len(), parts[4]), (200, 5, "--\r\n"), "{text}");
    for (part, name, status, has) in [
        (parts[1], "x + 1", "200 OK", id.as_str()),
        (parts[2], "x + 2", "404 Not Found", "Requested entity was not found."),
        (parts[3], "x + 3", "200 OK", "\"STARRED\""),
    ] {
        let head = format!(
            "\r\nContent-Type: application/http\r\nContent-ID: <response-{name}>\r\n\r\n\
             HTTP/1.1 {status}\r\nContent-Type: application/json; charset=UTF-8\r\n\
             Content-Length: "
        );
        assert!(part.starts_with(&head) && part.contains(has), "{part}");
    }
    let starred = user.json(&format!("messages/{id}?format=minimal")).await;
    assert!(starred["labelIds"].as_array().unwrap().contains(&json!("STARRED")), "{starred}");
    for (kind, body) in [
        ("application/json", "{}"),
        ("multipart/mixed", ""),
        ("multipart/mixed; boundary=b", "--b\n\nGET\n--b--"),
    ] {
        let reply = user.bearing("POST", "/batch", &[("content-type", kind)], body).await;
        assert_eq!(reply.status, 400, "{kind} {body}");
    }
}
