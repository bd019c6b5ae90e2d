//! The commands as a person types them.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use daysheet::config::KeyStore;
use daysheet::store::Store;
use tempfile::TempDir;

use crate::common::clock;

/// True if this build can use PostgreSQL; otherwise its setting is an error.
const POSTGRES: bool = cfg!(feature = "postgres");
const WITHOUT_POSTGRES: &str = "DAYSHEET_DATABASE needs PostgreSQL, which this build leaves out: \
                                build it with `--features postgres`";

/// Returns exit code, stdout and stderr.
fn run(
    home: &TempDir,
    arguments: &[&str],
    variables: &[(&str, &str)],
    input: &str,
) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_daysheet"))
        .args(arguments)
        .env_clear()
        .env("DAYSHEET_HOME", home.path())
        .env("DAYSHEET_KEY_STORE", "file")
        .env("DAYSHEET_ZONE", "Europe/Berlin")
        .env(clock::SETTING, clock::WRITTEN)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn demo_shows_the_main_job() {
    let home = TempDir::new().unwrap();
    let (code, out, err) = run(&home, &["demo"], &[], "");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for part in [
        "Sandbox: 76 messages and 105 calendar entries behind the providers' own paths",
        "to google:mira@example.com and microsoft:mira@lindqvist-lamps.example",
        "messages[10\t]{id\tdate\tfrom\tsubject\tsnippet\tflags\tdraft\twarn}:",
        "bodies[1\t]{id\tblock\ttype\tchars\tshown}:",
        "━━ calendar_search ",
        "folders[9\t]{id\tname\tkind\tunread\ttotal}:",
        "tokens (o200k_base)",
        "the same rows as compact JSON, with provider ids",
        "raw API JSON: messages.get, format=metadata",
        "raw API JSON: the whole message",
        "messages[10\t]{id\tdate\tfrom\tsubject\tsnippet\tflags\twarn\taccount}:",
        " in 2 accounts, newest first",
    ] {
        assert!(out.contains(part), "{part} is missing in {out}");
    }
}

/// The samples move with the current day: dates in header fields and texts, and events.
#[test]
fn samples_move_to_the_present() {
    let home = TempDir::new().unwrap();
    let today = [(clock::SETTING, "2027-03-04T12:00+01:00")];
    for (call, parts) in [
        (
            &["mail_search", "q=subject:(tickets OR boiler OR invitation)", "fields=date,subject"]
                [..],
            [
                "2027-02-26 11h30\t\"Your tickets: Berlin – Hamburg, 8 and 10 March (K7QX-2M)\"",
                "2027-02-26 09h12\t\"Invitation: Box check: open ten, shake, decide @ Mon 1 Mar 2027",
                "2027-01-20 09h15\t\"Heating: boiler service on 21 January, start of the season on 25 January\"",
            ],
        ),
        (&["mail_search", "q=from:mathilde"], ["", "", ""]),
        (
            &["mail_read", "ids=m6"],
            [
                "ouvre le jeudi 18 mars, et",
                "avant le mercredi\n3 mars :",
                "le lundi 8 mars, entre 8 h et 12 h",
            ],
        ),
        (
            &["calendar_search", "from=2027-03-04", "to=2027-03-08", "fields=start,title"],
            [
                "Thu 2027-03-04 12h00 = 11h00 Lisbon\t\"Mira Lindqvist: Light as a material\"",
                "Fri 2027-03-05\t\"Hauke: how much cable until Easter?\"",
                // Holidays keep their dates.
                "Mon 2027-03-08\tInternational Women's Day",
            ],
        ),
    ] {
        let mut arguments = vec!["call"];
        arguments.extend(call);
        arguments.push("--sandbox");
        let (code, out, err) = run(&home, &arguments, &today, "");
        assert_eq!((code, err.as_str()), (0, ""), "{call:?}");
        for part in parts {
            assert!(out.contains(part), "{call:?}: {part} is missing in {out}");
        }
    }
}

