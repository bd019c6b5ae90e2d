//! A server's metrics, for Prometheus.
//!
//! Metrics identify no person: their labels name tools, providers, routes and reasons, which are
//! few and known in advance, but no owners, addresses or subjects.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::Router;
use axum::extract::MatchedPath;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use daysheet_core::error::{self, Error, ErrorKind, Result};
use daysheet_core::provider::upstream::{CountKind, UpstreamRequests};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;

use crate::pipeline::ToolAnswer;

/// The media type of the metrics.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The upper bounds of call durations, in seconds: from cached answers to the longest calls.
const BOUNDS: [f64; 11] = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0];

type ToolLabels<const N: usize> = [(&'static str, &'static str); N];

/// Listens on the address for metrics, if one is set.
///
/// # Errors
/// [`ErrorKind::Network`] if the address cannot be listened on.
pub(super) async fn listen(address: Option<SocketAddr>) -> Result<Option<TcpListener>> {
    let Some(address) = address else {
        return Ok(None);
    };
    TcpListener::bind(address).await.map(Some).map_err(|error| {
        Error::new(ErrorKind::Network, format!("cannot listen on {address} ({error})"))
            .next("set http.metrics to a free address of this machine")
    })
}

/// Serves the metrics that `text` returns; waits forever without a listener.
///
/// # Errors
/// [`ErrorKind::Network`] if serving fails.
pub(super) async fn serve(
    listener: Option<TcpListener>,
    text: impl Fn() -> String + Clone + Send + Sync + 'static,
) -> Result<()> {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    let failed = |error: io::Error| {
        Error::new(ErrorKind::Network, format!("the metrics cannot be served ({error})"))
    };
    let answer = move || async move { ([(CONTENT_TYPE, TEXT)], text()) };
    axum::serve(listener, Router::new().route("/metrics", get(answer))).await.map_err(failed)
}

