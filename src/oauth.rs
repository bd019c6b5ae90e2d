//! Sign-in: OAuth 2.0 over the `oauth2` crate.
//!
//! The differences between providers are in one [`OAuthProvider`] entry each
//! (`oauth/providers.rs`): endpoints, extra parameters, words. The flows are the same for all:
//! consent in a browser that redirects to this machine (`oauth/sign_in.rs` with
//! `oauth/listener.rs`) or to the pages of a server (`oauth/web.rs`), consent on another machine
//! with a code (`oauth/device.rs`), and the requests to the token endpoint in this module. Accounts
//! without sign-in get tokens from a command (`oauth/command.rs`) or with the key of a service
//! account (`oauth/service.rs`). `oauth/error_response.rs` reads refusals, and
//! `oauth/error_messages.rs` explains them, with Microsoft's numbers in `oauth/entra.rs`.
//!
//! Nothing is stored here: `accounts.rs` keeps the tokens. Errors, logs and `Debug` output contain
//! no tokens, codes or client secrets, and redirects of token endpoints are not followed.

use std::fmt::Display;
use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_providers::net;
use oauth2::basic::{BasicClient, BasicTokenResponse};
use oauth2::{
    AccessToken, AuthType, AuthUrl, AuthorizationCode, EndpointNotSet, EndpointSet,
    ErrorResponseType, PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError, Scope,
    StandardErrorResponse, TokenResponse, TokenUrl,
};

use crate::config::{self, Config, ServiceAccount};

mod command;
mod device;
mod entra;
mod error_messages;
mod error_response;
mod listener;
mod providers;
mod service;
mod sign_in;
mod web;

pub use device::DeviceSignIn;
pub(crate) use error_messages::grant_ended;
use error_response::{OAuthErrorResponse, RecordingClient};
pub use providers::{OAuthProvider, PROVIDERS, provider_named};
pub use sign_in::{BrowserPage, ResponseReceiver, SignIn};
pub use web::WebSignIn;

/// The assumed lifetime of an access token if the provider states none. Google and Microsoft do:
/// about an hour.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(3600);

/// A provider and its tenant, which issue tokens.
#[derive(Debug, Clone)]
pub(crate) struct TokenAuthority {
    provider: &'static OAuthProvider,
    /// The tenant; empty if the provider has no tenants.
    tenant: String,
}

