//! The commands with their options, as clap reads them. `--help` shows the comments of the options.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use daysheet_core::access::AccessLevel;
use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, ErrorKind, Result};

use super::doctor::CheckName;
use super::install::clients::CLIENTS;
#[cfg(not(feature = "sandbox"))]
pub(super) use super::real::SandboxFlags;
#[cfg(feature = "sandbox")]
use super::sandboxed;
#[cfg(feature = "sandbox")]
pub(super) use super::sandboxed::SandboxFlags;
use super::setup::SetupRequest;
use super::{help, store};
use crate::config::Config;
use crate::tools::accounts::ProviderChoice;
use crate::tools::{FormatWord, TOOLS};

/// Mail and calendars for language models: Gmail, Outlook and both calendars as
/// curated flat rows in token-saving TOON, over MCP.
///
/// Without a subcommand, and with something other than a terminal as stdin,
/// daysheet serves MCP over stdio.
#[derive(Debug, Parser)]
#[command(name = "daysheet", version, after_help = help::ENVIRONMENT)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// Store the state in this PostgreSQL database, such as postgres://user@host/name.
    ///
    /// Other users of the machine can read the command line: put a password in
    /// DAYSHEET_DATABASE or in ~/.pgpass instead.
    #[arg(long, global = true, value_name = "URL")]
    pub(super) database: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve MCP: over stdio to the client that starts it, or with --http over HTTP.
    #[cfg_attr(feature = "http", command(after_help = help::SERVE_EXAMPLES))]
    Serve {
        /// Serve MCP over HTTP on this address, such as 127.0.0.1:8750, instead of stdio.
        ///
        /// Without an issuer or a token file, it must be a loopback address.
        #[cfg(feature = "http")]
        #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = "HTTP")]
        http: Option<std::net::SocketAddr>,
        #[cfg(feature = "http")]
        #[command(flatten)]
        callers: CallerOptions,
        #[command(flatten)]
        limits: LimitOptions,
        #[command(flatten)]
        sandboxed: SandboxFlags,
    },
    /// Manage your accounts in the browser: connect them, see their activity, erase your data.
    #[cfg(feature = "http")]
    Ui {
        /// The port on 127.0.0.1; 0 chooses a free one.
        #[arg(long, default_value_t = 0)]
        port: u16,
        #[command(flatten)]
        limits: LimitOptions,
        #[command(flatten)]
        sandboxed: SandboxFlags,
    },
    /// Show the main job on the embedded sandbox: no account needed.
    #[cfg(feature = "sandbox")]
    Demo {
        /// A folder of .eml and .mbox files instead of the sample mailboxes.
        #[arg(long, value_name = "DIR")]
        mail: Option<PathBuf>,
        /// A folder of .ics files instead of the sample calendars.
        #[arg(long, value_name = "DIR")]
        calendar: Option<PathBuf>,
    },
    /// Call one tool and print what a model would get.
    ///
    /// Arguments are key=value, or one JSON object.
    #[command(
        after_help = "Example:\n  daysheet call mail_search q='is:unread from:priya' limit=5 --sandbox"
    )]
    Call {
        /// The tool, such as mail_search.
        tool: String,
        /// Arguments as key=value, or one JSON object.
        arguments: Vec<String>,
        /// The format of the answer: toon, json or stc.
        #[arg(long)]
        format: Option<String>,
        /// Print the size of the answer on stderr: tokens, bytes and the like, as JSON.
        #[arg(long)]
        stats: bool,
        #[command(flatten)]
        limits: LimitOptions,
        #[command(flatten)]
        sandboxed: SandboxFlags,
    },
    /// Create a token for serve --http --token-file, and its line for that file.
    #[cfg(feature = "http")]
    Token {
        /// The most that the token allows: read, organize, draft, send or full (default).
        #[arg(long, value_name = "LEVEL", value_parser = level)]
        access: Option<AccessLevel>,
        /// A label for its line in the file, such as laptop.
        #[arg(long, value_name = "TEXT")]
        label: Option<String>,
    },
    /// Add Daysheet to an MCP client, such as claude-code or cursor; list those found here.
    ///
    /// The change of the client's settings file is shown first, and a copy of the file
    /// is kept. Variables of Daysheet in this environment become part of the entry,
    /// unless Daysheet's own settings file has the same values.
    Install {
        /// The client; without one, the clients found on this machine are listed.
        client: Option<String>,
        /// Only print the entry, with a link that adds it if the client has one.
        #[arg(long, requires = "client")]
        print: bool,
        /// Write without asking.
        #[arg(long, short, requires = "client")]
        yes: bool,
        /// Connect the client to a server that runs already, such as `https://mail.example.com/mcp`.
        #[arg(long, value_name = "URL", requires = "client", conflicts_with_all = ["access", "tools"])]
        http: Option<String>,
        #[command(flatten)]
        limits: LimitOptions,
    },
    /// Remove Daysheet from the settings of an MCP client.
    Uninstall {
        /// The client, as `install` names it.
        client: String,
        /// Write without asking.
        #[arg(long, short)]
        yes: bool,
    },
    /// Set everything up, from the OAuth client to the first brief; continues where it stopped.
    ///
    /// Shows the pages of the provider's console in order, checks the client, signs in,
    /// and offers to add Daysheet to MCP clients. Steps already done are skipped.
    Setup(SetupRequest),
    /// Check all parts of the installation, and show the next step for each problem.
    ///
    /// Checks: settings, state, database, keys, zone, loopback (ports for sign-ins and
    /// approvals), network, clock, client (OAuth), accounts, mcp (clients), version. The
    /// exit code is 1 if one fails. The checks change no files, open no browser, and show
    /// neither secrets nor mail.
    Doctor {
        /// Only these checks.
        #[arg(value_name = "CHECK", value_parser = check_name)]
        checks: Vec<CheckName>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Connect to no other machine.
        #[arg(long)]
        offline: bool,
        /// Leave out personal data, for a bug report.
        ///
        /// Addresses, the home folder and the names of databases and projects are
        /// replaced. Look at the text before you publish it.
        #[arg(long)]
        report: bool,
    },
    /// Sign accounts in and out.
    #[command(subcommand)]
    Account(AccountCommand),
    /// Maintain the database: migrate, back up, check, move, rotate keys.
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// Approve or refuse what your assistant asks to do, if its client cannot ask you.
    Approve,
    /// Print the audit log: one line of JSON before and one after every write.
    Audit {
        /// Print only the last lines, at most this many.
        #[arg(long, value_name = "LINES")]
        last: Option<usize>,
        /// Print only the lines with this `owner`.
        #[arg(long)]
        owner: Option<String>,
    },
    /// Print the columns of a table, or list the tables.
    Schema {
        /// The table, such as message.
        table: Option<String>,
        /// Print JSON Schema.
        #[arg(long)]
        json: bool,
    },
    /// Check that a file is strict TOON, JSON or STC with the columns of the registry.
    Check {
        /// The file is STC, even if it has no braces.
        #[arg(long)]
        stc: bool,
        /// Print any STC as JSON, ignoring the registry.
        #[arg(long, requires = "stc")]
        json: bool,
        /// The file; - is stdin.
        file: PathBuf,
    },
    /// Convert a file between JSON, TOON and STC.
    Convert {
        /// What to print; stc2 is STC without unneeded braces and quotes.
        #[arg(long, value_name = "NOTATION", value_parser = ["toon", "json", "stc", "stc2"])]
        to: String,
        /// The notation of the file; detected unless given.
        #[arg(long, value_name = "NOTATION", value_parser = ["toon", "json", "stc"])]
        from: Option<String>,
        /// The file; - is stdin.
        file: PathBuf,
    },
    /// Run the imitation of Google's and Microsoft's sign-ins, Gmail, Google
    /// Calendar and Graph on 127.0.0.1.
    #[cfg(feature = "sandbox")]
    Sandbox {
        /// The port; 0 chooses a free one.
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// A folder of .eml and .mbox files instead of the sample mailboxes.
        #[arg(long, value_name = "DIR")]
        mail: Option<PathBuf>,
        /// A folder of .ics files instead of the sample calendars.
        #[arg(long, value_name = "DIR")]
        calendar: Option<PathBuf>,
        /// Faults to inject, such as 429=0.2,500=0.1,reset=0.05,delay=50ms.
        #[arg(long, value_name = "SPEC")]
        fault: Option<String>,
        /// How long access tokens are valid, in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
        token_life: u64,
    },
    /// Read one file, for the process that starts this one.
    #[cfg(feature = "documents")]
    #[command(hide = true)]
    Worker,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, one for each command, into a folder such as
    /// ~/.local/share/man/man1.
    Man {
        /// The folder; it must exist.
        folder: PathBuf,
    },
}

