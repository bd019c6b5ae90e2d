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
use oauth2::{AuthorizationCode, CsrfToken, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::error_response::OAuthErrorResponse;
use super::listener::{CallbackOutcome, RedirectListener};
use super::{GrantedTokens, OAuthProvider, TokenAuthority, client, error_messages, exchange};
use crate::config::Config;

/// The time limit for signing in.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The response of the consent page with the right state, and the channel for showing the outcome
/// in the browser.
pub(super) struct ConsentResponse {
    /// The code, or the provider's refusal.
    pub(super) answer: std::result::Result<AuthorizationCode, OAuthErrorResponse>,
    /// The channel for the outcome; `None` if the address was pasted.
    pub(super) page: Option<oneshot::Sender<CallbackOutcome>>,
}

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
        let authority = TokenAuthority::of(config, provider, tenant)?;
        let provider = authority.provider;
        // A missing client is reported before a port is used.
        client(config, &authority)?;
        let host = provider.redirect_host;
        let (port, sockets) = listen(host).await.map_err(|error| {
            Error::new(
                ErrorKind::Network,
                format!("cannot listen on any port of 127.0.0.1 ({error})"),
            )
        })?;
        let redirect = RedirectUrl::new(format!("http://{host}:{port}{}", provider.redirect_path))
            .map_err(|error| {
                Error::new(ErrorKind::Internal, format!("the redirect URL: {error}"))
            })?;
        let (_, verifier) = PkceCodeChallenge::new_random_sha256();
        let page = ConsentPage {
            config,
            authority: &authority,
            scopes,
            redirect: &redirect,
            verifier: &verifier,
            hint: login_hint,
        };
        let (url, state) = page.url(CsrfToken::new_random())?;
        // Capacity for one: the first response counts, and later ones are refused.
        let (sender, callbacks) = mpsc::channel(1);
        let paster =
            ResponseReceiver { provider, redirect: redirect.to_string(), state, callbacks: sender };
        let listener = RedirectListener::start(sockets, paster.clone());
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
    pub async fn paste(&self, text: &str) -> Result<()> {
        self.paster.paste(text).await
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
                answer.map_err(|response| error_messages::sign_in_error(provider, &response)),
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
                exchange(
                    &self.config, &self.authority, code, self.verifier, self.redirect, &self.scopes,
                )
                .await
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
        self.tell(CallbackOutcome::SignedIn(address.to_owned())).await;
    }

    /// Shows the reason for a failed sign-in. Returns like [`BrowserPage::signed_in`].
    pub async fn failed(self, error: &Error) {
        self.tell(CallbackOutcome::Failed(error.to_string())).await;
    }

    async fn tell(self, outcome: CallbackOutcome) {
        if let Some(sender) = self.sender {
            // The person may have closed the page.
            let _ = sender.send(outcome);
        }
        self.listener.finish().await;
    }
}

impl std::fmt::Debug for BrowserPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").finish_non_exhaustive()
    }
}

/// Listens on a free port of this machine at the addresses of `host`.
///
/// Some machines resolve `localhost` to `::1` first, so that address is used as well. If it is
/// unavailable, browsers fall back to 127.0.0.1. They would not if another program listens there,
/// in which case another port is chosen.
async fn listen(host: &str) -> std::io::Result<(u16, Vec<TcpListener>)> {
    loop {
        let socket = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = socket.local_addr()?.port();
        if host != "localhost" {
            return Ok((port, vec![socket]));
        }
        match TcpListener::bind(("::1", port)).await {
            Ok(other) => return Ok((port, vec![socket, other])),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
            Err(_) => return Ok((port, vec![socket])),
        }
    }
}

/// The parts of a consent page's URL.
pub(super) struct ConsentPage<'a> {
    pub(super) config: &'a Config,
    pub(super) authority: &'a TokenAuthority,
    pub(super) scopes: &'a [&'a str],
    pub(super) redirect: &'a RedirectUrl,
    pub(super) verifier: &'a PkceCodeVerifier,
    /// The address to preselect.
    pub(super) hint: Option<&'a str>,
}

