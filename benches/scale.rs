//! The cost of calls as mailboxes, accounts, calendars and sessions grow.
//!
//! `cargo bench --bench scale` runs the sandbox with generated mailboxes and calendars in this
//! process and calls its own `daysheet serve`: the newest page, a search with twenty results, the
//! brief of the day, a week of events, the first `changes` and the one after ten new messages.
//! Messages are ten minutes apart and events an hour, so a day or a week holds the same however
//! long the history is. It counts requests and response bytes, which are the same in each run, and
//! measures the CPU time and peak memory of our process; wall-clock time includes the sandbox,
//! which searches linearly. The last table is one session over the sample mailboxes: alternating
//! reads and writes, and the memory of our process during it.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use daysheet_core::budget::count::tokens;
use daysheet_core::clock::Clock;
use daysheet_sandbox::{AnswerObserver, Sandbox, SandboxOptions};
use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};

use served::Server;

mod served;

/// The number of calls of which the median is reported.
const ROUNDS: usize = 5;
/// Messages between two calls of `changes`.
const NEW: usize = 10;
/// Results of the search.
const FOUND: usize = 20;
/// Calendars of one mailbox.
const CALENDARS: usize = 4;

const BOTH: [&str; 2] = ["google", "microsoft"];

/// Calls of the session, after which its memory is measured.
const SESSION: [usize; 6] = [20, 200, 500, 1_000, 1_500, 2_000];

