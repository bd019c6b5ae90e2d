//! MCP for many people over HTTP: `serve --http`.
//!
//! Every request is of one person, whom its bearer token names, and is answered by their own
//! [`App`] ([`people`]): their rows of the store, their accounts, their caches. Nothing here
//! outlives a request but those caches, so that any instance can answer any request.
//!
//! The routes are here. How MCP is spoken is in `server`, who calls in the crate `daysheet-auth`.

pub mod identity;
pub mod people;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use daysheet_auth::{Denial, Person, Verifier};
use tokio::net::TcpListener;

use crate::app::App;
use crate::error::{Error, Kind, Result};
use identity::Challenge;
use people::People;

/// The longest body, in bytes.
const LONGEST: usize = 4 << 20;

/// What all requests share.
pub struct Service {
    people: People,
    verifier: Verifier,
    challenge: Challenge,
}

impl Service {
    /// Creates the service over an app, whose store has everybody's rows.
    pub fn new(app: Arc<App>, verifier: Verifier) -> Arc<Self> {
        let challenge = Challenge::new(&app.config, &verifier);
        Arc::new(Self { people: People::new(app), verifier, challenge })
    }

    /// Returns who sends a request.
    async fn person(&self, request: &Parts) -> std::result::Result<Person, Denial> {
        self.verifier.verify(identity::bearer(request)?).await
    }

    /// Answers requests until `ended`.
    ///
    /// # Errors
    /// [`Kind::Network`] if the listener fails.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        ended: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        axum::serve(listener, router(self))
            .with_graceful_shutdown(ended)
            .await
            .map_err(|error| Error::new(Kind::Network, format!("the HTTP server failed: {error}")))
    }
}

/// Returns the routes.
fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/mcp", any(mcp))
        .route("/healthz", get(|| async { "ok\n" }))
        .merge(service.challenge.routes())
        .with_state(service)
}

/// Answers an MCP request.
async fn mcp(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let person = match service.person(&parts).await {
        Ok(person) => person,
        Err(denial) => return service.challenge.denied(&denial),
    };
    let Ok(body) = axum::body::to_bytes(body, LONGEST).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    if let Some(challenge) = service.challenge.step_up(&person, &body) {
        return challenge;
    }
    let request = Request::from_parts(parts, Body::from(body));
    match service.people.app_of(&person) {
        Ok(app) => app.server().answer(request).await.map(Body::new),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response(),
    }
}