/// Who may call over HTTP, if not as in the settings.
#[cfg(feature = "http")]
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "HTTP")]
pub(super) struct CallerOptions {
    /// Accept the access tokens of this OIDC issuer, for many people.
    #[arg(long, value_name = "URL", requires = "http")]
    issuer: Option<String>,
    /// Accept the tokens whose hashes are in this file, for one person (see daysheet token).
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "issuer")]
    token_file: Option<PathBuf>,
    /// The URL by which clients reach the server, such as `https://mail.example.com`.
    #[arg(long, value_name = "URL", requires = "http")]
    public_url: Option<String>,
    /// A proxy terminates TLS, and only the proxy can reach the address.
    #[arg(long, requires = "http")]
    behind_proxy: bool,
}

#[cfg(feature = "http")]
impl CallerOptions {
    /// Replaces the settings with the options that were given.
    pub(super) fn apply(self, config: &mut Config) -> Result<()> {
        let identity = &mut config.identity;
        // Either of them on the command line replaces both in the settings.
        if self.issuer.is_some() || self.token_file.is_some() {
            if self.token_file.is_some() && identity.issuer.is_some() {
                tracing::warn!(
                    "--token-file replaces http.issuer: this is a server of one person, `local`"
                );
            }
            (identity.issuer, identity.token_file) = (self.issuer, self.token_file);
        }
        if let Some(url) = self.public_url {
            config.http.use_public_url(&url)?;
        }
        config.http.proxy |= self.behind_proxy;
        Ok(())
    }
}