impl TokenAuthority {
    /// Returns `provider` at `tenant`, or at the tenant of the settings.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown provider or an invalid tenant.
    pub(crate) fn of(config: &Config, provider: &str, tenant: Option<&str>) -> Result<Self> {
        let provider = provider_named(provider)?;
        let tenant = match (tenant, (provider.tenant)(config)) {
            (None, set) => set.unwrap_or_default().to_owned(),
            (Some(_), None) => return Err(error_messages::no_tenants(provider)),
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
    fn scopes(&self, config: &Config, scopes: &[&str]) -> Vec<Scope> {
        let ask = |scope: &&str| Scope::new((self.provider.scope_request)(config, scope));
        scopes.iter().map(ask).collect()
    }
}

/// Returns the way to sign an account in again, as `run ...` or `open ...`: at its tenant, if that
/// differs from the settings, and for its mailbox, if that is a shared one.
pub(crate) fn again(
    config: &Config,
    provider: &str,
    tenant: Option<&str>,
    mailbox: Option<&str>,
) -> String {
    if let Some(page) = config.connect_page(provider, &[("tenant", tenant), ("mailbox", mailbox)]) {
        return format!("open {page}");
    }
    let set = provider_named(provider).ok().and_then(|provider| (provider.tenant)(config));
    let tenant = tenant
        .filter(|tenant| set != Some(*tenant))
        .map(|tenant| format!(" --tenant {tenant}"))
        .unwrap_or_default();
    let mailbox = mailbox.map(|mailbox| format!(" --mailbox {mailbox}")).unwrap_or_default();
    format!("run `daysheet account add {provider}{tenant}{mailbox}`")
}

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
}

impl GrantedTokens {
    /// Reads the tokens of a response received at `now`, in seconds since 1970.
    ///
    /// # Errors
    /// [`ErrorKind::Auth`] for an access token that no request can carry.
    fn new(authority: &TokenAuthority, answer: &BasicTokenResponse, now: i64) -> Result<Self> {
        let TokenAuthority { provider, tenant } = authority;
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
        })
    }

    /// Reads the tokens of a sign-in, which must include a refresh token. Without granted scopes,
    /// the `requested` ones are assumed.
    fn signed_in(
        authority: &TokenAuthority,
        answer: &BasicTokenResponse,
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

/// A source of an account's access tokens that needs no sign-in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum UnattendedAccess<'a> {
    /// A command that prints tokens.
    Command(&'a [String]),
    /// A Google service account that acts for the account's owner.
    Service(&'a ServiceAccount),
}

/// Returns the source of tokens without sign-in for the account `id`, if the settings have one.
pub(crate) fn unattended<'a>(config: &'a Config, id: &str) -> Option<UnattendedAccess<'a>> {
    match config.token_commands.get(id) {
        // A command for one account takes precedence over the service account of its domain.
        Some(command) => Some(UnattendedAccess::Command(command)),
        None if id.starts_with("google:") => {
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
        id: &str,
        tenant: Option<&str>,
        scopes: &[&str],
    ) -> Result<GrantedTokens> {
        let (provider, email) = id.split_once(':').unwrap_or((id, ""));
        match self {
            Self::Service(account) => service::tokens(config, account, email, scopes).await,
            Self::Command(command) => {
                let (access, expires) = command::token(id, command, &config.clock).await?;
                Ok(GrantedTokens {
                    provider: provider_named(provider)?.name,
                    tenant: tenant.map(str::to_owned),
                    access,
                    refresh: None,
                    expires,
                    scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
                })
            }
        }
    }
}

/// The reason why a refresh returned no tokens.
#[derive(Debug)]
pub(crate) enum RefreshRefusal {
    /// The grant has ended.
    Grant(GrantEnd),
    /// Any other error; trying again later may help.
    Other(Error),
}

/// The end of a grant.
#[derive(Debug)]
pub(crate) struct GrantEnd {
    /// True if the provider reported a withdrawal rather than a possible expiry.
    pub(crate) revoked: bool,
    /// The reason, in words.
    reason: String,
}

/// A client of the `oauth2` crate with the settings of every flow.
type OAuthClient =
    BasicClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

fn client(config: &Config, authority: &TokenAuthority) -> Result<OAuthClient> {
    let TokenAuthority { provider, tenant } = authority;
    let registered = (provider.client)(config);
    let id = registered.id.clone().ok_or_else(|| error_messages::no_client(provider))?;
    let mut client = BasicClient::new(id)
        // In the body: both providers accept it there, and public clients have no alternative.
        .set_auth_type(AuthType::RequestBody)
        .set_auth_uri(AuthUrl::from_url((provider.auth)(config, tenant)?))
        .set_token_uri(TokenUrl::from_url((provider.token)(config, tenant)?));
    if let Some(secret) = &registered.secret {
        client = client.set_client_secret(secret.clone());
    }
    Ok(client)
}

/// Exchanges the code from the consent page for tokens.
///
/// # Errors
/// [`ErrorKind::Auth`] with the next step, [`ErrorKind::Network`] or [`ErrorKind::Timeout`].
async fn exchange(
    config: &Config,
    authority: &TokenAuthority,
    code: AuthorizationCode,
    verifier: PkceCodeVerifier,
    redirect: RedirectUrl,
    requested: &[String],
) -> Result<GrantedTokens> {
    let client = client(config, authority)?.set_redirect_uri(redirect);
    let wire = RecordingClient::default();
    let answer = client
        .exchange_code(code)
        .set_pkce_verifier(verifier)
        .request_async(&wire)
        .await
        .map_err(|error| response_error(authority, &wire, error))?;
    GrantedTokens::signed_in(authority, &answer, requested, config.clock.seconds())
}

/// Gets a new access token, and perhaps a new refresh token, for `token`.
pub(crate) async fn refresh(
    config: &Config,
    authority: &TokenAuthority,
    token: &RefreshToken,
) -> std::result::Result<GrantedTokens, RefreshRefusal> {
    let client = client(config, authority).map_err(RefreshRefusal::Other)?;
    let wire = RecordingClient::default();
    let answer =
        client.exchange_refresh_token(token).request_async(&wire).await.map_err(|error| {
            match refusal(authority, &wire, error) {
                Ok(error_response) => error_messages::end(authority.provider, &error_response)
                    .map_or_else(
                        || {
                            RefreshRefusal::Other(error_messages::sign_in_error(
                                authority.provider, &error_response,
                            ))
                        },
                        RefreshRefusal::Grant,
                    ),
                Err(error) => RefreshRefusal::Other(error),
            }
        })?;
    GrantedTokens::new(authority, &answer, config.clock.seconds()).map_err(RefreshRefusal::Other)
}

/// Asks the provider to end the grant of `token`; a grant that has already ended is a success.
/// Returns false if the provider does not support this.
///
/// # Errors
/// [`ErrorKind::Auth`], [`ErrorKind::Network`] or [`ErrorKind::Timeout`]. The grant may then remain, and the
/// message names the page where people can end it.
pub(crate) async fn revoke(
    config: &Config,
    provider: &OAuthProvider,
    token: &RefreshToken,
) -> Result<bool> {
    let by_hand = |error: Error| {
        Error::new(error.kind(), error.message().to_owned())
            .next(format!("withdraw the grant at {}", provider.grants))
    };
    let Some(url) = (provider.revoke)(config) else {
        return Ok(false);
    };
    // The crate refuses plain http even on loopback, which the sandbox uses.
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("token", token.secret())
        .finish();
    let request = hyper::Request::post(url.as_str())
        .header(hyper::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(body.into_bytes())
        .map_err(|_opaque| {
            Error::new(ErrorKind::Internal, "a revocation could not be serialized")
        })?;
    let answer = net::send(request).await.map_err(by_hand)?;
    // Google answers 400 with `invalid_token` if the grant has already ended.
    let already_invalid = answer.status() == hyper::StatusCode::BAD_REQUEST
        && OAuthErrorResponse::in_body(answer.body())
            .is_some_and(|error_response| error_response.error == "invalid_token");
    if answer.status().is_success() || already_invalid {
        return Ok(true);
    }
    Err(by_hand(Error::new(
        ErrorKind::Auth,
        format!(
            "{} answered the revocation with HTTP {}",
            provider.title,
            answer.status().as_u16()
        ),
    )))
}

/// Explains a failed request of a sign-in.
fn response_error<T: ErrorResponseType + Display + 'static>(
    authority: &TokenAuthority,
    wire: &RecordingClient,
    error: RequestTokenError<Error, StandardErrorResponse<T>>,
) -> Error {
    refusal(authority, wire, error).map_or_else(
        |error| error,
        |error_response| error_messages::sign_in_error(authority.provider, &error_response),
    )
}

/// Interprets an error of the `oauth2` crate: the provider's refusal, or an error for any response
/// other than OAuth's.
fn refusal<T: ErrorResponseType + Display + 'static>(
    authority: &TokenAuthority,
    wire: &RecordingClient,
    error: RequestTokenError<Error, StandardErrorResponse<T>>,
) -> Result<OAuthErrorResponse> {
    match error {
        RequestTokenError::ServerResponse(answer) => {
            let description = answer.error_description().map(String::as_str);
            Ok(wire.last_error(&answer.error().to_string(), description.unwrap_or_default()))
        }
        RequestTokenError::Request(error) => Err(error),
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => Err(Error::new(
            ErrorKind::Auth,
            format!("{}'s token endpoint gave no OAuth response", authority.provider.title),
        )
        .next("check the endpoint URLs in the settings")),
    }
}
