//! A pipeline over fakes: accounts, a store in a folder of its own, and calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daysheet::accounts::Accounts;
use daysheet::config::Config;
use daysheet::oauth::GrantedTokens;
use daysheet::pipeline::Pipeline;
use daysheet::store::{HandleKind, Store};
use daysheet::tools;
use daysheet::unsubscribe::post::OneClickUnsubscriber;
use daysheet_core::access::AccessLevel;
use daysheet_core::call::client::{ClientPrompts, Confirmation, NonInteractive};
use daysheet_core::clock::Clock;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_core::error::{Error, Result};
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::Calendars;
use daysheet_core::provider::{Mailbox, ProviderConnector};
use daysheet_core::text::NoteKey;
use oauth2::{AccessToken, RefreshToken};
use serde_json::Value;
use tempfile::TempDir;

use super::clock;
use crate::support::config;

/// A fake of an account's service.
pub trait Fake: Send + Sync + 'static {
    /// Returns the part of the account's address before `@example.com`.
    fn name(&self) -> &str;
    fn provider(&self) -> &'static str;

    fn mailbox(self: Arc<Self>) -> Result<Arc<dyn Mailbox>> {
        Err(Error::argument("no mail here"))
    }

    fn calendars(self: Arc<Self>) -> Result<Arc<dyn Calendars>> {
        Err(Error::argument("no calendars here"))
    }
}

struct Fakes<F>(Vec<Arc<F>>);

impl<F: Fake> Fakes<F> {
    fn of(&self, account: &Account) -> Arc<F> {
        let (name, _) = account.email.as_str().split_once('@').unwrap();
        self.0.iter().find(|fake| fake.name() == name).unwrap().clone()
    }
}

#[async_trait]
impl<F: Fake> ProviderConnector for Fakes<F> {
    fn mailbox(&self, account: &Account) -> Result<Arc<dyn Mailbox>> {
        self.of(account).mailbox()
    }

    fn calendars(&self, account: &Account) -> Result<Arc<dyn Calendars>> {
        self.of(account).calendars()
    }

    async fn address(&self, _: &str, _: &str, _: Option<&str>) -> Result<String> {
        Err(Error::argument("nobody signs in here"))
    }

    fn scopes(&self, _: &str, _: bool, _: AccessLevel) -> Result<Vec<&'static str>> {
        Ok(Vec::new())
    }
}

/// A pipeline over fakes, each with an account.
pub struct Harness<F> {
    pub pipeline: Pipeline,
    pub store: Store,
    pub accounts: Arc<Accounts>,
    pub fakes: Vec<Arc<F>>,
    pub home: TempDir,
    clock: Clock,
    /// The format of answers, unless a call requests another.
    format: Format,
}

impl<F: Fake> Harness<F> {
    /// Returns a harness with these settings on top of [`config`].
    pub async fn over(fakes: Vec<F>, settings: &[(&str, &str)]) -> Self {
        Self::at(fakes, settings, clock::clock()).await
    }

    /// Returns a harness with another clock.
    pub async fn at(fakes: Vec<F>, settings: &[(&str, &str)], clock: Clock) -> Self {
        let home = TempDir::new().unwrap();
        let config = Arc::new(Config { clock, ..config(home.path(), settings) });
        let store = Store::new(&config);
        let accounts = Arc::new(Accounts::new(config.clone(), store.clone()));
        let fakes: Vec<Arc<F>> = fakes.into_iter().map(Arc::new).collect();
        for fake in &fakes {
            let email = format!("{}@example.com", fake.name());
            accounts.add(tokens(fake.provider(), "x", "y"), &email).await.unwrap();
        }
        let connect = Arc::new(Fakes(fakes.clone()));
        let clock = config.clock.clone();
        let pipeline = Pipeline::new(config, store.clone(), accounts.clone(), connect)
            .with_unsubscriber(OneClickUnsubscriber::on_loopback());
        let format = Format::Toon(Delimiter::Pipe);
        Self { pipeline, store, accounts, fakes, home, clock, format }
    }

    /// Separates columns by tabs.
    pub fn with_tabs(self) -> Self {
        Self { format: Format::Toon(Delimiter::Tab), ..self }
    }

    /// Gives an account half a second if there are several, for tests in which one does not answer.
    /// Any other test keeps the usual time, because a busy machine would leave accounts out.
    pub fn impatient(self) -> Self {
        self.tuned(|pipeline| pipeline.patience(Duration::from_millis(500)))
    }

    pub fn tuned(self, tune: impl FnOnce(Pipeline) -> Pipeline) -> Self {
        Self { pipeline: tune(self.pipeline), ..self }
    }

    /// Returns another process over the same state folder.
    pub fn process(&self, settings: &[(&str, &str)]) -> Pipeline {
        let config = config(self.home.path(), settings);
        let config = Arc::new(Config { clock: self.clock.clone(), ..config });
        let connect = Arc::new(Fakes(self.fakes.clone()));
        Pipeline::new(config, self.store.clone(), self.accounts.clone(), connect)
    }

    /// Returns the fake of the first account.
    pub fn ana(&self) -> &F {
        &self.fakes[0]
    }

    /// Returns the fake of the second account.
    pub fn bo(&self) -> &F {
        &self.fakes[1]
    }

    /// Returns the handle of an id in the first account.
    pub async fn handle(&self, kind: HandleKind, id: &str) -> String {
        let account = self.accounts.list().await.unwrap().remove(0).id;
        kind.handle(self.store.handles(&account, kind, &[id]).await.unwrap()[0])
    }

