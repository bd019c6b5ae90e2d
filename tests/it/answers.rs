//! Validity of every answer under `daysheet check` and the JSON Schemas, in every format, and
//! availability of every column of the registry.
//!
//! One scenario calls every tool over the sandbox's two mailboxes, once per format.

use std::collections::{BTreeSet, HashMap};

use daysheet::cli::check::checked;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::tools::TOOLS;
use daysheet_core::encode::stc::parse::parse;
use daysheet_core::schemas::{TABLES, find_in_document};
use serde_json::Value;

use crate::support::Session;

/// Tool, arguments, and values of the answer that later arguments use: a name, and either a JSON
/// pointer into the document or the word before the value in the notes. `$all` stands for every
/// column of the table named after it.
pub type Step = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The calls, in order.
pub const STEPS: &[Step] = &cases! {
    "accounts", r#"{"op": "list"}"#, &[];
    "lookup", r#"{"kind": "accounts"}"#, &[];
    "lookup", r#"{"kind": "folders"}"#, &[];
    "lookup", r#"{"kind": "folders", "fields": "$all folder", "limit": 3}"#, &[("more", "/next")];
    "lookup", r#"{"kind": "folders", "cursor": "$more"}"#, &[];
    "lookup", r#"{"kind": "labels", "fields": ["color"]}"#, &[];
    "lookup", r#"{"kind": "categories", "fields": "$all category"}"#, &[];
    "lookup", r#"{"kind": "calendars", "fields": ["owner"], "q": "mira"}"#, &[];
    "lookup", r#"{"kind": "calendars", "fields": "$all calendar"}"#, &[];
    "lookup", r#"{"kind": "contacts", "q": "an", "fields": "$all contact"}"#, &[];
    "lookup", r#"{"kind": "contacts", "emails": ["priya@example.com"]}"#, &[];
    "lookup", r#"{"kind": "contacts", "emails": ["priya@example.com", "tomasz"]}"#, &[];
    "lookup", r#"{"kind": "rooms", "fields": "$all room"}"#, &[];
    "lookup", r#"{"kind": "aliases", "fields": "$all alias"}"#, &[];
    "lookup", r#"{"kind": "settings", "fields": "$all setting"}"#, &[];
    "lookup", r#"{"kind": "auto_reply", "fields": "$all auto_reply"}"#, &[];
    "lookup", r#"{"kind": "signatures", "fields": "$all signature"}"#, &[];
    "lookup", r#"{"kind": "schemas", "fields": "$all schema"}"#, &[];
    "mail_search", r#"{"q": "in:inbox", "limit": 5}"#, &[("first", "/messages/0/id"), ("second", "/messages/1/id")];
    "mail_search", r#"{"limit": 100, "fields": "$all message", "budget": 100000}"#, &[];
    "mail_search", r#"{"limit": 100, "detail": "full", "budget": 4000}"#, &[];
    "mail_search", r#"{"limit": 100, "detail": "full", "budget": 1200}"#, &[];
    "mail_search", r#"{"limit": 100, "detail": "full", "budget": 1200, "chunk": 2}"#, &[];
    "mail_search", r#"{"detail": "minimal", "limit": 3}"#, &[];
    "mail_search", r#"{"by": "thread", "limit": 50, "fields": "$all thread"}"#,
        &[("thread", "/threads/0/id")];
    "mail_search", r#"{"by": "sender", "limit": 50, "fields": "$all sender"}"#, &[];
    "mail_search", r#"{"q": "nothingcanmatchthis"}"#, &[];
    "mail_search", r#"{"folder": "sent", "limit": 2, "known": "?"}"#, &[("hash", "hash: ")];
    "mail_search", r#"{"folder": "sent", "limit": 2, "known": "$hash"}"#, &[];
    "mail_search", r#"{"q": "has:attachment", "limit": 3}"#, &[("files", "/messages/0/id")];
    "mail_search", r#"{"q": "\"Box check\" Invitation", "limit": 1}"#,
        &[("invitation", "/messages/0/id")];
    "mail_search", r#"{"q": "from:MAILER-DAEMON", "limit": 1}"#, &[("report", "/messages/0/id")];
    "mail_search", r#"{"q": "from:arai@hoshizora.example", "limit": 1}"#,
        &[("failing", "/messages/0/id")];
    "mail_read", r#"{"ids": ["$first", "$second", "$files", "$invitation", "$report"], "budget": 100000}"#,
        &[];
    "mail_read", r#"{"ids": ["$first"], "known": "?"}"#, &[("whole", "output_read id=")];
    "output_read", r#"{"id": "$whole", "grep": "messages"}"#, &[];
    "mail_read", r#"{"ids": ["$thread"], "budget": 700}"#, &[("output", "output_read id=")];
    "mail_read", r#"{"ids": ["$failing"], "body": "html"}"#, &[];
    "mail_read", r#"{"ids": ["$first"], "body": "raw", "budget": 900}"#, &[];
    "mail_read", r#"{"ids": ["$first"], "body": "headers"}"#, &[];
    "mail_read", r#"{"ids": ["$first"], "body": "none"}"#, &[];
    "output_read", r#"{"id": "$output", "limit": 3}"#, &[];
    "output_read", r#"{"id": "$output", "grep": "a"}"#, &[];
    "mail_attachment", r#"{"ids": "$files", "as": "list"}"#, &[("file", "/attachments/0/id")];
    "mail_attachment", r#"{"ids": "$file", "as": "inline"}"#, &[];
    "mail_attachment", r#"{"ids": "$file", "as": "link"}"#, &[];
    "mail_attachment", r#"{"ids": ["$file", "$files"], "as": "text", "budget": 900}"#, &[];
    "calendar_search",
        r#"{"from": "-30d", "to": "+30d", "fields": "$all event", "budget": 100000, "limit": 500}"#,
        &[("event", "/events/0/id")];
    "calendar_search",
        r#"{"from": "-30d", "to": "+30d", "detail": "full", "budget": 1500}"#, &[];
    "calendar_search", r#"{"from": "-30d", "to": "+30d", "series": true}"#, &[];
    "calendar_search", r#"{"ids": ["$event"], "detail": "full"}"#, &[];
    "calendar_search", r#"{"q": "is:clash", "from": "-30d", "to": "+30d"}"#, &[];
    "calendar_free",
        r#"{"who": ["mira@example.com", "mira@lindqvist-lamps.example", "nobody@elsewhere.example"], "from": "tomorrow", "to": "+3d"}"#,
        &[];
    "calendar_free",
        r#"{"who": ["jonas@example.com"], "from": "+1d", "to": "+8d", "duration": "30m"}"#, &[];
    "brief", r#"{"from": "-9d"}"#, &[];
    "brief", r#"{"from": "-9d", "budget": 1500}"#, &[];
    "brief", r#"{"from": "-20d", "to": "+9d", "budget": 2500}"#, &[];
    "changes", r"{}", &[("seen", "/next")];
    "mail_draft",
        r#"{"to": ["priya@example.com"], "cc": ["jonas@example.com"], "bcc": ["tomasz@example.com"], "subject": "Lamps", "body": "Dear Priya,\n\nthey are lit.", "attach": ["$file"], "account": "mira@example.com"}"#,
        &[("draft", "/draft")];
    "mail_draft", r#"{"mode": "edit", "id": "$draft", "subject": "Lamps, lit", "bcc": []}"#,
        &[("draft", "/draft")];
    "mail_send", r#"{"id": "$draft"}"#, &[];
    "mail_send", r#"{"id": "$draft"}"#, &[];
    "mail_draft", r#"{"mode": "reply_all", "id": "$first", "body": "Yes."}"#,
        &[("draft", "/draft")];
    "mail_draft", r#"{"mode": "discard", "id": "$draft"}"#, &[];
    "mail_modify", r#"{"q": "is:unread", "do": "star", "dry_run": true}"#, &[];
    "mail_modify", r#"{"ids": ["$first", "$second", "m9999"], "do": "trash"}"#,
        &[("undo", "/undo")];
    "mail_modify", r#"{"undo": "$undo"}"#, &[];
    "mail_modify", r#"{"q": "in:drafts", "do": "star"}"#, &[];
    "calendar_save",
        r#"{"account": "mira@example.com", "events": [{"title": "Kiln", "start": "tomorrow 13h15", "duration": "1h"}], "dry_run": true}"#,
        &[];
    "calendar_save",
        r#"{"account": "mira@example.com", "events": [{"title": "Kiln", "start": "tomorrow 13h15", "duration": "1h"}, {"title": "Glaze", "start": "tomorrow 13h45", "duration": "1h"}]}"#,
        &[("kiln", "/events/0/id")];
    "brief", r#"{"from": "tomorrow"}"#, &[];
    "calendar_save", r#"{"id": "$kiln", "events": [{"where": "Studio"}]}"#, &[];
    "calendar_delete", r#"{"id": "$kiln"}"#, &[];
    "calendar_respond", r#"{"id": "$invitation", "response": "accept", "notify": "none"}"#, &[];
    "manage",
        r#"{"kind": "folder", "op": "create", "name": "Kilns", "account": "mira@lindqvist-lamps.example"}"#,
        &[];
    "manage",
        r#"{"kind": "label", "op": "create", "name": "Kilns", "account": "mira@example.com"}"#, &[];
    "manage",
        r#"{"kind": "rule", "op": "create", "set": {"name": "Kilns", "when": "from:kiln@example.com", "then": "important"}, "account": "mira@lindqvist-lamps.example"}"#,
        &[];
    "manage",
        r#"{"kind": "contact", "op": "create", "set": {"name": "Kay Ln", "emails": "kay@example.com", "phone": "+49 1"}, "account": "mira@example.com"}"#,
        &[];
    "manage",
        r#"{"kind": "calendar", "op": "create", "name": "Kilns", "account": "mira@example.com"}"#,
        &[];
    "lookup", r#"{"kind": "rules", "fields": "$all rule"}"#, &[];
    "lookup", r#"{"kind": "rules", "fields": ["stop"]}"#, &[];
    "changes", r#"{"cursor": "$seen"}"#, &[];
};

