//! Tokens of ten messages, a week of events and a mailbox's folders, in every notation.
//!
//! The whole program answers over a sandbox, at both providers. Its answer is compared with the
//! API's whole JSON of the same objects, with compact JSON, STC and TOON of the same columns, and
//! with the floor: the values alone, separated by tabs and without a heading. The gate runs this:
//! over the sample mailbox it fails if our answer exceeds its limit. `--mail DIR`, `--calendar DIR`
//! and `--week DATE` choose others.

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::budget::count::Tokenizer;
use daysheet_core::encode::stc::value::JsonValue;
use daysheet_core::encode::stc::{self, StcVersion};
use daysheet_providers::net::path_segment;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use jiff::ToSpan as _;
use jiff::civil::Date;
use serde_json::Value;
use toon_format::{Delimiter, EncodeOptions};

use crate::common::{Embedded, heading, option};

const ABOUT: &str = "The sample mailboxes, read through the whole program, unless the head of this page says \
    otherwise. All rows of a table but the first ones have the same rows and columns. *Whole* is every \
    object as the API returns it to a plain request (`format=metadata` at Gmail), as compact JSON. *The \
    API's ids* are those it gives unless asked otherwise: Graph's default ids, and the event's id alone \
    at Google. *Ids as we request them* are Graph's immutable ids, and at Google calendar and event, \
    both of which a call needs. *Handles* are ours (`m12`). *Ours is* gives our table (without its \
    notes) as a share of the row, in o200k. A goal that is not met stays here until it is; *the floor \
    is* gives what the values alone need, below which no table can be.";

/// The tables: title, provider, tool and section of its answer, and arguments.
const REQUESTS: [(&str, &str, [&str; 2], &str); 7] = [
    ("newest ten messages, Gmail", "google", MAIL, r#"{"limit": 10}"#),
    ("newest ten messages, Outlook", "microsoft", MAIL, r#"{"limit": 10}"#),
    ("a week of events, Google", "google", EVENTS, WEEK),
    ("a week of events, Outlook", "microsoft", EVENTS, WEEK),
    ("eleven events, six of them meetings, Google", "google", EVENTS, ELEVEN),
    ("eleven events, six of them meetings, Outlook", "microsoft", EVENTS, ELEVEN),
    ("a mailbox's folders, Gmail", "google", ["lookup", "folders"], r#"{"kind": "folders"}"#),
];
const MAIL: [&str; 2] = ["mail_search", "messages"];
const EVENTS: [&str; 2] = ["calendar_search", "events"];
const WEEK: &str = r#"{"from": "$monday", "to": "$sunday", "limit": 100}"#;
const ELEVEN: &str = r#"{"from": "2026-11-16 10h00", "to": "2026-12-31", "limit": 11,
    "fields": ["id", "start", "end", "title", "where", "organizer", "people", "flags"]}"#;

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
    title: &'static str,
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
        println!("\n### {}\n", self.title);
        heading(&["", "o200k:", "cl100k:", "bytes:", "ours is:"]);
        for (what, text) in &self.rows {
            let [o200k, cl100k] = Tokenizer::ALL.map(|tokenizer| tokenizer.count(text));
            let share = self.share(OURS, what).unwrap();
            println!("| {what} | {o200k} | {cl100k} | {} | {share:.1} % |", text.len());
        }
    }
}

pub async fn run() {
    let (mail, calendar) = (option("--mail"), option("--calendar"));
    let sample = mail.is_none() && calendar.is_none();
    let monday: Date = option("--week").unwrap_or("2026-11-16".into()).parse().unwrap();
    let who = SandboxUser::Everybody(&["google", "microsoft"]);
    let mut at = Embedded::start(mail.map(Into::into), calendar.map(Into::into), who).await;
    let address = at.sandbox.addresses().remove(0);
    let mut cases = Vec::new();
    // The eleven events are those of the samples.
    for (title, provider, call, arguments) in
        REQUESTS.into_iter().filter(|request| sample || request.3 != ELEVEN)
    {
        let arguments = arguments.replace("$monday", &monday.to_string());
        let arguments = arguments.replace("$sunday", &(monday + 6.days()).to_string());
        let mut arguments: Value = serde_json::from_str(&arguments).unwrap();
        arguments["account"] = format!("{provider}:{address}").into();
        cases.push(case(&mut at, title, call, arguments).await);
    }
    println!("{ABOUT}");
    let above = goals(&cases);
    cases.iter().for_each(Case::print);
    assert!(!sample || above.is_empty(), "above the limit: {}", above.join("; "));
}

