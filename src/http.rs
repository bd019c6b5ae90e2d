//! MCP for many people over HTTP: `serve --http`.
//!
//! Every request is of one person, whom its bearer token names, and is answered by their own
//! [`App`] ([`people`]): their rows of the store, their accounts, their caches. Nothing here
//! outlives a request but those caches, so that any instance can answer any request.
//!
//! The routes are here. How MCP is spoken is in `server`, who calls in the crate `daysheet-auth`.

pub mod people;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use daysheet_auth::{Denial, Verifier};
use tokio::net::TcpListener;

use crate::app::App;
use crate::error::{Error, Kind, Result};
use people::People;

/// What all requests share.
pub struct Service {
    people: People,
    verifier: Verifier,
}

impl Service {
    /// Creates the service over an app, whose store has everybody's rows.
    pub fn new(app: Arc<App>, verifier: Verifier) -> Arc<Self> {
        Arc::new(Self { people: People::new(app), verifier })
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
        .with_state(service)
}

/// Answers an MCP request.
async fn mcp(State(service): State<Arc<Service>>, request: Request) -> Response {
    let person = match service.verifier.verify(bearer(&request)).await {
        Ok(person) => person,
        Err(denial) => return denied(&denial),
    };
    match service.people.app_of(&person) {
        Ok(app) => app.server().answer(request).await.map(Body::new),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response(),
    }
}

/// Returns the bearer token of a request.
fn bearer(request: &Request) -> Option<&str> {
    let value = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// Returns the response to a request that is not answered.
fn denied(denial: &Denial) -> Response {
    let status = match denial {
        Denial::Missing | Denial::Invalid(_) => StatusCode::UNAUTHORIZED,
        Denial::Malformed(_) => StatusCode::BAD_REQUEST,
        Denial::Insufficient => StatusCode::FORBIDDEN,
        Denial::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    status.into_response()
}
