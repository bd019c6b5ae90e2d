//! Cancellation of calls of every tool in the middle of a request.
//!
//! Cancelled writes are in `faults.rs`. This file has the calls that do not write, and a check that
//! every tool is covered.

use std::time::{Duration, Instant};

use daysheet::app::App;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet::tools::TOOLS;
use daysheet_sandbox::{FaultRates, Sandbox};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::faults::writes::BOTH;
use crate::support::{ME, config};

/// Calls that do not write. Earlier searches have shown `m1`, `e1` and so on.
const READS: &[(&str, &str)] = &[
    ("mail_search", r#"{"limit": 50}"#),
    ("mail_search", r#"{"q": "is:unanswered", "by": "thread"}"#),
    ("mail_read", r#"{"ids": ["m1", "m2", "m3"]}"#),
    ("mail_attachment", r#"{"ids": ["m1", "m2", "m3", "m4", "m5"], "as": "file"}"#),
    ("lookup", r#"{"kind": "contacts", "q": "an"}"#),
    ("lookup", r#"{"kind": "folders"}"#),
    ("calendar_search", r#"{"from": "2026-11-01", "to": "2026-12-31"}"#),
    ("calendar_free", r#"{"who": ["jonas@example.com"], "from": "+1d", "to": "+8d"}"#),
    ("changes", "{}"),
    ("brief", "{}"),
    ("mail_modify", r#"{"q": "is:unread", "do": "star", "dry_run": true}"#),
    (
        "calendar_save",
        r#"{"events": [{"title": "Kiln", "start": "2026-11-16 13h15"}], "dry_run": true}"#,
    ),
    ("calendar_delete", r#"{"ids": ["e1", "e2"], "dry_run": true}"#),
    ("manage", r#"{"kind": "label", "op": "delete", "id": "Travel", "dry_run": true}"#),
];

/// Tools that only write (`faults::writes` has a call of each), one with a test below, and one that
/// makes no request.
const OTHERS: &[&str] = &["mail_draft", "mail_send", "calendar_respond", "accounts", "output_read"];

/// A server over some accounts, and a client that speaks raw JSON-RPC.
pub struct Wire {
    pub app: App,
    pub sandbox: Sandbox,
    pub home: TempDir,
    to: Box<dyn tokio::io::AsyncWrite + Unpin + Send>,
    answers: tokio::io::Lines<BufReader<tokio::io::ReadHalf<tokio::io::DuplexStream>>>,
    id: u64,
}

impl Wire {
    async fn at(provider: &'static str) -> Self {
        Self::open(match provider {
            "google" => SandboxUser::These(&[("google", ME)]),
            _ => SandboxUser::These(&[("microsoft", ME)]),
        })
        .await
    }

    pub async fn open(who: SandboxUser) -> Self {
        let home = TempDir::new().unwrap();
        let config = config(home.path(), &[]);
        Self::over(config, home, who).await
    }

    async fn over(config: Config, home: TempDir, who: SandboxUser) -> Self {
        let (app, sandbox) =
            App::sandboxed(config, None, None, FaultRates::default(), who).await.unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(app.server().serve(input, output));
        let (answers, to) = tokio::io::split(ours);
        let answers = BufReader::new(answers).lines();
        let mut wire = Self { app, sandbox, home, to: Box::new(to), answers, id: 0 };
        let begin = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                           "clientInfo": {"name": "impatient", "version": "1"}});
        wire.request("initialize", begin).await;
        wire.notify("notifications/initialized", json!({})).await;
        wire
    }

    async fn send(&mut self, message: Value) {
        self.to.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    pub async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let id = self.id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Reads messages up to the answer to `id`; returns them all.
    pub async fn until(&mut self, id: u64) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        while all.last().is_none_or(|last| last["id"] != id) {
            let line = self.answers.next_line().await.unwrap().unwrap();
            all.push(serde_json::from_str(&line).unwrap());
        }
        all
    }

    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.until(id).await.pop().unwrap()
    }

    /// Calls a tool, and cancels the call as soon as `reached` returns true.
    async fn cancel(
        &mut self,
        tool: &str,
        arguments: &Value,
        reached: impl AsyncFn(&App, &Sandbox) -> bool,
    ) -> Result<(), String> {
        let call = json!({"name": tool, "arguments": arguments});
        let id = self.begin("tools/call", call).await;
        let begun = Instant::now();
        while !reached(&self.app, &self.sandbox).await {
            if begun.elapsed() > Duration::from_secs(5) {
                return Err("made no request".to_owned());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.notify("notifications/cancelled", json!({"requestId": id})).await;
        // The session continues, and a cancelled call gets no answer.
        let ping = self.begin("ping", json!({})).await;
        match self.until(ping).await.iter().find(|one| one["id"] == id) {
            Some(answer) => Err(format!("was answered: {answer}")),
            None => Ok(()),
        }
    }
}

#[tokio::test]
async fn cancelled_reads_make_no_further_request() {
    for tool in TOOLS {
        let mut known = READS.iter().map(|(name, _)| name).chain(OTHERS);
        assert!(known.any(|name| *name == tool.name), "no call of {} is cancelled", tool.name);
    }
    let wrong = BOTH.iter().map(|provider| async move {
        let mut wire = Wire::at(provider).await;
        for (tool, arguments) in [
            ("mail_search", json!({"q": "has:attachment"})),
            ("calendar_search", json!({"from": "2026-11-16", "to": "2026-12-31"})),
        ] {
            wire.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        }
        wire.sandbox.set_faults("delay=100ms".parse().unwrap());
        let mut wrong = Vec::new();
        for (tool, arguments) in READS {
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            let before = wire.sandbox.requests();
            let begun = async |_: &App, sandbox: &Sandbox| sandbox.requests() > before;
            if let Err(why) = wire.cancel(tool, &arguments, begun).await {
                wrong.push(format!("{provider} {tool} {arguments}: {why}"));
                continue;
            }
            // Requests already under way may still arrive.
            tokio::time::sleep(Duration::from_millis(30)).await;
            let arrived = wire.sandbox.requests();
            tokio::time::sleep(Duration::from_millis(150)).await;
            let more = wire.sandbox.requests() - arrived;
            if more > 0 {
                wrong.push(format!("{provider} {tool} {arguments}: {more} more requests"));
            }
        }
        let log = std::fs::read_to_string(wire.app.config.home.join("audit.jsonl"));
        wrong.extend(log.ok().map(|log| format!("{provider} has written: {log}")));
        wrong
    });
    let wrong: Vec<String> = join_all(wrong).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A worker ends with the call that started it.
#[cfg(all(feature = "documents", target_os = "linux"))]
#[tokio::test]
async fn cancelled_reading_leaves_no_worker() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    let home = TempDir::new().unwrap();
    let (id, program) = (home.path().join("id"), home.path().join("worker"));
    let script = format!("#!/bin/sh\necho $$ > {}\nexec /bin/sleep 600\n", id.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o700)).unwrap();
    let worker = Some(daysheet::worker::Worker::at(program));
    let config = Config { worker, ..config(home.path(), &[]) };
    let mut wire = Wire::over(config, home, SandboxUser::These(&[("google", ME)])).await;
    let found = json!({"name": "mail_search", "arguments": {"q": "filename:pdf"}});
    wire.request("tools/call", found).await;
    let process = || fs::read_to_string(&id).ok()?.strip_suffix('\n').map(str::to_owned);
    let started = async |_: &App, _: &Sandbox| process().is_some();
    wire.cancel("mail_attachment", &json!({"ids": "m1", "as": "text"}), started).await.unwrap();
    let process = format!("/proc/{}", process().unwrap());
    let begun = Instant::now();
    while fs::exists(&process).unwrap() {
        assert!(begun.elapsed() < Duration::from_secs(5), "{process} is still there");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A sign-out is completed, so that no grant remains without an account.
#[tokio::test]
async fn cancelled_sign_out_is_completed() {
    let mut wire = Wire::at("google").await;
    wire.sandbox.set_faults("delay=100ms".parse().unwrap());
    let revoked = |wire: &Wire| wire.sandbox.routes()["POST /revoke"];
    assert_eq!(revoked(&wire), 0);
    let removed = async |app: &App, _: &Sandbox| app.accounts.list().await.unwrap().is_empty();
    let call = json!({"op": "remove", "account": ME});
    wire.cancel("accounts", &call, removed).await.unwrap();
    let begun = Instant::now();
    while revoked(&wire) == 0 && begun.elapsed() < Duration::from_secs(5) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(revoked(&wire), 1);
}
