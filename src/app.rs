//! Assembles the program: config, store, accounts, providers and pipeline.

#[cfg(feature = "http")]
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
#[cfg(feature = "http")]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "http")]
use daysheet_core::access::AccessLevel;
use daysheet_core::error::Result;
use daysheet_core::provider::upstream::{UpstreamRequests, UpstreamShare};
use daysheet_core::provider::{ProviderConnector, ServiceSettings};
use daysheet_providers::Providers;
use tempfile::TempDir;

use crate::accounts::Accounts;
#[cfg(feature = "http")]
use crate::config::AccessBy;
use crate::config::Config;
use crate::pipeline::Pipeline;
use crate::server::Server;
#[cfg(feature = "http")]
use crate::store::LOCAL;
use crate::store::Store;

/// The assembled program, as commands use it.
pub struct App {
    /// The settings.
    pub config: Arc<Config>,
    /// The signed-in accounts.
    pub accounts: Arc<Accounts>,
    /// Opens mailboxes and calendars at the providers.
    pub connect: Arc<dyn ProviderConnector>,
    /// The pipeline, which carries out calls.
    pub pipeline: Arc<Pipeline>,
    /// The requests to providers, for all people.
    pub upstream: Arc<UpstreamRequests>,
    /// MCP over the pipeline.
    server: Server,
    /// The stores: for the state, and for the accounts, which may be separate.
    stores: [Store; 2],
    /// The settings of people, shared by people with the same access: by whether they are the
    /// machine's own person, and by access.
    #[cfg(feature = "http")]
    of_people: Mutex<HashMap<(bool, AccessLevel, AccessBy), Arc<Config>>>,
    /// The folder with an embedded sandbox's sign-ins; deleted with the app.
    _sign_ins: Option<TempDir>,
}

impl App {
    /// Assembles the program. Nothing is opened before it is needed.
    pub fn new(config: Config) -> Self {
        let store = Store::new(&config);
        Self::over(Arc::new(config), store.clone(), store, None)
    }

    /// Assembles the program over these stores. `sign_ins` lives as long as the app.
    pub(super) fn over(
        config: Arc<Config>,
        store: Store,
        account_store: Store,
        sign_ins: Option<TempDir>,
    ) -> Self {
        let share = UpstreamRequests::new(config.limits.upstream_at_once).whole();
        Self { _sign_ins: sign_ins, ..Self::sharing(config, [store, account_store], share) }
    }

    /// Assembles the program for a person with this share of the requests to providers.
    fn sharing(config: Arc<Config>, stores: [Store; 2], share: UpstreamShare) -> Self {
        let upstream = share.upstream().clone();
        let [store, account_store] = stores.clone();
        let accounts = Accounts::counted(config.clone(), account_store, upstream.clone());
        let accounts = Arc::new(accounts);
        let services = ServiceSettings { share, ..config.services() };
        let connect: Arc<dyn ProviderConnector> =
            Arc::new(Providers::new(services, accounts.clone()));
        let pipeline =
            Arc::new(Pipeline::new(config.clone(), store, accounts.clone(), connect.clone()));
        let server = Server::new(pipeline.clone(), config.format);
        Self {
            config,
            accounts,
            connect,
            pipeline,
            upstream,
            server,
            stores,
            #[cfg(feature = "http")]
            of_people: Mutex::default(),
            _sign_ins: None,
        }
    }

    /// Returns the app of one person over HTTP, over their rows and with this access level, which
    /// `by` limits. Other instances may serve the same person.
    #[must_use]
    #[cfg(feature = "http")]
    pub fn of_person(&self, owner: &str, access: AccessLevel, by: AccessBy) -> Self {
        // A token cannot allow more than the server's settings.
        let (own, access) = (owner == LOCAL, access.min(self.config.access));
        let mut of_people = self.of_people.lock().unwrap_or_else(PoisonError::into_inner);
        let config = of_people.entry((own, access, by)).or_insert_with(|| {
            let mut config = Config { access, access_by: by, ..(*self.config).clone() };
            if !own {
                config.share();
            }
            Arc::new(config)
        });
        let config = config.clone();
        drop(of_people);
        let stores = self.stores.each_ref().map(|store| store.for_owner(owner));
        let mut app = Self::sharing(config, stores, self.upstream.share_of(owner));
        // Another instance may already have shown untrusted text.
        app.pipeline.distrust();
        app.server = app.server().shared(app.store().clone());
        app
    }

    /// Returns the app over the same rows with other settings, for its pages.
    #[must_use]
    #[cfg(feature = "http")]
    pub fn with_config(&self, config: Config) -> Self {
        Self::sharing(Arc::new(config), self.stores.clone(), self.upstream.share_of(LOCAL))
    }

    /// Returns the rows of the app's person.
    pub fn store(&self) -> &Store {
        let [store, _] = &self.stores;
        store
    }

    /// Deletes everything stored for the owner. The grants at the providers remain.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store) if a store cannot be written.
    pub async fn erase(&self) -> Result<()> {
        for store in &self.stores {
            store.erase().await?;
        }
        Ok(())
    }

    /// Checks before serving that the master key is available.
    ///
    /// # Errors
    /// See [`Store::check_keys`].
    pub async fn check_keys(&self) -> Result<()> {
        let [_, accounts] = &self.stores;
        accounts.check_keys().await
    }

    /// Checks that the database responds and that the keys of tokens are available, without
    /// changing anything.
    ///
    /// # Errors
    /// See [`Store::compare_keys`].
    #[cfg(feature = "http")]
    pub async fn ready(&self) -> Result<()> {
        for store in &self.stores {
            store.compare_keys().await?;
        }
        Ok(())
    }

    /// Deletes old rows once a day while serving.
    pub async fn purge_daily(&self) -> Infallible {
        let [state, _] = &self.stores;
        state.purge_daily().await
    }

    /// Closes the stores at the end of a command.
    pub async fn close(&self) {
        for store in &self.stores {
            store.close().await;
        }
    }

    /// Returns an MCP server over the pipeline.
    pub fn server(&self) -> Server {
        self.server.clone()
    }
}
