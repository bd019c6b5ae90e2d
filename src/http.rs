//! MCP for many people over HTTP: `serve --http`.
//!
//! Every request belongs to one person, identified by its bearer token, and is answered by that
//! person's own [`App`] ([`people`]) with their rows in the store, accounts and caches. Only the
//! caches outlive a request, so any instance can answer any request.
//!
//! The routes are in this module, the checks of every request in [`guard`], and connections in
//! [`listen`]. `server` implements MCP; the crate `daysheet-auth` identifies callers.

pub mod guard;
pub mod identity;
pub mod limits;
pub mod listen;
pub mod metrics;
pub mod negotiate;
mod outputs;
pub mod pages;
pub mod people;
#[cfg(feature = "telemetry")]
pub mod telemetry;
mod unread;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Path, Request, State};
use axum::http::header::RETRY_AFTER;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use daysheet_auth::{CallingPerson, RequestDenial, TokenVerifier};
use daysheet_core::error::{Error, ErrorKind, Result};
use guard::HostGuard;
use http_body_util::BodyExt;
use hyper::body::Bytes;
use identity::AuthChallenge;
use limits::RequestLimits;
use metrics::ServiceMetrics;
use people::PersonApps;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, Semaphore};

use crate::app::App;
use crate::server::{RequestPermit, WRITES_END, unanswered};

/// The interval at which unused apps are dropped.
const SWEEP: Duration = Duration::from_secs(60);
/// The time limit for responses of the database, and initially of the issuer, to a probe.
const READY: Duration = Duration::from_secs(2);
/// The time for which the outcome of a probe is reused.
const PROBED: Duration = Duration::from_secs(3);

/// The state shared by all requests.
pub struct HttpState {
    people: PersonApps,
    verifier: TokenVerifier,
    challenge: AuthChallenge,
    /// True if people can sign in to the pages only with printed links.
    links: bool,
    /// True once the server is shutting down.
    ending: AtomicBool,
    /// The outcome of the last probe of the database, the keys and the issuer, and its time.
    probed: Mutex<Option<(Instant, Result<()>)>>,
    limits: Arc<RequestLimits>,
    metrics: Arc<ServiceMetrics>,
    /// Permits for requests in progress.
    places: Arc<Semaphore>,
}

impl HttpState {
    /// Creates the service of an app whose store has the rows of all people.
    pub fn new(app: Arc<App>, verifier: TokenVerifier) -> Arc<Self> {
        Self::with(app, verifier, false)
    }

    /// Creates the service of `daysheet ui`: pages for the one person of this machine, who signs in
    /// with [`pages::link`], without access for programs.
    pub fn of_pages(app: Arc<App>) -> Arc<Self> {
        Self::with(app, TokenVerifier::known(HashMap::new()), true)
    }

    fn with(app: Arc<App>, verifier: TokenVerifier, links: bool) -> Arc<Self> {
        let challenge = AuthChallenge::new(&app.config, &verifier);
        let metrics = Arc::new(ServiceMetrics::new(app.upstream.clone()));
        let limits = Arc::new(RequestLimits::new(
            app.config.limits,
            metrics.clone(),
            app.config.clock.clone(),
        ));
        let places = Arc::new(Semaphore::new(app.config.limits.requests_at_once));
        let people = PersonApps::new(app);
        Arc::new(Self {
            people,
            verifier,
            challenge,
            links,
            ending: AtomicBool::new(false),
            probed: Mutex::default(),
            limits,
            metrics,
            places,
        })
    }

    /// Returns the sender of a request.
    async fn person(&self, request: &Parts) -> std::result::Result<CallingPerson, RequestDenial> {
        self.verifier.verify(identity::bearer(request)?).await
    }

