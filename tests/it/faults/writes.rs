//! Every write of the tools, as data: its preparation, its call, and how often the provider's state
//! shows it as carried out. Tests and the benchmark that break these calls share it.

use std::path::Path;
use std::time::{Duration, Instant};

use daysheet::cli::client::{InProcessClient, ToolAnswer};
use daysheet::server::Server;
use daysheet_sandbox::{FaultRates, Sandbox};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

/// Both providers, and each alone.
pub const BOTH: &[&str] = &["google", "microsoft"];
const GOOGLE: &[&str] = &["google"];
const MICROSOFT: &[&str] = &["microsoft"];

/// The writes, with the providers that support them.
pub const WRITES: &[(&str, &[&str])] = &[
    ("event create", BOTH),
    ("meeting create", BOTH),
    ("series create", BOTH),
    ("series import", BOTH),
    ("event rename", BOTH),
    ("event move", BOTH),
    ("meeting change", BOTH),
    ("occurrence change", BOTH),
    ("series change", BOTH),
    ("following change", BOTH),
    ("event delete", BOTH),
    ("meeting cancel", BOTH),
    ("occurrence delete", BOTH),
    ("following delete", BOTH),
    ("event undo", BOTH),
    ("event restore", BOTH),
    ("invitation accept", BOTH),
    ("invitation decline", BOTH),
    ("meeting forward", BOTH),
    ("calendar create", BOTH),
    ("calendar rename", BOTH),
    ("calendar delete", BOTH),
    ("draft new", BOTH),
    ("draft reply", BOTH),
    ("draft forward", BOTH),
    ("draft large", BOTH),
    ("draft edit", BOTH),
    ("draft attach", BOTH),
    ("draft detach", BOTH),
    ("draft discard", BOTH),
    ("mail send", BOTH),
    ("mail read", BOTH),
    ("mail star", BOTH),
    ("mail label", BOTH),
    ("mail move", BOTH),
    ("mail archive", BOTH),
    ("mail trash", BOTH),
    ("mail copy", MICROSOFT),
    ("mail delete", BOTH),
    ("mail undo", BOTH),
    ("folder create", BOTH),
    ("folder nested", BOTH),
    ("folder rename", BOTH),
    ("folder delete", BOTH),
    ("label create", BOTH),
    ("label rename", GOOGLE),
    ("label delete", BOTH),
    ("rule create", BOTH),
    ("rule change", BOTH),
    ("rule delete", BOTH),
    ("contact create", BOTH),
    ("contact change", BOTH),
    ("contact delete", BOTH),
    ("auto_reply", BOTH),
    ("signature", GOOGLE),
    ("settings", BOTH),
];

/// The extent to which a write was carried out, by the provider's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Done {
    Not,
    Partly,
    Once,
    Twice,
}

/// The outcome that an answer reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reported {
    Done,
    Unknown,
    Failed,
}

/// Classifies an answer.
pub fn reported(answer: &ToolAnswer) -> Reported {
    if answer.is_error {
        return Reported::Failed;
    }
    let document: Value = serde_json::from_str(&answer.blocks[0]).unwrap();
    let outcomes = document["outcomes"].as_array().into_iter().flatten();
    let results: Vec<&str> = outcomes.filter_map(|one| one["result"].as_str()).collect();
    let has = |words: &[&str]| results.iter().any(|result| words.contains(result));
    match () {
        () if has(&["unknown"]) => Reported::Unknown,
        () if has(&["failed", "refused", "not sent", "skipped"]) => Reported::Failed,
        () => Reported::Done,
    }
}

/// Returns true if a cell of a row contains a text.
fn shows(row: &Value, column: &str, text: &str) -> bool {
    row[column].as_str().unwrap_or_default().contains(text)
}

/// A signed-in client of one provider, and its sandbox.
pub struct Room<'a> {
    pub client: InProcessClient,
    pub sandbox: &'a Sandbox,
    pub provider: &'static str,
    /// The account of the calls by its name, and its address.
    pub account: String,
    pub me: String,
    /// Another user of the same provider.
    pub other: String,
    pub other_address: String,
    /// The folder from which files may be attached.
    pub files: &'a Path,
}

/// A prepared write.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: &'static str,
    /// A unique word.
    pub tag: String,
    /// The id that the call names.
    pub id: String,
}

