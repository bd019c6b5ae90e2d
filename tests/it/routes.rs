//! Coverage of the sandbox's routes by adapters.
//!
//! The scenario of `answers` and the calls below use everything that adapters can do. The sandbox
//! counts successful requests by route. A route without requests must be removed, or listed below
//! with its users: forms for people, and requests of other projects' servers and libraries, which
//! `tests/interop/peers` compares with ours.

use std::collections::HashMap;

use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::answers::{STEPS, Step, filled, remembered};
use crate::common::clock;
use crate::support::{Session, agree, config};

const GOOGLE: &str = "mira@example.com";
const MICROSOFT: &str = "mira@lindqvist-lamps.example";

/// Routes that none of these calls reaches, with the tests that do.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "GET /_tenant/v2.0/.well-known/openid-configuration",
        "sandbox_entra::client_libraries_find_endpoints_and_account: tests/interop/peers",
    ),
    (
        "GET /common/discovery/instance",
        "sandbox_entra::client_libraries_find_endpoints_and_account: tests/interop/peers",
    ),
    (
        "POST /_tenant/oauth2/deviceauth",
        "sandbox_entra::device_code_is_accepted: a form for people",
    ),
    (
        "POST /_tenant/oauth2/v2.0/consent",
        "sandbox_entra::sign_in_by_page_works: a form for people",
    ),
    (
        "POST /batch",
        "sandbox_mail::modify::parts_of_a_batch_are_answered_one_by_one: tests/interop/peers",
    ),
    (
        "POST /gmail/v1/users/me/messages/id/modify",
        "sandbox_mail::modify::labels_are_added_and_removed: tests/interop/peers",
    ),
    ("POST /o/oauth2/v2/consent", "sandbox::sign_in_by_page_returns_tokens: a form for people"),
];