/// Prints the goals; returns those above their limit.
fn goals(cases: &[Case]) -> Vec<String> {
    println!("\n### Goals\n");
    heading(&["of", "ours is at most:", "of", "it is:", "the floor is:", ""]);
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
    above
}

/// One answer, as every notation has it.
async fn case(
    at: &mut Embedded,
    title: &'static str,
    [tool, table]: [&str; 2],
    mut arguments: Value,
) -> Case {
    let ours = at.client.call(tool, arguments.clone()).await.unwrap().blocks;
    arguments["format"] = "json".into();
    let same = at.client.call(tool, arguments.clone()).await.unwrap();
    let mut handles: Value = serde_json::from_str(&same.blocks[0]).unwrap();
    let mut requested = Vec::new();
    for row in handles[table].as_array_mut().unwrap() {
        requested.extend(row.as_object_mut().unwrap().remove("provider_id"));
    }
    assert!(handles[table][0].is_object(), "{title}: nothing was found");
    let mut rows = Vec::new();
    if table != "folders" {
        let raw = objects(at, arguments["account"].as_str().unwrap(), table, &requested).await;
        rows.push((RAW, Value::from(raw.clone()).to_string()));
        if table == "messages" {
            let own: Vec<Value> = raw.iter().map(own_values).collect();
            rows.push(("compact JSON of the API's own values", Value::from(own).to_string()));
        }
        let ids = raw.iter().map(|object| object["id"].clone()).collect();
        let [text, own] = [ids, requested].map(|ids| identified(&handles, table, ids));
        rows.push((IDS, text.clone()));
        if own != text {
            rows.push((OWN_IDS, own));
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

/// Requests objects from the provider's API, each with a request of its own.
async fn objects(at: &Embedded, account: &str, table: &str, ids: &[Value]) -> Vec<Value> {
    let executor = hyper_util::rt::TokioExecutor::new();
    let client = hyper_util::client::legacy::Client::builder(executor).build_http();
    let token = at.app.accounts.bearer(&account.into()).await.unwrap();
    let mut objects = Vec::new();
    for id in ids.iter().map(|id| id.as_str().unwrap()) {
        let path = match (account.starts_with("google"), table) {
            (true, "messages") => {
                format!("gmail/v1/users/me/messages/{}?format=metadata", path_segment(id))
            }
            (true, _) => {
                let (calendar, event) = id.split_once('/').unwrap();
                let [calendar, event] = [calendar, event].map(path_segment);
                format!("calendar/v3/calendars/{calendar}/events/{event}")
            }
            (false, _) => format!("v1.0/me/{table}/{}", path_segment(id)),
        };
        let request = hyper::Request::get(format!("{}/{path}", at.sandbox.base()))
            .header("authorization", format!("Bearer {token}"))
            .body(Empty::<Bytes>::new());
        let answer = client.request(request.unwrap()).await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        objects.push(serde_json::from_slice(&body).unwrap());
    }
    objects
}

/// Returns our six columns with the API's values, of Gmail or of Graph.
fn own_values(item: &Value) -> Value {
    let gmail = ["id", "Date", "From", "Subject", "snippet", "labelIds"];
    let graph = [
        "id", "receivedDateTime", "from", "subject", "bodyPreview", "isRead", "flag",
        "hasAttachments", "importance", "isDraft",
    ];
    let names = if item["payload"]["headers"].is_array() { &gmail[..] } else { &graph[..] };
    let header = |name: &str| {
        let headers = item["payload"]["headers"].as_array()?;
        Some(headers.iter().find(|header| header["name"] == name)?["value"].clone())
    };
    let value = |name: &str| header(name).unwrap_or_else(|| item[name].clone());
    names.iter().map(|name| ((*name).to_owned(), value(name))).collect()
}
