//! The device flow (RFC 8628): a code that is entered on another machine.
//!
//! The `oauth2` crate polls until the person has decided, at the interval that the provider
//! requires, and continues after network failures. This module opens no browser and prints nothing;
//! the caller shows the code.

use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};
use jiff::Timestamp;
use oauth2::{DeviceAuthorizationUrl, StandardDeviceAuthorizationResponse};

use super::authority::TokenAuthority;
use super::error_messages;
use super::error_response::RecordingClient;
use super::token_endpoint::{client, response_error};
use super::tokens::GrantedTokens;
use crate::config::Config;

/// A sign-in in progress, whose code can be entered until it expires.
pub struct DeviceSignIn {
    config: Config,
    authority: TokenAuthority,
    scopes: Vec<String>,
    granted: StandardDeviceAuthorizationResponse,
    user_code: String,
    expires: Timestamp,
}

impl DeviceSignIn {
    /// Starts a sign-in to `provider` that requests `scopes`, at `tenant` or at the tenant of the
    /// settings.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown provider, a provider without this flow, or an invalid
    /// tenant; [`ErrorKind::Auth`] if no OAuth client is set or it was refused; [`ErrorKind::Network`] or
    /// [`ErrorKind::Timeout`] if the provider was not reached.
    pub async fn start(
        config: &Config,
        provider: &str,
        tenant: Option<&str>,
        scopes: &[&str],
    ) -> Result<Self> {
        let authority = TokenAuthority::new(config, provider, tenant)?;
        let provider = authority.provider;
        let device = provider.device.ok_or_else(|| error_messages::no_device_flow(provider))?;
        let client = client(config, &authority)?.set_device_authorization_url(
            DeviceAuthorizationUrl::from_url(device(config, &authority.tenant)?),
        );
        let wire = RecordingClient::default();
        let granted: StandardDeviceAuthorizationResponse = client
            .exchange_device_code()
            .add_scopes(authority.scopes(config, scopes))
            .request_async(&wire)
            .await
            .map_err(|error| response_error(&authority, &wire, error))?;
        // The code is shown, and must be something that a person can type.
        let user_code: String = granted
            .user_code()
            .secret()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .take(40)
            .collect();
        // The person opens the page: a link of another scheme could start a program.
        let page = granted.verification_uri().url().scheme();
        if user_code.is_empty() || !matches!(page, "https" | "http") {
            return Err(Error::new(
                ErrorKind::Auth,
                format!("{} gave no usable code", provider.title),
            )
            .next("check the endpoint URLs in the settings"));
        }
        let lifetime = i64::try_from(granted.expires_in().as_secs()).unwrap_or(i64::MAX);
        let expires = config.clock.seconds().saturating_add(lifetime);
        Ok(Self {
            config: config.clone(),
            scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
            authority,
            user_code,
            expires: Timestamp::from_second(expires).unwrap_or(Timestamp::MAX),
            granted,
        })
    }

    /// Returns the code to enter. It is not secret from the person who signs in; anyone else who
    /// enters it gives this program access to their own account.
    pub fn user_code(&self) -> &str {
        &self.user_code
    }

    /// Returns the URL of the page for entering the code.
    pub fn verification_uri(&self) -> &str {
        self.granted.verification_uri().url().as_str()
    }

    /// Returns the time at which the code expires.
    pub fn expires(&self) -> Timestamp {
        self.expires
    }

    /// Returns the instruction for the person, as an imperative clause.
    pub fn message(&self) -> String {
        format!(
            "open {} on any machine and enter the code {} within {} minutes",
            self.verification_uri(),
            self.user_code,
            self.granted.expires_in().as_secs().div_ceil(60)
        )
    }

    /// Waits for the person to enter the code and to consent, and for the tokens.
    ///
    /// # Errors
    /// [`ErrorKind::Auth`] with the next step if the sign-in was declined, the code was not entered in
    /// time, or the provider refused.
    pub async fn wait(self) -> Result<GrantedTokens> {
        let client = client(&self.config, &self.authority)?;
        let wire = RecordingClient::default();
        let answer = client
            .exchange_device_access_token(&self.granted)
            // Longer than any interval that `slow_down` can lead to, so that a failure does not
            // shorten it.
            .set_max_backoff_interval(Duration::from_mins(1))
            // Without a limit, the crate polls until the code expires.
            .request_async(&wire, tokio::time::sleep, None)
            .await
            .map_err(|error| response_error(&self.authority, &wire, error))?;
        GrantedTokens::signed_in(
            &self.authority,
            &answer,
            &self.scopes,
            self.config.clock.seconds(),
        )
    }
}

/// Shows neither of the codes.
impl std::fmt::Debug for DeviceSignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceSignIn")
            .field("provider", &self.authority.provider)
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}
