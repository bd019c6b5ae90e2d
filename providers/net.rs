//! The HTTPS client of the process.
//!
//! All requests to providers share this client and its connection pool: the sign-in flows through
//! [`send`], Google's generated API client through [`exchange`]. TLS is rustls with the `ring`
//! provider and the web's root certificates. Plain http is possible, and `config.rs` allows it only
//! on loopback.
//!
//! Only bytes are handled: there are no retries, tokens or JSON, and redirects are never followed,
//! because most requests contain a secret. Responses may be compressed; `net/content.rs` reads
//! their bodies.

mod content;
mod failure;

use std::error::Error as StdError;
use std::sync::OnceLock;
use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::upstream::UpstreamShare;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue, USER_AGENT};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use self::content::LimitedContent;
pub use self::failure::FetchFailure;

/// The name in all requests. Google compresses for clients that have `gzip` in theirs.
const AGENT: &str = concat!("daysheet/", env!("CARGO_PKG_VERSION"), " (gzip)");

/// A request body.
type RequestBody = BoxBody<Bytes, hyper::Error>;

/// Opens connections: TLS for `https`, TCP for `http`.
type SchemeConnector = HttpsConnector<HttpConnector>;

/// The client. Clones share one connection pool.
type HttpClient = Legacy<SchemeConnector, RequestBody>;

/// The time limit of [`send`] for the whole response.
pub const TIMEOUT: Duration = Duration::from_secs(15);
/// The time limit for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time for which an unused connection is kept: longer than the pause between two tool calls,
/// shorter than routers keep connections.
const IDLE: Duration = Duration::from_mins(1);
/// The maximum size of a response to [`send`], in bytes. A token response has two kilobytes; a
/// longer one is not from a token endpoint.
pub const BODY_CAP: usize = 1024 * 1024;

/// The size from which a response waits for its turn, in bytes. Only one long response is read at a
/// time, because a few of them together would fill the memory.
pub const LARGE: usize = 1024 * 1024;

/// The flow-control window of a response, in bytes: how much a server may send ahead of our reading
/// (RFC 9113, section 5.2). Responses that wait for their turn are not read, and must leave room in
/// the connection's window for the one being read; hyper's defaults of 2 and 5 MiB do not.
pub const STREAM_WINDOW: u32 = 256 * 1024;
/// The flow-control window of a connection, in bytes: enough for 128 unread responses, more than
/// services send at once.
pub const CONNECTION_WINDOW: u32 = 128 * STREAM_WINDOW;

/// The permit to read a long response.
static TURN: Semaphore = Semaphore::const_new(1);

/// The permit for one long response, held until its data has been reduced.
#[derive(Debug)]
pub struct ResponsePermit {
    _common: SemaphorePermit<'static>,
    _own: OwnedSemaphorePermit,
}

/// Waits for the turn of a response longer than [`LARGE`]; other responses continue meanwhile. Each
/// person waits with one response at a time, so that one person's requests cannot hold up everyone
/// else.
pub async fn turn(share: &UpstreamShare) -> Option<ResponsePermit> {
    let own = share.own_turn().await?;
    Some(ResponsePermit { _common: TURN.acquire().await.ok()?, _own: own })
}

/// A complete response.
#[derive(Debug)]
pub struct WholeResponse {
    /// Status, header fields and the uncompressed body.
    pub answer: Response<Vec<u8>>,
    /// The turn of a long response.
    pub turn: Option<ResponsePermit>,
}

/// Returns the client, which the first call builds.
fn shared_client() -> Result<&'static HttpClient> {
    static CLIENT: OnceLock<HttpClient> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    // `get_or_init` takes no fallible function; of two clients built at once, one is dropped.
    let built = build()?;
    Ok(CLIENT.get_or_init(|| built))
}

fn build() -> Result<HttpClient> {
    let mut http = HttpConnector::new();
    // The TLS connector uses this one for `https`, too.
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    let connector = HttpsConnectorBuilder::new()
        .with_provider_and_webpki_roots(rustls::crypto::ring::default_provider())
        .map_err(|error| Error::new(ErrorKind::Internal, format!("TLS cannot be set up: {error}")))?
        .https_or_http()
        .enable_http1()
        .enable_http2()
        .wrap_connector(http);
    Ok(Legacy::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .build(connector))
}

