//! Google's sign-in: consent, codes, tokens and revocation (OAuth 2.0). PKCE and `state` are
//! recommended to installed applications, and checked if a client sends them.
//!
//! No password is needed: the consent page offers the loaded mailboxes. Everything else is checked
//! as Google checks it, so that a client that skips a step fails here too. The pages are in
//! `pages.rs`, the tokens and their lifetimes in `tokens.rs`.

use hyper::StatusCode;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Value, json};

use super::consent;
use super::oauth::{self, challenge_of, field, is_loopback};
use super::tokens::authorization::{AuthorizationRequest, TokenIssuer};
use super::tokens::{AuthorizationCode, IssuedTokens, RefreshState, SignIn, TokenAccess};
use crate::google::error;
use crate::http::{HttpRequest, HttpResponse};
use crate::json::present;
use crate::state::RequestState;
use crate::store::mailbox::Mailbox;

/// The grant type of an assertion.
const ASSERTION: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// The address of the sandbox's service account; its key is `service_account.json`.
const SERVICE_ACCOUNT: &str = "daysheet@sandbox.iam.gserviceaccount.com";

/// Returns the mailbox of a request's bearer token, and the access that Google's sign-in granted.
pub(crate) fn bearer<'a>(
    state: &'a RequestState,
    request: &HttpRequest,
) -> Result<(&'a Mailbox, TokenAccess), HttpResponse> {
    let token = request
        .header("authorization")
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .ok_or_else(error::unauthenticated)?;
    let access = state
        .sign_in()
        .access(token)
        // Both imitated services share one table of tokens, and a Microsoft token must not open
        // Gmail.
        .filter(|access| access.issuer == TokenIssuer::Google)
        .ok_or_else(error::unauthenticated)?;
    let mailbox = state.mailbox(&access.mailbox).ok_or_else(error::unauthenticated)?;
    Ok((mailbox, access))
}

/// Checks an authorization request and shows the consent page.
pub(super) fn ask(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    match authorization(request) {
        Ok(authorization) => consent::ask(state, request, authorization),
        // Google shows these errors to the person instead of redirecting with them, also when the
        // redirect URI is valid.
        Err((error, why)) => error::error_page(error, &why),
    }
}

/// Reads an authorization request.
///
/// # Errors
///
/// The OAuth error code and its description, for the error page.
fn authorization(request: &HttpRequest) -> Result<AuthorizationRequest, (&'static str, String)> {
    let need = |name: &str| {
        let value = request.param(name).filter(|value| !value.is_empty());
        value.ok_or_else(|| ("invalid_request", format!("Required parameter is missing: {name}")))
    };
    let client_id = need("client_id")?;
    let redirect_uri = need("redirect_uri")?;
    // Google lets installed applications use any port on loopback without registering it (RFC 8252,
    // 7.3).
    if !is_loopback(redirect_uri) {
        return Err((
            "redirect_uri_mismatch",
            format!("redirect_uri={redirect_uri} is not http on 127.0.0.1, [::1] or localhost"),
        ));
    }
    if need("response_type")? != "code" {
        return Err(("unsupported_response_type", "response_type must be code".to_owned()));
    }
    let scope = need("scope")?;
    if let Some(unknown) = scope.split_whitespace().find(|scope| !is_scope(scope)) {
        return Err(("invalid_scope", format!("Some requested scopes were invalid: {unknown}")));
    }
    let challenge = request.param("code_challenge").unwrap_or_default();
    // Clients without PKCE are served, because Google does not require it. A challenge without a
    // method would mean `plain`, which the sandbox refuses.
    if !challenge.is_empty() {
        if need("code_challenge_method")? != "S256" {
            return Err(("invalid_request", "code_challenge_method must be S256".to_owned()));
        }
        if challenge.len() != oauth::CHALLENGE {
            return Err(("invalid_request", "code_challenge is no S256 challenge".to_owned()));
        }
    }
    Ok(AuthorizationRequest {
        issuer: TokenIssuer::Google,
        client_id: client_id.to_owned(),
        redirect_uri: redirect_uri.to_owned(),
        state: request.param("state").unwrap_or_default().to_owned(),
        scope: scope.split_whitespace().collect::<Vec<_>>().join(" "),
        challenge: challenge.to_owned(),
        offline: request.param("access_type") == Some("offline"),
    })
}