/// Calls for either account, `$account`; `$large` is a file of 4 MB.
const EITHER: &[Step] = &cases! {
    "mail_search",
        r#"{"account": "$account", "q": "has:attachment", "folder": "inbox", "limit": 3}"#,
        &[("with file", "/messages/0/id")];
    "mail_search", r#"{"account": "$account", "folder": "inbox", "limit": 3}"#,
        &[("first", "/messages/0/id"), ("third", "/messages/2/id")];
    "mail_attachment", r#"{"ids": "$with file", "as": "list"}"#, &[("file", "/attachments/0/id")];
    "mail_attachment", r#"{"ids": "$file", "as": "inline"}"#, &[];
    "mail_read", r#"{"ids": ["$first"], "body": "raw"}"#, &[];
    "mail_draft",
        r#"{"account": "$account", "to": ["jonas@example.com"], "subject": "Files", "body": "x",
            "attach": ["data:text/plain;name=a.txt,x", "$large"]}"#,
        &[("draft", "/draft")];
    "mail_draft",
        r#"{"mode": "edit", "id": "$draft", "subject": "Fewer files", "detach": ["a.txt"]}"#,
        &[("draft", "/draft")];
    "mail_send", r#"{"id": "$draft"}"#, &[];
    "mail_draft", r#"{"mode": "reply_all", "id": "$with file", "body": "Yes."}"#, &[];
    "mail_draft",
        r#"{"mode": "forward", "id": "$with file", "to": ["jonas@example.com"], "body": "See."}"#,
        &[];
    "mail_draft", r#"{"mode": "reply", "id": "$with file", "body": "Yes."}"#,
        &[("draft", "/draft")];
    "mail_draft", r#"{"mode": "discard", "id": "$draft"}"#, &[];
    "mail_modify", r#"{"ids": ["$third"], "do": "star"}"#, &[];
    "mail_modify", r#"{"ids": ["$third"], "do": "move", "to": ["Ovens/2026"], "create": true}"#,
        &[];
    "mail_modify", r#"{"ids": ["$third"], "do": "delete"}"#, &[];
    "lookup", r#"{"kind": "folders", "account": "$account"}"#, &[];
    "manage", r#"{"account": "$account", "kind": "folder", "op": "create", "name": "Ovens/2027"}"#,
        &[];
    "manage",
        r#"{"account": "$account", "kind": "folder", "op": "rename", "id": "Ovens/2027",
            "name": "Ovens/2028"}"#,
        &[];
    "manage", r#"{"account": "$account", "kind": "folder", "op": "delete", "id": "Ovens/2028"}"#,
        &[];
    "manage",
        r#"{"account": "$account", "kind": "rule", "op": "create",
            "set": {"when": "from:ana@x.example", "then": "important"}}"#,
        &[("rule", "/rules/0/id")];
    "manage",
        r#"{"account": "$account", "kind": "rule", "op": "update", "id": "$rule",
            "set": {"when": "from:bo@x.example"}}"#,
        &[("rule", "/rules/0/id")];
    "manage", r#"{"account": "$account", "kind": "rule", "op": "delete", "id": "$rule"}"#, &[];
    "manage",
        r#"{"account": "$account", "kind": "auto_reply", "op": "update",
            "set": {"status": "on", "text": "Away", "audience": "contacts"}}"#,
        &[];
    "manage",
        r#"{"account": "$account", "kind": "settings", "op": "update", "set": {"language": "de"}}"#,
        &[];
    "manage",
        r#"{"account": "$account", "kind": "contact", "op": "create",
            "set": {"name": "Ina", "emails": "ina@x.example"}}"#,
        &[];
    "manage",
        r#"{"account": "$account", "kind": "contact", "op": "update", "id": "ina@x.example",
            "set": {"role": "Tester"}}"#,
        &[];
    "manage",
        r#"{"account": "$account", "kind": "contact", "op": "delete", "id": "ina@x.example"}"#, &[];
    "manage", r#"{"account": "$account", "kind": "calendar", "op": "create", "name": "Glaze"}"#,
        &[];
    "manage",
        r#"{"account": "$account", "kind": "calendar", "op": "rename", "id": "Glaze",
            "name": "Glazes"}"#,
        &[];
    "calendar_save",
        r#"{"account": "$account", "calendar": "Glazes",
            "events": [{"title": "Pots", "start": "2027-01-06"}]}"#,
        &[];
    "manage", r#"{"account": "$account", "kind": "calendar", "op": "delete", "id": "Glazes"}"#, &[];
    "calendar_save",
        r#"{"account": "$account", "notify": "all", "events": [{"title": "Meeting", "online": true,
            "start": "2027-01-08 10h00", "duration": "1h", "people": ["jonas@example.com"]}]}"#,
        &[("event", "/events/0/id")];
    "calendar_delete", r#"{"id": "$event", "notify": "all"}"#, &[];
    "calendar_save",
        r#"{"account": "$account", "events": [{"title": "Fire", "start": "2027-02-02 09h00",
            "duration": "1h", "repeats": "FREQ=WEEKLY;COUNT=5"}]}"#,
        &[];
    "calendar_search",
        r#"{"account": "$account", "from": "2027-02-01", "to": "2027-03-30", "q": "Fire"}"#,
        &[("event", "/events/1/id")];
    "calendar_save",
        r#"{"id": "$event", "scope": "this",
            "events": [{"start": "2027-02-10 14h00", "duration": "1h"}]}"#,
        &[];
    "calendar_delete", r#"{"id": "$event", "scope": "this"}"#, &[];
    "calendar_save",
        r#"{"account": "$account", "events": [{"title": "Day", "start": "2027-03-06"}]}"#,
        &[("event", "/events/0/id")];
    "calendar_save",
        r#"{"id": "$event", "events": [{"start": "2027-03-06 15h00", "duration": "20m"}]}"#, &[];
    "calendar_save",
        r#"{"account": "$account", "ics": "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:import@x.example\r\nDTSTAMP:20270101T000000Z\r\nSUMMARY:Taken over\r\nDTSTART;TZID=Europe/Lisbon:20270420T100000\r\nDTEND;TZID=Europe/Lisbon:20270420T110000\r\nRRULE:FREQ=WEEKLY;COUNT=3\r\nEXDATE;TZID=Europe/Lisbon:20270427T100000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"}"#,
        &[];
};

/// Calls for one of the accounts.
const ONE: &[Step] = &cases! {
    "manage",
        r##"{"account": "mira@example.com", "kind": "label", "op": "update", "id": "Ovens",
             "set": {"color": "#16a766"}}"##,
        &[];
    "manage",
        r#"{"account": "mira@example.com", "kind": "signature", "op": "update",
            "set": {"text": "Mira"}}"#,
        &[];
    "mail_modify", r#"{"ids": ["$first"], "do": "copy", "to": ["Ovens/2026"]}"#, &[];
    "manage",
        r#"{"account": "mira@lindqvist-lamps.example", "kind": "category", "op": "create",
            "name": "Glaze"}"#,
        &[];
    "manage",
        r#"{"account": "mira@lindqvist-lamps.example", "kind": "category", "op": "update",
            "id": "Glaze", "set": {"color": "green"}}"#,
        &[];
    "manage",
        r#"{"account": "mira@lindqvist-lamps.example", "kind": "category", "op": "delete",
            "id": "Glaze"}"#,
        &[];
    "lookup", r#"{"kind": "rooms"}"#, &[];
    "lookup", r#"{"kind": "contacts"}"#, &[];
    "calendar_save",
        r#"{"account": "mira@lindqvist-lamps.example", "notify": "all", "events": [{"title": "Ash",
            "start": "2027-01-09 10h00", "duration": "1h", "people": ["jonas@example.com"]}]}"#,
        &[("event", "/events/0/id")];
    "calendar_delete", r#"{"id": "$event", "notify": "all", "message": "Cold"}"#, &[];
    "calendar_search",
        r#"{"account": "mira@lindqvist-lamps.example", "from": "2026-11-19", "to": "2026-11-19",
            "q": "Measuring evening"}"#,
        &[("event", "/events/0/id")];
    "calendar_respond", r#"{"id": "$event", "response": "accept"}"#, &[];
    "calendar_respond", r#"{"id": "$event", "response": "tentative"}"#, &[];
    "calendar_respond", r#"{"id": "$event", "response": "forward", "to": ["jonas@example.com"]}"#,
        &[];
    "calendar_respond", r#"{"id": "$event", "response": "decline"}"#, &[];
};