/// Returns `text` as one segment of a URL's path, with all characters escaped that could end the
/// segment or have a meaning in it. Dots are not escaped, because a server would decode them: ids
/// that could be `..` need their own check.
pub fn path_segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, SEGMENT).to_string()
}

/// All characters except the unreserved ones of RFC 3986.
const SEGMENT: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Sends one request and reads the complete response, whatever its status, within [`TIMEOUT`] and
/// up to [`BODY_CAP`] bytes.
///
/// # Errors
/// [`ErrorKind::Network`] for an incomplete response, [`ErrorKind::Timeout`] if it took too long. Messages
/// name the host and the cause, never the path, the query or the body.
pub async fn send(request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>> {
    send_within(request, TIMEOUT).await
}

/// Sends like [`send`] with another time limit, for large requests.
///
/// # Errors
/// See [`send`].
pub async fn send_within(request: Request<Vec<u8>>, limit: Duration) -> Result<Response<Vec<u8>>> {
    let host = request
        .uri()
        .authority()
        .map_or_else(|| "the server".to_owned(), |authority| authority.as_str().to_owned());
    match tokio::time::timeout(limit, exchange(request, BODY_CAP, None)).await {
        Ok(Ok(read)) => Ok(read.answer),
        Ok(Err(failure)) => {
            let network = "check the network connection and try again";
            let (what, next) = match failure {
                FetchFailure::Unreached(cause) => {
                    (format!("{host} was not reached ({cause})"), network)
                }
                FetchFailure::Broken(cause) => {
                    (format!("the connection to {host} broke ({cause})"), network)
                }
                FetchFailure::Long => (
                    format!("{host} answered with more than {BODY_CAP} bytes, which are not read"),
                    "check its URL in the settings",
                ),
            };
            Err(Error::new(ErrorKind::Network, what).next(next))
        }
        Err(_elapsed) => Err(Error::new(
            ErrorKind::Timeout,
            format!("{host} did not answer within {} seconds", limit.as_secs()),
        )
        .next("try again later")),
    }
}

/// Sends one request and reads the complete response, up to `most` bytes without compression. There
/// is no time limit. A long response waits for its turn within `share`.
///
/// # Errors
/// The reason why the response is incomplete.
pub async fn exchange(
    request: Request<Vec<u8>>,
    most: usize,
    share: Option<&UpstreamShare>,
) -> std::result::Result<WholeResponse, FetchFailure> {
    let client =
        shared_client().map_err(|error| FetchFailure::Unreached(error.message().to_owned()))?;
    let mut request =
        request.map(|bytes| Full::new(Bytes::from(bytes)).map_err(|never| match never {}).boxed());
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    let answer = client.request(request).await.map_err(|error| {
        let cause = root_cause(&error);
        if error.is_connect() {
            FetchFailure::Unreached(cause)
        } else {
            FetchFailure::Broken(cause)
        }
    })?;
    let (mut parts, mut body) = answer.into_parts();
    let mut content = match parts.headers.get(CONTENT_ENCODING) {
        Some(coding) if coding.as_bytes().eq_ignore_ascii_case(b"gzip") => {
            // These fields describe the compressed bytes.
            parts.headers.remove(CONTENT_ENCODING);
            parts.headers.remove(CONTENT_LENGTH);
            LimitedContent::gzip(most)
        }
        _ => LimitedContent::plain(most),
    };
    let mut turn = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| FetchFailure::Broken(root_cause(&error)))?;
        let Ok(some) = frame.into_data() else {
            continue;
        };
        for piece in content.pieces(&some) {
            if content.len().saturating_add(piece.len()) > LARGE
                && turn.is_none()
                && let Some(share) = share
            {
                turn = self::turn(share).await;
            }
            content.add(piece)?;
        }
    }
    let answer = Response::from_parts(parts, content.finish()?);
    Ok(WholeResponse { answer, turn })
}

/// Returns the innermost error of a chain. hyper's own errors say "client error (Connect)"; the
/// useful cause, such as "connection refused", is below.
fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
