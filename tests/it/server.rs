//! The program as an MCP client starts it: JSON-RPC over real pipes.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use daysheet::app::App;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::server::INSTRUCTIONS;
use daysheet::tools;
use daysheet_core::access::AccessLevel;
use daysheet_core::call::progress::{CallCourse, SessionCalls};
use daysheet_core::schemas::TABLES;
use daysheet_sandbox::FaultRates;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use crate::common::clock;
use crate::support::{ME, config};

/// A running `daysheet serve`.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _home: TempDir,
}

impl Process {
    fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let home = TempDir::new().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_daysheet"))
            .args(arguments)
            .env_clear()
            .env("DAYSHEET_HOME", home.path())
            .env("DAYSHEET_KEY_STORE", "file")
            .env(clock::SETTING, clock::WRITTEN)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            _home: home,
        }
    }

    fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Reads the next line, which must be JSON-RPC.
    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON-RPC: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.write(
            &json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string(),
        );
        loop {
            let answer = self.read();
            if answer["id"] == 7 {
                return answer;
            }
        }
    }

    fn initialize(&mut self, version: &str) -> Value {
        self.initialize_as("test", version)
    }

    fn initialize_as(&mut self, client: &str, version: &str) -> Value {
        let client = json!({"name": client, "version": "1"});
        let answer = self.ask(
            "initialize",
            &json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}),
        );
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        answer["result"].clone()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Closes stdin and waits; returns the exit code and the log.
    fn end(mut self) -> (i32, String) {
        drop(self.input.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).unwrap();
        assert_eq!(rest, "", "stdout holds more than answers");
        let mut log = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut log).unwrap();
        (self.child.wait().unwrap().code().unwrap(), log)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A failed test must not leave its process running. A process that has ended is unaffected.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the tools at the level `draft`, which cannot send.
fn at_draft() -> Vec<&'static str> {
    let offered = tools::TOOLS.iter().filter(|tool| tool.access <= AccessLevel::Draft);
    offered.map(|tool| tool.name).collect()
}

#[test]
fn server_runs_until_stdin_ends() {
    let mut process = Process::start(&["serve", "--sandbox"], &[]);
    let info = process.initialize("2025-06-18");
    assert_eq!(info["serverInfo"]["name"], "daysheet");
    assert_eq!(info["protocolVersion"], "2025-06-18");
    assert!(info["instructions"].as_str().unwrap().starts_with(INSTRUCTIONS));
    let found =
        process.call("mail_search", &json!({"q": "is:starred", "limit": 3, "fields": "id"}));
    let blocks = [
        "next: p1\nmessages[3\t]{id}:\n  m1\n  m2\n  m3",
        "\nmessages: 3 of ~9 in 2 accounts, newest first; cursor=p1 has more",
    ]
    .map(|text| json!({"type": "text", "text": text}));
    assert_eq!(found["result"], json!({"content": blocks, "isError": false}));
    assert_eq!(process.end(), (0, String::new()));
}

/// Without a subcommand a client also gets the server.
#[test]
fn server_starts_without_a_subcommand() {
    let mut process = Process::start(&[], &[]);
    process.initialize("2025-11-25");
    let list = process.ask("tools/list", &json!({}));
    let names: Vec<_> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, at_draft());
    let response = process.call("mail_search", &json!({}));
    assert_eq!(response["result"]["isError"], true);
    assert_eq!(
        response["result"]["content"][0]["text"],
        "no account is signed in: call accounts with op=add, or run `daysheet account add google` or `daysheet account add microsoft`"
    );
    assert_eq!(process.end().0, 0);
}

/// The level and the choice of tools can be given on the command line.
#[test]
fn command_line_chooses_the_tools() {
    let all: Vec<&str> = tools::TOOLS.iter().map(|tool| tool.name).collect();
    let some = [
        "mail_search", "mail_read", "mail_attachment", "lookup", "calendar_search",
        "calendar_free", "output_read", "accounts",
    ];
    for (arguments, expected) in [
        (&["serve", "--access", "send"][..], &all[..]),
        (&["serve", "--access", "read", "--tools", "mail,calendar"][..], &some[..]),
    ] {
        let mut process = Process::start(arguments, &[]);
        process.initialize("2025-11-25");
        let list = process.ask("tools/list", &json!({}));
        let listed = list["result"]["tools"].as_array().unwrap().iter();
        let names: Vec<&str> = listed.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{arguments:?}");
        assert_eq!(process.end().0, 0);
    }
}

