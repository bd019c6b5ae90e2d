//! Microsoft's token endpoint: codes, refresh tokens and device codes traded.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::error::{EntraError, answer as json_answer};
use super::scopes;
use crate::auth::oauth::{challenge_of, field};
use crate::auth::tokens::device_codes::PollResult;
use crate::auth::tokens::{
    AuthorizationRequest, Code, Issued, Issuer, NoCode, RefreshStatus, SignIn,
};
use crate::http::{Request, Response};
use crate::state::State;

/// The grant type of a device.
pub(super) const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Trades what the form brings for tokens.
pub(super) fn answer(state: &State, request: &Request) -> Response {
    trade(state, request).unwrap_or_else(|refusal| refusal.json())
}

fn trade(state: &State, request: &Request) -> Result<Response, EntraError> {
    let form = Form(request.form());
    let grant = form.need("grant_type")?;
    let client = form.need("client_id")?;
    if form.has("client_secret") || form.has("client_assertion") {
        return Err(EntraError::new(
            "invalid_client",
            700_025,
            "Client is public so neither 'client_assertion' nor 'client_secret' should be \
             presented.",
        )
        .status(StatusCode::UNAUTHORIZED));
    }
    // The scopes asked for are checked, and all that were granted are given,
    // as the service does it.
    if let Some(scope) = form.get("scope") {
        scopes::read(scope)?;
    }
    let mut sign_in = state.sign_in();
    let issued = match grant {
        "authorization_code" => {
            let Code { authorization, mailbox } = by_code(&mut sign_in, &form, client)?;
            sign_in.issue_tokens(&authorization, mailbox)
        }
        "refresh_token" => {
            let token = form.need("refresh_token")?;
            may_refresh(&sign_in, &form, client, token)?;
            let issued = sign_in.rotate(token).transpose();
            issued.ok_or_else(EntraError::malformed)?
        }
        DEVICE_GRANT => {
            let code = form.need("device_code")?;
            let polled = sign_in.devices.poll(Issuer::Microsoft, client, code);
            let (authorization, mailbox) = granted(polled)?;
            sign_in.issue_tokens(&authorization, mailbox)
        }
        other => {
            return Err(EntraError::new(
                "unsupported_grant_type",
                70_003,
                format!("The app requested an unsupported grant type '{other}'."),
            ));
        }
    };
    let issued = issued.map_err(|error| EntraError::failure(error.message()))?;
    Ok(json_answer(StatusCode::OK, &body(&sign_in, issued)))
}

/// The fields of a token request.
struct Form(Vec<(String, String)>);

impl Form {
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

/// The authorization code grant's checks, with PKCE's.
fn by_code(sign_in: &mut SignIn, form: &Form, client: &str) -> Result<Code, EntraError> {
    let code = form.need("code")?;
    let redirect_uri = form.need("redirect_uri")?;
    // A code is good for one try, so it is gone even if the try fails.
    let code = sign_in.take_code(Issuer::Microsoft, code).map_err(|why| match why {
        NoCode::Unknown => EntraError::malformed(),
        NoCode::Spent => EntraError::new(
            "invalid_grant",
            54_005,
            "OAuth2 Authorization code was already redeemed, please retry with a new valid \
                 code or use an existing refresh token.",
        ),
        NoCode::Expired => EntraError::new(
            "invalid_grant",
            70_008,
            "The provided authorization code or refresh token has expired due to inactivity. \
                 Send a new interactive authorization request for this user and resource.",
        ),
    })?;
    let authorization = &code.authorization;
    if authorization.client_id != client {
        return Err(not_this_grant());
    }
    if authorization.redirect_uri != redirect_uri {
        return Err(EntraError::new(
            "invalid_client",
            500_112,
            format!(
                "The reply address '{redirect_uri}' does not match the reply address '{}' \
                 provided when requesting Authorization code.",
                authorization.redirect_uri
            ),
        )
        .status(StatusCode::UNAUTHORIZED));
    }
    if form.get("code_verifier").map(challenge_of).as_ref() != Some(&authorization.challenge) {
        return Err(EntraError::new(
            "invalid_grant",
            501_481,
            "The Code_Verifier does not match the code_challenge supplied in the authorization \
             request.",
        ));
    }
    check_consent(form, client, &authorization.scope)?;
    Ok(code)
}

/// The refresh token grant's checks.
fn may_refresh(sign_in: &SignIn, form: &Form, client: &str, token: &str) -> Result<(), EntraError> {
    match sign_in.standing(Issuer::Microsoft, token) {
        RefreshStatus::Unknown => Err(EntraError::malformed()),
        RefreshStatus::Rotated => Err(not_this_grant()),
        RefreshStatus::Revoked => Err(EntraError::new(
            "invalid_grant",
            50_173,
            "The provided grant has expired due to it being revoked, a fresh auth token is \
             needed. The user might have changed or reset their password.",
        )
        .suberror("bad_token")),
        RefreshStatus::Good { client_id, .. } if client_id != client => Err(not_this_grant()),
        RefreshStatus::Good { scope, .. } => check_consent(form, client, scope),
    }
}

/// Refuses scopes beyond those that the person granted.
fn check_consent(form: &Form, client: &str, granted: &str) -> Result<(), EntraError> {
    match form.get("scope") {
        Some(requested) if !scopes::covers(granted, requested) => Err(EntraError::new(
            "invalid_grant",
            65_001,
            format!(
                "The user or administrator has not consented to use the application with ID \
                 '{client}'. Send an interactive authorization request for this user and \
                 resource."
            ),
        )
        .suberror("consent_required")),
        _ => Ok(()),
    }
}

/// What a device is told.
fn granted(polled: PollResult) -> Result<(AuthorizationRequest, String), EntraError> {
    Err(match polled {
        PollResult::Granted { authorization, mailbox } => return Ok((authorization, mailbox)),
        PollResult::Pending => EntraError::new(
            "authorization_pending",
            70_016,
            "OAuth 2.0 device flow error. Authorization is pending. Continue polling.",
        ),
        PollResult::TooFast => EntraError::new(
            "slow_down",
            70_016,
            "OAuth 2.0 device flow error. Authorization is pending. Polling is too frequent.",
        ),
        PollResult::Declined => EntraError::new(
            "authorization_declined",
            65_004,
            "User declined to consent to access the app.",
        ),
        PollResult::Expired => EntraError::new(
            "expired_token",
            70_020,
            "The provided value for the input parameter 'device_code' is not valid. This device \
             code has expired.",
        ),
        PollResult::Unknown => EntraError::new(
            "bad_verification_code",
            70_018,
            "The provided value for the input parameter 'device_code' is not valid.",
        ),
    })
}

/// A grant that was good once, or for another.
fn not_this_grant() -> EntraError {
    EntraError::new("invalid_grant", 70_000, "Provided grant is invalid or malformed.")
}

/// The answer with tokens.
fn body(sign_in: &SignIn, issued: Issued) -> Value {
    let seconds = sign_in.lifetime().as_secs();
    let mut body = json!({
        "token_type": "Bearer",
        "scope": issued.scope,
        "expires_in": seconds,
        "ext_expires_in": seconds,
        "access_token": issued.access,
    });
    if let (Some(token), Value::Object(body)) = (issued.refresh, &mut body) {
        body.insert("refresh_token".to_owned(), token.into());
    }
    body
}
