//! The one HTTPS client of the process.
//!
//! Everything that talks to a provider shares this client and its connection pool: the
//! sign-in flows through [`send`], Google's generated API client through [`exchange`].
//! TLS is rustls with the `ring` provider and the web's root certificates; plain http
//! is possible, and `config.rs` ensures that it is used only on loopback.
//!
//! It handles only bytes: no retries, no tokens, no JSON, and it never follows a
//! redirect, because most requests contain a secret. Responses may be compressed; `net/content.rs`
//! reads their bodies.

mod content;

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

/// The name in all requests. Google compresses for clients that have `gzip` in theirs.
const AGENT: &str = concat!("daysheet/", env!("CARGO_PKG_VERSION"), " (gzip)");

/// A request body.
type RequestBody = BoxBody<Bytes, hyper::Error>;

/// Opens connections: TLS for `https`, TCP alone for `http`.
type SchemeConnector = HttpsConnector<HttpConnector>;

/// The client. Clones share one connection pool.
type HttpClient = Legacy<SchemeConnector, RequestBody>;

/// The time limit of [`send`] for the whole response.
pub const TIMEOUT: Duration = Duration::from_secs(15);
/// The time limit for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an unused connection is kept. Longer than a pause between two tool calls,
/// shorter than routers forget a connection.
const IDLE: Duration = Duration::from_secs(60);
/// The maximum response that [`send`] reads, in bytes. A token response has two
/// kilobytes; a longer one is not from a token endpoint.
pub const BODY_CAP: usize = 1024 * 1024;

/// A longer response than this waits for its turn, in bytes: only one of those is read
/// at a time, because a few of them together would fill the memory.
pub const LARGE: usize = 1024 * 1024;

/// The flow-control window of a response, in bytes: how much of it a server may send before it is
/// read (RFC 9113, section 5.2). Responses that wait for their turn are not read, and must leave
/// room in the connection's window for the one that is; hyper's defaults of 2 and 5 MiB do not.
pub const STREAM_WINDOW: u32 = 256 * 1024;
/// The window of all responses of a connection, in bytes: enough for 128 that are not read, more
/// than services send at once.
pub const CONNECTION_WINDOW: u32 = 128 * STREAM_WINDOW;

/// The permit to read a long response.
static TURN: Semaphore = Semaphore::const_new(1);

/// The permit for one long response, held until its data is smaller again.
#[derive(Debug)]
pub struct ResponsePermit {
    _common: SemaphorePermit<'static>,
    _own: OwnedSemaphorePermit,
}

/// Waits for the turn of a response of more than [`LARGE`] bytes. Other responses continue
/// meanwhile. Each person waits with one response at a time, so that nobody has to wait for all
/// the requests of another.
pub async fn turn(share: &UpstreamShare) -> Option<ResponsePermit> {
    let own = share.own_turn().await?;
    Some(ResponsePermit { _common: TURN.acquire().await.ok()?, _own: own })
}

/// Why there is no whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchFailure {
    /// No connection could be made, for this reason.
    Unreached(String),
    /// The connection broke before all of the answer was there.
    Broken(String),
    /// The answer is longer than is read.
    Long,
}

/// An answer, read whole.
#[derive(Debug)]
pub struct WholeResponse {
    /// Status, headers and body, which is not compressed.
    pub answer: Response<Vec<u8>>,
    /// The turn of a long response.
    pub turn: Option<ResponsePermit>,
}

/// Returns the client, which is built at the first call.
fn shared_client() -> Result<&'static HttpClient> {
    static CLIENT: OnceLock<HttpClient> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    let built = build()?;
    Ok(CLIENT.get_or_init(|| built))
}

fn build() -> Result<HttpClient> {
    let mut http = HttpConnector::new();
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

/// Returns `text` as one segment of a URL's path, with everything escaped that could
/// end the segment or have a meaning in it. Two dots are not escaped, because a server
/// would decode them: ids that can be `..` need a check of their own.
pub fn path_segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, SEGMENT).to_string()
}

/// Everything but the characters that RFC 3986 calls unreserved.
const SEGMENT: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Sends one request and reads the whole answer, whatever its status.
/// Takes at most [`TIMEOUT`] and reads at most [`BODY_CAP`] bytes.
///
/// # Errors
/// [`ErrorKind::Network`] if there was no whole answer, [`ErrorKind::Timeout`] if it took
/// too long. The message names the host and the cause, never the path, the
/// query or the body.
pub async fn send(request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>> {
    send_within(request, TIMEOUT).await
}

/// Sends as [`send`] does, with another time limit, for large requests.
///
/// # Errors
/// As [`send`].
pub async fn send_within(request: Request<Vec<u8>>, limit: Duration) -> Result<Response<Vec<u8>>> {
    let host = request
        .uri()
        .authority()
        .map_or_else(|| "the server".to_owned(), |authority| authority.as_str().to_owned());
    match tokio::time::timeout(limit, exchange(request, BODY_CAP, None)).await {
        Ok(Ok(read)) => Ok(read.answer),
        Ok(Err(failure)) => {
            let cause = match failure {
                FetchFailure::Unreached(cause) | FetchFailure::Broken(cause) => cause,
                FetchFailure::Long => format!("its response is longer than {BODY_CAP} bytes"),
            };
            Err(Error::new(ErrorKind::Network, format!("{host} was not reached ({cause})"))
                .next("check the network connection and try again"))
        }
        Err(_elapsed) => Err(Error::new(
            ErrorKind::Timeout,
            format!("{host} did not answer within {} seconds", limit.as_secs()),
        )
        .next("try again later")),
    }
}

/// Sends one request and reads the whole response, at most `most` bytes of it, without
/// a time limit; a long one in the turn of the person whose `share` it is. Lengths are those of
/// the content without compression.
///
/// # Errors
/// The reason why there is no whole response.
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
            // They are about the bytes that were sent.
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

/// Returns the innermost error of a chain. hyper's own say "client error (Connect)";
/// what a reader can use, such as "connection refused", is below.
fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
