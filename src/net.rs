//! The one HTTPS client of the process.
//!
//! Everything that talks to a provider shares this client and its connection
//! pool: the sign-in flows through [`send`], Google's generated API client
//! through a clone from [`google_client`]. TLS is rustls with the `ring` provider and
//! the web's root certificates; plain http is possible, and `config.rs` sees
//! to it that it is used on loopback only.
//!
//! It stops at bytes: no retries, no tokens, no JSON, and it never follows a
//! redirect, because what we send is a secret more often than not.

use std::error::Error as StdError;
use std::sync::OnceLock;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::error::{Error, Kind, Result};

/// A request body; the very type that `google-apis-common` calls `Body`.
pub type Body = BoxBody<Bytes, hyper::Error>;

/// What opens connections: TLS for `https`, TCP alone for `http`.
pub type Connector = HttpsConnector<HttpConnector>;

/// The client; the very type that Google's generated hubs take. Clones share
/// one connection pool.
pub type Client = Legacy<Connector, Body>;

/// How long [`send`] waits for the whole answer.
pub const TIMEOUT: Duration = Duration::from_secs(15);
/// How long a connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an unused connection is kept. Longer than a pause between two tool
/// calls, shorter than routers forget a connection.
const IDLE: Duration = Duration::from_secs(60);
/// The longest answer that [`send`] reads, in bytes. A token response has two
/// kilobytes; whoever sends more is not a token endpoint.
pub const BODY_CAP: usize = 1024 * 1024;

/// A clone of the client, for Google's generated hubs. It has no timeout and no
/// limit for the length of an answer: those are the caller's to add.
///
/// # Errors
/// [`Kind::Internal`] if TLS cannot be set up, which no setting can cause.
pub fn google_client() -> Result<Client> {
    shared().cloned()
}

/// The client, which is built at the first call.
fn shared() -> Result<&'static Client> {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    let built = build()?;
    Ok(CLIENT.get_or_init(|| built))
}

fn build() -> Result<Client> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    let connector = HttpsConnectorBuilder::new()
        .with_provider_and_webpki_roots(rustls::crypto::ring::default_provider())
        .map_err(|error| Error::new(Kind::Internal, format!("TLS cannot be set up: {error}")))?
        .https_or_http()
        .enable_http1()
        .enable_http2()
        .wrap_connector(http);
    Ok(Legacy::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .build(connector))
}

/// `text` as one segment of a URL's path, with everything escaped that could end
/// the segment or mean something in it. Two dots are not escaped, for a server
/// would read them as two dots all the same: ids that can be `..` need a check of
/// their own.
pub fn path_segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, SEGMENT).to_string()
}

/// Everything but the characters that RFC 3986 calls unreserved.
const SEGMENT: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Sends one request and reads the whole answer, whatever its status.
/// Takes at most [`TIMEOUT`] and reads at most [`BODY_CAP`] bytes.
///
/// # Errors
/// [`Kind::Network`] if there was no whole answer, [`Kind::Timeout`] if it took
/// too long. The message names the host and the cause, never the path, the
/// query or the body.
pub async fn send(request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>> {
    send_within(request, TIMEOUT).await
}

/// [`send`] with another limit of time, for much that is sent.
///
/// # Errors
/// As [`send`].
pub async fn send_within(request: Request<Vec<u8>>, limit: Duration) -> Result<Response<Vec<u8>>> {
    let host = request.uri().authority().map_or_else(
        || "the server".to_owned(),
        |authority| authority.as_str().to_owned(),
    );
    let client = shared()?;
    match tokio::time::timeout(limit, exchange(client, request)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(cause)) => Err(Error::new(
            Kind::Network,
            format!("{host} was not reached ({cause})"),
        )
        .next("check the network connection and try again")),
        Err(_elapsed) => Err(Error::new(
            Kind::Timeout,
            format!("{host} did not answer within {} seconds", limit.as_secs()),
        )
        .next("try again later")),
    }
}

async fn exchange(
    client: &Client,
    request: Request<Vec<u8>>,
) -> std::result::Result<Response<Vec<u8>>, String> {
    let request = request.map(|bytes| {
        Full::new(Bytes::from(bytes))
            .map_err(|never| match never {})
            .boxed()
    });
    let answer = client
        .request(request)
        .await
        .map_err(|error| root_cause(&error))?;
    let (parts, body) = answer.into_parts();
    let bytes = Limited::new(body, BODY_CAP)
        .collect()
        .await
        .map_err(|error| {
            if error.is::<LengthLimitError>() {
                format!("its answer is longer than {BODY_CAP} bytes")
            } else {
                root_cause(error.as_ref())
            }
        })?
        .to_bytes();
    Ok(Response::from_parts(parts, bytes.to_vec()))
}

/// The innermost error of a chain. hyper's own say "client error (Connect)";
/// what a reader can use, such as "connection refused", lies below.
fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
