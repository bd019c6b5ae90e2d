//! The server: accepting connections and routing requests to their APIs.
//!
//! Requests are read whole, because bodies are small and limited, and faults are applied here. This
//! file uses paths only to distinguish the APIs, and has no knowledge of mail.

use std::convert::Infallible;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::auth;
use super::faults::{ApiExchange, DrawnFault};
use super::gmail::upload as gmail_upload;
use super::google::{batch as google_batch, error as google_error};
use super::graph::error as graph_error;
use super::http::{HttpRequest, HttpResponse};
use super::lock::lock;
use super::people as google_people;
use super::state::{RequestState, SharedState};
use super::{gmail, google_calendar, graph};

/// The maximum size of a request body in bytes, unless [`LARGER`] allows more.
const MAX_REQUEST: usize = 1 << 20;

/// Larger limits for paths that receive messages, by the beginning of the path. The first match
/// counts.
const LARGER: [(&str, usize); 4] = [
    ("/upload/gmail/", 36_700_160),
    ("/gmail/", 10 << 20),
    ("/v1.0/uploads/", 60 << 20),
    ("/v1.0/", 5 << 20),
];

/// The minimum size of a compressed answer in bytes. Shorter ones fit in one packet anyway.
const COMPRESSED: usize = 1 << 10;

/// Returns the maximum body size of a path.
fn largest(path: &str) -> usize {
    let larger = LARGER.iter().find(|(base, _)| path.starts_with(base));
    larger.map_or(MAX_REQUEST, |(_, most)| *most)
}

/// Accepts connections for as long as it is polled.
pub(super) async fn serve(listener: TcpListener, state: Arc<SharedState>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(connection(stream, Arc::clone(&state)));
            }
            // Probably there are no file handles left; wait until some are closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Answers the requests of one connection, one after the other.
async fn connection(stream: TcpStream, state: Arc<SharedState>) {
    // Small answers must not wait for the peer's delayed acknowledgement. If the option cannot be
    // set, they are only slower.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(Arc::clone(&state), request));
    // A broken connection is the peer's doing, or an injected fault.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// The body of an answer, which is complete or breaks off.
type HttpBody = UnsyncBoxBody<Bytes, io::Error>;

/// Answers one request. An error closes the connection without an answer.
async fn answer(
    shared: Arc<SharedState>,
    request: hyper::Request<Incoming>,
) -> io::Result<hyper::Response<HttpBody>> {
    let state = RequestState::new(&shared);
    let path = request.uri().path();
    let graph = path.starts_with("/v1.0/");
    let most = largest(path);
    let gzip = takes_gzip(request.headers(), graph);
    // Sign-in and other paths are neither faulty, altered nor observed.
    let mut apis = ["/gmail/", "/upload/gmail/", "/calendar/", "/v1/", "/v1.0/"].into_iter();
    let api = apis.any(|base| path.starts_with(base)).then_some(path);
    let alter = api.and_then(|_| lock(&state.alter).clone());
    let query = request.uri().query().unwrap_or_default();
    let observer = api
        .and_then(|path| Some((lock(&state.observer).clone()?, path.to_owned(), query.to_owned())));
    let mut seen = None;
    // Drawn before the body is read; only faults of writes depend on the request itself.
    let (delay, mut fault) = state.next_fault(api);
    // Held until the answer is ready, because the service limits requests in progress.
    let _place = if graph {
        match graph::enter(&state, path, request.headers()) {
            Ok(place) => place,
            Err(refused) => return Ok(response(refused, gzip, false)),
        }
    } else {
        None
    };
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let mut answer = match fault.filter(|fault| !fault.is_carried_out()) {
        Some(fault) => refused(&state, graph, request.headers(), fault)?,
        None => match read(request).await {
            Ok(request) => {
                seen = observer.map(|(observer, path, query)| {
                    let (method, body) = (request.method.clone(), request.body.clone());
                    (observer, ApiExchange { method, path, query, body, answer: 0 })
                });
                // Only the body of a batch tells if it changes something.
                fault = fault.or_else(|| state.write_fault(&request));
                match fault {
                    Some(DrawnFault::Late | DrawnFault::Overdue) => {
                        tokio::spawn(handle_late(shared, request));
                        // A placeholder: the connection is closed below, or answered with a
                        // gateway's timeout.
                        google_error::fault(DrawnFault::Timeout)
                    }
                    Some(fault) if !fault.is_carried_out() => {
                        refused(&state, graph, &request.headers, fault)?
                    }
                    _ => route(&state, &request),
                }
            }
            Err(RequestRefusal::TooLarge) if graph => graph::too_large(&state),
            Err(RequestRefusal::TooLarge) => google_error::too_large(&most.to_string()),
            Err(RequestRefusal::NotLocal) => google_error::not_local(),
            Err(RequestRefusal::Endless) => graph_error::length_required(),
            Err(RequestRefusal::Broken) => return Err(io::ErrorKind::ConnectionAborted.into()),
        },
    };
    if let Some(alter) = alter {
        answer.body = alter.apply(answer.body);
    }
    // After the change and before sending, so that an observer can hold the answer back.
    if let Some((observer, exchange)) = seen {
        observer.see(ApiExchange { answer: answer.body.len(), ..exchange }).await;
    }
    // These requests were carried out or will be, but the client must not learn the outcome.
    match fault {
        Some(DrawnFault::Lost | DrawnFault::Late) => Err(io::ErrorKind::ConnectionReset.into()),
        Some(DrawnFault::Gate | DrawnFault::Overdue) => {
            Ok(response(google_error::fault(DrawnFault::Timeout), gzip, false))
        }
        _ => Ok(response(answer, gzip, fault == Some(DrawnFault::Half))),
    }
}

/// Returns the answer to a request that a fault keeps from being carried out.
fn refused(
    state: &RequestState,
    graph: bool,
    headers: &HeaderMap,
    fault: DrawnFault,
) -> io::Result<HttpResponse> {
    match fault {
        DrawnFault::Reset => Err(io::ErrorKind::ConnectionReset.into()),
        fault if graph => Ok(graph::fault(state, headers, fault)),
        fault => Ok(google_error::fault(fault)),
    }
}

/// Carries out a request after its sender has received a failure.
async fn handle_late(shared: Arc<SharedState>, request: HttpRequest) {
    tokio::time::sleep(shared.lateness()).await;
    route(&RequestState::new(&shared), &request);
}

/// Routes a request, and Google's batches part by part.
fn route(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    match request.path.first().map(String::as_str) {
        Some("batch") if request.method == Method::POST => {
            state.hit(google_batch::ROUTE);
            google_batch::answer(request, |part| route_one(state, part))
        }
        _ => route_one(state, request),
    }
}

/// Routes a request that is not a batch.
fn route_one(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["v1.0", rest @ ..] => graph::answer(state, request, rest),
        ["gmail", rest @ ..] => gmail::answer(state, request, rest),
        ["upload", "gmail", ..] => gmail_upload::answer(state, request.clone()),
        ["calendar", rest @ ..] => google_calendar::answer(state, request, rest),
        ["v1", rest @ ..] => google_people::answer(state, request, rest),
        path => auth::answer(state, request, path).unwrap_or_else(google_error::not_found_page),
    }
}

