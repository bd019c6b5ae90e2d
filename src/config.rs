//! The settings: read and checked once at start, and constant afterwards.
//!
//! A setting comes from the environment or from a TOML file (`DAYSHEET_CONFIG`, or else
//! `config.toml` in the state folder); the environment takes precedence. [`Config::from`] and the
//! functions that it calls are the complete list: they name each key once, with its allowed values.
//! `config/settings.rs` finds and checks settings one by one, and errors name the variable or key
//! to correct. A missing OAuth client is an error only at sign-in, because most commands never need
//! one.
//!
//! This module opens no database and no connection, and the environment is not read after the
//! start.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::count::Tokenizer;
use daysheet_core::budget::value::{self, ValueStrategy};
use daysheet_core::clock::Clock;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::upstream::UpstreamShare;
use daysheet_core::provider::{ProviderEndpoints, ServiceSettings};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use oauth2::ClientId;
use url::Url;

#[cfg(feature = "documents")]
use crate::worker::Worker;

mod clients;
mod database;
mod detached;
mod http;
mod identity;
mod keys;
mod limits;
mod settings;

pub use clients::{OauthClient, ServiceAccount};
pub use database::DatabaseUrl;
pub use detached::detached_environment;
pub use http::{HttpSettings, LogForm};
pub use identity::IdentitySettings;
pub use keys::{GivenKeys, RetentionDays};
pub use limits::PersonLimits;
use settings::{FILE, SettingSources, absolute, home, is_loopback, read, set, unreadable};
pub use settings::{TENANTS, is_guid, tenant, unknown};

/// The time for which the effect of a lost write is looked up: services have carried out requests
/// seconds after the connection broke.
const LOOK: Duration = Duration::from_secs(8);
/// The wait before the second attempt at a call to a provider.
const RETRY: Duration = Duration::from_millis(250);

/// Microsoft's tenant for all accounts: work, school and personal.
const COMMON: &str = "common";

