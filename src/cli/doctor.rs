//! `daysheet doctor`: checks of all parts of the installation, each with the next step.
//!
//! The checks only read. They open no browser, and print neither tokens nor mail. They run at the same
//! time, each with a time limit, and a crash of one does not end the others.

mod accounts;
mod clients;
mod finding;
mod local;
mod mcp;
mod network;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use daysheet_core::clock::Clock;
use daysheet_core::error::Result;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

pub(super) use self::finding::CheckName;
use self::finding::{Finding, FindingState, ReportWords, word};
use crate::app::App;
use crate::config::Config;
use crate::oauth::{self, PROVIDERS};

/// The time limit of a check.
const LIMIT: Duration = Duration::from_secs(45);

/// The arguments of the command.
pub(super) struct DoctorRequest {
    /// The checks; empty for all.
    pub(super) checks: Vec<CheckName>,
    /// True for JSON.
    pub(super) json: bool,
    /// True to make no connection to another machine.
    pub(super) offline: bool,
    /// True for texts without personal data.
    pub(super) report: bool,
    /// The database that the command line names.
    pub(super) database: Option<String>,
}

/// Runs the checks and prints their findings. The code is 1 if one fails.
pub(super) fn run(runtime: &Runtime, request: &DoctorRequest) -> ExitCode {
    let findings = runtime.block_on(findings(request));
    let has_failed = findings.iter().any(|finding| finding.state == FindingState::Failed);
    let home = directories::BaseDirs::new();
    let home = home.map(|dirs| dirs.home_dir().display().to_string());
    let mut words = request.report.then(|| ReportWords::new(home));
    let mut shown = |text: String| match &mut words {
        Some(words) => words.replaced(&text),
        None => text,
    };
    if request.json {
        let all: Vec<_> = findings.iter().map(Finding::json).collect();
        let all = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "ok": !has_failed,
            "findings": all,
        });
        say!("{}", shown(format!("{all:#}")));
    } else {
        for finding in &findings {
            say!("{}", shown(finding.lines()));
        }
    }
    if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns the problems of a provider's OAuth client, as lines.
pub(super) async fn client_problems(app: &App, provider: &'static str) -> Vec<String> {
    let findings = clients::clients(app, &[provider], false).await;
    // A provider that was not reached has not accepted the client either.
    let is_bad = |finding: &&Finding| finding.state != FindingState::Good;
    findings.iter().filter(is_bad).map(Finding::sentence).collect()
}

/// Returns the settings as a server would read them.
fn load(database: Option<&str>) -> Result<Config> {
    let mut config = Config::load(None, Clock::system())?;
    if let Some(url) = database {
        config.use_database("--database", url)?;
    }
    Ok(config)
}

/// Runs the requested checks.
async fn findings(request: &DoctorRequest) -> Vec<Finding> {
    let is_wanted = |check: CheckName| request.checks.is_empty() || request.checks.contains(&check);
    let loaded = load(request.database.as_deref());
    let mut found = local::settings(&loaded);
    match loaded {
        Ok(config) => found.extend(with_settings(config, request.offline, &is_wanted).await),
        Err(_) => {
            use CheckName::{Accounts, Client, Clock, Database, Keys, Network, State, Zone};
            for check in [State, Database, Keys, Zone, Network, Clock, Client, Accounts] {
                let what = "the settings cannot be read";
                found.push(Finding::new(check, FindingState::Skipped, what));
                if check == Zone {
                    found.push(local::loopback());
                }
            }
        }
    }
    if is_wanted(CheckName::Mcp) {
        let task = tokio::task::spawn_blocking(mcp::clients);
        found.extend(finished(CheckName::Mcp, task).await);
    }
    found.push(local::version());
    found.retain(|finding| is_wanted(finding.check));
    found
}

