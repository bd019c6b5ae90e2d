//! A `daysheet serve` of its own, over pipes, so that its time and memory are measured apart from
//! the sandbox's, which is in the process of the benchmark. Both come from `/proc`, so they are
//! reported on Linux only.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use daysheet_sandbox::Sandbox;
use serde_json::{Value, json};

use crate::common::{Settings, leading_to, megabytes, process, sign_in};

/// A running server.
pub struct Server {
    child: Child,
    calls: u64,
    /// The time of each thread on a processor, including threads that have ended.
    threads: BTreeMap<OsString, Duration>,
}

impl Server {
    /// Starts it over a sandbox, signed in to these accounts, each as provider and address.
    pub async fn over(sandbox: &Sandbox, home: &Path, accounts: &[(&str, &str)]) -> Self {
        let settings = leading_to(sandbox, home);
        sign_in(&settings, accounts).await;
        Self::start(&settings, &[])
    }

    /// Starts it with further arguments and shakes hands.
    pub fn start(settings: &Settings, arguments: &[&str]) -> Self {
        let arguments = [&["serve"], arguments].concat();
        let mut command = process(settings, &arguments);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut server = Self { child, calls: 0, threads: BTreeMap::new() };
        server.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}}}));
        server.receive();
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    /// Calls a tool and returns the texts of its answer.
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

    /// Returns a line of its status in megabytes, such as `VmHWM`, the most memory so far.
    pub fn memory(&self, line: &str) -> Option<f64> {
        megabytes(&self.child.id().to_string(), line)
    }

    /// Returns the number of open files.
    pub fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    /// Returns the CPU time so far. Work of a thread that ended after the previous call is counted
    /// only up to that call.
    pub fn worked(&mut self) -> Option<Duration> {
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()?.flatten() {
            let text = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            if let Some(time) = text.split(' ').next().and_then(|time| time.parse().ok()) {
                self.threads.insert(thread.file_name(), Duration::from_nanos(time));
            }
        }
        Some(self.threads.values().sum())
    }

    /// Ends it, as a client does.
    pub fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}