/// All settings. `Debug` never shows a client secret.
#[derive(Debug, Clone)]
pub struct Config {
    /// The state folder, absolute: database, key file, settings file.
    pub home: PathBuf,
    /// The settings file, if one was read.
    pub file: Option<PathBuf>,
    /// The providers' endpoints.
    pub endpoints: ProviderEndpoints,
    /// The OAuth client for Google.
    pub google: OauthClient,
    /// The OAuth client for Microsoft.
    pub microsoft: OauthClient,
    /// The Google service account that acts for the users of its domain.
    pub google_service_account: Option<ServiceAccount>,
    /// The commands that print access tokens, each a program and its arguments, by account,
    /// such as `google:mira@example.com`.
    pub token_commands: BTreeMap<String, Vec<String>>,
    /// The Microsoft tenant: `common`, `organizations`, `consumers`, or the GUID or domain of a
    /// directory.
    pub microsoft_tenant: String,
    /// The location of the key that encrypts tokens.
    pub key_store: KeyStore,
    /// The PostgreSQL database; `None` if the state is in the state folder.
    pub database: Option<DatabaseUrl>,
    /// The maximum number of database connections per process.
    pub database_connections: usize,
    /// The source of master keys; `None` if Daysheet keeps its own.
    pub keys: Option<GivenKeys>,
    /// The retention of rows.
    pub retention: RetentionDays,
    /// The default output format.
    pub format: Format,
    /// True to send the size of every answer in `_meta`, whether or not the client asks for it.
    pub stats: bool,
    /// The default budget of an answer in tokens.
    pub budget: usize,
    /// The tokens of the budget (from this setting or from a call) that are left to the caller.
    pub reserve: usize,
    /// True if a setting has the budget. Answers are then fitted to it alone, and not to the
    /// client's limit.
    pub budget_is_set: bool,
    /// The tokenizer for counting tokens.
    pub tokenizer: Tokenizer,
    /// The storage for the full text of shortened answers.
    pub outputs: OutputStorage,
    /// The value functions that were set, by tool.
    pub values: Vec<(String, ValueStrategy)>,
    /// False if sign-in pages are printed rather than opened.
    pub browser: bool,
    /// The time at which the clock stands still over a sandbox; `None` lets it run.
    pub sandbox_now: Option<Timestamp>,
    /// The clock; no setting stops it for real accounts.
    pub clock: Clock,
    /// The day to which the dates of the sandbox's samples are moved, by whole weeks; `None` leaves
    /// them unchanged. No setting changes it; the sandbox modes do.
    pub sample_day: Option<Date>,
    /// The zone that dates are shown in. It always has an IANA name: the setting's, the system's,
    /// or UTC if the system's zone is unknown.
    pub zone: TimeZone,
    /// The access level, which determines tools and scopes.
    pub access: AccessLevel,
    /// The limit that determines the access level. No setting changes it; a server for many people
    /// does.
    pub access_by: AccessBy,
    /// The offered tools, by prefixes of their names, such as `mail`; empty means all.
    pub tools: Vec<String>,
    /// The folders of files that may be attached or saved, absolute. By default, files are saved to
    /// the first.
    pub files: Vec<PathBuf>,
    /// The maximum size of a file that is attached or saved, in bytes.
    pub largest_file: u64,
    /// The allowed recipients: addresses, and domains as `@example.com`, in lower case; empty
    /// allows everyone.
    pub recipients: Vec<String>,
    /// The treatment of a message to a new recipient after the process has shown untrusted text.
    pub new_recipients: NewRecipients,
    /// True if every write that reaches other people needs the user's approval, and is refused if
    /// the user cannot be asked.
    pub always_confirm: bool,
    /// The way to approve a write if the client cannot show a question.
    pub approve: ApprovalWay,
    /// True if mail may be written with pictures that load from other servers.
    pub remote_pictures: bool,
    /// The maximum number of messages sent within an hour.
    pub sends_per_hour: usize,
    /// The maximum number of recipients written to within an hour.
    pub recipients_per_hour: usize,
    /// The time for which the effect of a write is looked up after its response was lost, before it
    /// is reported as unknown. No setting changes it; tests do.
    pub look: Duration,
    /// The wait before the second attempt at a call to a provider.
    pub retry: Duration,
    /// The signature of messages from Outlook, as text or HTML. Graph does not expose the signature
    /// that Outlook itself uses.
    pub outlook_signature: Option<String>,
    /// The limits of each person on a shared server.
    pub limits: PersonLimits,
    /// The settings that identify callers over HTTP.
    pub identity: IdentitySettings,
    /// The settings of the HTTP server.
    pub http: HttpSettings,
    /// The address for serving metrics; `None` by default.
    pub metrics: Option<SocketAddr>,
    /// The `tracing` filter that was set, such as `daysheet=debug`.
    pub log: Option<String>,
    /// True for one person of many, who uses another machine; see [`Config::share`].
    pub shared: bool,
    /// Probable mistakes in the environment, as sentences for the log.
    pub warnings: Vec<String>,
    /// The URL of the pages where people connect accounts, ending in a slash; `None` unless HTTP is
    /// served. No setting changes it; the server does.
    pub pages: Option<Url>,
    /// Starts the processes that read files; `None` in programs other than Daysheet. No setting
    /// changes it; the command line does.
    #[cfg(feature = "documents")]
    pub worker: Option<Worker>,
}

/// The limit that determines a person's access level, which is the lowest of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum AccessBy {
    /// The settings.
    #[default]
    Settings,
    /// The person's own choice, on their page.
    Person,
    /// The token that the client has.
    Token,
}

/// The location of the key that encrypts tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyStore {
    /// The operating system's keychain, or a key file on systems without a keychain.
    #[default]
    Keychain,
    /// A file in the state folder that only its owner can read.
    File,
}

