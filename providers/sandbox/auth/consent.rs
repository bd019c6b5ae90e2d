//! Consent: the browser's part of both sign-ins. Each checks the authorization request itself.

use super::entra::error::EntraError;
use super::oauth::{back, field};
use super::pages;
use super::tokens::authorization::{AuthorizationRequest, TokenIssuer};
use crate::google::error::error_page;
use crate::http::{HttpRequest, HttpResponse};
use crate::state::RequestState;

/// The request header that answers a consent page without a browser: `allow` or `deny`.
pub(super) const CONSENT_HEADER: &str = "x-sandbox-consent";

/// Shows the consent page. With the consent header and a known `login_hint`, answers at once.
pub(super) fn ask(
    state: &RequestState,
    request: &HttpRequest,
    authorization: AuthorizationRequest,
) -> HttpResponse {
    let hint = request.param("login_hint").unwrap_or_default();
    match (state.mailbox(hint), request.header(CONSENT_HEADER)) {
        (Some(mailbox), Some("allow")) => allow(state, authorization, mailbox.address.clone()),
        (Some(_), Some("deny")) => deny(&authorization),
        _ => match state.sign_in().hold(authorization.clone()) {
            Ok(ticket) => pages::consent(state, &authorization, &ticket, hint),
            Err(error) => failure(&authorization, error.message()),
        },
    }
}

/// Handles the consent page's form. `None` if the page was used before or is too old.
pub(super) fn decide(
    state: &RequestState,
    request: &HttpRequest,
    issuer: TokenIssuer,
) -> Option<HttpResponse> {
    let form = request.form();
    let ticket = field(&form, "request").unwrap_or_default();
    // The ticket is removed by this, so that going back and submitting the form again fails.
    let authorization = state.sign_in().take_request(issuer, ticket)?;
    let mailbox = state.mailbox(field(&form, "mailbox").unwrap_or_default());
    Some(match (mailbox, field(&form, "decision")) {
        (Some(mailbox), Some("allow")) => allow(state, authorization, mailbox.address.clone()),
        _ => deny(&authorization),
    })
}

/// Redirects the browser to the client with an authorization code.
fn allow(
    state: &RequestState,
    authorization: AuthorizationRequest,
    mailbox: String,
) -> HttpResponse {
    let code = match state.sign_in().issue_code(authorization.clone(), mailbox) {
        Ok(code) => code,
        Err(error) => return failure(&authorization, error.message()),
    };
    let AuthorizationRequest { redirect_uri, state, scope, .. } = &authorization;
    let pairs: &[(&str, &str)] = match authorization.issuer {
        TokenIssuer::Google => &[("state", state), ("code", &code), ("scope", scope)],
        TokenIssuer::Microsoft => &[("code", &code), ("state", state)],
    };
    back(redirect_uri, pairs).unwrap_or_else(|| failure(&authorization, "redirect_uri is no URI"))
}

/// Redirects the browser to the client with the person's refusal.
fn deny(authorization: &AuthorizationRequest) -> HttpResponse {
    let AuthorizationRequest { redirect_uri, state, .. } = authorization;
    match authorization.issuer {
        TokenIssuer::Google => back(redirect_uri, &[("error", "access_denied"), ("state", state)])
            .unwrap_or_else(|| failure(authorization, "redirect_uri is no URI")),
        TokenIssuer::Microsoft => {
            EntraError::access_denied().with("cancel").redirect(redirect_uri, state)
        }
    }
}

/// Reports an internal failure. The redirect URI was checked, so it is a URI.
fn failure(authorization: &AuthorizationRequest, why: &str) -> HttpResponse {
    match authorization.issuer {
        TokenIssuer::Google => error_page("server_error", why),
        TokenIssuer::Microsoft => {
            EntraError::failure(why).redirect(&authorization.redirect_uri, &authorization.state)
        }
    }
}
