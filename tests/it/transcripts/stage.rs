//! The stage of a transcript: the accounts with their mail and calendars, the program with its
//! client, and changes made outside the program.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use daysheet::cli::client::{ConfirmFn, InProcessClient, ToolAnswer};
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet_core::call::client::Confirmation;
use daysheet_core::clock::ManualClock;
use daysheet_sandbox::{AnswerAlteration, AnswerObserver, ApiExchange, FaultRates, Sandbox};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Transcript;
use super::mailbox::{self, unescaped};
use crate::common::clock;
use crate::support::{OtherInstallation, Session, add_members, config, write_message};

/// Accounts, by provider and address; `None` for the accounts of `--sandbox`.
pub type Accounts = Option<Vec<(&'static str, &'static str)>>;

/// The sandbox and the programs of a transcript.
pub struct Stage {
    session: Session,
    /// Another installation, once it is needed.
    elsewhere: Option<OtherInstallation>,
    accounts: Accounts,
    clock: ManualClock,
    /// The questions to the user since the last call.
    questions: Arc<Mutex<Vec<String>>>,
    /// The requests to the services, with their methods, since they were last shown.
    requests: Arc<Mutex<Vec<String>>>,
    /// The lines of the audit log that were shown.
    audited: usize,
    /// The folders of messages and of calendars.
    _files: [TempDir; 2],
}

