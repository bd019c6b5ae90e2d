//! The command line: one file per subcommand, and the only place that prints.

// A command line reports its errors on the terminal.
#![expect(clippy::print_stderr, reason = "a command line program complains on stderr")]

/// Prints a line, without invisible characters and terminal control sequences.
macro_rules! say {
    () => { $crate::cli::output::print("") };
    ($($line:tt)*) => {{
        let line = format!($($line)*);
        $crate::cli::output::print(&daysheet_core::text::shown(&line, daysheet_core::text::TextKind::Lines));
    }};
}

mod account;
mod audit;
mod call;
pub mod client;
mod command;
#[cfg(feature = "sandbox")]
mod demo;
mod doctor;
mod help;
pub mod install;
mod log;
mod notation;
mod output;
#[cfg(not(feature = "sandbox"))]
mod real;
#[cfg(feature = "sandbox")]
mod sandbox;
#[cfg(feature = "sandbox")]
pub mod sandboxed;
mod schema;
mod serve;
mod setup;
mod store;
#[cfg(feature = "documents")]
mod worker;

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

pub use self::notation::check;
use self::notation::convert;
use clap::{CommandFactory, Parser};
use command::{AccountCommand, Cli, Command, LimitOptions, SandboxFlags, with_words};
use daysheet_core::clock::Clock;
use daysheet_core::encode::stc::StcVersion;
use daysheet_core::error::{Error, ErrorKind, Result};
use tokio::runtime::Runtime;

