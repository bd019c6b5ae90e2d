//! `daysheet setup` on a new machine, up to the first brief, with the sandbox as the provider.
//!
//! `tests/fixtures/setup.txt` has the expected stdout. If `DAYSHEET_ACCEPT` is set, the
//! actual output becomes the expected one.

use std::path::Path;
use std::process::Stdio;

use daysheet_sandbox::{Sandbox, SandboxOptions};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::common::clock;
use crate::doctor::{front, working};

const EXPECTED: &str = "tests/fixtures/setup.txt";
const DATE: &str = "Mon, 16 Nov 2026 10:05:00 GMT";
const ID: &str = "123456789012-abc0def.apps.googleusercontent.com";

/// A machine without settings, whose programs are those in `bin`.
struct NewMachine {
    folder: TempDir,
    base: String,
}

impl NewMachine {
    fn new(base: &str) -> Self {
        let folder = TempDir::new().unwrap();
        for name in ["bin", "user"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, base: base.to_owned() }
    }

    /// Adds a program that is a script for the shell.
    #[cfg(unix)]
    fn program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.path().join("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut env = working(&self.base, self.folder.path());
        env.retain(|name, _| !name.contains("_CLIENT_"));
        Command::new(env!("CARGO_BIN_EXE_daysheet"))
            .arg("setup")
            .args(arguments)
            .env_clear()
            .envs(env)
            .env("HOME", self.folder.path().join("user"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    /// Runs the setup with these lines as answers, and consents on the page that it prints. Returns
    /// stdout, stderr and success.
    async fn run(&self, arguments: &[&str], answers: &str) -> (String, String, bool) {
        let mut child = self.start(arguments);
        let mut input = child.stdin.take();
        input.as_mut().unwrap().write_all(answers.as_bytes()).await.unwrap();
        // Without answers, the input ends at once.
        if answers.is_empty() {
            input = None;
        }
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut out = String::new();
        let page = format!("{}/", self.base);
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.starts_with(&page) {
                let pasted = format!("{}\n", consent(&line).await);
                input.as_mut().unwrap().write_all(pasted.as_bytes()).await.unwrap();
                out += "[PAGE]\n";
            } else {
                out += &format!("{line}\n");
            }
        }
        drop(input);
        let output = child.wait_with_output().await.unwrap();
        let folder = self.folder.path().to_str().unwrap();
        // The port of the redirect is another one each time.
        let port = regex::Regex::new(r"(127\.0\.0\.1|localhost):\d+").unwrap();
        let shown = |text: String| {
            port.replace_all(&text.replace(folder, "[DIR]"), "$1:[PORT]").into_owned()
        };
        let err = String::from_utf8(output.stderr).unwrap();
        (shown(out), shown(err), output.status.success())
    }
}

/// Consents as Mira, and returns the address on which the browser would end.
async fn consent(page: &str) -> String {
    let url = url::Url::parse(&format!("{page}&login_hint=mira%40example.com")).unwrap();
    let address = (url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect(address).await.unwrap();
    let path = &url[url::Position::BeforePath..];
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Sandbox-Consent: allow\r\nConnection: \
         close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let location = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("location").then(|| value.to_owned())
    });
    location.unwrap_or_else(|| panic!("{answer}"))
}

#[cfg(unix)]
#[tokio::test]
async fn setup_leads_from_nothing_to_the_first_brief() {
    let sandbox = Sandbox::start(SandboxOptions::new(clock::written())).await.unwrap();
    let base = front(sandbox.base(), Vec::new(), DATE.to_owned()).await;
    let mut all = String::new();
    let machine = NewMachine::new(&base);
    std::fs::create_dir(machine.folder.path().join("state")).unwrap();
    let config = machine.folder.path().join("state/config.toml");
    std::fs::write(&config, "# mine\nzone = \"Europe/Berlin\" # home\n").unwrap();
    // A misspelt id is asked for again.
    let answers = format!("yahoo\ngoogle\n\n\n\n\nlamps\n\n{ID}\nthe-secret\n");
    let (out, err, is_good) = machine.run(&["--no-browser"], &answers).await;
    assert!(is_good, "{out}{err}");
    all += &format!("# Google, by its pages\n{out}");
    let written = std::fs::read_to_string(&config).unwrap();
    all += &format!("\n# config.toml\n{written}");
    let (out, err, is_good) = machine.run(&["--provider", "google"], "").await;
    assert!(is_good, "{out}{err}");
    all += &format!("\n# again\n{out}");

    let machine = NewMachine::new(&base);
    machine.program(
        "gcloud",
        "case $1 in auth) echo mira@example.com;; services) echo $* > \"$HOME/enabled\";; esac",
    );
    let file = machine.folder.path().join("credentials.json");
    let json = format!(r#"{{"installed":{{"client_id":"{ID}","client_secret":"the-secret"}}}}"#);
    std::fs::write(&file, json).unwrap();
    let answers = format!("y\n\n\n\n{}\n", file.display());
    let flags = ["--no-browser", "--provider", "google"];
    let (out, err, is_good) = machine.run(&flags, &answers).await;
    assert!(is_good, "{out}{err}");
    all += &format!("\n# Google, with gcloud and credentials.json\n{out}");
    let enabled = std::fs::read_to_string(machine.folder.path().join("user/enabled")).unwrap();
    assert!(enabled.starts_with("services enable gmail.googleapis.com"), "{enabled}");

    let machine = NewMachine::new(&base);
    let id = "6f1c2d3e-7a8b-4c5d-9e0f-a1b2c3d4e5f6";
    machine.program("az", &format!("case $1 in account) echo me;; ad) echo {id};; esac"));
    let flags = ["--no-browser", "--provider", "microsoft"];
    let (out, err, is_good) = machine.run(&flags, "y\n").await;
    assert!(is_good, "{out}{err}");
    all += &format!("\n# Microsoft, with az\n{out}");

    let machine = NewMachine::new(&base);
    let (out, err, is_good) = machine.run(&flags, &format!("\n\n{id}\n")).await;
    assert!(is_good, "{out}{err}");
    all += &format!("\n# Microsoft, by its pages\n{out}");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(EXPECTED);
    let all = all.replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
    if std::env::var_os("DAYSHEET_ACCEPT").is_some() {
        std::fs::write(&path, &all).unwrap();
    }
    assert_eq!(all, std::fs::read_to_string(&path).unwrap());
}

/// A wrong redirect is distinguished from a wrong client, and the settings file is not written.
#[tokio::test]
async fn setup_refuses_a_wrong_client_at_once() {
    let sandbox = Sandbox::start(SandboxOptions::new(clock::written())).await.unwrap();
    let replaced = |path: &str, status: &str, text: &str| {
        vec![(path.to_owned(), "*".to_owned(), status.to_owned(), text.to_owned())]
    };
    let redirect = replaced("/o/oauth2", "400", "<p>Error 400: redirect_uri_mismatch</p>");
    let unknown =
        r#"{"error":"invalid_client","error_description":"The OAuth client was not found."}"#;
    let unknown = replaced("/token", "401", unknown);
    let flags = ["--yes", "--provider", "google", "--client-secret", "the-secret", "--client-id"];
    for (replaced, id, expected) in [
        (redirect, ID, "the OAuth client may not redirect to 127.0.0.1"),
        (unknown, ID, "the OAuth client is unknown"),
        (Vec::new(), "lamps", "the client id does not have the form"),
    ] {
        let base = front(sandbox.base(), replaced, DATE.to_owned()).await;
        let machine = NewMachine::new(&base);
        let flags: Vec<&str> = flags.iter().copied().chain([id]).collect();
        let (out, err, is_good) = machine.run(&flags, "").await;
        assert!(!is_good && err.contains(expected), "{out}{err}");
        assert!(!machine.folder.path().join("state/config.toml").exists());
    }
    let machine = NewMachine::new(sandbox.base());
    let (_, err, _) = machine.run(&["--yes"], "").await;
    assert!(err.contains("give --provider google"), "{err}");
    let (_, err, _) = machine.run(&["--yes", "--provider", "google"], "").await;
    assert!(err.contains("give --credentials FILE, or --client-id ID"), "{err}");
    let (_, err, _) = machine.run(&["--provider", "google"], "").await;
    assert!(err.contains("call `daysheet setup` again"), "{err}");
}