/// What may be done, if not as in the settings.
#[derive(Debug, Args, Default)]
pub(super) struct LimitOptions {
    /// What may be changed: read, organize, draft, send or full.
    ///
    /// Tools above the level are not offered, and sign-ins request no more than it
    /// needs. Default: the level of the settings, or draft.
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    access: Option<AccessLevel>,
    /// The tools to offer, by name prefix: mail,calendar.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tools: Option<Vec<String>>,
}

impl LimitOptions {
    /// Replaces the settings with the options that were given.
    pub(super) fn apply(&self, config: &mut Config) -> Result<()> {
        // `read` in either place wins.
        if let Some(access) = self.access
            && config.access != AccessLevel::Read
        {
            config.access = access;
        }
        if let Some(tools) = &self.tools {
            config.tools = tools.iter().map(|name| name.trim().to_lowercase()).collect();
        }
        // The names may come from the settings, which are only checked here.
        check_tools(&config.tools)
    }

    /// Returns the options as arguments of a command line.
    pub(super) fn words(&self) -> Result<Vec<String>> {
        let mut words = Vec::new();
        if let Some(access) = self.access {
            words.extend(["--access".to_owned(), access.word().to_owned()]);
        }
        if let Some(tools) = &self.tools {
            check_tools(tools)?;
            words.extend(["--tools".to_owned(), tools.join(",")]);
        }
        Ok(words)
    }
}

/// Refuses names that are neither tools nor beginnings of their names.
fn check_tools(names: &[String]) -> Result<()> {
    let known = |name: &String| name.is_empty() || TOOLS.iter().any(|tool| tool.is_named(name));
    match names.iter().find(|name| !known(name)) {
        Some(name) => Err(Error::new(ErrorKind::Config, format!("`{name}` matches no tool"))
            .next("use tool names or prefixes, such as calendar_save or mail")),
        None => Ok(()),
    }
}

