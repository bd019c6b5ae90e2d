//! Large files, in pieces.

use std::sync::atomic::{AtomicUsize, Ordering};

use daysheet_core::call::client::NonInteractive;
use daysheet_core::error::ErrorKind;
use daysheet_core::provider::mail::DraftOrigin;

use super::*;

const PIECE: usize = 12 * 320 * 1024;

/// A service that takes files in pieces at an address below itself; `trouble`
/// answers the requests about pieces that it counts, first of all.
async fn taker(
    trouble: impl Fn(usize, &HttpRequest, &str) -> Option<HttpResponse> + Send + Sync + 'static,
) -> Outlook {
    let count = AtomicUsize::new(0);
    Outlook::scripted(move |seen| {
        let url = format!("{}/upload/secret", seen.base);
        Some(match seen.line.as_str() {
            "POST /me/messages" => respond(201, &graph_draft()),
            request if request.ends_with("/createUploadSession") => {
                respond(201, &json!({ "uploadUrl": url, "nextExpectedRanges": ["0-"] }))
            }
            request if request.contains("/upload/") => {
                assert_eq!(seen.header("authorization"), "", "a token went to {request}");
                let number = count.fetch_add(1, Ordering::Relaxed);
                if let Some(response) = trouble(number, seen, request) {
                    return Some(response);
                }
                let (range, total) = seen.header("content-range").split_once('/').unwrap();
                let last: usize = range.rsplit('-').next().unwrap().parse().unwrap();
                if last + 1 == total.parse::<usize>().unwrap() {
                    empty(201)
                } else {
                    respond(200, &json!({"nextExpectedRanges": [format!("{}-", last + 1)]}))
                }
            }
            _ => answer_request(
                &|line, _| {
                    if line.contains("/attachments?") {
                        (200, json!({"value": [graph_file()]}))
                    } else {
                        (200, graph_draft())
                    }
                },
                seen,
            ),
        })
    })
    .await
}

fn large() -> OutgoingMessage {
    OutgoingMessage { files: vec![file("film.pdf", &vec![7; 2 * PIECE + 5])], ..sample_message() }
}

/// The requests about pieces.
fn pieces(outlook: &Outlook) -> Vec<String> {
    let seen = outlook.tap.requests().into_iter();
    seen.filter(|seen| seen.line.contains("/upload/"))
        .map(|seen| format!("{} {}", seen.line, seen.header("content-range")).trim().to_owned())
        .collect()
}

#[tokio::test]
async fn large_attachment_is_uploaded_in_pieces() {
    let outlook = taker(|_, _, _| None).await;
    let reported = ProgressLog::default();
    outlook.mailbox().await.create(&DraftOrigin::New, &large(), &reported).await.unwrap();
    let seen = outlook.tap.requests();
    let session = seen.iter().find(|seen| seen.line.ends_with("/createUploadSession"));
    let session = session.unwrap();
    assert_eq!(
        (session.line.as_str(), &session.body),
        (
            "POST /me/messages/AAkALgAAdraft0000000001=/attachments/createUploadSession",
            &json!({"attachmentItem": {
                "attachmentType": "file", "name": "film.pdf", "contentType": "application/pdf",
                "size": 2 * PIECE + 5, "isInline": false,
            }})
        )
    );
    let ranges: Vec<&str> = seen
        .iter()
        .filter(|seen| seen.line.contains("/upload/"))
        .map(|seen| seen.header("content-range"))
        .collect();
    assert_eq!(
        ranges,
        [
            "bytes 0-3932159/7864325",
            "bytes 3932160-7864319/7864325",
            "bytes 7864320-7864324/7864325"
        ]
    );
    let film = |done| (done, 7_864_325, "film.pdf".to_owned());
    assert_eq!(
        *reported.0.lock().unwrap(),
        [film(0), film(3_932_160), film(7_864_320), film(7_864_325)]
    );
}

/// An interrupted upload resumes at the position that the service reports.
#[tokio::test]
async fn interrupted_upload_is_resumed() {
    let outlook = taker(|number, seen, request| match number {
        1 => {
            assert!(request.starts_with("PUT"));
            Some(respond(503, &json!({"error": {"code": "busy"}})))
        }
        2 => {
            assert_eq!((request, seen.header("content-range")), ("GET /upload/secret", ""));
            let half = json!({"nextExpectedRanges": ["4000000-7864324"]});
            Some(respond(200, &half))
        }
        _ => None,
    })
    .await;
    outlook.mailbox().await.create(&DraftOrigin::New, &large(), &NonInteractive).await.unwrap();
    assert_eq!(
        pieces(&outlook),
        [
            "PUT /upload/secret bytes 0-3932159/7864325",
            "PUT /upload/secret bytes 3932160-7864319/7864325",
            "GET /upload/secret",
            "PUT /upload/secret bytes 4000000-7864324/7864325",
        ]
    );
}

#[tokio::test]
async fn refused_upload_is_abandoned() {
    let outlook = taker(|_, _, request| {
        let status = if request.starts_with("DELETE") { 204 } else { 403 };
        Some(respond(status, &json!({})))
    })
    .await;
    let failed = outlook.mailbox().await.create(&DraftOrigin::New, &large(), &NonInteractive).await;
    assert_eq!(
        error(failed),
        "the draft exists, but without `film.pdf`: Outlook answered with status 403: find it with \
         mail_search in:drafts; attach the files with mode=edit, or discard it"
    );
    assert_eq!(
        pieces(&outlook),
        ["PUT /upload/secret bytes 0-3932159/7864325", "DELETE /upload/secret"]
    );
}

#[tokio::test]
async fn attachments_are_uploaded_to_safe_addresses_only() {
    for url in ["http://elsewhere.example/x", "ftp://127.0.0.1/x", "upload", ""] {
        let outlook = service(move |line, _| match line {
            "POST /me/messages" => (201, graph_draft()),
            _ => (201, json!({ "uploadUrl": url })),
        })
        .await;
        let failed =
            outlook.mailbox().await.create(&DraftOrigin::New, &large(), &NonInteractive).await;
        let error_text = error(failed);
        assert!(
            error_text.contains("Outlook gave no safe address for a file"),
            "{url}: {error_text}"
        );
    }
}

#[tokio::test]
async fn oversized_attachments_are_refused_before_any_request() {
    let outlook = service(|_, _| missing()).await;
    let message = OutgoingMessage {
        files: vec![file("film.pdf", &vec![0; (150 << 20) + 1])],
        ..sample_message()
    };
    let failed = outlook.mailbox().await.create(&DraftOrigin::New, &message, &NonInteractive).await;
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Argument);
    assert_eq!(request_lines(&outlook), []);
}
