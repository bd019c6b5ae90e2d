//! What ten messages cost a model, in real tokens, at both providers.
//!
//! `cargo bench --bench tokens` asks the sandbox, through the whole program,
//! for the newest ten messages of the sample mailbox in the default table, and
//! sets the answer beside three others of the same messages: compact JSON of
//! the same columns with the provider's ids, compact JSON of the API's own
//! values for the same six columns, and the API's whole JSON. Then it asks for
//! eleven events of the sample calendars, most of them meetings, and sets them
//! beside compact JSON of the same columns with the provider's ids. Last it
//! sets the three notations side by side, each with the same rows and columns.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use daysheet::app::App;
use daysheet::budget::count::{TOKENIZER, tokens};
use daysheet::cli::client::Client;
use daysheet::cli::sandboxed::Who;
use daysheet::config::Config;
use daysheet::encode::stc::value::Json;
use daysheet::encode::stc::{self, Version};
use daysheet::sandbox::Faults;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use serde_json::{Value, json};

/// The mailbox whose messages both providers have.
const SIGN_INS: &[(&str, &str)] = &[
    ("google", "mira@example.com"),
    ("microsoft", "mira@example.com"),
    ("google", "mira@lindqvist-lamps.example"),
    ("microsoft", "mira@lindqvist-lamps.example"),
];

/// What a provider's answer may cost: its name, the tokens at most, and the
/// shares of compact JSON with our values and with the API's, in percent.
const TARGETS: &[(&str, usize, usize, usize)] =
    &[("google", 700, 90, 60), ("microsoft", 700, 50, 45)];

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let home = tempfile::tempdir().unwrap();
    let var = |name: &str| match name {
        "DAYSHEET_HOME" => home.path().to_str().map(str::to_owned),
        "DAYSHEET_KEY_STORE" => Some("file".to_owned()),
        "DAYSHEET_ZONE" => Some("Europe/Berlin".to_owned()),
        _ => None,
    };
    let config = Config::from(var, None, None).unwrap();
    let who = Who::These(SIGN_INS);
    let (app, sandbox) = App::sandboxed(config, None, None, Faults::default(), who).await.unwrap();
    let mut client = Client::start(app.server()).await.unwrap();
    println!("ten messages of the sample mailbox, in tokens of {TOKENIZER}");
    for (provider, most, of_ours, of_theirs) in TARGETS {
        let account = format!("{provider}:mira@example.com");
        let arguments = json!({"account": account, "limit": 10});
        let table = client.call("mail_search", arguments.clone()).await.unwrap();
        let mut arguments = arguments;
        arguments["format"] = "json".into();
        let same = client.call("mail_search", arguments).await.unwrap();
        let document: Value = serde_json::from_str(&same.blocks[0]).unwrap();
        let token = app.accounts.bearer(&account).await.unwrap();
        let raw = raw(*provider == "google", sandbox.base(), &token, &document).await;
        // The ids that Graph gives unless immutable ones are requested, which
        // are half as long, and which we ask for.
        let mut usual = document["messages"].clone();
        for (row, item) in usual.as_array_mut().unwrap().iter_mut().zip(&raw) {
            row["provider_id"] = item["id"].clone();
        }
        let own: Vec<Value> = raw
            .iter()
            .map(|item| match *provider {
                "google" => gmail_values(item),
                _ => graph_values(item),
            })
            .collect();

        let ours = tokens(&table.blocks[0]);
        let with_notes = tokens(&table.blocks.join("\n\n"));
        let rows = json!({"messages": usual}).to_string();
        let immutable = json!({"messages": document["messages"]}).to_string();
        println!("{provider}");
        line("the table", ours, "", &format!("at most {most}"));
        line("the table and its notes", with_notes, "", "");
        let others = [
            ("compact JSON of the same columns, provider ids", rows, Some(of_ours)),
            ("the same, with the ids that we ask for", immutable, None),
            ("compact JSON of the API's own values", Value::from(own).to_string(), Some(of_theirs)),
            ("the API's JSON, whole", Value::from(raw).to_string(), None),
        ];
        for (what, text, target) in others {
            let theirs = tokens(&text);
            let share = format!("ours is {:.1} %", ours as f64 * 100.0 / theirs as f64);
            let target = target.map_or_else(String::new, |most| format!("at most {most} %"));
            line(what, theirs, &share, &target);
        }
        for address in ["mira@example.com", "mira@lindqvist-lamps.example"] {
            events(&mut client, &format!("{provider}:{address}")).await;
        }
    }
    println!("the notations, of the same rows and columns");
    let account = "google:mira@example.com";
    for (what, tool, arguments) in [
        ("ten messages", "mail_search", json!({"account": account, "limit": 10})),
        (
            "eleven events",
            "calendar_search",
            json!({"from": "2026-11-16 10h00", "to": "2026-12-31", "limit": 11}),
        ),
        ("a mailbox's folders", "lookup", json!({"kind": "folders", "account": account})),
    ] {
        notations(&mut client, what, tool, arguments).await;
    }
}

