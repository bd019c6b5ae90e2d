//! A matrix of faults: every write at both providers, broken in every way. Checks that each report
//! matches the effect and that each write has its line in the log.
//!
//! `cargo bench --bench faults` starts sandboxes on loopback, signs in, and makes each write of
//! `tests/it/faults/writes.rs` while its requests are reset or answered with 504, carried out late
//! by 0.4 s and 3 s, while the process is killed (`kill -9`), the call is cancelled, the disk is
//! full or the store is locked. Each request of a write is broken in turn, and finally all of them.
//! It ends with totals, and fails if a report was untrue, a write was done twice, or a line is
//! missing. Arguments restrict the run to writes whose names contain one of them.

#![recursion_limit = "256"]
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use daysheet::app::App;
use daysheet::cli::client::InProcessClient;
use daysheet::config::Config;
use daysheet_core::call::client::Confirmation;
use daysheet_core::clock::Clock;
use daysheet_sandbox::{Sandbox, SandboxOptions};
use http_body_util::Empty;
use hyper::body::Bytes;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

use writes::{Case, Done, Reported, Room, WRITES, reported};

#[path = "../tests/it/faults/writes.rs"]
mod writes;

const ME: &str = "ana@example.com";
const OTHER: &str = "cy@example.com";
/// The number of concurrent sessions, each with its own sandbox and state folder.
const LANES: usize = 12;
/// Requests of one write that are broken in turn.
const TURNS: u64 = 3;

/// A fault during a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Reset,
    Gateway,
    Late,
    VeryLate,
    Killed,
    Cancelled,
    Full,
    Locked,
}

const FAULTS: [(Fault, &str); 8] = [
    (Fault::Reset, "reset"),
    (Fault::Gateway, "504"),
    (Fault::Late, "late 0.4 s"),
    (Fault::VeryLate, "late 3 s"),
    (Fault::Killed, "kill -9"),
    (Fault::Cancelled, "cancel"),
    (Fault::Full, "full disk"),
    (Fault::Locked, "locked"),
];

impl Fault {
    /// Returns the sandbox's fault setting, and the time after the call at which the fault is over.
    fn wire(self) -> (&'static str, Duration) {
        let ms = Duration::from_millis;
        match self {
            Self::Reset => ("reset=1,writes=1", ms(0)),
            Self::Gateway => ("504=1,writes=1", ms(0)),
            Self::Late => ("late=1,writes=1,after=400ms", ms(450)),
            Self::VeryLate => ("overdue=1,writes=1,after=3s", ms(3_050)),
            _ => ("writes=1", ms(0)),
        }
    }
}

/// The result of one write.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Cell {
    reported: Option<Reported>,
    done: Done,
    line: String,
    wrong: Option<&'static str>,
}