/// The protocol version without `initialize`: every request states its version.
#[test]
fn server_accepts_clients_without_initialize() {
    let mut process = Process::start(&["serve"], &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = process.ask("server/discover", &json!({"_meta": meta}));
    assert_eq!(
        found["result"]["supportedVersions"],
        json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
    );
    let list = process.ask("tools/list", &json!({"_meta": meta}));
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), at_draft().len());
    let response = process.ask(
        "tools/call",
        &json!({"name": "lookup", "arguments": {"kind": "schemas"}, "_meta": meta}),
    );
    let text = response["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with(&format!("schemas[{}\t]{{name\tversion\tcolumns\tdoc}}:", TABLES.len())),
        "{text}"
    );
    assert_eq!(process.end().0, 0);
}

/// In clients that give a model the whole result, `_meta` would cost tokens.
#[test]
fn size_of_an_answer_is_sent_only_to_those_who_ask() {
    let asking = json!({"daysheet/stats": true});
    for (setting, meta, sent) in [
        (None, json!({}), false),
        (None, asking.clone(), true),
        (Some(("DAYSHEET_STATS", "asked")), json!({"daysheet/stats": false}), false),
        (Some(("DAYSHEET_STATS", "always")), json!({}), true),
    ] {
        let variables: Vec<(&str, &str)> = setting.into_iter().collect();
        let mut process = Process::start(&["serve", "--sandbox"], &variables);
        process.initialize("2025-11-25");
        let arguments = json!({"limit": 20, "budget": 250});
        let call = json!({"name": "mail_search", "arguments": arguments, "_meta": meta});
        let found = process.ask("tools/call", &call);
        let result = found["result"].as_object().unwrap();
        let content = result["content"].as_array().unwrap();
        assert!(content.iter().all(|block| block["type"] == "text"), "{content:?}");
        let Some(stats) = result.get("_meta").map(|meta| &meta["daysheet"]) else {
            assert!(!sent, "{setting:?} {meta}");
            continue;
        };
        assert!(sent, "{setting:?} {meta}");
        let mut blocks = content.iter().map(|block| block["text"].as_str().unwrap());
        let bytes: usize = blocks.clone().map(str::len).sum();
        assert_eq!(stats["bytes"], bytes);
        let output = stats["output"].as_str().unwrap().strip_prefix("daysheet://output/").unwrap();
        let (_, named) = blocks.next().unwrap().split_once("output_read id=").unwrap();
        assert!(named.starts_with(output), "{content:?}");
    }
}

/// Sorted answers state their order, for models and for programs.
#[test]
fn order_of_rows_is_named() {
    let mut process = Process::start(&["serve", "--sandbox"], &[("DAYSHEET_STATS", "always")]);
    process.initialize("2025-11-25");
    for (tool, arguments, sort, order) in cases! {
        "mail_search", json!({}), json!("newest"), Some("newest first");
        "mail_search", json!({"sort": "oldest"}), json!("oldest"), Some("oldest first");
        "calendar_search", json!({}), json!("start"), Some("by start");
        "calendar_search", json!({"q": "is:clash"}), json!("start"), Some("by start");
        "calendar_free", json!({"duration": "1h"}), json!("time"), Some("by time");
        "calendar_free", json!({"duration": "1h", "sort": "best"}), json!("best"), Some("best first");
        "calendar_free", json!({"hours": "9-17"}), json!("time"), Some("by time");
        "calendar_free", json!({}), Value::Null, Some("by person");
        "lookup", json!({"kind": "calendars"}), Value::Null, None;
    } {
        let result =
            process.ask("tools/call", &json!({"name": tool, "arguments": arguments}))["result"]
                .take();
        let notes = result["content"].as_array().unwrap().last().unwrap()["text"].as_str();
        let counts = notes.unwrap().lines().find(|line| !line.is_empty()).unwrap();
        let named = counts.split([',', ';']).nth(1).map(str::trim);
        assert_eq!(named, order, "{tool} {arguments}: {counts}");
        assert_eq!(result["_meta"]["daysheet"]["sort"], sort, "{tool} {arguments}");
    }
}

