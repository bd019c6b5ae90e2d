//! Drafts: their fields, and the conversations that they join.

use super::*;

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

/// A draft joins a conversation by its references and subject, not by the thread id alone.
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