impl Stage {
    /// Sets the stage according to the head of a transcript.
    pub async fn new(transcript: &Transcript<'_>, accounts: Accounts) -> Self {
        let lines: Vec<&str> = transcript.head_lines("< ").collect();
        let [mail, calendar] = [TempDir::new().unwrap(), TempDir::new().unwrap()];
        let has_events = write_calendars(calendar.path(), transcript.head_lines("+ "));
        let mut has_mail = false;
        for (_, owner) in accounts.as_deref().unwrap_or_default() {
            let folder = mail.path().join(owner);
            let mut is_filled = false;
            for (number, message) in lines.split(|line| *line == "--").enumerate() {
                is_filled |= mailbox::write(&folder, number, message);
            }
            has_mail |= is_filled;
            if has_events && !is_filled {
                let headers = format!("From: x@example.com\nTo: {owner}\nSubject: for {owner}");
                write_message(&folder, "one.eml", &headers, "hello");
            }
        }
        let who = match &accounts {
            Some(accounts) => SandboxUser::These(accounts.clone().leak()),
            None => SandboxUser::Usual,
        };
        let faults: FaultRates = transcript.setting("faults").unwrap_or_default().parse().unwrap();
        let settings: Vec<(&str, &str)> = transcript
            .head_lines("@ ")
            .filter(|line| line.starts_with("DAYSHEET_"))
            .map(|line| line.split_once('=').unwrap())
            .collect();
        let now = transcript.setting("now").unwrap_or(clock::WRITTEN);
        let clock = ManualClock::at(now.parse().unwrap());
        let home = TempDir::new().unwrap();
        let config = Config { clock: clock.clock(), ..config(home.path(), &settings) };
        let folders = [(has_mail || has_events, &mail), (has_events, &calendar)];
        let folders = folders.map(|(is_used, folder)| is_used.then(|| folder.path()));
        let mut session = Session::start_with(config, home, folders, faults, who).await;
        let questions = Arc::default();
        if let Some(reply) = transcript.setting("client") {
            let reply = match reply {
                "yes" => Confirmation::Yes,
                "no" => Confirmation::No,
                "silent" => Confirmation::Unanswered,
                _ => panic!("{}: an unknown client: {reply}", transcript.name),
            };
            session.client = asking(&session, reply, &questions).await;
        }
        if lines.iter().any(|line| !line.starts_with("add: ")) {
            session.ok("mail_search", json!({"limit": 1})).await;
        }
        if has_mail {
            session.ok("mail_attachment", json!({"ids": "m1"})).await;
        }
        alter(&session.sandbox, &lines);
        let requests = observe(&session.sandbox);
        Self {
            session,
            elsewhere: None,
            accounts,
            clock,
            questions,
            requests,
            audited: 0,
            _files: [mail, calendar],
        }
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> ToolAnswer {
        self.session.call(tool, arguments).await
    }

    /// Calls a tool of another installation, which has the same accounts and its own handles.
    pub async fn call_elsewhere(&mut self, tool: &str, arguments: Value) -> ToolAnswer {
        if self.elsewhere.is_none() {
            let accounts = self.accounts.as_deref().unwrap_or_default();
            let other = self.session.elsewhere(accounts, self.clock.clock()).await;
            self.elsewhere = Some(other);
        }
        let other = self.elsewhere.as_mut().unwrap();
        other.client.call(tool, arguments).await.unwrap()
    }

    /// Returns the questions to the user since the last call, as lines.
    pub fn questions(&self) -> Vec<String> {
        let questions = std::mem::take(&mut *self.questions.lock().unwrap());
        let lines = questions.iter().flat_map(|text| text.lines());
        lines.map(|line| format!("? {line}").trim_end().to_owned()).collect()
    }

    /// Takes a step outside of the program and returns the lines that it shows:
    ///
    /// - `faults SPEC` replaces the faults, and `pass 10m` lets time pass.
    /// - `mail ADDRESS TEXT` delivers a message, with `\n` between its lines. `labels ADDRESS ID …`
    ///   sets the labels of the message with a Message-ID, and `discard ADDRESS ID` deletes it.
    /// - `expire` expires access tokens, and `expire changes` what changes are counted from.
    /// - `requests` shows the requests that may have changed something since they were last shown,
    ///   and `reads` the others; `audit` shows the new lines of the audit log.
    pub fn step(&mut self, step: &str) -> Vec<String> {
        let sandbox = &self.session.sandbox;
        let (name, rest) = step.split_once(' ').unwrap_or((step, ""));
        match name {
            "faults" => sandbox.set_faults(rest.parse().unwrap()),
            "pass" => {
                let time: SignedDuration = rest.parse().unwrap();
                self.clock.advance(time.unsigned_abs());
            }
            "mail" => {
                let (address, text) = rest.split_once(' ').unwrap();
                assert!(sandbox.deliver(address, unescaped(text).as_bytes()).unwrap(), "{step}");
            }
            "labels" | "discard" => {
                let words: Vec<&str> = rest.split(' ').collect();
                let [address, id, labels @ ..] = words.as_slice() else { panic!("{step}") };
                let is_found = match name {
                    "labels" => sandbox.relabel(address, id, labels),
                    _ => sandbox.discard(address, id),
                };
                assert!(is_found, "{step}");
            }
            "expire" if rest == "changes" => sandbox.expire_sync_tokens(),
            "expire" => sandbox.expire_access_tokens(),
            "requests" | "reads" => return self.take_requests(name == "reads"),
            "audit" => return self.take_audit(),
            _ => panic!("an unknown step: {step}"),
        }
        Vec::new()
    }

    /// Returns the requests since they were last shown, either those that read or the others.
    fn take_requests(&self, reads: bool) -> Vec<String> {
        let mut requests = self.requests.lock().unwrap();
        let chosen = requests.extract_if(.., |line| line.starts_with("GET ") == reads);
        let mut lines: Vec<String> =
            chosen.map(|line| format!("| {}", without_ids(&line))).collect();
        // Requests that read run at the same time, in any order.
        if reads {
            lines.sort();
        }
        lines
    }

    /// Returns the lines of the audit log since they were last shown, without their times.
    fn take_audit(&mut self) -> Vec<String> {
        let text = std::fs::read_to_string(self.session.home.path().join("sandbox/audit.jsonl"));
        let text = text.unwrap_or_default();
        let new = text.lines().skip(self.audited);
        let shown = new.map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let names = ["account", "tool", "op", "ids", "domains", "recipients", "outcome"];
            let line = names.map(|name| line[name].to_string()).join(" ").replace('"', "");
            format!("| {}", without_ids(&line))
        });
        let shown: Vec<String> = shown.collect();
        self.audited += shown.len();
        shown
    }
}

/// Connects a client that can ask the user, who always gives the same answer.
async fn asking(
    session: &Session,
    reply: Confirmation,
    to: &Arc<Mutex<Vec<String>>>,
) -> InProcessClient {
    let questions = to.clone();
    let ask: ConfirmFn = Arc::new(move |question| {
        questions.lock().unwrap().push(question.to_owned());
        reply
    });
    InProcessClient::with(session.app.server(), Some(ask)).await.unwrap()
}

