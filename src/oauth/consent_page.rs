//! The URL of a provider's consent page.

use daysheet_core::error::Result;
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