/// Columns that no step shows; `attachments` covers them.
const ELSEWHERE: &[(&str, &str)] = &[
    ("attachment", "inline"),
    ("attachment_text", "part"),
    ("attachment_text", "sheet"),
    ("attachment_text", "range"),
];

/// Returns the arguments with remembered values filled in.
pub fn filled(arguments: &str, known: &HashMap<&str, String>) -> Value {
    fn fill(value: &mut Value, known: &HashMap<&str, String>) {
        match value {
            Value::String(text) => {
                if let Some(table) = text.strip_prefix("$all ") {
                    let table = TABLES.iter().find(|one| one.name == table).unwrap();
                    *value = table.fields.iter().map(|field| field.name).collect();
                } else if let Some(name) = text.strip_prefix('$') {
                    *text = known.get(name).cloned().unwrap_or_default();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| fill(item, known)),
            Value::Object(members) => members.values_mut().for_each(|one| fill(one, known)),
            _ => {}
        }
    }
    let mut arguments = serde_json::from_str(arguments).unwrap();
    fill(&mut arguments, known);
    arguments
}

/// Remembers the values of an answer that later steps need; returns the places where none was
/// found.
pub fn remembered(
    document: &Value,
    blocks: &[String],
    remember: &[(&'static str, &'static str)],
    known: &mut HashMap<&'static str, String>,
) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for (name, place) in remember {
        let found = if place.starts_with('/') {
            document.pointer(place).and_then(Value::as_str)
        } else {
            // The word may be in a value before the rows, or in a note after them.
            blocks.first().into_iter().chain(blocks.last()).find_map(|notes| {
                let (_, rest) = notes.split_once(place)?;
                rest.split([';', ' ', '\n', '"']).next()
            })
        };
        match found {
            Some(found) => drop(known.insert(name, found.to_owned())),
            None => missing.push(*place),
        }
    }
    missing
}

