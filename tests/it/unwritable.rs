//! Writes while the store or the audit log cannot be written: a write that was carried out is
//! reported as done, one that cannot be recorded beforehand is not carried out, and calls recover
//! without a restart.

use std::fs;

use daysheet::app::App;
use daysheet::cli::client::InProcessClient;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet_sandbox::{FaultRates, Sandbox};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use tempfile::TempDir;

use crate::support::{ME, column, config, first_of};

/// The sample's work mailbox.
const WORK: &str = "mira@lindqvist-lamps.example";
/// A word in every title that this file's tests write.
const MARK: &str = "Zebra";

struct Setup {
    client: InProcessClient,
    app: App,
    _sandbox: Sandbox,
    _home: TempDir,
    account: &'static str,
}

impl Setup {
    async fn new(provider: &'static str) -> Self {
        let home = TempDir::new().unwrap();
        let config = config(home.path(), &[]);
        let who = SandboxUser::These(match provider {
            "google" => &[("google", ME)],
            _ => &[("microsoft", WORK)],
        });
        let (app, sandbox) =
            App::sandboxed(config, None, None, FaultRates::default(), who).await.unwrap();
        Self {
            client: InProcessClient::connect(app.server()).await.unwrap(),
            app,
            _sandbox: sandbox,
            _home: home,
            account: if provider == "google" { ME } else { WORK },
        }
    }

    /// Calls a tool; returns whether it failed, and its answer, with `HOME` for the state folder.
    async fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let answer = self.client.call(tool, arguments.clone()).await.unwrap();
        let home = self.app.config.home.display().to_string();
        (answer.is_error, answer.blocks.join("\n").replace(&home, "HOME"))
    }

    async fn ok(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut arguments = arguments.clone();
        arguments["format"] = "json".into();
        let (failed, text) = self.call(tool, &arguments).await;
        assert!(!failed, "{tool} {arguments}: {text}");
        serde_json::from_str(text.lines().next().unwrap()).unwrap()
    }

    async fn ids(&mut self, tool: &str, arguments: &Value, table: &str) -> Vec<String> {
        column(&self.ok(tool, arguments).await, table, "id")
    }

    async fn sql(&self, statement: String) {
        let options =
            SqliteConnectOptions::new().filename(self.app.config.home.join("daysheet.db"));
        let mut raw = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::query(AssertSqlSafe(statement)).execute(&mut raw).await.unwrap();
    }

    /// Makes every write of the store fail, as on a full disk, or restores it.
    async fn full(&self, full: bool) {
        for table in [
            "settings", "counters", "handles", "cursors", "seen_events", "outputs", "sends",
            "undos", "unapproved",
        ] {
            for event in ["INSERT", "UPDATE"] {
                let name = format!("full_{table}_{event}");
                self.sql(if full {
                    format!(
                        "CREATE TRIGGER {name} BEFORE {event} ON {table} \
                         BEGIN SELECT RAISE(ROLLBACK, 'no room'); END"
                    )
                } else {
                    format!("DROP TRIGGER {name}")
                })
                .await;
            }
        }
    }

    /// Returns `tool op outcome` of the log's lines after `since`.
    fn audit(&self, since: usize) -> Vec<String> {
        let text = fs::read_to_string(self.app.config.home.join("audit.jsonl")).unwrap_or_default();
        let line = |line: &str| {
            let one: Value = serde_json::from_str(line).unwrap();
            assert_eq!(one["account"], self.account, "{line}");
            // Folders are logged by name until they have ids.
            let names: &[&str] = if one["op"] == "create folder" { &[] } else { &[MARK] };
            let theirs = [names, &["Plain", "Okapi", "priya@", "zebra@"]].concat();
            assert_eq!(first_of(line, &theirs), None, "{line}");
            let time = one["time"].as_str().unwrap().parse::<jiff::Timestamp>();
            assert!(time.is_ok(), "{line}");
            format!("{} {} {}", one["tool"], one["op"], one["outcome"]).replace('"', "")
        };
        text.lines().skip(since).map(line).collect()
    }

    /// Prepares existing objects, and returns the writing calls by name.
    async fn calls(&mut self) -> Vec<(&'static str, &'static str, Value)> {
        let account = self.account;
        let arguments = json!({"account": account, "to": "priya@example.com", "subject": "Plain",
                            "body": "Okapi"});
        let mut drafts = Vec::new();
        for _ in 0..3 {
            let draft = self.ok("mail_draft", &arguments).await;
            drafts.push(draft["draft"].as_str().unwrap().to_owned());
        }
        let mail = json!({"q": "in:inbox is:read", "limit": 3, "account": account});
        let mail = self.ids("mail_search", &mail, "messages").await;
        let event = |title: &str| {
            json!({"account": account, "notify": "all", "if_conflict": "ignore",
                   "events": [{"title": title, "start": "2036-02-05 09:00", "duration": "1h",
                               "people": ["priya@example.com"]}]})
        };
        let mut events = Vec::new();
        for _ in 0..2 {
            events.extend(self.ids("calendar_save", &event("Plain"), "events").await);
        }
        let set_up = |kind: &str, name: &str| json!({"kind": kind, "op": "create", "name": name, "account": account});
        let mut rule = json!({"kind": "rule", "op": "create", "account": account,
                          "set": {"name": "Zebra", "when": "from:zebra@shop.example", "then": "important"}});
        if account == ME {
            // Gmail's rules have no names.
            rule["set"].as_object_mut().unwrap().remove("name");
        }
        let card = json!({"kind": "contact", "op": "create", "account": account,
                          "set": {"name": "Zebra", "emails": ["zebra@shop.example"]}});
        let reply = json!({"kind": "auto_reply", "op": "update", "account": account,
                           "set": {"status": "on", "text": "Zebra"}});
        let mut new = arguments.clone();
        new["subject"] = MARK.into();
        Vec::from(cases! {
            "draft", "mail_draft", new;
            "edit", "mail_draft", json!({"mode": "edit", "id": drafts[0], "subject": MARK});
            "discard", "mail_draft", json!({"mode": "discard", "id": drafts[1]});
            "send", "mail_send", json!({"id": drafts[2]});
            "modify", "mail_modify", json!({"ids": mail, "do": "unread"});
            "create", "calendar_save", event(MARK);
            "update", "calendar_save",
                json!({"id": events[0], "notify": "all", "events": [{"title": MARK}]});
            "delete", "calendar_delete", json!({"id": events[1], "notify": "all"});
            "folder", "manage", set_up("folder", MARK);
            "calendar", "manage", set_up("calendar", MARK);
            "rule", "manage", rule;
            "contact", "manage", card;
            "reply", "manage", reply;
        })
    }

    /// Returns all objects that contain the mark, or that must not change.
    async fn found(&mut self) -> String {
        let account = self.account;
        let mut found = String::new();
        for (tool, arguments) in [
            ("mail_search", json!({"q": "in:drafts", "limit": 50})),
            ("mail_search", json!({"q": "in:sent", "limit": 3})),
            ("mail_search", json!({"q": "in:inbox is:unread", "limit": 50})),
            ("calendar_search", json!({"from": "2036-02-05", "to": "2036-02-06"})),
            ("lookup", json!({"kind": "folders"})),
            ("lookup", json!({"kind": "calendars"})),
            ("lookup", json!({"kind": "rules"})),
            ("lookup", json!({"kind": "auto_reply"})),
            ("lookup", json!({"kind": "contacts", "q": "zebra"})),
        ] {
            let mut arguments = arguments;
            arguments["account"] = account.into();
            found.push_str(&self.ok(tool, &arguments).await.to_string());
        }
        found
    }
}

