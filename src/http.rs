//! MCP for many people over HTTP: `serve --http`.
//!
//! Every request belongs to one person, identified by its bearer token, and is answered by that
//! person's own [`App`](crate::app::App) ([`people`]) with their rows in the store, accounts and
//! caches. Only the caches outlive a request, so any instance can answer any request.
//!
//! The routes are in this module, the state that they share in `state`, the checks of every request
//! in [`guard`], and connections in [`listen`]. `server` implements MCP; the crate `daysheet-auth`
//! identifies callers.

pub mod guard;
pub mod identity;
mod lifetime;
pub mod limits;
pub mod listen;
pub mod loopback;
pub mod metrics;
pub mod negotiate;
mod outputs;
pub mod pages;
pub mod people;
mod state;
#[cfg(feature = "telemetry")]
pub mod telemetry;
mod unread;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use daysheet_core::error::Result;
use tokio::net::TcpListener;

use self::guard::HostGuard;
use self::lifetime::keep_until_sent;
pub use self::state::HttpState;
use crate::server::{WRITES_END, unanswered};

/// The interval at which unused apps are dropped.
const SWEEP: Duration = Duration::from_mins(1);

/// Answers requests until `ended`, and finishes requests in progress afterwards. Serves metrics at
/// a separate address if the settings name one. Calls `begun` once nothing can prevent serving.
///
/// # Errors
/// `ErrorKind::Config` if the certificate or its key cannot be used, `ErrorKind::Network` if metrics
/// cannot be served.
pub async fn serve(
    service: Arc<HttpState>,
    listener: TcpListener,
    begun: impl FnOnce(),
    ended: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    let settings = &service.people.base().config.http;
    // Read before `begun`, so that an unusable certificate is reported at the start.
    let tls = settings.tls.as_ref().map(|(certificate, key)| listen::tls(certificate, key));
    let tls = tls.transpose()?;
    let ended = async {
        ended.await;
        service.ending.store(true, Ordering::Relaxed);
    };
    let sweeping = async {
        let mut times = tokio::time::interval(SWEEP);
        loop {
            times.tick().await;
            service.people.sweep();
        }
    };
    let metrics = metrics::listen(service.people.base().config.metrics).await?;
    let scraped = service.clone();
    let metrics = metrics::serve(metrics, move || scraped.metrics());
    begun();
    tokio::select! {
        () = listen::serve(listener, tls, router(service.clone()), ended) => {}
        () = sweeping => {}
        failed = metrics => failed?,
    }
    service.people.finish(WRITES_END).await;
    Ok(())
}

/// Returns the routes.
fn router(service: Arc<HttpState>) -> Router {
    let config = &service.people.base().config;
    let guard = Arc::new(HostGuard::new(&config.http));
    let pages = config.pages.clone().map(|public| pages::routes(service.clone(), public));
    Router::new()
        .route("/mcp", any(mcp))
        .route("/outputs/{hash}", get(output))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .merge(service.challenge.routes())
        .with_state(service.clone())
        .merge(pages.unwrap_or_default())
        .layer(from_fn_with_state(service, counted))
        .layer(from_fn_with_state(guard, guard::pass))
}

/// Reports whether requests can be answered.
async fn ready(State(service): State<Arc<HttpState>>) -> Response {
    match service.ready().await {
        Ok(()) => "ok\n".into_response(),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            // The reason may contain a path, so it is only logged.
            (StatusCode::SERVICE_UNAVAILABLE, "not ready\n").into_response()
        }
    }
}

/// Counts a request, and refuses it if too many are in progress.
async fn counted(State(service): State<Arc<HttpState>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    // Probes ask whether the instance works, however busy it is.
    let probe = route.as_ref().is_some_and(|route| route.as_str().ends_with('z'));
    let response = match service.places.clone().try_acquire_owned() {
        // A streamed response is in progress until its end.
        Ok(place) => keep_until_sent(next.run(request).await, place),
        Err(_full) if probe => next.run(request).await,
        Err(_full) => {
            service.metrics.denied("flood");
            (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "1")]).into_response()
        }
    };
    service.metrics.answered(route.as_ref(), response.status());
    response
}

/// Answers a request for a shortened answer in full.
async fn output(
    State(service): State<Arc<HttpState>>,
    Path(hash): Path<String>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let person = match service.person(&parts).await {
        Ok(person) => person,
        Err(denial) => return service.denied(&denial),
    };
    match service.people.app_of(&person).await {
        Ok(app) => {
            let watch = service.limits.watch_for(app.store().clone());
            outputs::read(&app, &*watch, &hash, &parts.headers).await
        }
        Err(error) => outputs::refusal(error),
    }
}

/// Answers an MCP request.
async fn mcp(State(service): State<Arc<HttpState>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let person = match service.person(&parts).await {
        Ok(person) => person,
        Err(denial) => return service.denied(&denial),
    };
    let (body, room) = match service.body(&person.owner, &parts.headers, body).await {
        Ok(read) => read,
        Err(refusal) => return refusal,
    };
    // Only an HTTP response can ask for a higher scope, so this comes before MCP.
    if let Some(challenge) = service.challenge.step_up(&person, &body) {
        return challenge;
    }
    let response = match service.people.app_of(&person).await {
        Ok(app) => {
            let watch = service.limits.watch_for(app.store().clone());
            app.server()
                .watched_by(watch)
                .answer(Request::from_parts(parts, body))
                .await
                .map(Body::new)
        }
        Err(error) => unanswered(&body, &error).map(Body::new),
    };
    keep_until_sent(response, room)
}
