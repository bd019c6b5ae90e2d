//! Whole answers over plain HTTP, in the form that a request prefers.

use std::time::{Duration, Instant};

use axum::http::header::{ACCEPT, ACCEPT_ENCODING};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode};
use daysheet::http::negotiate::{TextForm, choose};
use daysheet_core::encode::stc::parse::parse;
use daysheet_core::encode::stc::value::JsonValue;
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use proptest::prelude::*;
use serde_json::json;

use crate::stage::{Caller, Reply, Stage};

fn headers(accept: Option<&str>, encoding: Option<&str>) -> HeaderMap {
    let given = [(ACCEPT, accept), (ACCEPT_ENCODING, encoding)];
    let given = given
        .into_iter()
        .filter_map(|(name, value)| Some((name, HeaderValue::from_str(value?).unwrap())));
    given.collect()
}

/// `Accept`, `Accept-Encoding`, and the chosen form.
const CHOICES: &[(Option<&str>, Option<&str>, Option<TextForm>)] = &[
    (None, None, Some(TextForm::Text)),
    (Some("*/*"), Some("gzip, deflate, br"), Some(TextForm::Text)),
    (Some("text/html,application/xml;q=0.9,*/*;q=0.8"), Some("gzip"), Some(TextForm::Text)),
    (Some("text/*"), None, Some(TextForm::Text)),
    (Some("text/toon"), None, Some(TextForm::Toon)),
    (Some("Text/TOON; charset=utf-8"), None, Some(TextForm::Toon)),
    (Some("application/*"), None, Some(TextForm::Json)),
    (Some("application/json"), None, Some(TextForm::Json)),
    (Some("application/json;q=0.4, text/plain;q=0.5"), None, Some(TextForm::Text)),
    (Some("application/json;q=0.5, text/plain;q=0.4"), None, Some(TextForm::Json)),
    (Some("application/json;q=0.001"), None, Some(TextForm::Json)),
    (Some("application/json;q=0, */*"), None, Some(TextForm::Text)),
    (Some("text/plain;q=0, text/toon;q=0, */*"), None, Some(TextForm::Json)),
    (Some("image/png"), None, None),
    (Some("application/json;q=0"), None, None),
    // A quality that nobody can read asks for nothing.
    (Some("application/json;q=2"), None, None),
    (Some("application/json;q=0.5555, text/plain;q=0.1"), None, Some(TextForm::Text)),
    (
        Some(r#"text/plain;a="x,application/json", application/json;q=0.1"#),
        None,
        Some(TextForm::Text),
    ),
    (Some("application/stc+json"), None, Some(TextForm::Stc)),
    (Some("application/stc+json;q=0.5, application/json"), None, Some(TextForm::Json)),
    (Some("application/stc+json, application/json;q=0.5"), None, Some(TextForm::Stc)),
    // The coding, of JSON alone.
    (None, Some("stc"), Some(TextForm::Coded)),
    (Some("*/*"), Some("STC"), Some(TextForm::Coded)),
    (Some("*/*"), Some("gzip, stc;q=0.5"), Some(TextForm::Coded)),
    (Some("application/json"), Some("gzip;q=1.0, stc;q=0.1"), Some(TextForm::Coded)),
    (Some("application/stc+json"), Some("stc"), Some(TextForm::Coded)),
    (Some("text/plain"), Some("stc"), Some(TextForm::Text)),
    (Some("text/plain, application/json;q=0.9"), Some("stc"), Some(TextForm::Text)),
    (Some("application/json"), Some("stc;q=0.5, identity;q=0.6"), Some(TextForm::Json)),
    (Some("application/json"), Some("stc;q=0.5, identity;q=0.4"), Some(TextForm::Coded)),
    (Some("application/json"), Some("stc;q=0"), Some(TextForm::Json)),
    (Some("application/json"), Some(""), Some(TextForm::Json)),
    (Some("application/json"), Some("*"), Some(TextForm::Json)),
    (Some("application/json"), Some("stc, *;q=0"), Some(TextForm::Coded)),
    (Some("text/plain"), Some("stc, *;q=0"), None),
    (Some("application/json"), Some("identity;q=0"), None),
    (Some("application/json"), Some("*;q=0"), None),
    (Some("application/json"), Some("*;q=0, identity;q=0.1"), Some(TextForm::Json)),
    (Some("application/json"), Some("stcx, x-stc"), Some(TextForm::Json)),
];

#[test]
fn qualities_choose_the_form() {
    for (accept, encoding, form) in CHOICES {
        let chosen = choose(&headers(*accept, *encoding));
        assert_eq!(chosen, *form, "Accept: {accept:?}, Accept-Encoding: {encoding:?}");
    }
}

proptest! {
    /// STC is chosen only if it is named, and a refused form never is.
    #[test]
    fn any_headers_choose_what_they_name(
        accept in "([a-z*/+]{0,8}|text/plain|application/(stc[+])?json|[*]/[*])(; ?[qQ]=[0-9.]{0,4})?(, (application/json|[*]/[*]|text/[*])(;q=[01])?)?",
        encoding in "(gzip|stc|identity|[*]|[\"\\\\;, ]{0,4})(;q=[01](\\.[0-9]{1,3})?)?(, ?(stc|[*])(;q=0)?)?",
    ) {
        match choose(&headers(Some(&accept), Some(&encoding))) {
            Some(TextForm::Coded) => prop_assert!(encoding.contains("stc")),
            Some(TextForm::Stc) => prop_assert!(accept.contains("stc")),
            Some(TextForm::Toon) => prop_assert!(accept.contains("text/")|| accept.contains('*')),
            _ => {}
        }
    }
}

/// Has ann's mailbox answered with an output, and returns its hash.
async fn output(stage: &Stage, ann: &Caller) -> String {
    for number in 0..60 {
        let mail = format!(
            "From: Ann, \"x\" <x@example.com>\r\nTo: ann@example.com\r\nSubject: {number} for, / \
             you: {{a}}\r\nMessage-ID: <{number}@x.example>\r\n\r\nhello"
        );
        stage.shared.sandbox.deliver("ann@example.com", mail.as_bytes()).unwrap();
    }
    let call = json!({"q": "for", "limit": 50, "budget": 400, "detail": "full"});
    let answer = ann.ok("mail_search", call).await;
    let (_, id) = answer.split_once("output_read id=").unwrap();
    id.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned()
}

async fn get(caller: &Caller, method: &str, hash: &str, headers: &[(&str, &str)]) -> Reply {
    let token = format!("Bearer {}", caller.http.token);
    let mut all = vec![("authorization", token.as_str())];
    all.extend_from_slice(headers);
    caller.http.send(method, &format!("/outputs/{hash}"), &all, "").await
}

/// Headers of a request, and status, type, encoding, version and tag of the response.
const FORMS: &[(&[(&str, &str)], u16, [&str; 4])] = &[
    (&[], 200, ["text/plain; charset=utf-8", "", "", "HASH"]),
    (&[("accept", "text/toon")], 200, ["text/toon; charset=utf-8", "", "", "HASH"]),
    (&[("accept", "application/json")], 200, ["application/json", "", "", "HASH-json"]),
    (&[("accept", "application/stc+json")], 200, ["application/stc+json", "", "1", "HASH-stc"]),
    (&[("accept-encoding", "stc")], 200, ["application/stc+json", "stc", "1", "HASH-stc"]),
    (
        &[("accept", "application/json"), ("accept-encoding", "br, stc;q=0.2")],
        200,
        ["application/stc+json", "stc", "1", "HASH-stc"],
    ),
    (&[("accept", "image/png")], 406, ["text/plain; charset=utf-8", "", "", ""]),
    (&[("if-none-match", "\"HASH\"")], 304, ["", "", "", "HASH"]),
    (&[("if-none-match", "\"a\", W/\"HASH\"")], 304, ["", "", "", "HASH"]),
    (&[("if-none-match", "*")], 304, ["", "", "", "HASH"]),
    // The tag of another form.
    (
        &[("accept", "application/json"), ("if-none-match", "\"HASH\"")],
        200,
        ["application/json", "", "", "HASH-json"],
    ),
];

#[tokio::test]
async fn outputs_are_read_in_the_form_that_is_preferred() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let (ann, bo) = (stage.modern("ann"), stage.modern("bo"));
    let hash = output(&stage, &ann).await;
    for (headers, status, expected) in FORMS {
        let given: Vec<(&str, String)> =
            headers.iter().map(|(name, value)| (*name, value.replace("HASH", &hash))).collect();
        let given: Vec<(&str, &str)> =
            given.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let reply = get(&ann, "GET", &hash, &given).await;
        assert_eq!(reply.status, *status, "{headers:?}: {}", reply.text());
        let names = ["content-type", "content-encoding", "x-stc-version"];
        assert_eq!(names.map(|name| reply.header(name)), expected[..3], "{headers:?}");
        let tag = expected[3].replace("HASH", &hash);
        assert_eq!(reply.header("etag").trim_matches('"'), tag, "{headers:?}");
        assert_eq!(reply.header("vary"), "Accept, Accept-Encoding");
        let head = get(&ann, "HEAD", &hash, &given).await;
        assert_eq!((head.status, head.body.len()), (*status, 0));
        assert_eq!(head.header("etag"), reply.header("etag"));
    }

    // All forms have the same rows, and those that the tool has.
    let plain = get(&ann, "GET", &hash, &[]).await.text();
    let resource = json!({"uri": format!("daysheet://output/{hash}")});
    let read = ann.send("resources/read", resource).await;
    assert_eq!(crate::stage::message(&read)["result"]["contents"][0]["text"], plain);
    let json = get(&ann, "GET", &hash, &[("accept", "application/json")]).await;
    let stc = get(&ann, "GET", &hash, &[("accept-encoding", "stc")]).await;
    assert_eq!(parse(&stc.text()).unwrap(), JsonValue::parse(&json.text()).unwrap());
    let ratio: f64 = stc.header("x-stc-ratio").parse().unwrap();
    assert!((ratio - stc.body.len() as f64 / json.body.len() as f64).abs() < 0.006, "{ratio}");
    let rows = json.json()["messages"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 50);
    for row in rows {
        assert!(plain.contains(&format!("{}\t", row["id"].as_str().unwrap())), "{row}");
    }

    // At another instance, too; but nobody else's, and no word about whose it is.
    let other = stage.another().await;
    assert_eq!(get(&ann.at(&other), "GET", &hash, &[]).await.text(), plain);
    let unknown = get(&bo, "GET", "bbbbbbbbbb", &[]).await;
    for other in [hash.as_str(), "x", "..", "%2e%2e%2fmcp", "daysheet:%2f%2foutput%2faaaaaaaaaa"] {
        let reply = get(&bo, "GET", other, &[("if-none-match", "*")]).await;
        assert_eq!((reply.status, reply.text()), (404, unknown.text()), "{other}");
    }
    assert_eq!(get(&stage.modern(""), "GET", &hash, &[]).await.status, 401);

    // What has changed since is gone.
    let new = b"From: x@example.com\r\nTo: ann@example.com\r\nSubject: for\r\n\r\nnew";
    stage.shared.sandbox.deliver("ann@example.com", new).unwrap();
    let gone = get(&ann, "GET", &hash, &[("accept", "application/json")]).await;
    assert_eq!(gone.status, 410, "{}", gone.text());
}

