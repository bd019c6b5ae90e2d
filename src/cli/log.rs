//! The log: on stderr, because stdout belongs to answers.

use std::io::IsTerminal;

use daysheet_core::error::{Error, ErrorKind, Result};
use tokio::runtime::Handle;
use tracing_subscriber::filter::{FilterExt, LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, fmt};

use crate::config::{Config, LogForm};

/// Returns the environment variable that requests the export of traces, if there is one. Variables
/// that turn the export off are handled here, not by the library.
fn wanted_traces() -> Option<&'static str> {
    let value = |name| std::env::var(name).unwrap_or_default();
    let is_off = value("OTEL_SDK_DISABLED").eq_ignore_ascii_case("true")
        || value("OTEL_TRACES_EXPORTER").eq_ignore_ascii_case("none");
    let endpoints = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
    endpoints.into_iter().find(|name| !is_off && !value(name).is_empty())
}

/// Starts the log. `over_http` is true for an HTTP server: its log is read by programs, and its
/// traces are exported by tasks of `runtime` if the environment requests that. The export ends when
/// the returned value is dropped.
///
/// # Errors
/// [`ErrorKind::Config`] if the setting is not a filter, or if traces cannot be exported as requested.
pub(super) fn install_subscriber(
    config: &Config,
    over_http: bool,
    runtime: &Handle,
) -> Result<impl Sized + use<>> {
    let wrong = || {
        Error::new(ErrorKind::Config, "DAYSHEET_LOG is not a log filter")
            .next("use error, warn, info, debug or trace")
    };
    let filter = config.log.as_deref().unwrap_or("warn");
    let mut filter = EnvFilter::try_new(filter).map_err(|_| wrong())?;
    // Below this level, libraries log whole requests, with mail in them.
    let libraries = ["hyper", "hyper_util", "h2", "sqlx", "rustls", "html5ever"];
    let libraries = Targets::new()
        .with_default(LevelFilter::TRACE)
        .with_targets(libraries.map(|library| (library, LevelFilter::WARN)))
        // `rmcp` warns of every call that its client cancels; our own errors are logged elsewhere.
        .with_target("rmcp", LevelFilter::OFF);
    // Spans below this level are for traces only. In the log, they would replace the request's
    // span, and thus its id.
    filter = filter.add_directive("telemetry=error".parse().map_err(|_| wrong())?);
    let log = fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let json = match config.http.log {
        LogForm::Automatic => !std::io::stderr().is_terminal(),
        form => form == LogForm::Json,
    };
    let log: Box<dyn Layer<Registry> + Send + Sync> = if over_http && json {
        log.json().flatten_event(true).with_span_list(false).boxed()
    } else {
        log.boxed()
    };
    let layers = vec![log.with_filter(filter.and(libraries)).boxed()];
    #[cfg(feature = "telemetry")]
    let (layers, traces) = {
        use crate::http::telemetry::TraceExport;
        let wanted = over_http && wanted_traces().is_some();
        let traces = wanted.then(|| TraceExport::start(runtime)).transpose()?;
        let of_traces = traces.iter().map(TraceExport::layer);
        (layers.into_iter().chain(of_traces).collect::<Vec<_>>(), traces)
    };
    #[cfg(not(feature = "telemetry"))]
    let traces = {
        // The operator expects traces, so their absence must not go unnoticed.
        if let Some(name) = wanted_traces().filter(|_| over_http) {
            return Err(Error::new(
                ErrorKind::Config,
                format!("{name} needs the export of traces, which this build leaves out"),
            )
            .next("build it with `--features telemetry`, or unset the variable"));
        }
        runtime.clone()
    };
    tracing_subscriber::registry().with(layers).init();
    Ok(traces)
}