    /// Reads the body of a person's request, after reserving memory for it. The permit must be held
    /// until the request has been answered.
    ///
    /// # Errors
    /// The response for a body that is too long or too slow, or that exceeds the person's limits.
    async fn body(
        &self,
        owner: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> std::result::Result<(Bytes, RequestPermit), Response> {
        let most = guard::CALL.bytes;
        // A chunked body states no length; if it is longer than allowed, reading it fails.
        let length = guard::stated_length(headers).unwrap_or(most).min(most);
        let place = self.limits.body(owner, length).await.map_err(outputs::refusal)?;
        let body = guard::read(guard::CALL, headers, body).await?;
        // The body has arrived; only its memory stays reserved.
        drop(place.arriving);
        Ok((body, place.room))
    }

    /// Counts a denied request, and returns the response to it.
    fn denied(&self, denial: &RequestDenial) -> Response {
        self.metrics.denied(match denial {
            RequestDenial::Missing => "missing_token",
            RequestDenial::Malformed(_) => "malformed_token",
            RequestDenial::Invalid(_) => "invalid_token",
            RequestDenial::Insufficient => "insufficient_scope",
            RequestDenial::Unavailable(_) => "issuer_unavailable",
        });
        self.challenge.denied(denial)
    }

    /// Returns the metrics in the format of Prometheus.
    pub fn metrics(&self) -> String {
        self.metrics.text(self.people.count())
    }

    /// Answers requests until `ended`, and finishes requests in progress afterwards. Serves metrics
    /// at a separate address if the settings name one. Calls `begun` once nothing can prevent
    /// serving.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the certificate or its key cannot be used, [`ErrorKind::Network`] if metrics
    /// cannot be served.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        begun: impl FnOnce(),
        ended: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        let settings = &self.people.base().config.http;
        // Read before `begun`, so that an unusable certificate is reported at the start.
        let tls = settings.tls.as_ref().map(|(certificate, key)| listen::tls(certificate, key));
        let tls = tls.transpose()?;
        let ended = async {
            ended.await;
            self.ending.store(true, Ordering::Relaxed);
        };
        let sweeping = async {
            let mut times = tokio::time::interval(SWEEP);
            loop {
                times.tick().await;
                self.people.sweep();
            }
        };
        let metrics = metrics::listen(self.people.base().config.metrics).await?;
        let metrics = metrics::serve(metrics, self.clone());
        begun();
        tokio::select! {
            () = listen::serve(listener, tls, router(self.clone()), ended) => {}
            () = sweeping => {}
            failed = metrics => failed?,
        }
        self.people.finish(WRITES_END).await;
        Ok(())
    }

    /// Returns an error unless requests can be answered.
    async fn ready(&self) -> Result<()> {
        if self.ending.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Network, "the server is shutting down"));
        }
        // Held during the probe, so that concurrent probes wait for its outcome.
        let mut probed = self.probed.lock().await;
        if let Some((at, outcome)) = &*probed
            && at.elapsed() < PROBED
        {
            return outcome.clone();
        }
        let all = async {
            self.people.base().ready().await?;
            // Without the issuer's keys, every caller would be refused.
            self.verifier.ready().await
        };
        let outcome = tokio::time::timeout(READY, all).await;
        let late = || Error::new(ErrorKind::Timeout, "the database or the issuer does not respond");
        let outcome = outcome.unwrap_or_else(|_elapsed| Err(late()));
        probed.insert((Instant::now(), outcome)).1.clone()
    }
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

/// Keeps a value until the response has been sent or dropped.
fn keeping(response: Response, kept: impl Send + 'static) -> Response {
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _ = &kept;
            frame
        }))
    })
}

/// Counts a request, and refuses it if too many are in progress.
async fn counted(State(service): State<Arc<HttpState>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    // Probes ask whether the instance works, however busy it is.
    let probe = route.as_ref().is_some_and(|route| route.as_str().ends_with("z"));
    let response = match service.places.clone().try_acquire_owned() {
        // A streamed response is in progress until its end.
        Ok(place) => keeping(next.run(request).await, place),
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
            let watch = service.limits.of(app.store().clone());
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
            let watch = service.limits.of(app.store().clone());
            app.server()
                .watched_by(watch)
                .answer(Request::from_parts(parts, body))
                .await
                .map(Body::new)
        }
        Err(error) => unanswered(&body, &error).map(Body::new),
    };
    keeping(response, room)
}