/// Results by write and fault: for each broken request its number, the result of the write, and the
/// answer.
type Rows = BTreeMap<(String, Fault), Vec<(u64, Cell, String)>>;
/// The results of all lanes.
type Found = Arc<Mutex<Rows>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let begin = Instant::now();
    let found = Found::default();
    let jobs: Vec<(&'static str, &'static str)> = WRITES
        .iter()
        .flat_map(|(name, at)| at.iter().map(move |provider| (*provider, *name)))
        .filter(|(provider, name)| {
            let whole = format!("{provider} {name}");
            wanted.is_empty() || wanted.iter().any(|word| whole.contains(word.as_str()))
        })
        .collect();
    for provider in ["google", "microsoft"] {
        let names: Vec<&str> =
            jobs.iter().filter(|(at, _)| *at == provider).map(|(_, name)| *name).collect();
        let lanes = (0..LANES.min(names.len())).map(|lane| {
            let mine: Vec<&'static str> = names.iter().copied().skip(lane).step_by(LANES).collect();
            self::lane(provider, mine, found.clone())
        });
        futures_util::future::join_all(lanes).await;
    }
    let found = found.lock().unwrap();
    print(&found);
    let cells: Vec<&Cell> = found.values().flatten().map(|(_, cell, _)| cell).collect();
    let wrong = |why: &str| cells.iter().filter(|cell| cell.wrong == Some(why)).count();
    let (untrue, doubled, silent) = (wrong(UNTRUE), wrong(DOUBLED), wrong(SILENT));
    println!(
        "{} writes broken in {} s: {untrue} untrue, {doubled} doubled, {silent} without a line",
        cells.len(),
        begin.elapsed().as_secs()
    );
    match untrue + doubled + silent {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

const UNTRUE: &str = "untrue";
const DOUBLED: &str = "doubled";
const SILENT: &str = "without a line";

/// Prints the table: for every write and fault the report, the effect, and the line of the log. A
/// cell lists several if the broken requests had different results.
fn print(found: &Rows) {
    let mut names: Vec<&String> = found.keys().map(|(name, _)| name).collect();
    names.dedup();
    println!("reported/done/log for each write, by what was done to it; *N: so often");
    for name in names {
        println!("{name}");
        for (fault, word) in FAULTS {
            let Some(cells) = found.get(&(name.clone(), fault)) else {
                continue;
            };
            let mut alike: BTreeMap<String, usize> = BTreeMap::new();
            for (_, cell, _) in cells {
                *alike.entry(shown(cell)).or_default() += 1;
            }
            let line: Vec<String> = alike
                .into_iter()
                .map(|(cell, count)| match count {
                    1 => cell,
                    count => format!("{cell} *{count}"),
                })
                .collect();
            println!("  {word:11} {}", line.join(", "));
            for (nth, cell, text) in cells {
                if let Some(wrong) = cell.wrong {
                    println!("    WRONG ({wrong}) at request {nth}: {text}");
                }
            }
        }
    }
}

fn shown(cell: &Cell) -> String {
    let reported = match cell.reported {
        None => "nothing",
        Some(Reported::Done) => "done",
        Some(Reported::Unknown) => "unknown",
        Some(Reported::Failed) => "not done",
    };
    let done = match cell.done {
        Done::Not => "not done",
        Done::Partly => "in part",
        Done::Once => "done",
        Done::Twice => "twice",
    };
    format!("{reported}/{done}/{}", cell.line)
}

/// One session and its sandbox, for some writes.
struct Lane {
    settings: Vec<(&'static str, String)>,
    home: PathBuf,
    app: App,
}

async fn lane(provider: &'static str, names: Vec<&'static str>, found: Found) {
    let folder = tempfile::tempdir().unwrap();
    for owner in [ME, OTHER] {
        let mail = folder.path().join("mail").join(owner);
        std::fs::create_dir_all(&mail).unwrap();
        let message = format!(
            "From: dee@example.org\r\nTo: {owner}\r\nSubject: Hello\r\n\
             Date: Tue, 03 Feb 2026 18:05:00 +0000\r\nMessage-ID: <hello@{owner}>\r\n\r\nHello.\r\n"
        );
        std::fs::write(mail.join("hello.eml"), message).unwrap();
    }
    let sandbox = Sandbox::start(SandboxOptions {
        mail: Some(folder.path().join("mail")),
        ..SandboxOptions::new(Clock::system())
    })
    .await
    .unwrap();
    let home = folder.path().join("home");
    let files = folder.path().join("files");
    std::fs::create_dir_all(&files).unwrap();
    let settings = settings(sandbox.base(), &home, &files);
    let app = App::new(config(&settings));
    sign_in(&app, provider).await;
    let lane = Lane { settings, home, app };
    let mut room = Room {
        client: lane.client().await,
        sandbox: &sandbox,
        provider,
        account: ME.to_owned(),
        me: ME.to_owned(),
        other: OTHER.to_owned(),
        other_address: OTHER.to_owned(),
        files: &files,
    };
    let mut number = 0;
    for name in names {
        number += 1;
        let case = room.prepare(name, number).await;
        room.break_with("writes=1");
        let (tool, arguments) = room.write(&case);
        let answer = room.call(tool, arguments).await;
        let writes = sandbox.writes();
        room.break_with("");
        assert_eq!(
            (reported(&answer), room.done(&case).await),
            (Reported::Done, Done::Once),
            "{provider} {name}: {:?}",
            answer.blocks
        );
        for (fault, _) in FAULTS {
            let turns: Vec<u64> = match fault {
                Fault::Full | Fault::Locked => vec![0],
                Fault::Killed | Fault::Cancelled => (0..=writes.min(TURNS)).collect(),
                _ => (1..=writes.min(TURNS)).chain((writes > 1).then_some(0)).collect(),
            };
            for nth in turns {
                number += 1;
                let case = room.prepare(name, number).await;
                let (cell, text) = lane.broken(&mut room, fault, nth, &case).await;
                let key = (format!("{provider}: {name}"), fault);
                let mut found = found.lock().unwrap();
                found.entry(key).or_default().push((nth, cell, text));
            }
        }
    }
}

impl Lane {
    async fn client(&self) -> InProcessClient {
        InProcessClient::with(self.app.server(), Some(Arc::new(|_| Confirmation::Yes)))
            .await
            .unwrap()
    }

    /// Makes one write during a fault and returns its result.
    async fn broken(
        &self,
        room: &mut Room<'_>,
        fault: Fault,
        nth: u64,
        case: &Case,
    ) -> (Cell, String) {
        let (tool, arguments) = room.write(case);
        let (wire, over) = fault.wire();
        let before = self.log().len();
        let mut begun = nth;
        let (answered, text) = match fault {
            Fault::Killed => {
                room.break_with("writes=1,delay=10ms");
                self.killed(room, nth, tool, &arguments).await;
                // Whoever calls next learns of it.
                room.break_with("");
                (None, self.next_process())
            }
            Fault::Cancelled => {
                room.break_with("writes=1,delay=10ms");
                room.cancelled(self.app.server(), nth, case).await;
                begun = room.sandbox.writes();
                (None, "cancelled".to_owned())
            }
            _ => {
                let held = match fault {
                    Fault::Full => {
                        self.full(true).await;
                        None
                    }
                    Fault::Locked => Some(self.locked().await),
                    _ => None,
                };
                room.break_with(&format!("{wire},nth={nth}"));
                let answer = room.call(tool, arguments.clone()).await;
                if fault == Fault::Full {
                    self.full(false).await;
                }
                if let Some(mut held) = held {
                    sqlx::query("ROLLBACK").execute(&mut held).await.unwrap();
                }
                (Some(reported(&answer)), answer.blocks.join(" | "))
            }
        };
        room.break_with("");
        tokio::time::sleep(over).await;
        let lines: Vec<Value> = self.log().split_off(before);
        let log: Vec<&Value> = lines.iter().filter(|line| line["tool"] == tool).collect();
        let line = log.last().map_or("no line", |line| outcome(line));
        let done = room.done(case).await;
        let mut cell = Cell { reported: answered, done, line: line.to_owned(), wrong: None };
        cell.wrong = judged(fault, begun, &cell, &text);
        // Whoever follows the advice does nothing twice.
        let again = case.name != "mail send"
            && cell.wrong.is_none()
            && done == Done::Not
            && matches!(answered, Some(Reported::Unknown | Reported::Failed));
        if again {
            room.call(tool, arguments).await;
            if room.done(case).await != Done::Once {
                cell.wrong = Some(DOUBLED);
            }
        }
        (cell, text)
    }

    /// Returns the output of a newly started process.
    fn next_process(&self) -> String {
        let mut lookup = self.process(&["call", "lookup", "kind=calendars"]);
        String::from_utf8_lossy(&lookup.output().unwrap().stdout).into_owned()
    }

    fn process(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daysheet"));
        let settings = self.settings.iter();
        command
            .args(arguments)
            .env_clear()
            .envs(settings.map(|(name, value)| (*name, value.as_str())))
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Makes the write in a process of its own, which is killed after its `nth`
    /// request that changes something, or before the first.
    async fn killed(&self, room: &Room<'_>, nth: u64, tool: &str, arguments: &Value) {
        let reads = room.sandbox.requests();
        let mut child = self
            .process(&["call", tool, &arguments.to_string()])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let reached = || match nth {
            0 => room.sandbox.requests() > reads,
            nth => room.sandbox.writes() >= nth,
        };
        while !reached() && child.try_wait().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // It may have ended by itself.
        let _ = child.kill();
        child.wait().unwrap();
        // What is under way at the provider comes to its end.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    /// The lines of the audit log.
    fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.home.join("audit.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    async fn database(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(self.home.join("daysheet.db"));
        SqliteConnection::connect_with(&options).await.unwrap()
    }

    /// Makes every write of the store fail, as on a full disk, or lifts that fault.
    async fn full(&self, full: bool) {
        let mut raw = self.database().await;
        let tables: Vec<String> = sqlx::query_scalar(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
        )
        .fetch_all(&mut raw)
        .await
        .unwrap();
        for table in tables {
            for event in ["INSERT", "UPDATE", "DELETE"] {
                let name = format!("full_{table}_{event}");
                let statement = if full {
                    format!(
                        "CREATE TRIGGER {name} BEFORE {event} ON {table} \
                         BEGIN SELECT RAISE(ROLLBACK, 'no room'); END"
                    )
                } else {
                    format!("DROP TRIGGER {name}")
                };
                sqlx::query(AssertSqlSafe(statement)).execute(&mut raw).await.unwrap();
            }
        }
    }

    /// Locks the store until the returned connection is dropped.
    async fn locked(&self) -> SqliteConnection {
        let mut raw = self.database().await;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut raw).await.unwrap();
        raw
    }
}

/// Returns the defect, if any, in the report, the effect or the log line of a write.
fn judged(fault: Fault, begun: u64, cell: &Cell, text: &str) -> Option<&'static str> {
    if cell.done == Done::Twice {
        return Some(DOUBLED);
    }
    let untrue = match (cell.reported, cell.done) {
        (Some(Reported::Done), done) => done != Done::Once,
        (Some(Reported::Failed), done) => done != Done::Not,
        (Some(Reported::Unknown), _) => false,
        // What was cancelled after its first write runs to its end; before it,
        // nothing is done.
        (None, done) if fault == Fault::Cancelled => match begun {
            0 => done != Done::Not,
            _ => done != Done::Once,
        },
        // What was killed between its writes is reported by the next call.
        (None, Done::Partly) => !text.contains("cut off"),
        (None, _) => false,
    };
    if untrue {
        return Some(UNTRUE);
    }
    let is_end = |line: &str| !matches!(line, "no line" | "begun" | "sending");
    let silent = match cell.reported {
        // Killed: what had begun has a line, and may have no more than that.
        None if fault == Fault::Killed => cell.done != Done::Not && cell.line == "no line",
        None => cell.done != Done::Not && !is_end(&cell.line),
        // What was not begun needs none.
        Some(Reported::Failed) => matches!(cell.line.as_str(), "begun" | "sending"),
        Some(Reported::Done) => !matches!(cell.line.as_str(), "done" | "sent"),
        Some(Reported::Unknown) => !is_end(&cell.line),
    };
    silent.then_some(SILENT)
}

/// Returns the outcome in a line of the log; `done 2 of 2` counts as done.
fn outcome(line: &Value) -> &str {
    let text = line["outcome"].as_str().unwrap_or_default();
    let mut words = text.split_whitespace();
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some("done"), Some(some), Some("of"), Some(all)) if some == all => "done",
        (Some("done"), Some(_), ..) => "unknown",
        _ => match text {
            "already sent" | "scheduled" => "sent",
            "unknown" | "done" | "sent" | "begun" | "sending" | "cut off" => text,
            _ => "failed",
        },
    }
}

