//! The end of a grant at the provider (RFC 7009).

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_providers::net;
use oauth2::RefreshToken;

use super::error_response::OAuthErrorResponse;
use super::providers::OAuthProvider;
use crate::config::Config;

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
