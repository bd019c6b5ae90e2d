//! The pages of a server over stdio, for approving writes: the same process serves them on
//! 127.0.0.1, from the first write that needs approval on.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use tokio::net::TcpListener;
use tokio::sync::OnceCell;
use url::Url;

use super::pages::link;
use super::state::HttpState;
use crate::app::App;
use crate::config::{Config, HttpSettings};
use crate::oauth;
use crate::server::ApprovalPage;

/// The path of the page.
const PATH: &str = "/approve";

/// Opens an address in the user's browser. Returns false if it could not.
pub type BrowserOpener = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// The pages of one process on 127.0.0.1.
pub struct LoopbackPages {
    app: Arc<App>,
    open: BrowserOpener,
    address: OnceCell<Url>,
    opened: AtomicBool,
}

impl LoopbackPages {
    /// Creates the pages over the rows of `app`. They are not served yet.
    pub fn new(app: Arc<App>, open: BrowserOpener) -> Self {
        Self { app, open, address: OnceCell::new(), opened: AtomicBool::new(false) }
    }

    /// Returns the address of the pages, which are served from the first call on.
    async fn base(&self) -> Result<&Url> {
        self.address.get_or_try_init(|| self.serve()).await
    }

    /// Serves the pages, and returns their address.
    async fn serve(&self) -> Result<Url> {
        let failed = |error: std::io::Error| oauth::no_port(&error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let mut http = HttpSettings::default();
        http.listen_at(listener.local_addr().map_err(failed)?)?;
        let address = http.public_url.clone().ok_or_else(|| {
            Error::new(ErrorKind::Internal, "the page for approvals has no address")
        })?;
        let pages = Some(address.clone());
        let config = Config { http, pages, metrics: None, ..(*self.app.config).clone() };
        let service = HttpState::of_pages(Arc::new(self.app.with_config(config)));
        tokio::spawn(async move {
            // Ends with the process: a page that the user still reads must not vanish earlier.
            let served = super::serve(service, listener, || (), std::future::pending()).await;
            if let Err(error) = served {
                tracing::warn!(%error, "the page for approvals has ended");
            }
        });
        Ok(address)
    }
}

#[async_trait]
impl ApprovalPage for LoopbackPages {
    async fn address(&self) -> Result<Url> {
        let mut address = self.base().await?.clone();
        address.set_path(PATH);
        Ok(address)
    }

    async fn link(&self) -> Result<Url> {
        let mut signed_in = self.base().await?.clone();
        let link = link(self.app.store(), PATH).await?;
        let (path, query) = link.split_once('?').unwrap_or((&link, ""));
        signed_in.set_path(path);
        signed_in.set_query(Some(query));
        Ok(signed_in)
    }

    async fn open(&self, is_new: bool) -> Result<bool> {
        if is_new {
            let is_open = (self.open)(self.link().await?.as_str());
            self.opened.store(is_open, Ordering::Relaxed);
        }
        Ok(self.opened.load(Ordering::Relaxed))
    }

    fn needs_link(&self) -> bool {
        true
    }
}
