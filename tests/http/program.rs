//! The program itself as a server on loopback, in a process of its own.

use std::process::Stdio;

use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};

use crate::common::clock;
use crate::stage::{Caller, MODERN, User};

/// A running `serve --http`, and a client for it.
pub struct Program {
    pub child: Child,
    log: BufReader<ChildStderr>,
    /// The log up to the moment that it began to serve.
    begun: String,
    pub caller: Caller,
    _home: TempDir,
}

impl Program {
    pub async fn start(variables: &[(&str, &str)]) -> Self {
        let home = TempDir::new().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_daysheet"))
            .args(["serve", "--http", "127.0.0.1:0", "--sandbox"])
            .env_clear()
            .env("DAYSHEET_HOME", home.path())
            .env("DAYSHEET_KEY_STORE", "file")
            .env(clock::SETTING, clock::WRITTEN)
            .env("DAYSHEET_LOG", "info")
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut begun = String::new();
        let address = loop {
            assert_ne!(log.read_line(&mut begun).await.unwrap(), 0, "it has ended: {begun}");
            if let Some((_, address)) = begun.split_once("daysheet: listening on ") {
                break format!("http://{}", address.trim());
            }
        };
        let http = User::nobody(&address);
        let caller = Caller { http, version: MODERN, capabilities: json!({}), session: None };
        Self { child, log, begun, caller, _home: home }
    }

    /// Asks the process to end, and returns its log.
    pub async fn end(mut self) -> String {
        let id = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").arg(id).status().await.unwrap().success());
        self.log.read_to_string(&mut self.begun).await.unwrap();
        assert!(self.child.wait().await.unwrap().success(), "{}", self.begun);
        self.begun
    }
}
