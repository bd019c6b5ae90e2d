//! `daysheet demo`: the main job on the embedded sandbox, with figures.
//!
//! It signs in at both providers through the real flow, lists each mailbox, searches both at once,
//! reads, and looks at the calendars and the day, all through MCP. Each answer is shown with the
//! same data as compact JSON and as the API's own JSON.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use daysheet_core::budget::count::{TOKENIZER, tokens};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::project::project;
use daysheet_core::provider::Account;
use daysheet_core::schemas::{ColumnLevel, MESSAGE, Service as Of};
use daysheet_core::text::{clip, counted};
use daysheet_providers::net::path_segment;
use daysheet_sandbox::FaultRates;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client as Http;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use super::client::{InProcessClient, ToolAnswer};
use super::sandbox::report;
use super::sandboxed::SandboxUser;
use crate::app::App;
use crate::config::Config;

/// The number of messages that the demo lists.
const LISTED: usize = 10;

/// The length of the excerpt from other forms, in characters.
const START: usize = 180;

/// Runs the demo and prints it.
pub(super) async fn run(
    config: Config,
    mail: Option<PathBuf>,
    calendar: Option<PathBuf>,
) -> Result<ExitCode> {
    let started = Instant::now();
    let who = match mail {
        None => SandboxUser::Usual,
        Some(_) => SandboxUser::Everybody(&["google", "microsoft"]),
    };
    let (app, sandbox) = App::sandboxed(config, mail, calendar, FaultRates::default(), who).await?;
    report(sandbox.report());
    let accounts = app.accounts.list().await?;
    if accounts.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "the folder has no mailbox")
            .next("give a folder with .eml or .mbox files"));
    }
    say!(
        "Sandbox: {} and {} behind the providers' own paths at {}.",
        counted(sandbox.report().messages, "message", "messages"),
        counted(sandbox.report().events, "calendar entry", "calendar entries"),
        sandbox.base()
    );
    let ids: Vec<&str> = accounts.iter().map(|account| account.id.as_str()).collect();
    say!(
        "Signed in by OAuth (code + PKCE) to {}, ready after {} ms. Nothing leaves this machine.",
        ids.join(" and "),
        started.elapsed().as_millis()
    );

    let mut client = InProcessClient::connect(app.server()).await?;
    let mut worth = None;
    for provider in ["google", "microsoft"] {
        let Some(account) = accounts.iter().find(|one| one.provider == provider) else {
            continue;
        };
        let api = RawApi::new(&app, sandbox.base(), account).await?;
        let arguments = json!({"limit": LISTED, "account": account.id});
        let found = show(&mut client, "mail_search", arguments).await?;
        let ids = provider_ids(&found.json, "messages");
        let mut raw = Vec::new();
        for (what, query) in api.forms() {
            raw.push((what, api.each("messages", &ids, &query).await?));
        }
        found.compare(&raw);
        if let (None, Some(table)) = (&worth, found.text.blocks.first()) {
            worth = worth_reading(table).map(|id| (id, api));
        }
    }

    let all = json!({"q": "is:unread", "limit": LISTED});
    show(&mut client, "mail_search", all).await?;

    if let Some((id, api)) = worth {
        let read = show(&mut client, "mail_read", json!({"ids": [id]})).await?;
        let ids = provider_ids(&read.json, "messages");
        // The last form is the whole message, which reading returns.
        if let Some((what, query)) = api.forms().pop() {
            read.compare(&[(what, api.each("messages", &ids, &query).await?)]);
        }
    }

    show(&mut client, "calendar_search", json!({"limit": LISTED})).await?.compare(&[]);
    show(&mut client, "brief", json!({})).await?.compare(&[]);

    for account in &accounts {
        let api = RawApi::new(&app, sandbox.base(), account).await?;
        let folders = json!({"kind": "folders", "account": account.id});
        let folders = show(&mut client, "lookup", folders).await?;
        let ids = provider_ids(&folders.json, "folders");
        let raw = api.each(api.folders(), &ids, "").await?;
        folders.compare(&[("raw API JSON: each folder or label", raw)]);
    }

    say!("\nNext: daysheet call mail_search q='is:unread' --sandbox");
    say!("      daysheet call calendar_search from=today to=+7d --sandbox");
    say!("      daysheet install connects a client; README.md says how to sign in to a mailbox.");
    app.close().await;
    Ok(ExitCode::SUCCESS)
}

/// A call in both formats.
struct ShownCall {
    text: ToolAnswer,
    json: String,
}

