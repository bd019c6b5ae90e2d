//! The worker processes that read files, shared by the people of a server.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use daysheet::app::App;
use daysheet::http::{self, HttpState};
use daysheet::worker::{Worker, WorkerTimes};
use daysheet_auth::TokenVerifier;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::mpsc::unbounded_channel;

use crate::common::messages::{mailboxes, write_message};
use crate::stage::{Caller, MODERN, Stage, User, person, text};

/// The number of one person's calls, and of files that each call reads.
const CALLS: usize = 8;
const FILES: usize = 25;
/// The longest wait for an expected event.
const PATIENCE: Duration = Duration::from_mins(1);

/// While one person's calls read files that never end, another person's small and large jobs are
/// finished. The first person's files hold one place for large jobs, and hold places for small jobs
/// only briefly.
#[tokio::test]
async fn files_that_never_end_hold_up_nobody_else() {
    let stage = Stage::start(&["ann", "bo"], &[], Some(mail()), None).await;
    let jobs = Jobs::new();
    let (service, address) = serve(&stage, &jobs).await;
    let caller = |name: &str| {
        let mut http = User::nobody(&address);
        http.token = name.to_owned();
        Caller { http, version: MODERN, capabilities: json!({}), session: None }
    };
    let (ann, bo) = (caller("ann"), caller("bo"));
    let (anns, bos) = (ids(&ann).await, ids(&bo).await);

    let (events, mut ended) = unbounded_channel();
    let slow = (0..CALLS).map(|number| {
        let id = anns[&format!("Files {number}")].clone();
        let (ann, events) = (&ann, events.clone());
        async move {
            let answer = ann.call("mail_attachment", json!({"ids": [id], "as": "text"})).await;
            events.send(format!("ann {number}")).unwrap();
            answer
        }
    });
    let small = async {
        // One of hers has moved to a place for large jobs, and others follow.
        jobs.wait_for_second_start().await;
        let running = format!("daysheet_calls_running {CALLS}\n");
        let all_run = async {
            while !service.metrics().contains(&running) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, all_run).await.is_ok(), "{}", service.metrics());
        for (what, tool, arguments, expected) in [
            (
                "small file",
                "mail_attachment",
                json!({"ids": [bos["Files 2"]], "as": "text"}),
                "11 bytes ok",
            ),
            ("long HTML", "mail_read", json!({"ids": [bos["Page 4"]]}), "Lamp, brass"),
            (
                "large file",
                "mail_attachment",
                json!({"ids": [bos["Files 3"]], "as": "text"}),
                "One of many",
            ),
            (
                "small file",
                "mail_attachment",
                json!({"ids": [bos["Files 2"]], "as": "text"}),
                "11 bytes ok",
            ),
        ] {
            let call = tokio::time::timeout(PATIENCE, bo.ok(tool, arguments)).await;
            let answer = call.unwrap_or_else(|_| panic!("{what}: {:?}", jobs.begun()));
            assert!(answer.contains(expected), "{what}: {answer:.2000}");
            events.send(format!("bo: {what}")).unwrap();
        }
        let begun = jobs.begun();
        jobs.release();
        begun
    };
    let (answers, begun) = tokio::join!(join_all(slow), small);
    for answer in &answers {
        assert_ne!(answer["isError"], true, "{}", text(answer));
    }
    let mut order = Vec::new();
    while let Ok(event) = ended.try_recv() {
        order.push(event);
    }
    let (first, rest) = order.split_at(4);
    assert_eq!(first, ["bo: small file", "bo: long HTML", "bo: large file", "bo: small file"]);
    assert_eq!(rest.len(), CALLS, "{order:?}");
    let mut of_bo: Vec<&String> = begun.iter().filter(|name| !name.starts_with("slow")).collect();
    // On a slow machine, one may begin again as a large one.
    of_bo.dedup();
    assert_eq!(of_bo, ["small.txt", "body", "large.txt", "small.txt"]);
    let slow: BTreeSet<_> = begun.iter().filter(|name| name.starts_with("slow")).collect();
    println!("{} of {} of her files were begun meanwhile: {begun:?}", slow.len(), CALLS * FILES);
    assert!(slow.len() < CALLS * FILES / 2, "{begun:?}");
}

