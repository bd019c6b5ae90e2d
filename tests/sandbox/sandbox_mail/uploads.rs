//! Uploads in pieces.

use super::*;

const HEAD: [&str; 4] = [
    "From: mira@example.com",
    "To: zoe@example.com",
    "Subject: Large",
    "Message-ID: <large@example.com>",
];

const BASE: &str = "/upload/gmail/v1/users/me";

#[tokio::test]
async fn message_is_uploaded_in_pieces() {
    const UNIT: usize = 256 << 10;
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    let message = wire(&HEAD, &"0123456789".repeat(60_000)).into_bytes();
    let total = message.len();
    assert!(total > 2 * UNIT && total < 3 * UNIT);
    let length = total.to_string();
    let headers = [
        ("content-type", "application/json"),
        ("x-upload-content-type", "message/rfc822"),
        ("x-upload-content-length", length.as_str()),
    ];
    let path = format!("{BASE}/drafts?uploadType=resumable");
    let opened = user.bearing("POST", &path, &headers, b"{}".to_vec()).await;
    assert_eq!(opened.status, 200);
    let session = opened.header("location").strip_prefix(&user.base).unwrap().to_owned();

    let put = async |range: String, piece: &[u8]| {
        let headers = [("content-range", range.as_str())];
        user.bearing("PUT", &session, &headers, piece.to_vec()).await
    };
    let upload_status = put(format!("bytes */{total}"), &[]).await;
    assert_eq!((upload_status.status, upload_status.headers.contains_key("range")), (308, false));
    let first = put(format!("bytes 0-{}/{total}", UNIT - 1), &message[..UNIT]).await;
    assert_eq!((first.status, first.header("range")), (308, "bytes=0-262143"));
    // A piece of no fit size, and one from further on, are not taken.
    let odd = put(format!("bytes {UNIT}-{}/{total}", UNIT + 9), &message[UNIT..UNIT + 10]).await;
    assert_eq!(odd.status, 400);
    let far = put(format!("bytes {}-{}/{total}", 2 * UNIT, total - 1), &message[2 * UNIT..]).await;
    assert_eq!(far.status, 400);
    let upload_status = put(format!("bytes */{total}"), &[]).await;
    assert_eq!((upload_status.status, upload_status.header("range")), (308, "bytes=0-262143"));
    // What is there already is not taken twice.
    let second = put(format!("bytes 0-{}/{total}", 2 * UNIT - 1), &message[..2 * UNIT]).await;
    assert_eq!((second.status, second.header("range")), (308, "bytes=0-524287"));
    let last = put(format!("bytes {}-{}/{total}", 2 * UNIT, total - 1), &message[2 * UNIT..]).await;
    let (status, made) = last.answer();
    assert_eq!(status, 200, "{made}");
    assert_eq!(made["message"]["labelIds"], json!(["DRAFT"]));
    assert_eq!(user.bytes(&made["message"]["id"]).await.into_bytes(), message);
    assert_eq!(put(format!("bytes */{total}"), &[]).await.status, 404);
}

#[tokio::test]
async fn invalid_uploads_are_refused() {
    let sandbox = sandbox().await;
    let user = signed_in(&sandbox, MIRA).await;
    for (method, path, kind, status) in [
        ("POST", "drafts?uploadType=resumable", "text/plain", 400),
        ("POST", "drafts?uploadType=other", "message/rfc822", 400),
        ("POST", "labels?uploadType=resumable", "message/rfc822", 404),
        ("PUT", "drafts?uploadType=resumable&upload_id=none", "message/rfc822", 404),
    ] {
        let headers = [("x-upload-content-type", kind)];
        let reply = user.bearing(method, &format!("{BASE}/{path}"), &headers, "").await;
        assert_eq!(reply.status, status, "{method} {path}");
    }
    let large = [("x-upload-content-length", "36700161")];
    let path = format!("{BASE}/drafts?uploadType=resumable");
    assert_eq!(user.bearing("POST", &path, &large, "").await.status, 413);
}