/// Parses an address to listen on. If a name such as `localhost` has several, prefers IPv4, which
/// most clients try first.
#[cfg(feature = "http")]
fn address(text: &str) -> std::result::Result<std::net::SocketAddr, String> {
    use std::net::{SocketAddr, ToSocketAddrs};
    let found = text.to_socket_addrs().ok();
    found
        .and_then(|all| all.min_by_key(SocketAddr::is_ipv6))
        .ok_or_else(|| "write it like 127.0.0.1:8750 or localhost:8750".to_owned())
}

fn check_name(word: &str) -> std::result::Result<CheckName, String> {
    let found = CheckName::TABLE.iter().find(|(known, _)| *known == word);
    found
        .map(|(_, check)| *check)
        .ok_or_else(|| format!("use one of {}", CheckName::WORDS.join(", ")))
}

fn level(word: &str) -> std::result::Result<AccessLevel, String> {
    AccessLevel::find(word).ok_or_else(|| {
        let words = AccessLevel::ALL.map(AccessLevel::word).join(", ");
        format!("use one of {words}")
    })
}

/// Adds the allowed words of some arguments, only for shell completion: for other words, the call
/// itself reports a better error.
pub(super) fn with_words(command: clap::Command) -> clap::Command {
    let words = |id: &str| match id {
        "tool" => Some(TOOLS.iter().map(|tool| tool.name).collect()),
        "format" => Some(FormatWord::WORDS.to_vec()),
        "provider" => Some(ProviderChoice::WORDS.to_vec()),
        "checks" => Some(CheckName::WORDS.to_vec()),
        "client" => Some(CLIENTS.iter().map(|client| client.id).collect()),
        _ => None,
    };
    let with = |arg: clap::Arg| match words(arg.get_id().as_str()) {
        Some(words) => arg.value_parser(clap::builder::PossibleValuesParser::new(words)),
        None => arg,
    };
    command
        .mut_subcommand("call", |call| call.mut_args(with))
        .mut_subcommand("setup", |setup| setup.mut_args(with))
        .mut_subcommand("doctor", |doctor| doctor.mut_args(with))
        .mut_subcommand("install", |install| install.mut_args(with))
        .mut_subcommand("uninstall", |uninstall| uninstall.mut_args(with))
        .mut_subcommand("account", |account| {
            account.mut_subcommand("add", |add| add.mut_args(with))
        })
}

#[derive(Debug, Subcommand)]
pub(super) enum AccountCommand {
    /// Sign an account in through its provider's page.
    Add {
        /// The provider: google or microsoft.
        provider: String,
        /// Print the address of the sign-in page instead of opening it; paste the
        /// address it ends on back here.
        #[arg(long)]
        no_browser: bool,
        /// Show a code to enter on another machine (Microsoft).
        #[arg(long, conflicts_with = "no_browser")]
        device: bool,
        /// The tenant to sign in at: common, organizations, consumers, or the
        /// GUID or domain of a directory (Microsoft).
        #[arg(long)]
        tenant: Option<String>,
        /// A mailbox shared with the person who signs in (Microsoft), or opened by the
        /// service account of the settings (Google).
        #[arg(long, value_name = "ADDRESS")]
        mailbox: Option<String>,
        /// The e-mail address to suggest on the page, or that a token command is for.
        #[arg(long, value_name = "ADDRESS")]
        hint: Option<String>,
        #[command(flatten)]
        limits: LimitOptions,
    },
    /// List the accounts that are signed in.
    List,
    /// Sign an account out: revoke its grant and delete its tokens.
    Remove {
        /// The account's e-mail address.
        account: String,
    },
}

#[cfg(feature = "sandbox")]
impl Command {
    /// Returns the content of the sandbox that the command starts, or `None` if it does not start
    /// one.
    pub(super) fn sandbox_content(&self) -> Option<sandboxed::SandboxContent> {
        match self {
            Self::Serve { sandboxed, .. } | Self::Call { sandboxed, .. } => sandboxed.content(),
            #[cfg(feature = "http")]
            Self::Ui { sandboxed, .. } => sandboxed.content(),
            Self::Demo { mail, .. } | Self::Sandbox { mail, .. } => {
                Some(sandboxed::SandboxContent::new(mail.as_deref()))
            }
            _ => None,
        }
    }
}
