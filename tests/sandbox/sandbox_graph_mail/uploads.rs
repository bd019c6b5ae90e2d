//! Attachments of drafts: adding them at once or in pieces, and removing them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{at, does, made, mira, refused};
use crate::common::client::encoded;
use crate::graph_client::{column, text};

/// Uploads a file in several pieces, with every error on the way.
#[tokio::test]
async fn large_attachment_is_uploaded_in_pieces() {
    let (_dir, _sandbox, user) = mira().await;
    let draft = made(&user, "me/messages", json!({ "subject": "Large" })).await;
    let path = at(&draft);
    let content: String = (0..700_000).map(|at| char::from(b'a' + (at % 26) as u8)).collect();
    let session = made(&user, &format!("{path}/attachments/createUploadSession"), json!({
        "AttachmentItem": { "attachmentType": "file", "name": "big.txt", "size": content.len() },
    }))
    .await;
    assert_eq!(session["nextExpectedRanges"], json!(["0-"]));
    let url = text(&session["uploadUrl"]).to_owned();
    assert!(url.starts_with(&user.base));
    let put = async |range: &str, piece: &str| {
        user.send("PUT", &url, &[("content-range", range)], piece).await
    };
    let half = 327_680;
    let (first, second) = content.split_at(half);
    for (range, piece) in [
        ("bytes 327680-699999/700000", second),
        ("bytes 0-327679/700001", first),
        ("bytes 0-327678/700000", first),
        ("0-327679", first),
    ] {
        let reply = put(range, piece).await;
        assert_eq!(refused(&reply), (416, "ErrorInvalidRange".to_owned()), "{range}");
    }
    let reply = put("bytes 0-327679/700000", first).await;
    assert_eq!((reply.status, &reply.json()["nextExpectedRanges"]), (200, &json!(["327680-"])));
    let standing = user.send("GET", &url, &[], "").await;
    assert_eq!(standing.json()["nextExpectedRanges"], json!(["327680-"]));
    let reply = put("bytes 327680-699999/700000", second).await;
    assert_eq!((reply.status, reply.text().as_str()), (201, ""));
    let list = user.json(&format!("{path}/attachments")).await;
    let id = text(&list["value"][0]["id"]);
    assert!(reply.header("location").ends_with(&format!("/attachments('{id}')")));
    let raw = user.get(&format!("{path}/attachments/{}/%24value", encoded(id))).await;
    assert!(raw.text() == content);
    let reply = put("bytes 0-327679/700000", first).await;
    assert_eq!(refused(&reply), (404, "ErrorItemNotFound".to_owned()));
}

/// Adds files and inline images to a draft at once, and removes them.
#[tokio::test]
async fn small_attachments_are_added_and_removed() {
    let (_dir, _sandbox, user) = mira().await;
    let draft = made(&user, "me/messages", json!({
        "subject": "Files", "body": { "contentType": "html", "content": "<img src=\"cid:logo@x\">" },
    }))
    .await;
    let path = format!("{}/attachments", at(&draft));
    let file = |name: &str, bytes: &[u8]| {
        json!({
            "@odata.type": "#microsoft.graph.fileAttachment",
            "name": name, "contentBytes": STANDARD.encode(bytes),
        })
    };
    let one = made(&user, &path, file("a.csv", b"1;2\n")).await;
    assert_eq!(
        one,
        json!({
            "@odata.context": one["@odata.context"],
            "@odata.type": "#microsoft.graph.fileAttachment",
            "@odata.mediaContentType": "text/csv", "id": one["id"],
            "lastModifiedDateTime": one["lastModifiedDateTime"], "name": "a.csv",
            "contentType": "text/csv", "size": 4, "isInline": false, "contentId": null,
            "contentLocation": null, "contentBytes": STANDARD.encode("1;2\n"),
        })
    );
    let mut logo = file("logo.png", &[0x89, 0x50]);
    logo["isInline"] = true.into();
    logo["contentId"] = "logo@x".into();
    let two = made(&user, &path, logo).await;
    assert_eq!(
        (&two["isInline"], &two["contentId"], &two["contentType"], &two["name"]),
        (&json!(true), &json!("logo@x"), &json!("image/png"), &json!("logo.png"))
    );
    let before = user.json(&at(&draft)).await;
    assert_ne!(before["changeKey"], draft["changeKey"]);
    does(&user, "DELETE", &format!("{path}/{}", encoded(text(&one["id"]))), Value::Null, 204).await;
    let list = user.json(&path).await;
    assert_eq!(column(&list, "name"), ["logo.png"]);
    // The others keep their ids.
    assert_eq!(list["value"][0]["id"], two["id"]);
    let large = file("large", &vec![0; (3 << 20) + 1]);
    let reply = user.write("POST", &path, &[], &large).await;
    assert_eq!(refused(&reply), (413, "RequestEntityTooLarge".to_owned()));
    let reply = user.write("POST", &path, &[], &file("three", &vec![0; 3 << 20])).await;
    assert_eq!(reply.status, 201);
}
