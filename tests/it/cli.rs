//! The commands, as far as `tests/transcripts/commands.txt` cannot show them: counts, loops, and
//! outputs that programs read.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use daysheet::config::KeyStore;
use daysheet::store::Store;
use tempfile::TempDir;

use crate::common::clock;

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
}

#[test]
fn completions_are_complete() {
    let home = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, out, err) = run(&home, &["completions", shell], &[], "");
        assert_eq!((code, err.as_str()), (0, ""));
        let mut words = vec!["sandbox"];
        // The other shells do not complete positional arguments.
        if matches!(shell, "bash" | "zsh") {
            words.extend(daysheet::tools::TOOLS.iter().map(|tool| tool.name));
            words.extend(["stc", "microsoft"]);
        }
        words.retain(|word| !out.contains(word));
        assert_eq!(words, [""; 0], "missing for {shell}");
    }
}

/// Every visible command has a page, and the first one also has the settings.
#[test]
fn manual_has_a_page_for_every_command() {
    let home = TempDir::new().unwrap();
    let folder = home.path().join("man");
    let arguments = ["man", folder.to_str().unwrap()];
    let (code, _, err) = run(&home, &arguments, &[], "");
    assert_eq!((code, err.contains("create the folder")), (1, true), "{err}");
    std::fs::create_dir(&folder).unwrap();
    assert_eq!(run(&home, &arguments, &[], ""), (0, String::new(), String::new()));

    let (_, help, _) = run(&home, &["--help"], &[], "");
    let (_, commands) = help.split_once("\nCommands:\n").unwrap();
    let names = commands.lines().take_while(|line| !line.is_empty());
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names.map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let page = std::fs::read_to_string(folder.join(format!("daysheet-{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(folder.join("daysheet-account-add.1").exists());
    assert!(!folder.join("daysheet-worker.1").exists());
    let first = std::fs::read_to_string(folder.join("daysheet.1")).unwrap();
    assert!(first.replace('\\', "").contains("DAYSHEET_GOOGLE_CLIENT_ID"), "{first}");
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
        let next = ": free disk space if it is full, and try again\n";
        assert_eq!(
            (output.status.code(), text.ends_with(next)),
            (Some(1), true),
            "{blocks}: {text}"
        );
    }
    let (code, out, err) = run(&home, &call, &[], "");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
}
