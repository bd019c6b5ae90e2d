//! Entra's errors: an OAuth error code, and an AADSTS number with its sentence.
//!
//! An [`EntraError`] has three forms: JSON for programs, a page for people, and the query of a
//! redirect. The numbers are Entra's; the callers choose among them.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::auth::oauth;
use crate::auth::pages;
use crate::http::HttpResponse;
use crate::json::present;
use crate::refusals::refusals;

/// A refusal of a request.
#[derive(Debug)]
pub(crate) struct EntraError {
    status: StatusCode,
    error: &'static str,
    number: u32,
    text: String,
    suberror: Option<&'static str>,
}

impl EntraError {
    /// Returns the JSON of the token and device code endpoints.
    pub fn json(&self) -> HttpResponse {
        let body = json!({
            "error": self.error,
            "error_description": self.description(),
            "error_codes": [self.number],
            "suberror": self.suberror,
        });
        answer(self.status, &present(body))
    }

    /// Returns a page, for errors that must not be sent to the redirect URI.
    pub fn page(&self) -> HttpResponse {
        let title = "Sorry, but we’re having trouble signing you in.";
        pages::message(self.status, title, &self.description())
    }

    /// Returns the redirect to the client.
    pub fn redirect(&self, redirect_uri: &str, state: &str) -> HttpResponse {
        let description = self.description();
        let mut pairs = vec![("error", self.error), ("error_description", &description)];
        if let Some(suberror) = self.suberror {
            pairs.push(("error_subcode", suberror));
        }
        pairs.push(("state", state));
        oauth::back(redirect_uri, &pairs).unwrap_or_else(|| self.page())
    }

    fn description(&self) -> String {
        format!("AADSTS{}: {}", self.number, self.text)
    }

    fn new(status: StatusCode, error: &'static str, number: u32, text: String) -> Self {
        Self { status, error, number, text, suberror: None }
    }

    /// Adds the word that tells a client how to proceed.
    pub fn with(self, suberror: &'static str) -> Self {
        Self { suberror: Some(suberror), ..self }
    }

    // The words: OAuth error code and AADSTS number.
    refusals! { Self::new => Self, &str;
        missing(name): BAD_REQUEST, "invalid_request", 900_144;
            "The request body must contain the following parameter: '{name}'.";
        wrong_redirect(redirect_uri, client_id): BAD_REQUEST, "invalid_request", 50_011;
            "The redirect URI '{redirect_uri}' specified in the request does not match the \
             redirect URIs configured for the application '{client_id}'. Make sure the redirect \
             URI sent in the request matches one added to your application in the Azure portal.";
        wrong_response_type(kind): BAD_REQUEST, "unsupported_response_type", 700_054;
            "response_type '{kind}' is not enabled for the application.";
        no_challenge: BAD_REQUEST, "invalid_request", 9_002_325;
            "Proof Key for Code Exchange is required for authorization code redemption.";
        wrong_challenge: BAD_REQUEST, "invalid_request", 501_491;
            "The Code_Challenge is not an S256 challenge of 43 characters.";
        unknown_scope(scope): BAD_REQUEST, "invalid_scope", 70_011;
            "The provided request must include a 'scope' input parameter. The provided value for \
             the input parameter 'scope' is not valid. The scope {scope} is not valid.";
        used_page: BAD_REQUEST, "invalid_request", 90_100;
            "This page was used before or is too old. Start the sign-in again.";
        access_denied: BAD_REQUEST, "access_denied", 65_004;
            "User declined to consent to access the app.";
        public_client: UNAUTHORIZED, "invalid_client", 700_025;
            "Client is public so neither 'client_assertion' nor 'client_secret' should be \
             presented.";
        unknown_grant(grant): BAD_REQUEST, "unsupported_grant_type", 70_003;
            "The app requested an unsupported grant type '{grant}'.";
        malformed: BAD_REQUEST, "invalid_grant", 9_002_313;
            "Invalid request. Request is malformed or invalid.";
        wrong_grant: BAD_REQUEST, "invalid_grant", 70_000;
            "Provided grant is invalid or malformed.";
        spent_code: BAD_REQUEST, "invalid_grant", 54_005;
            "OAuth2 Authorization code was already redeemed, please retry with a new valid code or \
             use an existing refresh token.";
        other_redirect(redirect_uri, known): UNAUTHORIZED, "invalid_client", 500_112;
            "The reply address '{redirect_uri}' does not match the reply address '{known}' \
             provided when requesting Authorization code.";
        wrong_verifier: BAD_REQUEST, "invalid_grant", 501_481;
            "The Code_Verifier does not match the code_challenge supplied in the authorization \
             request.";
        ended_grant: BAD_REQUEST, "invalid_grant", 50_173;
            "The provided grant has expired due to it being revoked, a fresh auth token is needed. \
             The user might have changed or reset their password.";
        no_consent(client): BAD_REQUEST, "invalid_grant", 65_001;
            "The user or administrator has not consented to use the application with ID \
             '{client}'. Send an interactive authorization request for this user and resource.";
        pending_device: BAD_REQUEST, "authorization_pending", 70_016;
            "OAuth 2.0 device flow error. Authorization is pending. Continue polling.";
        hasty_device: BAD_REQUEST, "slow_down", 70_016;
            "OAuth 2.0 device flow error. Authorization is pending. Polling is too frequent.";
        declined_device: BAD_REQUEST, "authorization_declined", 65_004;
            "User declined to consent to access the app.";
        expired_device: BAD_REQUEST, "expired_token", 70_020;
            "The provided value for the input parameter 'device_code' is not valid. This device \
             code has expired.";
        unknown_device: BAD_REQUEST, "bad_verification_code", 70_018;
            "The provided value for the input parameter 'device_code' is not valid.";
        failure(why): INTERNAL_SERVER_ERROR, "server_error", 90_033; "{why}";
    }
}

/// Returns JSON in a response that must not be cached (RFC 6749, 5.1).
pub(super) fn answer(status: StatusCode, body: &Value) -> HttpResponse {
    let body = serde_json::to_vec(body).unwrap_or_default();
    HttpResponse::json(status, body)
        .with("cache-control", "no-store, no-cache")
        .with("pragma", "no-cache")
}
