//! A thousand messages sent through faults: how often each was delivered, and whether its final
//! report is true.
//!
//! `cargo bench --bench sends` runs the sandbox with the mailboxes of two senders, one at Gmail and
//! one at Outlook, and of one recipient. Every message is a draft that is sent once by `mail_send`
//! while the sandbox breaks the request in one way, or the sending process is killed at some
//! moment. `mail_send` is repeated until it no longer reports `unknown`, at most twice. A message
//! delivered twice, or an untrue final answer, ends the program. `-- --one-in N` divides the number
//! of messages by N, for a shorter run.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use daysheet::accounts::Accounts;
use daysheet::pipeline::Pipeline;
use daysheet::store::Store;
use daysheet::tools;
use daysheet_core::clock::Clock;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_providers::Providers;
use daysheet_sandbox::{FaultRates, Sandbox, SandboxOptions};
use serde_json::{Value, json};

use served::Settings;

#[expect(dead_code, reason = "the processes here make one call each")]
mod served;

/// The two senders and the recipient.
const GMAIL: &str = "ana@example.com";
const OUTLOOK: &str = "bo@example.com";
const RECIPIENT: &str = "cy@example.com";
/// The time for which a message in doubt is looked up (`LOOK`) and may still be sent (`OPEN`).
const LOOK: Duration = Duration::from_millis(250);
const OPEN: Duration = Duration::from_millis(1_500);

/// The faults, the number of messages for each, and their meanings.
const CASES: &[(&str, usize, &str)] = &[
    ("", 100, "nothing"),
    ("429=1,only=/send", 50, "too many requests, not accepted"),
    ("500=1,only=/send", 50, "500, not accepted"),
    ("503=1,only=/send", 50, "503, not accepted"),
    ("504=1,only=/send", 50, "504, not accepted"),
    ("html=1,only=/send", 50, "502 with a page, not accepted"),
    ("reset=1,only=/send", 100, "reset, not accepted"),
    ("lost=1,only=/send", 150, "reset after it was accepted"),
    ("gate=1,only=/send", 100, "504 after it was accepted"),
    ("half=1,only=/send", 50, "broken in mid-answer"),
    ("late=1,only=/send", 100, "reset, and accepted 400 ms later"),
];
/// Processes that are killed.
const KILLED: usize = 150;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    for owner in [GMAIL, OUTLOOK, RECIPIENT] {
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
    let mut settings = served::settings(sandbox.base(), &home);
    settings.extend([
        ("DAYSHEET_ACCESS", "send".to_owned()),
        ("DAYSHEET_SENDS_PER_HOUR", "10000".to_owned()),
        ("DAYSHEET_RECIPIENTS_PER_HOUR", "10000".to_owned()),
    ]);
    served::sign_in(&settings, &[("google", GMAIL), ("microsoft", OUTLOOK)]).await;
    let sender = Sender::new(&settings);
    let mut one_in = std::env::args().skip_while(|argument| argument != "--one-in");
    let one_in: usize = one_in.nth(1).map_or(1, |number| number.parse().unwrap());

    println!("what is done to the sending call         messages  answers at once -> at the end");
    let mut all = Tally::default();
    for (faults, count, what) in CASES {
        let mut tally = Tally::default();
        for number in 0..count / one_in {
            let draft = sender.draft(number).await;
            sandbox.set_faults(faults.parse().unwrap());
            let first = sender.send(&draft).await;
            sandbox.set_faults(FaultRates::default());
            sender.settle(&sandbox, &draft, first, &mut tally).await;
        }
        tally.print(what);
        all.add(tally);
    }
    let mut tally = Tally::default();
    let killed = KILLED / one_in;
    let mut moments: BTreeMap<String, usize> = BTreeMap::new();
    // Long enough for all that one process does.
    let whole = sender.process_takes(&settings).await;
    for number in 0..killed {
        let draft = sender.draft(number).await;
        sandbox.set_faults("delay=15ms".parse().unwrap());
        let part = whole.mul_f64(0.3 + 0.8 * number as f64 / killed as f64);
        kill_after(&settings, &draft, part);
        sandbox.set_faults(FaultRates::default());
        let noted = sender.noted(&draft).await;
        *moments.entry(noted).or_default() += 1;
        sender.settle(&sandbox, &draft, "killed".to_owned(), &mut tally).await;
    }
    tally.print("the process is killed (kill -9)");
    for (moment, count) in &moments {
        println!("    {count:4} of them when {moment}");
    }
    all.add(tally);
    println!(
        "{} messages: {} delivered once, {} not at all, {} twice or more; answers at the end that \
         are not true: {}; left unknown: {}",
        all.messages, all.once, all.never, all.twice, all.untrue, all.unknown
    );
    assert_eq!((all.twice, all.untrue), (0, 0));
}

/// Totals of the results of messages.
#[derive(Default)]
struct Tally {
    messages: usize,
    once: usize,
    never: usize,
    twice: usize,
    untrue: usize,
    unknown: usize,
    answers: BTreeMap<String, usize>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.once += other.once;
        self.never += other.never;
        self.twice += other.twice;
        self.untrue += other.untrue;
        self.unknown += other.unknown;
    }

    fn print(&self, what: &str) {
        let answers: Vec<String> =
            self.answers.iter().map(|(answer, count)| format!("{count} {answer}")).collect();
        println!("{what:40} {:8}  {}", self.messages, answers.join(", "));
    }
}