/// The settings that lead to the sandbox.
fn settings(base: &str, home: &Path, files: &Path) -> Vec<(&'static str, String)> {
    vec![
        ("DAYSHEET_HOME", home.to_str().unwrap().to_owned()),
        ("DAYSHEET_KEY_STORE", "file".to_owned()),
        ("DAYSHEET_ZONE", "UTC".to_owned()),
        ("DAYSHEET_BROWSER", "print".to_owned()),
        ("DAYSHEET_ACCESS", "full".to_owned()),
        ("DAYSHEET_NEW_RECIPIENTS", "allow".to_owned()),
        ("DAYSHEET_FILES", files.to_str().unwrap().to_owned()),
        ("DAYSHEET_SENDS_PER_HOUR", "10000".to_owned()),
        ("DAYSHEET_RECIPIENTS_PER_HOUR", "10000".to_owned()),
        ("DAYSHEET_GMAIL_URL", format!("{base}/")),
        ("DAYSHEET_GOOGLE_CALENDAR_URL", format!("{base}/calendar/v3/")),
        ("DAYSHEET_GOOGLE_PEOPLE_URL", format!("{base}/")),
        ("DAYSHEET_GOOGLE_AUTH_URL", format!("{base}/o/oauth2/v2/auth")),
        ("DAYSHEET_GOOGLE_TOKEN_URL", format!("{base}/token")),
        ("DAYSHEET_GOOGLE_CLIENT_ID", "bench".to_owned()),
        ("DAYSHEET_GRAPH_URL", format!("{base}/v1.0/")),
        ("DAYSHEET_MICROSOFT_AUTHORITY_URL", format!("{base}/")),
        ("DAYSHEET_MICROSOFT_CLIENT_ID", "bench".to_owned()),
    ]
}