/// Rows are sent while others are still being written. A reader who does not read takes up only
/// their own places.
#[tokio::test]
async fn json_is_streamed_and_slow_readers_wait_for_themselves() {
    let stage = Stage::set(&["ann", "bo"], &[("DAYSHEET_LIMITS_CALLS_AT_ONCE", "1")]).await;
    let hash = output(&stage, &stage.modern("ann")).await;
    let request = |more: &str| {
        format!(
            "GET /outputs/{hash} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer ann\r\nAccept: \
             application/json\r\n{more}\r\n",
            stage.address
        )
    };
    let response = stage.raw(request("Connection: close\r\n").as_bytes()).await.to_lowercase();
    assert!(response.contains("transfer-encoding: chunked"), "{response}");
    assert!(response.ends_with("0\r\n\r\n"), "{response}");

    // Over HTTP/2, the reader says how much may be sent.
    let stage = stage.encrypted().await;
    let stream = TokioIo::new(stage.tls(b"h2").await);
    let mut client = http2::Builder::new(TokioExecutor::new());
    client.initial_stream_window_size(1_024);
    let (requests, connection) = client.handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let read = async |token: &str| {
        let request = Request::get(stage.url(&format!("/outputs/{hash}")))
            .header("authorization", format!("Bearer {token}"))
            .header("accept", "application/json")
            .body(Empty::<Bytes>::new());
        requests.clone().send_request(request.unwrap()).await.unwrap()
    };
    let slow = read("ann").await;
    assert_eq!(
        (slow.status(), read("ann").await.status()),
        (StatusCode::OK, StatusCode::TOO_MANY_REQUESTS)
    );
    assert_eq!(read("bo").await.status(), StatusCode::NOT_FOUND);
    drop(slow);
    let soon = Instant::now() + Duration::from_secs(10);
    while read("ann").await.status() != StatusCode::OK {
        assert!(Instant::now() < soon, "the place of a reader who has gone was not given away");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