/// Returns a call, or a part of one, with additional members.
fn with(mut call: Value, more: Value) -> Value {
    let members = call.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    call
}

impl Room<'_> {
    /// Calls a tool and requests JSON.
    pub async fn call(&mut self, tool: &str, mut arguments: Value) -> ToolAnswer {
        arguments["format"] = "json".into();
        let reads = matches!(tool, "mail_search" | "calendar_search" | "lookup" | "mail_read");
        if reads {
            arguments["budget"] = 100_000.into();
        }
        self.client.call(tool, arguments).await.unwrap()
    }

    /// Returns the document of a call that must succeed.
    async fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let shown = arguments.to_string();
        let answer = self.call(tool, arguments).await;
        assert!(!answer.is_error, "{tool} {shown}: {:?}", answer.blocks);
        serde_json::from_str(&answer.blocks[0])
            .unwrap_or_else(|_| panic!("{tool} {shown}: {:?}", answer.blocks))
    }

    /// Returns the rows of a table from a reading call.
    async fn rows(&mut self, tool: &str, table: &str, mut arguments: Value) -> Vec<Value> {
        arguments["account"] = self.account.clone().into();
        let document = self.ok(tool, arguments).await;
        document[table].as_array().cloned().unwrap_or_default()
    }

    async fn events(&mut self, tag: &str) -> Vec<Value> {
        let arguments = json!({"from": "2027-03-01", "to": "2027-06-30", "q": tag, "limit": 500,
                           "fields": ["id", "start", "title", "where", "people", "attendees", "flags"]});
        self.rows("calendar_search", "events", arguments).await
    }

    async fn mail(&mut self, q: &str) -> Vec<Value> {
        let arguments =
            json!({"q": q, "limit": 100, "fields": ["id", "subject", "flags", "labels", "folder"]});
        self.rows("mail_search", "messages", arguments).await
    }

    async fn looked_up(&mut self, kind: &str, table: &str) -> Vec<Value> {
        let arguments = json!({"kind": kind, "limit": 500});
        self.rows("lookup", table, arguments).await
    }

    /// Returns the call that creates an event.
    fn new_event(&self, tag: &str, more: Value) -> Value {
        let event = json!({"title": tag, "start": "2027-03-01 10h00", "duration": "45m"});
        let event = with(event, more);
        json!({"account": self.account, "events": [event], "if_conflict": "ignore"})
    }

    /// Creates an event and returns its handle.
    async fn event(&mut self, tag: &str, more: Value) -> String {
        let mut call = self.new_event(tag, more);
        if call["events"][0].get("people").is_some() {
            call["notify"] = "all".into();
        }
        self.ok("calendar_save", call).await;
        self.events(tag).await[0]["id"].as_str().unwrap().to_owned()
    }

    /// Returns the handle of an occurrence in a new series, counted from 1.
    async fn occurrence(&mut self, tag: &str, number: usize) -> String {
        self.event(tag, json!({"repeats": "FREQ=WEEKLY;COUNT=6"})).await;
        let rows = self.events(tag).await;
        rows[number - 1]["id"].as_str().unwrap().to_owned()
    }

    /// Delivers two messages.
    fn deliver_messages(&mut self, tag: &str) {
        for number in 0..2 {
            let message = format!(
                "From: Dee <dee@example.org>\r\nTo: {}\r\nSubject: {tag}\r\n\
                 Date: Tue, 03 Feb 2026 18:05:0{number} +0000\r\nMessage-ID: <{tag}{number}@example.org>\
                 \r\n\r\nHello.\r\n",
                self.me
            );
            assert!(self.sandbox.deliver(&self.me, message.as_bytes()).unwrap());
        }
    }

    async fn draft(&mut self, tag: &str, attach: Value) -> String {
        let arguments = json!({"account": self.account, "to": [self.other_address], "subject": tag,
                           "body": "First words.", "attach": attach});
        let document = self.ok("mail_draft", arguments).await;
        document["draft"]
            .as_str()
            .or_else(|| document["id"].as_str())
            .unwrap_or_else(|| panic!("{document}"))
            .to_owned()
    }

    async fn make(&mut self, call: Value) {
        let call = with(call, json!({"account": self.account}));
        self.ok("manage", call).await;
    }

    /// Prepares a write; `number` makes its names unique.
    pub async fn prepare(&mut self, name: &'static str, number: usize) -> Case {
        let tag = format!("zq{number}{}", if self.provider == "google" { "g" } else { "m" });
        let people = json!({"people": [self.other_address]});
        let id = match name {
            "event rename" | "event move" | "event delete" => self.event(&tag, json!({})).await,
            "meeting change" | "meeting cancel" | "meeting forward" => {
                self.event(&tag, people).await
            }
            "occurrence change" | "occurrence delete" | "following change" | "following delete"
            | "series change" => self.occurrence(&tag, 3).await,
            "event undo" | "event restore" => {
                let event = self.event(&tag, json!({})).await;
                let change = json!({"id": event, "events": [{"where": "Room 7"}]});
                let written = match name {
                    "event undo" => self.ok("calendar_save", change).await,
                    _ => self.ok("calendar_delete", json!({"id": event})).await,
                };
                written["undo"].as_str().unwrap().to_owned()
            }
            "invitation accept" | "invitation decline" => {
                let call = self.new_event(&tag, json!({"people": [self.me]}));
                let call = with(call, json!({"account": self.other, "notify": "all"}));
                self.ok("calendar_save", call).await;
                self.events(&tag).await[0]["id"].as_str().unwrap().to_owned()
            }
            "draft reply" | "draft forward" => {
                self.deliver_messages(&tag);
                self.mail(&format!("subject:{tag}")).await[0]["id"].as_str().unwrap().to_owned()
            }
            "draft large" => {
                std::fs::create_dir_all(self.files).unwrap();
                let path = self.files.join("large.bin");
                if !path.exists() {
                    std::fs::write(&path, vec![7_u8; 4 << 20]).unwrap();
                }
                path.to_str().unwrap().to_owned()
            }
            "draft edit" | "draft attach" | "draft discard" | "mail send" => {
                self.draft(&tag, json!([])).await
            }
            "draft detach" => self.draft(&tag, json!([FILE])).await,
            "mail read" | "mail star" | "mail archive" | "mail trash" | "mail delete" => {
                self.deliver_messages(&tag);
                String::new()
            }
            "mail undo" => {
                self.deliver_messages(&tag);
                let arguments =
                    json!({"account": self.account, "q": format!("subject:{tag}"), "do": "trash"});
                let document = self.ok("mail_modify", arguments).await;
                document["undo"].as_str().unwrap().to_owned()
            }
            "mail label" | "mail move" | "mail copy" => {
                self.deliver_messages(&tag);
                let kind = if name == "mail label" { "label" } else { "folder" };
                self.make(json!({"kind": kind, "op": "create", "name": format!("{tag}x")})).await;
                format!("{tag}x")
            }
            "calendar rename" | "calendar delete" | "folder rename" | "folder delete"
            | "label rename" | "label delete" => {
                let (kind, _) = name.split_once(' ').unwrap();
                self.make(json!({"kind": kind, "op": "create", "name": tag})).await;
                tag.clone()
            }
            "rule change" | "rule delete" => {
                let set = json!({"when": format!("from:{tag}@example.org"), "then": "important"});
                self.make(json!({"kind": "rule", "op": "create", "set": set})).await;
                self.rule(&tag).await.unwrap()["id"].as_str().unwrap().to_owned()
            }
            "contact change" | "contact delete" => {
                let set =
                    json!({"name": format!("Zoe {tag}"), "emails": [format!("{tag}@example.org")]});
                self.make(json!({"kind": "contact", "op": "create", "set": set})).await;
                format!("{tag}@example.org")
            }
            "auto_reply" => {
                let set = json!({"status": "off"});
                let arguments = json!({"kind": "auto_reply", "op": "update", "set": set,
                                   "account": self.account});
                self.call("manage", arguments).await;
                String::new()
            }
            "settings" => {
                let set = json!({"language": "fr-FR"});
                self.make(json!({"kind": "settings", "op": "update", "set": set})).await;
                String::new()
            }
            _ => String::new(),
        };
        Case { name, tag, id }
    }

    async fn rule(&mut self, tag: &str) -> Option<Value> {
        let rules = self.looked_up("rules", "rules").await;
        rules.into_iter().find(|rule| shows(rule, "when", tag))
    }

    /// Returns the call of a write.
    pub fn write(&self, case: &Case) -> (&'static str, Value) {
        let Case { name, tag, id } = case;
        let event = |more: Value| self.new_event(tag, more);
        let reported = |call: Value| with(call, json!({"notify": "all"}));
        let change = |scope: Option<&str>, event: Value| {
            let mut arguments = json!({"id": id, "events": [event], "if_conflict": "ignore"});
            if let Some(scope) = scope {
                arguments["scope"] = scope.into();
            }
            arguments
        };
        let delete = |scope: Option<&str>| match scope {
            Some(scope) => json!({"id": id, "scope": scope}),
            None => json!({"id": id}),
        };
        let manage = |kind: &str, op: &str, more: Value| {
            let call = json!({"account": self.account, "kind": kind, "op": op});
            ("manage", with(call, more))
        };
        let draft = |more: Value| ("mail_draft", with(json!({"account": self.account}), more));
        let modify = |what: &str, to: Option<&str>| {
            let mut arguments =
                json!({"account": self.account, "q": format!("subject:{tag}"), "do": what});
            if let Some(to) = to {
                arguments["to"] = json!([to]);
            }
            ("mail_modify", arguments)
        };
        match *name {
            "event create" => ("calendar_save", event(json!({}))),
            "meeting create" => {
                ("calendar_save", reported(event(json!({"people": [self.other_address]}))))
            }
            "series create" => ("calendar_save", event(json!({"repeats": "FREQ=WEEKLY;COUNT=6"}))),
            "series import" => {
                let ics = format!(
                    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//x//EN\r\nBEGIN:VEVENT\r\n\
                     UID:{tag}@example.org\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:{tag}\r\n\
                     DTSTART:20270301T100000Z\r\nDTEND:20270301T104500Z\r\n\
                     RRULE:FREQ=WEEKLY;COUNT=4\r\nEXDATE:20270308T100000Z\r\nEND:VEVENT\r\n\
                     END:VCALENDAR\r\n"
                );
                (
                    "calendar_save",
                    json!({"account": self.account, "ics": ics, "if_conflict": "ignore"}),
                )
            }
            "event rename" => {
                ("calendar_save", change(None, json!({"title": format!("{tag} new")})))
            }
            "event move" => ("calendar_save", change(None, json!({"start": "2027-03-02 11h00"}))),
            "meeting change" => {
                ("calendar_save", reported(change(None, json!({"where": "Room 7"}))))
            }
            "occurrence change" => {
                ("calendar_save", change(Some("this"), json!({"where": "Room 7"})))
            }
            "series change" => {
                ("calendar_save", change(Some("series"), json!({"where": "Room 7"})))
            }
            "following change" => {
                ("calendar_save", change(Some("following"), json!({"where": "Room 7"})))
            }
            "event delete" => ("calendar_delete", delete(None)),
            "meeting cancel" => ("calendar_delete", reported(delete(None))),
            "occurrence delete" => ("calendar_delete", delete(Some("this"))),
            "following delete" => ("calendar_delete", delete(Some("following"))),
            "event undo" | "event restore" => ("calendar_save", json!({"undo": id})),
            "invitation accept" => ("calendar_respond", json!({"id": id, "response": "accept"})),
            "invitation decline" => ("calendar_respond", json!({"id": id, "response": "decline"})),
            "meeting forward" => (
                "calendar_respond",
                json!({"id": id, "response": "forward", "to": ["fay@example.org"]}),
            ),
            "calendar create" => manage("calendar", "create", json!({"name": tag})),
            "calendar rename" => {
                manage("calendar", "rename", json!({"id": id, "name": format!("{tag}n")}))
            }
            "calendar delete" => manage("calendar", "delete", json!({"id": id})),
            "draft new" => draft(json!({"to": [self.other_address], "subject": tag,
                                        "body": "First words.", "attach": [FILE]})),
            "draft reply" => draft(json!({"mode": "reply", "id": id, "body": "Yes."})),
            "draft forward" => draft(json!({"mode": "forward", "id": id, "body": "See below.",
                                            "to": [self.other_address], "attach": [FILE]})),
            "draft large" => draft(json!({"to": [self.other_address], "subject": tag,
                                          "body": "First words.", "attach": [id]})),
            "draft edit" => {
                ("mail_draft", json!({"mode": "edit", "id": id, "body": "Second thoughts."}))
            }
            "draft attach" => ("mail_draft", json!({"mode": "edit", "id": id, "attach": [FILE]})),
            "draft detach" => {
                ("mail_draft", json!({"mode": "edit", "id": id, "detach": ["a.txt"]}))
            }
            "draft discard" => ("mail_draft", json!({"mode": "discard", "id": id})),
            "mail send" => ("mail_send", json!({"id": id})),
            "mail read" => modify("read", None),
            "mail star" => modify("star", None),
            "mail archive" => modify("archive", None),
            "mail trash" => modify("trash", None),
            "mail delete" => modify("delete", None),
            "mail label" => modify("label", Some(id)),
            "mail move" => modify("move", Some(id)),
            "mail copy" => modify("copy", Some(id)),
            "mail undo" => ("mail_modify", json!({"undo": id})),
            "folder create" => manage("folder", "create", json!({"name": tag})),
            "folder nested" => manage("folder", "create", json!({"name": format!("{tag}/inner")})),
            "folder rename" => {
                manage("folder", "update", json!({"id": id, "set": {"name": format!("{tag}n")}}))
            }
            "folder delete" => manage("folder", "delete", json!({"id": id})),
            "label create" => manage("label", "create", json!({"name": tag})),
            "label rename" => {
                manage("label", "update", json!({"id": id, "set": {"name": format!("{tag}n")}}))
            }
            "label delete" => manage("label", "delete", json!({"id": id})),
            "rule create" => manage(
                "rule",
                "create",
                json!({"set": {
                "when": format!("from:{tag}@example.org"), "then": "important"}}),
            ),
            "rule change" => {
                let when = format!("from:{tag}@example.org has:attachment");
                manage("rule", "update", json!({"id": id, "set": {"when": when}}))
            }
            "rule delete" => manage("rule", "delete", json!({"id": id})),
            "contact create" => manage(
                "contact",
                "create",
                json!({"set": {
                "name": format!("Zoe {tag}"), "emails": [format!("{tag}@example.org")]}}),
            ),
            "contact change" => {
                manage("contact", "update", json!({"id": id, "set": {"company": tag}}))
            }
            "contact delete" => manage("contact", "delete", json!({"id": id})),
            "auto_reply" => manage(
                "auto_reply",
                "update",
                json!({"set": {
                "status": "on", "text": format!("Away {tag}."), "audience": "contacts"}}),
            ),
            "signature" => {
                manage("signature", "update", json!({"set": {"text": format!("Sign {tag}")}}))
            }
            "settings" => manage("settings", "update", json!({"set": {"language": "de-DE"}})),
            other => panic!("no write {other}"),
        }
    }

    /// Returns the extent to which a write was carried out.
    pub async fn done(&mut self, case: &Case) -> Done {
        let Case { name, tag, .. } = case;
        let whether = |done: bool| if done { Done::Once } else { Done::Not };
        // Classifies the number of objects found, where `one` is the number of a single write.
        let count = |found: usize, one: usize| match found {
            0 => Done::Not,
            found if found < one => Done::Partly,
            found if found == one => Done::Once,
            found if found < 2 * one => Done::Partly,
            _ => Done::Twice,
        };
        match *name {
            "event create" | "meeting create" => count(self.events(tag).await.len(), 1),
            "event restore" => count(self.events(tag).await.len(), 1),
            "event undo" => {
                let rows = self.events(tag).await;
                count(rows.iter().filter(|row| !shows(row, "where", "Room 7")).count(), 1)
            }
            "series create" => count(self.events(tag).await.len(), 6),
            "series import" => count(self.events(tag).await.len(), 3),
            "event rename" | "event move" | "invitation accept" | "meeting forward" => {
                let (key, text) = match *name {
                    "event rename" => ("title", " new"),
                    "event move" => ("start", "2027-03-02"),
                    "invitation accept" => ("people", "me+"),
                    _ => ("attendees", "fay@example.org"),
                };
                whether(self.events(tag).await.iter().any(|row| shows(row, key, text)))
            }
            "meeting change" | "occurrence change" => {
                let rows = self.events(tag).await;
                count(rows.iter().filter(|row| shows(row, "where", "Room 7")).count(), 1)
            }
            "series change" | "following change" => {
                let rows = self.events(tag).await;
                let changed = rows.iter().filter(|row| shows(row, "where", "Room 7")).count();
                let all = if *name == "series change" { 6 } else { 4 };
                match (rows.len(), changed) {
                    (6, changed) => count(changed, all),
                    // The new series exists, but the old one is not cut yet.
                    (10, 4) => Done::Partly,
                    (7.., _) => Done::Twice,
                    _ => Done::Partly,
                }
            }
            "event delete" | "meeting cancel" => whether(self.standing(tag).await == 0),
            "occurrence delete" => whether(self.standing(tag).await == 5),
            "following delete" => match self.standing(tag).await {
                6 => Done::Not,
                2 => Done::Once,
                _ => Done::Partly,
            },
            "invitation decline" => {
                // Outlook removes a declined event from the calendar.
                let rows = self.events(tag).await;
                let outlook = self.provider == "microsoft" && rows.is_empty();
                whether(outlook || rows.iter().any(|row| shows(row, "people", "me-")))
            }
            "calendar create" | "calendar rename" | "calendar delete" | "folder create"
            | "folder nested" | "folder rename" | "folder delete" | "label create"
            | "label rename" | "label delete" => {
                let (kind, op) = name.split_once(' ').unwrap();
                let (lookup, table) = match kind {
                    "calendar" => ("calendars", "calendars"),
                    "folder" => ("folders", "folders"),
                    _ => ("categories", "labels"),
                };
                let name = match op {
                    "nested" => format!("{tag}/inner"),
                    "rename" => format!("{tag}n"),
                    _ => tag.clone(),
                };
                let rows = self.looked_up(lookup, table).await;
                let named = rows.iter().filter(|row| row["name"] == name.as_str()).count();
                match op {
                    "delete" => whether(named == 0),
                    _ => count(named, 1),
                }
            }
            "draft new" | "draft reply" | "draft forward" | "draft large" => {
                let rows = self.mail(&format!("in:drafts subject:{tag}")).await;
                match rows.len() {
                    1 if *name != "draft reply" && !shows(&rows[0], "flags", "attachment") => {
                        Done::Partly
                    }
                    1 => {
                        let id = rows[0]["id"].as_str().unwrap().to_owned();
                        let words = match *name {
                            "draft reply" => "Yes.",
                            "draft forward" => "See below.",
                            _ => "First words.",
                        };
                        if self.says(&id, words).await { Done::Once } else { Done::Partly }
                    }
                    other => count(other, 1),
                }
            }
            "draft edit" => {
                let rows = self.mail(&format!("in:drafts subject:{tag}")).await;
                assert_eq!(rows.len(), 1, "{tag}");
                let id = rows[0]["id"].as_str().unwrap().to_owned();
                whether(self.says(&id, "Second thoughts.").await)
            }
            "draft attach" | "draft detach" => {
                let rows = self.mail(&format!("in:drafts subject:{tag}")).await;
                assert_eq!(rows.len(), 1, "{tag}");
                let id = rows[0]["id"].as_str().unwrap().to_owned();
                let arguments = json!({"ids": id, "as": "list"});
                let files = self.ok("mail_attachment", arguments).await;
                let files = files["attachments"].as_array().map_or(0, Vec::len);
                match *name {
                    "draft attach" => count(files, 1),
                    _ => whether(files == 0),
                }
            }
            "draft discard" => {
                whether(self.mail(&format!("in:drafts subject:{tag}")).await.is_empty())
            }
            "mail send" => count(self.mail(&format!("in:sent subject:{tag}")).await.len(), 1),
            "mail read" | "mail star" | "mail label" => {
                let rows = self.mail(&format!("subject:{tag}")).await;
                let label = format!("{tag}x");
                let is_so = |row: &&Value| match *name {
                    "mail read" => !shows(row, "flags", "unread"),
                    "mail star" => shows(row, "flags", "starred"),
                    _ => shows(row, "labels", &label),
                };
                count(rows.iter().filter(is_so).count(), 2)
            }
            "mail move" | "mail copy" => {
                let rows = self.mail(&format!("in:{tag}x subject:{tag}")).await;
                count(rows.len(), 2)
            }
            "mail archive" | "mail undo" => {
                let rows = self.mail(&format!("in:inbox subject:{tag}")).await;
                match *name {
                    "mail undo" => count(rows.len(), 2),
                    _ => count(2_usize.saturating_sub(rows.len()), 2),
                }
            }
            "mail trash" => count(self.mail(&format!("in:trash subject:{tag}")).await.len(), 2),
            "mail delete" => {
                let rows = self.mail(&format!("in:anywhere subject:{tag}")).await;
                count(2_usize.saturating_sub(rows.len()), 2)
            }
            "rule create" | "rule change" | "rule delete" => {
                let rules = self.looked_up("rules", "rules").await;
                let ours: Vec<_> = rules.iter().filter(|rule| shows(rule, "when", tag)).collect();
                let is_changed = |rule: &&&Value| shows(rule, "when", "has:attachment");
                let changed = ours.iter().filter(is_changed).count();
                match (case.name, ours.len()) {
                    ("rule create", found) => count(found, 1),
                    ("rule delete", found) => whether(found == 0),
                    (_, 1) => count(changed, 1),
                    // Both the old and the new rule exist.
                    (_, 2) => Done::Partly,
                    _ => Done::Twice,
                }
            }
            "contact create" | "contact change" | "contact delete" => {
                let arguments = json!({"kind": "contacts", "q": tag, "limit": 50});
                let rows = self.rows("lookup", "contacts", arguments).await;
                let address = format!("{tag}@example.org");
                let ours: Vec<_> =
                    rows.iter().filter(|row| shows(row, "emails", &address)).collect();
                match case.name {
                    "contact create" => count(ours.len(), 1),
                    "contact delete" => whether(ours.is_empty()),
                    _ => whether(ours.iter().any(|row| row["company"] == tag.as_str())),
                }
            }
            "auto_reply" => {
                let rows = self.looked_up("auto_reply", "auto_replies").await;
                whether(rows.iter().any(|row| shows(row, "text", tag) && row["status"] == "on"))
            }
            "signature" => {
                let id = self.draft(&format!("{tag}s"), json!([])).await;
                let rows = self.mail(&format!("in:drafts subject:{tag}s")).await;
                let message = rows[0]["id"].as_str().unwrap().to_owned();
                let signed = self.says(&message, &format!("Sign {tag}")).await;
                self.ok("mail_draft", json!({"mode": "discard", "id": id})).await;
                whether(signed)
            }
            "settings" => {
                let rows = self.looked_up("settings", "settings").await;
                whether(rows.iter().any(|row| row["language"] == "de-DE"))
            }
            other => panic!("no write {other}"),
        }
    }

    /// Returns the number of events that are not cancelled.
    async fn standing(&mut self, tag: &str) -> usize {
        let rows = self.events(tag).await;
        rows.iter().filter(|row| !shows(row, "flags", "cancelled")).count()
    }

    /// Returns true if a message's text contains these words.
    async fn says(&mut self, id: &str, words: &str) -> bool {
        let answer = self.call("mail_read", json!({"ids": [id]})).await;
        answer.blocks.join("\n").contains(words)
    }

    /// Makes the write in a separate session over `server`. The client cancels it after its `nth`
    /// changing request, or with 0 before the first, and disconnects.
    pub async fn cancelled(&self, server: Server, nth: u64, case: &Case) {
        let (tool, arguments) = self.write(case);
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let served = tokio::spawn(server.serve(input, output));
        let (mut answers, mut to) = tokio::io::split(ours);
        // The answers are discarded, but they must be read, or the server would block.
        let read =
            tokio::spawn(
                async move { tokio::io::copy(&mut answers, &mut tokio::io::sink()).await },
            );
        let lines = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "impatient", "version": "1"}}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments}}),
        ];
        let reads = self.sandbox.requests();
        for line in lines {
            to.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }
        let begin = Instant::now();
        let reached = || match nth {
            0 => self.sandbox.requests() > reads,
            nth => self.sandbox.writes() >= nth,
        };
        while !reached() && begin.elapsed() < Duration::from_secs(10) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                            "params": {"requestId": 2, "reason": "enough"}});
        to.write_all(format!("{cancel}\n").as_bytes()).await.unwrap();
        to.shutdown().await.unwrap();
        drop(to);
        // The server ends once its running calls have ended.
        let _ = served.await;
        read.abort();
    }

    /// Breaks the requests of a write according to `faults`.
    pub fn break_with(&self, faults: &str) {
        let faults: FaultRates = faults.parse().unwrap();
        self.sandbox.set_faults(faults);
    }
}

/// A small file.
const FILE: &str = "data:text/plain;name=a.txt;base64,SGVsbG8h";