/// The metrics of one service.
#[derive(Debug)]
pub struct ServiceMetrics {
    registry: Registry,
    calls: Family<ToolLabels<2>, Counter>,
    times: Family<ToolLabels<1>, Histogram, ToolHistograms>,
    running: Gauge,
    tokens: Counter,
    saved: Counter,
    bytes: Counter,
    baseline: Counter,
    denied: Family<ToolLabels<1>, Counter>,
    requests: Family<[(&'static str, String); 2], Counter>,
    people: Gauge,
}

/// Creates the histogram of a tool.
#[derive(Debug, Clone)]
struct ToolHistograms;

impl MetricConstructor<Histogram> for ToolHistograms {
    fn new_metric(&self) -> Histogram {
        Histogram::new(BOUNDS)
    }
}

/// The labels of a call.
#[derive(Debug, Clone, Copy)]
pub struct CallLabels {
    /// The tool's name.
    pub tool: &'static str,
    /// The outcome, as a word.
    pub outcome: &'static str,
}

/// A running request, counted until this is dropped.
pub struct RunningRequest(Gauge);

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl ServiceMetrics {
    /// Creates the metrics of a service that sends its requests to providers through `upstream`.
    pub fn new(upstream: Arc<UpstreamRequests>) -> Self {
        let mut all = Registry::with_prefix("daysheet");
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        all.register("build", "The version of Daysheet", build);
        let metrics = Self {
            calls: add(&mut all, "calls", "Tool calls by outcome"),
            times: Family::new_with_constructor(ToolHistograms),
            running: add(&mut all, "calls_running", "Requests of clients in progress"),
            tokens: add(&mut all, "answer_tokens", "Tokens of all answers"),
            saved: add(
                &mut all,
                "answer_tokens_saved_estimate",
                "Tokens that the providers' JSON of the same rows would have needed in addition, \
                 at the answers' bytes per token",
            ),
            bytes: add(&mut all, "answer_bytes", "Bytes of all answers"),
            baseline: add(
                &mut all,
                "answer_baseline_bytes",
                "Bytes of the providers' JSON behind the rows of all answers",
            ),
            denied: add(&mut all, "denied", "Refused requests by reason"),
            requests: add(&mut all, "http_requests", "HTTP requests by route and status"),
            people: add(&mut all, "people", "People whose caches are in memory"),
            registry: Registry::default(),
        };
        all.register("call_seconds", "The duration of calls by tool", metrics.times.clone());
        all.register_collector(Box::new(UpstreamCounts(upstream)));
        Self { registry: all, ..metrics }
    }

    /// Counts a call of a tool, its time and its answer.
    pub fn called(&self, tool: &'static str, took: Duration, outcome: &Result<ToolAnswer>) {
        self.timed(CallLabels { tool, outcome: error::outcome(outcome) }, took);
        if let Ok(ToolAnswer { stats, .. }) = outcome {
            let whole = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
            self.tokens.inc_by(whole(stats.tokens));
            self.bytes.inc_by(whole(stats.bytes));
            self.baseline.inc_by(whole(stats.source_bytes));
            // The JSON itself is not tokenized; the answer's ratio of bytes to tokens is used for
            // it.
            let without = stats.source_bytes.saturating_mul(stats.tokens) / stats.bytes.max(1);
            self.saved.inc_by(whole(without.saturating_sub(stats.tokens)));
        }
    }

    /// Counts a call of a tool and its time.
    pub fn timed(&self, call: CallLabels, took: Duration) {
        let CallLabels { tool, outcome } = call;
        self.calls.get_or_create(&[("tool", tool), ("outcome", outcome)]).inc();
        self.times.get_or_create(&[("tool", tool)]).observe(took.as_secs_f64());
    }

    /// Counts a request as running, until the value is dropped.
    pub fn running(&self) -> RunningRequest {
        self.running.inc();
        RunningRequest(self.running.clone())
    }

    /// Counts a request refused for a reason.
    pub fn denied(&self, reason: &'static str) {
        self.denied.get_or_create(&[("reason", reason)]).inc();
    }

    /// Counts a response; `route` is `None` for unknown paths.
    pub fn answered(&self, route: Option<&MatchedPath>, status: StatusCode) {
        let route = route.map_or("none", MatchedPath::as_str).to_owned();
        let labels = [("route", route), ("status", status.as_str().to_owned())];
        self.requests.get_or_create(&labels).inc();
    }

    /// Returns the metrics as text. `people` is the number of people whose caches are in memory.
    pub fn text(&self, people: usize) -> String {
        self.people.set(i64::try_from(people).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

/// Creates a metric and registers it.
fn add<M>(registry: &mut Registry, name: &str, help: &str) -> M
where
    M: prometheus_client::registry::Metric + Default + Clone,
{
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

/// The counts of requests to providers, read on each scrape.
#[derive(Debug)]
struct UpstreamCounts(Arc<UpstreamRequests>);

impl Collector for UpstreamCounts {
    fn encode(&self, mut encoder: DescriptorEncoder) -> std::result::Result<(), std::fmt::Error> {
        let counts = self.0.counts();
        let families = [
            (CountKind::Request, "upstream_requests", "Requests to providers by outcome."),
            (CountKind::SignIn, "sign_ins", "Sign-ins to accounts."),
            (CountKind::Refresh, "refreshes", "Refreshes of accounts' tokens by outcome."),
        ];
        for (what, name, help) in families {
            let counted = counts.iter().filter(|(counted, _)| counted.what == what);
            let mut family =
                encoder.encode_descriptor(name, help, None, Counter::<u64, AtomicU64>::TYPE)?;
            for (counted, count) in counted {
                let labels =
                    [("provider", counted.provider.as_str()), ("outcome", counted.outcome)];
                ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
            }
        }
        let running = i64::try_from(self.0.in_flight()).unwrap_or(i64::MAX);
        let gauge = encoder.encode_descriptor(
            "upstream_in_flight",
            "Requests to providers in progress.",
            None,
            MetricType::Gauge,
        )?;
        ConstGauge::new(running).encode(gauge)
    }
}
