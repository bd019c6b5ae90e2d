//! Tokens of ten messages, a week of events and a mailbox's folders, in every notation.
//!
//! `cargo bench --bench tokens [-- --mail DIR] [--calendar DIR] [--week DATE]` requests from the
//! sandbox, through the whole program, the newest ten messages and the events of a week, at both
//! providers. It compares the answer with the API's whole JSON of the same objects, with compact
//! JSON, STC and TOON of the same columns, and with the floor: the values alone, separated by tabs
//! and without a heading. It prints the tables of docs/benchmarks.md, preceded by the goals, met or
//! not. The gate also runs it: over the sample mailbox it fails if our answer exceeds its limit.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use daysheet::app::App;
use daysheet::cli::client::InProcessClient;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet_core::budget::count::Tokenizer;
use daysheet_core::clock::Clock;
use daysheet_core::encode::stc::value::JsonValue;
use daysheet_core::encode::stc::{self, StcVersion};
use daysheet_sandbox::FaultRates;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use jiff::ToSpan as _;
use jiff::civil::Date;
use serde_json::{Value, json};
use toon_format::{Delimiter, EncodeOptions};

/// The providers, and how their mail and their calendars are called.
const PROVIDERS: [(&str, [&str; 2]); 2] =
    [("google", ["Gmail", "Google"]), ("microsoft", ["Outlook", "Outlook"])];

/// The names of the rows that goals are about.
const RAW: &str = "the API's JSON, whole";
const IDS: &str = "compact JSON, the API's ids";
const OWN_IDS: &str = "compact JSON, ids as we request them";
const OURS: &str = "**ours: TOON by tab, handles**";
const FLOOR: &str = "the floor: values by tab, no heading";

/// The goals: in which tables, by a part of their titles; what ours is compared with; at how many
/// percent of it the goal is met; and the limit, some percent above the current share.
const GOALS: &[(&str, &str, f64, f64)] = &[
    ("messages, Outlook", IDS, 50.0, 42.0),
    ("messages, Outlook", OWN_IDS, 50.0, 60.0),
    ("messages, Gmail", IDS, 75.0, 84.0),
    ("a week of events, Google", IDS, 50.0, 66.0),
    ("a week of events, Outlook", IDS, 50.0, 35.0),
    ("a week of events, Outlook", OWN_IDS, 50.0, 51.0),
    ("messages", FLOOR, 112.0, 118.0),
    ("a week of events", FLOOR, 112.0, 114.0),
    ("messages", RAW, 5.0, 5.0),
    ("a week of events, Google", RAW, 5.0, 17.0),
    ("a week of events, Outlook", RAW, 5.0, 6.0),
];

/// One set of rows in all notations.
struct Case {
    title: String,
    rows: Vec<(&'static str, String)>,
}

impl Case {
    fn tokens(&self, row: &str) -> Option<usize> {
        let (_, text) = self.rows.iter().find(|(what, _)| *what == row)?;
        Some(Tokenizer::O200k.count(text))
    }

    /// Returns the tokens of a row as a percentage of another row's.
    fn share(&self, row: &str, of: &str) -> Option<f64> {
        Some(self.tokens(row)? as f64 * 100.0 / self.tokens(of)? as f64)
    }