#[tokio::test]
async fn every_answer_is_valid_and_reaches_every_column() {
    let mut missing: BTreeSet<(&str, &str)> = TABLES
        .iter()
        .flat_map(|table| table.fields.iter().map(|field| (table.name, field.name)))
        .collect();
    missing.retain(|column| column.0 != "inside");
    for column in ELSEWHERE {
        assert!(missing.remove(column), "{column:?} is no column");
    }
    let mut wrong = Vec::new();
    for format in ["json", "toon", "stc"] {
        let mut session = Session::written(SandboxUser::Usual).await;
        let mut known = HashMap::new();
        for (tool, arguments, remember) in STEPS {
            let mut call = filled(arguments, &known);
            call["format"] = format.into();
            let answer = session.call(tool, call.clone()).await;
            let blocks = answer.blocks;
            if answer.is_error {
                wrong.push(format!("{tool} {call}: {}", blocks[0]));
                continue;
            }
            let document = match checked(&blocks[0]) {
                Ok(document) => document,
                Err(problems) => {
                    wrong.push(format!("{tool} {call}:\n{problems}{}", blocks[0]));
                    continue;
                }
            };
            for place in remembered(&document, &blocks, remember, &mut known) {
                wrong.push(format!("{tool} {call}: no {place} in {blocks:?}"));
            }
            for (name, rows) in document.as_object().unwrap() {
                let Some(table) = find_in_document(name) else {
                    continue;
                };
                for column in rows.as_array().into_iter().flatten().filter_map(Value::as_object) {
                    missing.retain(|(of, field)| *of != table.name || !column.contains_key(*field));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(missing.is_empty(), "no call shows {missing:?}");
    for tool in TOOLS {
        assert!(STEPS.iter().any(|(called, ..)| *called == tool.name), "{}", tool.name);
    }
}

/// End to end, the STC answer of a tool has the same content as its JSON answer.
#[tokio::test]
async fn stc_and_json_answers_hold_equal_values() {
    let mut session = Session::sample().await;
    for (tool, arguments) in [
        ("mail_search", serde_json::json!({"limit": 25, "detail": "full"})),
        ("mail_read", serde_json::json!({"ids": ["m1", "m2", "m3"]})),
        ("lookup", serde_json::json!({"kind": "folders"})),
        ("calendar_search", serde_json::json!({"from": "-30d", "to": "+30d"})),
    ] {
        let mut call = arguments.clone();
        call["format"] = "json".into();
        let json = session.ok(tool, call.clone()).await;
        call["format"] = "stc".into();
        let stc = session.ok(tool, call).await;
        assert_eq!(parse(&stc[0]).unwrap().to_json(), json[0], "{tool}");
        // Long texts are fields, so the remaining blocks are the same notes.
        assert_eq!(stc[1..], json[1..], "{tool}");
        assert_eq!(stc[0].split('\n').count(), 1, "{tool}");
    }
}
