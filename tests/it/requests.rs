//! The cost of calls: requests to the provider, the number of sequential steps, the bytes received,
//! and the tokens of the answer.
//!
//! Each task is the first of its session, except for calls that it depends on. The sandbox holds
//! back every response until the whole process waits. The requests that arrive until then are one
//! step, because none of them depends on another's response.
//!
//! The figures are committed as `docs/reference/requests.md`. Lower figures are rewritten; a task
//! with more requests, steps, bytes or tokens than before fails.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use daysheet::cli::sandboxed::SandboxUser;
use daysheet::tools::TOOLS;
use daysheet_core::budget::count::tokens;
use daysheet_sandbox::{AnswerObserver, ApiExchange};
use serde_json::Value;
use tokio::sync::watch;

use crate::answers::{Step, filled, remembered};
use crate::generated::{path, stale};
use crate::support::{ME, Session};

/// The page of all figures.
const PAGE: &str = "docs/reference/requests.md";
/// The sample's private mailbox at each provider.
const PROVIDERS: [(&str, SandboxUser); 2] = [
    ("Gmail", SandboxUser::These(&[("google", ME)])),
    ("Outlook", SandboxUser::These(&[("microsoft", ME)])),
];
/// The minimum and the maximum time after a request at which a step ends. Both are multiplied by
/// the patience, which doubles whenever a task is measured again.
const QUIET: Duration = Duration::from_millis(25);
const SILENT: Duration = Duration::from_millis(300);
/// The number of repeated measurements of a task that costs more than before.
const TRIES: u32 = 5;
/// The number of consecutive rounds in which every thread must wait.
const ROUNDS: usize = 4;
/// The relative tolerance for bytes and tokens, which vary between runs.
const SAME: f64 = 0.03;
const TEN: Step = ("mail_search", r#"{"folder": "inbox", "limit": 10}"#, &[]);
const FIRST: Step =
    ("mail_search", r#"{"folder": "inbox", "limit": 1}"#, &[("first", "/messages/0/id")]);
const THREAD: Step = (
    "mail_search",
    r#"{"by": "thread", "q": "subject:\"Lantern walk\"", "limit": 1}"#,
    &[("thread", "/threads/0/id")],
);
const FILES: Step =
    ("mail_search", r#"{"q": "has:attachment", "limit": 1}"#, &[("files", "/messages/0/id")]);
const TWENTY: Step = ("mail_search", r#"{"q": "is:read", "limit": 20}"#, &[]);
const DRAFT: Step = (
    "mail_draft",
    r#"{"to": ["jonas@example.com"], "subject": "Lamps", "body": "They are lit."}"#,
    &[("draft", "/draft")],
);
const EVENT: Step = (
    "calendar_save",
    r#"{"events": [{"title": "Kiln", "start": "2026-12-16 13h15", "duration": "1h"}]}"#,
    &[("event", "/events/0/id")],
);

/// A task, the calls before it, the tool, and its arguments.
const TASKS: &[(&str, &[Step], &str, &str)] = &cases! {
    "ten messages", &[], "mail_search", r#"{"folder": "inbox", "limit": 10}"#;
    "ten messages once more", &[TEN], "mail_search", r#"{"folder": "inbox", "limit": 10}"#;
    "messages by words", &[], "mail_search", r#"{"q": "invoice", "limit": 10}"#;
    "ten threads", &[], "mail_search", r#"{"by": "thread", "limit": 10}"#;
    "a message", &[FIRST], "mail_read", r#"{"ids": ["$first"]}"#;
    "a thread", &[TEN, THREAD], "mail_read", r#"{"ids": ["$thread"]}"#;
    "ten messages read", &[TEN], "mail_read",
        r#"{"ids": ["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"]}"#;
    "files of a message", &[FILES], "mail_attachment", r#"{"ids": ["$files"], "as": "list"}"#;
    "a new draft", &[], "mail_draft",
        r#"{"to": ["jonas@example.com"], "subject": "Lamps", "body": "They are lit."}"#;
    "a reply draft", &[FIRST], "mail_draft",
        r#"{"mode": "reply", "id": "$first", "body": "Yes."}"#;
    "a forward draft", &[FIRST], "mail_draft",
        r#"{"mode": "forward", "id": "$first", "to": ["jonas@example.com"], "body": "See."}"#;
    "a draft edited", &[DRAFT], "mail_draft",
        r#"{"mode": "edit", "id": "$draft", "subject": "Lamps, lit"}"#;
    "a draft discarded", &[DRAFT], "mail_draft", r#"{"mode": "discard", "id": "$draft"}"#;
    "a draft sent", &[DRAFT], "mail_send", r#"{"id": "$draft"}"#;
    "twenty marked unread", &[TWENTY], "mail_modify",
        r#"{"ids": ["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12",
            "m13", "m14", "m15", "m16", "m17", "m18", "m19", "m20"], "do": "unread"}"#;
    "a message archived", &[FIRST], "mail_modify", r#"{"ids": ["$first"], "do": "archive"}"#;
    "unread messages marked read", &[], "mail_modify", r#"{"q": "is:unread", "do": "read"}"#;
    "folders", &[], "lookup", r#"{"kind": "folders"}"#;
    "folders once more", &[("lookup", r#"{"kind": "folders"}"#, &[])], "lookup",
        r#"{"kind": "folders"}"#;
    "names of folders", &[], "lookup", r#"{"kind": "folders", "fields": ["name"]}"#;
    "labels", &[], "lookup", r#"{"kind": "labels"}"#;
    "calendars", &[], "lookup", r#"{"kind": "calendars"}"#;
    "contacts by name", &[], "lookup", r#"{"kind": "contacts", "q": "an"}"#;
    "people by address", &[], "lookup",
        r#"{"kind": "contacts", "emails": ["priya@example.com"]}"#;
    "aliases", &[], "lookup", r#"{"kind": "aliases"}"#;
    "rules", &[], "lookup", r#"{"kind": "rules"}"#;
    "settings", &[], "lookup", r#"{"kind": "settings"}"#;
    "automatic reply", &[], "lookup", r#"{"kind": "auto_reply"}"#;
    "signatures", &[], "lookup", r#"{"kind": "signatures"}"#;
    "a week of events", &[], "calendar_search", r#"{"from": "2026-11-16", "to": "2026-11-22"}"#;
    "an event", &[EVENT], "calendar_search", r#"{"ids": ["$event"]}"#;
    "own free times", &[], "calendar_free", r#"{"from": "2026-11-16", "to": "2026-11-20"}"#;
    "free times of two", &[], "calendar_free",
        r#"{"who": ["mira@example.com", "jonas@example.com"], "from": "2026-11-16",
            "to": "2026-11-20"}"#;
    "an event created", &[], "calendar_save",
        r#"{"events": [{"title": "Kiln", "start": "2026-12-16 13h15", "duration": "1h"}]}"#;
    "an event moved", &[EVENT], "calendar_save",
        r#"{"id": "$event", "events": [{"start": "2026-12-16 15h00", "duration": "1h"}]}"#;
    "an event deleted", &[EVENT], "calendar_delete", r#"{"id": "$event"}"#;
    "an invitation accepted",
        &[("calendar_search", r#"{"from": "2026-11-16", "to": "2026-11-17", "q": "Box check"}"#,
            &[("event", "/events/0/id")])],
        "calendar_respond", r#"{"id": "$event", "response": "accept"}"#;
    "a contact created", &[], "manage",
        r#"{"kind": "contact", "op": "create", "set": {"name": "Ina", "emails": "ina@x.example"}}"#;
    "a folder created", &[], "manage", r#"{"kind": "folder", "op": "create", "name": "Kilns"}"#;
    "what is new, from now on", &[], "changes", r"{}";
    "what is new", &[("changes", r"{}", &[("seen", "/next")])], "changes",
        r#"{"cursor": "$seen"}"#;
    "a day", &[], "brief", r#"{"from": "2026-11-16"}"#;
    "an output read on",
        &[THREAD, ("mail_read", r#"{"ids": ["$thread"], "budget": 700}"#,
            &[("output", "output_read id=")])],
        "output_read", r#"{"id": "$output"}"#;
    "accounts", &[], "accounts", r#"{"op": "list"}"#;
};

/// The cost of a call at one provider.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cost {
    requests: usize,
    steps: usize,
    kilobytes: f64,
    tokens: f64,
}

impl Cost {
    fn of((steps, tokens): &(Vec<Vec<ApiExchange>>, usize)) -> Self {
        let exchanges = || steps.iter().flatten();
        let bytes: usize = exchanges().map(|one| one.answer).sum();
        let kilobytes = (bytes as f64 / 100.0).round() / 10.0;
        let (requests, steps) = (exchanges().count(), steps.len());
        Self { requests, steps, kilobytes, tokens: *tokens as f64 }
    }

    /// Reads a cost from four cells of a committed row.
    fn read(cells: &[&str]) -> Option<Self> {
        let [requests, steps, kilobytes, tokens] = cells else {
            return None;
        };
        Some(Self {
            requests: requests.parse().ok()?,
            steps: steps.parse().ok()?,
            kilobytes: kilobytes.parse().ok()?,
            tokens: tokens.parse().ok()?,
        })
    }

    /// Returns this cost, with the committed bytes and tokens if they are within the tolerance.
    fn settled(self, committed: Self) -> Self {
        let settle = |now: f64, before: f64, least: f64| {
            if (now - before).abs() <= (before * SAME).max(least) { before } else { now }
        };
        Self {
            kilobytes: settle(self.kilobytes, committed.kilobytes, 0.2),
            tokens: settle(self.tokens, committed.tokens, 2.0),
            ..self
        }
    }

    fn is_more_than(self, committed: Self) -> bool {
        let now = self.settled(committed);
        now.requests > committed.requests
            || now.steps > committed.steps
            || now.kilobytes > committed.kilobytes
            || now.tokens > committed.tokens
    }
}

/// The requests of a call, by steps.
struct Steps {
    patience: u32,
    seen: Mutex<Seen>,
    /// The number of answered steps.
    answered: watch::Sender<usize>,
}

struct Seen {
    steps: Vec<Vec<ApiExchange>>,
    last: Instant,
}

impl Steps {
    /// Starts holding back the responses of a sandbox.
    fn of(session: &Session, patience: u32) -> Arc<Self> {
        let seen = Mutex::new(Seen { steps: Vec::new(), last: Instant::now() });
        let steps = Arc::new(Self { patience, seen, answered: watch::Sender::new(0) });
        let known = steps.clone();
        session.sandbox.set_observer(Some(AnswerObserver::new(move |exchange| {
            let mut answered = known.answered.subscribe();
            let step = known.add(exchange);
            Box::pin(async move {
                // If the counter was dropped, the response is sent at once.
                let _ = answered.wait_for(|answered| *answered > step).await;
            })
        })));
        let weak = Arc::downgrade(&steps);
        std::thread::spawn(move || {
            let mut rounds = 0;
            while let Some(steps) = weak.upgrade() {
                rounds = if others_wait() { rounds + 1 } else { 0 };
                steps.answer(rounds >= ROUNDS);
                drop(steps);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        steps
    }

    /// Adds a request to the current step; returns the step's number.
    fn add(&self, exchange: ApiExchange) -> usize {
        let mut seen = self.seen.lock().unwrap();
        seen.last = Instant::now();
        let step = *self.answered.borrow();
        seen.steps.resize_with(step + 1, Vec::new);
        seen.steps[step].push(exchange);
        step
    }

    /// Answers the current step if no further request can belong to it.
    fn answer(&self, idle: bool) {
        let seen = self.seen.lock().unwrap();
        let quiet = seen.last.elapsed();
        let begun = seen.steps.len() > *self.answered.borrow();
        let (least, most) = (QUIET * self.patience, SILENT * self.patience);
        if begun && quiet >= least && (idle || quiet >= most) {
            self.answered.send_modify(|answered| *answered += 1);
        }
    }

    fn take(&self) -> Vec<Vec<ApiExchange>> {
        std::mem::take(&mut self.seen.lock().unwrap().steps)
    }
}

/// Returns true if every other thread of this process waits. If that cannot be determined, only the
/// time decides.
fn others_wait() -> bool {
    let waits = || {
        let own = std::fs::read_link("/proc/thread-self").ok()?;
        for task in std::fs::read_dir("/proc/self/task").ok()? {
            let task = task.ok()?;
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            let state = stat.rsplit(')').next()?.trim_start().chars().next();
            if state.is_some_and(|state| matches!(state, 'R' | 'D'))
                && Some(&*task.file_name()) != own.file_name()
            {
                return None;
            }
        }
        Some(())
    };
    waits().is_some()
}

/// Returns a request as the page shows it: its path below the API, with `…` for ids.
fn shown(method: &str, path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let bases = ["/upload", "/gmail/v1/users/me", "/calendar/v3", "/v1.0", "/v1"];
    let path = bases.iter().fold(path, |path, base| path.strip_prefix(base).unwrap_or(path));
    let path = path.strip_prefix("/me").filter(|rest| rest.starts_with('/')).unwrap_or(path);
    let is_id = |part: &&str| {
        part.len() > 20 || part.contains(['%', '@', '=']) || {
            part.bytes().any(|byte| byte.is_ascii_digit())
        }
    };
    let parts = path.split('/').map(|part| if is_id(&part) { "…" } else { part });
    format!("{method} {}", parts.collect::<Vec<_>>().join("/"))
}

/// Returns a step as the page shows it: its requests with their numbers.
fn line(step: &[ApiExchange]) -> String {
    let mut requests: Vec<(String, usize)> = Vec::new();
    for one in step {
        let mut request = shown(one.method.as_str(), &one.path);
        if request.ends_with("$batch") {
            let body: Value = serde_json::from_slice(&one.body).unwrap_or_default();
            let parts = body["requests"].as_array().into_iter().flatten();
            let part = |part: &Value| {
                shown(part["method"].as_str().unwrap(), part["url"].as_str().unwrap())
            };
            let mut parts: Vec<String> = parts.map(part).collect();
            parts.sort_unstable();
            let count = parts.len();
            parts.dedup();
            request = format!("$batch of {count}: {}", parts.join(" + "));
        }
        match requests.iter_mut().find(|(known, _)| *known == request) {
            Some((_, count)) => *count += 1,
            None => requests.push((request, 1)),
        }
    }
    requests.sort_unstable();
    let times = |(request, count): (String, usize)| match count {
        1 => format!("`{request}`"),
        count => format!("{count} × `{request}`"),
    };
    requests.into_iter().map(times).collect::<Vec<_>>().join(", ")
}

/// Counts each request in the lines of steps.
fn made(lines: &str) -> BTreeMap<&str, usize> {
    let mut requests = BTreeMap::new();
    let steps = lines.lines().filter_map(|line| line.split_once(": "));
    for request in steps.flat_map(|(_, step)| step.split(", ")) {
        let (count, request) = request.split_once(" × ").unwrap_or(("1", request));
        *requests.entry(request).or_default() += count.parse::<usize>().unwrap();
    }
    requests
}

/// Returns the steps of a task in the committed page.
fn steps_of(page: &str, name: &str, provider: &str) -> String {
    let lines = page.lines().skip_while(|line| !line.starts_with(&format!("**{name}**: ")));
    let lines = lines.skip(2).take_while(|line| !line.is_empty());
    let of = format!("- {provider} ");
    lines.filter(|line| line.starts_with(&of)).map(|line| format!("{line}\n")).collect()
}

/// Carries out a task in its own session; returns its requests by steps, and the tokens of its
/// answer.
async fn measured(
    (task, before, tool, arguments): (&str, &[Step], &str, &str),
    who: SandboxUser,
    patience: u32,
) -> (Vec<Vec<ApiExchange>>, usize) {
    let mut session = Session::written(who).await;
    let mut known = HashMap::new();
    for (tool, arguments, remember) in before {
        let mut call = filled(arguments, &known);
        call["format"] = "json".into();
        let blocks = session.ok(tool, call).await;
        let document = serde_json::from_str(&blocks[0]).unwrap();
        let missing = remembered(&document, &blocks, remember, &mut known);
        assert!(missing.is_empty(), "{task}: no {missing:?} in {blocks:?}");
    }
    let steps = Steps::of(&session, patience);
    let answer = session.ok(tool, filled(arguments, &known)).await;
    session.sandbox.set_observer(None);
    (steps.take(), answer.iter().map(|block| tokens(block)).sum())
}

/// Returns the figures of the committed page, by task.
fn committed(page: &str) -> HashMap<String, Vec<Option<Cost>>> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let row = |row: &str| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let costs = cells.get(2..)?.chunks(4).map(Cost::read).collect();
        Some((cells[0].to_owned(), costs))
    };
    rows.filter_map(row).collect()
}

#[tokio::test]
async fn no_call_costs_more_than_it_did() {
    let page = std::fs::read_to_string(path(PAGE)).unwrap_or_default();
    let committed = committed(&page);
    let mut grown = Vec::new();
    let (mut figures, mut details) = (String::new(), String::new());
    for task in TASKS {
        let (name, _, tool, arguments) = task;
        let words = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
        write!(figures, "| {name} | `{tool}` |").unwrap();
        write!(details, "\n**{name}**: `{tool} {words}`\n\n").unwrap();
        for (at, (provider, who)) in PROVIDERS.into_iter().enumerate() {
            let before = committed.get(*name).and_then(|costs| *costs.get(at)?);
            let mut measure = Box::pin(measured(*task, who, 1)).await;
            // On a busy machine a step may be answered too soon and be counted as two.
            for number in 1..=TRIES {
                if before.is_some_and(|before| Cost::of(&measure).is_more_than(before)) {
                    measure = Box::pin(measured(*task, who, 1 << number)).await;
                }
            }
            let mut cost = Cost::of(&measure);
            if let Some(before) = before {
                if cost.is_more_than(before) {
                    let steps = &measure.0;
                    grown
                        .push(format!("{name}, {provider}: {before:?} is now {cost:?}: {steps:?}"));
                }
                cost = cost.settled(before);
            }
            let Cost { requests, steps: count, kilobytes, tokens } = cost;
            write!(figures, " {requests} | {count} | {kilobytes:.1} | {tokens} |").unwrap();
            let mut lines = String::new();
            for (at, step) in measure.0.iter().enumerate() {
                writeln!(lines, "- {provider} {}: {}", at + 1, line(step)).unwrap();
            }
            // If a service limits parallel requests, the request that waits differs between runs.
            let known = steps_of(&page, name, provider);
            let same = Some(count) == before.map(|before| before.steps);
            details += if same && made(&known) == made(&lines) { &known } else { &lines };
        }
        figures.push('\n');
    }
    assert!(
        grown.is_empty(),
        "if more is meant, remove the task from {PAGE} and run this again:\n{}",
        grown.join("\n")
    );
    let list = tokens(&serde_json::json!({"tools": daysheet::server::list()}).to_string());
    let page = format!(
        "{HEAD}`tools/list` has {list} tokens.\n\n{COLUMNS}{figures}\n## Step by step\n{details}"
    );
    let problem = stale(PAGE, page);
    assert!(problem.is_none(), "{problem:?}");
    for tool in TOOLS {
        assert!(TASKS.iter().any(|(_, _, called, _)| *called == tool.name), "{}", tool.name);
    }
}

/// The beginning of the page.
const HEAD: &str = "\
# Requests

What each task costs over the sample mailbox of the sandbox: requests to the provider, steps, \
kilobytes of its answers before they are compressed, and the tokens (o200k) of ours. The requests \
of one step do not wait for each other, so a task takes about as long as its steps. Each is the \
first of its session; what has to be known before, such as the id of a message, was asked for by \
another call.
This page is generated by `tests/it/requests.rs`. It may only become shorter: a task that costs \
more than it says fails the test.

";
/// The heading of the table.
const COLUMNS: &str = "\
| task | tool | Gmail requests | steps | kB | tokens | Outlook requests | steps | kB | tokens |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|
";
