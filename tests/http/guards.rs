//! Checks of every request: hosts, origins, sizes and times; TLS; and the shutdown of an instance.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daysheet::config::GivenKeys;
use daysheet::http::guard::{BodyLimits, CALL, read};
use daysheet::store::Store;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::common::issuer::{TestIssuer, jwks};
use crate::stage::{CERTIFICATE, KEY, Stage};

/// Returns the status of a raw response.
fn status(response: &str) -> &str {
    response.split(' ').nth(1).unwrap_or(response)
}

#[tokio::test]
async fn only_our_hosts_and_origins_are_answered() {
    let settings = [
        ("DAYSHEET_HTTP_PUBLIC_URL", "https://mail.example.com"),
        ("DAYSHEET_HTTP_HOSTS", "other.example.com, ported.example.com:81"),
        ("DAYSHEET_HTTP_ORIGINS", "https://app.example.com"),
    ];
    let public = Stage::set(&["ann"], &settings).await;
    let local = Stage::open().await;
    let page = "Origin: https://app.example.com";
    let port = local.address.port();
    for (stage, head, expected) in [
        (&local, "Host: 127.0.0.1", "405"),
        (&local, "Host: localhost:8750", "405"),
        (&local, "Host: [::1]:9", "405"),
        (&local, "HOST: LOCALHOST", "405"),
        (&local, "Host: evil.example", "403"),
        (&local, "Host: localhost.evil.example", "403"),
        (&local, "Host: 127.0.0.1.evil.example", "403"),
        (&local, "Host: evil.example\r\nX-Forwarded-Host: localhost", "403"),
        (&local, "Host: localhost\r\nHost: evil.example", "403"),
        (&local, "Host: user@localhost", "403"),
        (&local, "Host: ", "403"),
        (&local, "Host: local host", "403"),
        (&local, "X: y", "403"),
        (&local, &format!("Host: localhost\r\nOrigin: http://localhost:{port}"), "405"),
        (&local, &format!("Host: localhost\r\nOrigin: http://127.0.0.1:{port}"), "405"),
        (&local, &format!("Host: localhost\r\nOrigin: http://[::1]:{port}"), "405"),
        // A page of another server of this machine is a stranger's.
        (&local, "Host: localhost\r\nOrigin: http://localhost:6274", "403"),
        (&local, "Host: localhost\r\nOrigin: http://127.0.0.1", "403"),
        (&local, &format!("Host: localhost\r\nOrigin: https://localhost:{port}"), "403"),
        (&local, "Host: localhost\r\nOrigin: https://evil.example", "403"),
        (&local, "Host: localhost\r\nOrigin: http://localhost.evil.example", "403"),
        (&local, "Host: localhost\r\nOrigin: null", "403"),
        (
            &local,
            &format!(
                "Host: localhost\r\nOrigin: http://localhost:{port}\r\nOrigin: http://x.example"
            ),
            "403",
        ),
        (&public, "Host: mail.example.com", "401"),
        (&public, "Host: mail.example.com:443", "401"),
        (&public, "Host: other.example.com:8080", "401"),
        (&public, "Host: ported.example.com:81", "401"),
        (&public, "Host: ported.example.com", "403"),
        // The name of this machine is not one of a public server.
        (&public, "Host: localhost", "403"),
        (&public, "Host: mail.example.com\r\nOrigin: https://mail.example.com", "401"),
        (&public, &format!("Host: mail.example.com\r\n{page}"), "401"),
        (&public, "Host: mail.example.com\r\nOrigin: https://app.example.com.evil.example", "403"),
        (&public, "Host: mail.example.com\r\nOrigin: http://app.example.com", "403"),
        (&public, "Host: mail.example.com\r\nOrigin: http://localhost", "403"),
    ] {
        let request = format!("GET /mcp HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n");
        let response = stage.raw(request.as_bytes()).await;
        assert_eq!(status(&response), expected, "{head}: {response}");
    }
    // A request line with a whole address names a host, too.
    let request = "GET http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_eq!(status(&local.raw(request.as_bytes()).await), "403");
    // Probes come under any name.
    for path in ["/healthz", "/readyz"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: 10.0.0.7\r\nConnection: close\r\n\r\n");
        assert_eq!(status(&public.raw(request.as_bytes()).await), "200", "{path}");
    }
    // Pages of a listed origin may read responses, others may not.
    let preflight = |origin: &str| {
        format!(
            "OPTIONS /mcp HTTP/1.1\r\nHost: mail.example.com\r\n{origin}\r\nConnection: close\r\n\r\n"
        )
    };
    let allowed = public.raw(preflight(page).as_bytes()).await;
    assert!(allowed.contains("access-control-allow-origin: https://app.example.com"), "{allowed}");
    let own = public.raw(preflight("Origin: https://mail.example.com").as_bytes()).await;
    assert!(!own.contains("access-control"), "{own}");
}