    /// Calls a tool and returns its blocks.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Vec<String>> {
        self.call_as(tool, arguments, &NonInteractive).await
    }

    pub async fn call_as(
        &self,
        tool: &str,
        arguments: Value,
        caller: &dyn ClientPrompts,
    ) -> Result<Vec<String>> {
        call(&self.pipeline, tool, arguments, self.format, caller).await
    }

    /// Calls a tool that must succeed; returns its blocks as one text.
    pub async fn ok(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments.clone()).await {
            Ok(blocks) => blocks.join("\n--\n"),
            Err(error) => panic!("{tool} {arguments}: {error}"),
        }
    }

    /// Calls a tool that must fail; returns its error.
    pub async fn error(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments.clone()).await {
            Ok(blocks) => panic!("{tool} {arguments}: {}", blocks.join("\n--\n")),
            Err(error) => error.to_string(),
        }
    }

    /// Calls a tool with each of these arguments and compares the answers.
    pub async fn answers<S: AsRef<str>>(
        &self,
        tool: &str,
        cases: impl IntoIterator<Item = (Value, S)>,
    ) {
        for (arguments, answer) in cases {
            let shown = arguments.to_string();
            assert_eq!(self.ok(tool, arguments).await, answer.as_ref(), "{tool} {shown}");
        }
    }

    /// Calls a tool with each of these arguments and compares the errors.
    pub async fn refuses<S: AsRef<str>>(
        &self,
        tool: &str,
        cases: impl IntoIterator<Item = (Value, S)>,
    ) {
        for (arguments, error) in cases {
            let shown = arguments.to_string();
            assert_eq!(self.error(tool, arguments).await, error.as_ref(), "{tool} {shown}");
        }
    }

    /// Returns the document of a call that must succeed, as JSON.
    pub async fn json(&self, tool: &str, mut arguments: Value) -> Value {
        arguments["format"] = "json".into();
        let blocks = self.call(tool, arguments).await.unwrap();
        serde_json::from_str(&blocks[0]).unwrap()
    }

    /// Returns the audit log.
    pub fn audit(&self) -> Vec<Value> {
        if let Some(database) = super::postgres::database(self.home.path()) {
            let lines = super::postgres::texts(&database, "SELECT line FROM audit ORDER BY number");
            return lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        }
        let text = std::fs::read_to_string(self.home.path().join("audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the tool, operation and outcome of each line of the audit log.
    pub fn audited(&self) -> Vec<String> {
        let line = |one: Value| format!("{} {} {}", one["tool"], one["op"], one["outcome"]);
        self.audit().into_iter().map(|one| line(one).replace('"', "")).collect()
    }

    /// Returns each line of the audit log without its time.
    pub fn audited_in_full(&self) -> Vec<String> {
        let line = |one: Value| {
            let names = ["account", "tool", "op", "ids", "domains", "recipients", "outcome"];
            names.map(|name| one[name].to_string()).join(" ").replace('"', "")
        };
        self.audit().into_iter().map(line).collect()
    }
}

/// Calls a tool of a pipeline; returns its blocks.
pub async fn call(
    pipeline: &Pipeline,
    tool: &str,
    arguments: Value,
    format: Format,
    caller: &dyn ClientPrompts,
) -> Result<Vec<String>> {
    let tool = tools::find(tool).unwrap();
    let request = tools::read(tool, arguments.as_object().cloned(), format)?;
    Ok(pipeline.run_for(request, caller).await?.blocks)
}

/// A user who gives one answer to all questions, and records them.
pub struct FakeUser(Confirmation, Mutex<Vec<String>>);

impl FakeUser {
    pub fn says(reply: Confirmation) -> Self {
        Self(reply, Mutex::default())
    }

    /// Returns the questions so far.
    pub fn questions(&self) -> Vec<String> {
        self.1.lock().unwrap().clone()
    }
}

#[async_trait]
impl ClientPrompts for FakeUser {
    async fn confirm(&self, question: &str) -> Confirmation {
        self.1.lock().unwrap().push(question.to_owned());
        self.0
    }

    fn can_ask(&self) -> bool {
        self.0 != Confirmation::Unavailable
    }

    async fn progress(&self, _: u64, _: u64, _: &str) {}
}

/// Returns tokens that do not expire during a test.
pub fn tokens(provider: &'static str, access: &str, refresh: &str) -> GrantedTokens {
    GrantedTokens {
        provider,
        access: AccessToken::new(access.to_owned()),
        refresh: Some(RefreshToken::new(refresh.to_owned())),
        expires: i64::MAX / 2,
        scopes: Vec::new(),
        tenant: None,
    }
}

/// Returns the notes of an answer: the lines of its last block, and the values before the rows as
/// `key: note`.
pub fn notes(blocks: &[String]) -> String {
    let document = blocks.first().map_or("", String::as_str);
    let values = NoteKey::ALL.into_iter().filter_map(|key| {
        let lines = document.lines().filter(|line| line.starts_with(&format!("{}: ", key.name())));
        assert!(lines.count() <= 1, "{document}");
        let line =
            document.lines().find_map(|line| line.strip_prefix(key.name())?.strip_prefix(": "));
        let json: Option<Value> = serde_json::from_str(document).ok();
        let text = match (line, json) {
            (_, Some(document)) => document.get(key.name())?.as_str()?.to_owned(),
            (Some(line), None) if line.starts_with('"') => serde_json::from_str(line).unwrap(),
            (line, None) => line?.to_owned(),
        };
        Some(format!("{}: {text}", key.name()))
    });
    let last = blocks.get(1..).unwrap_or_default().last().cloned();
    let last = last.filter(|last| !last.ends_with(">>>"));
    last.into_iter().chain(values).collect::<Vec<_>>().join("\n")
}
