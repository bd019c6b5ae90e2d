//! The process that reads files: what it cannot reach, and that the server outlives it.

use std::time::{Duration, Instant};

use daysheet::worker::{Ended, Probe, Worker};
use daysheet_extract::{Kind, Line, Request};

fn worker() -> Worker {
    Worker::at(env!("CARGO_BIN_EXE_daysheet"))
}

fn request(name: &str) -> Request {
    Request {
        name: name.to_owned(),
        media: String::new(),
        inside: Vec::new(),
        page: 1,
        sheet: None,
        zone: "Europe/Berlin".to_owned(),
    }
}

#[tokio::test]
async fn workers_reach_nothing() {
    let reach = worker().reach().await.unwrap();
    assert!(!reach.files && !reach.network && !reach.processes, "{reach:?}");
    let environment: &[&str] =
        if cfg!(windows) { &["MALLOC_ARENA_MAX", "SystemRoot"] } else { &["MALLOC_ARENA_MAX"] };
    assert_eq!(reach.environment, environment);
    if cfg!(target_os = "linux") {
        assert_eq!(reach.by, ["landlock", "limits", "seccomp"]);
    }
}

/// Each limit ends a worker with its reason, and the next one works.
#[tokio::test]
async fn limits_end_workers_with_their_reason() {
    for (probe, expected) in [
        (Probe::Memory, Ended::Memory),
        (Probe::Stack, Ended::Deep),
        (Probe::Output, Ended::Full),
        (Probe::Panic, Ended::Broken),
        (Probe::Time, Ended::Time),
    ] {
        let begun = Instant::now();
        assert_eq!(worker().exceed(probe).await.unwrap(), expected, "{probe:?}");
        assert!(begun.elapsed() < Duration::from_secs(25), "{probe:?}: {:?}", begun.elapsed());
        let (lines, ended) = worker().file(&request("a.bin"), b"\0\x01\x02\x03").await.unwrap();
        assert_eq!(ended, Ended::Whole);
        assert_eq!(lines.first(), Some(&Line::Kind(Kind::Binary)));
    }
}
