//! Entra's errors: an OAuth word, an AADSTS number, and the ids for support.
//!
//! One [`Refusal`] has three looks: JSON for programs, a page for people, and
//! the query of a redirect. The numbers and their sentences are the service's;
//! which of them a request deserves is decided where the request is understood.

use hyper::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::ids;
use super::policy::EntraPolicy;
use crate::auth::oauth;
use crate::auth::pages;
use crate::http::{Answer, Request};

/// The header by which a client names its request.
const CLIENT_REQUEST: &str = "client-request-id";

/// A request that was refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    error: &'static str,
    number: u32,
    text: String,
    suberror: Option<&'static str>,
    claims: bool,
}

impl Refusal {
    /// A refusal with 400.
    pub fn new(error: &'static str, number: u32, text: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            error,
            number,
            text: text.into(),
            suberror: None,
            claims: false,
        }
    }

    /// A parameter that is not there.
    pub fn missing(name: &str) -> Self {
        Self::new(
            "invalid_request",
            900_144,
            format!("The request body must contain the following parameter: '{name}'."),
        )
    }

    /// A grant that is not one, or not this client's.
    pub fn malformed() -> Self {
        Self::new("invalid_grant", 9_002_313, "Invalid request. Request is malformed or invalid.")
    }

    /// A method that an address does not take.
    pub fn only_post(method: &str) -> Self {
        Self::new(
            "invalid_request",
            900_561,
            format!("The endpoint only accepts POST requests. Received a {method} request."),
        )
    }

    /// The machine has no random numbers to give.
    pub fn failure(why: &str) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, ..Self::new("server_error", 90_033, why) }
    }

    /// The same with another status.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The same with the finer word that says what helps.
    #[must_use]
    pub fn suberror(mut self, suberror: &'static str) -> Self {
        self.suberror = Some(suberror);
        self
    }

    /// The same with the claims that a new sign-in has to ask for.
    #[must_use]
    pub fn claims(mut self) -> Self {
        self.claims = true;
        self
    }

    /// The JSON of the token endpoint and its like.
    pub fn json(&self, request: &Request) -> Answer {
        let marks = Marks::of(request);
        let mut body = json!({
            "error": self.error,
            "error_description": self.description(&marks),
            "error_codes": [self.number],
            "timestamp": marks.timestamp,
            "trace_id": marks.trace,
            "correlation_id": marks.correlation,
            "error_uri": self.uri(),
        });
        if let Value::Object(body) = &mut body {
            if let Some(suberror) = self.suberror {
                body.insert("suberror".to_owned(), suberror.into());
            }
            if self.claims {
                // Text that holds JSON: it goes back as the `claims` parameter.
                let claims = json!({ "access_token": { "polids": {
                    "essential": true,
                    "values": [ids::guid("policy", "1")],
                }}});
                body.insert("claims".to_owned(), claims.to_string().into());
            }
        }
        answer(self.status, &body).with("x-ms-request-id", marks.trace)
    }

    /// The page that stands where a redirect would be wrong.
    pub fn page(&self, request: &Request) -> Answer {
        let description = self.description(&Marks::of(request));
        pages::message(self.status, "Sorry, but we’re having trouble signing you in.", &description)
    }

    /// The redirect back to the client.
    pub fn redirect(&self, request: &Request, redirect_uri: &str, state: &str) -> Answer {
        let (description, uri) = (self.description(&Marks::of(request)), self.uri());
        let mut pairs =
            vec![("error", self.error), ("error_description", &description), ("error_uri", &uri)];
        if let Some(suberror) = self.suberror {
            pairs.push(("error_subcode", suberror));
        }
        if !state.is_empty() {
            pairs.push(("state", state));
        }
        oauth::back(redirect_uri, &pairs).unwrap_or_else(|| self.page(request))
    }

    fn description(&self, marks: &Marks) -> String {
        format!(
            "AADSTS{}: {}\r\nTrace ID: {}\r\nCorrelation ID: {}\r\nTimestamp: {}",
            self.number, self.text, marks.trace, marks.correlation, marks.timestamp
        )
    }

    /// Where the service explains its numbers.
    fn uri(&self) -> String {
        format!("https://login.microsoftonline.com/error?code={}", self.number)
    }
}

/// JSON that nobody may keep on the way.
pub(super) fn answer(status: StatusCode, body: &Value) -> Answer {
    let body = serde_json::to_vec(body).unwrap_or_default();
    Answer::json(status, body)
        .with("cache-control", "no-store, no-cache")
        .with("pragma", "no-cache")
}

/// What support asks for: when it was, and which request.
struct Marks {
    trace: String,
    correlation: String,
    timestamp: String,
}

impl Marks {
    fn of(request: &Request) -> Self {
        let named = request.header(CLIENT_REQUEST).filter(|id| ids::is_guid(id));
        Self {
            trace: ids::any_guid(),
            correlation: named.map_or_else(ids::any_guid, str::to_owned),
            timestamp: Timestamp::now().strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
        }
    }
}

impl EntraPolicy {
    /// Why a person may not consent.
    pub(super) fn consent(self) -> Option<Refusal> {
        (self == Self::AdminConsentRequired).then(|| {
            Refusal::new(
                "access_denied",
                90_094,
                "This application needs permission to access resources in your organization that \
                 only an admin can grant. Ask an admin to grant permission to it before you can \
                 use it.",
            )
        })
    }

    /// Why no tokens are given.
    pub(crate) fn tokens(self) -> Option<Refusal> {
        match self {
            Self::None | Self::AdminConsentRequired => None,
            Self::ConditionalAccess => Some(
                Refusal::new(
                    "interaction_required",
                    53_003,
                    "Access has been blocked by Conditional Access policies. The access policy \
                     does not allow token issuance.",
                )
                .suberror("message_only")
                .claims(),
            ),
            Self::MfaRequired => Some(
                Refusal::new(
                    "interaction_required",
                    50_076,
                    "Due to a configuration change made by your administrator, or because you \
                     moved to a new location, you must use multi-factor authentication to access \
                     '00000003-0000-0000-c000-000000000000'.",
                )
                .suberror("basic_action")
                .claims(),
            ),
        }
    }
}
