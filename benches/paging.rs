//! Paging through two accounts of 10,000 messages each with one cursor.
//!
//! `cargo bench --bench paging` runs the sandbox with both mailboxes in this process, one at Gmail
//! and one at Outlook, and reads all of them through its own `daysheet serve`. Every message must
//! be returned exactly once, and a page at the end may not cost more than one at the start. Memory
//! is read from `/proc`, so it is reported on Linux only.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use daysheet_core::clock::Clock;
use daysheet_sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};

use served::Server;

#[expect(dead_code, reason = "others tell the time on a processor")]
mod served;

/// Messages of each account.
const EACH: usize = 10_000;
/// Rows of a page, the most there can be.
const PAGE: usize = 100;
/// Pages at each end whose times are compared.
const ENDS: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    for (owner, start) in [("ana@example.com", 0), ("bo@example.com", 7)] {
        let mail = folder.path().join("mail").join(owner);
        std::fs::create_dir_all(&mail).unwrap();
        std::fs::write(mail.join("all.mbox"), mbox(owner, start)).unwrap();
    }
    let sandbox = Sandbox::start(SandboxOptions {
        mail: Some(folder.path().join("mail")),
        ..SandboxOptions::new(Clock::system())
    })
    .await
    .unwrap();
    assert_eq!(sandbox.report().messages, 2 * EACH);
    let home = folder.path().join("home");
    let settings = served::settings(sandbox.base(), &home);
    let accounts = [("google", "ana@example.com"), ("microsoft", "bo@example.com")];
    served::sign_in(&settings, &accounts).await;

    // The sandbox answers from a thread of its own while this one waits.
    let mut server = Server::start(&settings);
    let mut times = Vec::new();
    let mut seen = HashSet::new();
    let mut rows = 0;
    let mut dates = String::from("9999");
    let mut arguments =
        json!({"limit": PAGE, "format": "json", "budget": 100_000, "fields": ["subject", "date"]});
    loop {
        let begin = Instant::now();
        let page = server.call("mail_search", &arguments);
        times.push(begin.elapsed());
        let page: Value = serde_json::from_str(&page[0]).unwrap();
        for row in page["messages"].as_array().unwrap() {
            rows += 1;
            assert!(seen.insert(row["subject"].as_str().unwrap().to_owned()));
            let date = row["date"].as_str().unwrap();
            assert!(date <= dates.as_str(), "{date} after {dates}");
            date.clone_into(&mut dates);
        }
        match page["next"].as_str() {
            Some(next) => arguments = json!({"cursor": next, "format": "json", "budget": 100_000}),
            None => break,
        }
    }
    assert_eq!((rows, seen.len()), (2 * EACH, 2 * EACH));
    println!("two accounts of {EACH} messages, {PAGE} rows a page");
    println!("  every message exactly once, newest first: {rows} in {} pages", times.len());
    // Not the first and the last page: the one opens connections, the other is
    // not full.
    let median = |times: &[Duration]| {
        let mut times = times.to_vec();
        times.sort();
        times[times.len() / 2].as_secs_f64()
    };
    let first = median(&times[1..=ENDS]);
    let last = median(&times[times.len() - 1 - ENDS..times.len() - 1]);
    println!("  a page at the end : one at the start: {:.2} (at most 2)", last / first);
    if let Some(most) = server.most_memory() {
        println!("  the server's memory, at most: {most:.1} MB (under 60)");
    }
    server.end();
}

/// Messages that are an hour apart, as one mbox.
fn mbox(owner: &str, start: usize) -> String {
    let mut text = String::new();
    for number in 0..EACH {
        let time = 1_700_000_000 + i64::try_from(number * 3600 + start * 60).unwrap();
        let date = jiff::Timestamp::from_second(time).unwrap();
        let date = date.strftime("%a, %d %b %Y %H:%M:%S +0000");
        let _ = write!(
            text,
            "From lena@studio.example Tue Feb 03 18:05:00 2026\n\
             From: Lena Okafor <lena@studio.example>\nTo: {owner}\nDelivered-To: {owner}\n\
             Subject: {owner} {number}\nDate: {date}\nMessage-ID: <{number}.{owner}>\n\
             X-Gmail-Labels: Inbox,Opened\n\nProof {number} for the autumn catalogue is here.\n\n"
        );
    }
    text
}