/// Other clients do not receive the hints for Claude Code.
#[test]
fn hints_for_claude_code_are_sent_to_it_alone() {
    for (client, hinted) in [("claude-code", true), ("Visual Studio Code", false)] {
        let mut process = Process::start(&["serve", "--sandbox", "--access", "full"], &[]);
        process.initialize_as(client, "2025-06-18");
        let listed = process.ask("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        let with = |member: &str| -> Vec<&str> {
            let tools = tools.iter().filter(|tool| tool["_meta"].get(member).is_some());
            tools.map(|tool| tool["name"].as_str().unwrap()).collect()
        };
        if !hinted {
            assert!(tools.iter().all(|tool| tool.get("_meta").is_none()), "{tools:?}");
            continue;
        }
        assert_eq!(with("anthropic/alwaysLoad"), ["mail_search", "brief"]);
        let long = ["mail_search", "mail_read", "output_read"];
        assert_eq!(with("anthropic/maxResultSizeChars"), long);
        let searched = [
            "mail_draft", "mail_modify", "lookup", "calendar_search", "calendar_free",
            "calendar_save", "calendar_delete", "calendar_respond", "manage", "changes",
        ];
        assert_eq!(with("anthropic/searchHint"), searched);
    }
}

/// Zed joins blocks without a separator, other clients with one.
#[test]
fn blocks_are_whole_lines_however_they_are_joined() {
    let mut process = Process::start(&["serve", "--sandbox"], &[]);
    process.initialize("2025-06-18");
    for q in ["from:accounts@holunder-billing.example", "from:henrike subject:Vesper"] {
        process.call("mail_search", &json!({"q": q, "limit": 1}));
    }
    let read = process.call("mail_read", &json!({"ids": ["m1", "m2"], "budget": 600}));
    let content = read["result"]["content"].as_array().unwrap();
    let texts: Vec<&str> = content.iter().map(|block| block["text"].as_str().unwrap()).collect();
    assert!(texts.len() == 4, "{texts:?}");
    for separator in ["", "\n", "\n\n"] {
        let joined = texts.join(separator);
        let at = |start: &str| {
            let found = joined.lines().position(|line| line.starts_with(start));
            found.unwrap_or_else(|| panic!("no line begins with {start:?}:\n{joined}"))
        };
        // `cut` and `warning` precede the rows.
        let places = ["cut: ", "warning: ", "messages[", "<<<b1 ", "<<<b2 ", "messages: 2"].map(at);
        assert!(places.is_sorted(), "{places:?}:\n{joined}");
        assert_eq!(joined.lines().filter(|line| line.ends_with(">>>")).count(), 2, "{joined}");
    }
}

