//! Limits on one person's use of a shared server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use daysheet::http::limits::{RequestLimits, TokenBucket};
use daysheet::http::metrics::ServiceMetrics;
use daysheet_core::error::ErrorKind;
use daysheet_core::provider::upstream::UpstreamRequests;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::common::clock;
use crate::stage::{Stage, message, text};

#[test]
fn bucket_refills_evenly() {
    let start = Instant::now();
    // How many calls a minute, when each is made in seconds, and how long it would have to wait.
    let cases: &[(usize, &[(u64, Option<u64>)])] = &[
        (2, &[(0, None), (0, None), (0, Some(30)), (15, Some(15)), (30, None), (31, Some(29))]),
        (1, &[(0, None), (59, Some(1)), (60, None), (600, None), (600, Some(60))]),
        (60, &[(0, None), (0, None)]),
    ];
    for (most, calls) in cases {
        let mut bucket = TokenBucket::full(*most, start);
        for (at, wait) in *calls {
            let taken = bucket.take_call(*most, start + Duration::from_secs(*at));
            let waits = taken.err().map(|wait| wait.as_secs_f64().round() as u64);
            assert_eq!(waits, *wait, "{most} per minute at {at} s");
        }
    }
}

/// Settings, the number of calls that ann may still make, and the refusal of the next call.
const CASES: &[(&[(&str, &str)], usize, &str)] = &[
    (
        &[("DAYSHEET_LIMITS_CALLS_PER_MINUTE", "2")],
        2,
        "more than 2 calls within a minute: wait 30 s and call again; ask for more in one call",
    ),
    (&[("DAYSHEET_LIMITS_TOKENS_PER_DAY", "20")], 1, " tokens, and 20 are allowed per day: wait "),
];

#[tokio::test]
async fn limits_hold_for_each_person_alone() {
    for (settings, calls, says) in CASES {
        let stage = Stage::set(&["ann", "bo"], settings).await;
        let (ann, bo) = (stage.modern("ann"), stage.modern("bo"));
        for _ in 0..*calls {
            ann.ok("mail_search", json!({})).await;
        }
        let error = ann.error("mail_search", json!({})).await;
        assert!(error.contains(says), "{error}");
        bo.ok("mail_search", json!({})).await;
        // Tokens are counted for all instances.
        let other = stage.another().await;
        let there = other.modern("ann").call("mail_search", json!({})).await;
        let counted_together = settings.iter().any(|(name, _)| name.contains("TOKENS"));
        assert_eq!(there["isError"] == true, counted_together, "{there}");
        assert!(stage.service.metrics().contains("daysheet_denied_total{reason="));
    }
}

#[tokio::test]
async fn calls_beyond_those_at_once_wait_and_are_then_refused() {
    let settings = [("DAYSHEET_LIMITS_CALLS_AT_ONCE", "1")];
    let stage = Stage::set(&["ann", "bo"], &settings).await;
    let ann = stage.modern("ann");
    // They wait for one another.
    let answers = join_all((0..4).map(|_| ann.call("mail_search", json!({})))).await;
    assert!(answers.iter().all(|answer| answer["isError"] != true), "{answers:?}");
    // Nobody waits for ever.
    let metrics = Arc::new(ServiceMetrics::new(UpstreamRequests::new(8)));
    let limits = RequestLimits::new(stage.app.config.limits, metrics.clone(), clock::clock());
    let limits = Arc::new(limits.patience(Duration::from_millis(20)));
    let watch = limits.watch_for(stage.app.store().for_owner("p-ann"));
    let running = watch.admit().await.unwrap();
    let error = watch.admit().await.err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::RateLimited(Some(_))));
    assert_eq!(
        error.to_string(),
        "1 calls are already running: wait 5 s and call again, with fewer calls at once"
    );
    assert!(limits.watch_for(stage.app.store().for_owner("p-bo")).admit().await.is_ok());
    // Four wait for each place; one more is refused at once.
    let patience = Duration::from_millis(400);
    let patient = Arc::new(
        RequestLimits::new(stage.app.config.limits, metrics, clock::clock()).patience(patience),
    );
    let crowd = patient.watch_for(stage.app.store().for_owner("p-ann"));
    let place = crowd.admit().await.unwrap();
    let started = Instant::now();
    let refused = join_all(
        (0..7).map(|_| async { crowd.admit().await.err().map(|_| started.elapsed() >= patience) }),
    );
    let (at_once, late): (Vec<_>, Vec<_>) =
        refused.await.into_iter().map(Option::unwrap).partition(|late| !late);
    assert_eq!((at_once.len(), late.len()), (3, 4));
    drop((place, running));
    assert!(watch.admit().await.is_ok());
}

#[tokio::test]
async fn floods_are_refused_before_anybody_is_looked_up() {
    let settings = [("DAYSHEET_LIMITS_REQUESTS_AT_ONCE", "1")];
    let stage = Stage::set(&["ann"], &settings).await;
    stage.shared.sandbox.set_faults("delay=400ms".parse().unwrap());
    let (ann, nobody) = (stage.modern("ann"), stage.modern(""));
    let search = json!({"name": "mail_search", "arguments": {}});
    let slow = ann.send("tools/call", search.clone());
    let others = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let refused = nobody.send("tools/call", search.clone()).await;
        let healthy = nobody.http.send("GET", "/healthz", &[], "").await;
        (refused, healthy)
    };
    let (slow, (refused, healthy)) = tokio::join!(slow, others);
    assert_eq!((slow.status, refused.status, healthy.status), (200, 429, 200));
    assert_eq!(refused.header("retry-after"), "1");
    assert_ne!(message(&slow)["result"]["isError"], true);
}

