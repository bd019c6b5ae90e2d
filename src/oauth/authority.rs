//! The party that issues tokens: a provider, at a tenant.

use daysheet_core::error::{Error, Result};
use oauth2::Scope;
use url::Url;

use super::providers::{OAuthProvider, provider_named};
use crate::config::{self, Config, TENANTS};

/// A provider and its tenant, which issue tokens.
#[derive(Debug, Clone)]
pub(crate) struct TokenAuthority {
    /// The provider.
    pub(super) provider: &'static OAuthProvider,
    /// The tenant; empty if the provider has no tenants.
    pub(super) tenant: String,
    /// The page on which an administrator consents to the OAuth client.
    pub(super) admin_consent: Option<Url>,
}

impl TokenAuthority {
    /// Returns `provider` at `tenant`, or at the tenant of the settings.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) for an unknown provider or an
    /// invalid tenant.
    pub(crate) fn new(config: &Config, provider: &str, tenant: Option<&str>) -> Result<Self> {
        let provider = provider_named(provider)?;
        let tenant = match (tenant, (provider.tenant)(config)) {
            (None, set) => set.unwrap_or_default().to_owned(),
            (Some(_), None) => return Err(no_tenants(provider)),
            // It becomes part of the endpoints' paths. The tenant of the settings was checked
            // when they were read.
            (Some(tenant), Some(_)) => config::tenant(tenant).ok_or_else(no_such_tenant)?,
        };
        let admin_consent = (provider.admin_consent)(config, &tenant);
        Ok(Self { provider, tenant, admin_consent })
    }

    /// Returns the provider.
    pub(crate) fn provider(&self) -> &'static OAuthProvider {
        self.provider
    }

    /// Returns the scopes in the form of a request.
    pub(super) fn scopes(&self, config: &Config, scopes: &[&str]) -> Vec<Scope> {
        let ask = |scope: &&str| Scope::new((self.provider.scope_request)(config, scope));
        scopes.iter().map(ask).collect()
    }
}

/// Returns the error for a tenant at a provider without tenants.
fn no_tenants(provider: &OAuthProvider) -> Error {
    Error::argument(format!("{} has no tenants", provider.title)).next("leave out the tenant")
}

/// Returns the error for an invalid tenant.
fn no_such_tenant() -> Error {
    Error::argument("that is not a tenant").next(format!("use {TENANTS}"))
}
