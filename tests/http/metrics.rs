//! Metrics of a server.

use std::time::Duration;

use daysheet_sandbox::FaultRates;
use regex::Regex;
use serde_json::json;
use tokio::net::TcpListener;

use crate::stage::{Stage, User};

/// Metrics after the calls below: the beginning of a line and its number, `None` for any above 0.
const COUNTED: &[(&str, Option<u64>)] = &[
    (r#"daysheet_calls_total{tool="mail_search",outcome="ok"}"#, Some(3)),
    (r#"daysheet_calls_total{tool="mail_search",outcome="argument"}"#, Some(1)),
    (r#"daysheet_call_seconds_count{tool="mail_search"}"#, Some(4)),
    ("daysheet_calls_running", Some(0)),
    ("daysheet_answer_tokens_total", None),
    ("daysheet_answer_tokens_saved_estimate_total", None),
    ("daysheet_answer_bytes_total", None),
    ("daysheet_answer_baseline_bytes_total", None),
    (r#"daysheet_denied_total{reason="invalid_token"}"#, Some(1)),
    (r#"daysheet_denied_total{reason="missing_token"}"#, Some(2)),
    (r#"daysheet_http_requests_total{route="/mcp",status="200"}"#, Some(4)),
    (r#"daysheet_http_requests_total{route="/mcp",status="401"}"#, Some(2)),
    (r#"daysheet_http_requests_total{route="/outputs/{hash}",status="401"}"#, Some(1)),
    (r#"daysheet_http_requests_total{route="none",status="404"}"#, Some(1)),
    (r#"daysheet_upstream_requests_total{provider="google",outcome="2xx"}"#, None),
    (r#"daysheet_upstream_requests_total{provider="google",outcome="throttled"}"#, None),
    (r#"daysheet_refreshes_total{provider="google",outcome="ok"}"#, Some(2)),
    ("daysheet_upstream_in_flight", Some(0)),
    ("daysheet_people", Some(2)),
    (r#"daysheet_build_info{version="0.1.0"}"#, Some(1)),
];

#[tokio::test]
async fn everything_is_counted_and_nobody_named() {
    let stage = Stage::of(&["ann", "bo"]).await;
    let (ann, bo) = (stage.modern("ann"), stage.modern("bo"));
    ann.ok("mail_search", json!({})).await;
    ann.error("mail_search", json!({"q": "in:nowhere:"})).await;
    stage.shared.sandbox.expire_access_tokens();
    ann.ok("mail_search", json!({"q": "hello"})).await;
    // Throttled for a while, and then answered.
    let sandbox = &stage.shared.sandbox;
    sandbox.set_faults("429=1".parse().unwrap());
    let calmed = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        sandbox.set_faults(FaultRates::default());
    };
    tokio::join!(bo.ok("mail_search", json!({})), calmed);
    for token in ["", "eve"] {
        assert_eq!(stage.modern(token).send("tools/list", json!({})).await.status, 401);
    }
    assert_eq!(bo.http.send("GET", "/outputs/aaaaaaaaaa", &[], "").await.status, 401);
    assert_eq!(bo.http.send("GET", "/ann@example.com", &[], "").await.status, 404);

    let text = stage.service.metrics();
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|number| number.parse::<u64>().ok())
    };
    for (name, count) in COUNTED {
        let found = number(name);
        let right = count.map_or(found > Some(0), |count| found == Some(count));
        assert!(right, "{name}: {found:?} in\n{text}");
    }
    assert!(!text.contains('@') && !text.contains("p-") && !text.contains("ann"), "{text}");
    // As OpenMetrics 1.0 has it.
    let line = Regex::new(
        r#"^(# (HELP|TYPE) [a-z_]+ .+|# EOF|[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? [0-9.e+-]+)$"#,
    );
    let line = line.unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert_eq!(text.lines().find(|one| !line.is_match(one)), None);
}

#[tokio::test]
async fn cancelled_calls_are_counted() {
    let stage = Stage::of(&["ann"]).await;
    stage.shared.sandbox.set_faults("delay=5000ms".parse().unwrap());
    let ann = stage.modern("ann");
    let call = ann.ok("mail_search", json!({}));
    assert!(tokio::time::timeout(Duration::from_millis(500), call).await.is_err());
    let counted = r#"daysheet_calls_total{tool="mail_search",outcome="cancelled"} 1"#;
    let seen = async {
        while !stage.service.metrics().contains(counted) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let seen = tokio::time::timeout(Duration::from_secs(3), seen).await;
    assert!(seen.is_ok(), "{}", stage.service.metrics());
}

/// Metrics are not served at the public address.
#[tokio::test]
async fn metrics_have_an_address_of_their_own() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let stage = Stage::set(&["ann"], &[("DAYSHEET_HTTP_METRICS", &address)]).await;
    let at_server = stage.modern("ann").http.send("GET", "/metrics", &[], "").await;
    assert_eq!(at_server.status, 404);
    let prometheus = User::nobody(&format!("http://{address}"));
    let reply = prometheus.send("GET", "/metrics", &[], "").await;
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").starts_with("application/openmetrics-text"));
    assert!(reply.text().contains("daysheet_people"), "{}", reply.text());
}
