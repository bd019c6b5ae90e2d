//! Paging through two accounts of 10,000 messages each by one cursor.
//!
//! `cargo bench --bench paging` lets the sandbox hold both mailboxes in this
//! process, one at Gmail and one at Outlook, and reads all of them through a
//! `daysheet serve` of its own: every message has to come exactly once, and a
//! page at the end may not cost more than one at the start. Memory is read from
//! `/proc` and so on Linux alone.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use daysheet::app::App;
use daysheet::cli::client::Client;
use daysheet::config::Config;
use daysheet::sandbox::{Options, Sandbox};
use http_body_util::Empty;
use hyper::body::Bytes;
use serde_json::{Value, json};

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
    let sandbox =
        Sandbox::start(Options { mail: Some(folder.path().join("mail")), ..Options::default() })
            .await
            .unwrap();
    assert_eq!(sandbox.report().messages, 2 * EACH);
    let home = folder.path().join("home");
    let settings = settings(sandbox.base(), &home);
    sign_in(&settings).await;

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
        let page = server.search(&arguments);
        times.push(begin.elapsed());
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

/// The settings that lead to the sandbox.
fn settings(base: &str, home: &Path) -> Vec<(&'static str, String)> {
    vec![
        ("DAYSHEET_HOME", home.to_str().unwrap().to_owned()),
        ("DAYSHEET_KEY_STORE", "file".to_owned()),
        ("DAYSHEET_ZONE", "UTC".to_owned()),
        ("DAYSHEET_BROWSER", "print".to_owned()),
        ("DAYSHEET_GMAIL_URL", format!("{base}/")),
        ("DAYSHEET_GOOGLE_AUTH_URL", format!("{base}/o/oauth2/v2/auth")),
        ("DAYSHEET_GOOGLE_TOKEN_URL", format!("{base}/token")),
        ("DAYSHEET_GOOGLE_CLIENT_ID", "bench".to_owned()),
        ("DAYSHEET_GRAPH_URL", format!("{base}/v1.0/")),
        ("DAYSHEET_MICROSOFT_AUTHORITY_URL", format!("{base}/")),
        ("DAYSHEET_MICROSOFT_CLIENT_ID", "bench".to_owned()),
    ]
}

/// Signs one account in at each provider, as a chat does.
async fn sign_in(settings: &[(&str, String)]) {
    let var = |name: &str| {
        let found = settings.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone())
    };
    let app = App::new(Config::from(var, None, None).unwrap());
    let mut client = Client::start(app.server()).await.unwrap();
    for (provider, address) in [("google", "ana@example.com"), ("microsoft", "bo@example.com")] {
        let add = json!({"op": "add", "provider": provider, "account": address});
        let answer = client.call("accounts", add).await.unwrap();
        let page = answer.blocks[0]
            .split_whitespace()
            .find(|word| word.starts_with("http"))
            .unwrap_or_else(|| panic!("no page in {}", answer.blocks[0]))
            .to_owned();
        agree(&page).await;
        app.pipeline.signed_in().await.unwrap();
    }
    assert_eq!(app.accounts.list().await.unwrap().len(), 2);
}

/// Plays the browser: agrees on the page and goes where it leads.
async fn agree(page: &str) {
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build_http();
    let mut next = page.to_owned();
    for consent in ["allow", ""] {
        let request = hyper::Request::get(&next)
            .header("X-Sandbox-Consent", consent)
            .body(Empty::<Bytes>::new())
            .unwrap();
        let answer = client.request(request).await.unwrap();
        if let Some(location) = answer.headers().get("location") {
            location.to_str().unwrap().clone_into(&mut next);
        }
    }
}

/// A server of its own, over pipes.
struct Server {
    child: Child,
    calls: u64,
}

impl Server {
    fn start(settings: &[(&str, String)]) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_daysheet"))
            .arg("serve")
            .envs(settings.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut server = Self { child, calls: 0 };
        server.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}}}));
        server.receive();
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn search(&mut self, arguments: &Value) -> Value {
        self.calls += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.calls, "method": "tools/call",
            "params": {"name": "mail_search", "arguments": arguments}}));
        let answer = self.receive();
        let text = answer["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}"));
        serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
    }

    fn send(&mut self, line: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        // The reader takes no more than the line: the server waits for us.
        let mut output = BufReader::new(self.child.stdout.as_mut().unwrap());
        output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// In megabytes.
    fn most_memory(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
        let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes / 1024.0)
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}