#[test]
fn call_prints_what_a_model_gets() {
    let home = TempDir::new().unwrap();
    let (code, out, err) = run(
        &home,
        &["call", "mail_search", "q=filename:csv", "fields=id", "fields=subject", "--sandbox"],
        &[],
        "",
    );
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (
            0,
            "messages[2\t]{id\tsubject}:\n  m2\t\"Expédition à Genève : huit lampes, la douane et une \
             porte trop basse\"\n  m1\tGuest list for the 24th, first version\n\n\
             messages: 2 of 2 in 2 accounts, newest first\n",
            ""
        )
    );
    // All data is in the database file, and no write-ahead log remains.
    let sandbox_home = home.path().join("sandbox");
    assert!(sandbox_home.join("daysheet.db").metadata().unwrap().len() > 4_096);
    assert!(!sandbox_home.join("daysheet.db-wal").exists());
    // The handle is valid in the next call.
    let (code, out, _) = run(
        &home,
        &["call", "mail_read", "{\"ids\": [\"m1\"]}", "--sandbox", "--format", "json"],
        &[],
        "",
    );
    assert_eq!(code, 0);
    assert!(out.starts_with("{\"zone\":\"Europe/Berlin\",\"messages\":[{\"id\":\"m1\""), "{out}");
    // The printed answer passes the check with every delimiter.
    for delimiter in ["tab", "comma", "pipe"] {
        let (_, out, _) = run(
            &home,
            &["call", "lookup", "kind=folders", "--sandbox"],
            &[("DAYSHEET_DELIMITER", delimiter)],
            "",
        );
        let document = out.split("\n\n").next().unwrap();
        let (code, out, err) = run(&home, &["check", "-"], &[], document);
        assert_eq!(
            (code, out.as_str(), err.as_str()),
            (0, "-: ok: 19 folders\n", ""),
            "{delimiter}"
        );
    }
}

