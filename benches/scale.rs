//! The cost of calls as mailboxes, accounts, calendars and sessions grow.
//!
//! Generated mailboxes and calendars are in a sandbox in this process; a `daysheet serve` is called.
//! A day or a week holds the same however long the history is. The last table is one session over
//! the sample mailboxes: alternating reads and writes, and the memory of the server during it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use daysheet_core::budget::count::tokens;
use daysheet_sandbox::{AnswerObserver, Sandbox};
use jiff::ToSpan as _;
use serde_json::{Value, json};

use crate::common::{self, heading, median, ms, timed};
use crate::server::Server;

const ABOUT: &str = "A `daysheet serve` of its own over generated mailboxes: messages ten minutes apart, \
    every twentieth unread; events an hour apart in four calendars. Requests and kB are those of the \
    providers' APIs, a request in a batch counted as one, before compression; they are exact. *ms of \
    ours* is the time of the server on a processor; *ms* includes the sandbox, which searches \
    linearly. *MB* is the most memory of the server up to that call. Both scales of the plots are \
    logarithmic: a level line is flat. *MB of its own* is the memory that no file is behind.";

/// The number of calls of which the median is reported.
const ROUNDS: usize = 5;
/// Messages between two calls of `changes`.
const NEW: usize = 10;

const BOTH: [&str; 2] = ["google", "microsoft"];

/// Calls of the session, after which its memory is measured.
const SESSION: [usize; 6] = [20, 200, 500, 1_000, 1_500, 2_000];

