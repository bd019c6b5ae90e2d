//! The parts put together: config, store, accounts, providers, pipeline, and
//! for `--sandbox` the embedded stand-in, signed in through the real flow.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use http_body_util::Empty;
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tempfile::TempDir;

use super::Sandboxed;
use crate::accounts::Accounts;
use crate::config::{Config, KeyStore};
use crate::error::{Error, Kind, Result};
use crate::pipeline::{Begun, Pipeline};
use crate::provider::Connect;
use crate::providers::Providers;
use crate::providers::sandbox::{Faults, Options, Sandbox};
use crate::request::Add;
use crate::server::Server;
use crate::store::Store;

/// Everything a command needs.
pub struct App {
    /// The settings.
    pub config: Arc<Config>,
    /// Who is signed in.
    pub accounts: Arc<Accounts>,
    /// The way to the providers.
    pub connect: Arc<dyn Connect>,
    /// What carries out calls.
    pub pipeline: Arc<Pipeline>,
    /// What lies on disk: the state, and the accounts where they lie elsewhere.
    stores: [Store; 2],
    /// Where the sign-ins of an embedded sandbox lie; gone with the app.
    _sign_ins: Option<TempDir>,
}

impl App {
    /// Puts the parts together; nothing is opened before it is needed.
    pub fn new(config: Config) -> Self {
        let config = Arc::new(config);
        let store = Store::new(&config);
        Self::over(config, store.clone(), store, None)
    }

    fn over(
        config: Arc<Config>,
        store: Store,
        account_store: Store,
        sign_ins: Option<TempDir>,
    ) -> Self {
        let stores = [store.clone(), account_store.clone()];
        let accounts = Arc::new(Accounts::new(config.clone(), account_store));
        let connect: Arc<dyn Connect> =
            Arc::new(Providers::new(config.services(), accounts.clone()));
        let pipeline =
            Arc::new(Pipeline::new(config.clone(), store, accounts.clone(), connect.clone()));
        Self { config, accounts, connect, pipeline, stores, _sign_ins: sign_ins }
    }

    /// The app over real accounts, or over the embedded sandbox.
    pub(super) async fn open(
        config: Config,
        sandboxed: &Sandboxed,
    ) -> Result<(Self, Option<Sandbox>)> {
        if !sandboxed.sandbox {
            return Ok((Self::new(config), None));
        }
        let faults = super::faults(sandboxed.fault.as_deref())?;
        let who = match sandboxed.provider.as_deref() {
            None => Who::Usual,
            Some("both") => Who::Everybody(&["google", "microsoft"]),
            Some("microsoft") => Who::Everybody(&["microsoft"]),
            Some(_) => Who::Everybody(&["google"]),
        };
        let (mail, calendar) = (sandboxed.mail.clone(), sandboxed.calendar.clone());
        let (app, sandbox) = Self::sandboxed(config, mail, calendar, faults, who).await?;
        super::sandbox::report(sandbox.report());
        Ok((app, Some(sandbox)))
    }

    /// The app over an embedded sandbox, signed in as `who` says.
    ///
    /// Its handles lie in a folder of their own, so that they last from call to
    /// call and never mix with those of real accounts. Its sign-ins end with
    /// the sandbox that gave them, so every process keeps its own.
    pub async fn sandboxed(
        mut config: Config,
        mail: Option<PathBuf>,
        calendar: Option<PathBuf>,
        faults: Faults,
        who: Who,
    ) -> Result<(Self, Sandbox)> {
        let sample = mail.is_none();
        let sandbox = Sandbox::start(Options {
            mail,
            calendar,
            progress: std::io::stderr().is_terminal(),
            ..Options::default()
        })
        .await?;
        config.home.push("sandbox");
        config.use_sandbox(sandbox.base())?;
        let sign_ins =
            tempfile::Builder::new().prefix("daysheet-sandbox-").tempdir().map_err(|error| {
                Error::new(Kind::Store, format!("no temporary folder could be made: {error}"))
                    .next("check that the folder for temporary files can be written to")
            })?;
        let config = Arc::new(config);
        let store = Store::new(&config);
        let account_store = Store::at(sign_ins.path(), KeyStore::File);
        let app = Self::over(config, store, account_store, Some(sign_ins));
        for (provider, address) in who.sign_ins(sample, &sandbox.addresses()) {
            app.consent(provider, &address).await?;
        }
        sandbox.set_faults(faults);
        Ok((app, sandbox))
    }

    /// Closes what lies on disk, at the end of a command.
    pub async fn close(&self) {
        for store in &self.stores {
            store.close().await;
        }
    }

    /// An MCP server over the pipeline.
    pub fn server(&self) -> Server {
        Server::new(self.pipeline.clone(), self.config.format)
    }

    /// Signs `address` in at `provider`, playing the part of the browser on the
    /// sandbox's page.
    async fn consent(&self, provider: &str, address: &str) -> Result<()> {
        let add = Add {
            provider: provider.to_owned(),
            address: Some(address.to_owned()),
            ..Add::default()
        };
        let begun = Begun::start(&self.config, &*self.connect, &add).await?;
        let Begun::Browser(sign_in) = &begun else {
            return Err(no_consent());
        };
        let page = sign_in.url().to_owned();
        let browser = async {
            let redirect = get(&page, true).await?;
            get(&redirect.ok_or_else(no_consent)?, false).await
        };
        let finishing = begun.finish(&self.accounts, &*self.connect, &add);
        let (finished, visited) = tokio::join!(finishing, browser);
        visited?;
        finished.map(|_account| ())
    }
}

/// Who is signed in to an embedded sandbox.
#[derive(Debug, Clone, Copy)]
pub enum Who {
    /// The sample's two mailboxes at one provider each, as one person has them;
    /// the mailboxes of a folder at Google.
    Usual,
    /// Every mailbox, at each of these providers.
    Everybody(&'static [&'static str]),
    /// These alone, as provider and address.
    These(&'static [(&'static str, &'static str)]),
}

impl Who {
    /// The sample's work mailbox, which usually is one of Outlook.
    const AT_WORK: &str = "mira@lindqvist-lamps.example";

    fn sign_ins(self, sample: bool, addresses: &[String]) -> Vec<(&'static str, String)> {
        let usual = |address: &String| match sample && address == Self::AT_WORK {
            true => ("microsoft", address.clone()),
            false => ("google", address.clone()),
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

/// Opens a page as a browser would and answers with where it leads.
async fn get(url: &str, consent: bool) -> Result<Option<String>> {
    let mut request = Request::get(url);
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
    Error::new(Kind::Internal, "the sandbox did not sign its own mailbox in")
}