use crate::config::Config;
use crate::tools::accounts::SignInArguments;

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let command = match cli.command {
        Some(command) => command,
        // Clients start the program without arguments, and with a pipe as stdin.
        None if !std::io::stdin().is_terminal() => Command::Serve {
            #[cfg(feature = "http")]
            http: None,
            #[cfg(feature = "http")]
            callers: command::CallerOptions::default(),
            limits: LimitOptions::default(),
            sandboxed: SandboxFlags::default(),
        },
        None => {
            // Help that was not requested is not a success.
            let _ = Cli::command().print_help();
            return ExitCode::from(2);
        }
    };
    match run(command, cli.database.as_deref()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("daysheet: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command, over the `database` of the command line if that names one.
fn run(command: Command, database: Option<&str>) -> Result<ExitCode> {
    if database.is_some() && matches!(command, Command::Install { .. }) {
        return Err(Error::argument("--database does not become part of an entry")
            .next("set DAYSHEET_DATABASE, or `database` in the settings file"));
    }
    if let Command::Doctor { checks, json, offline, report } = command {
        let database = database.map(str::to_owned);
        let request = doctor::DoctorRequest { checks, json, offline, report, database };
        return Ok(doctor::run(&build_runtime(false)?, &request));
    }
    // A command that needs no settings works even if they are invalid.
    let command = match run_without_settings(command)? {
        ControlFlow::Break(code) => return Ok(code),
        ControlFlow::Continue(command) => command,
    };
    let config = load_config(&command, database)?;
    #[cfg(feature = "http")]
    let over_http = matches!(command, Command::Serve { http: Some(_), .. });
    #[cfg(not(feature = "http"))]
    let over_http = false;
    let runtime = build_runtime(over_http)?;
    // The export of traces runs on the runtime, so the log starts after it.
    let log = log::install_subscriber(&config, over_http, runtime.handle())?;
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    let outcome = runtime.block_on(async {
        outlive_file_limits();
        run_with_settings(command, config).await
    });
    drop(log);
    // An abandoned read of stdin must not keep the process alive.
    runtime.shutdown_background();
    outcome
}

/// Runs a command that works without settings, or returns the command if it needs them.
fn run_without_settings(command: Command) -> Result<ControlFlow<ExitCode, Command>> {
    let code = match command {
        Command::Schema { table, json } => schema::run(table.as_deref(), json)?,
        #[cfg(feature = "documents")]
        Command::Worker => worker::run(),
        Command::Store(store::StoreCommand::NewKey) => store::print_key()?,
        Command::Check { file, stc, json } => {
            let notation = stc.then_some(notation::FileNotation::Stc);
            let what = if json { check::CheckOutput::Json } else { check::CheckOutput::Summary };
            check::run(&file, notation, what)?
        }
        Command::Convert { to, from, file } => {
            convert::run(&file, from.as_deref().map(notation_of), target_of(&to))?
        }
        #[cfg(feature = "http")]
        Command::Token { access, label } => serve::print_token(access, label.as_deref())?,
        Command::Install { client, print, yes, http, limits } => {
            let args = limits.words()?;
            install::run(&install::InstallRequest { client, args, http, print, yes })?
        }
        Command::Uninstall { client, yes } => install::remove(&client, yes)?,
        Command::Completions { shell } => {
            print_completions(shell);
            ExitCode::SUCCESS
        }
        Command::Man { folder } => write_manual(&folder)?,
        other => return Ok(ControlFlow::Continue(other)),
    };
    Ok(ControlFlow::Break(code))
}

/// Prints the completion script for a shell.
fn print_completions(shell: clap_complete::Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_words(Cli::command()), "daysheet", &mut script);
    say!("{}", String::from_utf8_lossy(&script).trim_end());
}

/// Writes the manual pages of all commands into a folder.
fn write_manual(folder: &Path) -> Result<ExitCode> {
    clap_mangen::generate_to(with_words(Cli::command()), folder).map_err(|error| {
        Error::argument(format!("no page can be written to {} ({error})", folder.display()))
            .next("create the folder, or name another one")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the notation that the command line names.
fn notation_of(word: &str) -> notation::FileNotation {
    match word {
        "toon" => notation::FileNotation::Toon,
        "json" => notation::FileNotation::Json,
        _ => notation::FileNotation::Stc,
    }
}

/// Returns the target of a conversion that the command line names.
fn target_of(word: &str) -> convert::ConvertTarget {
    match word {
        "toon" => convert::ConvertTarget::Toon,
        "json" => convert::ConvertTarget::Json,
        "stc" => convert::ConvertTarget::Stc(StcVersion::One),
        _ => convert::ConvertTarget::Stc(StcVersion::Two),
    }
}

/// Loads the settings, and applies the options of the command line that replace some of them.
fn load_config(command: &Command, database: Option<&str>) -> Result<Config> {
    #[cfg(feature = "sandbox")]
    // The sandbox changes the defaults of zone and clock, so the settings are loaded for it.
    let mut config = match command.sandbox_content() {
        Some(content) => sandboxed::load(content)?,
        None => Config::load(None, Clock::system())?,
    };
    #[cfg(not(feature = "sandbox"))]
    let mut config = Config::load(None, Clock::system())?;
    #[cfg(feature = "documents")]
    {
        // Untrusted files are parsed by this program, which is started once more and confined.
        config.worker = Some(crate::worker::Worker::this_program());
    }
    match command {
        Command::Serve { limits, .. }
        | Command::Call { limits, .. }
        | Command::Account(AccountCommand::Add { limits, .. }) => limits.apply(&mut config)?,
        #[cfg(feature = "http")]
        Command::Ui { limits, .. } => limits.apply(&mut config)?,
        _ => {}
    }
    if let Some(url) = database {
        config.use_database("--database", url)?;
    }
    Ok(config)
}

/// Builds the runtime. The calls of one person mostly wait for services; the calls of many can use
/// all cores.
fn build_runtime(over_http: bool) -> Result<Runtime> {
    let mut runtime = if over_http {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    runtime.enable_all().build().map_err(|error| {
        Error::new(ErrorKind::Internal, format!("no runtime could be started: {error}"))
    })
}

/// Runs a command that needs settings.
async fn run_with_settings(command: Command, config: Config) -> Result<ExitCode> {
    match command {
        #[cfg(feature = "http")]
        Command::Serve { http: Some(address), callers, sandboxed, .. } => {
            let mut config = config;
            callers.apply(&mut config)?;
            serve::run_http(config, address, &sandboxed).await
        }
        Command::Serve { sandboxed, .. } => serve::run(config, &sandboxed).await,
        #[cfg(feature = "http")]
        Command::Ui { port, sandboxed, .. } => serve::run_pages(config, port, &sandboxed).await,
        #[cfg(feature = "sandbox")]
        Command::Demo { mail, calendar } => demo::run(config, mail, calendar).await,
        Command::Call { tool, arguments, format, stats, sandboxed, .. } => {
            let call = call::PrintedCall { tool, arguments, format, stats };
            call::run(config, call, &sandboxed).await
        }
        Command::Account(AccountCommand::Add {
            provider,
            no_browser,
            device,
            tenant,
            mailbox,
            hint,
            ..
        }) => {
            let add = SignInArguments { provider, tenant, address: hint, mailbox, device };
            account::add(config, &add, no_browser).await
        }
        Command::Approve => call::approve::run(config).await,
        Command::Setup(request) => setup::run(config, request).await,
        Command::Audit { last, owner } => audit::run(config, last, owner.as_deref()).await,
        Command::Account(AccountCommand::List) => account::list(config).await,
        Command::Account(AccountCommand::Remove { account }) => {
            account::remove(config, &account).await
        }
        Command::Store(command) => store::run(config, &command).await,
        #[cfg(feature = "sandbox")]
        Command::Sandbox { port, mail, calendar, fault, token_life } => {
            sandbox::run(daysheet_sandbox::SandboxOptions {
                port,
                mail,
                calendar,
                today: config.sample_day,
                faults: sandboxed::faults(fault.as_deref())?,
                token_lifetime: std::time::Duration::from_secs(token_life),
                ..daysheet_sandbox::SandboxOptions::new(config.clock.clone())
            })
            .await
        }
        // These commands returned above, without settings.
        Command::Schema { .. }
        | Command::Check { .. }
        | Command::Convert { .. }
        | Command::Install { .. }
        | Command::Uninstall { .. }
        | Command::Doctor { .. }
        | Command::Completions { .. }
        | Command::Man { .. } => Ok(ExitCode::SUCCESS),
        #[cfg(feature = "http")]
        Command::Token { .. } => Ok(ExitCode::SUCCESS),
        #[cfg(feature = "documents")]
        Command::Worker => Ok(ExitCode::SUCCESS),
    }
}

/// Turns the signal for exceeding a file size limit into an error of the write, as for a full disk.
/// By default, the signal ends the process.
fn outlive_file_limits() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        /// `SIGXFSZ`, on Linux, macOS and the BSDs.
        const FILE_TOO_LARGE: i32 = 25;
        // A registered handler is enough to survive the signal. Without one, the default remains.
        let _ = signal(SignalKind::from_raw(FILE_TOO_LARGE));
    }
}