/// Each client truncates results beyond its own limit, which often drops the notes.
#[test]
fn answers_fit_what_the_client_passes_on() {
    let catalogued = json!({"x-codex-turn-metadata": "{\"model\":\"gpt-5.5\"}"});
    let other = json!({"x-codex-turn-metadata": {"model": "qwen3"}});
    for (client, meta, most) in [
        ("@cline/core", json!({}), 8_000),
        ("codex-mcp-client", other, 12_000),
        ("codex-mcp-client", json!({}), 12_000),
        ("codex-mcp-client", catalogued, 40_000),
    ] {
        let mut process = Process::start(&["serve", "--sandbox"], &[]);
        process.initialize_as(client, "2025-06-18");
        let ids: Vec<String> = (1..=15).map(|id| format!("m{id}")).collect();
        for (tool, arguments) in [
            ("mail_search", json!({"limit": 100, "detail": "full", "budget": 50_000})),
            ("mail_read", json!({"ids": ids, "quoted": true, "budget": 50_000})),
            ("calendar_search", json!({"from": "-30d", "to": "+60d", "format": "json"})),
        ] {
            let mut chunk = 1;
            loop {
                let mut arguments = arguments.clone();
                arguments["chunk"] = chunk.into();
                let call = json!({"name": tool, "arguments": arguments, "_meta": meta});
                let found = process.ask("tools/call", &call);
                let result = &found["result"];
                assert_eq!(result["isError"], false, "{result}");
                let content = result["content"].as_array().unwrap();
                let texts = content.iter().map(|block| block["text"].as_str().unwrap());
                // Codex for unknown models counts text; the others count the result as JSON.
                let size = match most {
                    12_000 => texts.map(str::len).sum(),
                    _ => result.to_string().chars().count(),
                };
                assert!(size <= most, "{client}: {tool}, chunk {chunk}: {size} characters");
                // A part ends at the end of a message.
                let lines =
                    content.iter().flat_map(|block| block["text"].as_str().unwrap().lines());
                let opened =
                    lines.clone().filter_map(|line| line.strip_prefix("<<<b")?.split(' ').nth(1));
                for word in opened {
                    assert!(lines.clone().any(|line| line == format!("{word}>>>")), "{content:?}");
                }
                let notes = content.last().unwrap()["text"].as_str().unwrap();
                let more = notes.contains(&format!("chunk={}", chunk + 1));
                if chunk == 1 && arguments.get("budget").is_some() {
                    let first = content[0]["text"].as_str().unwrap();
                    let is_cut = first.lines().any(|line| line.starts_with("cut: \"to fit "));
                    let is_whole = !more && !is_cut;
                    assert_eq!(is_whole, !notes.contains("this client passes on "), "{notes}");
                    assert!(!is_whole || most > 12_000, "{client}: {tool} is whole");
                }
                if !more {
                    break;
                }
                chunk += 1;
            }
        }
    }
    // A configured budget takes precedence over the client's limit.
    let mut process = Process::start(&["serve", "--sandbox"], &[("DAYSHEET_BUDGET", "20000")]);
    process.initialize_as("@cline/core", "2024-11-05");
    let found = process.call("mail_search", &json!({"limit": 100, "detail": "full"}));
    assert!(found["result"].to_string().len() > 8_000, "{found}");
}

#[test]
fn schemas_are_listed_as_resources() {
    let mut process = Process::start(&["serve"], &[]);
    process.initialize("2025-11-25");
    let list = process.ask("resources/list", &json!({}));
    let uris: Vec<_> = list["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(uris.len(), daysheet_core::schemas::TABLES.len());
    for uri in uris {
        let read = process.ask("resources/read", &json!({"uri": uri}));
        let schema: Value =
            serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(schema["$id"], uri);
    }
    let unknown = process.ask("resources/read", &json!({"uri": "daysheet://schema/nothing"}));
    assert_eq!(unknown["error"]["message"], "no such resource; resources/list names them");
    assert_eq!(process.end().0, 0);
}

#[test]
fn bad_input_is_answered_and_survived() {
    let mut process = Process::start(&["serve", "--sandbox"], &[]);
    process.initialize("2025-11-25");
    for broken in ["this is not JSON", "{\"jsonrpc\": \"2.0\", \"id\": 3, \"method\""] {
        process.write(broken);
        let answer = process.read();
        assert_eq!(answer["id"], Value::Null);
        assert_eq!(answer["error"]["code"], -32700);
        assert_eq!(
            answer["error"]["message"],
            "parse error: the line is not JSON: send one JSON-RPC message per line"
        );
    }
    // A truncated emoji is replaced, not dropped.
    process.write(
        r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"mail_search","arguments":{"q":"cut \ud83d"}}}"#,
    );
    let answer = process.read();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(9), &json!(false)));
    process.write("{\"jsonrpc\": \"2.0\", \"id\": 4, \"method\": \"no/such\", \"params\": {}}");
    loop {
        let answer = process.read();
        assert!(answer["error"]["code"].is_i64(), "{answer}");
        if answer["id"] == 4 {
            assert_eq!(answer["error"]["code"], -32601);
            break;
        }
    }
    let huge = "x".repeat(10 << 20);
    for (tool, arguments, expected) in cases! {
        "mail_find", json!({}),
            "there is no tool `mail_find`: use one of: mail_search, mail_read, mail_attachment, \
             mail_draft, mail_modify, lookup, calendar_search, calendar_free, calendar_save, \
             calendar_delete, manage, changes, brief, output_read, accounts";
        "mail_search", json!({"limit": -1}),
            "`limit` cannot be `-1`: use a whole number from 1 to 100";
        "mail_search", json!({"account": "nobody@example.com"}),
            "no such account is signed in: name one of: mira@example.com, \
             mira@lindqvist-lamps.example; accounts op=add adds another";
        "mail_search", json!({"q": huge}),
            "the query is 10485760 bytes long, more than 4096: shorten it, or split the search";
        "mail_search", json!({"q": "\"open"}),
            "the quote at character 1 is not closed: close it, or leave it out";
    } {
        let response = process.call(tool, &arguments);
        let content = json!([{"type": "text", "text": expected}]);
        assert_eq!(response["result"], json!({"content": content, "isError": true}));
    }
    let found = process.call("mail_search", &json!({"limit": 1}));
    assert_eq!(found["result"]["isError"], false);
    assert_eq!(process.end().0, 0);
}

