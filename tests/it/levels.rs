//! Permissions of each access level, and their description in the documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use daysheet::accounts::Accounts;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::store::Store;
use daysheet::tools;
use daysheet_core::access::AccessLevel;
use daysheet_core::provider::ProviderConnector;
use daysheet_providers::Providers;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ME, Session, column, config};

const WRITING: &str = include_str!("../../docs/guide/writing.md");

/// Returns the texts between backticks as scopes, without their common prefix.
fn spans(text: &str) -> BTreeSet<String> {
    let inside = text.split('`').skip(1).step_by(2);
    inside.map(bare).collect()
}

fn bare(scope: &str) -> String {
    let short = scope.rsplit("/auth/").next().unwrap_or_default();
    short.to_owned()
}

fn set<'a>(words: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    words.into_iter().map(bare).collect()
}

#[tokio::test]
async fn docs_name_the_requested_scopes() {
    let home = TempDir::new().unwrap();
    let config = Arc::new(config(home.path(), &[]));
    let accounts = Arc::new(Accounts::new(config.clone(), Store::new(&config)));
    let providers = Providers::new(config.services(), accounts);
    let requested = |provider: &str, shared: bool, level: AccessLevel| {
        let scopes = providers.scopes(provider, shared, level).unwrap();
        let mut scopes = set(scopes);
        // The scope for a refresh token grants no access to data.
        scopes.remove("offline_access");
        scopes
    };
    // The table of levels lists the scopes that each level adds to the previous one, and those it
    // replaces.
    let mut before = [BTreeSet::new(), BTreeSet::new()];
    for level in AccessLevel::ALL {
        let row = WRITING
            .lines()
            .find(|line| line.starts_with(&format!("| `{}`", level.word())))
            .unwrap();
        let cells: Vec<&str> = row.split('|').collect();
        for (at, provider) in ["google", "microsoft"].into_iter().enumerate() {
            let now = requested(provider, false, level);
            let mut expected: BTreeSet<String> = now.difference(&before[at]).cloned().collect();
            if cells[3 + at].contains("in place of") {
                expected.extend(before[at].difference(&now).cloned());
            }
            assert_eq!(spans(cells[3 + at]), expected, "{provider} {}", level.word());
            before[at] = now;
        }
    }
    let line = include_str!("../../docs/guide/setup-google.md")
        .lines()
        .find(|line| line.starts_with("- **Scopes**"))
        .unwrap();
    let mut named = spans(line);
    named.remove("draft");
    assert_eq!(named, requested("google", false, AccessLevel::Draft), "{line}");
    // Microsoft's page lists the scopes of every level and kind of mailbox.
    let rows = include_str!("../../docs/guide/setup-microsoft.md")
        .lines()
        .skip_while(|line| !line.starts_with("| permission "))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let mut named: BTreeSet<String> =
        rows.flat_map(|row| spans(row.split('|').nth(1).unwrap())).collect();
    assert!(named.remove("offline_access") && named.remove("Place.Read.All"));
    let mut all = requested("microsoft", false, AccessLevel::Send);
    all.extend(requested("microsoft", true, AccessLevel::Send));
    assert_eq!(named, all);
}

/// Objects of the sample account that calls name, by handle.
struct Known {
    message: String,
    file: String,
    /// Events: the user's own without guests, with guests, and another organizer's.
    own: String,
    meeting: String,
    invited: String,
}

