//! The check of an OAuth client without a person: requests for a consent page and for the tokens of
//! an invented code.
//!
//! The check stores no data and opens no browser. Microsoft recognizes some problems only once an
//! account is known; those clients pass.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::refusals::{RefusalMeaning, RefusalStage};
use daysheet_providers::net;
use hyper::header::LOCATION;
use oauth2::AuthorizationCode;
use url::Url;

use super::authority::TokenAuthority;
use super::consent_page::LoopbackConsent;
use super::error_messages::{known, sign_in_error};
use super::error_response::{OAuthErrorResponse, RecordingClient, RefusalFields};
use super::token_endpoint::{client, refusal};
use crate::config::Config;

/// The port in the redirect, which stays unused.
const PORT: u16 = 49_152;
/// A code that no provider issues.
const CODE: &str = "daysheet-checks-its-client";

/// Checks that the provider knows the OAuth client of the settings, its secret, and its redirect to
/// this machine.
///
/// # Errors
/// [`ErrorKind::Auth`] with the next step if the provider refuses the client, or none is set;
/// [`ErrorKind::Network`] or [`ErrorKind::Timeout`] if the provider was not reached.
pub async fn check_client(config: &Config, provider: &str, scopes: &[&str]) -> Result<()> {
    let authority = TokenAuthority::new(config, provider, None)?;
    let provider = authority.provider();
    let page = LoopbackConsent::new(config, &authority, PORT, scopes, None)?;
    if let Some(response) = refusal_of_page(&page.url).await? {
        return Err(sign_in_error(&authority, &response));
    }
    let client = client(config, &authority)?.set_redirect_uri(page.redirect);
    let wire = RecordingClient::default();
    let request = client.exchange_code(AuthorizationCode::new(CODE.to_owned()));
    let answer = request.set_pkce_verifier(page.verifier).request_async(&wire).await;
    let Err(error) = answer else {
        return Ok(());
    };
    let response = refusal(&authority, &wire, error)?;
    match known(provider, RefusalStage::SignIn, &response) {
        // These refusals concern the client; others concern the code, which is none.
        Some(known) if known.end == RefusalMeaning::Never => {
            Err(sign_in_error(&authority, &response))
        }
        _ => Ok(()),
    }
}

/// Requests a consent page, and returns the refusal that it shows instead, if it does.
async fn refusal_of_page(url: &Url) -> Result<Option<OAuthErrorResponse>> {
    let request = hyper::Request::get(url.as_str()).body(Vec::new()).map_err(|_opaque| {
        Error::new(ErrorKind::Config, "the URL of the consent page is not usable")
            .next("check the endpoint URLs in the settings")
    })?;
    let answer = net::send(request).await?;
    let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    // Google redirects to its error page, and both may redirect with an error of OAuth.
    if let Some(location) = location
        && let Ok(location) = url.join(location)
    {
        let value = |name: &str| {
            let mut pairs = location.query_pairs();
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        return Ok(match (value("error"), value("authError")) {
            (Some(error), _) => Some(read(&error, &value("error_description").unwrap_or_default())),
            (None, Some(coded)) => decoded(&coded),
            (None, None) => None,
        });
    }
    Ok(shown_on(&String::from_utf8_lossy(answer.body())))
}

fn read(error: &str, description: &str) -> OAuthErrorResponse {
    OAuthErrorResponse::new(&RefusalFields { error, suberror: "", description })
}

/// Reads the parameter of Google's error page: a message in Base64 whose first text is the code.
fn decoded(coded: &str) -> Option<OAuthErrorResponse> {
    let coded = coded.trim_end_matches('=');
    let bytes = URL_SAFE_NO_PAD.decode(coded).or_else(|_| STANDARD.decode(coded)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let is_code = |c: char| c.is_ascii_lowercase() || c == '_';
    let code = text.split(|c: char| !is_code(c)).find(|word| word.contains('_'))?;
    Some(read(code, &text))
}

/// Reads an error page: `Error 400: redirect_uri_mismatch` at Google, a number at Microsoft.
fn shown_on(page: &str) -> Option<OAuthErrorResponse> {
    let numbered = read("invalid_request", page);
    if numbered.number.is_some() {
        return Some(numbered);
    }
    let (_, rest) = page.split_once("Error 40")?;
    let code = rest.get(1..)?.strip_prefix(": ")?;
    let end = code.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(code.len());
    Some(read(code.get(..end)?, page))
}
