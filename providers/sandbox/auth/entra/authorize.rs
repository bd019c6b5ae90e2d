//! Authorization and consent: the browser's part of Microsoft's sign-in.
//!
//! Errors in the client id or redirect URI are shown on a page; all others are sent to the client
//! (RFC 6749, 4.1.2.1).

use super::error::EntraError;
use super::scopes;
use crate::auth::oauth::{self, CONSENT_HEADER, field, is_loopback};
use crate::auth::pages;
use crate::auth::tokens::authorization::{AuthorizationRequest, TokenIssuer};
use crate::http::{HttpRequest, HttpResponse};
use crate::state::RequestState;

/// Checks an authorization request and shows the consent page. With the consent header and a known
/// `login_hint`, answers at once.
pub(in crate::auth) fn ask(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    let (client_id, redirect_uri) = match client(request) {
        Ok(client) => client,
        Err(refusal) => return refusal.page(),
    };
    let its_state = request.param("state").unwrap_or_default();
    let refused = |refusal: EntraError| refusal.redirect(redirect_uri, its_state);
    let authorization = match authorization(request, client_id, redirect_uri) {
        Ok(authorization) => authorization,
        Err(refusal) => return refused(refusal),
    };
    let hint = request.param("login_hint").unwrap_or_default();
    match (state.mailbox(hint), request.header(CONSENT_HEADER)) {
        (Some(mailbox), Some("allow")) => allow(state, authorization, mailbox.address.clone()),
        (Some(_), Some("deny")) => deny(&authorization),
        _ => match state.sign_in().hold(authorization.clone()) {
            Ok(ticket) => pages::consent(state, &authorization, &ticket, hint),
            Err(error) => refused(EntraError::failure(error.message())),
        },
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
    let form = request.form();
    let ticket = field(&form, "request").unwrap_or_default();
    let authorization = state.sign_in().take_request(TokenIssuer::Microsoft, ticket);
    let Some(authorization) = authorization else {
        return EntraError::used_page().page();
    };
    let mailbox = state.mailbox(field(&form, "mailbox").unwrap_or_default());
    match (mailbox, field(&form, "decision")) {
        (Some(mailbox), Some("allow")) => allow(state, authorization, mailbox.address.clone()),
        _ => deny(&authorization),
    }
}

/// Redirects the browser to the client with an authorization code.
fn allow(
    state: &RequestState,
    authorization: AuthorizationRequest,
    mailbox: String,
) -> HttpResponse {
    let (redirect_uri, its_state) =
        (authorization.redirect_uri.clone(), authorization.state.clone());
    let code = match state.sign_in().issue_code(authorization, mailbox) {
        Ok(code) => code,
        Err(error) => {
            return EntraError::failure(error.message()).redirect(&redirect_uri, &its_state);
        }
    };
    // A client that sent no `state` must not get an empty one (RFC 6749, 4.1.2).
    let mut pairs = vec![("code", code.as_str())];
    if !its_state.is_empty() {
        pairs.push(("state", its_state.as_str()));
    }
    oauth::back(&redirect_uri, &pairs)
        .unwrap_or_else(|| EntraError::failure("redirect_uri is no URI").page())
}

/// Redirects the browser to the client with the person's refusal.
fn deny(authorization: &AuthorizationRequest) -> HttpResponse {
    let refusal = EntraError::access_denied().with("cancel");
    refusal.redirect(&authorization.redirect_uri, &authorization.state)
}