/// An instance that lacks the master key in use is not ready.
#[tokio::test]
async fn instance_without_the_master_key_is_not_ready() {
    let old = [1; 32];
    let stage = Stage::set(&["ann"], &[("DAYSHEET_KEYS_VALUE", &STANDARD.encode(old))]).await;
    let mut config = stage.shared.config();
    config.keys = Some(GivenKeys::Value(vec![[2; 32], old]));
    Store::new(&config).rotate_key(false).await.unwrap();
    let probe = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(status(&stage.raw(probe).await), "503");
    assert_eq!(status(&stage.another().await.raw(probe).await), "503");
}

/// An instance that never had the issuer's keys would refuse everyone.
#[tokio::test]
async fn instance_is_ready_once_it_has_had_the_issuers_keys() {
    let issuer = TestIssuer::start().await;
    let stage = Stage::start(&[], &[], None, Some(issuer.settings("x"))).await;
    let probe = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    issuer.set("/jwks", 500, "", json!({}));
    assert_eq!(status(&stage.another().await.raw(probe).await), "503");
    issuer.set("/jwks", 200, "", jwks(&["rsa"]));
    assert_eq!(status(&stage.raw(probe).await), "200");
    issuer.set("/jwks", 500, "", json!({}));
    tokio::time::sleep(Duration::from_millis(3_100)).await;
    assert_eq!(status(&stage.raw(probe).await), "200");
}

#[tokio::test]
async fn requests_that_are_too_large_are_refused_early() {
    let stage = Stage::open().await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Accept: application/json, text/event-stream\r\n";
    // Its body never comes, and is not waited for.
    let announced = format!("{head}Content-Length: 100000000\r\n\r\n");
    assert_eq!(status(&stage.raw(announced.as_bytes()).await), "413");
    let mut chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    for _ in 0..5 {
        chunked.extend(b"100000\r\n");
        chunked.resize(chunked.len() + 0x10_0000, b'x');
        chunked.extend(b"\r\n");
    }
    assert_eq!(status(&stage.raw(&chunked).await), "413");
    let many = (0..200).map(|n| format!("X-{n}: y\r\n")).collect::<String>();
    assert_eq!(status(&stage.raw(format!("{head}{many}\r\n").as_bytes()).await), "431");
    for bytes in [33, 40, 64] {
        let long = format!("{head}X: {}\r\n\r\n", "y".repeat(bytes * 1024));
        assert_eq!(status(&stage.raw(long.as_bytes()).await), "431", "{bytes}");
    }
    // Two lengths are one request for the one reader and two for the other.
    for smuggled in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 4\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Content-Length: +4\r\n",
        "Content-Length : 4\r\n",
    ] {
        let request = format!(
            "{head}{smuggled}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        );
        let response = stage.raw(request.as_bytes()).await;
        assert_ne!(status(&response), "200", "{smuggled}: {response}");
        assert!(!response.contains("\r\n\r\nok"), "{smuggled}: {response}");
    }
    for path in ["/mcp/", "//mcp", "/mcp/../healthz", "/%6dcp", "/MCP", "/healthz/../mcp"] {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assert_eq!(status(&stage.raw(request.as_bytes()).await), "404", "{path}");
    }
}

/// Bodies of calls and of forms are awaited by the same function.
#[tokio::test]
async fn body_that_does_not_arrive_is_given_up() {
    let part = futures_util::stream::once(async { Ok::<_, Infallible>("part") });
    let body = Body::from_stream(part.chain(futures_util::stream::pending()));
    let limits = BodyLimits { patience: Duration::from_millis(20), ..CALL };
    let refused = read(limits, &HeaderMap::new(), body).await;
    assert_eq!(refused.unwrap_err().status(), 408);
}

/// Everyone may send this form, so it is read only where it exists, and only if it is short.
#[tokio::test]
async fn sign_in_reads_short_forms_where_there_is_one() {
    let issuer = TestIssuer::start().await;
    let at_issuer = Stage::start(&[], &[], None, Some(issuer.settings("x"))).await;
    let with_tokens = Stage::of(&["ann"]).await;
    for (stage, length, sent, expected) in [
        // The rest of the body never comes, and is not waited for.
        (&at_issuer, 4 << 20, 0, "404"),
        (&at_issuer, 10, 0, "404"),
        (&with_tokens, (16 << 10) + 1, 0, "413"),
        (&with_tokens, 16 << 10, 16 << 10, "403"),
    ] {
        let mut request = format!(
            "POST /sign-in HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n"
        )
        .into_bytes();
        request.resize(request.len() + sent, b'x');
        let response = stage.raw(&request).await;
        assert_eq!(status(&response), expected, "{length}: {response}");
    }
}

