//! The shared state of all requests, and the steps that several routes have in common.
//!
//! Routes and pages are in other files, and this module does not depend on them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use daysheet_auth::{CallingPerson, RequestDenial, TokenVerifier};
use daysheet_core::error::{Error, ErrorKind, Result};
use hyper::body::Bytes;
use tokio::sync::{Mutex, Semaphore};

use super::identity::{self, AuthChallenge};
use super::limits::RequestLimits;
use super::metrics::ServiceMetrics;
use super::people::PersonApps;
use super::{guard, outputs};
use crate::app::App;
use crate::server::RequestPermit;

/// The time limit for responses of the database, and initially of the issuer, to a probe.
const READY: Duration = Duration::from_secs(2);
/// The time for which the outcome of a probe is reused.
const PROBED: Duration = Duration::from_secs(3);

/// The state shared by all requests.
pub struct HttpState {
    pub(super) people: PersonApps,
    pub(super) verifier: TokenVerifier,
    pub(super) challenge: AuthChallenge,
    /// True if people can sign in to the pages only with printed links.
    pub(super) links: bool,
    /// True once the server is shutting down.
    pub(super) ending: AtomicBool,
    /// The outcome of the last probe of the database, the keys and the issuer, and its time.
    probed: Mutex<Option<(Instant, Result<()>)>>,
    pub(super) limits: Arc<RequestLimits>,
    pub(super) metrics: Arc<ServiceMetrics>,
    /// Permits for requests in progress.
    pub(super) places: Arc<Semaphore>,
}

impl HttpState {
    /// Creates the service of an app whose store has the rows of all people.
    pub fn new(app: Arc<App>, verifier: TokenVerifier) -> Arc<Self> {
        Self::with(app, verifier, false)
    }

    /// Creates the service of `daysheet ui`: pages for the one person of this machine, who signs in
    /// with [`pages::link`](super::pages::link), without access for programs.
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
    pub(super) async fn person(
        &self,
        request: &Parts,
    ) -> std::result::Result<CallingPerson, RequestDenial> {
        self.verifier.verify(identity::bearer(request)?).await
    }

    /// Reads the body of a person's request, after reserving memory for it. The permit must be held
    /// until the request has been answered.
    ///
    /// # Errors
    /// The response for a body that is too long or too slow, or that exceeds the person's limits.
    pub(super) async fn body(
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
    pub(super) fn denied(&self, denial: &RequestDenial) -> Response {
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

    /// Returns an error unless requests can be answered.
    pub(super) async fn ready(&self) -> Result<()> {
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
