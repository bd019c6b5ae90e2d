//! The process that reads files: what it cannot reach, and that the server outlives it.

use std::time::{Duration, Instant};

use daysheet::cli::sandboxed::Who;
use daysheet::config::Config;
use daysheet::worker::{Ended, Probe, Worker};
use daysheet_extract::{Kind, Line, Request};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{ME, Session, config, write_message};

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
        (Probe::Abort, Ended::Broken),
        (Probe::Time, Ended::Time),
    ] {
        let begun = Instant::now();
        assert_eq!(worker().exceed(probe).await.unwrap(), expected, "{probe:?}");
        assert!(begun.elapsed() < Duration::from_secs(25), "{probe:?}: {:?}", begun.elapsed());
        let again = worker();
        let place = again.place().await.unwrap();
        let (lines, ended) = place.file(&request("a.bin"), b"\0\x01\x02\x03").await.unwrap();
        assert_eq!(ended, Ended::Whole);
        assert_eq!(lines.first(), Some(&Line::Kind(Kind::Binary)));
    }
}

/// Large HTML is read by a worker, to the same text; if none can, the plain text is shown.
#[tokio::test]
async fn large_html_is_read_by_a_worker() {
    let row = "<tr><td>Lamp, brass</td><td>129.50</td></tr>\n".repeat(8_000);
    let html = format!("<p>Prices</p><p style='display:none'>unseen</p><table>{row}</table>");
    let body = format!(
        "--b\nContent-Type: text/plain\n\nPrices, plainly\n\
         --b\nContent-Type: text/html\n\n{html}\n--b--\n"
    );
    let headers = format!(
        "From: ana@example.com\nTo: {ME}\nSubject: Prices\nMessage-ID: <1@example.com>\n\
         MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b"
    );
    let mail = TempDir::new().unwrap();
    write_message(&mail.path().join(ME), "one.eml", &headers, &body);
    let mut answers = Vec::new();
    for worker in [None, Some(worker()), Some(Worker::at("/bin/false"))] {
        let home = TempDir::new().unwrap();
        let config = Config { worker, ..config(home.path(), &[]) };
        let mut session = Session::start(config, home, Some(mail.path()), Who::Usual).await;
        let id = session.json("mail_search", json!({})).await["messages"][0]["id"].clone();
        answers.push(session.ok("mail_read", json!({"ids": [id]})).await);
    }
    assert!(answers[0].concat().contains("6 characters are hidden"), "{:?}", answers[0]);
    assert_eq!(answers[0][1].lines().skip(1).count(), answers[1][1].lines().skip(1).count());
    let notes = |at: usize| answers[at].last();
    assert_eq!(notes(0), notes(1));
    assert!(answers[2][1].contains("\nPrices, plainly\n"), "{:?}", answers[2]);
    let note = "b1: its HTML takes too long to read and is left out; mail programs do not show its \
                plain text; body=raw has both";
    assert!(answers[2][2].contains(note), "{:?}", answers[2]);
}
