//! A session over the embedded sandbox, like `daysheet serve --sandbox`.

use std::path::Path;
use std::time::Duration;

use daysheet::app::App;
use daysheet::cli::client::{InProcessClient, ToolAnswer};
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet::pipeline::Pipeline;
use daysheet_core::clock::Clock;
use daysheet_sandbox::{AnswerObserver, FaultRates, Sandbox};
use jiff::tz::TimeZone;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::clock;

/// The owner of the sample mailbox.
pub use crate::common::client::ME;
pub use crate::common::messages::{mailboxes, write_message};

/// A client, a server and a sandbox in a temporary folder.
pub struct Session {
    pub client: InProcessClient,
    /// The server's app, which must outlive it.
    pub app: App,
    pub sandbox: Sandbox,
    pub home: TempDir,
}

/// Another installation of the program for accounts of a session, with its own store.
pub struct OtherInstallation {
    pub client: InProcessClient,
    /// The server's app, which must outlive it.
    _app: App,
    _home: TempDir,
}

impl Session {
    /// Starts a session over the sample mailbox.
    pub async fn sample() -> Self {
        Self::over(None).await
    }

    /// Starts a session over a folder of mail.
    pub async fn over(mail: Option<&Path>) -> Self {
        let home = TempDir::new().unwrap();
        Self::in_home(home, mail).await
    }

    /// Starts a session in a state folder that may have been used before.
    pub async fn in_home(home: TempDir, mail: Option<&Path>) -> Self {
        let who = match mail {
            None => SandboxUser::These(&[("google", ME)]),
            Some(_) => SandboxUser::Usual,
        };
        Self::signed_in(home, mail, who).await
    }

    /// Starts a session over the sample mailboxes or a folder of mail, signed in according to
    /// `who`.
    pub async fn signed_in(home: TempDir, mail: Option<&Path>, who: SandboxUser) -> Self {
        Self::start(config(home.path(), &[]), home, mail, who).await
    }

    /// Starts a session over the sample mailboxes at the time around which they are written, signed
    /// in according to `who`.
    pub async fn written(who: SandboxUser) -> Self {
        let home = TempDir::new().unwrap();
        let config = Config { clock: clock::written(), ..config(home.path(), &[]) };
        Self::start(config, home, None, who).await
    }

    /// Starts a session over the sample mailboxes with further settings.
    pub async fn set(home: TempDir, more: &[(&str, &str)], who: SandboxUser) -> Self {
        Self::start(config(home.path(), more), home, None, who).await
    }

    pub async fn start(
        config: Config,
        home: TempDir,
        mail: Option<&Path>,
        who: SandboxUser,
    ) -> Self {
        Self::start_with(config, home, [mail, None], FaultRates::default(), who).await
    }

    /// Starts a session over folders of mail and of calendars, whose services fail as `faults`
    /// says.
    pub async fn start_with(
        config: Config,
        home: TempDir,
        [mail, calendar]: [Option<&Path>; 2],
        faults: FaultRates,
        who: SandboxUser,
    ) -> Self {
        let [mail, calendar] = [mail, calendar].map(|path| path.map(Path::to_path_buf));
        let (app, sandbox) = App::sandboxed(config, mail, calendar, faults, who).await.unwrap();
        let client = InProcessClient::connect(app.server()).await.unwrap();
        Self { client, app, sandbox, home }
    }

    /// Signs another installation in to these accounts of the session.
    pub async fn elsewhere(&self, accounts: &[(&str, &str)], clock: Clock) -> OtherInstallation {
        let home = TempDir::new().unwrap();
        let mut config = Config { clock, ..config(home.path(), &[]) };
        config.use_sandbox(self.sandbox.base()).unwrap();
        let app = App::new(config);
        for (provider, address) in accounts {
            app.consent(provider, address).await.unwrap();
        }
        let client = InProcessClient::connect(app.server()).await.unwrap();
        OtherInstallation { client, _app: app, _home: home }
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> ToolAnswer {
        self.client.call(tool, arguments).await.unwrap()
    }

    /// Calls a tool that must succeed; returns its blocks.
    pub async fn ok(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let answer = self.call(tool, arguments.clone()).await;
        assert!(!answer.is_error, "{tool} {arguments}: {}", answer.blocks[0]);
        answer.blocks
    }

    /// Calls a tool that must fail; returns its error.
    pub async fn error(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments.clone()).await;
        assert!(answer.is_error, "{tool} {arguments}: {}", answer.blocks[0]);
        assert_eq!(answer.blocks.len(), 1);
        answer.blocks[0].clone()
    }