/// Everything that a level decides: the wording of the documentation, the tool, and its arguments.
#[rustfmt::skip]
fn calls(known: &Known) -> Vec<(&'static str, &'static str, Value)> {
    let Known { message, file, own, meeting, invited } = known;
    let new = |people: Value| {
        let event = json!({"title": "T", "start": "2036-02-05 09h00", "people": people});
        json!({"events": [event], "notify": "none"})
    };
    let retitled = |id: &str| json!({"id": id, "events": [{"title": "T2"}], "notify": "none"});
    let modify = |verb: &str| json!({"ids": [message], "do": verb});
    let manage = |kind: &str, op: &str, id: &str, set: Value| match id {
        "" => json!({"kind": kind, "op": op, "set": set}),
        id => json!({"kind": kind, "op": op, "id": id}),
    };
    let named = |kind: &str, name: &str| json!({"kind": kind, "op": "create", "name": name});
    vec![
        ("searching and reading mail", "mail_search", json!({})),
        ("searching and reading mail", "mail_read", json!({"ids": [message]})),
        ("listing and handing over attachments", "mail_attachment", json!({"ids": message})),
        ("listing and handing over attachments", "mail_attachment", json!({"ids": file, "as": "inline"})),
        ("listing and handing over attachments", "mail_attachment", json!({"ids": file, "as": "text"})),
        ("looking things up", "lookup", json!({"kind": "folders"})),
        ("searching calendars and free times", "calendar_search", json!({})),
        ("searching calendars and free times", "calendar_free",
            json!({"who": ["me"], "from": "2026-11-16", "to": "2026-11-17"})),
        ("changes and the brief", "changes", json!({})),
        ("changes and the brief", "brief", json!({})),
        ("reading on in long answers", "output_read", json!({"id": "0000000000"})),
        ("listing accounts", "accounts", json!({"op": "list"})),
        ("saving attachments", "mail_attachment", json!({"ids": file, "as": "file"})),
        ("marking, filing and trashing mail", "mail_modify", modify("read")),
        ("marking, filing and trashing mail", "mail_modify", modify("star")),
        ("marking, filing and trashing mail", "mail_modify", modify("archive")),
        ("marking, filing and trashing mail", "mail_modify", modify("trash")),
        ("folders, labels, rules and contacts", "manage", named("label", "L")),
        ("folders, labels, rules and contacts", "manage", manage("label", "delete", "L", json!({}))),
        ("folders, labels, rules and contacts", "manage",
            manage("rule", "create", "", json!({"when": "from:x@example.com", "then": "star"}))),
        ("folders, labels, rules and contacts", "manage",
            manage("contact", "create", "", json!({"name": "Bo", "email": "bo@example.com"}))),
        ("new calendars", "manage", named("calendar", "C")),
        ("settings and signatures", "manage", manage("signature", "update", "", json!({"text": "Mira"}))),
        ("settings and signatures", "manage", manage("settings", "update", "", json!({"language": "de"}))),
        ("events that nobody else is on", "calendar_save", new(json!([]))),
        ("events that nobody else is on", "calendar_save", retitled(own)),
        ("events that nobody else is on", "calendar_delete", json!({"id": own})),
        ("signing an account out", "accounts", json!({"op": "remove", "account": "no@example.com"})),
        ("drafts", "mail_draft", json!({"to": ["bo@example.com"], "body": "Hi"})),
        ("sending mail", "mail_send", json!({"id": "d1"})),
        ("unsubscribing", "mail_modify", modify("unsubscribe")),
        ("events with other people", "calendar_save", new(json!(["bo@example.com"]))),
        ("events with other people", "calendar_save", retitled(meeting)),
        ("events with other people", "calendar_save", retitled(invited)),
        ("events with other people", "calendar_delete", json!({"id": meeting, "notify": "none"})),
        ("answering and forwarding invitations", "calendar_respond",
            json!({"id": invited, "response": "accept"})),
        ("answering and forwarding invitations", "calendar_respond",
            json!({"id": invited, "response": "forward", "to": ["bo@example.com"]})),
        ("switching automatic replies on", "manage", manage("auto_reply", "update", "",
            json!({"status": "on", "text": "Away", "audience": "contacts"}))),
        ("permanently deleting mail, contacts and calendars", "mail_modify", modify("delete")),
        ("permanently deleting mail, contacts and calendars", "manage",
            manage("contact", "delete", "bo@example.com", json!({}))),
        ("permanently deleting mail, contacts and calendars", "manage",
            manage("calendar", "delete", "C", json!({}))),
    ]
}

