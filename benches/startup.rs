//! Time from the start of the process to the answer of `initialize`, memory at that point and while
//! listing, and the number of round trips per page.
//!
//! `cargo bench --bench startup` starts the release binary over real pipes. Memory is read from
//! `/proc`, so it is reported on Linux only.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The number of starts of which the median is reported.
const STARTS: usize = 21;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const SEARCH: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mail_search","arguments":{"limit":50}}}"#;

fn start(arguments: &[&str], home: &std::path::Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_daysheet"))
        .args(arguments)
        .env("DAYSHEET_HOME", home)
        .env("DAYSHEET_KEY_STORE", "file")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn ask(child: &mut Child, lines: &[&str]) -> String {
    let input = child.stdin.as_mut().unwrap();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    let mut answer = String::new();
    let mut output = BufReader::new(child.stdout.as_mut().unwrap());
    output.read_line(&mut answer).unwrap();
    answer
}

/// Returns the resident memory in megabytes, and its peak.
fn resident(child: &Child) -> Option<(f64, f64)> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes / 1024.0)
    };
    Some((field("VmRSS")?, field("VmHWM")?))
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    child.wait().unwrap();
}

fn main() {
    let home = tempfile::tempdir().unwrap();
    let mut times: Vec<Duration> = (0..STARTS)
        .map(|_| {
            let begin = Instant::now();
            let mut child = start(&["serve"], home.path());
            ask(&mut child, &[INITIALIZE]);
            let time = begin.elapsed();
            end(child);
            time
        })
        .collect();
    times.sort();
    println!(
        "start to the answer of initialize: {:.1} ms, median of {STARTS} (within 10)",
        times[STARTS / 2].as_secs_f64() * 1e3
    );
    let mut child = start(&["serve"], home.path());
    ask(&mut child, &[INITIALIZE]);
    if let Some((now, _)) = resident(&child) {
        println!("resident then: {now:.1} MB (within 12)");
    }
    end(child);
    // The sandbox and its mailbox are in this process too.
    let mut child = start(&["serve", "--sandbox"], home.path());
    ask(&mut child, &[INITIALIZE]);
    let answer = ask(&mut child, &[INITIALIZED, SEARCH]);
    assert!(answer.contains("messages[50"), "{answer}");
    if let Some((now, most)) = resident(&child) {
        println!(
            "resident after listing 50, sandbox included: {now:.1} MB, at most {most:.1} MB (under 40)"
        );
    }
    end(child);
    for delay in [50, 200] {
        let fault = format!("delay={delay}ms");
        let mut child = start(&["serve", "--sandbox", "--fault", &fault], home.path());
        ask(&mut child, &[INITIALIZE]);
        let begin = Instant::now();
        let answer = ask(&mut child, &[INITIALIZED, SEARCH]);
        let time = begin.elapsed().as_secs_f64() * 1e3;
        assert!(answer.contains("messages[50"), "{answer}");
        let trips = time / f64::from(delay);
        println!(
            "listing 50 messages, every answer {delay} ms late: {trips:.1} round trips (at most 4)"
        );
        end(child);
    }
    let size = std::fs::metadata(env!("CARGO_BIN_EXE_daysheet")).unwrap().len();
    println!("binary: {:.1} MB", size as f64 / 1e6);
}