/// Two processes assign handles from one store without duplicates or gaps.
#[test]
fn two_processes_share_one_store() {
    let home = TempDir::new().unwrap();
    let path = home.path().to_str().unwrap();
    let mut one = Process::start(&["serve", "--sandbox"], &[("DAYSHEET_HOME", path)]);
    let mut two = Process::start(&["serve", "--sandbox"], &[("DAYSHEET_HOME", path)]);
    one.initialize("2025-11-25");
    two.initialize("2025-11-25");
    let text = |answer: &Value| answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let arguments = json!({"q": "in:anywhere", "fields": ["id", "subject"], "limit": 60});
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "mail_search", "arguments": arguments}});
    one.write(&request.to_string());
    two.write(&request.to_string());
    let (first, second) = (one.read(), two.read());
    assert_eq!(text(&first), text(&second));
    let text = text(&first);
    let rows = text.lines().filter_map(|line| line.strip_prefix("  ")?.split_once('\t'));
    let numbers: BTreeSet<String> = rows.map(|(id, _)| id.to_owned()).collect();
    assert_eq!(numbers, (1..=60).map(|number| format!("m{number}")).collect());
    assert_eq!(one.end().0, 0);
    assert_eq!(two.end().0, 0);
}

/// Even at the finest log level, neither mail nor tokens are logged.
#[test]
fn no_mail_is_logged() {
    let mut process = Process::start(&["serve", "--sandbox"], &[("DAYSHEET_LOG", "trace")]);
    process.initialize("2025-11-25");
    let found = process.call("mail_search", &json!({"q": "from:anselm", "limit": 1}));
    let read = process.call("mail_read", &json!({"ids": ["m1"]}));
    let answers = format!("{found} {read}");
    process.call("mail_read", &json!({"ids": ["m99"]}));
    let (code, log) = process.end();
    assert_eq!(code, 0);
    assert!(log.contains("a call was refused"), "there is no log: {log}");
    for (secret, is_shown) in [
        ("Anselm", true),
        ("anselm", true),
        ("Guest list", true),
        ("ya29.", false),
        ("Bearer", false),
    ] {
        let is_in = [&answers, &log].map(|text| text.contains(secret));
        assert_eq!(is_in, [is_shown, false], "{secret} in {log}");
    }
}