/// One round of the session: tools and their arguments. `$number` is the number of the round,
/// `$me` one of the two accounts, and `$draft`, `$event`, `$cursor` and `$output` are the
/// values most recently returned by answers.
const ROUND: [(&str, &str); 20] = [
    ("mail_search", r#"{"limit": 10}"#),
    ("mail_search", r#"{"q": "lamp or word$number"}"#),
    ("mail_search", r#"{"by": "thread", "limit": 5, "format": "json"}"#),
    ("mail_read", r#"{"ids": ["m1"]}"#),
    ("mail_read", r#"{"ids": ["m2", "m3", "m4"], "body": "none"}"#),
    (
        "mail_draft",
        r#"{"to": "cy@example.com", "subject": "$number", "body": "x", "account": "$me"}"#,
    ),
    ("mail_draft", r#"{"mode": "edit", "id": "$draft", "body": "y"}"#),
    ("mail_draft", r#"{"mode": "discard", "id": "$draft"}"#),
    ("mail_modify", r#"{"ids": ["m1", "m5"], "do": "unread"}"#),
    ("mail_modify", r#"{"ids": ["m1", "m5"], "do": "read"}"#),
    ("lookup", r#"{"kind": "folders"}"#),
    ("lookup", r#"{"kind": "contacts", "q": "henrike"}"#),
    ("calendar_search", r#"{"from": "2026-11-16", "to": "2026-11-22"}"#),
    ("calendar_free", r#"{"from": "2026-11-16", "to": "2026-11-20"}"#),
    (
        "calendar_save",
        r#"{"events": [{"title": "$number", "start": "2027-01-04 10h00"}], "account": "$me"}"#,
    ),
    ("calendar_save", r#"{"ids": ["$event"], "events": [{"where": "Room $number"}]}"#),
    ("calendar_delete", r#"{"id": "$event"}"#),
    ("brief", r#"{"from": "2026-11-16"}"#),
    ("output_read", r#"{"id": "$output"}"#),
    ("changes", r#"{"cursor": "$cursor"}"#),
];

pub async fn run() {
    println!("{ABOUT}");
    for (provider, name) in [("google", "Gmail"), ("microsoft", "Outlook")] {
        title(&format!("One mailbox grows, {name}"), "messages:");
        for messages in [1_000, 10_000, 100_000] {
            measure(messages, messages, 200, &[provider]).await;
        }
    }
    title("More accounts of 1,000 messages, half of them at each provider", "accounts:");
    for accounts in [1, 10, 50] {
        let providers: Vec<&str> = BOTH.into_iter().cycle().take(accounts).collect();
        measure(accounts, 1_000, 200, &providers).await;
    }
    for (provider, name) in [("google", "Google"), ("microsoft", "Outlook")] {
        title(&format!("The calendars grow, {name}"), "events:");
        for events in [500, 5_000, 20_000] {
            measure(events, 1_000, events, &[provider]).await;
        }
    }
    println!("\n### One session\n");
    heading(&["calls:", "MB:", "MB of its own:", "open files:"]);
    session().await;
}

/// Makes the calls of one session and prints the memory of its process after some of them.
async fn session() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = common::sandbox(home.path()).await;
    let addresses = sandbox.addresses();
    let accounts: Vec<(&str, &str)> =
        BOTH.into_iter().zip(addresses.iter().map(String::as_str)).collect();
    let mut server = Server::over(&sandbox, home.path(), &accounts).await;
    let first = server.call("changes", &json!({})).join("\n");
    let mut named = BTreeMap::from([("$cursor", cursor(&first))]);
    for call in 0..SESSION[SESSION.len() - 1] {
        let (round, (tool, arguments)) = (call / ROUND.len(), ROUND[call % ROUND.len()]);
        let mut arguments = arguments
            .replace("$number", &round.to_string())
            .replace("$me", accounts[round % accounts.len()].1);
        for (name, value) in &named {
            arguments = arguments.replace(name, value);
        }
        let answer = server.call(tool, &serde_json::from_str(&arguments).unwrap()).join("\n");
        match tool {
            "mail_draft" => drop(named.insert("$draft", handle(&answer, 'd'))),
            "calendar_save" => drop(named.insert("$event", handle(&answer, 'e'))),
            "changes" => drop(named.insert("$cursor", cursor(&answer))),
            "brief" => {
                let (_, id) = answer.split_once("output_read id=").unwrap();
                let id = id.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned();
                named.insert("$output", id);
            }
            _ => {}
        }
        if SESSION.contains(&(call + 1)) {
            let [all, own] = ["VmRSS", "RssAnon"].map(|line| server.memory(line).unwrap_or(0.0));
            println!("| {} | {all:.1} | {own:.1} | {} |", call + 1, server.files());
        }
    }
    server.end();
}

/// The cursor of the next `changes`.
fn cursor(answer: &str) -> String {
    answer.lines().find_map(|line| line.strip_prefix("next: ")).unwrap().to_owned()
}

/// The first handle of a kind in an answer.
fn handle(answer: &str, kind: char) -> String {
    let is = |word: &&str| word.strip_prefix(kind).is_some_and(|rest| rest.parse::<u32>().is_ok());
    let mut words = answer.split(|c: char| !c.is_alphanumeric());
    words.find(is).unwrap_or_else(|| panic!("no {kind}: {answer}")).to_owned()
}

fn title(title: &str, what: &str) {
    println!("\n### {title}\n");
    heading(&[what, "call", "requests:", "kB:", "tokens:", "ms:", "ms of ours:", "MB:"]);
}

/// Prints a row for each call with an account at each of these providers, each with so many messages
/// and events; `size` is the first cell.
async fn measure(size: usize, messages: usize, events: usize, providers: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let addresses: Vec<String> =
        (0..providers.len()).map(|number| format!("a{number}@example.com")).collect();
    for address in &addresses {
        common::mailbox(folder.path(), address, messages);
        common::calendars(folder.path(), address, events);
    }
    let sandbox = common::sandbox(folder.path()).await;
    assert_eq!(sandbox.report().messages, messages * addresses.len());
    let accounts = providers.iter().copied().zip(addresses.iter().map(String::as_str));
    let accounts: Vec<(&str, &str)> = accounts.collect();
    let server = Server::over(&sandbox, &folder.path().join("home"), &accounts).await;

    let bytes = Arc::new(AtomicUsize::new(0));
    let counted = bytes.clone();
    sandbox.set_observer(Some(AnswerObserver::new(move |exchange| {
        counted.fetch_add(exchange.answer, Ordering::Relaxed);
        Box::pin(std::future::ready(()))
    })));
    let mut at = Measured { size, sandbox: &sandbox, bytes: &bytes, server };
    let today = common::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let week =
        json!({"from": today.to_string(), "to": (today + 6.days()).to_string(), "limit": 100});
    at.row("newest 20, new process", 1, "mail_search", &json!({}));
    at.row("newest 20", ROUNDS, "mail_search", &json!({}));
    at.row("search with 20 results", ROUNDS, "mail_search", &json!({"q": "subject:needle"}));
    at.row("week of events", ROUNDS, "calendar_search", &week);
    at.row("brief of the day", ROUNDS, "brief", &json!({}));
    let cursor = cursor(&at.row("changes, first", 1, "changes", &json!({})));
    for number in 0..NEW {
        let address = &addresses[number % addresses.len()];
        let message = common::message(address, 1_000_000 + number, None);
        assert!(sandbox.deliver(address, message.as_bytes()).unwrap());
    }
    let changes = at.row("changes, 10 new", 1, "changes", &json!({"cursor": cursor}));
    assert_eq!(changes.matches("Proof 1000").count(), NEW, "{changes}");
    at.server.end();
}

/// The server under measurement and its sandbox.
struct Measured<'a> {
    size: usize,
    sandbox: &'a Sandbox,
    bytes: &'a AtomicUsize,
    server: Server,
}

impl Measured<'_> {
    /// Makes a call several times and prints its row; returns the last answer.
    fn row(&mut self, what: &str, rounds: usize, tool: &str, arguments: &Value) -> String {
        let (requests, bytes) = (self.sandbox.requests(), self.bytes.load(Ordering::Relaxed));
        let (mut clock, mut own, mut answer) = (Vec::new(), Vec::new(), String::new());
        for _ in 0..rounds {
            let worked = self.server.worked();
            let (texts, took) = timed(|| self.server.call(tool, arguments));
            answer = texts.join("\n");
            clock.push(took);
            own.extend(
                self.server.worked().zip(worked).map(|(now, then)| ms(now.saturating_sub(then))),
            );
        }
        let shown = |figure: Option<f64>| figure.map_or(String::new(), |one| format!("{one:.1}"));
        let each = |sum: f64| sum / rounds as f64;
        println!(
            "| {} | {what} | {:.0} | {:.1} | {} | {} | {} | {} |",
            self.size,
            each((self.sandbox.requests() - requests) as f64),
            each((self.bytes.load(Ordering::Relaxed) - bytes) as f64) / 1e3,
            tokens(&answer),
            shown(median(clock)),
            shown(median(own)),
            shown(self.server.memory("VmHWM")),
        );
        answer
    }
}
