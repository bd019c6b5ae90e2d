//! Microsoft's token endpoint: authorization codes, refresh tokens and device codes.

use hyper::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::error::{EntraError, answer as json_answer};
use super::{openid, scopes};
use crate::auth::oauth::{challenge_of, field};
use crate::auth::tokens::authorization::{AuthorizationRequest, TokenIssuer};
use crate::auth::tokens::device_codes::PollResult;
use crate::auth::tokens::{AuthorizationCode, IssuedTokens, NoCode, RefreshState, SignIn};
use crate::http::{HttpRequest, HttpResponse};
use crate::json::present;
use crate::state::RequestState;

/// The grant type of a device (RFC 8628, 3.4).
pub(super) const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Answers a token request.
pub(in crate::auth) fn answer(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    trade(state, request).unwrap_or_else(|refusal| refusal.json())
}

fn trade(state: &RequestState, request: &HttpRequest) -> Result<HttpResponse, EntraError> {
    let form = TokenForm(request.form());
    let grant = form.need("grant_type")?;
    let client = form.need("client_id")?;
    // Desktop apps are public clients, and Entra refuses a secret from them instead of ignoring it.
    // An empty one counts as well.
    if form.has("client_secret") || form.has("client_assertion") {
        return Err(EntraError::public_client());
    }
    // The requested scopes are checked for their form, but all that were granted are issued, as
    // Entra does it.
    if let Some(scope) = form.get("scope") {
        scopes::read(scope)?;
    }
    let mut sign_in = state.sign_in();
    let issued = match grant {
        "authorization_code" => {
            let AuthorizationCode { authorization, mailbox } =
                by_code(&mut sign_in, &form, client)?;
            sign_in.issue_tokens(&authorization, mailbox)
        }
        "refresh_token" => {
            let token = form.need("refresh_token")?;
            // Checked first, because rotating would end the token's predecessor.
            may_refresh(&sign_in, &form, client, token)?;
            let issued = sign_in.rotate(token).transpose();
            issued.ok_or_else(EntraError::malformed)?
        }
        DEVICE_GRANT => {
            let code = form.need("device_code")?;
            let polled = sign_in.devices.poll(TokenIssuer::Microsoft, client, code);
            let (authorization, mailbox) = consent(polled)?;
            sign_in.issue_tokens(&authorization, mailbox)
        }
        other => return Err(EntraError::unknown_grant(other)),
    };
    let issued = issued.map_err(|error| EntraError::failure(error.message()))?;
    Ok(json_answer(StatusCode::OK, &body(&sign_in, issued, &form, client, state.clock.now())))
}

/// The fields of a token request. Empty fields count as missing.
struct TokenForm(Vec<(String, String)>);

impl TokenForm {
    fn get(&self, name: &str) -> Option<&str> {
        field(&self.0, name).filter(|value| !value.is_empty())
    }

    fn has(&self, name: &str) -> bool {
        field(&self.0, name).is_some()
    }

    fn need(&self, name: &str) -> Result<&str, EntraError> {
        self.get(name).ok_or_else(|| EntraError::missing(name))
    }
}

/// Checks an authorization code, with PKCE, and returns its grant.
fn by_code(
    sign_in: &mut SignIn,
    form: &TokenForm,
    client: &str,
) -> Result<AuthorizationCode, EntraError> {
    let code = form.need("code")?;
    let redirect_uri = form.need("redirect_uri")?;
    // A code can be used once (RFC 6749, 4.1.2), so a failed attempt consumes it too.
    let code = sign_in.take_code(TokenIssuer::Microsoft, code).map_err(|why| match why {
        NoCode::Unknown => EntraError::malformed(),
        NoCode::Spent => EntraError::spent_code(),
    })?;
    let authorization = &code.authorization;
    if authorization.client_id != client {
        return Err(EntraError::wrong_grant());
    }
    if authorization.redirect_uri != redirect_uri {
        return Err(EntraError::other_redirect(redirect_uri, &authorization.redirect_uri));
    }
    if form.get("code_verifier").map(challenge_of).as_ref() != Some(&authorization.challenge) {
        return Err(EntraError::wrong_verifier());
    }
    check_consent(form, client, &authorization.scope)?;
    Ok(code)
}

/// Checks a refresh token.
fn may_refresh(
    sign_in: &SignIn,
    form: &TokenForm,
    client: &str,
    token: &str,
) -> Result<(), EntraError> {
    let stored = sign_in.standing(TokenIssuer::Microsoft, token);
    let stored = stored.ok_or_else(EntraError::malformed)?;
    match stored.life {
        RefreshState::Revoked => Err(EntraError::ended_grant().with("bad_token")),
        RefreshState::Good if stored.grant.client_id == client => {
            check_consent(form, client, &stored.grant.scope)
        }
        RefreshState::Good | RefreshState::Rotated => Err(EntraError::wrong_grant()),
    }
}

/// Refuses scopes beyond those that the person granted.
fn check_consent(form: &TokenForm, client: &str, granted: &str) -> Result<(), EntraError> {
    match form.get("scope") {
        Some(requested) if !scopes::covers(granted, requested) => {
            Err(EntraError::no_consent(client).with("consent_required"))
        }
        _ => Ok(()),
    }
}

/// Returns the request and mailbox of a device that was granted access.
fn consent(polled: PollResult) -> Result<(AuthorizationRequest, String), EntraError> {
    Err(match polled {
        PollResult::Granted { authorization, mailbox } => return Ok((authorization, mailbox)),
        PollResult::Pending => EntraError::pending_device(),
        PollResult::TooFast => EntraError::hasty_device(),
        PollResult::Declined => EntraError::declined_device(),
        PollResult::Expired => EntraError::expired_device(),
        PollResult::Unknown => EntraError::unknown_device(),
    })
}

/// Returns the response with tokens.
fn body(
    sign_in: &SignIn,
    issued: IssuedTokens,
    form: &TokenForm,
    client: &str,
    now: Timestamp,
) -> Value {
    let seconds = sign_in.lifetime.as_secs();
    let requested = form.get("scope").unwrap_or_default();
    let access = sign_in.access(&issued.access);
    let address = access.map(|access| access.mailbox).unwrap_or_default();
    // An ID token is issued only for the scope `openid` (OpenID Connect Core, 3.1.2.1).
    let openid = issued.scope.split(' ').any(|scope| scope == "openid");
    present(json!({
        "token_type": "Bearer",
        "scope": scopes::reported(&issued.scope, requested),
        "expires_in": seconds,
        "ext_expires_in": seconds,
        "access_token": issued.access,
        "refresh_token": issued.refresh,
        "id_token": openid.then(|| openid::id_token(&address, client, now, seconds)),
        "client_info": form.has("client_info").then(|| openid::client_info(&address)),
    }))
}
