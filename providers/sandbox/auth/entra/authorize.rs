//! Authorization and consent: the browser's part of Microsoft's sign-in.
//!
//! Errors in the client id or redirect URI are shown on a page; all others are sent to the client
//! (RFC 6749, 4.1.2.1).

use super::error::EntraError;
use super::scopes;
use crate::auth::consent;
use crate::auth::oauth::{self, is_loopback};
use crate::auth::tokens::authorization::{AuthorizationRequest, TokenIssuer};
use crate::http::{HttpRequest, HttpResponse};
use crate::state::RequestState;

/// Checks an authorization request and shows the consent page.
pub(in crate::auth) fn ask(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    let (client_id, redirect_uri) = match client(request) {
        Ok(client) => client,
        Err(refusal) => return refusal.page(),
    };
    match authorization(request, client_id, redirect_uri) {
        Ok(authorization) => consent::ask(state, request, authorization),
        Err(refusal) => refusal.redirect(redirect_uri, request.param("state").unwrap_or_default()),
    }
}

/// Returns the client id and redirect URI, which must be valid before anything is sent to the
/// client.
fn client(request: &HttpRequest) -> Result<(&str, &str), EntraError> {
    let need = |name: &str| {
        let value = request.param(name).filter(|value| !value.is_empty());
        value.ok_or_else(|| EntraError::missing(name))
    };
    let client_id = need("client_id")?;
    let redirect_uri = need("redirect_uri")?;
    // Entra ignores the port of a registered `http://localhost` redirect; every client here counts
    // as registered with all loopback addresses.
    if !is_loopback(redirect_uri) {
        return Err(EntraError::wrong_redirect(redirect_uri, client_id));
    }
    Ok((client_id, redirect_uri))
}

/// Reads the remaining parameters of an authorization request.
fn authorization(
    request: &HttpRequest,
    client_id: &str,
    redirect_uri: &str,
) -> Result<AuthorizationRequest, EntraError> {
    let param = |name: &str| request.param(name).filter(|value| !value.is_empty());
    let kind = param("response_type").ok_or_else(|| EntraError::missing("response_type"))?;
    if kind != "code" {
        return Err(EntraError::wrong_response_type(kind));
    }
    let scopes = scopes::read(param("scope").ok_or_else(|| EntraError::missing("scope"))?)?;
    // Stricter than Entra for public clients, which may leave PKCE out unless they are single-page
    // applications: a client that forgets it is to be noticed.
    let challenge = param("code_challenge").ok_or_else(EntraError::no_challenge)?;
    if param("code_challenge_method") != Some("S256") || challenge.len() != oauth::CHALLENGE {
        return Err(EntraError::wrong_challenge());
    }
    Ok(AuthorizationRequest {
        issuer: TokenIssuer::Microsoft,
        client_id: client_id.to_owned(),
        redirect_uri: redirect_uri.to_owned(),
        state: request.param("state").unwrap_or_default().to_owned(),
        scope: scopes.granted,
        challenge: challenge.to_owned(),
        offline: scopes.offline,
    })
}

/// Handles the consent page's form.
pub(in crate::auth) fn consent(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    let decided = consent::decide(state, request, TokenIssuer::Microsoft);
    decided.unwrap_or_else(|| EntraError::used_page().page())
}