/// Returns the names of all routes.
pub(super) fn routes() -> impl Iterator<Item = &'static str> {
    let apis = [
        gmail::ROUTES,
        gmail_upload::ROUTES,
        google_calendar::ROUTES,
        google_people::ROUTES,
        graph::ROUTES,
        graph::OTHER_ROUTES,
        auth::ROUTES,
    ];
    apis.into_iter().flatten().copied().chain([google_batch::ROUTE])
}

/// The reason why a request was not read.
enum RequestRefusal {
    /// The body exceeds the limit.
    TooLarge,
    /// The `Host` is not this machine.
    NotLocal,
    /// The length of the body is missing.
    Endless,
    /// The connection broke.
    Broken,
}

/// Reads a complete request.
async fn read(request: hyper::Request<Incoming>) -> Result<HttpRequest, RequestRefusal> {
    let (head, body) = request.into_parts();
    // DNS rebinding: a web page whose name resolves to 127.0.0.1 must not read the mail.
    if !head.headers.get(header::HOST).is_some_and(is_local) {
        return Err(RequestRefusal::NotLocal);
    }
    // Graph's front end requires a length even for an empty body, which clients tend to omit.
    let has_length = head.headers.contains_key(header::CONTENT_LENGTH)
        || head.headers.contains_key(header::TRANSFER_ENCODING);
    if head.method == Method::POST && !has_length && head.uri.path().starts_with("/v1.0/") {
        return Err(RequestRefusal::Endless);
    }
    let body = Limited::new(body, largest(head.uri.path()))
        .collect()
        .await
        .map_err(|error| {
            if error.is::<LengthLimitError>() {
                RequestRefusal::TooLarge
            } else {
                RequestRefusal::Broken
            }
        })?
        .to_bytes();
    let query = head.uri.query().unwrap_or_default();
    Ok(HttpRequest::new(head.method, head.uri.path(), query, head.headers, body))
}

/// Returns true for a `Host` that is this machine, with or without a port.
fn is_local(host: &HeaderValue) -> bool {
    let host = host.to_str().unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["127.0.0.1", "localhost", "[::1]"].contains(&name)
}

/// Returns true for a client that accepts gzip. Google also requires `gzip` in `User-Agent`.
fn takes_gzip(headers: &HeaderMap, graph: bool) -> bool {
    let has = |name| {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.split(|mark: char| !mark.is_ascii_alphanumeric()).any(|word| word == "gzip")
    };
    has(header::ACCEPT_ENCODING) && (graph || has(header::USER_AGENT))
}

/// Compresses a body by gzip. `None` if that fails.
fn compressed(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).ok()?;
    encoder.finish().ok()
}

/// Returns an answer for the wire, or one whose body breaks off in the middle.
fn response(mut answer: HttpResponse, gzip: bool, half: bool) -> hyper::Response<HttpBody> {
    if gzip
        && answer.body.len() >= COMPRESSED
        && let Some(body) = compressed(&answer.body)
    {
        answer.body = body;
        answer = answer.with("content-encoding", "gzip");
    }
    // The full length is announced even for half a body, so that the client notices.
    let length = answer.body.len();
    let body = Bytes::from(answer.body);
    let body = if half {
        cut_body(body.slice(..length / 2))
    } else {
        Full::new(body).map_err(|never: Infallible| match never {}).boxed_unsync()
    };
    let mut response = hyper::Response::new(body);
    *response.status_mut() = answer.status;
    let headers = response.headers_mut();
    if !answer.content_type.is_empty() {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    }
    // RFC 9110, 8.6: a 204 has no `Content-Length`.
    if answer.status != StatusCode::NO_CONTENT {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    for (name, value) in answer.headers {
        // A value that a header cannot contain is left out rather than changed.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    response
}

/// Returns a body that breaks off after `first`.
fn cut_body(first: Bytes) -> HttpBody {
    let frames = stream::unfold(Some(first), |first| async move {
        let Some(first) = first else {
            // Time for the first half to be sent, so that the peer receives it.
            tokio::time::sleep(Duration::from_millis(20)).await;
            return Some((Err(io::ErrorKind::ConnectionReset.into()), None));
        };
        Some((Ok(Frame::data(first)), None))
    });
    StreamBody::new(frames).boxed_unsync()
}
