//! A thousand messages sent through faults: how often each was delivered, and whether its final
//! report is true.
//!
//! Every message is a draft that is sent once by `mail_send` while the sandbox breaks the request in
//! one way, or the sending process is killed at some moment. `mail_send` is repeated until it no
//! longer reports `unknown`, at most twice. `--one-in N` divides the number of messages by N.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use daysheet::app::App;
use daysheet::pipeline::Pipeline;
use daysheet::store::HandleKind;
use daysheet_sandbox::{FaultRates, Sandbox};
use serde_json::{Value, json};

use crate::common::{self, Settings, heading, option, timed};

/// The two senders and the recipient.
const GMAIL: &str = "ana@example.com";
const OUTLOOK: &str = "bo@example.com";
const RECIPIENT: &str = "cy@example.com";
/// The time for which a message in doubt is looked up (`LOOK`) and may still be sent (`OPEN`).
const LOOK: Duration = Duration::from_millis(250);
const OPEN: Duration = Duration::from_millis(1_500);

/// The faults, the number of messages for each, and their meanings.
const CASES: &[(&str, usize, &str)] = &[
    ("", 100, "none"),
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

pub async fn run() {
    let folder = tempfile::tempdir().unwrap();
    for owner in [GMAIL, OUTLOOK, RECIPIENT] {
        common::mailbox(folder.path(), owner, 1);
    }
    let sandbox = common::sandbox(folder.path()).await;
    let mut settings = common::leading_to(&sandbox, &folder.path().join("home"));
    settings.push(("DAYSHEET_ACCESS", "send".to_owned()));
    common::sign_in(&settings, &[("google", GMAIL), ("microsoft", OUTLOOK)]).await;
    let sender = Sender::new(&settings, sandbox);
    let one_in: usize = option("--one-in").map_or(1, |number| number.parse().unwrap());
    if one_in > 1 {
        println!("Of a thousand messages, one in {one_in}.\n");
    }
    heading(&["fault in the sending call", "messages:", "immediate answer → final answer"]);
    let mut all = Vec::new();
    for (faults, count, what) in CASES {
        let mut these = Vec::new();
        for number in 0..count / one_in {
            let draft = sender.draft(number).await;
            sender.sandbox.set_faults(faults.parse().unwrap());
            let first = sender.send(&draft).await;
            sender.sandbox.set_faults(FaultRates::default());
            these.push(sender.settle(&draft, first).await);
        }
        print(what, &these);
        all.extend(these);
    }
    all.extend(sender.killed(&settings, KILLED / one_in).await);
    let count = |is: fn(&Sent) -> bool| all.iter().filter(|one| is(one)).count();
    let twice = count(|one| one.delivered > 1);
    let untrue = count(|one| one.reported.is_some_and(|reported| reported != one.delivered));
    println!(
        "\n{} messages: {} delivered once, {} not at all, {twice} twice or more; final answers that \
         are not true: {untrue}; left unknown: {}",
        all.len(),
        count(|one| one.delivered == 1),
        count(|one| one.delivered == 0),
        count(|one| one.reported.is_none()),
    );
    assert_eq!((twice, untrue), (0, 0));
}

/// The result of one message.
struct Sent {
    /// The first and the last answer.
    answers: String,
    /// Deliveries by the last answer; `None` if it is unknown.
    reported: Option<usize>,
    delivered: usize,
}

fn print(what: &str, sent: &[Sent]) {
    let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
    sent.iter().for_each(|one| *alike.entry(&one.answers).or_default() += 1);
    let answers = alike.iter().map(|(answers, count)| format!("{count} {answers}"));
    println!("| {what} | {} | {} |", sent.len(), answers.collect::<Vec<_>>().join(", "));
}

/// A sending pipeline, as in a server.
struct Sender {
    app: App,
    pipeline: Pipeline,
    sandbox: Sandbox,
}

impl Sender {
    fn new(settings: &Settings, sandbox: Sandbox) -> Self {
        let app = App::new(common::config(settings));
        let (store, accounts) = (app.store().clone(), app.accounts.clone());
        let pipeline = Pipeline::new(app.config.clone(), store, accounts, app.connect.clone())
            .with_send_recovery(LOOK, OPEN);
        Self { app, pipeline, sandbox }
    }

    /// Creates a draft, at the two providers in turn, and returns its handle.
    async fn draft(&self, number: usize) -> String {
        let account = [GMAIL, OUTLOOK][number % 2];
        let arguments = json!({"account": account, "to": [RECIPIENT], "subject": "Proof", "body": "The proof."});
        let answer = common::call(&self.pipeline, "mail_draft", &arguments).await;
        let line = answer.lines().find_map(|line| line.strip_prefix("draft: "));
        line.unwrap_or_else(|| panic!("no draft in {answer}")).to_owned()
    }

    /// Sends a draft and returns the word of the outcome.
    async fn send(&self, draft: &str) -> String {
        let answer = common::call(&self.pipeline, "mail_send", &json!({"id": draft})).await;
        let row = answer.lines().find(|line| line.contains("|send|"));
        let row = row.unwrap_or_else(|| panic!("no outcome in {answer}"));
        row.split('|').nth(2).unwrap().to_owned()
    }

    /// Repeats the send until the outcome is known, and compares it with the delivered messages.
    async fn settle(&self, draft: &str, first: String) -> Sent {
        let mut last = first.clone();
        if first == "unknown" || first == "killed" {
            tokio::time::sleep(OPEN + Duration::from_millis(50)).await;
            // A process that was killed before it began to send has noted nothing: calling again
            // would send the message.
            last = match self.noted(draft).await {
                NOTHING => "not sent".to_owned(),
                _ => self.send(draft).await,
            };
        }
        let id = self.message_id(draft);
        let delivered = id.map_or(0, |id| self.sandbox.labels_of(RECIPIENT, &id).len());
        let reported = match last.as_str() {
            "sent" | "already sent" => Some(1),
            "not sent" => Some(0),
            _ => None,
        };
        Sent { answers: format!("{first} → {last}"), reported, delivered }
    }

    /// Returns the Message-ID that the audit log has of a draft.
    fn message_id(&self, draft: &str) -> Option<String> {
        let log =
            std::fs::read_to_string(self.app.config.home.join("audit.jsonl")).unwrap_or_default();
        let lines = log.lines().rev();
        let mut values = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let ids = values.find_map(|line| {
            let ids = line["ids"].as_array()?.clone();
            (line["tool"] == "mail_send" && ids.first()? == draft && ids.len() == 2).then_some(ids)
        })?;
        Some(ids[1].as_str()?.to_owned())
    }

    /// Returns the journal's state of a draft.
    async fn noted(&self, draft: &str) -> &'static str {
        let (kind, number) = HandleKind::parse(draft).unwrap();
        let (account, id) = self.app.store().resolve(kind, number).await.unwrap().unwrap();
        match self.app.store().journalled(&account, &id.into()).await.unwrap() {
            None => NOTHING,
            Some(row) if row.sent => "the journal says sent",
            Some(_) => "the journal says sending",
        }
    }

    /// Kills sending processes at moments that are spread over all that one process does.
    async fn killed(&self, settings: &Settings, count: usize) -> Vec<Sent> {
        let (mut sent, mut moments) = (Vec::new(), BTreeMap::<&str, usize>::new());
        let draft = self.draft(0).await;
        let (_, whole) = timed(|| process(settings, &draft).status().unwrap());
        for number in 0..count {
            let draft = self.draft(number).await;
            self.sandbox.set_faults("delay=15ms".parse().unwrap());
            let mut child = process(settings, &draft).spawn().unwrap();
            let part = 0.3 + 0.8 * number as f64 / count as f64;
            std::thread::sleep(Duration::from_secs_f64((whole + 60.0) / 1e3 * part));
            // It may have ended by itself.
            let _ = child.kill();
            child.wait().unwrap();
            self.sandbox.set_faults(FaultRates::default());
            *moments.entry(self.noted(&draft).await).or_default() += 1;
            sent.push(self.settle(&draft, "killed".to_owned()).await);
        }
        print("the process is killed (`kill -9`)", &sent);
        for (moment, count) in moments {
            println!("| … when {moment} | {count} | |");
        }
        sent
    }
}

const NOTHING: &str = "the journal has nothing yet";

fn process(settings: &Settings, draft: &str) -> Command {
    let mut command = common::process(settings, &["call", "mail_send", &format!("id={draft}")]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}
