//! The URL of a provider's consent page, for a redirect to this machine or to a server.

use daysheet_core::error::{Error, ErrorKind, Result};
use oauth2::{CsrfToken, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl};
use url::Url;

use super::authority::TokenAuthority;
use super::token_endpoint::client;
use crate::config::Config;

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
        // A hint selects the account, so the page needs no parameter that asks for one.
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

/// A consent page that redirects to a port of this machine.
pub(super) struct LoopbackConsent {
    pub(super) url: Url,
    pub(super) redirect: RedirectUrl,
    /// The state of the redirect.
    pub(super) state: CsrfToken,
    pub(super) verifier: PkceCodeVerifier,
}

impl LoopbackConsent {
    /// Creates the page, which requests `scopes`. `hint` is the address to preselect.
    pub(super) fn new(
        config: &Config,
        authority: &TokenAuthority,
        port: u16,
        scopes: &[&str],
        hint: Option<&str>,
    ) -> Result<Self> {
        let (host, path) = (authority.provider.redirect_host, authority.provider.redirect_path);
        let redirect =
            RedirectUrl::new(format!("http://{host}:{port}{path}")).map_err(|error| {
                Error::new(ErrorKind::Internal, format!("the redirect URL: {error}"))
            })?;
        let (_, verifier) = PkceCodeChallenge::new_random_sha256();
        let page = ConsentPage {
            config,
            authority,
            scopes,
            redirect: &redirect,
            verifier: &verifier,
            hint,
        };
        let (url, state) = page.url(CsrfToken::new_random())?;
        Ok(Self { url, redirect, state, verifier })
    }
}
