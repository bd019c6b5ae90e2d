//! The checks of every request: the hosts and origins in it, its id for the log, and the limits of
//! its body in bytes and time.
//!
//! A web page must not reach a server on the browser's machine or network under a name of the
//! page's own (DNS rebinding). A request therefore has to name one of our hosts and, if a browser
//! sends an origin, one of our origins.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::Bytes;
use tracing::Instrument;
use url::Url;

use super::listen::HEADERS;
use crate::config::HttpSettings;

/// The header with the id of a request.
const ID: &str = "x-request-id";
/// The maximum length of an id that is accepted from a request.
const MAX_ID: usize = 64;
/// The limits of a call's body, and of forms from signed-in people.
pub const CALL: BodyLimits = BodyLimits { bytes: 4 << 20, patience: Duration::from_secs(30) };
/// The limits of the sign-in form, which anyone may send. It has a token and a path.
pub const SIGN_IN: BodyLimits = BodyLimits { bytes: 16 << 10, patience: Duration::from_secs(10) };
/// The health checks of balancers, which may name any host.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];
/// The hosts that name this machine.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// The header fields that pages of listed origins may send, and may read in a response.
const SENT: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, \
                    mcp-method, mcp-name, last-event-id, x-request-id";
const READ: &str = "mcp-session-id, www-authenticate, x-request-id, retry-after";

/// The hosts and origins that requests may name.
pub struct HostGuard {
    hosts: Vec<String>,
    /// The origins of our own pages; a local server has one for each of its host names.
    own: Vec<String>,
    /// Other origins, listed in the settings.
    origins: Vec<String>,
    /// True if this server terminates TLS. Otherwise only a proxy knows whether browsers must use
    /// it.
    tls: bool,
}

impl HostGuard {
    /// Creates the guard of a server with these settings.
    pub fn new(settings: &HttpSettings) -> Self {
        let own = settings.public_url.as_ref();
        let hosts = own.and_then(Url::host_str).into_iter();
        let local = LOCAL.into_iter().filter(|_| settings.is_local());
        let hosts: Vec<String> = hosts.chain(local).map(str::to_lowercase).collect();
        // Other ports of this machine are other origins, with pages of unknown programs.
        let own = hosts.iter().filter_map(|host| {
            let mut url = own?.clone();
            url.set_host(Some(host)).ok()?;
            Some(url.origin().ascii_serialization())
        });
        Self {
            own: own.collect(),
            hosts: hosts.iter().chain(&settings.hosts).cloned().collect(),
            origins: settings
                .origins
                .iter()
                .map(|origin| origin.trim_end_matches('/').to_owned())
                .collect(),
            tls: settings.tls.is_some(),
        }
    }

    /// Refuses a request with an unknown host or origin.
    fn check(&self, request: &Request) -> Result<(), &'static str> {
        let mut named = request.headers().get_all(header::HOST).iter();
        let header = named.next();
        if named.next().is_some() {
            return Err("the request names two hosts\n");
        }
        let header = match header.map(|host| Authority::try_from(host.as_bytes())) {
            Some(Ok(host)) => Some(host),
            Some(Err(_)) => return Err("the host is malformed\n"),
            None => None,
        };
        // HTTP/2, and request lines with an absolute URL, name the host in the URI.
        let line = request.uri().authority();
        if header.is_none() && line.is_none() {
            return Err("the request names no host\n");
        }
        if !header.iter().chain(line).all(|host| self.is_host(host)) {
            return Err("the host is not allowed: see http.hosts\n");
        }
        let mut origins = request.headers().get_all(header::ORIGIN).iter();
        if origins.all(|origin| origin.to_str().is_ok_and(|origin| self.is_origin(origin))) {
            Ok(())
        } else {
            Err("the origin is not allowed: see http.origins\n")
        }
    }

    fn is_host(&self, host: &Authority) -> bool {
        // Clients send no user name in the host; one could hide another host.
        let whole = host.as_str().to_lowercase();
        let name = host.host().to_lowercase();
        !whole.contains('@') && self.hosts.iter().any(|known| *known == name || *known == whole)
    }

    fn is_origin(&self, origin: &str) -> bool {
        self.own.iter().any(|own| own == origin) || self.is_listed(origin)
    }

    fn is_listed(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| *known == origin.to_lowercase())
    }
}

