//! `daysheet setup`: the steps of an installation in a terminal, up to a first brief.
//!
//! A step with a result from an earlier setup is skipped, so an interrupted setup can be continued.
//! `account.rs` signs in, and `install.rs` adds the entry of a client.

mod client;
mod console;

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, Result};
use daysheet_core::provider::AccountStatus;
use serde_json::json;

use self::client::EnteredClient;
use super::client::InProcessClient;
use super::{account, install};
use crate::app::App;
use crate::config::Config;
use crate::oauth::{self, OAuthProvider};
use crate::tools::accounts::SignInArguments;

/// The rows of the brief that are shown.
const ROWS: usize = 5;

/// The arguments of the command.
#[derive(Debug, Args)]
pub(super) struct SetupRequest {
    /// The provider: google or microsoft; asked for by default.
    #[arg(long)]
    pub(super) provider: Option<String>,
    /// The client id, instead of the pages of the console.
    #[arg(long, value_name = "ID", conflicts_with = "credentials")]
    pub(super) client_id: Option<String>,
    /// Its secret (Google). Other users of the machine can read the command line.
    #[arg(long, value_name = "SECRET", requires = "client_id")]
    pub(super) client_secret: Option<String>,
    /// The credentials.json of Google's console, instead of its pages.
    #[arg(long, value_name = "FILE")]
    pub(super) credentials: Option<PathBuf>,
    /// The tenant (Microsoft): common, organizations, consumers, or a directory's GUID or domain.
    #[arg(long)]
    pub(super) tenant: Option<String>,
    /// Open no browser: print the addresses, and paste the one that the sign-in ends on.
    #[arg(long)]
    pub(super) no_browser: bool,
    /// Sign in with a code to enter on another machine (Microsoft).
    #[arg(long, conflicts_with = "no_browser")]
    pub(super) device: bool,
    /// Take the options without questions, and fail if one is missing.
    #[arg(long, short)]
    pub(super) yes: bool,
}

/// Carries the steps out. The code is 1 if one of them fails.
pub(super) async fn run(config: Config, request: SetupRequest) -> Result<ExitCode> {
    let provider = chosen_provider(&request)?;
    say!("1. Provider: {}", provider.title);
    if provider.has_client(&config) {
        say!("2. OAuth client: set already");
    } else {
        say!("2. OAuth client");
        set_client(&config, provider, &request).await?;
    }
    let config = reloaded(&config)?;
    if is_signed_in(&config, provider).await? {
        say!("3. Sign-in: done already");
    } else {
        say!("3. Sign-in");
        let add = SignInArguments {
            provider: provider.name.to_owned(),
            device: request.device,
            ..SignInArguments::default()
        };
        let code = account::add(config.clone(), &add, request.no_browser).await?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    }
    say!("4. MCP client");
    if request.yes || !std::io::stdin().is_terminal() {
        say!("   Run `daysheet install`, which lists the clients found here.");
    } else {
        offer_clients()?;
    }
    say!("5. The day");
    first_rows(config).await
}

/// Returns the settings after a change of their file.
fn reloaded(config: &Config) -> Result<Config> {
    let loaded = Config::load(None, Clock::system())?;
    // The command line may have set these.
    Ok(Config { database: config.database.clone(), ..loaded })
}

/// Asks a question, and returns the line that answers it.
fn ask(question: &str) -> Result<String> {
    eprint!("{question} ");
    let _ = std::io::stderr().flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).unwrap_or_default();
    if read == 0 {
        return Err(Error::argument("the input ended before the setup")
            .next("call `daysheet setup` again, which continues, or give its options"));
    }
    Ok(line.trim().to_owned())
}

fn is_agreed(question: &str) -> Result<bool> {
    Ok(matches!(ask(&format!("{question} [y/N]"))?.to_lowercase().as_str(), "y" | "yes"))
}

/// Returns the provider of the options, or asks for it.
fn chosen_provider(request: &SetupRequest) -> Result<&'static OAuthProvider> {
    if let Some(name) = &request.provider {
        return oauth::provider_named(name);
    }
    if request.yes {
        return Err(Error::argument("no provider is named")
            .next("give --provider google or --provider microsoft"));
    }
    loop {
        let answer = ask("Which provider has your mail, google or microsoft?")?.to_lowercase();
        match oauth::provider_named(&answer) {
            Ok(provider) => return Ok(provider),
            Err(error) => eprintln!("daysheet: {error}"),
        }
    }
}

