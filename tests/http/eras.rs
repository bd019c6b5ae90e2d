//! Each era of the protocol, at any instance: requests without a session, and information in the id
//! of a session.

use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::{Caller, MODERN, OLD, Stage, message, text};

/// An address that ann has never written to.
const STRANGER: &str = "stranger@example.org";

#[tokio::test]
async fn each_person_sees_their_own_mail_at_any_instance() {
    let one = Stage::of(&["ann", "bo"]).await;
    let other = one.another().await;
    for (name, not) in [("ann", "bo"), ("bo", "ann")] {
        for stage in [&one, &other] {
            let modern = stage.modern(name);
            let without_handshake = Caller::new(stage, name, OLD);
            for caller in [modern, stage.old(name).await, without_handshake] {
                let found = caller.ok("mail_search", json!({"q": "for"})).await;
                assert!(found.contains(&format!("for {name}@example.com")), "{found}");
                assert!(!found.contains(&format!("{not}@")), "{found}");
            }
        }
    }
}

/// Creates a draft to an unknown recipient, and returns its handle.
async fn draft(caller: &Caller) -> String {
    let draft = json!({"to": [STRANGER], "subject": "Lamps", "body": "Hello"});
    let made = caller.ok("mail_draft", draft).await;
    let at = made.find("d1").unwrap_or_else(|| panic!("no draft: {made}"));
    made[at..at + 2].to_owned()
}

fn send(caller: &Caller, draft: &str) -> Value {
    caller.request("tools/call", json!({"name": "mail_send", "arguments": {"id": draft}}))
}

/// Posts an answer to a question, and returns the status.
async fn answer(caller: &Caller, id: &Value, action: &str) -> u16 {
    let result = json!({"action": action, "content": {}});
    caller.post(&json!({"jsonrpc": "2.0", "id": id, "result": result})).await.status
}

#[tokio::test]
async fn question_is_asked_on_the_stream_and_answered_at_another_instance() {
    let one = Stage::of(&["ann", "bo"]).await;
    let other = one.another().await;
    let ann = one.old("ann").await;
    let draft = draft(&ann).await;
    let sent = async |action: &str| {
        let mut stream = ann.stream(&send(&ann, &draft)).await;
        assert_eq!(stream.response.headers()["content-type"], "text/event-stream");
        let question = stream.next().await.unwrap();
        assert_eq!(question["method"], "elicitation/create");
        let asked = question["params"]["message"].as_str().unwrap();
        assert!(asked.contains(STRANGER), "{asked}");
        let id = &question["id"];
        assert!(id.as_str().unwrap().len() >= 20, "{id}");
        // Nobody else can answer, and nobody twice.
        let bo = other.old("bo").await;
        assert_eq!(answer(&bo, id, "accept").await, 400);
        assert_eq!(answer(&ann.at(&other), &json!("guessed"), "accept").await, 400);
        assert_eq!(answer(&ann.at(&other), id, action).await, 202);
        assert_eq!(answer(&ann, id, "accept").await, 400);
        let last = stream.next().await.unwrap();
        assert_eq!((&last["id"], stream.next().await), (&json!(7), None));
        text(&last["result"])
    };
    let declined = sent("decline").await;
    assert!(declined.contains("the user declined"), "{declined}");
    let accepted = sent("accept").await;
    assert!(accepted.contains("sent"), "{accepted}");
}

#[tokio::test]
async fn newer_clients_answer_at_another_instance_once() {
    let one = Stage::of(&["ann", "bo"]).await;
    let other = one.another().await;
    let ann = one.modern("ann");
    let draft = draft(&ann).await;
    let asked = message(&ann.post(&send(&ann, &draft)).await)["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let again = |caller: &Caller, state: &Value| {
        let mut request = send(caller, &draft);
        request["params"]["requestState"] = state.clone();
        request["params"]["inputResponses"] = json!({"confirm": {"action": "accept"}});
        request
    };
    // What bo repeats is not ann's, and a state that nobody gave is none.
    let state = &asked["requestState"];
    let bo = other.modern("bo");
    let refused = message(&bo.post(&again(&bo, state)).await)["result"].clone();
    assert_eq!(refused["isError"], true, "{refused}");
    let unknown = message(&ann.post(&again(&ann, &json!("g".repeat(24)))).await)["result"].clone();
    assert_eq!(unknown["resultType"], "input_required", "{unknown}");
    let ann = ann.at(&other);
    let sent = message(&ann.post(&again(&ann, state)).await)["result"].clone();
    assert!(text(&sent).contains("sent"), "{sent}");
    // The answer was for one message.
    let repeated = message(&ann.post(&again(&ann, state)).await)["result"].clone();
    assert_ne!(text_or_type(&repeated), text(&sent), "{repeated}");
}

