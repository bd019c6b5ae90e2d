//! The embedded sandbox behind `--sandbox`: its flags, and the sign-in to its mailboxes through the
//! real flow.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_sandbox::{FaultRates, SAMPLE_ZONE, Sandbox, SandboxOptions};
use http_body_util::Empty;
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use jiff::tz::TimeZone;

use crate::app::App;
use crate::config::{Config, KeyStore};
use crate::pipeline::BegunSignIn;
use crate::store::Store;
use crate::tools::accounts::SignInArguments;

/// The owner of its handles in a shared database.
const OWNER: &str = "sandbox";

/// Whether the embedded sandbox stands in for the providers.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Sandbox")]
pub(super) struct SandboxFlags {
    /// Use the embedded sandbox instead of real accounts.
    #[arg(long)]
    sandbox: bool,
    /// A folder of .eml and .mbox files for the sandbox.
    #[arg(long, value_name = "DIR", requires = "sandbox")]
    mail: Option<PathBuf>,
    /// A folder of .ics files for the sandbox.
    ///
    /// ADDRESS/NAME.ics is the calendar NAME of ADDRESS; calendar.ics is the
    /// main one.
    #[arg(long, value_name = "DIR", requires = "sandbox")]
    calendar: Option<PathBuf>,
    /// The provider of the sandbox's mailboxes.
    ///
    /// By default the sample's private mailbox is at Google and its work mailbox
    /// at Microsoft; those of a folder are at Google.
    #[arg(long, requires = "sandbox", value_parser = ["google", "microsoft", "both"])]
    provider: Option<String>,
    /// Faults for the sandbox to inject.
    #[arg(long, value_name = "SPEC", requires = "sandbox")]
    fault: Option<String>,
}

impl SandboxFlags {
    /// Returns true if the sandbox is used.
    #[cfg(feature = "http")]
    pub(super) const fn is_on(&self) -> bool {
        self.sandbox
    }

    /// Returns the content of the sandbox, or `None` if it is not used.
    pub(super) fn content(&self) -> Option<SandboxContent> {
        self.sandbox.then(|| SandboxContent::new(self.mail.as_deref()))
    }
}

/// The content of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SandboxContent {
    /// The samples.
    Samples,
    /// A folder of the user.
    Folder,
}

impl SandboxContent {
    /// Returns the content of a sandbox over this folder, or without one.
    pub(super) fn new(mail: Option<&Path>) -> Self {
        if mail.is_some() { Self::Folder } else { Self::Samples }
    }
}

/// Loads the settings for a sandbox. A setting stops the clock, so that answers can be repeated.
/// The samples are moved to today's date, in the zone of their people.
pub(super) fn load(content: SandboxContent) -> Result<Config> {
    let samples = content == SandboxContent::Samples;
    let zone = samples.then(|| TimeZone::get(SAMPLE_ZONE).ok()).flatten();
    let mut config = Config::load(zone, Clock::system())?;
    config.stop_clock();
    if samples {
        config.sample_day = Some(config.clock.now().to_zoned(config.zone.clone()).date());
    }
    Ok(config)
}

pub(super) fn faults(spec: Option<&str>) -> Result<FaultRates> {
    spec.map_or_else(|| Ok(FaultRates::default()), FaultRates::from_str)
}

impl App {
    /// Opens the app over real accounts, or over the embedded sandbox.
    pub(super) async fn open(
        config: Config,
        sandboxed: &SandboxFlags,
    ) -> Result<(Self, Option<Sandbox>)> {
        if !sandboxed.sandbox {
            return Ok((Self::new(config), None));
        }
        let faults = faults(sandboxed.fault.as_deref())?;
        let who = match sandboxed.provider.as_deref() {
            None => SandboxUser::Usual,
            Some("both") => SandboxUser::Everybody(&["google", "microsoft"]),
            Some("microsoft") => SandboxUser::Everybody(&["microsoft"]),
            Some(_) => SandboxUser::Everybody(&["google"]),
        };
        let (mail, calendar) = (sandboxed.mail.clone(), sandboxed.calendar.clone());
        let (app, sandbox) = Self::sandboxed(config, mail, calendar, faults, who).await?;
        super::sandbox::report(sandbox.report());
        Ok((app, Some(sandbox)))
    }

