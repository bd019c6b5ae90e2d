//! Access tokens of a Google service account with domain-wide delegation, which acts for users of
//! its Workspace domain without their sign-in (RFC 7523, section 2.1).
//!
//! Each token is requested with an assertion signed by the account's key. The key stays in its
//! file, and the store has only the tokens.

use daysheet_core::error::{Error, ErrorKind, Result};
use hyper::header::CONTENT_TYPE;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use oauth2::{AsyncHttpClient, HttpRequest};
use serde_json::json;
use url::form_urlencoded::Serializer;

use super::authority::TokenAuthority;
use super::error_response::{OAuthErrorResponse, RecordingClient};
use super::tokens::{GrantedTokens, TokenAnswer};
use crate::config::{Config, ServiceAccount};

/// The grant type of an assertion.
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// The lifetime of an assertion, in seconds; Google allows an hour.
const VALID: i64 = 600;
/// The step for the administrator, and the page about it.
const ALLOW: &str = "let an administrator allow the account's client id these scopes, under \
                     Security, API controls, Domain-wide delegation; docs/guide/setup-google.md lists them";

/// Requests an access token for the user `email`.
///
/// # Errors
/// [`ErrorKind::Config`] for an invalid key, [`ErrorKind::Auth`] with the next step if Google
/// refuses, [`ErrorKind::Network`], [`ErrorKind::Timeout`] or [`ErrorKind::Provider`].
pub(super) async fn tokens(
    config: &Config,
    account: &ServiceAccount,
    email: &str,
    scopes: &[&str],
) -> Result<GrantedTokens> {
    let authority = TokenAuthority::new(config, "google", None)?;
    let endpoint = &config.endpoints.google_token;
    let now = config.clock.seconds();
    let claims = json!({
        "iss": account.email,
        "sub": email,
        "scope": scopes.join(" "),
        "aud": endpoint.as_str(),
        "iat": now,
        "exp": now + VALID,
    });
    let mut header = Header::new(Algorithm::RS256);
    header.kid.clone_from(&account.key_id);
    let assertion = EncodingKey::from_rsa_pem(account.key.secret().as_bytes())
        .and_then(|key| jsonwebtoken::encode(&header, &claims, &key))
        .map_err(|_opaque| {
            Error::new(ErrorKind::Config, "the private key of the service account is not usable")
                .next("create a new JSON key for it in Google's console")
        })?;
    let body = Serializer::new(String::new())
        .append_pair("grant_type", GRANT)
        .append_pair("assertion", &assertion)
        .finish();
    let mut request = HttpRequest::new(body.into_bytes());
    *request.method_mut() = hyper::Method::POST;
    *request.uri_mut() = endpoint.as_str().parse().map_err(|_opaque| {
        Error::new(ErrorKind::Config, "the URL of Google's token endpoint is not usable")
    })?;
    let form = hyper::header::HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers_mut().insert(CONTENT_TYPE, form);
    // The client of the other flows, because it refuses redirects, which would receive the
    // assertion.
    let answer = RecordingClient::default().call(request).await?;
    if !answer.status().is_success() {
        let refusal = OAuthErrorResponse::in_body(answer.body()).unwrap_or_default();
        return Err(refused(account, email, &refusal));
    }
    let response: TokenAnswer = serde_json::from_slice(answer.body()).map_err(|_opaque| {
        Error::new(ErrorKind::Auth, "Google's token endpoint gave no OAuth response")
            .next("check the endpoint URLs in the settings")
    })?;
    let mut tokens = GrantedTokens::new(&authority, &response, config.clock.seconds())?;
    // A new assertion replaces refreshing.
    tokens.refresh = None;
    tokens.scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    Ok(tokens)
}

/// Explains a refusal in the terms of Google's documentation of service accounts.
fn refused(account: &ServiceAccount, email: &str, refusal: &OAuthErrorResponse) -> Error {
    let account = &account.email;
    let (why, next) = match refusal.error.as_str() {
        "unauthorized_client" | "access_denied" => {
            (format!("{account} may not act for {email}"), ALLOW.to_owned())
        }
        "invalid_scope" => {
            (format!("{account} may not have the requested scopes"), ALLOW.to_owned())
        }
        "invalid_grant" => (
            format!("Google does not accept {account} for {email}"),
            "check the address, the clock of this machine, and that the key was not deleted in \
             Google's console"
                .to_owned(),
        ),
        _ => (
            format!("Google refused a token of {account} for {email}"),
            "see docs/guide/setup-google.md, Service accounts".to_owned(),
        ),
    };
    Error::new(ErrorKind::Auth, why).next(next)
}