/// The treatment of a message to a new recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NewRecipients {
    /// The user is asked; the message is refused if the user cannot be asked.
    #[default]
    Confirm,
    /// The message is refused.
    Refuse,
    /// The message is sent like any other.
    Allow,
}

/// The way to approve a write that needs the user's approval, if the client cannot show a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalWay {
    /// On a card in the chat if the client draws MCP Apps, otherwise as with [`ApprovalWay::Page`].
    #[default]
    Card,
    /// On a page in the user's browser, or in a terminal.
    Page,
    /// In a terminal.
    Terminal,
    /// Not at all: the write is refused.
    Never,
}

/// The storage for the full text of shortened answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputStorage {
    /// In the memory of the process.
    #[default]
    Memory,
    /// Also in the database, encrypted.
    Disk,
}

impl Config {
    /// Reads the settings of this process from its environment and its settings file. `zone`
    /// replaces the system's zone; `clock` is the program's.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with the variable or the key to correct.
    pub fn load(zone: Option<TimeZone>, clock: Clock) -> Result<Self> {
        // Every setting looks up its variable, so these are all known variables.
        let known = RefCell::new(Vec::new());
        let var = |name: &str| {
            known.borrow_mut().push(name.to_owned());
            std::env::var(name).ok()
        };
        let file = match set(&var, FILE) {
            Some(path) => {
                let path = absolute(&path)?;
                let text = read(&path).map_err(|error| error.context(FILE))?;
                Some((path, text))
            }
            None => {
                let path = home(&var)?.join("config.toml");
                match std::fs::read_to_string(&path) {
                    Ok(text) => Some((path, text)),
                    // Only the default file is optional; one named by the environment must exist.
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                    Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                        let home = path.parent().unwrap_or(&path).display();
                        let what = format!("the state folder {home} is a file, or below one");
                        return Err(Error::new(ErrorKind::Config, what)
                            .next("set DAYSHEET_HOME to a folder"));
                    }
                    Err(error) => return Err(unreadable(&path, &error)),
                }
            }
        };
        // An unknown system zone is no error: the zone is then UTC, unless a setting names one.
        let system = zone.or_else(|| TimeZone::try_system().ok());
        let file = file.as_ref().map(|(path, text)| (path.as_path(), text.as_str()));
        let config = Self::from(var, file, system, clock)?;
        // `std::env::vars` would panic at a variable that is not Unicode.
        let all = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        Ok(Self { warnings: unknown(all, &known.take()), ..config })
    }

    /// Stops the clock at the time in the settings, for a process over a sandbox.
    pub fn stop_clock(&mut self) {
        if let Some(now) = self.sandbox_now {
            self.clock = Clock::fixed(now);
        }
    }

    /// Points every endpoint at a sandbox on this machine, which has the providers' own paths below
    /// `base`, and sets an OAuth client, which the sandbox does not check.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `base` is not on this machine.
    pub fn use_sandbox(&mut self, base: &str) -> Result<()> {
        let base = Url::parse(base)
            .ok()
            .filter(is_loopback)
            .ok_or_else(|| Error::argument("a sandbox is at a URL of this machine"))?;
        self.endpoints = ProviderEndpoints::below(&base)?;
        for client in [&mut self.google, &mut self.microsoft] {
            *client = OauthClient {
                id: Some(ClientId::new("daysheet-sandbox".to_owned())),
                secret: None,
                is_web: false,
            };
        }
        // Real tokens and keys must not be used for the sandbox's accounts.
        self.google_service_account = None;
        self.token_commands.clear();
        // A tenant in the user's settings does not exist in the sandbox.
        self.microsoft_tenant = COMMON.to_owned();
        Ok(())
    }

    /// Returns the page for connecting an account of `provider`, with the suggestions in `with`;
    /// `None` unless HTTP is served.
    pub fn connect_page(&self, provider: &str, with: &[(&str, Option<&str>)]) -> Option<Url> {
        let mut page = self.connect_pages()?.join(provider).ok()?;
        let with = with.iter().filter_map(|(name, value)| Some((name, (*value)?)));
        let query =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(with).finish();
        // An empty query would leave a `?` at the end of the URL.
        page.set_query(Some(query.as_str()).filter(|query| !query.is_empty()));
        Some(page)
    }

    /// Returns the URL below which each provider's page for connecting accounts is, if there are
    /// such pages.
    fn connect_pages(&self) -> Option<Url> {
        self.pages.as_ref()?.join("connect/").ok()
    }

    /// Stores the state in the PostgreSQL database at this URL, given by `option` of the command
    /// line.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if it is not the URL of a
    /// database.
    pub fn use_database(&mut self, option: &str, url: &str) -> Result<()> {
        let database = DatabaseUrl::parse(url);
        self.database = Some(database.map_err(|why| Error::argument(format!("{option} {why}")))?);
        Ok(())
    }

    /// Removes settings that are only for the machine's own user: its files, and access without
    /// sign-in.
    pub fn share(&mut self) {
        self.shared = true;
        self.files.clear();
        self.token_commands.clear();
        self.google_service_account = None;
        // It would sign the messages of every person.
        self.outlook_signature = None;
    }

    /// Returns the settings for the adapters of a single person.
    pub fn services(&self) -> ServiceSettings {
        ServiceSettings {
            endpoints: self.endpoints.clone(),
            look: self.look,
            retry: self.retry,
            clock: self.clock.clone(),
            share: UpstreamShare::default(),
            connect: self.connect_pages(),
        }
    }

    /// Reads the settings from the given sources: an environment, the settings file with its path
    /// (relative paths in it are resolved against its folder), the system's zone, and a clock. A
    /// `credentials.json` named by a setting is still read from disk.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with the variable or the key to correct.
    pub fn from(
        var: impl Fn(&str) -> Option<String>,
        file: Option<(&Path, &str)>,
        system_zone: Option<TimeZone>,
        clock: Clock,
    ) -> Result<Self> {
        let home = home(&var)?;
        let settings = SettingSources::new(&var, file)?;
        let mut config = Self {
            file: file.map(|(path, _)| path.to_path_buf()),
            endpoints: endpoints(&settings)?,
            google: OauthClient::from(&settings, "google", settings.get("google.credentials")?)?,
            microsoft: OauthClient::from(&settings, "microsoft", None)?,
            google_service_account: ServiceAccount::from(&settings)?,
            token_commands: settings.commands("token_command")?,
            microsoft_tenant: microsoft_tenant(&settings)?,
            key_store: settings.choice(
                "key_store",
                &[("keychain", KeyStore::Keychain), ("file", KeyStore::File)],
            )?,
            database: DatabaseUrl::from(&settings)?,
            database_connections: settings.number("database_connections", 2..=1_000, 10)?,
            keys: GivenKeys::from(&settings)?,
            retention: RetentionDays::from(&settings)?,
            format: format(&settings)?,
            stats: settings.flag("stats", ["asked", "always"], false)?,
            budget: settings.number("budget", 100..=100_000, 8_000)?,
            reserve: settings.number("reserve", 0..=100_000, 0)?,
            budget_is_set: !matches!(settings.get("budget"), Ok(None)),
            tokenizer: settings.choice(
                "tokenizer",
                &[("o200k", Tokenizer::O200k), ("cl100k", Tokenizer::Cl100k)],
            )?,
            outputs: settings.choice(
                "outputs",
                &[("memory", OutputStorage::Memory), ("disk", OutputStorage::Disk)],
            )?,
            values: values(&settings)?,
            browser: settings.flag("browser", ["print", "open"], true)?,
            sandbox_now: sandbox_now(&settings)?,
            clock,
            sample_day: None,
            zone: zone(&settings, system_zone)?,
            access: settings
                .choice("access", &AccessLevel::ALL.map(|level| (level.word(), level)))?,
            access_by: AccessBy::default(),
            tools: settings.words("tools")?,
            files: settings.paths("files")?.unwrap_or_else(|| vec![files(&home)]),
            largest_file: largest_file(&settings)?,
            recipients: recipients(&settings)?,
            new_recipients: settings.choice(
                "new_recipients",
                &[
                    ("confirm", NewRecipients::Confirm),
                    ("refuse", NewRecipients::Refuse),
                    ("allow", NewRecipients::Allow),
                ],
            )?,
            always_confirm: settings.flag("confirm", ["possible", "always"], false)?,
            approve: settings.choice(
                "approve",
                &[
                    ("card", ApprovalWay::Card),
                    ("page", ApprovalWay::Page),
                    ("terminal", ApprovalWay::Terminal),
                    ("never", ApprovalWay::Never),
                ],
            )?,
            remote_pictures: settings.flag("remote_pictures", ["drop", "allow"], false)?,
            sends_per_hour: settings.number("sends_per_hour", 0..=10_000, 30)?,
            recipients_per_hour: settings.number("recipients_per_hour", 0..=100_000, 200)?,
            look: LOOK,
            retry: RETRY,
            outlook_signature: settings.get("microsoft.signature")?.map(|found| found.value),
            limits: PersonLimits::from(&settings)?,
            identity: IdentitySettings::from(&settings)?,
            http: HttpSettings::from(&settings)?,
            metrics: metrics(&settings)?,
            log: settings.get("log")?.map(|found| found.value),
            shared: false,
            warnings: Vec::new(),
            pages: None,
            #[cfg(feature = "documents")]
            worker: None,
            home,
        };
        // Last, because it knows only the keys that were looked up.
        settings.nothing_else()?;
        // With all endpoints on this machine, this is a sandbox in another process.
        if config.endpoints.all().into_iter().all(is_loopback) {
            config.stop_clock();
        }
        Ok(config)
    }
}