/// Makes a call as TOON and as JSON, and prints the TOON.
async fn show(client: &mut InProcessClient, tool: &str, arguments: Value) -> Result<ShownCall> {
    say!("\n━━ {tool} {arguments}\n");
    let text = client.call(tool, arguments.clone()).await?;
    let printed = text.blocks.join("\n\n");
    if text.is_error {
        return Err(Error::new(ErrorKind::Internal, printed));
    }
    say!("{printed}");
    // The JSON is not printed: it has the provider's ids, and is compared in size.
    let mut arguments = arguments;
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.insert("format".to_owned(), json!("json"));
    }
    let json = client.call(tool, arguments).await?;
    Ok(ShownCall { text, json: json.blocks.into_iter().next().unwrap_or_default() })
}

impl ShownCall {
    /// Prints the beginning of the same data in other forms, and the size of each form.
    fn compare(&self, raw: &[(&str, String)]) {
        let json = ("the same rows as compact JSON, with provider ids", &self.json);
        let others: Vec<_> =
            [json].into_iter().chain(raw.iter().map(|(what, text)| (*what, text))).collect();
        say!();
        for (what, text) in &others {
            let (start, _) = clip(text.chars().take(4 * START).collect(), START);
            say!("   {what}, begins:\n     {start}");
        }
        let ours = tokens(&self.text.blocks.join("\n\n"));
        say!("\n   tokens ({TOKENIZER})");
        say!("   {:<52}{ours:>8}", "this answer, notes included");
        for (what, text) in others {
            let theirs = tokens(text);
            let share = (ours * 1000).checked_div(theirs).unwrap_or(1000);
            say!("   {what:<52}{theirs:>8}   ours is {}.{} %", share / 10, share % 10);
        }
    }
}

/// The sandbox's API, called directly, like a server that passes on raw JSON.
struct RawApi {
    /// The URL of the mailbox.
    base: String,
    token: String,
    gmail: bool,
}

impl RawApi {
    async fn new(app: &App, sandbox: &str, account: &Account) -> Result<Self> {
        let gmail = account.provider == "google";
        let mailbox = if gmail { "gmail/v1/users/me" } else { "v1.0/me" };
        Ok(Self {
            base: format!("{sandbox}/{mailbox}"),
            token: app.accounts.bearer(&account.id).await?,
            gmail,
        })
    }

    /// Returns the names of a message's raw JSON forms, with the query that requests each.
    fn forms(&self) -> Vec<(&'static str, String)> {
        if self.gmail {
            return vec![
                ("raw API JSON: messages.get, format=metadata", "?format=metadata".to_owned()),
                ("raw API JSON: messages.get, format=full", "?format=full".to_owned()),
            ];
        }
        let same = project(Of::Microsoft, &MESSAGE.up_to(ColumnLevel::Core));
        vec![
            (
                "raw API JSON: the same properties ($select)",
                format!("?$select={}", same.roots().join(",")),
            ),
            ("raw API JSON: the whole message", String::new()),
        ]
    }

    fn folders(&self) -> &'static str {
        if self.gmail { "labels" } else { "mailFolders" }
    }

    /// Returns the items with these ids as one compact JSON list.
    async fn each(&self, what: &str, ids: &[String], query: &str) -> Result<String> {
        let mut items = Vec::new();
        for id in ids {
            let id = path_segment(id);
            let url = format!("{}/{what}/{id}{query}", self.base);
            let item: Value =
                serde_json::from_slice(&self.get(&url).await?).map_err(|_| unreadable())?;
            items.push(item);
        }
        Ok(Value::Array(items).to_string())
    }

    async fn get(&self, url: &str) -> Result<Bytes> {
        // The app requests immutable ids, which Graph understands only with this header.
        let request = Request::get(url)
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Prefer", "IdType=\"ImmutableId\"")
            .body(Empty::<Bytes>::new())
            .map_err(|_| unreadable())?;
        let client = Http::builder(TokioExecutor::new()).build_http();
        let answer = client.request(request).await.map_err(|_| unreadable())?;
        let body = answer.into_body().collect().await.map_err(|_| unreadable())?;
        Ok(body.to_bytes())
    }
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Internal, "the sandbox gave the demo no raw response")
}

/// Returns the provider ids of a table's rows, from the JSON answer.
fn provider_ids(json: &str, table: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(json).unwrap_or_default();
    document
        .get(table)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|row| row.get("provider_id").and_then(Value::as_str))
        .map(str::to_owned)
        .collect()
}

/// Returns a message worth reading: the handle of the second row, or else of the first.
fn worth_reading(table: &str) -> Option<String> {
    let handles: Vec<_> = table
        .lines()
        .filter_map(|line| line.strip_prefix("  m"))
        .filter_map(|row| row.split('\t').next())
        .collect();
    let digits = handles.get(1).or(handles.first())?;
    Some(format!("m{digits}"))
}