    /// Returns the document of a call as JSON.
    pub async fn json(&mut self, tool: &str, mut arguments: Value) -> Value {
        arguments["format"] = "json".into();
        // Tests request JSON for complete answers, so the default budget must not cut them.
        let takes = daysheet::tools::find(tool)
            .is_some_and(|tool| tool.args.iter().any(|arg| arg.name == "budget"));
        if takes && arguments.get("budget").is_none() {
            arguments["budget"] = 100_000.into();
        }
        let blocks = self.ok(tool, arguments).await;
        serde_json::from_str(&blocks[0]).unwrap()
    }
}

/// Adds members to the objects of an answer with this title or name.
pub fn add_members(answer: &mut Value, name: &str, members: &Value) {
    match answer {
        Value::Array(items) => items.iter_mut().for_each(|item| add_members(item, name, members)),
        Value::Object(object) => {
            object.values_mut().for_each(|value| add_members(value, name, members));
            let names = ["summary", "subject", "name"];
            if names.into_iter().any(|key| object.get(key).is_some_and(|value| value == name)) {
                object.extend(members.as_object().unwrap().clone());
            }
        }
        _ => {}
    }
}

/// Returns a pipeline over the accounts of a session that gives each of several accounts half a
/// second, for tests in which one does not answer.
pub fn impatient(session: &Session) -> Pipeline {
    let app = &session.app;
    Pipeline::new(
        app.config.clone(),
        app.store().clone(),
        app.accounts.clone(),
        app.connect.clone(),
    )
    .patience(Duration::from_millis(500))
}

/// Delays every answer to a request whose path contains `path` by two seconds, until the observer of
/// the sandbox is removed.
pub fn slow_down(sandbox: &Sandbox, path: &'static str) {
    sandbox.set_observer(Some(AnswerObserver::new(move |exchange| {
        let is_slow = exchange.path.contains(path);
        Box::pin(async move {
            if is_slow {
                tokio::time::sleep(Duration::from_secs(2)).await;
            }
        })
    })));
}

/// Returns settings for a test: a home, the key in a file, Berlin time, and a database if the test
/// runs over one.
pub fn config(home: &Path, more: &[(&str, &str)]) -> Config {
    let database = crate::common::postgres::database(home).unwrap_or_default();
    let home = home.to_str().unwrap();
    let files = format!("{home}/files");
    let mut set = vec![
        ("DAYSHEET_HOME", home),
        ("DAYSHEET_FILES", &files),
        ("DAYSHEET_DATABASE", &database),
        ("DAYSHEET_DATABASE_CONNECTIONS", "4"),
        ("DAYSHEET_KEY_STORE", "file"),
        ("DAYSHEET_ZONE", "Europe/Berlin"),
        ("DAYSHEET_BROWSER", "print"),
        ("DAYSHEET_ACCESS", "full"),
        ("DAYSHEET_NEW_RECIPIENTS", "allow"),
    ];
    set.extend_from_slice(more);
    let var = |name: &str| {
        set.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    let mut config = Config::from(var, None, Some(TimeZone::UTC), clock::clock()).unwrap();
    // Lost writes are looked up, and calls repeated, sooner than real services need.
    config.look = Duration::from_millis(40);
    config.retry = Duration::from_millis(1);
    #[cfg(feature = "documents")]
    {
        config.worker = Some(daysheet::worker::Worker::at(env!("CARGO_BIN_EXE_daysheet")));
    }
    config
}

/// Returns the first of these words that a text has.
pub fn first_of<'w>(text: &str, words: &[&'w str]) -> Option<&'w str> {
    words.iter().copied().find(|word| text.contains(word))
}

/// Returns the values of one column of a JSON document's table, as text.
pub fn column(document: &Value, table: &str, name: &str) -> Vec<String> {
    document[table]
        .as_array()
        .unwrap_or_else(|| panic!("no table {table} in {document}"))
        .iter()
        .map(|row| match &row[name] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .collect()
}

/// Visits a sign-in page of the sandbox and agrees, as a person would.
pub async fn agree(page: &str) {
    use http_body_util::Empty;
    use hyper::body::Bytes;
    use hyper_util::client::legacy::Client;
    let client = Client::builder(hyper_util::rt::TokioExecutor::new()).build_http();
    let mut next = page.to_owned();
    for consent in ["allow", ""] {
        let request = hyper::Request::get(&next)
            .header("X-Sandbox-Consent", consent)
            .body(Empty::<Bytes>::new())
            .unwrap();
        let answer = client.request(request).await.unwrap();
        if let Some(location) = answer.headers().get("location") {
            next = location.to_str().unwrap().to_owned();
        }
    }
}