/// Gets an OAuth client from the options or the user, and writes it into the settings file.
async fn set_client(
    config: &Config,
    provider: &'static OAuthProvider,
    request: &SetupRequest,
) -> Result<()> {
    let given = EnteredClient {
        id: request.client_id.clone(),
        secret: request.client_secret.clone(),
        credentials: request
            .credentials
            .as_ref()
            .map(std::path::absolute)
            .transpose()
            .map_err(|error| Error::argument(format!("--credentials is not a path: {error}")))?,
        tenant: request.tenant.clone(),
    };
    let mut entered = given;
    let mut is_given = entered.id.is_some() || entered.credentials.is_some();
    if !is_given && request.yes {
        return Err(Error::argument("no OAuth client is given")
            .next("give --credentials FILE, or --client-id ID"));
    }
    if !is_given {
        let id = show_console(config, provider, request)?;
        is_given = id.is_some();
        entered.id = id;
    }
    loop {
        if !is_given {
            let tenant = entered.tenant.take();
            entered = EnteredClient { tenant, ..entered_client(provider)? };
        }
        match entered.save(config, provider.name).await? {
            Ok(file) => {
                say!("   {} accepts the client. Written: {}", provider.title, file.display());
                return Ok(());
            }
            Err(problems) if request.yes || is_given => {
                return Err(Error::argument(problems.join("; ")));
            }
            Err(problems) => problems.iter().for_each(|problem| say!("   {problem}")),
        }
    }
}

/// Asks for a client.
fn entered_client(provider: &OAuthProvider) -> Result<EnteredClient> {
    let is_google = provider.name == "google";
    let question = if is_google {
        "Path of credentials.json, or the client id:"
    } else {
        "Application (client) ID:"
    };
    let mut entered = EnteredClient::of_text(&ask(question)?);
    if is_google && entered.credentials.is_none() {
        entered.secret = Some(ask("Client secret:")?).filter(|secret| !secret.is_empty());
    }
    Ok(entered)
}

/// Shows the pages of the provider's console one after the other, or lets a program do their work.
/// Returns the client id if the program created one.
fn show_console(
    config: &Config,
    provider: &OAuthProvider,
    request: &SetupRequest,
) -> Result<Option<String>> {
    let mut skipped = None;
    if let Some(program) = console::program(provider.name) {
        say!("   {} is signed in. This {}:", program.program, program.effect);
        say!("   {} {}", program.program, program.args.join(" "));
        if is_agreed("   Run it?")? {
            match program.run(program.args) {
                // Microsoft's program prints the id, and no page is left.
                Some(id) if provider.name == "microsoft" && !id.is_empty() => {
                    return Ok(Some(id));
                }
                Some(_) => skipped = Some(1),
                None => say!("   It failed; the pages below do the same."),
            }
        }
    }
    let opens = !request.no_browser && config.browser && account::without_browser().is_none();
    for (at, page) in console::pages(provider.name).iter().enumerate() {
        if skipped == Some(at) {
            continue;
        }
        say!("   {}", page.url);
        say!("   {}", page.entries);
        if opens && open::that_detached(page.url).is_err() {
            say!("   Open it in a browser.");
        }
        ask("   Press Enter when it is done.")?;
    }
    Ok(None)
}

/// Returns true if an account of the provider is signed in.
async fn is_signed_in(config: &Config, provider: &OAuthProvider) -> Result<bool> {
    let app = App::new(config.clone());
    let accounts = app.accounts.list().await;
    app.close().await;
    let is_good = |account: &daysheet_core::provider::Account| {
        account.provider == provider.name && account.status == AccountStatus::Ok
    };
    Ok(accounts?.iter().any(is_good))
}

/// Offers to add the entry to each client without it.
fn offer_clients() -> Result<()> {
    let without = install::clients_without_entry()?;
    if without.is_empty() {
        say!("   All clients found here have the entry.");
    }
    for client in without {
        let request = install::InstallRequest {
            client: Some(client.to_owned()),
            args: Vec::new(),
            http: None,
            print: false,
            yes: false,
        };
        // One that cannot be changed must not end the setup.
        if let Err(error) = install::run(&request) {
            eprintln!("daysheet: {error}");
        }
    }
    Ok(())
}

/// Prints the first rows of the brief.
async fn first_rows(config: Config) -> Result<ExitCode> {
    let app = App::new(config);
    let answer = async {
        let mut client = InProcessClient::connect(app.server()).await?;
        client.call("brief", json!({})).await
    };
    let answer = answer.await;
    app.close().await;
    let answer = answer?;
    let text = answer.blocks.first().map_or("", String::as_str);
    // The notes above the first table are for models.
    let is_heading = |line: &&str| line.contains("]{");
    let first = text.lines().position(|line| is_heading(&line)).unwrap_or_default();
    let mut rows = 0;
    for line in text.lines().skip(first) {
        rows += usize::from(line.starts_with("  "));
        if rows > ROWS {
            break;
        }
        say!("{line}");
    }
    say!("`daysheet call brief` shows all.");
    Ok(if answer.is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