/// Returns true if a scope has the form of Google's.
fn is_scope(scope: &str) -> bool {
    scope.starts_with("https://www.googleapis.com/auth/")
        || ["https://mail.google.com/", "openid", "email", "profile"].contains(&scope)
}

/// Handles the consent page's form.
pub(super) fn consent(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    consent::decide(state, request, TokenIssuer::Google).unwrap_or_else(|| {
        let why = "This page was used before or is too old. Start the sign-in again.";
        error::error_page("invalid_request", why)
    })
}

/// Exchanges an authorization code, refresh token or assertion for an access token.
pub(super) fn token(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    let form = request.form();
    // An assertion names its client in `iss`, so it comes before the check of `client_id`.
    if field(&form, "grant_type") == Some(ASSERTION) {
        return by_assertion(state, &form);
    }
    let Some(client) = field(&form, "client_id").filter(|id| !id.is_empty()) else {
        let why = "The OAuth client was not found.";
        return refusal(StatusCode::UNAUTHORIZED, "invalid_client", why);
    };
    match field(&form, "grant_type") {
        Some("authorization_code") => by_code(state, &form, client),
        Some("refresh_token") => by_refresh_token(state, &form, client),
        Some(other) => bad("unsupported_grant_type", &format!("Invalid grant_type: {other}")),
        None => missing("grant_type"),
    }
}

/// Handles the grant of a service account that acts for a user (RFC 7523, section 2.1). Every
/// mailbox counts as part of the account's domain, and every scope as allowed.
fn by_assertion(state: &RequestState, form: &[(String, String)]) -> HttpResponse {
    let Some(assertion) = field(form, "assertion") else {
        return missing("assertion");
    };
    let mut rules = Validation::new(Algorithm::RS256);
    rules.set_required_spec_claims(&["exp", "iss", "sub", "aud"]);
    rules.set_issuer(&[SERVICE_ACCOUNT]);
    // The audience contains the sandbox's port, and the times are by the sandbox's clock, which
    // `jsonwebtoken` cannot use. Both are checked below.
    rules.validate_aud = false;
    rules.validate_exp = false;
    let key = match DecodingKey::from_rsa_pem(include_bytes!("service_account.pub.pem")) {
        Ok(key) => key,
        Err(error) => return failure(&error.to_string()),
    };
    let claims = match jsonwebtoken::decode::<Value>(assertion, &key, &rules) {
        Ok(assertion) => assertion.claims,
        Err(error) => return bad("invalid_grant", &format!("Invalid JWT: {error}")),
    };
    let text = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = |name: &str| claims.get(name).and_then(Value::as_i64).unwrap_or_default();
    if !text("aud").ends_with("/token") {
        return bad("invalid_grant", "Invalid JWT: Failed audience check.");
    }
    // Google refuses assertions that are valid for more than an hour.
    let lifetime = number("exp") - number("iat");
    if !(1..=3_600).contains(&lifetime) || number("exp") <= state.clock.seconds() {
        return bad(
            "invalid_grant",
            "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable \
             timeframe. Check your iat and exp values in the JWT claim.",
        );
    }
    let scope = text("scope");
    if scope.is_empty() || !scope.split(' ').all(is_scope) {
        return bad("invalid_scope", "Invalid OAuth scope or ID token audience provided.");
    }
    let Some(mailbox) = state.mailbox(text("sub")) else {
        return bad("invalid_grant", "Invalid email or User ID");
    };
    // A service account gets no refresh token: it signs the next assertion instead.
    let offline = false;
    let scope = scope.to_owned();
    let authorization =
        AuthorizationRequest::direct(TokenIssuer::Google, SERVICE_ACCOUNT, scope, offline);
    let mut sign_in = state.sign_in();
    match sign_in.issue_tokens(&authorization, mailbox.address.clone()) {
        Ok(issued) => tokens(&sign_in, issued),
        Err(error) => failure(error.message()),
    }
}

