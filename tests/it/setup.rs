//! `daysheet setup` on a new machine, up to the first brief, with the sandbox as the provider.
//!
//! `tests/fixtures/setup.txt` has the expected stdout, and the text of a terminal with the
//! answers. If `DAYSHEET_ACCEPT` is set, the
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

const PROGRAM: &str = env!("CARGO_BIN_EXE_daysheet");

/// A terminal: the side of its programs, and the side of the person.
#[cfg(unix)]
struct Terminal {
    side: std::fs::File,
    screen: std::fs::File,
}

#[cfg(unix)]
impl Terminal {
    fn open() -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap().into_string().unwrap();
        let side = std::fs::File::options().read(true).write(true).open(name).unwrap();
        Self { side, screen: screen.into() }
    }
}

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

    fn command(&self, arguments: &[&str]) -> Command {
        let mut env = working(&self.base, self.folder.path());
        env.retain(|name, _| !name.contains("_CLIENT_"));
        let mut command = Command::new(PROGRAM);
        command
            .arg("setup")
            .args(arguments)
            .env_clear()
            .envs(env)
            .env("HOME", self.folder.path().join("user"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display()))
            .kill_on_drop(true);
        command
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs the setup in a terminal, and answers each question with a line. Returns the text of the
    /// terminal.
    #[cfg(unix)]
    async fn run_in_terminal(&self, arguments: &[&str], answers: &[&str]) -> String {
        use std::io::{Read, Write};
        let mut terminal = Terminal::open();
        let mut command = self.command(arguments);
        let [stdin, stdout, stderr] = [(); 3].map(|()| terminal.side.try_clone().unwrap());
        let mut child = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
        // The terminal ends with the last of its users.
        drop((command, terminal.side));
        let answers: Vec<String> = answers.iter().map(|answer| format!("{answer}\n")).collect();
        let text = tokio::task::spawn_blocking(move || {
            let (mut text, mut answers) = (Vec::new(), answers.into_iter());
            let mut bytes = [0; 1024];
            // Linux reports the end as an error.
            while let Ok(count) = terminal.screen.read(&mut bytes)
                && count > 0
            {
                text.extend_from_slice(&bytes[..count]);
                if text.ends_with(b"[y/N] ") {
                    let answer = answers.next().unwrap_or_default();
                    terminal.screen.write_all(answer.as_bytes()).unwrap();
                }
            }
            assert_eq!(answers.next(), None, "a question is missing");
            String::from_utf8(text).unwrap().replace("\r\n", "\n")
        });
        let text = text.await.unwrap();
        assert!(child.wait().await.unwrap().success(), "{text}");
        self.shown(&text)
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
        let err = String::from_utf8(output.stderr).unwrap();
        (self.shown(&out), self.shown(&err), output.status.success())
    }

    /// Returns a text without the paths and ports of this run.
    fn shown(&self, text: &str) -> String {
        let text = text.replace(self.folder.path().to_str().unwrap(), "[DIR]");
        let port = regex::Regex::new(r"(127\.0\.0\.1|localhost):\d+").unwrap();
        port.replace_all(&text.replace(PROGRAM, "[PROGRAM]"), "$1:[PORT]").into_owned()
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
    // After an id of the wrong form, the same question follows.
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

    all += &offers(&machine).await;
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

/// Returns the texts of setups in a terminal that offer to change the settings of two clients, up to
/// the brief. The person declines, accepts one offer, and is asked about the other client again.
#[cfg(unix)]
async fn offers(machine: &NewMachine) -> String {
    let user = machine.folder.path().join("user");
    let [cursor, windsurf] = [".cursor/mcp.json", ".codeium/windsurf/mcp_config.json"];
    let files = [cursor, windsurf].map(|file| user.join(file));
    for file in &files {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    std::fs::write(&files[0], "{\"mcpServers\": {\"lamps\": {\"command\": \"lamps\"}}}\n").unwrap();
    let before = std::fs::read_to_string(&files[0]).unwrap();
    let mut all = String::new();
    // The addresses of the sandbox become a part of each entry.
    let is_kept = |line: &&str| !line.contains("_URL\": ");
    let run = async |answers: &[&str]| {
        let text = machine.run_in_terminal(&["--provider", "microsoft"], answers).await;
        let (offers, _brief) = text.split_once("5. The day\n").unwrap();
        offers.lines().filter(is_kept).map(|line| format!("{line}\n")).collect::<String>()
    };
    all += &format!("\n# offers in a terminal, declined\n{}", run(&["n", ""]).await);
    assert_eq!(std::fs::read_to_string(&files[0]).unwrap(), before);
    assert!(!files[1].exists());
    all += &format!("\n# offers in a terminal, one accepted\n{}", run(&["y", "n"]).await);
    assert!(!files[1].exists());
    let written = machine.shown(&std::fs::read_to_string(&files[0]).unwrap());
    let written = written.lines().filter(is_kept).map(|line| format!("{line}\n"));
    all += &format!("\n# {cursor}\n{}", written.collect::<String>());
    let offered = run(&["yes"]).await;
    assert!(files[1].exists() && !offered.contains(cursor), "{offered}");
    let offered = run(&[]).await;
    assert!(offered.contains("All clients found here have the entry."), "{offered}");
    all
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
