//! Entra's errors: an OAuth word, and an AADSTS number with its sentence.
//!
//! One [`EntraError`] has three looks: JSON for programs, a page for people, and
//! the query of a redirect. The numbers are the service's; which of them a
//! request deserves is decided where the request is understood.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::auth::oauth;
use crate::auth::pages;
use crate::http::HttpResponse;

/// A request that was refused.
#[derive(Debug)]
pub(crate) struct EntraError {
    status: StatusCode,
    error: &'static str,
    number: u32,
    text: String,
    suberror: Option<&'static str>,
}

impl EntraError {
    /// The JSON of the token endpoint and its like.
    pub fn json(&self) -> HttpResponse {
        let mut body = json!({
            "error": self.error,
            "error_description": self.description(),
            "error_codes": [self.number],
        });
        if let (Value::Object(body), Some(suberror)) = (&mut body, self.suberror) {
            body.insert("suberror".to_owned(), suberror.into());
        }
        answer(self.status, &body)
    }

    /// The page that stands where a redirect would be wrong.
    pub fn page(&self) -> HttpResponse {
        let title = "Sorry, but we’re having trouble signing you in.";
        pages::message(self.status, title, &self.description())
    }

    /// The redirect back to the client.
    pub fn redirect(&self, redirect_uri: &str, state: &str) -> HttpResponse {
        let description = self.description();
        let mut pairs = vec![("error", self.error), ("error_description", &description)];
        if let Some(suberror) = self.suberror {
            pairs.push(("error_subcode", suberror));
        }
        if !state.is_empty() {
            pairs.push(("state", state));
        }
        oauth::back(redirect_uri, &pairs).unwrap_or_else(|| self.page())
    }

    fn description(&self) -> String {
        format!("AADSTS{}: {}", self.number, self.text)
    }
}

/// Makes the refusals: each with what its text is made of, its status, word, number and
/// text, and the finer word that says what helps.
macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident($($part:ident),*):
        $status:ident, $error:literal, $number:literal, $text:literal $(, $suberror:literal)?;
    )*) => {
        impl EntraError {
            $($(#[$doc])* pub fn $name($($part: &str),*) -> Self {
                let finer: &[&'static str] = &[$($suberror)?];
                Self {
                    status: StatusCode::$status,
                    error: $error,
                    number: $number,
                    text: format!($text),
                    suberror: finer.first().copied(),
                }
            })*
        }
    };
}

refusals! {
    /// A parameter that is not there.
    missing(name): BAD_REQUEST, "invalid_request", 900_144,
        "The request body must contain the following parameter: '{name}'.";
    /// A redirect to what is not on this machine.
    wrong_redirect(redirect_uri, client_id): BAD_REQUEST, "invalid_request", 50_011,
        "The redirect URI '{redirect_uri}' specified in the request does not match the redirect \
         URIs configured for the application '{client_id}'. Make sure the redirect URI sent in \
         the request matches one added to your application in the Azure portal.";
    /// Anything but a code is wanted.
    wrong_response_type(kind): BAD_REQUEST, "unsupported_response_type", 700_054,
        "response_type '{kind}' is not enabled for the application.";
    /// No challenge.
    no_challenge(): BAD_REQUEST, "invalid_request", 9_002_325,
        "Proof Key for Code Exchange is required for authorization code redemption.";
    /// A challenge that is none.
    wrong_challenge(): BAD_REQUEST, "invalid_request", 501_491,
        "The Code_Challenge is not an S256 challenge of 43 characters.";
    /// A scope that the service does not have.
    unknown_scope(scope): BAD_REQUEST, "invalid_scope", 70_011,
        "The provided request must include a 'scope' input parameter. The provided value for the \
         input parameter 'scope' is not valid. The scope {scope} is not valid.";
    /// A consent page that comes back a second time.
    used_page(): BAD_REQUEST, "invalid_request", 90_100,
        "This page was used before or is too old. Start the sign-in again.";
    /// The person said no.
    access_denied(): BAD_REQUEST, "access_denied", 65_004,
        "User declined to consent to access the app.", "cancel";
    /// A client with a secret, which none here has.
    public_client(): UNAUTHORIZED, "invalid_client", 700_025,
        "Client is public so neither 'client_assertion' nor 'client_secret' should be presented.";
    /// A grant that the service does not know.
    unknown_grant(grant): BAD_REQUEST, "unsupported_grant_type", 70_003,
        "The app requested an unsupported grant type '{grant}'.";
    /// A grant that is not one, or not this client's.
    malformed(): BAD_REQUEST, "invalid_grant", 9_002_313,
        "Invalid request. Request is malformed or invalid.";
    /// A grant that was good once, or for another.
    wrong_grant(): BAD_REQUEST, "invalid_grant", 70_000, "Provided grant is invalid or malformed.";
    /// A code that was traded before.
    spent_code(): BAD_REQUEST, "invalid_grant", 54_005,
        "OAuth2 Authorization code was already redeemed, please retry with a new valid code or \
         use an existing refresh token.";
    /// A redirect other than that of the authorization.
    other_redirect(redirect_uri, known): UNAUTHORIZED, "invalid_client", 500_112,
        "The reply address '{redirect_uri}' does not match the reply address '{known}' provided \
         when requesting Authorization code.";
    /// A verifier that does not fit the challenge.
    wrong_verifier(): BAD_REQUEST, "invalid_grant", 501_481,
        "The Code_Verifier does not match the code_challenge supplied in the authorization request.";
    /// A grant that was ended.
    ended_grant(): BAD_REQUEST, "invalid_grant", 50_173,
        "The provided grant has expired due to it being revoked, a fresh auth token is needed. \
         The user might have changed or reset their password.", "bad_token";
    /// Scopes that the person has not agreed to.
    no_consent(client): BAD_REQUEST, "invalid_grant", 65_001,
        "The user or administrator has not consented to use the application with ID '{client}'. \
         Send an interactive authorization request for this user and resource.", "consent_required";
    /// A device that waits for the person.
    pending_device(): BAD_REQUEST, "authorization_pending", 70_016,
        "OAuth 2.0 device flow error. Authorization is pending. Continue polling.";
    /// A device that asks too often.
    hasty_device(): BAD_REQUEST, "slow_down", 70_016,
        "OAuth 2.0 device flow error. Authorization is pending. Polling is too frequent.";
    /// A device to which the person said no.
    declined_device(): BAD_REQUEST, "authorization_declined", 65_004,
        "User declined to consent to access the app.";
    /// A device that waited too long.
    expired_device(): BAD_REQUEST, "expired_token", 70_020,
        "The provided value for the input parameter 'device_code' is not valid. This device code \
         has expired.";
    /// A device that is not known.
    unknown_device(): BAD_REQUEST, "bad_verification_code", 70_018,
        "The provided value for the input parameter 'device_code' is not valid.";
    /// The machine has no random numbers to give.
    failure(why): INTERNAL_SERVER_ERROR, "server_error", 90_033, "{why}";
}

/// JSON that nobody may keep on the way.
pub(super) fn answer(status: StatusCode, body: &Value) -> HttpResponse {
    let body = serde_json::to_vec(body).unwrap_or_default();
    HttpResponse::json(status, body)
        .with("cache-control", "no-store, no-cache")
        .with("pragma", "no-cache")
}