async fn a_full_disk(provider: &'static str) {
    let mut setup = Setup::new(provider).await;
    let calls = setup.calls().await;
    let before = setup.found().await;
    let since = setup.audit(0).len();
    setup.full(true).await;
    let why =
        "HOME/daysheet.db failed (error returned from database: (code: 1811) no room): try again";
    let no_handles =
        format!("done, but ids are the provider's own, as handles could not be stored: {why}");
    for (name, tool, arguments) in &calls {
        let (failed, text) = setup.call(tool, arguments).await;
        // The journal, the undo and unapproved contacts are recorded first, so the write was not
        // carried out.
        let refused = match *name {
            "send" => Some("nothing was sent"),
            "modify" => Some("no message was changed"),
            "contact" => Some("the contact was not saved"),
            _ => None,
        };
        let expected = refused.map(|what| format!("{what}: {why}"));
        assert_eq!(failed.then(|| text.clone()), expected, "{provider} {name}: {text}");
        // The database is not damaged, so it is not to be moved away.
        assert_eq!(first_of(&text, &["move"]), None, "{name}: {text}");
        let is_noted = text.lines().any(|line| line == no_handles);
        let has_new = matches!(*name, "draft" | "create" | "folder" | "calendar" | "rule");
        assert_eq!(is_noted, has_new, "{name}: {text}");
    }
    let mut lines = setup.audit(since);
    lines.dedup();
    let done: Vec<&str> = [
        "mail_draft new",
        "mail_draft edit",
        "mail_draft discard",
        "mail_send send",
        "calendar_save create",
        "calendar_save update",
        "calendar_delete delete",
        "manage create folder",
        "manage create calendar",
        "manage create rule",
        "manage update auto_reply",
    ]
    .to_vec();
    let expected: Vec<String> = done
        .iter()
        .flat_map(|what| match *what {
            "mail_send send" => [format!("{what} sending"), format!("{what} not sent")],
            what => [format!("{what} begun"), format!("{what} done")],
        })
        .collect();
    assert_eq!(lines, expected, "{provider}");

    // The store is writable again, without a restart.
    setup.full(false).await;
    let after = setup.found().await;
    let marks = |text: &str| text.matches(MARK).count();
    assert!(marks(&before) == 0 && marks(&after) >= 7, "{after}");
    for (name, tool, arguments) in &calls {
        if matches!(*name, "send" | "modify" | "contact") {
            let (failed, text) = setup.call(tool, arguments).await;
            assert!(!failed, "{name}: {text}");
        }
    }
}