/// Writes the events of a transcript as calendar files; returns false without any.
fn write_calendars<'t>(folder: &Path, lines: impl Iterator<Item = &'t str>) -> bool {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for (number, line) in lines.enumerate() {
        let (path, properties) = line.split_once(" | ").unwrap_or((line, ""));
        let file = files.entry(path).or_default();
        if properties.is_empty() {
            continue;
        }
        *file += "BEGIN:VEVENT\r\n";
        if !properties.contains("UID:") {
            *file += &format!("UID:{number}@example.com\r\n");
        }
        for property in properties.split(" | ") {
            *file += &format!("{property}\r\n");
        }
        *file += "END:VEVENT\r\n";
    }
    for (path, events) in &files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{events}END:VCALENDAR\r\n");
        std::fs::write(path, text).unwrap();
    }
    !files.is_empty()
}

/// Replaces values in the services' answers, and adds members to their objects.
fn alter(sandbox: &Sandbox, lines: &[&str]) {
    let swaps: Vec<(String, Value)> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("swap: ")?.split_once(" => "))
        .map(|(old, new)| (unescaped(old), unescaped(new).into()))
        .collect();
    let added: Vec<(String, Value)> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("add: ")?.split_once(" => "))
        .map(|(name, members)| (name.to_owned(), serde_json::from_str(members).unwrap()))
        .collect();
    if !swaps.is_empty() || !added.is_empty() {
        sandbox.set_alter(Some(AnswerAlteration::new(move |answer| {
            crate::strangers::fields::visit(answer, "", &mut |_, value| {
                if let Some((_, new)) = swaps.iter().find(|(old, _)| *value == old.as_str()) {
                    *value = new.clone();
                }
            });
            added.iter().for_each(|(name, members)| add_members(answer, name, members));
        })));
    }
}

/// Records the requests to the services from now on. The requests of a batch are recorded one by
/// one.
fn observe(sandbox: &Sandbox) -> Arc<Mutex<Vec<String>>> {
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let record = requests.clone();
    sandbox.set_observer(Some(AnswerObserver::new(move |exchange: ApiExchange| {
        let lines = request_lines(&exchange);
        record.lock().unwrap().extend(lines);
        Box::pin(std::future::ready(()))
    })));
    requests
}

/// Returns a request, or the requests of a batch, each with its body.
fn request_lines(exchange: &ApiExchange) -> Vec<String> {
    let ApiExchange { method, path, query, body, .. } = exchange;
    // The fields and the form of an answer are no part of a write.
    let is_shown = |part: &&str| {
        let is_form =
            ["alt=", "fields=", "personFields="].iter().any(|name| part.starts_with(name));
        *method != "GET" && !part.is_empty() && !is_form
    };
    let query: String = query
        .split('&')
        .filter(is_shown)
        .enumerate()
        .map(|(at, part)| format!("{}{part}", if at == 0 { '?' } else { '&' }))
        .collect();
    let line = match serde_json::from_slice::<Value>(body) {
        Ok(body) => match body["requests"].as_array() {
            Some(requests) => {
                let line = |one: &Value| {
                    let [method, url] = ["method", "url"].map(|name| one[name].as_str().unwrap());
                    format!("{method} {url}{}", shown_body(&one["body"]))
                };
                return requests.iter().map(line).collect();
            }
            None => format!("{method} {path}{query}{}", shown_body(&body)),
        },
        // Google's batches are requests as text; any other text is that of a message.
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            let is_request = |line: &&str| {
                ["GET /", "POST /", "PATCH /", "PUT /", "DELETE /"]
                    .iter()
                    .any(|start| line.starts_with(start))
            };
            let requests: Vec<String> =
                text.lines().filter(is_request).map(str::to_owned).collect();
            if !requests.is_empty() {
                return requests;
            }
            format!("{method} {path}{query}{}", if body.is_empty() { "" } else { " …" })
        }
    };
    vec![line]
}

/// Returns the body of a request after a space, with the text of a message decoded.
fn shown_body(body: &Value) -> String {
    let mut body = body.clone();
    if body.is_null() {
        return String::new();
    }
    for path in ["/raw", "/message/raw"] {
        if let Some(raw) = body.pointer_mut(path) {
            let bytes = URL_SAFE.decode(raw.as_str().unwrap()).unwrap();
            *raw = String::from_utf8_lossy(&bytes).replace('\r', "").into();
        }
    }
    format!(" {body}")
}

/// Replaces the ids of services, which are long and may be random, by `ID`.
fn without_ids(line: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(is_part) {
        // The `n` of an escaped line break is not a part of an id.
        let start = if rest[..start].ends_with('\\') { start + 1 } else { start };
        let (before, word) = rest.split_at(start);
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let is_id = word.len() >= 24 && word.contains(|c: char| c.is_ascii_digit());
        out += before;
        out += if is_id { "ID" } else { word };
        rest = after;
    }
    out + rest
}
