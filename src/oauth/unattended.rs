//! Access tokens without sign-in: from a command, or with the key of a service account.

use daysheet_core::error::Result;
use daysheet_core::ids::AccountId;

use super::providers::provider_named;
use super::tokens::GrantedTokens;
use super::{command, service};
use crate::config::{Config, ServiceAccount};

/// A source of an account's access tokens that needs no sign-in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum UnattendedAccess<'a> {
    /// A command that prints tokens.
    Command(&'a [String]),
    /// A Google service account that acts for the account's owner.
    Service(&'a ServiceAccount),
}

/// Returns the source of tokens without sign-in for the account `id`, if the settings have one.
pub(crate) fn unattended<'a>(config: &'a Config, id: &AccountId) -> Option<UnattendedAccess<'a>> {
    match config.token_commands.get(id.as_str()) {
        // A command for one account takes precedence over the service account of its domain.
        Some(command) => Some(UnattendedAccess::Command(command)),
        None if id.as_str().starts_with("google:") => {
            config.google_service_account.as_ref().map(UnattendedAccess::Service)
        }
        None => None,
    }
}

impl UnattendedAccess<'_> {
    /// Gets tokens for the account `id`, such as `google:mira@example.com`. A command does not
    /// report scopes, so all of `scopes` count as granted.
    ///
    /// # Errors
    /// An error of the command, or of Google's token endpoint.
    pub(crate) async fn tokens(
        self,
        config: &Config,
        id: &AccountId,
        tenant: Option<&str>,
        scopes: &[&str],
    ) -> Result<GrantedTokens> {
        let (provider, email) = id.as_str().split_once(':').unwrap_or((id.as_str(), ""));
        match self {
            Self::Service(account) => service::tokens(config, account, email, scopes).await,
            Self::Command(command) => {
                let (access, expires) = command::token(id.as_str(), command, &config.clock).await?;
                Ok(GrantedTokens {
                    provider: provider_named(provider)?.name,
                    tenant: tenant.map(str::to_owned),
                    access,
                    refresh: None,
                    expires,
                    scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
                    ends: None,
                })
            }
        }
    }
}