    /// Creates the app over an embedded sandbox, signed in as `who`.
    ///
    /// Its handles are in a separate folder, so that they last across calls and never mix with the
    /// handles of real accounts. Its sign-ins end with the sandbox that issued them, so every
    /// process keeps its own.
    pub async fn sandboxed(
        mut config: Config,
        mail: Option<PathBuf>,
        calendar: Option<PathBuf>,
        faults: FaultRates,
        who: SandboxUser,
    ) -> Result<(Self, Sandbox)> {
        let sample = mail.is_none();
        let sandbox = Sandbox::start(SandboxOptions {
            mail,
            calendar,
            today: config.sample_day,
            progress: std::io::stderr().is_terminal(),
            ..SandboxOptions::new(config.clock.clone())
        })
        .await?;
        config.home.push("sandbox");
        config.use_sandbox(sandbox.base())?;
        // A folder for each process: its sign-ins are worthless once its sandbox has ended.
        let sign_ins =
            tempfile::Builder::new().prefix("daysheet-sandbox-").tempdir().map_err(|error| {
                Error::new(
                    ErrorKind::Store,
                    format!("no temporary folder could be created: {error}"),
                )
                .next("check that the folder for temporary files is writable")
            })?;
        let config = Arc::new(config);
        let mut store = Store::new(&config);
        // A shared database has no separate folder: a separate owner keeps the handles apart.
        if config.database.is_some() {
            store = store.for_owner(OWNER);
        }
        let account_store = Store::at(sign_ins.path(), KeyStore::File, config.clock.clone());
        let app = Self::over(config, store, account_store, Some(sign_ins));
        for (provider, address) in who.sign_ins(sample, &sandbox.addresses()) {
            app.consent(provider, &address).await?;
        }
        // Faults begin only now, so that they do not prevent the sign-ins.
        sandbox.set_faults(faults);
        Ok((app, sandbox))
    }

    /// Signs `address` in at `provider`, in the role of the browser on the sandbox's page.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if the sandbox does not consent, and the errors of a sign-in.
    pub async fn consent(&self, provider: &str, address: &str) -> Result<()> {
        let add = SignInArguments {
            provider: provider.to_owned(),
            address: Some(address.to_owned()),
            ..SignInArguments::default()
        };
        let begun = BegunSignIn::start(&self.config, &*self.connect, &add).await?;
        let BegunSignIn::Browser(sign_in) = &begun else {
            return Err(no_consent());
        };
        let page = sign_in.url().to_owned();
        let browser = async {
            let redirect = get(&page, true).await?;
            get(&redirect.ok_or_else(no_consent)?, false).await
        };
        let finishing = begun.finish(&self.accounts, &*self.connect, &add);
        // The sign-in waits for the redirect, so both have to run at the same time; it would wait
        // for minutes if the page failed.
        tokio::try_join!(finishing, browser).map(drop)
    }
}

/// The mailboxes that are signed in to an embedded sandbox.
#[derive(Debug, Clone, Copy)]
pub enum SandboxUser {
    /// The sample's two mailboxes at one provider each, as if of one person; the mailboxes of a
    /// folder at Google.
    Usual,
    /// Every mailbox, at each of these providers.
    Everybody(&'static [&'static str]),
    /// Only these mailboxes, as provider and address.
    These(&'static [(&'static str, &'static str)]),
}

impl SandboxUser {
    /// The sample's work mailbox, which is usually at Microsoft.
    const AT_WORK: &str = "mira@lindqvist-lamps.example";

    fn sign_ins(self, sample: bool, addresses: &[String]) -> Vec<(&'static str, String)> {
        let usual = |address: &String| {
            if sample && address == Self::AT_WORK {
                ("microsoft", address.clone())
            } else {
                ("google", address.clone())
            }
        };
        let own = |(provider, address): &(&'static str, &str)| (*provider, (*address).to_owned());
        match self {
            Self::Usual => addresses.iter().map(usual).collect(),
            Self::Everybody(providers) => addresses
                .iter()
                .flat_map(|address| providers.iter().map(|provider| (*provider, address.clone())))
                .collect(),
            Self::These(pairs) => pairs.iter().map(own).collect(),
        }
    }
}

/// Opens a page like a browser and returns the address that it redirects to.
async fn get(url: &str, consent: bool) -> Result<Option<String>> {
    // RFC 6761, 6.3: a system without /etc/hosts need not resolve this name.
    let url = url.replacen("http://localhost:", "http://127.0.0.1:", 1);
    let mut request = Request::get(&url);
    if consent {
        request = request.header("X-Sandbox-Consent", "allow");
    }
    let request = request.body(Empty::<Bytes>::new()).map_err(|_| no_consent())?;
    let client = Client::builder(TokioExecutor::new()).build_http();
    let answer = client.request(request).await.map_err(|_| no_consent())?;
    Ok(answer
        .headers()
        .get(hyper::header::LOCATION)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned))
}

fn no_consent() -> Error {
    Error::new(ErrorKind::Internal, "the sandbox could not sign in its own mailbox")
}