/// Returns the endpoints: the configured ones, or the services' own.
fn endpoints(settings: &SettingSources) -> Result<ProviderEndpoints> {
    let base = |key, default| settings.url(key, default, true);
    let page = |key, default| settings.url(key, default, false);
    Ok(ProviderEndpoints {
        gmail: base("endpoints.gmail", "https://gmail.googleapis.com/")?,
        google_calendar: base(
            "endpoints.google_calendar",
            "https://www.googleapis.com/calendar/v3/",
        )?,
        google_people: base("endpoints.google_people", "https://people.googleapis.com/")?,
        google_auth: page("endpoints.google_auth", "https://accounts.google.com/o/oauth2/v2/auth")?,
        google_token: page("endpoints.google_token", "https://oauth2.googleapis.com/token")?,
        google_revoke: page("endpoints.google_revoke", "https://oauth2.googleapis.com/revoke")?,
        graph: base("endpoints.graph", "https://graph.microsoft.com/v1.0/")?,
        microsoft_authority: base(
            "endpoints.microsoft_authority",
            "https://login.microsoftonline.com/",
        )?,
    })
}

/// Reads the tenant of Microsoft; by default the one for all accounts.
fn microsoft_tenant(settings: &SettingSources) -> Result<String> {
    match settings.get("microsoft.tenant")? {
        None => Ok(COMMON.to_owned()),
        Some(found) => tenant(&found.value)
            .ok_or_else(|| found.wrong("is not a tenant").next(format!("use {TENANTS}"))),
    }
}