/// The README's calls work in sequence as written, its examples match the program's answers, and
/// its client settings are valid.
#[cfg(unix)]
#[test]
fn readme_examples_are_true() {
    let readme = include_str!("../../README.md");
    let home = TempDir::new().unwrap();
    let calls: Vec<_> = readme.lines().filter(|line| line.starts_with("daysheet call ")).collect();
    assert_eq!(calls.len(), 6);
    for call in calls {
        let program = env!("CARGO_BIN_EXE_daysheet");
        let output = Command::new("sh")
            .args(["-c", &format!("daysheet() {{ '{program}' \"$@\"; }}; {call}")])
            .env("DAYSHEET_HOME", home.path())
            .env("DAYSHEET_KEY_STORE", "file")
            .env(clock::SETTING, clock::WRITTEN)
            .output()
            .unwrap();
        assert!(output.status.success(), "{call}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for arguments in [
        ["mail_search", "q=is:unread before:\"2026-11-12 20h00\"", "limit=4", "--sandbox"]
            .as_slice(),
        &["calendar_search", "from=2026-11-16 10h00", "to=2026-11-16", "limit=5", "--sandbox"],
    ] {
        let home = TempDir::new().unwrap();
        let mut call = vec!["call"];
        call.extend_from_slice(arguments);
        let (code, out, err) = run(&home, &call, &[], "");
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        // An output's id depends on the state folder.
        let id = out.split("output_read id=").nth(1).and_then(|rest| rest.split('"').next());
        let expected = id.map_or(out.clone(), |id| out.replace(id, "kpe3ayevpe"));
        assert!(readme.contains(&expected), "{out}");
    }
    let settings = readme.split("```json\n").skip(1);
    let settings: Vec<serde_json::Value> = settings
        .map(|block| serde_json::from_str(block.split("```").next().unwrap()).unwrap())
        .collect();
    assert_eq!(settings.len(), 2);
    for servers in settings.iter().flat_map(|one| one.as_object().unwrap().values()) {
        let server = &servers["daysheet"];
        assert_eq!(server["command"], "daysheet");
        assert_eq!(server["args"], serde_json::json!(["serve"]));
        for name in server["env"].as_object().unwrap().keys() {
            assert!(crate::config::variables().contains(name), "{name}");
        }
    }
}

/// `config.toml` in the state folder is read by default, and its relative paths are below that
/// folder.
#[test]
fn settings_are_read_from_the_state_folder() {
    let home = TempDir::new().unwrap();
    let text = "[google]\ncredentials = \"credentials.json\"\n";
    std::fs::write(home.path().join("config.toml"), text).unwrap();
    let (code, _, err) = run(&home, &["account", "list"], &[], "");
    assert_eq!(code, 1);
    assert!(err.contains("`google.credentials`") && err.contains("cannot be read"), "{err}");
    let text = r#"{"installed": {"client_id": "the-id", "client_secret": "shh"}}"#;
    std::fs::write(home.path().join("credentials.json"), text).unwrap();
    let (code, _, err) = run(&home, &["account", "list"], &[], "");
    assert_eq!((code, err.as_str()), (0, ""));
    let (code, _, err) = run(&home, &["account", "list"], &[("DAYSHEET_ACCES", "read")], "");
    assert!(code == 0 && err.contains("did you mean DAYSHEET_ACCESS?"), "{err}");
    let (code, _, err) = run(&home, &["serve", "--http", "8750"], &[], "");
    assert!(code == 2 && err.contains("write it like 127.0.0.1:8750"), "{err}");
}

#[test]
fn audit_log_is_printed() {
    let home = TempDir::new().unwrap();
    assert_eq!(run(&home, &["audit"], &[], ""), (0, String::new(), String::new()));
    let lines: String = (0..2_500).map(|line| format!("{{\"line\":{line}}}\n")).collect();
    std::fs::write(home.path().join("audit.jsonl"), &lines).unwrap();
    assert_eq!(run(&home, &["audit"], &[], ""), (0, lines, String::new()));
    let (code, out, _) = run(&home, &["audit", "--last", "2"], &[], "");
    assert_eq!((code, out.as_str()), (0, "{\"line\":2498}\n{\"line\":2499}\n"));
    // In the log of a server, lines name the person they belong to.
    let store = Store::at(home.path(), KeyStore::File, clock::clock()).for_owner("p-1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(store.append_audit("{\"line\":1}")).unwrap();
    let (_, out, _) = run(&home, &["audit", "--last", "2"], &[], "");
    assert_eq!(out, "{\"line\":2499}\n{\"owner\":\"p-1\",\"line\":1}\n");
    let (_, out, _) = run(&home, &["audit", "--owner", "p-1"], &[], "");
    assert_eq!(out, "{\"line\":1}\n");
}

#[test]
fn errors_are_one_line_with_the_next_step() {
    let home = TempDir::new().unwrap();
    for (arguments, variables, expected) in cases! {
        &["call", "mail_search"][..], &[][..],
            "no account is signed in: call accounts with op=add, or run `daysheet account add google` or `daysheet account add microsoft`";
        &["call", "mail_search", "limit"], &[],
            "`limit` is not key=value: write arguments such as q=invoice limit=5";
        &["call", "mail_search", "q=is:unread", "q=is:starred"], &[],
            "`q` is given twice: give it once";
        &["call", "mail_search", "{\"q\""], &[], "the arguments are not a JSON object: ";
        &["call", "mail_find", "--sandbox"], &[], "there is no tool `mail_find`: use one of: ";
        &["schema", "letters"], &[], "there is no table `letters`: use one of: message, thread, ";
        &["check", "/no/such/file"], &[], "/no/such/file could not be read: ";
        &["account", "add", "google"], &[], "DAYSHEET_GOOGLE_CLIENT_ID";
        &["account", "add", "google", "--device"], &[],
            "Google's device flow does not support mail scopes: sign in through a browser: ";
        &["account", "add", "google", "--tenant", "common"], &[],
            "Google has no tenants: leave out the tenant";
        &["account", "add", "google", "--mailbox", "team@example.com"], &[],
            "Gmail cannot open a mailbox with another sign-in: sign in to that mailbox itself";
        &["account", "list"], &[("DAYSHEET_MICROSOFT_TENANT", "every/body")],
            "DAYSHEET_MICROSOFT_TENANT is not a tenant: use common, organizations, consumers, ";
        &["account", "add", "imap"], &[],
            "the provider `imap` is not part of this build: use one of: google";
        &["account", "remove", "x@example.com"], &[], "daysheet account add google";
        &["account", "list"], &[("DAYSHEET_GMAIL_URL", "http://mail.example.com/")],
            "DAYSHEET_GMAIL_URL";
        &["account", "list"], &[("DAYSHEET_FORMAT", "xml")], "DAYSHEET_FORMAT";
        &["serve"], &[("DAYSHEET_LOG", "a=b=c")], "DAYSHEET_LOG is not a log filter: ";
        &["serve", "--http", "localhost:0", "--sandbox"],
            &[("DAYSHEET_DATABASE", "postgres://localhost/daysheet")],
            if POSTGRES {
                "the sandbox's rows would be among those of people's own accounts: leave out "
            } else {
                WITHOUT_POSTGRES
            };
        &["--database", "mysql://localhost/daysheet", "account", "list"], &[],
            if POSTGRES { "--database is not a URL like postgres://" } else { "--database needs " };
        &["serve", "--http", "127.0.0.1:0", "--sandbox"],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "no URL")],
            if cfg!(feature = "telemetry") {
                "traces cannot be exported ("
            } else {
                "OTEL_EXPORTER_OTLP_ENDPOINT needs the export of traces, which this build leaves \
                 out: build it with `--features telemetry`"
            };
        &["serve", "--http", "127.0.0.1:0"],
            &[("DAYSHEET_HTTP_CERTIFICATE", "/no/such"), ("DAYSHEET_HTTP_KEY", "/no/such")],
            "/no/such cannot be used for TLS";
        &["serve", "--http", "127.0.0.1:0"],
            &[("DAYSHEET_HTTP_CERTIFICATE", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/service_account.pem")),
              ("DAYSHEET_HTTP_KEY", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/localhost-key.pem"))],
            "service_account.pem cannot be used for TLS";
        &["serve", "--http", "127.0.0.1:0"],
            &[("DAYSHEET_HTTP_METRICS", "192.0.2.1:9")], "cannot listen on 192.0.2.1:9";
        &["serve", "--tools", "mial"], &[], "`mial` matches no tool: use tool names";
        &["sandbox", "--fault", "429=lots"], &[], "429";
        &["demo", "--mail", "/no/such/folder"], &[], "/no/such/folder";
        &["demo", "--calendar", "/no/such/calendars"], &[],
            "cannot read calendars from /no/such/calendars";
        &["call", "accounts", "--sandbox", "--calendar", "/no/such/file.ics"], &[],
            "cannot read calendars from /no/such/file.ics";
        &["sandbox", "--calendar", "/no/such/folder"], &[],
            "cannot read calendars from /no/such/folder";
    } {
        let (code, out, err) = run(&home, arguments, variables, "");
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?} {err}");
        assert!(err.starts_with("daysheet: ") && err.contains(expected), "{arguments:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

#[test]
fn schemas_are_printed() {
    let home = TempDir::new().unwrap();
    let (code, out, _) = run(&home, &["schema", "message"], &[], "");
    assert_eq!(code, 0);
    assert!(out.starts_with("message (version 1): "), "{out}");
    let (_, out, _) = run(&home, &["schema", "message", "--json"], &[], "");
    let schema: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(schema["$id"], "daysheet://schema/message");
    let (_, out, _) = run(&home, &["schema", "--json"], &[], "");
    let all: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(all.as_array().unwrap().len(), daysheet_core::schemas::TABLES.len());
}

#[test]
fn check_reports_errors_with_their_position() {
    let home = TempDir::new().unwrap();
    for (flags, text, expected) in cases! {
        // TOON.
        &[][..], "messages[1\t]{id\tsubject}:\n  m1\thello\n", Ok("1 messages");
        &[], "zone: UTC\nmessages: []\n", Ok("0 messages");
        &[], "newsletters: 3\ntoday[1\t]{id}:\n  e1\ntoday_minimal[1\t]{id}:\n  e2",
            Ok("1 today, 1 today_minimal");
        &[], "messages[1\t]{id\tsubjct}:\n  m1\thello",
            Err("1:1: the table of messages has no column `subjct`");
        &[], "messages[2\t]{id\tdate}:\n  m1\t2026-02-03 18h05\n  m2\tTuesday",
            Err("3:1: `date` is not a time such as 2026-02-03 18h05");
        &[], "messages[1\t]{id\tsize}:\n  m1\t\"12\"",
            Err("2:1: `size` is of type string, not count");
        &[], "messages[1\t]{id}:\n  t1", Err("2:1: `id` is not a handle such as m12");
        &[], "today_key[1\t]{id}:\n  e1",
            Err("1:1: the registry has no table `today_key`");
        &[], "letters[1\t]{id}:\n  m1", Err("1:1: the registry has no table `letters`");
        &[], "zone: UTC\ncolour: red", Err("2:1: `colour` is not a document scalar");
        // JSON and STC begin with a brace.
        &[], r#"{"zone":"UTC","messages":[{"id":"m1","provider_id":"18c2"}],"today_minimal":[]}"#,
            Ok("1 messages, 0 today_minimal");
        &[],
            "{zone: \"UTC\", messages[2]{id,subject,provider_id}: \"m1\",\"hello\",\"18c2\" / \
             \"m2\",\"a / b\",\"18c3\"}\n", Ok("2 messages");
        &[],
            "{colour: \"red\", messages[2]{id,date,weight}: \"m1\",\"2026-02-03 18h05\",3 /\n\
             \"m2\",\"Tuesday\",4}",
            Err("1:2: `colour` is not a document scalar\n\
                 -:1:37: the table of messages has no column `weight`\n\
                 -:2:6: `date` is not a time such as 2026-02-03 18h05");
        &[], "{letters: [{id: 1e400}], messages: [3, {id: \"t1\"}]}",
            Err("1:2: the registry has no table `letters`\n\
                 -:1:37: a row of `messages` is not an object\n\
                 -:1:45: `id` is not a handle such as m12");
        &[], "{messages[3]{id}: \"m1\" / \"m2\"}", Err("1:30: 2 of 3 rows");
        &[], "{zone: UTC}", Err("1:8: such text must be in quotes");
        // Version 2 has no brace by which to recognise it.
        &["--stc"], "zone: UTC, messages[2]{id,subject}: m1,hello / m2,\"a / b\"", Ok("2 messages");
        &["--stc"], "messages[3]{id}: m1 / m2", Err("1:25: 2 of 3 rows");
    } {
        let arguments: Vec<_> = ["check", "-"].iter().chain(flags).copied().collect();
        let outcome = match expected {
            Ok(summary) => (0, format!("-: ok: {summary}\n")),
            Err(problems) => (1, format!("-:{problems}\n")),
        };
        let (code, out, err) = run(&home, &arguments, &[], text);
        assert_eq!((code, out), outcome, "{text}");
        assert_eq!(err, "", "{text}");
    }
    for text in
        ["messages[2\t]{id}:\n  m1", "messages[1\t]{id\tsubject}:\n  m1", "messages[1\t]{id}:\n m1"]
    {
        let (code, out, _) = run(&home, &["check", "-"], &[], text);
        assert_eq!(code, 1, "{text}");
        assert!(out.starts_with("-:"), "{out}");
    }
    let json = ["check", "-", "--stc", "--json"];
    let (code, out, _) = run(&home, &json, &[], "{a: {b: 1");
    assert_eq!((code, out.as_str()), (1, "-:1:10: expected `,` or `}`\n"));
}

#[test]
fn conversion_between_formats_loses_nothing() {
    let home = TempDir::new().unwrap();
    let json =
        r#"{"zone":"UTC","rows":[{"id":1,"to":"a, b"},{"id":2,"to":null}],"l":["x"],"e":[]}"#;
    let stc = r#"{zone: "UTC", rows[2]{id,to}: 1,"a, b" / 2,null, l[1]: "x", e: []}"#;
    let stc2 = r#"zone: UTC, rows[2]{id,to}: 1,"a, b" / 2,null, l[1]: x, e: []"#;
    let toon = "zone: UTC\nrows[2\t]{id\tto}:\n  1\ta, b\n  2\tnull\nl[1\t]: x\ne: []";
    let all = [("json", json), ("stc", stc), ("stc2", stc2), ("toon", toon)];
    for (from, text) in all {
        for (to, output) in all {
            let (code, out, err) = run(&home, &["convert", "--to", to, "-"], &[], text);
            let output = format!("{output}\n");
            assert_eq!((code, out, err.as_str()), (0, output, ""), "{from} {to}");
        }
    }
    let path = home.path().join("numbers.json");
    let exact = r#"{"a":[1e400,-0,1.0],"a":{"b c":123456789012345678901234567890},"k":[[{}]]}"#;
    std::fs::write(&path, exact).unwrap();
    let file = path.to_str().unwrap();
    let (code, out, _) = run(&home, &["convert", "--to", "stc", file], &[], "");
    let stc = "{a[3]: 1e400,-0,1.0, a: {\"b c\": 123456789012345678901234567890}, k: [[{}]]}\n";
    assert_eq!((code, out.as_str()), (0, stc));
    let (code, out, _) = run(&home, &["convert", "--to", "json", "-"], &[], stc);
    assert_eq!((code, out), (0, format!("{exact}\n")));
    for (arguments, text, expected) in cases! {
        // Values that TOON cannot express are refused; other notations of a value are equal.
        &["--to", "toon"][..], "{\"a\": 1,\n \"b\": [1e400]}",
            Err("2:8: 1e400 does not fit TOON's numbers, which are doubles: put it in quotes");
        &["--to", "toon"], "{\"a\": 12345678901234567890123}",
            Err("1:7: 12345678901234567890123 does not fit TOON's numbers, which are doubles: put \
                 it in quotes");
        &["--to", "toon"], "{a: 1, b: {c: 1,\nc: 2}}",
            Err("2:1: TOON member names are unique: there are two `c`");
        &["--to", "toon"], "[1.0,-0,1e2,0.10]", Ok("[4\t]: 1\t0\t100\t0.1");
        &["--to", "json"], "n: 1e400\nm: \"1e400\"",
            Err("1:4: 1e400 appears with and without quotes");
        &["--to", "json"], "n: 1e400\nm: x", Ok(r#"{"n":1e400,"m":"x"}"#);
        // The format of a text, recognised by its content.
        &["--to", "json"], "a: x, b: y", Ok(r#"{"a":"x","b":"y"}"#);
        &["--to", "json"], "a: \"x, b: y\"", Ok(r#"{"a":"x, b: y"}"#);
        &["--to", "json"], "a: x, y\nb: z", Ok(r#"{"a":"x, y","b":"z"}"#);
        &["--to", "json"], "a:x, b: y",
            Err("1:1: this is valid TOON and STC with different meanings: give --from");
        &["--to", "json", "--from", "stc"], "a: x, b: y", Ok(r#"{"a":"x","b":"y"}"#);
        &["--to", "json", "--from", "toon"], "a: x, b: y", Ok(r#"{"a":"x, b: y"}"#);
        &["--to", "json", "--from", "json"], "{a: 1}", Err("1:2: expected a key");
        &["--to", "json"], "{\"a\": 1,\n \"b\" 2}", Err("2:6: expected `:` after the key");
        &["--to", "json"], "[1, 2", Err("1:6: expected `,` or `]`");
        &["--to", "stc"], "\"x", Err("1:1: the string has no closing quote");
        &["--to", "stc"], " 7 ", Ok("7");
        &["--to", "json"], "a: 1\nb[2]: 1", Err("2:1: ");
    } {
        let arguments: Vec<_> = ["convert", "-"].iter().chain(arguments).copied().collect();
        let (code, out, err) = run(&home, &arguments, &[], text);
        match expected {
            Ok(output) => assert_eq!((code, out), (0, format!("{output}\n")), "{text} {err}"),
            Err(output) => {
                assert_eq!((code, out.as_str()), (1, ""), "{text}");
                assert!(err.starts_with(&format!("daysheet: -:{output}")), "{err}");
            }
        }
    }
    let (code, _, err) = run(&home, &["convert", "--to", "stc", "no/such"], &[], "");
    assert_eq!(code, 1);
    assert!(err.contains("no/such could not be read"), "{err}");
}

#[test]
fn help_and_completions_are_complete() {
    let home = TempDir::new().unwrap();
    let (code, out, _) = run(&home, &["--help"], &[], "");
    assert_eq!(code, 0);
    for part in [
        "serve",
        "demo",
        "call",
        "account",
        "schema",
        "check",
        "sandbox",
        "completions",
        "DAYSHEET_HOME",
        "DAYSHEET_CONFIG",
        "DAYSHEET_GMAIL_URL",
        "DAYSHEET_GOOGLE_REVOKE_URL",
        "DAYSHEET_MICROSOFT_AUTHORITY_URL",
    ] {
        assert!(out.contains(part), "{part}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, out, err) = run(&home, &["completions", shell], &[], "");
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.contains("sandbox"), "{shell}");
        // The other shells do not complete positional arguments.
        if matches!(shell, "bash" | "zsh") {
            for tool in daysheet::tools::TOOLS {
                assert!(out.contains(tool.name), "{shell} {}", tool.name);
            }
            assert!(out.contains("stc") && out.contains("microsoft"), "{shell}");
        }
    }
}

/// Files that are not mail are named and skipped; the others are loaded.
#[test]
fn calendar_folder_is_loaded_and_bad_files_reported() {
    let home = TempDir::new().unwrap();
    let calendars = TempDir::new().unwrap();
    let good = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1@x.example\nDTSTART:20260203T180500Z\n\
                SUMMARY:good\nEND:VEVENT\nEND:VCALENDAR\n";
    std::fs::write(calendars.path().join("good.ics"), good).unwrap();
    std::fs::write(calendars.path().join("bad.ics"), "no calendar").unwrap();
    let folder = calendars.path().to_str().unwrap();
    let call = ["call", "accounts", "--sandbox", "--calendar", folder];
    let (code, out, err) = run(&home, &call, &[], "");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("mira@example.com"), "{out}");
    assert_eq!(
        err,
        "daysheet: skipped bad.ics: this is not a calendar: it has no BEGIN:VCALENDAR\n"
    );
    let (code, out, _) = run(&home, &["demo", "--calendar", folder], &[], "");
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("Sandbox: 76 messages and 1 calendar entries "), "{out}");
    let (code, _, err) = run(&home, &["serve", "--calendar", folder], &[], "");
    assert_eq!(code, 2);
    assert!(err.contains("--sandbox"), "{err}");
}

#[test]
fn mail_folder_is_loaded_and_bad_files_reported() {
    let home = TempDir::new().unwrap();
    let mail = TempDir::new().unwrap();
    // Terminal controls and invisible characters in UTF-8: U+009B, DEL, U+202E, a tag.
    let headers = "From: a@example.com\nTo: me@example.com\nDate: Tue, 3 Feb 2026 18:05:00 +0100\n\
                   Subject: =?utf-8?Q?good=C2=9B2J=7F=E2=80=AE=F3=A0=81=81?=\n\
                   Message-ID: <1@x.example>";
    crate::support::write_message(mail.path(), "good.eml", headers, "hello");
    std::fs::write(mail.path().join("empty.eml"), "").unwrap();
    std::fs::write(mail.path().join("rubbish.eml"), [0_u8, 159, 146, 150, 255, 0, 1]).unwrap();
    std::fs::write(mail.path().join("notes.txt"), "not mail at all").unwrap();
    let folder = mail.path().to_str().unwrap();
    let (code, out, err) = run(&home, &["demo", "--mail", folder], &[], "");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Sandbox: 1 messages and 0 calendar entries "), "{out}");
    assert!(err.contains("empty.eml") && err.contains("rubbish.eml"), "{err}");
    let raw = out.split("raw API JSON").count();
    assert!(raw > 3 && !out.contains(['\u{9b}', '\u{7f}', '\u{202e}', '\u{e0041}']), "{out:?}");
}

#[test]
fn help_lists_every_variable_that_is_read() {
    let home = TempDir::new().unwrap();
    let (_, help, _) = run(&home, &["--help"], &[], "");
    let listed: BTreeSet<&str> = help
        .split(|c: char| !c.is_ascii_uppercase() && c != '_')
        .filter(|word| word.starts_with("DAYSHEET_"))
        .collect();
    let read = crate::config::variables();
    assert_eq!(listed, read.iter().map(String::as_str).collect());
}

#[test]
fn database_is_looked_after_by_commands() {
    let home = TempDir::new().unwrap();
    let copy = home.path().join("copy.db");
    let copy = copy.to_str().unwrap();
    let postgres = ("DAYSHEET_DATABASE", "postgres://me:hunter2@127.0.0.1:1/mail?password=x");
    let bad = ("DAYSHEET_BUDGET", "none");
    let (dump, target) = if POSTGRES {
        ("--file='/x.dump' 'postgres://127.0.0.1:1/mail'", "--to is not a URL")
    } else {
        (WITHOUT_POSTGRES, "--to needs PostgreSQL")
    };
    for (arguments, variable, code, words) in [
        (vec!["check"], ("", ""), 1, "daysheet.db has no tables"),
        (vec!["migrate"], ("", ""), 0, "The database was created with version"),
        (vec!["check"], ("", ""), 0, "There are no rows."),
        (vec!["migrate"], ("", ""), 0, "The schema is up to date: version"),
        (vec!["rotate-key", "--data-keys"], ("", ""), 0, "Master key "),
        (vec!["check", "--owners"], ("", ""), 0, "server: settings "),
        (vec!["check"], ("", ""), 0, "Decrypted: 0 secrets."),
        (vec!["purge"], ("", ""), 0, "Deleted: 0 rows."),
        (vec!["backup", copy], ("", ""), 0, "The database was copied to "),
        (vec!["backup", copy], ("", ""), 1, "name a file that does not exist"),
        (vec!["backup", "/x.dump"], postgres, 1, dump),
        (vec!["move", "--to", "mysql://x"], ("", ""), 1, target),
        (vec!["new-key"], bad, 0, "="),
    ] {
        let arguments = [vec!["store"], arguments].concat();
        let (ended, out, err) =
            run(&home, &arguments, &[variable][usize::from(variable.0.is_empty())..], "");
        let output = format!("{out}{err}");
        assert!(ended == code && output.contains(words), "{arguments:?}: {ended} {output}");
        assert!(!output.contains("hunter2"), "{output}");
    }
}

/// The access level of the command line applies, but `read` from any source takes precedence.
#[test]
fn read_level_overrides_every_other_level() {
    let refused = |level: &str| {
        format!(
            "daysheet: mail_draft needs access `draft`, but this server has `{level}`: ask the \
             user to start it with --access draft\n"
        )
    };
    for (variable, option, expected) in [
        ("read", "full", refused("read")),
        ("full", "read", refused("read")),
        ("full", "organize", refused("organize")),
        ("organize", "", refused("organize")),
        ("organize", "draft", String::new()),
        ("", "", String::new()),
    ] {
        let home = TempDir::new().unwrap();
        let account = "account=google:mira@example.com";
        let mut call = vec!["call", "mail_draft", "subject=x", account, "--sandbox"];
        if !option.is_empty() {
            call.extend(["--access", option]);
        }
        let (_, _, err) = run(&home, &call, &[("DAYSHEET_ACCESS", variable)], "");
        assert_eq!(err, expected, "{variable} {option}");
    }
}

/// On a terminal the user is asked directly, and any answer but yes means no.
#[cfg(target_os = "linux")]
#[test]
fn call_asks_the_user_on_the_terminal() {
    for (typed, expected) in
        [("y\n", "done: 6"), ("n\n", "the user declined"), ("\n", "the user declined")]
    {
        let home = TempDir::new().unwrap();
        let call = format!(
            "'{}' call mail_modify q=is:starred do=delete account=google:mira@example.com \
             --access full --sandbox",
            env!("CARGO_BIN_EXE_daysheet")
        );
        // `script` of util-linux runs a command on a terminal.
        let mut child = Command::new("script")
            .args(["-qec", &call, "/dev/null"])
            .env("DAYSHEET_HOME", home.path())
            .env("DAYSHEET_KEY_STORE", "file")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{typed:?}: {text}");
        assert!(text.contains("? This cannot be undone.") && text.contains("[y/N]"), "{text}");
        assert!(text.contains(expected), "{typed:?}: {text}");
    }
}

/// If files cannot grow, as on a full disk, the call is an error with a next step, and the same
/// call succeeds once there is space.
#[cfg(unix)]
#[test]
fn full_disk_is_a_temporary_error() {
    let home = TempDir::new().unwrap();
    let call = ["call", "mail_search", "fields=id,subject", "--sandbox"];
    for blocks in ["0", "8", "64"] {
        let limited = format!(
            "ulimit -f {blocks}; exec '{}' {}",
            env!("CARGO_BIN_EXE_daysheet"),
            call.join(" ")
        );
        let output = std::process::Command::new("sh")
            .args(["-c", &limited])
            .env("DAYSHEET_HOME", home.path())
            .env("DAYSHEET_KEY_STORE", "file")
            .env(clock::SETTING, clock::WRITTEN)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{blocks}: {text}");
        assert!(text.contains("free disk space"), "{blocks}: {text}");
        assert!(!text.contains("move"), "{blocks}: {text}");
    }
    let (code, out, err) = run(&home, &call, &[], "");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
}
