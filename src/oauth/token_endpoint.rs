//! Requests to the token endpoint: for the tokens of a consent, and for the next access token.
//!
//! `device.rs` polls the endpoint itself, with the client and the errors of this module.

use std::fmt::Display;

use daysheet_core::error::{Error, ErrorKind, Result};
use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse,
};
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, Client, EndpointNotSet, EndpointSet, ErrorResponseType,
    PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError, StandardErrorResponse,
    StandardRevocableToken, TokenUrl,
};

use super::authority::TokenAuthority;
use super::error_messages::{self, GrantEnd};
use super::error_response::{OAuthErrorResponse, RecordingClient, RefusalFields};
use super::tokens::{GrantedTokens, TokenAnswer};
use crate::config::Config;

/// A client of the `oauth2` crate with the settings of every flow.
pub(super) type OAuthClient = Client<
    BasicErrorResponse,
    TokenAnswer,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// Returns the client for requests to this authority.
///
/// # Errors
/// [`ErrorKind::Auth`] if no OAuth client is set, [`ErrorKind::Internal`] for an unusable endpoint.
pub(super) fn client(config: &Config, authority: &TokenAuthority) -> Result<OAuthClient> {
    let TokenAuthority { provider, tenant, .. } = authority;
    let registered = (provider.client)(config);
    let id = registered.id.clone().ok_or_else(|| error_messages::no_client(provider))?;
    let mut client = Client::new(id)
        // In the body: both providers accept it there, and public clients have no alternative.
        .set_auth_type(AuthType::RequestBody)
        .set_auth_uri(AuthUrl::from_url((provider.auth)(config, tenant)?))
        .set_token_uri(TokenUrl::from_url((provider.token)(config, tenant)?));
    if let Some(secret) = &registered.secret {
        client = client.set_client_secret(secret.clone());
    }
    Ok(client)
}

/// A person's consent, which the token endpoint exchanges for tokens.
pub(super) struct GivenConsent {
    /// The code in the redirect.
    pub(super) code: AuthorizationCode,
    /// The PKCE verifier of the consent page.
    pub(super) verifier: PkceCodeVerifier,
    /// The address that the consent page redirected to.
    pub(super) redirect: RedirectUrl,
}

/// Exchanges the code from the consent page for tokens. Without granted scopes in the response, the
/// `requested` ones are assumed.
///
/// # Errors
/// [`ErrorKind::Auth`] with the next step, [`ErrorKind::Network`] or [`ErrorKind::Timeout`].
pub(super) async fn exchange(
    config: &Config,
    authority: &TokenAuthority,
    consent: GivenConsent,
    requested: &[String],
) -> Result<GrantedTokens> {
    let GivenConsent { code, verifier, redirect } = consent;
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

/// The reason why a refresh returned no tokens.
#[derive(Debug)]
pub(crate) enum RefreshRefusal {
    /// The grant has ended.
    Grant(GrantEnd),
    /// Any other error; trying again later may help.
    Other(Error),
}

/// Gets a new access token, and perhaps a new refresh token, for `token`.
pub(crate) async fn refresh(
    config: &Config,
    authority: &TokenAuthority,
    token: &RefreshToken,
) -> std::result::Result<GrantedTokens, RefreshRefusal> {
    // A missing client says nothing about the grant, which is usable once the client is set again.
    let client = client(config, authority).map_err(RefreshRefusal::Other)?;
    let wire = RecordingClient::default();
    let answer =
        client.exchange_refresh_token(token).request_async(&wire).await.map_err(|error| {
            match refusal(authority, &wire, error) {
                Ok(error_response) => error_messages::end(authority.provider, &error_response)
                    .map_or_else(
                        || {
                            RefreshRefusal::Other(error_messages::sign_in_error(
                                authority, &error_response,
                            ))
                        },
                        RefreshRefusal::Grant,
                    ),
                Err(error) => RefreshRefusal::Other(error),
            }
        })?;
    GrantedTokens::new(authority, &answer, config.clock.seconds()).map_err(RefreshRefusal::Other)
}

/// Explains a failed request of a sign-in.
pub(super) fn response_error<T: ErrorResponseType + Display + 'static>(
    authority: &TokenAuthority,
    wire: &RecordingClient,
    error: RequestTokenError<Error, StandardErrorResponse<T>>,
) -> Error {
    refusal(authority, wire, error).map_or_else(
        |error| error,
        |error_response| error_messages::sign_in_error(authority, &error_response),
    )
}

/// Interprets an error of the `oauth2` crate: the provider's refusal, or an error for any response
/// other than OAuth's.
pub(super) fn refusal<T: ErrorResponseType + Display + 'static>(
    authority: &TokenAuthority,
    wire: &RecordingClient,
    error: RequestTokenError<Error, StandardErrorResponse<T>>,
) -> Result<OAuthErrorResponse> {
    match error {
        RequestTokenError::ServerResponse(answer) => {
            let description = answer.error_description().map(String::as_str);
            Ok(wire.last_error(&RefusalFields {
                error: &answer.error().to_string(),
                suberror: "",
                description: description.unwrap_or_default(),
            }))
        }
        RequestTokenError::Request(error) => Err(error),
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => Err(Error::new(
            ErrorKind::Auth,
            format!("{}'s token endpoint gave no OAuth response", authority.provider.title),
        )
        .next("check the endpoint URLs in the settings")),
    }
}
