//! Traces of requests: OpenTelemetry spans, exported by OTLP over HTTP.
//!
//! There are spans for requests, for the tools that they call, and for requests to providers, all
//! with the target `telemetry`. They contain the same data as the log and the metrics, and no text
//! by others: no paths, arguments or error texts. A request's span continues the trace in its
//! `traceparent`; providers receive no trace.
//!
//! OpenTelemetry's own variables configure the export, whose requests have no spans.

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

/// The time for which a shutdown waits for the last spans to be sent.
const PATIENCE: Duration = Duration::from_secs(2);
/// The methods that spans name; clients could invent any number of others.
const METHODS: [Method; 5] =
    [Method::GET, Method::HEAD, Method::POST, Method::DELETE, Method::OPTIONS];

/// The export, which sends the last spans and ends when it is dropped.
pub struct TraceExport(SdkTracerProvider);

impl Drop for TraceExport {
    fn drop(&mut self) {
        // Failures have been logged.
        let _ = self.0.shutdown_with_timeout(PATIENCE);
    }
}

impl TraceExport {
    /// Starts the export to the endpoint in the environment, on tasks of `runtime`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the environment's configuration cannot be used.
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
        // A name from OpenTelemetry's own variables takes precedence over ours.
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

    /// Returns the layer that turns our spans into OpenTelemetry's.
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

/// Describes the span of a request. Attributes are set here because the log shows all fields of the
/// span.
pub(super) fn received(span: &Span, request: &Request) {
    let parent = TraceContextPropagator::new().extract(&HeaderExtractor(request.headers()));
    if span.set_parent(parent).is_err() {
        // Tracing is off.
        return;
    }
    // OpenTelemetry's conventions use `_OTHER` for unknown methods.
    let method = METHODS.iter().find(|known| *known == request.method());
    let method = method.map_or("_OTHER", Method::as_str).to_owned();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none", MatchedPath::as_str).to_owned();
    span.context().span().update_name(format!("{method} {route}"));
    span.set_attribute("http.request.method", method);
    span.set_attribute("http.route", route);
}

/// Adds the outcome of a request to its span.
pub(super) fn answered(span: &Span, status: StatusCode) {
    span.set_attribute("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.set_status(Status::error(""));
    }
}

/// The tracer. It recognizes server spans by name, because a field for that would appear in every
/// log line.
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

/// Sends spans by the process's HTTP client. The exporter's thread has no runtime of its own.
#[derive(Debug)]
struct SpanClient {
    runtime: Handle,
    /// True after a failure until the next success, so that a series of failures is logged once.
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
