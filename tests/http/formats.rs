//! The format that a client declares for all answers.

use daysheet::config::AccessBy;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::stage::{Caller, OLD, Stage, person};

/// The capabilities that a client declares, the argument, and the format of the answer.
const FORMATS: &[(&str, &str, &str)] = &[
    ("{}", "", "toon"),
    (r#"{"experimental": {"dev.daysheet/format": {"format": "stc"}}}"#, "", "stc"),
    (r#"{"extensions": {"dev.daysheet/format": {"format": "stc"}}}"#, "", "stc"),
    (r#"{"extensions": {"dev.daysheet/format": {"format": "json"}}}"#, "", "json"),
    (r#"{"extensions": {"dev.daysheet/format": {"format": "toon"}}}"#, "", "toon"),
    // An argument wins.
    (r#"{"extensions": {"dev.daysheet/format": {"format": "stc"}}}"#, "json", "json"),
    (r#"{"extensions": {"dev.daysheet/format": {"format": "json"}}}"#, "toon", "toon"),
    // What is not understood is no wish.
    (r#"{"extensions": {"dev.daysheet/format": {"format": "xml"}}}"#, "", "toon"),
    (r#"{"extensions": {"dev.daysheet/format": {}}}"#, "", "toon"),
    (r#"{"extensions": {"dev.example/format": {"format": "stc"}}}"#, "", "toon"),
];

fn arguments(format: &str) -> Value {
    let mut arguments = json!({"limit": 2, "q": "for"});
    if !format.is_empty() {
        arguments["format"] = format.into();
    }
    arguments
}

/// Returns the format of a result. Only JSON and STC have braces around it.
fn format_of(result: &Value) -> &'static str {
    let first = result["content"][0]["text"].as_str().unwrap();
    if serde_json::from_str::<Value>(first).is_ok() {
        "json"
    } else if first.starts_with('{') {
        "stc"
    } else {
        "toon"
    }
}

#[tokio::test]
async fn client_declares_its_format() {
    let stage = Stage::of(&["ann"]).await;
    for (capabilities, argument, format) in FORMATS {
        let mut modern = stage.modern("ann");
        modern.capabilities = serde_json::from_str(capabilities).unwrap();
        let result = modern.call("mail_search", arguments(argument)).await;
        assert_eq!(format_of(&result), *format, "{capabilities} {argument}");
    }
}

/// The handshake declares the format for the session; over HTTP, the session's id carries it.
#[tokio::test]
async fn client_of_older_eras_declares_its_format_once() {
    let stage = Stage::of(&["ann"]).await;
    let app =
        stage.app.of_person(&person("ann").owner, stage.app.config.access, AccessBy::Settings);
    for (capabilities, argument, format) in FORMATS {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(app.server().serve(input, output));
        let (answers, mut to) = tokio::io::split(ours);
        let mut answers = BufReader::new(answers).lines();
        let capabilities: Value = serde_json::from_str(capabilities).unwrap();
        let mut old = Caller::new(&stage, "ann", OLD);
        old.initialize(capabilities.clone()).await;
        let result = old.call("mail_search", arguments(argument)).await;
        assert_eq!(format_of(&result), *format, "{capabilities} {argument}");
        let begin = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
                           "clientInfo": {"name": "old", "version": "1"}});
        let call = json!({"name": "mail_search", "arguments": arguments(argument)});
        for message in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
        ] {
            to.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }
        let mut answer = Value::Null;
        while answer["id"] != 2 {
            answer = serde_json::from_str(&answers.next_line().await.unwrap().unwrap()).unwrap();
        }
        assert_eq!(format_of(&answer["result"]), *format, "{capabilities} {argument}");
    }
}