/// Returns the size of header fields in bytes.
fn header_bytes(headers: &HeaderMap) -> usize {
    // Two bytes separate name and value, and two end the line.
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum()
}

/// Checks a request, answers it, and logs it.
pub async fn pass(State(guard): State<Arc<HostGuard>>, request: Request, next: Next) -> Response {
    let id = id_of(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    // At a level that is always enabled, so that every log line within has the id.
    let span = if PROBES.contains(&path.as_str()) {
        // Traces of health checks are of no use.
        tracing::error_span!("request", id)
    } else {
        tracing::error_span!(target: "telemetry", "request", id)
    };
    #[cfg(feature = "telemetry")]
    super::telemetry::received(&span, &request);
    let origin = request.headers().get(header::ORIGIN).cloned();
    let listed = |origin: &HeaderValue| origin.to_str().is_ok_and(|one| guard.is_listed(one));
    // Requests from our own pages need no CORS headers.
    let origin = origin.filter(listed);
    let begun = Instant::now();
    let mut response = match guard.check(&request) {
        // hyper limits the buffer of HTTP/1, but a single read may exceed the limit.
        _ if header_bytes(request.headers()) > HEADERS as usize => {
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE.into_response()
        }
        Err(why) if !PROBES.contains(&path.as_str()) => {
            (StatusCode::FORBIDDEN, why).into_response()
        }
        _ if method == Method::OPTIONS && origin.is_some() => preflight(),
        _ => next.run(request).instrument(span.clone()).await,
    };
    span.in_scope(|| {
        // Only the first segment of a path is logged: others may contain ids.
        let path = path.split('/').nth(1).unwrap_or_default();
        let milliseconds = begun.elapsed().as_millis();
        tracing::info!(%method, path, status = response.status().as_u16(), milliseconds, "answered");
    });
    #[cfg(feature = "telemetry")]
    super::telemetry::answered(&span, response.status());
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::try_from(id) {
        headers.insert(ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if guard.tls {
        // HSTS (RFC 6797), for one year.
        let value = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    // Answers contain private mail.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READ));
        // Caches must not serve the response to pages of other origins.
        headers.append(header::VARY, HeaderValue::from_static("origin"));
    }
    response
}

/// Returns the response to a preflight request from a page of a listed origin.
fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (header::ACCESS_CONTROL_MAX_AGE, "3600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Returns the request id that a balancer assigned, or a new one.
fn id_of(headers: &HeaderMap) -> String {
    let given = headers.get(ID).and_then(|id| id.to_str().ok());
    let sane = |id: &&str| {
        (1..=MAX_ID).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    given.filter(sane).map_or_else(
        || {
            let mut random = [0_u8; 8];
            // If this fails, the id is zero, which affects only the log.
            let _ = getrandom::fill(&mut random);
            random.iter().map(|byte| format!("{byte:02x}")).collect()
        },
        str::to_owned,
    )
}

/// The limits of a request's body.
#[derive(Clone, Copy)]
pub struct BodyLimits {
    /// The maximum size of the body, in bytes.
    pub bytes: usize,
    /// The time limit for the body to arrive.
    pub patience: Duration,
}

/// Returns the length of the body, as stated by the request, in bytes.
pub fn stated_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads the body of a request.
///
/// # Errors
/// The response for a body that is too long or arrives too slowly.
pub async fn read(limits: BodyLimits, headers: &HeaderMap, body: Body) -> Result<Bytes, Response> {
    let long = || {
        let what = format!("the body is longer than {} bytes\n", limits.bytes);
        (StatusCode::PAYLOAD_TOO_LARGE, what).into_response()
    };
    // Nothing of such a body is read.
    if stated_length(headers).is_some_and(|length| length > limits.bytes) {
        return Err(long());
    }
    match tokio::time::timeout(limits.patience, to_bytes(body, limits.bytes)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) => {
            let source = std::error::Error::source(&error);
            if source.is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>) {
                Err(long())
            } else {
                Err(StatusCode::BAD_REQUEST.into_response())
            }
        }
        Err(_elapsed) => {
            let what = "the body did not arrive in time\n";
            Err((StatusCode::REQUEST_TIMEOUT, what).into_response())
        }
    }
}
