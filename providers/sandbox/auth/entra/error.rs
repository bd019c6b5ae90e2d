//! Entra's errors: an OAuth word, and an AADSTS number with its sentence.
//!
//! One [`EntraError`] has three looks: JSON for programs, a page for people, and
//! the query of a redirect. The numbers are the service's; which of them a
//! request deserves is decided where the request is understood.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::auth::oauth;
use crate::auth::pages;
use crate::http::Response;

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
    /// A refusal with 400.
    pub fn new(error: &'static str, number: u32, text: impl Into<String>) -> Self {
        let status = StatusCode::BAD_REQUEST;
        Self { status, error, number, text: text.into(), suberror: None }
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

    /// The JSON of the token endpoint and its like.
    pub fn json(&self) -> Response {
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
    pub fn page(&self) -> Response {
        let title = "Sorry, but we’re having trouble signing you in.";
        pages::message(self.status, title, &self.description())
    }

    /// The redirect back to the client.
    pub fn redirect(&self, redirect_uri: &str, state: &str) -> Response {
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

/// JSON that nobody may keep on the way.
pub(super) fn answer(status: StatusCode, body: &Value) -> Response {
    let body = serde_json::to_vec(body).unwrap_or_default();
    Response::json(status, body)
        .with("cache-control", "no-store, no-cache")
        .with("pragma", "no-cache")
}
