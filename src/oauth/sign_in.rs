//! One sign-in by an authorization code with PKCE, from the consent page to the tokens.
//!
//! The browser is redirected to a random port of this machine ([`listener`](super::listener)). On a
//! machine without a browser, the person pastes the address that their browser could not open. The
//! first response with the right state counts. A wrong state never ends a sign-in, because any page
//! in the browser could send one.
//!
//! This module opens no browser and prints nothing; the command line does.

use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};
use oauth2::{PkceCodeVerifier, RedirectUrl};
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::authority::TokenAuthority;
use super::consent_page::LoopbackConsent;
use super::error_messages;
use super::listener::RedirectListener;
use super::loopback_port::{listen, no_port};
use super::redirect::{CallbackOutcome, ConsentResponse, ResponseReceiver};
use super::token_endpoint::{GivenConsent, client, exchange};
use super::tokens::GrantedTokens;
use crate::config::Config;

/// The time limit for signing in.
const PATIENCE: Duration = Duration::from_mins(10);

/// A sign-in in progress. Its consent page can be opened, and this machine listens for the response
/// until the [`BrowserPage`] has been answered or this value is dropped.
pub struct SignIn {
    config: Config,
    authority: TokenAuthority,
    scopes: Vec<String>,
    url: Url,
    redirect: RedirectUrl,
    verifier: PkceCodeVerifier,
    patience: Duration,
    paster: ResponseReceiver,
    callbacks: mpsc::Receiver<ConsentResponse>,
    listener: RedirectListener,
}

impl SignIn {
    /// Starts a sign-in to `provider` that requests `scopes`, at `tenant` or at the tenant of the
    /// settings. `login_hint` is the address to preselect on the consent page.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown provider or an invalid tenant, [`ErrorKind::Auth`] if no OAuth
    /// client is set, [`ErrorKind::Network`] if no port of this machine is free.
    pub async fn start(
        config: &Config,
        provider: &str,
        tenant: Option<&str>,
        scopes: &[&str],
        login_hint: Option<&str>,
    ) -> Result<Self> {
        let authority = TokenAuthority::new(config, provider, tenant)?;
        let provider = authority.provider;
        // A missing client is reported before a port is used.
        client(config, &authority)?;
        let host = provider.redirect_host;
        let (port, sockets) = listen(host).await.map_err(|error| no_port(&error))?;
        let LoopbackConsent { url, redirect, state, verifier } =
            LoopbackConsent::new(config, &authority, port, scopes, login_hint)?;
        // Capacity for one: the first response counts, and later ones are refused.
        let (sender, callbacks) = mpsc::channel(1);
        let paster =
            ResponseReceiver { provider, redirect: redirect.to_string(), state, callbacks: sender };
        let listener = RedirectListener::answer_on(sockets, paster.clone());
        Ok(Self {
            config: config.clone(),
            authority,
            scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
            url,
            redirect,
            verifier,
            patience: PATIENCE,
            paster,
            callbacks,
            listener,
        })
    }

    /// Returns the URL of the consent page. It is not secret from the person who signs in, and
    /// useless without this process.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the redirect URI: a port of this machine.
    pub fn redirect_uri(&self) -> &str {
        self.redirect.as_str()
    }

    /// Sets the time limit of [`SignIn::wait`]; ten minutes by default.
    #[must_use]
    pub fn with_timeout(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Returns a handle for pasting the address while [`SignIn::wait`] runs.
    pub fn paster(&self) -> ResponseReceiver {
        self.paster.clone()
    }

    /// Accepts the pasted address before [`SignIn::wait`] runs; see [`ResponseReceiver::paste`].
    ///
    /// # Errors
    /// See [`ResponseReceiver::paste`].
    pub fn paste(&self, text: &str) -> Result<()> {
        self.paster.paste(text)
    }

    /// Waits for the person's consent and for the tokens. Afterwards the browser is still waiting:
    /// report the outcome of the sign-in to the [`BrowserPage`]. After an error, the browser
    /// already shows the reason.
    ///
    /// # Errors
    /// [`ErrorKind::Auth`] with the next step if the consent was denied, the code was refused, the
    /// refresh token is missing or the time limit passed; [`ErrorKind::Network`] or [`ErrorKind::Timeout`] if
    /// the provider was not reached.
    pub async fn wait(mut self) -> Result<(GrantedTokens, BrowserPage)> {
        let callback = tokio::time::timeout(self.patience, self.callbacks.recv()).await;
        let provider = self.authority.provider;
        let (answer, sender) = match callback {
            Ok(Some(ConsentResponse { answer, page })) => (
                answer
                    .map_err(|response| error_messages::sign_in_error(&self.authority, &response)),
                page,
            ),
            Ok(None) => (Err(Error::new(ErrorKind::Internal, "the listener is gone")), None),
            Err(_elapsed) => {
                let minutes = self.patience.as_secs().div_ceil(60);
                (Err(error_messages::timed_out(provider, minutes)), None)
            }
        };
        // From here on, the listener reports that the sign-in is over.
        drop(self.callbacks);
        let page = BrowserPage { sender, listener: self.listener };
        let tokens = match answer {
            Ok(code) => {
                let consent =
                    GivenConsent { code, verifier: self.verifier, redirect: self.redirect };
                exchange(&self.config, &self.authority, consent, &self.scopes).await
            }
            Err(error) => Err(error),
        };
        match tokens {
            Ok(tokens) => Ok((tokens, page)),
            Err(error) => {
                page.failed(&error).await;
                Err(error)
            }
        }
    }
}

/// The page in the browser of a person who has consented. It waits for the outcome of the sign-in;
/// dropping this closes the connection.
#[must_use = "the browser waits for the result of the sign-in"]
pub struct BrowserPage {
    /// The channel for the outcome; `None` if the address was pasted.
    sender: Option<oneshot::Sender<CallbackOutcome>>,
    listener: RedirectListener,
}

impl BrowserPage {
    /// Shows that the account with this address is signed in. Returns once the browser has received
    /// the page, or after a moment.
    pub async fn signed_in(self, address: &str) {
        self.show(CallbackOutcome::SignedIn(address.to_owned())).await;
    }

    /// Shows the reason for a failed sign-in. Returns like [`BrowserPage::signed_in`].
    pub async fn failed(self, error: &Error) {
        self.show(CallbackOutcome::Failed(error.to_string())).await;
    }

    /// Shows the outcome, and returns once the browser has received the page, or after a moment.
    async fn show(self, outcome: CallbackOutcome) {
        if let Some(sender) = self.sender {
            // The person may have closed the page.
            let _ = sender.send(outcome);
        }
        self.listener.finish().await;
    }
}

impl std::fmt::Debug for BrowserPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrowserPage").finish_non_exhaustive()
    }
}

/// Omits the state and the PKCE verifier, which could be used to sign in.
impl std::fmt::Debug for SignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignIn")
            .field("provider", &self.authority.provider)
            .field("redirect_uri", &self.redirect.as_str())
            .finish_non_exhaustive()
    }
}