/// Connections that send only the beginning of a body leave places for the requests of others, both
/// for one person's calls and for the open sign-in form.
#[tokio::test]
async fn unfinished_bodies_leave_places_for_others() {
    // Fewer places than the connections below would take.
    let settings = [("DAYSHEET_LIMITS_REQUESTS_AT_ONCE", "80")];
    let stage = Stage::set(&["ann", "bo"], &settings).await;
    for (head, unanswered) in [
        ("POST /mcp HTTP/1.1\r\nAuthorization: Bearer ann\r\n", 32),
        ("POST /sign-in HTTP/1.1\r\n", 64),
    ] {
        let request = format!("{head}Host: localhost\r\nContent-Length: 9\r\n\r\nbe");
        let slow = join_all((0..90).map(|_| async {
            let mut stream = TcpStream::connect(stage.address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut status = [0; 12];
            let answered = stream.read_exact(&mut status);
            let answered = tokio::time::timeout(Duration::from_millis(1_500), answered).await;
            (stream, answered.is_ok().then(|| String::from_utf8_lossy(&status).into_owned()))
        }));
        let slow = slow.await;
        let refused: Vec<_> = slow.iter().filter_map(|(_, status)| status.as_deref()).collect();
        assert_eq!(refused, vec!["HTTP/1.1 429"; 90 - unanswered], "{head}");
        stage.modern("bo").ok("mail_search", json!({})).await;
    }
}

/// Long bodies share a limited room: first each person's own, then the common one. Short bodies do
/// not use it.
#[tokio::test]
async fn long_bodies_share_the_room() {
    let stage = Stage::open().await;
    let metrics = Arc::new(ServiceMetrics::new(UpstreamRequests::new(8)));
    let limits = RequestLimits::new(stage.app.config.limits, metrics, clock::clock());
    let limits = limits.patience(Duration::from_millis(20));
    let mut held = Vec::new();
    for (person, length, sent, taken) in [
        ("ann", 4 << 20, 150, 4),
        ("ann", 64 << 10, 40, 32),
        ("bo", 3 << 20, 20, 5),
        ("cy", 4 << 20, 20, 4),
        ("di", 4 << 20, 20, 4),
        // What is left of 64 MiB.
        ("ed", 1 << 20, 20, 1),
        ("ed", 64 << 10, 20, 20),
    ] {
        let mut arriving = Vec::new();
        for _ in 0..sent {
            match limits.body(person, length).await {
                Ok(permit) => {
                    held.push(permit.room);
                    arriving.push(permit.arriving);
                }
                Err(error) => assert_eq!(
                    error.to_string(),
                    "the requests that you have sent are still being read: wait 1 s and call \
                     again, with fewer at once"
                ),
            }
        }
        assert_eq!(arriving.len(), taken, "{person} {length}");
    }
    held.clear();
    assert!(limits.body("ed", 4 << 20).await.is_ok());
}

/// While one person changes a thousand messages, another's small call makes as many round trips as
/// alone. During each of them, no more of the first person's requests are admitted than fit the
/// places of one person.
#[tokio::test]
async fn long_job_of_one_person_holds_up_nobody() {
    let settings = [("DAYSHEET_LIMITS_UPSTREAM_AT_ONCE", "16")];
    let stage = Stage::set(&["ann", "bo"], &settings).await;
    let sandbox = &stage.shared.sandbox;
    for number in 0..1_000 {
        let mail = format!(
            "From: x@example.com\r\nTo: ann@example.com\r\nSubject: {number}\r\n\
             Message-ID: <{number}@x.example>\r\n\r\nhello"
        );
        assert!(sandbox.deliver("ann@example.com", mail.as_bytes()).unwrap());
    }
    let (ann, bo) = (stage.modern("ann"), stage.modern("bo"));
    let small = json!({"q": "for"});
    // Once before, so that both have looked up what they keep.
    bo.ok("mail_search", small.clone()).await;
    sandbox.set_faults("delay=10ms".parse().unwrap());
    let before = sandbox.requests();
    let started = Instant::now();
    bo.ok("mail_search", small.clone()).await;
    let (alone, took_alone) = (sandbox.requests() - before, started.elapsed());
    let before = sandbox.requests();
    let long = async {
        let done = ann.call("mail_modify", json!({"q": "in:inbox", "do": "star"})).await;
        (done, sandbox.requests() - before)
    };
    let short = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let (before, started) = (sandbox.requests(), Instant::now());
        let found = bo.call("mail_search", small).await;
        (found, sandbox.requests() - before, started.elapsed())
    };
    let ((done, all), (found, during, took)) = tokio::join!(long, short);
    assert!(text(&done).starts_with("done: 1000"), "{done}");
    assert_ne!(found["isError"], Value::Bool(true), "{found}");
    // Four places are one person's. A round trip of bo has one or two requests.
    let beside = during - alone;
    assert!(all > 100, "{all} requests are no long job");
    assert!(
        beside > 0 && beside <= 2 * 4 * alone,
        "{beside} requests of ann beside {alone} of bo; {took:?}, alone {took_alone:?}"
    );
}