fn config(settings: &[(&'static str, String)]) -> Config {
    let var = |name: &str| {
        let found = settings.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone())
    };
    Config::from(var, None, None, Clock::system()).unwrap()
}

/// Signs two accounts in, as a chat does.
async fn sign_in(app: &App, provider: &str) {
    let mut client = InProcessClient::connect(app.server()).await.unwrap();
    for address in [ME, OTHER] {
        let add = json!({"op": "add", "provider": provider, "account": address});
        let answer = client.call("accounts", add).await.unwrap();
        let page = answer.blocks[0]
            .split_whitespace()
            .find(|word| word.starts_with("http"))
            .unwrap_or_else(|| panic!("no page in {}", answer.blocks[0]))
            .to_owned();
        agree(&page).await;
        app.pipeline.signed_in().await.unwrap();
    }
    assert_eq!(app.accounts.list().await.unwrap().len(), 2);
}

/// Plays the browser: agrees on the page and goes where it leads.
async fn agree(page: &str) {
    use hyper_util::client::legacy::Client;
    let client = Client::builder(hyper_util::rt::TokioExecutor::new()).build_http();
    let mut next = page.to_owned();
    for consent in ["allow", ""] {
        let request = hyper::Request::get(&next)
            .header("X-Sandbox-Consent", consent)
            .body(Empty::<Bytes>::new())
            .unwrap();
        let answer = client.request(request).await.unwrap();
        if let Some(location) = answer.headers().get("location") {
            next = location.to_str().unwrap().to_owned();
        }
    }
}
