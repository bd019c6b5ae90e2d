//! Progress of long calls, reported to clients that request it.

use std::time::{Duration, Instant};

use daysheet::cli::sandboxed::SandboxUser;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::cancel::Wire;

/// A call, the delay of each request, and the units of its reports in order; empty if the call ends
/// before a report is due.
const CASES: &[(&str, &str, &str, &[&str])] = &[
    ("mail_search", r#"{"limit": 50}"#, "delay=900ms", &["accounts", "items"]),
    ("changes", "{}", "delay=900ms", &["of 4 sources"]),
    ("brief", "{}", "delay=1200ms", &["items"]),
    ("mail_search", r#"{"limit": 5}"#, "delay=100ms", &[]),
    (
        "mail_modify",
        r#"{"q": "in:inbox", "do": "star", "account": "mira@example.com"}"#,
        "delay=700ms",
        &["messages"],
    ),
    (
        "mail_modify",
        r#"{"q": "in:inbox", "do": "star", "account": "mira@lindqvist-lamps.example"}"#,
        // The write is one request, and whether a report falls into it depends on the machine. Only
        // the messages looked up before it are certain to be reported.
        "delay=1200ms",
        &["items"],
    ),
    (
        "mail_draft",
        r#"{"to": "a@example.org", "body": "x", "attach": "FILE", "account": "mira@example.com"}"#,
        "delay=900ms",
        &["bytes of the draft"],
    ),
    (
        "mail_draft",
        r#"{"to": "a@example.org", "body": "x", "attach": "FILE", "account": "mira@lindqvist-lamps.example"}"#,
        "delay=900ms",
        &["bytes of large.bin"],
    ),
    (
        "calendar_save",
        r#"{"account": "mira@example.com", "if_conflict": "ignore", "events": [
            {"title": "a", "start": "2027-01-04 10h00"}, {"title": "b", "start": "2027-01-05 10h00"},
            {"title": "c", "start": "2027-01-06 10h00"}, {"title": "d", "start": "2027-01-07 10h00"}]}"#,
        "delay=600ms",
        &["events"],
    ),
];

#[tokio::test]
async fn long_calls_report_their_progress() {
    // A report is due after two seconds.
    const LONG: Duration = Duration::from_secs(2);
    let calls = CASES.iter().map(|(tool, arguments, faults, counts)| async move {
        let mut wire = Wire::open(SandboxUser::Usual).await;
        let files = wire.home.path().join("files");
        std::fs::create_dir_all(&files).unwrap();
        let file = files.join("large.bin");
        std::fs::write(&file, vec![7_u8; 9 << 20]).unwrap();
        let arguments = arguments.replace("FILE", file.to_str().unwrap());
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        wire.sandbox.set_faults(faults.parse().unwrap());
        let call = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "p1"}});
        let began = Instant::now();
        let id = wire.begin("tools/call", call).await;
        let mut messages = wire.until(id).await;
        // On a busy machine, a short call may take long enough for a report.
        let may_report = !counts.is_empty() || began.elapsed() >= LONG;
        let answer = messages.pop().unwrap();
        let reports: Vec<&Value> = messages.iter().map(|message| &message["params"]).collect();
        let numbers: Vec<_> =
            reports.iter().map(|one| (one["progress"].as_f64(), one["total"].as_f64())).collect();
        let words: Vec<_> = reports.iter().filter_map(|one| one["message"].as_str()).collect();
        let right = answer["result"]["isError"] != true
            && messages.iter().all(|message| message["method"] == "notifications/progress")
            && reports.iter().all(|one| one["progressToken"] == "p1")
            && numbers.is_sorted_by(|one, next| one.0 < next.0)
            && numbers.iter().all(|(done, total)| total.is_none() || done <= total)
            && (words.is_empty() || may_report)
            && counts.iter().all(|count| words.iter().any(|text| text.contains(count)));
        (!right).then(|| format!("{tool} {arguments}: {numbers:?} {words:?} {answer}"))
    });
    let wrong: Vec<String> = join_all(calls).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
