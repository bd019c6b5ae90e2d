//! Confirmation by the client, over the wire: by a request in older protocol versions, by the end
//! of the call since 2026-07-28.

use std::sync::Arc;

use daysheet::pipeline::Pipeline;
use daysheet::server::Server;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use crate::send::Senders;

/// A client that speaks raw JSON-RPC.
pub struct Wire {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Wire {
    fn to(senders: &Senders) -> Self {
        Self::over(senders.process(&[]))
    }

    pub fn over(process: Pipeline) -> Self {
        let format = process.config().format;
        Self::of(Server::new(Arc::new(process), format))
    }

    pub fn of(server: Server) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(server.serve(input, output));
        let (output, input) = tokio::io::split(ours);
        Self { input, output: BufReader::new(output).lines() }
    }

    pub async fn write(&mut self, message: Value) {
        self.write_line(&format!("{message}\n")).await;
    }

    /// Writes a message unchanged, with its line feed.
    pub async fn write_line(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.unwrap();
    }

    /// Returns the next message, skipping notifications.
    pub async fn read(&mut self) -> Value {
        loop {
            let line = self.output.next_line().await.unwrap().unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    pub async fn initialize(&mut self, capabilities: Value) {
        self.write(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        }}))
        .await;
        self.read().await;
        self.write(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }

    /// Calls `mail_send` in the protocol version without a handshake.
    pub async fn modern(&mut self, id: &str, more: Value) -> Value {
        self.answer(id, more).await["result"].clone()
    }

    async fn answer(&mut self, id: &str, more: Value) -> Value {
        let mut params = json!({
            "name": "mail_send",
            "arguments": {"id": id},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
            },
        });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        self.write(json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}))
            .await;
        self.read().await
    }
}

const QUESTION: &str = "Send this mail?\nFrom: Mira Lindqvist <mira@example.com>\nTo: \
                        jonas@example.com\nSubject: Lamps";

fn outcome(result: &Value) -> &str {
    let text = result["content"][0]["text"].as_str().unwrap();
    text.split('\t').nth(6).unwrap_or(text)
}

#[tokio::test]
async fn older_clients_are_asked_by_elicitation_request() {
    for (action, outcome_word, sent) in
        [("accept", "sent", 1), ("decline", "refused", 0), ("cancel", "refused", 0)]
    {
        let mut senders = Senders::new().await;
        let d = senders.draft("jonas@example.com").await;
        let mut wire = Wire::to(&senders);
        wire.initialize(json!({"elicitation": {}})).await;
        wire.write(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "mail_send", "arguments": {"id": d}}}))
            .await;
        let request = wire.read().await;
        assert_eq!(request["method"], "elicitation/create");
        assert_eq!(request["params"]["message"], QUESTION);
        assert_eq!(senders.sent(), 0);
        let answer = json!({"action": action, "content": {}});
        wire.write(json!({"jsonrpc": "2.0", "id": request["id"], "result": answer})).await;
        let done = wire.read().await;
        assert_eq!(outcome(&done["result"]), outcome_word, "{done}");
        assert_eq!(senders.sent(), sent, "{action}");
    }
}

#[tokio::test]
async fn clients_without_elicitation_confirm_in_two_steps() {
    let mut senders = Senders::new().await;
    let d = senders.draft("jonas@example.com").await;
    let mut wire = Wire::to(&senders);
    wire.initialize(json!({})).await;
    wire.write(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "mail_send", "arguments": {"id": d}}}))
        .await;
    let done = wire.read().await;
    assert_eq!(outcome(&done["result"]), "sent", "{done}");
}