/// A limit that refuses a call does not use up the user's answer: the call can be repeated with it.
#[tokio::test]
async fn answer_that_comes_too_early_is_not_lost() {
    let stage = Stage::set(&["ann"], &[("DAYSHEET_LIMITS_CALLS_PER_MINUTE", "30")]).await;
    let ann = stage.modern("ann");
    let draft = draft(&ann).await;
    let asked = message(&ann.post(&send(&ann, &draft)).await)["result"].clone();
    let mut answer = send(&ann, &draft);
    answer["params"]["requestState"] = asked["requestState"].clone();
    answer["params"]["inputResponses"] = json!({"confirm": {"action": "accept"}});
    while ann.call("accounts", json!({})).await["isError"] != true {}
    let refused = message(&ann.post(&answer).await)["result"].clone();
    assert!(text(&refused).contains("within a minute"), "{refused}");
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    let sent = message(&ann.post(&answer).await)["result"].clone();
    assert!(sent["isError"] != true && text_or_type(&sent).contains("sent"), "{sent}");
}

fn text_or_type(result: &Value) -> String {
    if result["content"].is_array() { text(result) } else { result["resultType"].to_string() }
}

#[tokio::test]
async fn sessions_are_in_their_ids_alone() {
    let stage = Stage::of(&["ann", "bo"]).await;
    // Whoever can be asked nothing has no session.
    let mut plain = Caller::new(&stage, "ann", OLD);
    plain.initialize(json!({})).await;
    assert_eq!(plain.session, None);
    let ann = stage.old("ann").await;
    let id = ann.session.clone().unwrap();
    assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
    // With none the call works, and nobody is asked; with another's or a changed one, clients
    // begin anew.
    let mut changed = id.clone();
    changed.replace_range(3..4, if &id[3..4] == "A" { "B" } else { "A" });
    let bo = stage.old("bo").await.session;
    let draft = draft(&ann).await;
    for session in [None, bo, Some(changed), Some("x".repeat(4_000)), Some("x.y".to_owned())] {
        let mut other = ann.at(&stage);
        other.session = session;
        let reply = other.post(&send(&other, &draft)).await;
        let answer = message(&reply);
        let unknown = reply.status == 404 && answer["error"]["code"] == -32600;
        let waits = reply.text().contains("\\tapproval\\twaiting\\t");
        assert_eq!(
            (answer["id"].clone(), unknown),
            (json!(7), other.session.is_some()),
            "{answer}"
        );
        assert_eq!(waits, other.session.is_none(), "{answer}");
        let listed = other.send("tools/list", json!({})).await;
        assert_eq!(listed.status, if unknown { 404 } else { 200 }, "{:?}", other.session);
    }
    // The era without a handshake has none.
    let mut modern = stage.modern("ann");
    modern.session = Some("x".to_owned());
    modern.ok("mail_search", json!({"q": "for"})).await;
    // It ends without a trace, and there is no stream to open.
    for (method, session, status) in
        [("DELETE", true, 204), ("DELETE", false, 405), ("GET", true, 405), ("PUT", true, 405)]
    {
        let mut headers = ann.headers(&json!({}));
        headers.retain(|(name, _)| session || name != "mcp-session-id");
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let reply = ann.http.send(method, "/mcp", &headers, "").await;
        assert_eq!(reply.status, status, "{method} {session}");
    }
}

#[tokio::test]
async fn headers_must_say_what_the_body_says() {
    let stage = Stage::open().await;
    let caller = stage.modern("");
    let request = caller.request("tools/call", json!({"name": "brief", "arguments": {}}));
    let with = async |changes: &[(&str, &str)]| {
        let mut headers = caller.headers(&request);
        for (name, value) in changes {
            headers.retain(|(known, _)| known != name);
            if !value.is_empty() {
                headers.push(((*name).to_owned(), (*value).to_owned()));
            }
        }
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        caller.http.send("POST", "/mcp", &headers, request.to_string()).await.status
    };
    assert_eq!(with(&[]).await, 200);
    for (name, value, status) in [
        ("mcp-method", "tools/list", 400),
        ("mcp-method", "", 400),
        ("mcp-name", "mail_send", 400),
        ("mcp-name", "", 400),
        ("mcp-protocol-version", OLD, 400),
        ("mcp-protocol-version", "", 400),
        ("accept", "application/json", 406),
        ("content-type", "text/plain", 415),
    ] {
        assert_eq!(with(&[(name, value)]).await, status, "{name}: {value}");
    }
}