/// A sending pipeline, as in a server.
struct Sender {
    pipeline: Pipeline,
    store: Store,
    home: std::path::PathBuf,
}

impl Sender {
    fn new(settings: &Settings) -> Self {
        let config = Arc::new(served::config(settings));
        let store = Store::new(&config);
        let accounts = Arc::new(Accounts::new(config.clone(), store.clone()));
        let connect = Arc::new(Providers::new(config.services(), accounts.clone()));
        Self {
            home: config.home.clone(),
            pipeline: Pipeline::new(config, store.clone(), accounts, connect)
                .with_send_recovery(LOOK, OPEN),
            store,
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> String {
        let tool = tools::find(tool).unwrap();
        let format = Format::Toon(Delimiter::Pipe);
        let request = tools::read(tool, arguments.as_object().cloned(), format).unwrap();
        match self.pipeline.run(request).await {
            Ok(answer) => answer.blocks.join("\n"),
            Err(error) => format!("error: {error}"),
        }
    }

    /// Creates a draft, at the two providers in turn, and returns its handle.
    async fn draft(&self, number: usize) -> String {
        let account = [GMAIL, OUTLOOK][number % 2];
        let arguments = json!({"account": account, "to": [RECIPIENT], "subject": "Proof", "body": "The proof."});
        let answer = self.call("mail_draft", arguments).await;
        let line = answer.lines().find_map(|line| line.strip_prefix("draft: "));
        line.unwrap_or_else(|| panic!("no draft in {answer}")).to_owned()
    }

    /// Sends a draft and returns the word of the outcome.
    async fn send(&self, draft: &str) -> String {
        let answer = self.call("mail_send", json!({"id": draft})).await;
        let row = answer.lines().find(|line| line.contains("|send|"));
        let row = row.unwrap_or_else(|| panic!("no outcome in {answer}"));
        row.split('|').nth(2).unwrap().to_owned()
    }

    /// Repeats the send until the outcome is known, and compares it with the delivered messages.
    async fn settle(&self, sandbox: &Sandbox, draft: &str, first: String, tally: &mut Tally) {
        let mut last = first.clone();
        if first == "unknown" || first == "killed" {
            tokio::time::sleep(OPEN + Duration::from_millis(50)).await;
            // A process that was killed before it began to send has noted nothing:
            // asking then would be sending, so it is only looked at.
            last = match self.noted(draft).await.as_str() {
                NOTHING => "not sent".to_owned(),
                _ => self.send(draft).await,
            };
        }
        let id = self.message_id(draft);
        let found = id.map_or(0, |id| sandbox.labels_of(RECIPIENT, &id).len());
        tally.messages += 1;
        match found {
            0 => tally.never += 1,
            1 => tally.once += 1,
            _ => tally.twice += 1,
        }
        let text = match last.as_str() {
            "sent" | "already sent" => Some(1),
            "not sent" => Some(0),
            _ => None,
        };
        match text {
            None => tally.unknown += 1,
            Some(text) if text != found => tally.untrue += 1,
            Some(_) => {}
        }
        *tally.answers.entry(format!("{first} -> {last}")).or_default() += 1;
    }

    /// The Message-ID that the audit log has of a draft.
    fn message_id(&self, draft: &str) -> Option<String> {
        let log = std::fs::read_to_string(self.home.join("audit.jsonl")).unwrap_or_default();
        let lines = log.lines().rev();
        let mut values = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let ids = values.find_map(|line| {
            let ids = line["ids"].as_array()?.clone();
            (line["tool"] == "mail_send" && ids.first()? == draft && ids.len() == 2).then_some(ids)
        })?;
        Some(ids[1].as_str()?.to_owned())
    }

    /// Returns the journal's state of a draft.
    async fn noted(&self, draft: &str) -> String {
        let (kind, number) = daysheet::store::HandleKind::parse(draft).unwrap();
        let (account, id) = self.store.resolve(kind, number).await.unwrap().unwrap();
        match self.store.journalled(&account, &id.into()).await.unwrap() {
            None => NOTHING.to_owned(),
            Some(row) if row.sent => "the journal says sent".to_owned(),
            Some(_) => "the journal says sending".to_owned(),
        }
    }

    /// Measures the time that a process takes if it is not killed.
    async fn process_takes(&self, settings: &Settings) -> Duration {
        let draft = self.draft(0).await;
        let begin = Instant::now();
        let mut child = process(settings, &draft).spawn().unwrap();
        child.wait().unwrap();
        begin.elapsed() + Duration::from_millis(60)
    }
}

const NOTHING: &str = "the journal has nothing yet";

fn process(settings: &Settings, draft: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daysheet"));
    command
        .args(["call", "mail_send", &format!("id={draft}")])
        .env_clear()
        .envs(settings.iter().map(|(name, value)| (*name, value.as_str())))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Starts a process that sends, and kills it after a while.
fn kill_after(settings: &Settings, draft: &str, wait: Duration) {
    let mut child = process(settings, draft).spawn().unwrap();
    std::thread::sleep(wait);
    // It may have ended by itself.
    let _ = child.kill();
    child.wait().unwrap();
}
