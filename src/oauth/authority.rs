//! The party that issues tokens: a provider, at a tenant.

use daysheet_core::error::Result;
use oauth2::Scope;

use super::error_messages;
use super::providers::{OAuthProvider, provider_named};
use crate::config::{self, Config};

/// A provider and its tenant, which issue tokens.
#[derive(Debug, Clone)]
pub(crate) struct TokenAuthority {
    /// The provider.
    pub(super) provider: &'static OAuthProvider,
    /// The tenant; empty if the provider has no tenants.
    pub(super) tenant: String,
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
            (Some(_), None) => return Err(error_messages::no_tenants(provider)),
            // It becomes part of the endpoints' paths. The tenant of the settings was checked
            // when they were read.
            (Some(tenant), Some(_)) => {
                config::tenant(tenant).ok_or_else(error_messages::no_such_tenant)?
            }
        };
        Ok(Self { provider, tenant })
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