/// The server waits for running calls at shutdown, but only up to a limit.
#[tokio::test]
async fn server_waits_a_minute_for_running_calls() {
    assert_eq!(daysheet::server::WRITES_END.as_secs(), 60);
    let calls = SessionCalls::default();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let call = calls.run(CallCourse::default(), async {
        daysheet_core::call::progress::begin_write().unwrap();
        ended.await.unwrap();
    });
    let wait = async {
        assert!(!calls.finish(std::time::Duration::from_millis(50)).await);
        end.send(()).unwrap();
        assert!(calls.finish(std::time::Duration::from_secs(10)).await);
    };
    tokio::join!(call, wait);
}

/// Of two hundred calls at once, sixteen run, and the others wait or are refused. Pings and
/// cancellations bypass them.
#[tokio::test]
async fn flood_of_calls_is_queued_in_order() {
    let home = TempDir::new().unwrap();
    let who = SandboxUser::These(&[("google", ME)]);
    let config = config(home.path(), &[]);
    let (app, sandbox) =
        App::sandboxed(config, None, None, FaultRates::default(), who).await.unwrap();
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(theirs);
    tokio::spawn(app.server().serve(input, output));
    let (answers, mut lines) = tokio::io::split(ours);
    let mut answers = tokio::io::BufReader::new(answers).lines();
    let mut begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}})
    .to_string();
    begin.push_str("\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    lines.write_all(begin.as_bytes()).await.unwrap();
    answers.next_line().await.unwrap().unwrap();

    sandbox.set_faults("delay=400ms".parse().unwrap());
    let before = sandbox.requests();
    let mut flood = String::new();
    for id in 1..=200 {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "mail_search", "arguments": {"fields": "id", "limit": 1}}});
        flood.push_str(&format!("{call}\n"));
    }
    flood.push_str("{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": {"requestId": 100}});
    flood.push_str(&format!("{cancel}\n"));
    lines.write_all(flood.as_bytes()).await.unwrap();

    // The first calls have reached the sandbox before any of them is answered.
    while sandbox.requests() == before {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let running = sandbox.requests() - before;
    assert!((1..=16).contains(&running), "{running}");
    let (mut done, mut refused, mut ping_after) = (0, 0, None);
    while done + refused < 199 {
        let line = answers.next_line().await.unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        if answer["id"] == "p" {
            ping_after = Some(done);
            continue;
        }
        match answer["error"]["code"].as_i64() {
            Some(-32000) => refused += 1,
            // A cancelled call may still be answered.
            Some(_) => assert_eq!(answer["id"], 100, "{line}"),
            None => {
                assert_ne!(answer["result"]["isError"], true, "{line}");
                done += 1;
            }
        }
    }
    assert_eq!((done, refused, ping_after), (127, 72, Some(0)));
    // A call cancelled while it waited never started.
    assert_eq!(sandbox.requests() - before, 127);
    // The server accepts calls again.
    let again = json!({"jsonrpc": "2.0", "id": 300, "method": "tools/list"});
    lines.write_all(format!("{again}\n").as_bytes()).await.unwrap();
    let line = answers.next_line().await.unwrap().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], 300);
}

#[test]
fn malformed_lines_are_repaired_or_refused() {
    let cases: &[(&[u8], Option<&str>)] = &[
        (br#"{"a":1}"#, Some(r#"{"a":1}"#)),
        (br#""\ud83d""#, Some(r#""\ufffd""#)),
        (br#""x\ud83d\ude00\udc00y""#, Some(r#""x\ud83d\ude00\ufffdy""#)),
        (br#""\\ud83d\ud83d""#, Some(r#""\\ud83d\ufffd""#)),
        (br#""\ud83d\n""#, Some(r#""\ufffd\n""#)),
        (b"\"a\xffb\"", Some("\"a\u{fffd}b\"")),
        (b"this is none", None),
        (b"{\"a\":", None),
        (b"NaN", None),
    ];
    for (line, expected) in cases {
        let found = daysheet::server::framing::repair(line)
            .map(|(bytes, _)| String::from_utf8(bytes).unwrap());
        assert_eq!(found.as_deref(), *expected, "{}", String::from_utf8_lossy(line));
    }
    // Nesting beyond the parser's limit counts as invalid JSON and does not crash.
    assert_eq!(daysheet::server::framing::repair(&vec![b'['; 100_000]), None);
}