#[tokio::test]
async fn newer_clients_are_asked_by_ending_the_call() {
    let mut senders = Senders::new().await;
    let d = senders.draft("jonas@example.com").await;
    let other = senders.draft("jonas@example.com").await;
    let mut wire = Wire::to(&senders);
    let response = wire.modern(&d, json!({})).await;
    assert_eq!(response["resultType"], "input_required", "{response}");
    let request = &response["inputRequests"]["confirm"];
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["message"], QUESTION);
    assert_eq!(senders.sent(), 0);
    let state = response["requestState"].clone();
    let yes = json!({
        "requestState": state,
        "inputResponses": {"confirm": {"action": "accept", "content": {}}},
    });
    // An answer confirms only its own question, and only once.
    for (id, why) in [(&other, "another call"), (&d, "used up")] {
        let again = wire.modern(id, yes.clone()).await;
        assert_eq!(again["resultType"], "input_required", "{why}: {again}");
    }
    let made_up = json!({
        "requestState": "0123456789abcdef0123456789abcdef",
        "inputResponses": {"confirm": {"action": "accept"}},
    });
    let again = wire.modern(&d, made_up).await;
    assert_eq!(again["resultType"], "input_required", "{again}");
    // The state was modified by the client.
    let changed = json!({"requestState": format!("{}-X", state.as_str().unwrap())});
    let refused = wire.answer(&d, changed).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(senders.sent(), 0);
    // The draft was changed after the question.
    let response = wire.modern(&d, json!({})).await;
    let edit = json!({"mode": "edit", "id": d, "to": "eve@example.org"});
    senders.session.ok("mail_draft", edit).await;
    let yes = |response: &Value| {
        json!({
            "requestState": response["requestState"],
            "inputResponses": {"confirm": {"action": "accept", "content": {}}},
        })
    };
    let response = wire.modern(&d, yes(&response)).await;
    assert_eq!(
        response["inputRequests"]["confirm"]["params"]["message"],
        QUESTION.replace("jonas@example.com", "eve@example.org")
    );
    let done = wire.modern(&d, yes(&response)).await;
    assert_eq!(outcome(&done), "sent", "{done}");
    assert_eq!(senders.sent(), 1);
    // The question was asked and declined.
    let response = wire.modern(&other, json!({})).await;
    let no = json!({
        "requestState": response["requestState"],
        "inputResponses": {"confirm": {"action": "decline"}},
    });
    let done = wire.modern(&other, no).await;
    assert_eq!(outcome(&done), "refused", "{done}");
    assert_eq!(senders.sent(), 1);
}

#[tokio::test]
async fn tools_above_the_access_level_are_not_listed() {
    let read: &[&str] = &[
        "mail_draft", "mail_send", "mail_modify", "calendar_save", "calendar_delete",
        "calendar_respond", "manage",
    ];
    let all: [(&str, &[&str]); 5] = [
        ("read", read),
        ("organize", &["mail_draft", "mail_send", "calendar_respond"]),
        ("draft", &["mail_send", "calendar_respond"]),
        ("send", &[]),
        ("full", &[]),
    ];
    for (level, absent) in all {
        let config =
            crate::support::config(std::path::Path::new("/nowhere"), &[("DAYSHEET_ACCESS", level)]);
        let offered: Vec<&str> = daysheet::tools::TOOLS
            .iter()
            .filter(|tool| tool.is_offered(config.access, &config.tools))
            .map(|tool| tool.name)
            .collect();
        let names = daysheet::tools::TOOLS.iter().map(|tool| tool.name);
        let expected: Vec<&str> = names.filter(|name| !absent.contains(name)).collect();
        assert_eq!(offered, expected, "{level}");
    }
    let config = crate::support::config(
        std::path::Path::new("/nowhere"),
        &[("DAYSHEET_TOOLS", "mail, calendar_free")],
    );
    let offered: Vec<&str> = daysheet::tools::TOOLS
        .iter()
        .filter(|tool| tool.is_offered(config.access, &config.tools))
        .map(|tool| tool.name)
        .collect();
    assert_eq!(
        offered,
        [
            "mail_search", "mail_read", "mail_attachment", "mail_draft", "mail_send",
            "mail_modify", "lookup", "calendar_free", "output_read", "accounts"
        ]
    );
}
