//! Reads refusals from an endpoint's responses.
//!
//! The `oauth2` crate keeps a response's error code and description, and drops the fields in which
//! Microsoft gives the reason. Responses therefore pass through [`RecordingClient`], which reads them before
//! the crate does. Only a number is kept of the description, because the text may repeat our
//! request or name people.
//!
//! `error_messages.rs` explains refusals.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::refusals::known_phrase;
use daysheet_providers::net;
use oauth2::{AsyncHttpClient, HttpRequest, HttpResponse};

/// The prefix of Microsoft's error numbers.
const NUMBER: &str = "AADSTS";

/// A refusal in the provider's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OAuthErrorResponse {
    /// OAuth's code, or the provider's own code.
    pub(super) error: String,
    /// The provider's more exact word; may be empty.
    pub(super) suberror: String,
    /// Microsoft's number of the error.
    pub(super) number: Option<u32>,
    /// True if the description mentions revocation but not expiry.
    pub(super) revoked: bool,
    /// The part of the description that distinguishes the refusal; empty without one.
    pub(super) phrase: &'static str,
}

/// The fields of a refusal as received; missing ones are empty.
#[derive(Default)]
pub(super) struct RefusalFields<'a> {
    /// OAuth's code, or the provider's own code.
    pub(super) error: &'a str,
    /// The provider's more exact word.
    pub(super) suberror: &'a str,
    /// The description, for developers.
    pub(super) description: &'a str,
}

impl OAuthErrorResponse {
    /// Reads the fields of a refusal.
    pub(super) fn new(fields: &RefusalFields) -> Self {
        let RefusalFields { error, suberror, description } = *fields;
        let words = description.to_ascii_lowercase();
        Self {
            error: error.to_owned(),
            suberror: suberror.to_owned(),
            number: number_in(description),
            // Google describes both by one sentence: "Token has been expired or revoked."
            revoked: words.contains("revoked") && !words.contains("expired"),
            phrase: known_phrase(description),
        }
    }

    /// Reads the body of a response if it is a refusal in OAuth's form.
    pub(super) fn in_body(body: &[u8]) -> Option<Self> {
        let json: serde_json::Value = serde_json::from_slice(body).ok()?;
        let text = |name: &str| json.get(name).and_then(|value| value.as_str());
        let mut response = Self::new(&RefusalFields {
            error: text("error")?,
            // Google's name for it is `error_subtype`.
            suberror: text("suberror").or_else(|| text("error_subtype")).unwrap_or_default(),
            description: text("error_description").unwrap_or_default(),
        });
        let coded = json
            .get("error_codes")
            .and_then(|codes| codes.get(0))
            .and_then(serde_json::Value::as_u64)
            .and_then(|code| u32::try_from(code).ok());
        // The field is for programs; the description is for developers.
        response.number = coded.or(response.number);
        Some(response)
    }
}

/// Returns the number in a description such as `AADSTS65001: The user …`.
fn number_in(description: &str) -> Option<u32> {
    let (_, rest) = description.split_once(NUMBER)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// The HTTP client that the `oauth2` crate uses for one flow. It records the last refusal.
#[derive(Debug, Default)]
pub(super) struct RecordingClient {
    last: Mutex<Option<OAuthErrorResponse>>,
}

impl RecordingClient {
    /// Returns the last refusal, including fields that the crate drops. `reported` has the crate's
    /// fields, whose error may not be from a response.
    pub(super) fn last_error(&self, reported: &RefusalFields) -> OAuthErrorResponse {
        let noted = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        noted
            .clone()
            // When a device code expires, the crate reports that itself; the last response was an
            // earlier one, to a poll.
            .filter(|response| response.error == reported.error)
            .unwrap_or_else(|| OAuthErrorResponse::new(reported))
    }

    /// Sends a token request. Responses that cannot concern the grant become errors here, where
    /// their status is known.
    async fn post(&self, request: HttpRequest) -> Result<HttpResponse> {
        let answer = net::send(request).await?;
        let status = answer.status();
        // Following it could send a code or a refresh token to another server.
        if status.is_redirection() {
            return Err(Error::new(
                ErrorKind::Config,
                "the token endpoint redirects, which is not followed for tokens",
            )
            .next("correct its URL in the settings"));
        }
        // These do not mean that the grant has ended, whatever the body says.
        if status.is_server_error() || status == hyper::StatusCode::TOO_MANY_REQUESTS {
            return Err(Error::new(
                ErrorKind::Provider(status.as_u16()),
                format!("the token endpoint answered with HTTP {}", status.as_u16()),
            )
            .next("try again later"));
        }
        if !status.is_success() {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
                OAuthErrorResponse::in_body(answer.body());
        }
        Ok(answer)
    }
}

impl<'c> AsyncHttpClient<'c> for RecordingClient {
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.post(request))
    }
}
