//! Traces of requests: OpenTelemetry's spans, exported by OTLP over HTTP.
//!
//! A span is of a request, of the tool that it calls, or of a request to a provider; all three
//! have the target `telemetry`. They say what the log and the metrics say, and nothing that others
//! have written: no path, no argument, no text of an error. A request's span goes on with the
//! trace that its `traceparent` names; none is passed on to providers.
//!
//! OpenTelemetry's own variables say where to, and how. The requests of the export are no spans.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::{MatchedPath, Request};
use axum::http::{self, Method, Response, StatusCode};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_providers::net;
use hyper::body::Bytes;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{
    SpanBuilder, SpanKind, Status, TraceContextExt, Tracer, TracerProvider,
};
use opentelemetry::{Context, Key, KeyValue};
use opentelemetry_http::{HeaderExtractor, HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span as SdkSpan};
use tokio::runtime::Handle;
use tracing::{Level, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::{Layer, Registry};

/// How long the end waits for the last spans to be sent.
const PATIENCE: Duration = Duration::from_secs(2);
/// The methods that are named; others are whatever a client thinks up.
const METHODS: [Method; 5] =
    [Method::GET, Method::HEAD, Method::POST, Method::DELETE, Method::OPTIONS];

/// The export, which ends when this is dropped: the last spans are sent then.
pub struct TraceExport(SdkTracerProvider);

impl Drop for TraceExport {
    fn drop(&mut self) {
        // Whoever did not get them has been warned of.
        let _ = self.0.shutdown_with_timeout(PATIENCE);
    }
}

impl TraceExport {
    /// Starts the export to the endpoint that the environment names, by tasks of `runtime`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if it cannot be as the environment says.
    pub fn start(runtime: &Handle) -> Result<Self> {
        let client = SpanClient { runtime: runtime.clone(), failing: AtomicBool::new(false) };
        let exporter =
            SpanExporter::builder().with_http().with_http_client(client).build().map_err(
                |why| {
                    Error::new(ErrorKind::Config, format!("traces cannot be exported ({why})"))
                        .next("check the variables OTEL_EXPORTER_OTLP_…")
                },
            )?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder().with_attribute(version);
        let name = Resource::builder().build().get(&Key::new("service.name"));
        let resource = if name.is_none_or(|name| name.as_str().starts_with("unknown_service")) {
            resource.with_service_name("daysheet")
        } else {
            resource
        };
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_batch_exporter(exporter);
        Ok(Self(provider.build()))
    }

    /// Returns what makes OpenTelemetry's spans of ours.
    pub fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        tracing_opentelemetry::layer()
            .with_tracer(ServingTracer(self.0.tracer("daysheet")))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(Targets::new().with_target("telemetry", Level::INFO))
            .boxed()
    }
}

/// Describes the span of a request, which the log shares: what it must not show is set here.
pub(super) fn received(span: &Span, request: &Request) {
    let parent = TraceContextPropagator::new().extract(&HeaderExtractor(request.headers()));
    if span.set_parent(parent).is_err() {
        // Nobody traces.
        return;
    }
    let method = METHODS.iter().find(|known| *known == request.method());
    let method = method.map_or("_OTHER", Method::as_str).to_owned();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none", MatchedPath::as_str).to_owned();
    span.context().span().update_name(format!("{method} {route}"));
    span.set_attribute("http.request.method", method);
    span.set_attribute("http.route", route);
}

/// Adds how a request ended.
pub(super) fn answered(span: &Span, status: StatusCode) {
    span.set_attribute("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.set_status(Status::error(""));
    }
}

/// The tracer. It knows by the name which spans a client waits for; a field that says so would be
/// in each line of the log.
struct ServingTracer(SdkTracer);

impl Tracer for ServingTracer {
    type Span = SdkSpan;

    fn build_with_context(&self, mut builder: SpanBuilder, parent: &Context) -> SdkSpan {
        if builder.name == "request" {
            builder.span_kind = Some(SpanKind::Server);
        }
        self.0.build_with_context(builder, parent)
    }
}

/// Sends spans by the client of the process. The exporter's thread has no runtime of its own.
#[derive(Debug)]
struct SpanClient {
    runtime: Handle,
    /// True from a failure on, which is warned of once, until a success.
    failing: AtomicBool,
}

#[async_trait]
impl HttpClient for SpanClient {
    async fn send_bytes(
        &self,
        request: http::Request<Bytes>,
    ) -> std::result::Result<Response<Bytes>, HttpError> {
        let sent = self.runtime.spawn(net::send(request.map(Vec::from))).await?;
        let failure = match &sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the collector answers {}", response.status())),
            Err(error) => Some(error.message().to_owned()),
        };
        let before = self.failing.swap(failure.is_some(), Ordering::Relaxed);
        if let (Some(why), false) = (failure, before) {
            tracing::warn!("traces are not exported: {why}");
        }
        Ok(sent?.map(Bytes::from))
    }
}