    fn print(&self) {
        println!("### {}\n\n| | o200k | cl100k | bytes | ours is |", self.title);
        println!("|---|---:|---:|---:|---:|");
        for (what, text) in &self.rows {
            let [o200k, cl100k] = Tokenizer::ALL.map(|tokenizer| tokenizer.count(text));
            let share = self.share(OURS, what).unwrap();
            println!("| {what} | {o200k} | {cl100k} | {} | {share:.1} % |", text.len());
        }
        println!();
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let home = tempfile::tempdir().unwrap();
    let var = |name: &str| match name {
        "DAYSHEET_HOME" => home.path().to_str().map(str::to_owned),
        "DAYSHEET_KEY_STORE" => Some("file".to_owned()),
        "DAYSHEET_ZONE" => Some("Europe/Berlin".to_owned()),
        _ => None,
    };
    let config = Config::from(var, None, None, Clock::system()).unwrap();
    let (mail, calendar) = (argument("--mail"), argument("--calendar"));
    let sample = mail.is_none() && calendar.is_none();
    let monday: Date = argument("--week").unwrap_or("2026-11-16".into()).parse().unwrap();
    let sunday = monday + 6.days();
    let who = SandboxUser::Everybody(&["google", "microsoft"]);
    let (mail, calendar) = (mail.map(Into::into), calendar.map(Into::into));
    let (app, sandbox) =
        App::sandboxed(config, mail, calendar, FaultRates::default(), who).await.unwrap();
    let address = sandbox.addresses().remove(0);
    let mut client = InProcessClient::connect(app.server()).await.unwrap();
    let week = json!({"from": monday.to_string(), "to": sunday.to_string(), "limit": 100});
    let mut requests = vec![
        ("newest ten messages", "mail_search", "messages", json!({"limit": 10})),
        ("a week of events", "calendar_search", "events", week),
    ];
    if sample {
        let eleven = json!({
            "from": "2026-11-16 10h00", "to": "2026-12-31", "limit": 11,
            "fields": ["id", "start", "end", "title", "where", "organizer", "people", "flags"],
        });
        requests.push(("eleven events, six of them meetings", "calendar_search", "events", eleven));
    }
    let mut cases = Vec::new();
    for (what, tool, table, arguments) in requests {
        for (provider, names) in PROVIDERS {
            let [mail, calendar] = names;
            let name = if table == "events" { calendar } else { mail };
            let account = format!("{provider}:{address}");
            let token = app.accounts.bearer(&account.as_str().into()).await.unwrap();
            let mut arguments = arguments.clone();
            arguments["account"] = account.into();
            let api = Api { google: provider == "google", base: sandbox.base(), token: &token };
            let title = format!("{what}, {name}");
            cases.push(case(&mut client, title, tool, table, arguments, Some(api)).await);
        }
    }
    let folders = json!({"kind": "folders", "account": format!("google:{address}")});
    let title = "a mailbox's folders, Gmail".to_owned();
    cases.push(case(&mut client, title, "lookup", "folders", folders, None).await);
    let above = goals(&cases);
    cases.iter().for_each(Case::print);
    assert!(!sample || above.is_empty(), "above the limit: {}", above.join("; "));
}

/// The value after a flag.
fn argument(flag: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != flag).nth(1)
}

/// Prints the goals; returns those above their limit.
fn goals(cases: &[Case]) -> Vec<String> {
    println!("### Goals\n\n| of | ours is at most | of | it is | the floor is | |");
    println!("|---|---:|---|---:|---:|---|");
    let mut above = Vec::new();
    for (title, row, most, limit) in GOALS {
        for case in cases.iter().filter(|case| case.title.contains(title)) {
            let Some(share) = case.share(OURS, row) else { continue };
            let floor = case.share(FLOOR, row).unwrap();
            let met = match share <= *most {
                true => "met",
                false if floor > *most => "**not met**: the values alone are more",
                false => "**not met**",
            };
            let title = &case.title;
            println!("| {title} | {most} % | {row} | {share:.1} % | {floor:.1} % | {met} |");
            if share > *limit {
                above.push(format!("{}, {share:.1} % of {row}, not {limit} %", case.title));
            }
        }
    }
    println!();
    above
}

/// One answer, as every notation has it.
async fn case(
    client: &mut InProcessClient,
    title: String,
    tool: &str,
    table: &'static str,
    mut arguments: Value,
    api: Option<Api<'_>>,
) -> Case {
    let ours = client.call(tool, arguments.clone()).await.unwrap().blocks;
    arguments["format"] = "json".into();
    let same = client.call(tool, arguments).await.unwrap();
    let document: Value = serde_json::from_str(&same.blocks[0]).unwrap();
    let with_ids = document[table].as_array().unwrap().clone();
    assert!(!with_ids.is_empty(), "{title}: nothing is there");
    let mut handles = document;
    for row in handles[table].as_array_mut().unwrap() {
        row.as_object_mut().unwrap().remove("provider_id");
    }
    let mut rows = Vec::new();
    if let Some(api) = api {
        let raw = api.objects(table, &with_ids).await;
        rows.push((RAW, Value::from(raw.clone()).to_string()));
        if table == "messages" {
            let own = raw.iter().map(if api.google { gmail_values } else { graph_values });
            let own: Vec<Value> = own.collect();
            rows.push(("compact JSON of the API's own values", Value::from(own).to_string()));
        }
        let ids = raw.iter().map(|object| object["id"].clone()).collect();
        let text = identified(&handles, table, ids);
        rows.push((IDS, text.clone()));
        let ids = with_ids.iter().map(|row| row["provider_id"].clone()).collect();
        let requested = identified(&handles, table, ids);
        if requested != text {
            rows.push((OWN_IDS, requested));
        }
    }
    let compact = handles.to_string();
    let json = JsonValue::parse(&compact).unwrap();
    rows.push(("compact JSON, handles", compact));
    for (what, version) in
        [("STC, version 1, handles", StcVersion::One), ("STC, version 2, handles", StcVersion::Two)]
    {
        let text = stc::write::write(&json, version);
        assert_eq!(stc::parse::parse(&text).as_ref(), Ok(&json));
        rows.push((what, text));
    }
    let toon = |delimiter| {
        let options = EncodeOptions::new().with_delimiter(delimiter);
        toon_format::encode(&handles, &options).unwrap()
    };
    rows.push(("TOON by comma, handles", toon(Delimiter::Comma)));
    rows.push(("TOON by pipe, handles", toon(Delimiter::Pipe)));
    assert_eq!(ours[0], toon(Delimiter::Tab));
    rows.push((OURS, ours[0].clone()));
    rows.push(("ours, with its notes", ours.join("\n\n")));
    rows.push((FLOOR, floor(&handles)));
    Case { title, rows }
}

/// The document with other ids in its rows, as compact JSON.
fn identified(document: &Value, table: &str, ids: Vec<Value>) -> String {
    let mut document = document.clone();
    for (row, id) in document[table].as_array_mut().unwrap().iter_mut().zip(ids) {
        row["id"] = id;
    }
    document.to_string()
}

/// Returns only the values of a document: the values outside its table, followed by the rows.
fn floor(document: &Value) -> String {
    let line = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let row = |row: &Value| -> String {
        let cells: Vec<String> = row.as_object().unwrap().values().map(line).collect();
        cells.join("\t")
    };
    let lines = document.as_object().unwrap().values().map(|value| match value {
        Value::Array(rows) => rows.iter().map(row).collect::<Vec<String>>().join("\n"),
        beside => line(beside),
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// One provider's API, asked without us.
struct Api<'a> {
    google: bool,
    base: &'a str,
    token: &'a str,
}

impl Api<'_> {
    /// The objects of rows as the API gives them, each with a request of its own.
    async fn objects(&self, table: &str, rows: &[Value]) -> Vec<Value> {
        let executor = hyper_util::rt::TokioExecutor::new();
        let client = hyper_util::client::legacy::Client::builder(executor).build_http();
        let mut objects = Vec::new();
        for row in rows {
            let id = row["provider_id"].as_str().unwrap();
            let segment = daysheet_providers::net::path_segment;
            let path = match (self.google, table) {
                (true, "messages") => {
                    format!("gmail/v1/users/me/messages/{}?format=metadata", segment(id))
                }
                (true, _) => {
                    let (calendar, event) = id.split_once('/').unwrap();
                    let [calendar, event] = [calendar, event].map(segment);
                    format!("calendar/v3/calendars/{calendar}/events/{event}")
                }
                (false, _) => format!("v1.0/me/{table}/{}", segment(id)),
            };
            let request = hyper::Request::get(format!("{}/{path}", self.base))
                .header("authorization", format!("Bearer {}", self.token))
                .body(Empty::<Bytes>::new())
                .unwrap();
            let answer = client.request(request).await.unwrap();
            assert!(answer.status().is_success(), "{path}: {}", answer.status());
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            objects.push(serde_json::from_slice(&body).unwrap());
        }
        objects
    }
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
