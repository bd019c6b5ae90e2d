//! Traces, as a collector receives them from the program.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::post;
use hyper::body::Bytes;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::program::Program;

/// The trace id and span id of a client.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// Starts a collector on loopback. Returns its address, and the bodies that it receives.
async fn collector() -> (String, UnboundedReceiver<Bytes>) {
    let (got, bodies) = unbounded_channel();
    let take = move |body: Bytes| async move { got.send(body).unwrap() };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let routes = Router::new().route("/v1/traces", post(take));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (address, bodies)
}

/// Returns a text attribute.
fn text<'a>(attributes: &'a [KeyValue], key: &str) -> &'a str {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|found| found.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(text)) => text,
        _ => "",
    }
}

#[tokio::test]
async fn a_call_is_a_trace_that_names_nobody() {
    let (address, mut bodies) = collector().await;
    let program = Program::start(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &address)]).await;
    let caller = &program.caller;
    let arguments = json!({"q": "from:henrike", "account": "google:mira@example.com"});
    let call = caller.request("tools/call", json!({"name": "mail_search", "arguments": arguments}));
    let mut headers = caller.headers(&call);
    headers.push(("traceparent".to_owned(), format!("00-{TRACE}-{PARENT}-01")));
    headers.push(("x-request-id".to_owned(), "one-call".to_owned()));
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let answer = caller.http.send("POST", "/mcp", &headers, call.to_string()).await.text();
    caller.error("mail_search", json!({"q": "in:nowhere:"})).await;
    for path in ["/accounts/mira@example.com?code=secret", "/healthz"] {
        caller.http.send("GET", path, &[], "").await;
    }
    let log = program.end().await;

    // What was not sent yet came at the end.
    let (mut spans, mut resources) = (Vec::<Span>::new(), Vec::new());
    while let Ok(body) = bodies.try_recv() {
        for part in ExportTraceServiceRequest::decode(body).unwrap().resource_spans {
            resources.extend(part.resource.unwrap().attributes);
            spans.extend(part.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    }
    assert_eq!(text(&resources, "service.name"), "daysheet");

    let hex = |id: &[u8]| id.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let of = |parent: &str| -> Vec<&Span> {
        spans.iter().filter(|span| hex(&span.parent_span_id) == parent).collect()
    };
    let mut parent = PARENT.to_owned();
    for (name, kind, outcome) in [
        ("POST /mcp", SpanKind::Server, ""),
        ("mail_search", SpanKind::Internal, "ok"),
        ("google", SpanKind::Client, "2xx"),
    ] {
        let found = of(&parent);
        assert!(!found.is_empty(), "{name}: {spans:#?}");
        for span in &found {
            assert_eq!((span.name.as_str(), span.kind()), (name, kind));
            assert_eq!((hex(&span.trace_id).as_str(), span.status.is_some()), (TRACE, true));
            assert_eq!(text(&span.attributes, "outcome"), outcome, "{span:?}");
        }
        parent = hex(&found[0].span_id);
    }
    assert_eq!(text(&of(PARENT)[0].attributes, "id"), "one-call");
    // Others begin a trace, such as the sign-ins of the sandbox; probes are in none.
    let begun: BTreeSet<_> = of("").iter().map(|span| span.name.as_str()).collect();
    assert_eq!(begun, BTreeSet::from(["POST /mcp", "GET none", "google", "microsoft"]));
    let refused = spans.iter().find(|span| text(&span.attributes, "outcome") == "argument");
    assert_eq!(refused.unwrap().status.as_ref().unwrap().code, 2);

    let keys: BTreeSet<_> = spans
        .iter()
        .inspect(|span| assert!(span.events.is_empty() && span.links.is_empty(), "{span:?}"))
        .flat_map(|span| &span.attributes)
        .map(|attribute| attribute.key.as_str())
        .collect();
    let known = ["http.request.method", "http.response.status_code", "http.route", "id", "outcome"];
    assert_eq!(keys, BTreeSet::from(known));
    let all = format!("{spans:?} {resources:?}");
    assert!(answer.contains("Henrike"), "{answer}");
    for word in ["@", "mira", "secret", "nowhere", "enrike", "Vesper"] {
        assert!(!all.contains(word), "{word} in {all}");
    }
    // The log has the id of the request, and none of what is for traces.
    let line = log.lines().find(|line| line.contains("one-call")).unwrap();
    assert!(line.contains(r#""span":{"id":"one-call","name":"request"}"#), "{line}");
    assert!(!log.contains("otel.") && !log.contains("http.route"), "{log}");
}

#[tokio::test]
async fn an_absent_collector_is_warned_of_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let quick = ("OTEL_BSP_SCHEDULE_DELAY", "20");
    let program = Program::start(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &address), quick]).await;
    for _ in 0..3 {
        program.caller.ok("mail_search", json!({})).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let before = Instant::now();
    let log = program.end().await;
    assert!(before.elapsed() < Duration::from_secs(4), "{:?}", before.elapsed());
    assert_eq!(log.matches("traces are not exported: ").count(), 1, "{log}");
}