impl ConsentPage<'_> {
    /// Returns the URL of the page, and the state of its redirect.
    pub(super) fn url(&self, state: CsrfToken) -> Result<(Url, CsrfToken)> {
        let provider = self.authority.provider;
        let client = client(self.config, self.authority)?.set_redirect_uri(self.redirect.clone());
        let mut request = client
            .authorize_url(|| state)
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(self.verifier))
            .add_scopes(self.authority.scopes(self.config, self.scopes));
        for &(name, value) in provider.params {
            request = request.add_extra_param(name, value);
        }
        match self.hint {
            Some(hint) => request = request.add_extra_param("login_hint", hint),
            None => {
                for &(name, value) in provider.unhinted {
                    request = request.add_extra_param(name, value);
                }
            }
        }
        Ok(request.url())
    }
}

/// The content of the provider's redirect.
pub(super) struct RedirectParameters {
    pub(super) outcome: std::result::Result<AuthorizationCode, OAuthErrorResponse>,
    pub(super) state: Option<String>,
}

/// Reads the query of a provider's redirect; `None` if it has neither a code nor an error.
pub(super) fn read_redirect(query: &str) -> Option<RedirectParameters> {
    let value = |name: &str| {
        url::form_urlencoded::parse(query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
            .filter(|value| !value.is_empty())
    };
    let outcome = match (value("code"), value("error")) {
        (_, Some(error)) => Err(OAuthErrorResponse::new(
            &error,
            &value("error_subcode").unwrap_or_default(),
            &value("error_description").unwrap_or_default(),
        )),
        (Some(code), None) => Ok(AuthorizationCode::new(code)),
        (None, None) => return None,
    };
    Some(RedirectParameters { outcome, state: value("state") })
}

/// Accepts the response of the consent page, pasted or redirected.
#[derive(Clone)]
pub struct ResponseReceiver {
    provider: &'static OAuthProvider,
    redirect: String,
    state: CsrfToken,
    callbacks: mpsc::Sender<ConsentResponse>,
}

impl ResponseReceiver {
    /// Accepts the complete address that the browser ended on. The sign-in continues in
    /// [`SignIn::wait`].
    ///
    /// # Errors
    /// [`ErrorKind::Auth`] if the text is no such address, belongs to another sign-in, or comes too
    /// late. The sign-in keeps waiting.
    pub async fn paste(&self, text: &str) -> Result<()> {
        // People paste addresses with quotation marks or in angle brackets.
        let text = text.trim().trim_matches(['"', '\'', '<', '>']);
        let url =
            Url::parse(text).map_err(|_no_url| error_messages::not_a_redirect(&self.redirect))?;
        let query = url.query().unwrap_or_default();
        match self.read(query) {
            RedirectQuery::Nothing => Err(error_messages::not_a_redirect(&self.redirect)),
            RedirectQuery::WrongState => Err(error_messages::wrong_state(self.provider)),
            RedirectQuery::Answer(answer) => self.hand_in(ConsentResponse { answer, page: None }),
        }
    }

    /// Reads the query of the provider's redirect.
    pub(super) fn read(&self, query: &str) -> RedirectQuery {
        match read_redirect(query) {
            None => RedirectQuery::Nothing,
            Some(RedirectParameters { outcome, state: Some(state) })
                if state == *self.state.secret() =>
            {
                RedirectQuery::Answer(outcome)
            }
            Some(_) => RedirectQuery::WrongState,
        }
    }

    /// Passes a response on to [`SignIn::wait`]; only the first one is accepted.
    pub(super) fn hand_in(&self, callback: ConsentResponse) -> Result<()> {
        self.callbacks.try_send(callback).map_err(|_taken| {
            Error::new(ErrorKind::Auth, "this sign-in is over: it was already answered")
                .next("see the result of the first answer")
        })
    }

    /// Returns the provider's name for people.
    pub(super) fn title(&self) -> &'static str {
        self.provider.title
    }
}

/// The content of a redirect's query.
pub(super) enum RedirectQuery {
    /// Neither code nor error.
    Nothing,
    /// A code or an error of another sign-in, or without a valid state.
    WrongState,
    /// This sign-in's code or error.
    Answer(std::result::Result<AuthorizationCode, OAuthErrorResponse>),
}

/// Shows nothing that could be used for signing in.
impl std::fmt::Debug for SignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignIn")
            .field("provider", &self.authority.provider)
            .field("redirect_uri", &self.redirect.as_str())
            .finish_non_exhaustive()
    }
}