/// One answer as TOON, STC and JSON without the provider's ids, which TOON
/// does not have.
async fn notations(client: &mut Client, what: &str, tool: &str, mut arguments: Value) {
    let toon = client.call(tool, arguments.clone()).await.unwrap();
    arguments["format"] = "json".into();
    let json = client.call(tool, arguments).await.unwrap();
    let mut document = Json::parse(&json.blocks[0]).unwrap();
    without_ids(&mut document);
    let [one, two] = [Version::One, Version::Two].map(|version| {
        let stc = stc::write::write(&document, version);
        assert_eq!(stc::parse::parse(&stc).as_ref(), Ok(&document));
        stc
    });
    println!("{what}");
    for (notation, text) in [
        ("TOON", &toon.blocks[0]),
        ("STC, version 1", &one),
        ("STC, version 2", &two),
        ("compact JSON", &document.to_json()),
    ] {
        line(notation, tokens(text), &format!("{} bytes", text.len()), "");
    }
}

fn without_ids(value: &mut Json) {
    match value {
        Json::List(items) => items.iter_mut().for_each(without_ids),
        Json::Object(members) => {
            members.retain(|(key, _)| key != "provider_id");
            members.iter_mut().for_each(|(_, one)| without_ids(one));
        }
        _ => {}
    }
}

/// What eleven events with all eight default columns may cost, and their share
/// of compact JSON of the same columns, in percent.
const EVENTS: (usize, usize) = (540, 60);

/// Eleven events of a week, in the default table, with who is asked.
async fn events(client: &mut Client, account: &str) {
    let arguments = json!({
        "account": account, "from": "2026-11-16 10h00", "to": "2026-12-31", "limit": 11,
        "fields": ["id", "start", "end", "title", "where", "organizer", "people", "flags"],
    });
    let table = client.call("calendar_search", arguments.clone()).await.unwrap();
    let mut arguments = arguments;
    arguments["format"] = "json".into();
    let same = client.call("calendar_search", arguments).await.unwrap();
    let document: Value = serde_json::from_str(&same.blocks[0]).unwrap();
    let mut rows = document["events"].as_array().unwrap().clone();
    let met = rows.iter().filter(|row| !row["people"].is_null()).count();
    for row in &mut rows {
        // The handle is ours; the same columns elsewhere have the id.
        row["id"] = row["provider_id"].take();
        row.as_object_mut().unwrap().remove("provider_id");
    }
    let ours = tokens(&table.blocks[0]);
    let theirs = tokens(&json!({"events": rows}).to_string());
    let share = format!("ours is {:.1} %", ours as f64 * 100.0 / theirs as f64);
    let (most, percent) = EVENTS;
    line(
        &format!("{} events, {met} of them meetings", rows.len()),
        ours,
        "",
        &format!("at most {most}"),
    );
    line(
        "compact JSON of the same columns, provider ids",
        theirs,
        &share,
        &format!("at most {percent} %"),
    );
}

fn line(what: &str, count: usize, share: &str, target: &str) {
    println!("  {what:<50}{count:>8}   {share:<16}   {target}");
}

/// The messages as the API gives them, each with a request of its own.
async fn raw(google: bool, base: &str, token: &str, document: &Value) -> Vec<Value> {
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build_http();
    let mut items = Vec::new();
    for row in document["messages"].as_array().unwrap() {
        let id = row["provider_id"].as_str().unwrap();
        let id = daysheet::net::path_segment(id);
        let url = match google {
            true => format!("{base}/gmail/v1/users/me/messages/{id}?format=metadata"),
            false => format!("{base}/v1.0/me/messages/{id}"),
        };
        let request = hyper::Request::get(url)
            .header("authorization", format!("Bearer {token}"))
            .body(Empty::<Bytes>::new())
            .unwrap();
        let answer = client.request(request).await.unwrap();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        items.push(serde_json::from_slice(&body).unwrap());
    }
    items
}

/// Our six columns with Gmail's values.
fn gmail_values(item: &Value) -> Value {
    let header = |name: &str| {
        let headers = item["payload"]["headers"].as_array().unwrap();
        let found = headers.iter().find(|header| header["name"] == name);
        found.map_or(Value::Null, |header| header["value"].clone())
    };
    json!({
        "id": item["id"],
        "date": header("Date"),
        "from": header("From"),
        "subject": header("Subject"),
        "snippet": item["snippet"],
        "labelIds": item["labelIds"],
    })
}

/// Our six columns with Graph's values.
fn graph_values(item: &Value) -> Value {
    json!({
        "id": item["id"],
        "receivedDateTime": item["receivedDateTime"],
        "from": item["from"],
        "subject": item["subject"],
        "bodyPreview": item["bodyPreview"],
        "isRead": item["isRead"],
        "flag": item["flag"],
        "hasAttachments": item["hasAttachments"],
        "importance": item["importance"],
        "isDraft": item["isDraft"],
    })
}