/// Returns a folder of mail: eight messages of ann with files that never end, and three of bo.
fn mail() -> TempDir {
    let mail = mailboxes(&["bo@example.com"]);
    for number in 0..CALLS {
        let names = (0..FILES).map(|at| (format!("slow-{number}-{at}.txt"), "x".to_owned()));
        write_files(mail.path(), "ann@example.com", number, names.collect());
    }
    let large = "One of many lines.\n".repeat(160_000);
    for (number, name, content) in
        [(2, "small.txt", "11 bytes ok".to_owned()), (3, "large.txt", large)]
    {
        let files = vec![(name.to_owned(), content)];
        write_files(mail.path(), "bo@example.com", number, files);
    }
    let row = "<tr><td>Lamp, brass</td><td>129.50</td></tr>\n".repeat(8_000);
    let headers = format!(
        "Content-Type: text/html; charset=utf-8\nSubject: Page {}",
        headers("bo@example.com", 4)
    );
    let table = format!("<table>{row}</table>");
    write_message(&mail.path().join("bo@example.com"), "4.eml", &headers, &table);
    mail
}

/// Returns the ids of a person's messages by their subjects.
async fn ids(caller: &Caller) -> HashMap<String, String> {
    let found = caller.ok("mail_search", json!({"limit": 20, "format": "json"})).await;
    let document: Value = serde_json::from_str(found.lines().next().unwrap()).unwrap();
    let rows = document["messages"].as_array().unwrap().iter();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    rows.map(|row| (text(row, "subject"), text(row, "id"))).collect()
}

fn headers(owner: &str, number: usize) -> String {
    format!(
        "{number}\nFrom: x@example.com\nTo: {owner}\nMessage-ID: <{number}@{owner}>\nMIME-Version: 1.0"
    )
}

/// Writes a message with these attachments.
fn write_files(mail: &Path, owner: &str, number: usize, files: Vec<(String, String)>) {
    let files = files.into_iter().map(|(name, content)| {
        format!(
            "--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename={name}\n\n\
             {content}\n"
        )
    });
    let files: String = files.collect();
    let headers = format!(
        "Content-Type: multipart/mixed; boundary=b\nSubject: Files {}",
        headers(owner, number)
    );
    let name = format!("{number}.eml");
    write_message(&mail.join(owner), &name, &headers, &format!("{files}--b--\n"));
}

/// Serves the people of a stage, with workers that record their jobs.
async fn serve(stage: &Stage, jobs: &Jobs) -> (Arc<HttpState>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut config = stage.shared.config();
    config.http.listen_at(address).unwrap();
    config.pages = config.http.public_url.clone();
    let [small, large, call] = [200, 600_000, 600_000].map(Duration::from_millis);
    let times = WorkerTimes { small, large, call };
    config.worker = Some(Worker::at(jobs.0.path().join("program")).times(times));
    let people = ["ann", "bo"].map(|name| (name.to_owned(), person(name)));
    let service = HttpState::new(Arc::new(App::new(config)), TokenVerifier::known(people.into()));
    tokio::spawn(http::serve(service.clone(), listener, || (), std::future::pending()));
    (service, format!("http://{address}"))
}

/// A folder with the program of the workers, and the list of the jobs that they have begun.
struct Jobs(TempDir);

impl Jobs {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        // A file with `slow` in its name does not end before the others are released.
        let script = format!(
            "#!/bin/sh\nread -r job\nprintf '%s\\n' \"$job\" >> {}\n\
             case $job in *slow-*) while ! [ -e {} ]; do sleep 0.05; done; exit 1;; esac\n\
             {{ printf '%s\\n' \"$job\"; cat; }} | {} worker\n",
            at("begun"),
            at("released"),
            env!("CARGO_BIN_EXE_daysheet")
        );
        std::fs::write(at("begun"), "").unwrap();
        std::fs::write(at("program"), script).unwrap();
        std::fs::set_permissions(at("program"), std::fs::Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    /// Returns the names of the files whose jobs have begun, in order; `body` for the text of a
    /// message.
    fn begun(&self) -> Vec<String> {
        let lines = std::fs::read_to_string(self.0.path().join("begun")).unwrap();
        let name = |line: &str| {
            let (job, _): (Value, u64) = serde_json::from_str(line).unwrap();
            job["File"]["name"].as_str().unwrap_or("body").to_owned()
        };
        lines.lines().map(name).collect()
    }

    /// Waits until a file has been started again as a large job.
    async fn wait_for_second_start(&self) {
        let again = async {
            loop {
                let begun = self.begun();
                let mut once = BTreeSet::new();
                if begun.into_iter().any(|name| !once.insert(name)) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, again).await.is_ok(), "{:?}", self.begun());
    }

    fn release(&self) {
        std::fs::write(self.0.path().join("released"), "").unwrap();
    }
}