/// Reads the format of answers, with the delimiter of TOON.
fn format(settings: &SettingSources) -> Result<Format> {
    let formats = [("toon", None), ("json", Some(Format::Json)), ("stc", Some(Format::Stc))];
    let delimiters =
        [("tab", Delimiter::Tab), ("comma", Delimiter::Comma), ("pipe", Delimiter::Pipe)];
    let delimiter = settings.choice("delimiter", &delimiters)?;
    let format = settings.choice("format", &formats)?;
    Ok(format.unwrap_or(Format::Toon(delimiter)))
}

/// Reads the time at which the clock stands still over a sandbox.
fn sandbox_now(settings: &SettingSources) -> Result<Option<Timestamp>> {
    let Some(found) = settings.get("sandbox_now")? else {
        return Ok(None);
    };
    found.value.parse().map(Some).map_err(|_| {
        found
            .wrong("is not an instant")
            .next("write it with its offset, like 2026-11-16T11:05+01:00")
    })
}

/// Reads the maximum size of a file, which is set in MiB. Returns it in bytes.
fn largest_file(settings: &SettingSources) -> Result<u64> {
    // Graph's upload sessions accept attachments up to 150 MB.
    let most = settings.number("largest_file", 1..=150, 25)?;
    Ok(u64::try_from(most).unwrap_or(u64::MAX) << 20)
}