#[tokio::test]
async fn bodies_that_are_no_message_are_refused_as_json_rpc() {
    let stage = Stage::open().await;
    let caller = stage.modern("");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for (body, code) in [
        ("{\"jsonrpc\": \"2.0\",".to_owned(), -32700),
        (String::new(), -32700),
        (json!([ping]).to_string(), -32600),
        (json!({"jsonrpc": "2.0", "id": "1", "result": {}}).to_string(), -32600),
        (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}).to_string(), -32600),
        (json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}).to_string(), -32600),
        (json!({"jsonrpc": "2.0", "id": {}, "method": "tools/list"}).to_string(), -32600),
        (json!({"id": 1, "method": "ping"}).to_string(), -32600),
    ] {
        let headers = caller.headers(&Value::Null);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let reply = caller.http.send("POST", "/mcp", &headers, body.clone()).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    // Half of an emoji is replaced, as over stdio.
    let cut = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mail_search",
        "arguments":{"q":"\ud83d"}}}"#;
    let old = Caller::new(&stage, "", OLD);
    let headers = old.headers(&Value::Null);
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let reply = old.http.send("POST", "/mcp", &headers, cut).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
}

#[tokio::test]
async fn database_that_fails_is_an_error_without_its_address() {
    let stage = Stage::of(&["ann"]).await;
    let home = stage.shared.home.path();
    let database = home.join("daysheet.db");
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", database.display()));
    }
    std::fs::write(&database, "no database at all".repeat(999)).unwrap();
    let other = stage.another().await;
    for caller in [other.modern("ann"), Caller::new(&other, "ann", OLD)] {
        let reply = caller.send("tools/list", json!({})).await;
        let answer = reply.json();
        assert_eq!((reply.status, reply.header("retry-after")), (503, "5"));
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32603)));
        let reason = answer["error"]["message"].as_str().unwrap();
        assert!(reason.contains("repeat the request"), "{reason}");
        let token = ("authorization", "Bearer ann");
        let output = caller.http.send("GET", "/outputs/aaaaaaaaaa", &[token], "").await;
        assert_eq!((output.status, output.header("retry-after")), (503, "5"));
        for reason in [reason, &output.text()] {
            assert!(
                !reason.contains(".db") && !reason.contains(home.to_str().unwrap()),
                "{reason}"
            );
        }
    }
}

#[tokio::test]
async fn each_era_learns_what_is_offered() {
    let stage = Stage::open().await;
    let modern = message(&stage.modern("").send("server/discover", json!({})).await);
    let versions = modern["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)), "{modern}");
    let mut tools = Vec::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", OLD] {
        let mut caller = Caller::new(&stage, "", version);
        let met = caller.initialize(json!({})).await;
        assert_eq!(met["protocolVersion"], version);
        tools.push(message(&caller.send("tools/list", json!({})).await)["result"]["tools"].clone());
    }
    let listed = message(&stage.modern("").send("tools/list", json!({})).await);
    tools.push(listed["result"]["tools"].clone());
    assert!(tools.iter().all(|one| *one == tools[0] && !one.as_array().unwrap().is_empty()));
}

/// The id of a session contains the name of a client that truncates answers.
#[tokio::test]
async fn answers_fit_a_client_that_cuts_at_any_instance() {
    let one = Stage::of(&["ann"]).await;
    let other = one.another().await;
    for number in 0..60 {
        let mail = format!(
            "From: Ann <x@example.com>\r\nTo: ann@example.com\r\nSubject: {number} for the \
             festival\r\nMessage-ID: <{number}@x.example>\r\n\r\nhello"
        );
        one.shared.sandbox.deliver("ann@example.com", mail.as_bytes()).unwrap();
    }
    for (client, fits) in [("@cline/core", true), ("test", false)] {
        let mut old = Caller::new(&one, "ann", OLD);
        old.initialize_as(client, json!({})).await;
        for caller in [&old, &old.at(&other)] {
            let arguments = json!({"q": "for", "limit": 100, "detail": "full"});
            let found = caller.ok("mail_search", arguments).await;
            assert_eq!(found.len() < 6_000, fits, "{client}: {} bytes", found.len());
            assert_eq!(found.contains("which no budget raises"), fits, "{client}: {found}");
        }
    }
}
