//! Every write at both providers, broken in every way: each report must match the effect, and each
//! write must have its line in the audit log.
//!
//! The writes are in `tests/it/faults/writes.rs`; tests also cancel them. Each of their requests is
//! broken in turn, and finally all of them. `--only WORD` restricts the run to
//! writes with the word in their provider or name.

#[path = "../tests/it/faults/writes.rs"]
#[expect(dead_code, reason = "tests also cancel writes")]
mod writes;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use daysheet::app::App;
use daysheet::cli::client::InProcessClient;
use daysheet_core::call::client::Confirmation;
use futures_util::future::join_all;
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

use crate::common::{self, Settings, heading, option};
use writes::{BOTH, Case, Done, Reported, Room, WRITES, reported};

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
    Full,
    Locked,
}

/// The faults: name, setting of the sandbox, and the milliseconds that it lasts beyond the call.
const FAULTS: [(Fault, &str, &str, u64); 7] = [
    (Fault::Reset, "reset", "reset=1,writes=1", 0),
    (Fault::Gateway, "504", "504=1,writes=1", 0),
    (Fault::Late, "late by 0.4 s", "late=1,writes=1,after=400ms", 450),
    (Fault::VeryLate, "late by 3 s", "overdue=1,writes=1,after=3s", 3_050),
    (Fault::Killed, "kill -9", "writes=1,delay=10ms", 50),
    (Fault::Full, "full disk", "writes=1", 0),
    (Fault::Locked, "locked store", "writes=1", 0),
];

/// The result of one write.
struct Broken {
    fault: Fault,
    /// `None` if the process was killed.
    reported: Option<Reported>,
    done: Done,
    /// The last outcome in the log.
    line: String,
    /// The defect in the report, the effect or the log, and its place.
    wrong: Option<String>,
}