/// Reads the address for serving metrics.
fn metrics(settings: &SettingSources) -> Result<Option<SocketAddr>> {
    let Some(found) = settings.get("http.metrics")? else {
        return Ok(None);
    };
    found
        .value
        .parse()
        .map(Some)
        .map_err(|_| found.wrong("is not an address").next("write it like 127.0.0.1:9464"))
}

/// Reads the list of allowed recipients. A list with an error must not allow everyone.
fn recipients(settings: &SettingSources) -> Result<Vec<String>> {
    let words = settings.words("recipients")?;
    match settings.get("recipients")? {
        Some(found) if words.is_empty() || words.iter().any(|word| !word.contains('@')) => {
            Err(found
                .wrong("is no list of addresses and @domains between commas")
                .next("write them like ana@example.com, @example.org"))
        }
        _ => Ok(words),
    }
}

/// Returns the default folder for files: our own folder below the downloads, or one in the state
/// folder.
fn files(home: &Path) -> PathBuf {
    let downloads = directories::UserDirs::new()
        .and_then(|dirs| dirs.download_dir().map(|dir| dir.join("Daysheet")));
    downloads.unwrap_or_else(|| home.join("files"))
}

/// Returns the configured zone, the system's if it has an IANA name, or UTC.
fn zone(settings: &SettingSources, system: Option<TimeZone>) -> Result<TimeZone> {
    match settings.get("zone")? {
        Some(found) => TimeZone::get(&found.value).map_err(|_unknown| {
            found.wrong("is not an IANA time zone").next("write it like `Europe/Berlin`")
        }),
        // Events that are written name their zone, so a system zone without a name is of no use.
        None => Ok(system.filter(|zone| zone.iana_name().is_some()).unwrap_or(TimeZone::UTC)),
    }
}

/// Reads value functions by tool, written as `mail_search=query_match, lookup=uniform`.
fn values(settings: &SettingSources) -> Result<Vec<(String, ValueStrategy)>> {
    let Some(found) = settings.get("values")? else {
        return Ok(Vec::new());
    };
    let pairs = found.value.split(',').map(str::trim);
    pairs
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (tool, word) = pair.split_once('=').unwrap_or((pair, ""));
            let strategy = ValueStrategy::find(word.trim()).ok_or_else(|| {
                let known: Vec<&str> = ValueStrategy::ALL.iter().map(|one| one.word()).collect();
                found
                    .wrong("names no value function")
                    .next(format!("write tool=function with one of {}", known.join(", ")))
            })?;
            let tool = tool.trim();
            if !value::fits(tool, strategy) {
                return Err(found
                    .wrong(format_args!("uses thread_level, which rates conversations, for {tool}"))
                    .next("use thread_level for mail_read or brief"));
            }
            Ok((tool.to_owned(), strategy))
        })
        .collect()
}