/// Handles the authorization code grant, with PKCE if the authorization had a challenge.
fn by_code(state: &RequestState, form: &[(String, String)], client: &str) -> HttpResponse {
    let Some(code) = field(form, "code") else {
        return missing("code");
    };
    let Some(redirect_uri) = field(form, "redirect_uri") else {
        return missing("redirect_uri");
    };
    let mut sign_in = state.sign_in();
    // A code can be used once (RFC 6749, 4.1.2), so a failed attempt consumes it too.
    let Ok(AuthorizationCode { authorization, mailbox }) =
        sign_in.take_code(TokenIssuer::Google, code)
    else {
        return bad("invalid_grant", "Malformed auth code.");
    };
    if authorization.client_id != client {
        return refusal(StatusCode::UNAUTHORIZED, "unauthorized_client", "Unauthorized");
    }
    if authorization.redirect_uri != redirect_uri {
        return bad("redirect_uri_mismatch", "Bad Request");
    }
    // Google's library for Node sends an empty verifier if it has none.
    let verifier = field(form, "code_verifier").filter(|verifier| !verifier.is_empty());
    match (verifier, authorization.challenge.as_str()) {
        (None, "") => {}
        // Otherwise, a stolen code could be exchanged by leaving out the verifier.
        (None, _) => return bad("invalid_grant", "Missing code verifier."),
        (Some(_), "") => {
            return bad("invalid_grant", "code_verifier or verifier is not needed.");
        }
        (Some(verifier), challenge) if challenge_of(verifier) != challenge => {
            return bad("invalid_grant", "Invalid code verifier.");
        }
        (Some(_), _) => {}
    }
    match sign_in.issue_tokens(&authorization, mailbox) {
        Ok(issued) => tokens(&sign_in, issued),
        Err(error) => failure(error.message()),
    }
}

/// Handles the refresh token grant.
fn by_refresh_token(state: &RequestState, form: &[(String, String)], client: &str) -> HttpResponse {
    let Some(token) = field(form, "refresh_token") else {
        return missing("refresh_token");
    };
    let mut sign_in = state.sign_in();
    let good = sign_in.standing(TokenIssuer::Google, token);
    match good.filter(|stored| stored.life == RefreshState::Good) {
        None => return bad("invalid_grant", "Token has been expired or revoked."),
        Some(stored) if stored.grant.client_id != client => {
            return refusal(StatusCode::UNAUTHORIZED, "unauthorized_client", "Unauthorized");
        }
        Some(_) => {}
    }
    // Google does not rotate refresh tokens: the answer has a new access token alone.
    match sign_in.refresh(token) {
        Ok(Some(issued)) => tokens(&sign_in, issued),
        Ok(None) => bad("invalid_grant", "Token has been expired or revoked."),
        Err(error) => failure(error.message()),
    }
}

/// Ends a grant by any of its access or refresh tokens.
pub(super) fn revoke(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    let form = request.form();
    // Google's documentation shows the token in the query, RFC 7009 in the form.
    let token = field(&form, "token").or_else(|| request.param("token"));
    match token {
        Some(token) if state.sign_in().revoke(TokenIssuer::Google, token) => {
            json_answer(StatusCode::OK, &json!({}))
        }
        Some(_) => bad("invalid_token", "Token expired or revoked"),
        None => missing("token"),
    }
}

/// Returns an error of the token endpoint (RFC 6749, 5.2).
fn refusal(status: StatusCode, error: &str, description: &str) -> HttpResponse {
    json_answer(status, &json!({ "error": error, "error_description": description }))
}

/// Returns an error with status 400, the most common one.
fn bad(error: &str, description: &str) -> HttpResponse {
    refusal(StatusCode::BAD_REQUEST, error, description)
}

/// 400: missing field.
fn missing(name: &str) -> HttpResponse {
    bad("invalid_request", &format!("Required parameter is missing: {name}"))
}

/// 500: the system's random generator failed, or the key is unusable.
fn failure(why: &str) -> HttpResponse {
    refusal(StatusCode::INTERNAL_SERVER_ERROR, "server_error", why)
}

/// Returns newly issued tokens, in a response that must not be cached (RFC 6749, 5.1).
fn tokens(sign_in: &SignIn, issued: IssuedTokens) -> HttpResponse {
    let body = json!({
        "access_token": issued.access,
        "expires_in": sign_in.lifetime.as_secs(),
        "scope": issued.scope,
        "token_type": "Bearer",
        "refresh_token": issued.refresh,
    });
    json_answer(StatusCode::OK, &present(body))
}

fn json_answer(status: StatusCode, body: &Value) -> HttpResponse {
    let body = serde_json::to_vec_pretty(body).unwrap_or_default();
    HttpResponse::json(status, body).with("cache-control", "no-cache, no-store, max-age=0")
}
