//! The tokens in a provider's response.

use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};
use oauth2::basic::BasicTokenType;
use oauth2::{AccessToken, ExtraTokenFields, RefreshToken, StandardTokenResponse, TokenResponse};
use serde::{Deserialize, Serialize};

use super::authority::TokenAuthority;
use super::error_messages;

/// The assumed lifetime of an access token if the provider states none. Google and Microsoft do:
/// about an hour.
const DEFAULT_LIFETIME: Duration = Duration::from_hours(1);

/// A response of a token endpoint.
pub(super) type TokenAnswer = StandardTokenResponse<GrantLifetime, BasicTokenType>;

/// The remaining lifetime of a grant, which Google states for projects in Testing mode.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct GrantLifetime {
    /// Seconds. Any JSON is accepted, because a strange value must not end the sign-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token_expires_in: Option<serde_json::Value>,
}

impl ExtraTokenFields for GrantLifetime {}

/// The tokens that a provider granted. `Debug` shows no token.
#[derive(Debug, Clone)]
pub struct GrantedTokens {
    /// The provider's name, such as `google`.
    pub provider: &'static str,
    /// The issuing tenant, if the provider has tenants. Refreshes have to go to the same one.
    pub tenant: Option<String>,
    /// The token sent with requests.
    pub access: AccessToken,
    /// The token that obtains the next access token. Present after a sign-in; after a refresh, only
    /// if the provider changed it; never for accounts without sign-in.
    pub refresh: Option<RefreshToken>,
    /// The expiry of the access token, in seconds since 1970.
    pub expires: i64,
    /// The granted scopes; people may have unticked some of the requested ones. Empty after a
    /// refresh means unchanged.
    pub scopes: Vec<String>,
    /// The time at which the grant ends, in seconds since 1970, if the provider stated it.
    pub ends: Option<i64>,
}

impl GrantedTokens {
    /// Reads the tokens of a response received at `now`, in seconds since 1970.
    ///
    /// # Errors
    /// [`ErrorKind::Auth`] for an access token that no request can carry.
    pub(super) fn new(authority: &TokenAuthority, answer: &TokenAnswer, now: i64) -> Result<Self> {
        let TokenAuthority { provider, tenant, .. } = authority;
        let lifetime = answer.expires_in().unwrap_or(DEFAULT_LIFETIME);
        let lifetime = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        let scopes = answer.scopes().map(Vec::as_slice).unwrap_or_default();
        if !is_sendable(answer.access_token()) {
            return Err(Error::new(
                ErrorKind::Auth,
                format!(
                    "{}'s token endpoint gave an access token with invalid characters",
                    provider.title
                ),
            )
            .next("check the endpoint URLs in the settings, and sign in again"));
        }
        Ok(Self {
            provider: provider.name,
            tenant: (!tenant.is_empty()).then(|| tenant.clone()),
            access: answer.access_token().clone(),
            refresh: answer.refresh_token().cloned(),
            expires: now.saturating_add(lifetime),
            scopes: scopes.iter().map(|scope| (provider.scope_granted)(scope).to_owned()).collect(),
            ends: answer
                .extra_fields()
                .refresh_token_expires_in
                .as_ref()
                .and_then(serde_json::Value::as_i64)
                .map(|seconds| now.saturating_add(seconds)),
        })
    }

    /// Reads the tokens of a sign-in, which must include a refresh token. Without granted scopes,
    /// the `requested` ones are assumed.
    pub(super) fn signed_in(
        authority: &TokenAuthority,
        answer: &TokenAnswer,
        requested: &[String],
        now: i64,
    ) -> Result<Self> {
        let mut tokens = Self::new(authority, answer, now)?;
        // Without it the sign-in would end within the hour.
        if tokens.refresh.is_none() {
            return Err(error_messages::no_refresh_token(authority.provider));
        }
        if tokens.scopes.is_empty() {
            // Providers may omit the scopes if all requested ones were granted (RFC 6749, 5.1).
            tokens.scopes = requested.to_vec();
        }
        Ok(tokens)
    }
}

/// Returns true for an access token that can be sent in a header (RFC 6750, section 2.1, is
/// stricter): a line break would end the header field.
pub(crate) fn is_sendable(token: &AccessToken) -> bool {
    let token = token.secret();
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}
