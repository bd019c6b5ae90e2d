//! Large drafts: uploads in pieces, resumed after an interruption.

use std::sync::{Arc, Mutex};

use daysheet_core::provider::mail::DraftOrigin;
use serde_json::json;

use super::gmail::{Gmail, Watcher, ok, refused};
use super::{draft, file, reported, sample_message};
use crate::tap::{HttpRequest, HttpResponse, empty, respond};

const PIECE: usize = 4 << 20;

fn go_on(received: usize) -> Option<HttpResponse> {
    Some(match received {
        0 => empty(308),
        received => empty(308).header("range", &format!("bytes=0-{}", received - 1)),
    })
}

/// The server's state of an upload.
#[derive(Default)]
struct Upload {
    received: Vec<u8>,
    pieces: usize,
    done: bool,
}

type Stumble = fn(usize) -> Option<(usize, Option<HttpResponse>)>;

/// Accepts an upload. `stumble` decides by a piece's number how much of it is kept and which
/// response is sent, if any.
fn taking(
    upload: Arc<Mutex<Upload>>,
    stumble: Stumble,
) -> impl Fn(&HttpRequest) -> Option<HttpResponse> + Send + Sync + 'static {
    move |request| {
        let mut upload = upload.lock().unwrap();
        match request.target.as_str() {
            "POST /upload/gmail/v1/users/me/drafts" => {
                assert_eq!(request.param("uploadType"), "resumable");
                assert_eq!(request.body, json!({"message": {}}));
                let session = format!("{}/session", request.base);
                Some(respond(200, &json!({})).header("location", &session))
            }
            "PUT /session" => {
                let (range, total) = request.header("content-range").split_once('/').unwrap();
                let total: usize = total.parse().unwrap();
                if range == "bytes *" {
                    assert!(request.bytes.is_empty());
                } else {
                    let (from, to) = range["bytes ".len()..].split_once('-').unwrap();
                    let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
                    assert_eq!(from, upload.received.len(), "bytes come once");
                    assert_eq!(to + 1 - from, request.bytes.len());
                    upload.pieces += 1;
                    if let Some((accepted, answer)) = stumble(upload.pieces) {
                        upload.received.extend(&request.bytes[..accepted.min(request.bytes.len())]);
                        upload.done = upload.received.len() == total;
                        return answer;
                    }
                    upload.received.extend(&request.bytes);
                }
                upload.done = upload.received.len() == total;
                if upload.done {
                    ok(&json!({"id": "r1", "message": {"id": "a2", "threadId": "t1"}}))
                } else {
                    go_on(upload.received.len())
                }
            }
            "GET drafts/r1" => ok(&reported("a2")),
            "GET drafts" => ok(&json!({})),
            _ => None,
        }
    }
}

#[tokio::test]
async fn interrupted_chunked_upload_of_a_draft_is_resumed() {
    let cases: [(&str, Stumble, usize); 4] = cases! {
        "nothing breaks", |_| None, 3;
        // The second piece got there in part, and its answer did not come.
        "a part arrives",
            |piece| (piece == 2).then(|| (1 << 20, refused(503, "backendError", "x"))), 4;
        "nothing arrives", |piece| (piece == 1).then(|| (0, refused(502, "backendError", "x"))), 4;
        // All is there, and only the answer is lost: nothing is sent again.
        "the last answer is lost",
            |piece| (piece == 3).then(|| (usize::MAX, refused(500, "backendError", "x"))), 3;
    };
    for (name, stumble, pieces) in cases {
        let upload = Arc::new(Mutex::new(Upload::default()));
        let gmail = Gmail::scripted(taking(upload.clone(), stumble)).await;
        let mut large = sample_message();
        large.files.push(file("proofs.pdf", &vec![7; 7 << 20]));
        let watcher = Watcher::default();
        let made = gmail.mail.create(&DraftOrigin::New, &large, &watcher).await.unwrap();
        assert_eq!((made.id.as_str(), made.version.as_str()), ("r1", "a2"), "{name}");
        let upload = upload.lock().unwrap();
        assert!(upload.done && upload.received.len() > 2 * PIECE, "{name}");
        assert_eq!(upload.pieces, pieces, "{name}");
        // Every byte is where it belongs.
        let sent = daysheet_core::compose::read(&upload.received).unwrap();
        assert_eq!(sent.message_id, large.message_id, "{name}");
        assert_eq!(sent.files[0].content, large.files[0].content, "{name}");
        let reported = watcher.reported();
        let total = upload.received.len() as u64;
        assert_eq!(reported.first(), Some(&(0, total)), "{name}");
        assert_eq!(reported.last(), Some(&(total, total)), "{name}");
        assert!(reported.is_sorted(), "{name} {reported:?}");
    }
}

#[tokio::test]
async fn upload_without_progress_is_abandoned() {
    let upload = Arc::new(Mutex::new(Upload::default()));
    let gmail =
        Gmail::scripted(taking(upload, |_| Some((0, refused(503, "backendError", "x"))))).await;
    let mut large = sample_message();
    large.files.push(file("proofs.pdf", &vec![7; 4 << 20]));
    let error =
        gmail.mail.create(&DraftOrigin::New, &large, &Watcher::default()).await.unwrap_err();
    // It was looked for, and is not there.
    assert_eq!(
        error.to_string(),
        "Google answered with status 503: `x`; whether it was done is unknown: check before retrying"
    );
}

#[tokio::test]
async fn messages_above_gmails_size_limit_are_not_uploaded() {
    let gmail = Gmail::scripted(|_| None).await;
    let mut large = sample_message();
    large.files.push(file("film.mov", &vec![0; 27 << 20]));
    let error =
        gmail.mail.create(&DraftOrigin::New, &large, &Watcher::default()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "with its files the message is 37 MB, but Gmail takes 35 MB: attach fewer or smaller \
         files, or share them and send a link"
    );
    assert_eq!(gmail.tap.requests().len(), 0);
}

/// The token is never sent to a foreign address, neither for an upload nor on a redirect.
#[tokio::test]
async fn token_is_sent_to_google_only() {
    let gmail = Gmail::scripted(|request| {
        let elsewhere = respond(200, &json!({})).header("location", "http://127.0.0.1:9/session");
        request.target.starts_with("POST ").then_some(elsewhere)
    })
    .await;
    let mut large = draft().content;
    large.files.push(file("proofs.pdf", &vec![7; 4 << 20]));
    let error =
        gmail.mail.create(&DraftOrigin::New, &large, &Watcher::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "Gmail gave no address for a large draft");
    let stranger = Gmail::scripted(|_| ok(&json!({}))).await;
    let there = format!("{}/elsewhere", stranger.tap.base);
    let gmail =
        Gmail::scripted(move |_| Some(respond(307, &json!({})).header("location", &there))).await;
    assert!(gmail.mail.names().await.is_err());
    assert_eq!(stranger.tap.requests().len(), 0);
}