/// Signs in at a level and finds the objects that calls name.
async fn signed_in(level: AccessLevel) -> (Session, Known) {
    let home = TempDir::new().unwrap();
    let set = [("DAYSHEET_ACCESS", level.word())];
    let mut session = Session::set(home, &set, SandboxUser::These(&[("google", ME)])).await;
    let mail = json!({"q": "has:attachment", "limit": 1});
    let found = session.json("mail_search", mail).await;
    let message = column(&found, "messages", "id").remove(0);
    let files = session.json("mail_attachment", json!({"ids": message})).await;
    let range = json!({"from": "2026-09-01", "to": "2027-01-31", "limit": 200,
                       "fields": ["id", "organizer", "people", "flags"]});
    let events = session.json("calendar_search", range).await;
    let event = |fits: &dyn Fn(&str, &str) -> bool| {
        let rows = events["events"].as_array().unwrap();
        let cell = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let single = rows.iter().filter(|row| !cell(row, "flags").contains("recurring"));
        let mut fitting = single.filter(|row| fits(&cell(row, "organizer"), &cell(row, "people")));
        cell(fitting.next().unwrap(), "id")
    };
    let known = Known {
        file: column(&files, "attachments", "id").remove(0),
        own: event(&|organizer, people| matches!(organizer, "" | "me") && people.is_empty()),
        meeting: event(&|organizer, people| organizer == "me" && !people.is_empty()),
        invited: event(&|organizer, _| !matches!(organizer, "" | "me")),
        message,
    };
    (session, known)
}

/// Tries every tool at every level: a call is refused below its level and allowed from it on, and
/// the documentation names that level.
#[tokio::test]
async fn docs_describe_what_each_level_allows() {
    let mut lowest: BTreeMap<(&str, String), AccessLevel> = BTreeMap::new();
    for level in AccessLevel::ALL {
        let (mut session, known) = signed_in(level).await;
        for (_, tool, arguments) in calls(&known) {
            let answer = session.call(tool, arguments.clone()).await;
            let refused = answer.is_error && answer.blocks[0].contains(" needs access `");
            let call = (tool, arguments.to_string());
            match (refused, lowest.get(&call)) {
                (true, Some(from)) => panic!("{call:?} is refused again above {}", from.word()),
                (false, None) => {
                    lowest.insert(call, level);
                }
                _ => {}
            }
        }
        if level == AccessLevel::Full {
            let (page, tools) = page(&calls(&known), &lowest);
            let all: BTreeSet<&str> = tools::TOOLS.iter().map(|tool| tool.name).collect();
            assert_eq!(tools, all);
            let begin = "<!-- levels: generated -->\n";
            let (before, rest) = WRITING.split_once(begin).unwrap();
            let (_, after) = rest.split_once("<!-- /levels -->").unwrap();
            let expected = format!("{before}{begin}{page}<!-- /levels -->{after}");
            if expected != WRITING {
                std::fs::write("docs/guide/writing.md", expected).unwrap();
                panic!("docs/guide/writing.md was stale and has been rewritten");
            }
        }
    }
}

/// Returns the documentation's table, and the tools that it covers.
fn page<'a>(
    calls: &[(&'static str, &'a str, Value)],
    lowest: &BTreeMap<(&str, String), AccessLevel>,
) -> (String, BTreeSet<&'a str>) {
    let mut rows: BTreeMap<AccessLevel, Vec<&str>> = BTreeMap::new();
    for (words, tool, arguments) in calls {
        let level = lowest[&(*tool, arguments.to_string())];
        let row = rows.entry(level).or_default();
        if !row.contains(words) {
            row.push(words);
        }
    }
    let mut page = "| from level | what can be done |\n|---|---|\n".to_owned();
    for (level, words) in rows {
        page.push_str(&format!("| `{}` | {} |\n", level.word(), words.join("; ")));
    }
    (page, calls.iter().map(|(_, tool, _)| *tool).collect())
}