/// Calls whose first request fails in this way, so that the lost write is looked up.
const BROKEN: &[(&str, Step)] = &cases! {
    "403=1,only=/getSchedule",
        (
            "calendar_free",
            r#"{"account": "mira@lindqvist-lamps.example", "from": "2026-11-16",
                "to": "2026-11-18"}"#,
            &[],
        );
    "lost=1,writes=1,nth=1",
        (
            "manage",
            r#"{"account": "mira@example.com", "kind": "signature", "op": "update",
                "set": {"text": "Mira L."}}"#,
            &[],
        );
    "lost=1,writes=1,nth=2",
        (
            "manage",
            r#"{"account": "mira@lindqvist-lamps.example", "kind": "contact", "op": "create",
                "set": {"name": "Ola", "emails": "ola@x.example"}}"#,
            &[],
        );
    "lost=1,writes=1,nth=1",
        (
            "manage",
            r#"{"account": "mira@lindqvist-lamps.example", "kind": "contact", "op": "update",
                "id": "ola@x.example", "set": {"role": "Tester"}}"#,
            &[],
        );
    "lost=1,writes=1,nth=3",
        (
            "mail_draft",
            r#"{"account": "mira@lindqvist-lamps.example", "to": ["jonas@example.com"],
                "subject": "Piece by piece", "body": "x", "attach": ["$large"]}"#,
            &[],
        );
    "",
        (
            "manage",
            r#"{"account": "mira@lindqvist-lamps.example", "kind": "calendar", "op": "create",
                "name": "Lost"}"#,
            &[],
        );
    "lost=1,writes=1,nth=1",
        (
            "manage",
            r#"{"account": "mira@lindqvist-lamps.example", "kind": "calendar", "op": "rename",
                "id": "Lost", "name": "Found"}"#,
            &[],
        );
};

/// Calls a tool for each step; returns the errors.
async fn run(
    session: &mut Session,
    steps: &[Step],
    known: &mut HashMap<&'static str, String>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (tool, arguments, remember) in steps {
        let mut call = filled(arguments, known);
        call["format"] = "json".into();
        let answer = session.call(tool, call.clone()).await;
        let document: Value = serde_json::from_str(&answer.blocks[0]).unwrap_or_default();
        if answer.is_error || !remembered(&document, &answer.blocks, remember, known).is_empty() {
            wrong.push(format!("{tool} {call}: {:?}", answer.blocks));
        }
    }
    wrong
}

#[tokio::test]
async fn every_route_is_called() {
    let home = TempDir::new().unwrap();
    let files = home.path().join("files");
    std::fs::create_dir_all(&files).unwrap();
    let large = files.join("large.bin");
    std::fs::write(&large, vec![7; 4 << 20]).unwrap();
    let config = Config { clock: clock::written(), ..config(home.path(), &[]) };
    let mut session = Session::start(config, home, None, SandboxUser::Usual).await;
    session.sandbox.allow_rooms(true);
    let mut known = HashMap::from([("large", large.to_str().unwrap().to_owned())]);
    let mut wrong = run(&mut session, STEPS, &mut known).await;
    for account in [GOOGLE, MICROSOFT] {
        known.insert("account", account.to_owned());
        wrong.extend(run(&mut session, EITHER, &mut known).await);
    }
    wrong.extend(run(&mut session, ONE, &mut known).await);
    for (faults, step) in BROKEN {
        session.sandbox.set_faults(faults.parse().unwrap());
        wrong.extend(run(&mut session, &[*step], &mut known).await);
    }
    session.sandbox.set_faults("".parse().unwrap());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // A device requests its codes, and a person types one.
    let device = json!({"op": "add", "provider": "microsoft", "flow": "device"});
    let begun = session.json("accounts", device).await;
    let detail = begun["outcomes"][0]["detail"].as_str().unwrap();
    let after = |word: &str| detail.split_once(word).unwrap().1.split(' ').next().unwrap();
    let (page, code) = (after("open "), after("the code "));
    agree(&format!("{page}?user_code={code}&login_hint={MICROSOFT}")).await;
    session.ok("accounts", json!({"op": "remove", "account": GOOGLE})).await;

    let mut idle = session.sandbox.routes();
    idle.retain(|_, hits| *hits == 0);
    let idle: Vec<&str> = idle.keys().map(String::as_str).collect();
    let elsewhere: Vec<&str> = ELSEWHERE.iter().map(|(route, _)| *route).collect();
    assert_eq!(idle, elsewhere, "the routes that no call reaches, and those that may be so");
}
