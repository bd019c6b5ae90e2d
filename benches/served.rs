//! A benchmark's own `daysheet serve` over a sandbox in the benchmark's process, so the server's
//! time and memory can be measured apart from the sandbox's. Both come from `/proc`, so they are
//! reported on Linux only.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use daysheet::app::App;
use daysheet::config::Config;
use daysheet_core::clock::Clock;
use serde_json::{Value, json};

/// Settings, as variables.
pub type Settings = Vec<(&'static str, String)>;

/// The settings that lead to a sandbox.
pub fn settings(base: &str, home: &Path) -> Settings {
    vec![
        ("DAYSHEET_HOME", home.to_str().unwrap().to_owned()),
        ("DAYSHEET_KEY_STORE", "file".to_owned()),
        ("DAYSHEET_ZONE", "UTC".to_owned()),
        ("DAYSHEET_GMAIL_URL", format!("{base}/")),
        ("DAYSHEET_GOOGLE_CALENDAR_URL", format!("{base}/calendar/v3/")),
        ("DAYSHEET_GOOGLE_PEOPLE_URL", format!("{base}/")),
        ("DAYSHEET_GOOGLE_AUTH_URL", format!("{base}/o/oauth2/v2/auth")),
        ("DAYSHEET_GOOGLE_TOKEN_URL", format!("{base}/token")),
        ("DAYSHEET_GOOGLE_CLIENT_ID", "bench".to_owned()),
        ("DAYSHEET_GRAPH_URL", format!("{base}/v1.0/")),
        ("DAYSHEET_MICROSOFT_AUTHORITY_URL", format!("{base}/")),
        ("DAYSHEET_MICROSOFT_CLIENT_ID", "bench".to_owned()),
    ]
}

/// Builds a configuration from settings.
pub fn config(settings: &Settings) -> Config {
    let var = |name: &str| {
        let found = settings.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone())
    };
    Config::from(var, None, None, Clock::system()).unwrap()
}

/// Signs accounts in, each as provider and address.
pub async fn sign_in(settings: &Settings, accounts: &[(&str, &str)]) {
    let app = App::new(config(settings));
    for (provider, address) in accounts {
        app.consent(provider, address).await.unwrap();
    }
    assert_eq!(app.accounts.list().await.unwrap().len(), accounts.len());
}

/// A server of its own, over pipes.
pub struct Server {
    child: Child,
    calls: u64,
    /// The time of each thread on a processor, of those too that have ended.
    threads: BTreeMap<OsString, Duration>,
}

impl Server {
    /// Starts it and shakes hands.
    pub fn start(settings: &Settings) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_daysheet"))
            .arg("serve")
            .envs(settings.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut server = Self { child, calls: 0, threads: BTreeMap::new() };
        server.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}}}));
        server.receive();
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    /// The texts that a tool answers with.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Vec<String> {
        self.calls += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.calls, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}));
        let answer = self.receive();
        assert!(answer["result"]["isError"] != true, "{tool} {arguments}: {answer}");
        let blocks = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let texts = blocks.iter().filter_map(|block| block["text"].as_str());
        texts.map(str::to_owned).collect()
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

    /// The most memory so far, in megabytes.
    pub fn most_memory(&self) -> Option<f64> {
        self.status("VmHWM")
    }

    /// Returns the current memory in megabytes: all resident memory, and the anonymous part.
    pub fn memory(&self) -> Option<(f64, f64)> {
        Some((self.status("VmRSS")?, self.status("RssAnon")?))
    }

    /// Returns the number of open files.
    pub fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    /// A line of its status, in megabytes.
    fn status(&self, name: &str) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes / 1024.0)
    }

    /// Returns the CPU time so far. Work of a thread that ended after the previous call is counted
    /// only up to that call.
    pub fn worked(&mut self) -> Option<Duration> {
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()? {
            let thread = thread.ok()?;
            let Ok(text) = std::fs::read_to_string(thread.path().join("schedstat")) else {
                continue;
            };
            let time = Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?);
            self.threads.insert(thread.file_name(), time);
        }
        Some(self.threads.values().sum())
    }

    /// Ends it, as a client does.
    pub fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}
