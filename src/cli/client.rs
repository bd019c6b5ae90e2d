//! A minimal MCP client in this process, so that `call` and `demo` print exactly the output for
//! other clients.

use std::sync::Arc;

use daysheet_core::call::client::Confirmation;
use daysheet_core::error::{Error, ErrorKind, Result};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use crate::server::{STATS, Server};

/// Asks the user to confirm an action.
pub type ConfirmFn = Arc<dyn Fn(&str) -> Confirmation + Send + Sync>;

/// A session with a server in this process.
pub struct InProcessClient {
    /// Asks the user; `None` if questions are not possible.
    ask: Option<ConfirmFn>,
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    next_id: u64,
}

/// The answer of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The text blocks, in order, without the line break that begins all but the first.
    pub blocks: Vec<String>,
    /// True if the call failed, for a reason that the caller can act on.
    pub is_error: bool,
}

impl ToolAnswer {
    /// Extracts the answer from the result of a call.
    fn from_result(result: &Value) -> Self {
        // Each block but the first begins with a line break, for clients that join blocks without a
        // separator (Zed). It is removed here, because callers add a separator of their own.
        let blocks = result
            .get("content")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .enumerate()
            .map(|(at, text)| if at == 0 { text } else { text.strip_prefix('\n').unwrap_or(text) })
            .map(str::to_owned)
            .collect();
        Self { blocks, is_error: result.get("isError") == Some(&Value::Bool(true)) }
    }
}

impl InProcessClient {
    /// Starts `server` and initializes a session without questions to the user.
    pub async fn connect(server: Server) -> Result<Self> {
        Self::with(server, None).await
    }

    /// Starts `server` and initializes a session that may include questions to the user.
    pub async fn with(server: Server, ask: Option<ConfirmFn>) -> Result<Self> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (their_input, their_output) = tokio::io::split(theirs);
        tokio::spawn(server.serve(their_input, their_output));
        let (output, input) = tokio::io::split(ours);
        // Without the capability, the server must not send questions.
        let capabilities = match ask {
            Some(_) => json!({"elicitation": {"form": {}}}),
            None => json!({}),
        };
        let mut client = Self { ask, input, output: BufReader::new(output).lines(), next_id: 0 };
        client
            .request(
                "initialize",
                json!({
                    // The last version in which a server can ask questions during a call.
                    "protocolVersion": "2025-11-25",
                    "capabilities": capabilities,
                    "clientInfo": {"name": "daysheet", "version": env!("CARGO_PKG_VERSION")},
                }),
            )
            .await?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(client)
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<ToolAnswer> {
        let params = json!({"name": tool, "arguments": arguments});
        Ok(ToolAnswer::from_result(&self.request("tools/call", params).await?))
    }

    /// Calls a tool and requests the size of the answer, which is null for an error.
    pub async fn call_with_stats(
        &mut self,
        tool: &str,
        arguments: Value,
    ) -> Result<(ToolAnswer, Value)> {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {STATS: true}});
        let result = self.request("tools/call", params).await?;
        let stats = result.pointer("/_meta/daysheet").cloned().unwrap_or_default();
        Ok((ToolAnswer::from_result(&result), stats))
    }

    /// Sends a request and waits for its result.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        while let Some(line) = self.output.next_line().await.map_err(|_| connection_closed())? {
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if message.get("method").and_then(Value::as_str) == Some("elicitation/create") {
                self.answer(&message).await?;
                continue;
            }
            // Notifications have no id.
            if message.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(error) = message.get("error") {
                let reason = error.get("message").and_then(Value::as_str);
                return Err(Error::new(
                    ErrorKind::Internal,
                    reason.unwrap_or("the server answered with an error").to_owned(),
                ));
            }
            return Ok(message.get_mut("result").map(Value::take).unwrap_or_default());
        }
        Err(connection_closed())
    }

    /// Answers a question of the server with the user's decision.
    async fn answer(&mut self, question: &Value) -> Result<()> {
        let text = question.pointer("/params/message").and_then(Value::as_str);
        let text = text.unwrap_or_default().to_owned();
        let reply = match self.ask.clone() {
            None => Confirmation::No,
            // Reading from the terminal blocks, but the server has to continue on this thread.
            Some(ask) => tokio::task::spawn_blocking(move || ask(&text))
                .await
                .unwrap_or(Confirmation::Unanswered),
        };
        let result = match reply {
            Confirmation::Yes => json!({"action": "accept", "content": {}}),
            Confirmation::No => json!({"action": "decline"}),
            _ => json!({"action": "cancel"}),
        };
        let id = question.get("id").cloned().unwrap_or_default();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result})).await
    }

    async fn send(&mut self, message: &Value) -> Result<()> {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.map_err(|_| connection_closed())
    }
}

fn connection_closed() -> Error {
    Error::new(ErrorKind::Internal, "the server ended before it answered")
}
