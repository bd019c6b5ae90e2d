//! A sign-in whose consent page redirects to the server's own address.
//!
//! People who sign in through a server use other machines, so the page cannot redirect to a port of
//! this machine (`sign_in.rs`). This process keeps no state of such a sign-in: [`WebSignIn`] has
//! everything required to finish it. The caller stores it, sealed, under the random id that serves
//! as state, and can finish it on any instance. The caller also checks the state and the returning
//! person.

use daysheet_core::error::{Error, ErrorKind, Result};
use oauth2::{CsrfToken, PkceCodeVerifier, RedirectUrl};
use serde::{Deserialize, Serialize};
use url::Url;

use super::authority::TokenAuthority;
use super::consent_page::ConsentPage;
use super::error_messages;
use super::redirect::read_redirect;
use super::token_endpoint::{GivenConsent, client, exchange};
use super::tokens::GrantedTokens;
use crate::config::Config;

/// A sign-in in progress, with the PKCE verifier, which must stay secret.
#[derive(Serialize, Deserialize)]
pub struct WebSignIn {
    provider: String,
    tenant: Option<String>,
    scopes: Vec<String>,
    redirect: RedirectUrl,
    verifier: PkceCodeVerifier,
}

impl WebSignIn {
    /// Begins a sign-in to `provider` that requests `scopes` and redirects to `redirect`, at
    /// `tenant` or at the tenant of the settings.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown provider or an invalid tenant, [`ErrorKind::Auth`] if no
    /// OAuth client is set.
    pub fn begin(
        config: &Config,
        provider: &str,
        tenant: Option<&str>,
        scopes: &[&str],
        redirect: &Url,
    ) -> Result<Self> {
        let authority = TokenAuthority::new(config, provider, tenant)?;
        // Checked first, so that a missing client is reported before anything is stored.
        client(config, &authority)?;
        let (_, verifier) = oauth2::PkceCodeChallenge::new_random_sha256();
        Ok(Self {
            provider: authority.provider.name.to_owned(),
            tenant: tenant.map(str::to_owned),
            scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
            redirect: RedirectUrl::from_url(redirect.clone()),
            verifier,
        })
    }

    /// Returns the URL of the consent page, which will redirect with `state`. `hint` is the address
    /// to preselect.
    ///
    /// # Errors
    /// See [`WebSignIn::begin`].
    pub fn page(&self, config: &Config, state: String, hint: Option<&str>) -> Result<Url> {
        let authority = self.authority(config)?;
        let scopes: Vec<&str> = self.scopes.iter().map(String::as_str).collect();
        let page = ConsentPage {
            config,
            authority: &authority,
            scopes: &scopes,
            redirect: &self.redirect,
            verifier: &self.verifier,
            hint,
        };
        Ok(page.url(CsrfToken::new(state))?.0)
    }

    /// Finishes the sign-in with the query of the redirect.
    ///
    /// # Errors
    /// [`ErrorKind::Auth`] with the next step if the consent was denied, the response is from another
    /// provider, or the code was refused; [`ErrorKind::Network`] or [`ErrorKind::Timeout`] if the provider
    /// could not be reached.
    pub async fn finish(self, config: &Config, query: &str) -> Result<GrantedTokens> {
        let authority = self.authority(config)?;
        let provider = authority.provider;
        // A response that names its sender (RFC 9207) must be from the provider: the code of one
        // provider must never be sent to another.
        let issuer = url::form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "iss");
        let issuer = issuer.map(|(_, issuer)| Url::parse(&issuer));
        let expected = (provider.auth)(config, &authority.tenant)?;
        // Only hosts are compared, because the issuer's path differs from the consent page's.
        if issuer.is_some_and(|issuer| {
            issuer.map_or(true, |issuer| issuer.host_str() != expected.host_str())
        }) {
            return Err(Error::new(ErrorKind::Auth, "the answer comes from another provider")
                .next("start the sign-in again"));
        }
        let answer = read_redirect(query).ok_or_else(|| {
            Error::new(ErrorKind::Auth, "the provider's answer has no code")
                .next("start the sign-in again")
        })?;
        let code = answer
            .outcome
            .map_err(|response| error_messages::sign_in_error(&authority, &response))?;
        let consent = GivenConsent { code, verifier: self.verifier, redirect: self.redirect };
        exchange(config, &authority, consent, &self.scopes).await
    }

    fn authority(&self, config: &Config) -> Result<TokenAuthority> {
        TokenAuthority::new(config, &self.provider, self.tenant.as_deref())
    }
}

/// Omits the PKCE verifier, which could be used to sign in.
impl std::fmt::Debug for WebSignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebSignIn").field("provider", &self.provider).finish_non_exhaustive()
    }
}
