//! Replies: recipients, text and conversation, at both ends.

use serde_json::{Value, json};

use super::{ANA, BEN, addresses, at, does, made, mira, people};
use crate::common::client::{GOOGLE, ME};
use crate::graph_client::text;

/// A conversation between a Graph mailbox and a Gmail mailbox.
#[tokio::test]
async fn thread_spans_graph_and_gmail_mailboxes() {
    let (_dir, sandbox, user) = mira().await;
    let first = made(
        &user,
        "me/messages",
        json!({
            "subject": "Attic", "toRecipients": people(&[ANA]), "ccRecipients": people(&[BEN]),
            "internetMessageId": "<first@example.com>",
            "body": { "contentType": "html", "content": "<p>Who has the <b>key</b>?</p>" },
        }),
    )
    .await;
    does(&user, "POST", &format!("{}/send", at(&first)), Value::Null, 202).await;
    let answer = format!(
        "From: Ana Lima <{ANA}>\r\nTo: {ME}\r\nCc: {BEN}, cy@far.example\r\nSubject: Re: Attic\r\n\
         Message-ID: <second@example.com>\r\nIn-Reply-To: <first@example.com>\r\n\
         References: <first@example.com>\r\nDate: Tue, 3 Feb 2026 10:00:00 +0000\r\n\r\nI <do>.\r\n"
    );
    for address in [ME, ANA] {
        assert!(sandbox.deliver(address, answer.as_bytes()).unwrap());
    }
    let second = user.message("Re: Attic").await;
    assert_eq!(second["conversationId"], first["conversationId"]);

    let path = at(&second);
    let reply = made(&user, &format!("{path}/createReplyAll"), json!({})).await;
    assert_eq!(
        (&reply["subject"], &reply["conversationId"], &reply["isDraft"]),
        (&json!("Re: Attic"), &first["conversationId"], &json!(true))
    );
    assert_eq!(addresses(&reply["toRecipients"]), [ANA]);
    assert_eq!(addresses(&reply["ccRecipients"]), [BEN, "cy@far.example"]);
    let raw = user.get(&format!("{}/%24value", at(&reply))).await.text();
    let head: Vec<&str> = raw.split("\r\n\r\n").next().unwrap().split("\r\n").collect();
    let head = head.join("\n").replace("\n\t", " ").replace("\n ", " ");
    assert!(head.contains("In-Reply-To: <second@example.com>\n"), "{head}");
    assert!(head.contains("References: <first@example.com> <second@example.com>\n"), "{head}");
    does(&user, "POST", &format!("{}/send", at(&reply)), Value::Null, 202).await;

    // At Gmail's end it is one conversation of three.
    let scope = "https://mail.google.com/";
    let google = user.token_of(&GOOGLE, ANA, scope).await;
    let bearer = format!("Bearer {google}");
    let headers = [("authorization", bearer.as_str())];
    let get = async |path: &str| user.send("GET", path, &headers, "").await.json();
    let threads = get("/gmail/v1/users/me/threads?q=subject:attic").await;
    assert_eq!(threads["threads"].as_array().unwrap().len(), 1, "{threads}");
    let id = text(&threads["threads"][0]["id"]).to_owned();
    let thread = get(&format!("/gmail/v1/users/me/threads/{id}?format=minimal")).await;
    assert_eq!(thread["messages"].as_array().unwrap().len(), 3, "{thread}");
}

/// Recipients of replies, by the original message.
#[tokio::test]
async fn reply_recipients_follow_the_message() {
    let (_dir, sandbox, user) = mira().await;
    let message = |subject: &str, head: &str| {
        format!(
            "{head}\r\nSubject: {subject}\r\nMessage-ID: <{subject}@example.com>\r\nDate: Tue, 3 Feb 2026 10:00:00 +0000\r\n\r\nx\r\n"
        )
    };
    let cases = cases! {
        "plain", format!("From: {ANA}\r\nTo: {ME}, {BEN}"), "createReply", vec![ANA], vec![],
            "RE: plain";
        "all", format!("From: {ANA}\r\nTo: {ME}, {BEN}\r\nCc: {ANA}, MIRA@example.com"),
            "createReplyAll", vec![ANA, BEN], vec![], "RE: all";
        "re: again", format!("From: {ANA}\r\nReply-To: list@example.com\r\nTo: {ME}"),
            "createReply", vec!["list@example.com"], vec![], "re: again";
        "own", format!("From: {ME}\r\nTo: {BEN}\r\nCc: {ANA}"), "createReplyAll", vec![BEN],
            vec![ANA], "RE: own";
        "on", format!("From: {ANA}\r\nTo: {ME}"), "createForward", vec![], vec![], "FW: on";
    };
    for (subject, head, how, to, cc, title) in cases {
        assert!(sandbox.deliver(ME, message(subject, &head).as_bytes()).unwrap());
        let message = user.message(subject).await;
        let reply = made(&user, &format!("{}/{how}", at(&message)), json!({})).await;
        assert_eq!(addresses(&reply["toRecipients"]), to, "{subject}");
        assert_eq!(addresses(&reply["ccRecipients"]), cc, "{subject}");
        assert_eq!(reply["subject"], title);
        assert_eq!(reply["conversationId"], message["conversationId"], "{subject}");
    }
    // Files go on, but not back.
    let with_file = "From: ana@example.com\r\nTo: mira@example.com\r\nSubject: File\r\nMessage-ID: <file@example.com>\r\n\
                     Date: Tue, 3 Feb 2026 11:00:00 +0000\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nsee\r\n--b\r\n\
                     Content-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\nPDF\r\n--b--\r\n";
    assert!(sandbox.deliver(ME, with_file.as_bytes()).unwrap());
    let message = user.message("File").await;
    for (how, files) in [("createForward", true), ("createReply", false)] {
        let draft = made(&user, &format!("{}/{how}", at(&message)), json!({})).await;
        assert_eq!(draft["hasAttachments"], files, "{how}");
    }
}