/// One round of the session: tools and their arguments. `$number` is the number of the round,
/// `$account` one of the two accounts, and `$draft`, `$event`, `$cursor` and `$output` are the
/// values most recently returned by answers.
const ROUND: [(&str, &str); 20] = [
    ("mail_search", r#"{"limit": 10}"#),
    ("mail_search", r#"{"q": "lamp or word$number"}"#),
    ("mail_search", r#"{"by": "thread", "limit": 5, "format": "json"}"#),
    ("mail_read", r#"{"ids": ["m1"]}"#),
    ("mail_read", r#"{"ids": ["m2", "m3", "m4"], "body": "none"}"#),
    (
        "mail_draft",
        r#"{"to": "cy@example.com", "subject": "Draft $number", "body": "x", "account": "$account"}"#,
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
        r#"{"events": [{"title": "Round $number", "start": "2027-01-04 10h00"}], "account": "$account"}"#,
    ),
    ("calendar_save", r#"{"ids": ["$event"], "events": [{"where": "Room $number"}]}"#),
    ("calendar_delete", r#"{"id": "$event"}"#),
    ("brief", r#"{"from": "2026-11-16"}"#),
    ("output_read", r#"{"id": "$output"}"#),
    ("changes", r#"{"cursor": "$cursor"}"#),
];

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for (provider, name) in [("google", "Gmail"), ("microsoft", "Outlook")] {
        println!("\n### One mailbox grows, {name}\n");
        heading("messages");
        for messages in [1_000, 10_000, 100_000] {
            Setting { messages, events: 200, accounts: &[provider] }.measure(messages).await;
        }
    }
    println!("\n### More accounts of 1,000 messages, half of them at each provider\n");
    heading("accounts");
    for accounts in [1, 10, 50] {
        let providers: Vec<&str> = BOTH.into_iter().cycle().take(accounts).collect();
        Setting { messages: 1_000, events: 200, accounts: &providers }.measure(accounts).await;
    }
    for (provider, name) in [("google", "Google"), ("microsoft", "Outlook")] {
        println!("\n### The calendars grow, {name}\n");
        heading("events");
        for events in [500, 5_000, 20_000] {
            Setting { messages: 1_000, events, accounts: &[provider] }.measure(events).await;
        }
    }
    println!("\n### One session\n\n| calls | MB | MB of its own | open files |");
    println!("|---:|---:|---:|---:|");
    session().await;
}

/// Makes the calls of one session and prints the memory of its process after some of them.
async fn session() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::start(SandboxOptions::new(Clock::system())).await.unwrap();
    let settings = served::settings(sandbox.base(), home.path());
    let addresses = sandbox.addresses();
    let accounts: Vec<(&str, &str)> =
        BOTH.into_iter().zip(addresses.iter().map(String::as_str)).collect();
    served::sign_in(&settings, &accounts).await;
    let mut server = Server::start(&settings);
    let first = server.call("changes", &json!({})).join("\n");
    let mut named = BTreeMap::from([("$cursor", cursor(&first))]);
    for call in 0..SESSION[SESSION.len() - 1] {
        let (round, (tool, arguments)) = (call / ROUND.len(), ROUND[call % ROUND.len()]);
        let mut arguments = arguments
            .replace("$number", &round.to_string())
            .replace("$account", accounts[round % accounts.len()].1);
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
            let (all, own) = server.memory().unwrap_or_default();
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

fn heading(what: &str) {
    println!("| {what} | call | requests | kB | tokens | ms | ms of ours | MB |");
    println!("|---:|---|---:|---:|---:|---:|---:|---:|");
}

/// One size.
struct Setting<'a> {
    /// In each mailbox.
    messages: usize,
    /// In the calendars of each mailbox.
    events: usize,
    /// The provider of each account.
    accounts: &'a [&'a str],
}

impl Setting<'_> {
    /// Prints a row for each call.
    async fn measure(&self, size: usize) {
        let folder = tempfile::tempdir().unwrap();
        let addresses: Vec<String> =
            (0..self.accounts.len()).map(|number| format!("a{number}@example.com")).collect();
        for address in &addresses {
            mail(&folder.path().join("mail").join(address), address, self.messages);
            calendars(&folder.path().join("calendar").join(address), address, self.events);
        }
        let options = SandboxOptions {
            mail: Some(folder.path().join("mail")),
            calendar: Some(folder.path().join("calendar")),
            ..SandboxOptions::new(Clock::system())
        };
        let sandbox = Sandbox::start(options).await.unwrap();
        assert_eq!(sandbox.report().messages, self.messages * addresses.len());
        let settings = served::settings(sandbox.base(), &folder.path().join("home"));
        let pairs = self.accounts.iter().copied().zip(addresses.iter().map(String::as_str));
        served::sign_in(&settings, &pairs.collect::<Vec<_>>()).await;

        let bytes = Arc::new(AtomicUsize::new(0));
        let counted = bytes.clone();
        sandbox.set_observer(Some(AnswerObserver::new(move |exchange| {
            counted.fetch_add(exchange.answer, Ordering::Relaxed);
            Box::pin(std::future::ready(()))
        })));
        let mut at =
            Measured { size, sandbox: &sandbox, bytes: &bytes, server: Server::start(&settings) };
        let today = Clock::system().now().to_zoned(jiff::tz::TimeZone::UTC).date();
        let week =
            json!({"from": today.to_string(), "to": (today + 6.days()).to_string(), "limit": 100});
        at.row("newest 20, new process", 1, "mail_search", &json!({}));
        at.row("newest 20", ROUNDS, "mail_search", &json!({}));
        at.row("search with 20 results", ROUNDS, "mail_search", &json!({"q": "subject:needle"}));
        at.row("week of events", ROUNDS, "calendar_search", &week);
        at.row("brief of the day", ROUNDS, "brief", &json!({}));
        let first = at.row("changes, first", 1, "changes", &json!({}));
        let cursor = cursor(&first);
        for number in 0..NEW {
            let address = &addresses[number % addresses.len()];
            assert!(
                sandbox
                    .deliver(address, message(address, 1_000_000 + number, None).as_bytes())
                    .unwrap()
            );
        }
        let changes = at.row("changes, 10 new", 1, "changes", &json!({"cursor": cursor}));
        assert_eq!(changes.matches("Proof 1000").count(), NEW, "{changes}");
        at.server.end();
    }
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
            let (begun, worked) = (Instant::now(), self.server.worked());
            answer = self.server.call(tool, arguments).join("\n");
            clock.push(begun.elapsed());
            own.extend(
                self.server.worked().zip(worked).map(|(now, then)| now.saturating_sub(then)),
            );
        }
        clock.sort();
        own.sort();
        let ms = |times: &[std::time::Duration]| match times.get(times.len() / 2) {
            Some(time) => format!("{:.1}", time.as_secs_f64() * 1e3),
            None => String::new(),
        };
        let each = |sum: f64| sum / rounds as f64;
        println!(
            "| {} | {what} | {:.0} | {:.1} | {} | {} | {} | {} |",
            self.size,
            each((self.sandbox.requests() - requests) as f64),
            each((self.bytes.load(Ordering::Relaxed) - bytes) as f64) / 1e3,
            tokens(&answer),
            ms(&clock),
            ms(&own),
            self.server.most_memory().map_or(String::new(), |most| format!("{most:.1}")),
        );
        answer
    }
}

/// One message; without a date it comes now.
fn message(owner: &str, number: usize, date: Option<&str>) -> String {
    let date = date.map_or_else(String::new, |date| format!("Date: {date}\n"));
    format!(
        "From: Sender {0} <sender{0}@example.org>\nTo: {owner}\nDelivered-To: {owner}\n\
         Subject: Proof {number}\n{date}Message-ID: <{number}.{owner}>\n",
        number % 97
    )
}

/// Messages that are ten minutes apart, the newest of them ten minutes old; every twentieth is
/// unread, and a few that are spread over all of them are for the search.
fn mail(folder: &Path, owner: &str, count: usize) {
    std::fs::create_dir_all(folder).unwrap();
    let now = Clock::system().now();
    let mut text = String::new();
    for number in 0..count {
        let back = i64::try_from(count - number).unwrap() * 600;
        let date = Timestamp::from_second(now.as_second() - back).unwrap();
        let date = date.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string();
        let mut head = message(owner, number, Some(&date));
        if number % (count / FOUND) == 0 {
            head = head.replace("Subject: ", "Subject: Needle, ");
        }
        let state = if number % 20 == 0 { "Unread" } else { "Opened" };
        let _ = write!(
            text,
            "From sender@example.org Tue Feb 03 18:05:00 2026\n{head}X-Gmail-Labels: Inbox,{state}\n\n\
             The proof {number} for the autumn catalogue is here. Could you look at page three?\n\n"
        );
    }
    std::fs::write(folder.join("all.mbox"), text).unwrap();
}

/// Events that are an hour apart, half of them past, in several calendars in turn.
fn calendars(folder: &Path, owner: &str, count: usize) {
    std::fs::create_dir_all(folder).unwrap();
    let begin = Clock::system().now().as_second() / 3_600 * 3_600
        - i64::try_from(count / 2).unwrap() * 3_600;
    for calendar in 0..CALENDARS {
        let mut text = String::from("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\n");
        for number in (calendar..count).step_by(CALENDARS) {
            let start = begin + i64::try_from(number).unwrap() * 3_600;
            let time = |second| Timestamp::from_second(second).unwrap().strftime("%Y%m%dT%H%M%SZ");
            let _ = write!(
                text,
                "BEGIN:VEVENT\r\nUID:{number}-{owner}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:{}\r\n\
                 DTEND:{}\r\nSUMMARY:Round {number}\r\nLOCATION:Room {calendar}\r\n\
                 ORGANIZER:mailto:{owner}\r\nATTENDEE;PARTSTAT=ACCEPTED:mailto:cy@example.com\r\n\
                 END:VEVENT\r\n",
                time(start),
                time(start + 2_700),
            );
        }
        text.push_str("END:VCALENDAR\r\n");
        let name =
            if calendar == 0 { "calendar.ics".into() } else { format!("side{calendar}.ics") };
        std::fs::write(folder.join(name), text).unwrap();
    }
}