pub async fn run() {
    let only = option("--only").unwrap_or_default();
    let mut all = Vec::new();
    for provider in BOTH {
        let at = WRITES.iter().filter(|(_, at)| at.contains(provider)).map(|(name, _)| *name);
        let names: Vec<_> =
            at.filter(|name| format!("{provider} {name}").contains(&only)).collect();
        let lanes = (0..LANES).map(|lane| {
            lane_of(provider, names.iter().copied().skip(lane).step_by(LANES).collect())
        });
        all.extend(join_all(lanes).await.into_iter().flatten());
    }
    heading(&["fault", "reported", "done", "log", "writes:"]);
    for (fault, name, ..) in FAULTS {
        let mut alike: BTreeMap<String, usize> = BTreeMap::new();
        for one in all.iter().filter(|one| one.fault == fault) {
            let answer = one.reported.map_or("no answer".to_owned(), |known| format!("{known:?}"));
            *alike.entry(format!("{answer} | {:?} | {}", one.done, one.line)).or_default() += 1;
        }
        alike.iter().for_each(|(cells, count)| println!("| {name} | {cells} | {count} |"));
    }
    let wrong: Vec<&String> = all.iter().filter_map(|one| one.wrong.as_ref()).collect();
    println!("\n{} writes broken, {} wrongly reported, done or logged", all.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// One session with its own state folder.
struct Lane {
    settings: Settings,
    home: PathBuf,
}

/// Breaks some writes of a provider.
async fn lane_of(provider: &'static str, names: Vec<&'static str>) -> Vec<Broken> {
    let folder = tempfile::tempdir().unwrap();
    let [home, files] = ["home", "files"].map(|name| folder.path().join(name));
    for owner in [ME, OTHER] {
        common::mailbox(folder.path(), owner, 1);
    }
    std::fs::create_dir_all(&files).unwrap();
    let sandbox = common::sandbox(folder.path()).await;
    let mut settings = common::leading_to(&sandbox, &home);
    settings.extend([
        ("DAYSHEET_ACCESS", "full".to_owned()),
        ("DAYSHEET_NEW_RECIPIENTS", "allow".to_owned()),
        ("DAYSHEET_FILES", files.to_str().unwrap().to_owned()),
    ]);
    common::sign_in(&settings, &[(provider, ME), (provider, OTHER)]).await;
    let app = App::new(common::config(&settings));
    let yes = Some(Arc::new(|_: &_| Confirmation::Yes) as _);
    let mut room = Room {
        client: InProcessClient::with(app.server(), yes).await.unwrap(),
        sandbox: &sandbox,
        provider,
        account: ME.to_owned(),
        me: ME.to_owned(),
        other: OTHER.to_owned(),
        other_address: OTHER.to_owned(),
        files: &files,
    };
    let lane = Lane { settings, home };
    let (mut number, mut all) = (0, Vec::new());
    for name in names {
        number += 1;
        let writes = whole(&mut room, name, number).await;
        for (fault, ..) in FAULTS {
            let turns: Vec<u64> = match fault {
                Fault::Full | Fault::Locked => vec![0],
                Fault::Killed => (0..=writes.min(TURNS)).collect(),
                _ => (1..=writes.min(TURNS)).chain((writes > 1).then_some(0)).collect(),
            };
            for nth in turns {
                number += 1;
                let case = room.prepare(name, number).await;
                all.push(lane.broken(&mut room, fault, nth, &case).await);
            }
        }
    }
    all
}

/// Makes a write without a fault and returns the number of its requests that change something.
async fn whole(room: &mut Room<'_>, name: &'static str, number: usize) -> u64 {
    let case = room.prepare(name, number).await;
    room.break_with("writes=1");
    let (tool, arguments) = room.write(&case);
    let answer = room.call(tool, arguments).await;
    let writes = room.sandbox.writes();
    room.break_with("");
    let result = (reported(&answer), room.done(&case).await);
    assert_eq!(result, (Reported::Done, Done::Once), "{name}: {:?}", answer.blocks);
    writes
}

impl Lane {
    /// Makes one write during a fault, whose `nth` request is broken, or all of them if it is 0.
    async fn broken(&self, room: &mut Room<'_>, fault: Fault, nth: u64, case: &Case) -> Broken {
        let (tool, arguments) = room.write(case);
        let before = self.log().len();
        let (_, name, wire, over) = FAULTS[fault as usize];
        room.break_with(wire);
        let (reported, text) = match fault {
            Fault::Killed => {
                self.killed(room, nth, tool, &arguments).await;
                room.break_with("");
                // The next process to call reports the interruption.
                let mut next =
                    common::process(&self.settings, &["call", "lookup", "kind=calendars"]);
                (None, String::from_utf8_lossy(&next.output().unwrap().stdout).into_owned())
            }
            _ => {
                room.break_with(&format!("{wire},nth={nth}"));
                let answer = self.unwritable(fault, room.call(tool, arguments.clone())).await;
                (Some(reported(&answer)), answer.blocks.join(" | "))
            }
        };
        room.break_with("");
        tokio::time::sleep(Duration::from_millis(over)).await;
        let log = self.log().split_off(before);
        let line = log.iter().rfind(|line| line["tool"] == tool).map_or("no line", outcome);
        let done = room.done(case).await;
        let mut broken = Broken { fault, reported, done, line: line.to_owned(), wrong: None };
        let mut wrong = judged(&broken, &text);
        // A caller who follows the advice does nothing twice. A message in doubt is not repeated.
        let advised = matches!(reported, Some(Reported::Unknown | Reported::Failed));
        if advised && wrong.is_none() && done == Done::Not && case.name != "mail send" {
            room.call(tool, arguments).await;
            wrong = (room.done(case).await != Done::Once).then_some("not done once when repeated");
        }
        let place = format!("{} {}, {name} at request {nth}", room.provider, case.name);
        broken.wrong = wrong.map(|why| format!("{place}: {why}, {done:?}, {line}: {text}"));
        broken
    }

    /// Makes the write in a process of its own, which is killed after its `nth` request that changes
    /// something, or before the first.
    async fn killed(&self, room: &Room<'_>, nth: u64, tool: &str, arguments: &Value) {
        let reads = room.sandbox.requests();
        let mut command = common::process(&self.settings, &["call", tool, &arguments.to_string()]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
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
        // Requests under way at the provider are carried out.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    /// Returns the lines of the audit log.
    fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.home.join("audit.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Waits for a call while the store is locked, or fails at every write as on a full disk.
    async fn unwritable<T>(&self, fault: Fault, call: impl Future<Output = T>) -> T {
        let options = SqliteConnectOptions::new().filename(self.home.join("daysheet.db"));
        let mut raw = SqliteConnection::connect_with(&options).await.unwrap();
        let (begin, end) = match fault {
            Fault::Locked => ("BEGIN IMMEDIATE".to_owned(), "ROLLBACK".to_owned()),
            Fault::Full => full(&mut raw).await,
            _ => return call.await,
        };
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut raw).await.unwrap();
        let answer = call.await;
        sqlx::raw_sql(AssertSqlSafe(end)).execute(&mut raw).await.unwrap();
        answer
    }
}

/// Returns the statements that make every write of the store fail, and those that lift the fault.
async fn full(raw: &mut SqliteConnection) -> (String, String) {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    )
    .fetch_all(raw)
    .await
    .unwrap();
    let names = |table| ["INSERT", "UPDATE", "DELETE"].map(|event| (table, event));
    let triggers = tables.iter().flat_map(names).map(|(table, event)| {
        let create = format!(
            "CREATE TRIGGER full_{table}_{event} BEFORE {event} ON {table} \
             BEGIN SELECT RAISE(ROLLBACK, 'no room'); END;"
        );
        (create, format!("DROP TRIGGER full_{table}_{event};"))
    });
    triggers.unzip()
}

/// Returns the defect, if any, in the report, the effect or the log line of a write.
fn judged(one: &Broken, text: &str) -> Option<&'static str> {
    if one.done == Done::Twice {
        return Some("doubled");
    }
    let untrue = match (one.reported, one.done) {
        (Some(Reported::Done), done) => done != Done::Once,
        (Some(Reported::Failed), done) => done != Done::Not,
        (Some(Reported::Unknown), _) => false,
        // A write that is killed between its requests is reported by the next call.
        (None, Done::Partly) => !text.contains("a call was interrupted"),
        (None, _) => false,
    };
    if untrue {
        return Some("untrue");
    }
    let line = one.line.as_str();
    let open = matches!(line, "begun" | "sending");
    let silent = match one.reported {
        // A killed write that had begun has a line, and may have no more than that.
        None => one.done != Done::Not && line == "no line",
        // A write that was not begun needs no line.
        Some(Reported::Failed) => open,
        Some(Reported::Done) => !matches!(line, "done" | "sent"),
        Some(Reported::Unknown) => open || line == "no line",
    };
    silent.then_some("without a line")
}

/// Returns the outcome in a line of the log; `done 2 of 2` counts as done.
fn outcome(line: &Value) -> &str {
    let text = line["outcome"].as_str().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["done", some, "of", all] if some == all => "done",
        ["done", _, ..] => "unknown",
        _ => match text {
            "already sent" | "scheduled" => "sent",
            "unknown" | "done" | "sent" | "begun" | "sending" | "cut off" => text,
            _ => "failed",
        },
    }
}