#[tokio::test]
async fn responses_have_the_id_of_their_request() {
    let stage = Stage::open().await;
    for (given, taken) in [
        ("abc-1_2.3", true),
        ("", false),
        ("has space", false),
        ("line%0abreak", false),
        (&"x".repeat(65), false),
    ] {
        let caller = stage.modern("");
        let reply = caller.http.send("GET", "/healthz", &[("x-request-id", given)], "").await;
        let id = reply.header("x-request-id");
        assert_eq!((id == given, id.is_empty()), (taken, false), "{given}");
        assert_eq!(reply.header("cache-control"), "no-store");
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
    }
}

/// Sends `bytes` over TLS with this ALPN protocol. Returns the agreed protocol and the response.
async fn over_tls(stage: &Stage, protocol: &[u8], bytes: &[u8]) -> (Option<Vec<u8>>, Vec<u8>) {
    let mut stream = stage.tls(protocol).await;
    let agreed = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
    stream.write_all(bytes).await.unwrap();
    let mut got = vec![0; 1024];
    let count = stream.read(&mut got).await.unwrap();
    got.truncate(count);
    (agreed, got)
}

#[tokio::test]
async fn tls_has_both_versions_of_http() {
    let settings = [("DAYSHEET_HTTP_CERTIFICATE", CERTIFICATE), ("DAYSHEET_HTTP_KEY", KEY)];
    let stage = Stage::set(&[], &settings).await;
    let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let (agreed, got) = over_tls(&stage, b"http/1.1", request).await;
    assert_eq!(agreed.as_deref(), Some(&b"http/1.1"[..]));
    assert!(got.starts_with(b"HTTP/1.1 200"));
    // Browsers are to use TLS from now on; a server without it cannot know whether they can.
    let strict = |response: &[u8]| {
        let response = String::from_utf8_lossy(response).into_owned();
        response
            .lines()
            .find_map(|line| line.strip_prefix("strict-transport-security: ").map(str::to_owned))
    };
    assert_eq!(strict(&got).as_deref(), Some("max-age=31536000"));
    assert_eq!(strict(Stage::open().await.raw(request).await.as_bytes()), None);
    // The preface of HTTP/2 with empty settings is answered with settings.
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let (agreed, got) = over_tls(&stage, b"h2", preface).await;
    assert_eq!((agreed.as_deref(), got.get(3)), (Some(&b"h2"[..]), Some(&4)));
    // Nothing is said without TLS.
    let plain = stage.raw(request).await;
    assert!(!plain.contains("HTTP/1.1 200"), "{plain}");
}

#[tokio::test]
async fn running_calls_end_before_the_server_does() {
    let mut stage = Stage::of(&["ann"]).await;
    stage.shared.sandbox.set_faults("delay=700ms".parse().unwrap());
    let ann = stage.modern("ann");
    // A connection without a request is closed at once.
    let mut idle = TcpStream::connect(stage.address).await.unwrap();
    let params = json!({"name": "mail_search", "arguments": {"q": "for"}});
    let request = ann.request("tools/call", params);
    let call = async {
        let reply = ann.post(&request).await;
        (reply.status, Instant::now(), reply.json())
    };
    let end = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let served = stage.end();
        let refused = async {
            while TcpStream::connect(stage.address).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Instant::now()
        };
        let (served, refused) = tokio::join!(served, refused);
        served.unwrap().unwrap();
        (refused, Instant::now())
    };
    let ((status, answered, answer), (refused, ended)) = tokio::join!(call, end);
    assert_eq!((status, &answer["error"]), (200, &Value::Null), "{answer}");
    // The client may read the response a moment after the server has sent it.
    let soon = ended + Duration::from_millis(500);
    assert!(refused < answered && answered <= soon, "{refused:?} {answered:?} {ended:?}");
    assert_eq!(idle.read(&mut [0; 8]).await.unwrap(), 0);
}

#[tokio::test]
async fn connections_outlive_refused_requests() {
    let stage = Stage::of(&["ann"]).await;
    let probe = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    // The length of a body, what of it arrives once the headers have been refused, and the
    // statuses of this request and the next one. The last two bodies are too long and too slow.
    for (length, sent, expected) in [
        (100, 100, "401 200"),
        (60_000, 60_000, "401 200"),
        (1 << 20, 70_000, "401"),
        (100, 0, "401"),
    ] {
        let mut stream = TcpStream::connect(stage.address).await.unwrap();
        let head =
            format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let mut rest = vec![b' '; sent];
        if sent == length {
            rest.extend(probe);
        }
        stream.write_all(&rest).await.unwrap();
        let mut got = String::new();
        stream.read_to_string(&mut got).await.unwrap();
        let statuses: Vec<&str> =
            got.lines().filter(|line| line.starts_with("HTTP/")).map(status).collect();
        assert_eq!(statuses.join(" "), expected, "{length} {sent}: {got}");
        let closes = got.to_lowercase().matches("connection: close").count();
        assert_eq!(closes, 1, "{length} {sent}: {got}");
    }
}