#[tokio::test]
async fn google_writes_are_reported_truthfully_on_full_disk() {
    a_full_disk("google").await;
}

#[tokio::test]
async fn outlook_writes_are_reported_truthfully_on_full_disk() {
    a_full_disk("microsoft").await;
}

/// A write is reported, and can be undone, even if its outcome cannot be recorded.
#[tokio::test]
async fn outcome_is_reported_when_it_cannot_be_logged() {
    let mut setup = Setup::new("google").await;
    let calls = setup.calls().await;
    let since = setup.audit(0).len();
    for table in ["sends", "undos"] {
        setup
            .sql(format!(
                "CREATE TRIGGER half_{table} BEFORE UPDATE ON {table} \
             BEGIN SELECT RAISE(ROLLBACK, 'no room'); END"
            ))
            .await;
    }
    let why = "HOME/daysheet.db failed (error returned from database: (code: 1811) no room)";
    let sent = format!("  d3\tsend\tsent\t\"m4, to 1; not recorded: {why}\"");
    let whole = format!(
        "undo restores the whole earlier state, as the changes could not be recorded: {why}: try \
         again"
    );
    for (name, expected) in
        [("send", vec![&*sent]), ("modify", vec!["done: 3", "undo: u1", &whole])]
    {
        let (_, tool, arguments) = calls.iter().find(|one| one.0 == name).unwrap();
        let (failed, text) = setup.call(tool, arguments).await;
        let is_there = |wanted: &str| text.lines().any(|line| line == wanted);
        assert!(!failed && expected.into_iter().all(is_there), "{name}: {text}");
    }
    assert_eq!(
        setup.audit(since),
        [
            "mail_send send sending",
            "mail_send send sent",
            "mail_modify unread begun",
            "mail_modify unread done 3 of 3"
        ]
    );
    for table in ["sends", "undos"] {
        setup.sql(format!("DROP TRIGGER half_{table}")).await;
    }
    let (_, _, send) = calls.iter().find(|one| one.0 == "send").unwrap();
    let (_, text) = setup.call("mail_send", send).await;
    assert_eq!(text.split('\t').nth(6), Some("already sent"), "{text}");
    let (_, text) = setup.call("mail_modify", &json!({"undo": "u1"})).await;
    assert_eq!(text.lines().next(), Some("undone: 3"), "{text}");
}

async fn no_log(provider: &'static str) {
    let mut setup = Setup::new(provider).await;
    let calls = setup.calls().await;
    let before = setup.found().await;
    let log = setup.app.config.home.join("audit.jsonl");
    let moved = setup.app.config.home.join("kept.jsonl");
    fs::rename(&log, &moved).unwrap();
    fs::create_dir(&log).unwrap();
    let why = "HOME/audit.jsonl cannot be opened for writing (Is a directory (os error 21)): \
               check the folder's permissions, or set DAYSHEET_HOME to another folder";
    for (name, tool, arguments) in &calls {
        let undone = match *name {
            "send" => "nothing was sent: ",
            "modify" => "no message was changed: ",
            "update" => "e1: nothing was written: ",
            "delete" => "e2: nothing was written: ",
            _ => "nothing was written: ",
        };
        let expected = (true, format!("{undone}{why}"));
        assert_eq!(setup.call(tool, arguments).await, expected, "{provider} {name}");
    }
    assert_eq!(setup.found().await, before, "{provider}");
    fs::remove_dir(&log).unwrap();
    for (name, tool, arguments) in &calls {
        let (failed, text) = setup.call(tool, arguments).await;
        assert!(!failed, "{provider} {name}: {text}");
    }
}

#[tokio::test]
async fn google_writes_need_a_working_audit_log() {
    no_log("google").await;
}

#[tokio::test]
async fn outlook_writes_need_a_working_audit_log() {
    no_log("microsoft").await;
}

/// If another process locks the store longer than the timeout, an event is created and reported,
/// and the next call works once the lock is released.
#[tokio::test]
async fn locked_store_does_not_fail_completed_writes() {
    let _files = crate::common::postgres::in_files();
    let mut setup = Setup::new("google").await;
    let calls = setup.calls().await;
    let since = setup.audit(0).len();
    let options = SqliteConnectOptions::new().filename(setup.app.config.home.join("daysheet.db"));
    let mut raw = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut raw).await.unwrap();
    let (_, _, create) = calls.iter().find(|one| one.0 == "create").unwrap();
    let (failed, text) = setup.call("calendar_save", create).await;
    let note = "done, but ids are the provider's own, as handles could not be stored: HOME/daysheet.db \
                was in use by another process for too long: try again; if it persists, end other \
                Daysheet processes";
    assert!(!failed && text.lines().any(|line| line == note), "{text}");
    let lines = setup.audit(since);
    assert_eq!(lines, ["calendar_save create begun", "calendar_save create done"]);
    sqlx::query("ROLLBACK").execute(&mut raw).await.unwrap();
    let day = json!({"from": "2036-02-05", "to": "2036-02-06"});
    let found = setup.ok("calendar_search", &day).await;
    assert_eq!(column(&found, "events", "title"), ["Plain", "Plain", MARK]);
}