/// Runs the checks that need settings.
async fn with_settings(
    config: Config,
    offline: bool,
    is_wanted: &dyn Fn(CheckName) -> bool,
) -> Vec<Finding> {
    let (own, of_store, of_network) = (config.clone(), config.clone(), config.clone());
    let mut tasks: Vec<(CheckName, JoinHandle<Vec<Finding>>)> = Vec::new();
    if is_wanted(CheckName::State) {
        let task = tokio::task::spawn_blocking(move || local::state(&own));
        tasks.push((CheckName::State, task));
    }
    if is_wanted(CheckName::Database) || is_wanted(CheckName::Keys) {
        let task = tokio::spawn(async move { local::database(&of_store).await });
        tasks.push((CheckName::Database, task));
    }
    let zone = local::zone(&config);
    let of_machine = tokio::task::spawn_blocking(|| vec![zone, local::loopback()]);
    tasks.push((CheckName::Zone, of_machine));
    let needs_accounts = [CheckName::Network, CheckName::Clock, CheckName::Client]
        .into_iter()
        .chain([CheckName::Accounts])
        .any(is_wanted);
    let app = Arc::new(App::new(config));
    let used = if needs_accounts { used_providers(&app).await } else { Vec::new() };
    if is_wanted(CheckName::Network) || is_wanted(CheckName::Clock) {
        let used = used.clone();
        let task = tokio::spawn(async move {
            if offline {
                let skip = |check| Finding::new(check, FindingState::Skipped, "--offline");
                return [CheckName::Network, CheckName::Clock].map(skip).to_vec();
            }
            let all: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
            let providers = if used.is_empty() { &all } else { &used };
            network::network(&of_network, providers).await
        });
        tasks.push((CheckName::Network, task));
    }
    if is_wanted(CheckName::Client) {
        let app = app.clone();
        let task = tokio::spawn(async move {
            if used.is_empty() {
                let next = "run `daysheet setup`, or follow docs/guide/setup-google.md or \
                            docs/guide/setup-microsoft.md";
                let what = "no OAuth client is set";
                let finding = Finding::new(CheckName::Client, FindingState::Failed, what);
                return vec![finding.next(next)];
            }
            clients::clients(&app, &used, offline).await
        });
        tasks.push((CheckName::Client, task));
    }
    if is_wanted(CheckName::Accounts) {
        let app = app.clone();
        let task = tokio::spawn(async move { accounts::accounts(&app, offline).await });
        tasks.push((CheckName::Accounts, task));
    }
    let mut found = Vec::new();
    for (check, task) in tasks {
        found.extend(finished(check, task).await);
    }
    app.close().await;
    found
}

/// Returns the providers with an OAuth client or an account that needs one.
async fn used_providers(app: &App) -> Vec<&'static str> {
    let accounts = tokio::time::timeout(LIMIT, accounts::known(app)).await;
    let accounts = accounts.map_or_else(|_| Vec::new(), Result::unwrap_or_default);
    let is_used = |provider: &str| {
        accounts.iter().any(|account| {
            account.provider == provider && oauth::unattended(&app.config, &account.id).is_none()
        })
    };
    let all = PROVIDERS.iter();
    all.filter(|one| one.has_client(&app.config) || is_used(one.name)).map(|one| one.name).collect()
}

/// Waits for a check, and reports one that hangs or crashes.
async fn finished(check: CheckName, mut task: JoinHandle<Vec<Finding>>) -> Vec<Finding> {
    let next = "report it as a bug, with the output of `daysheet doctor --report`";
    let failed = |what: String| vec![Finding::new(check, FindingState::Failed, what).next(next)];
    match tokio::time::timeout(LIMIT, &mut task).await {
        Ok(Ok(findings)) => findings,
        Ok(Err(_)) => failed(format!("the check `{}` crashed", word(check))),
        Err(_) => {
            task.abort();
            failed(format!("the check `{}` took over {} seconds", word(check), LIMIT.as_secs()))
        }
    }
}
