//! Connections: HTTP/1.1, and HTTP/2 over TLS, each with limits in time.
//!
//! TLS negotiates the version of HTTP. Detecting it from the first bytes, as servers of HTTP/2
//! without TLS do, would double the memory of an idle connection.
//!
//! A connection is closed if its client sends nothing or too slowly, is idle for a while, or does
//! not read. During shutdown no connection is accepted, and open ones finish their requests.

use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use daysheet_core::error::{Error, ErrorKind, Result};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use super::lifetime::keep_until_sent;
use super::unread::SharedBody;

/// The maximum number of connections; others wait to be accepted.
const CONNECTIONS: usize = 4096;
/// The time limit for the first complete request of a connection, including TLS.
const FIRST: Duration = Duration::from_secs(15);
/// The time for which an idle connection is kept open. Balancers have shorter times, so that none
/// of them sends a request on a connection that is being closed.
const IDLE: Duration = Duration::from_secs(75);
/// The time limit for a response until the client has read it, including questions to the user.
const MAX_RESPONSE_TIME: Duration = Duration::from_mins(30);
/// The interval at which connections are checked.
const LOOK: Duration = Duration::from_secs(5);
/// The time for which a shutdown waits for requests in progress.
const ENDING: Duration = Duration::from_mins(1);
/// The largest header section of a request, in bytes.
pub(super) const HEADERS: u32 = 32 * 1024;
/// The maximum number of concurrent requests on an HTTP/2 connection.
const STREAMS: u32 = 64;
/// The name of HTTP/2 in TLS.
const H2: &[u8] = b"h2";

/// Reads the certificate and the key of a server from PEM files.
///
/// # Errors
/// [`ErrorKind::Config`] if a file cannot be read, or if the key does not belong to the certificate.
pub fn tls(certificate: &Path, key: &Path) -> Result<TlsAcceptor> {
    let unusable = |path: &Path, why: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Config, format!("{} cannot be used for TLS: {why}", path.display()))
            .next("set PEM files: the certificate chain, and its private key")
    };
    let unread = |path: &Path, none: &str, error: &pem::Error| match error {
        pem::Error::NoItemsFound => unusable(path, &none),
        pem::Error::Io(error) => unusable(path, error),
        error => unusable(path, error),
    };
    let some = |chain: Vec<_>| {
        if chain.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(chain) }
    };
    let chain: Vec<_> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .and_then(some)
        .map_err(|error| unread(certificate, "it has no certificate", &error))?;
    let secret = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| unread(key, "it has no private key", &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(key, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| match error {
            rustls::Error::InvalidCertificate(_) => unusable(certificate, &error),
            _ => unusable(key, &error),
        })?;
    // In the server's order of preference.
    config.alpn_protocols = vec![H2.to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Answers requests with `router` until `ended`, and finishes requests in progress afterwards.
pub async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    ended: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let (end, ending) = watch::channel(());
    let mut ended = pin!(ended);
    let next = async || {
        // The place comes first, so that connections beyond the limit stay in the system's queue.
        let place = places.clone().acquire_owned().await.ok()?;
        match listener.accept().await {
            Ok((stream, _)) => Some((stream, place)),
            Err(error) => {
                // Too many open files, for example; others may be closed soon.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                None
            }
        }
    };
    loop {
        let accepted = tokio::select! {
            accepted = next() => accepted,
            () = &mut ended => break,
        };
        if let Some((stream, place)) = accepted {
            let (tls, router) = (tls.clone(), router.clone());
            tokio::spawn(connection(stream, tls, router, ending.clone(), place));
        }
    }
    // `closed` below waits for the receivers of the connections, so this one must be dropped.
    drop((listener, ending));
    let _ = end.send(());
    if tokio::time::timeout(ENDING, end.closed()).await.is_err() {
        tracing::warn!("the server ends with requests still in progress");
    }
}

/// Serves one connection.
async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    ending: watch::Receiver<()>,
    _place: OwnedSemaphorePermit,
) {
    // Small responses must not be delayed to be sent together. Failure only costs time.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else {
        return requests(stream, false, router, ending).await;
    };
    // Boxed, so that connections without TLS do not reserve memory for it.
    let encrypted = async {
        match tokio::time::timeout(FIRST, tls.accept(stream)).await {
            Ok(Ok(stream)) => {
                let second = stream.get_ref().1.alpn_protocol() == Some(H2);
                requests(stream, second, router, ending).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "TLS failed"),
            Err(_elapsed) => tracing::debug!("TLS took too long"),
        }
    };
    Box::pin(encrypted).await;
}

/// The activity of a connection: its requests in progress, and the time of the last change with the
/// time allowed since.
struct ConnectionActivity {
    requests: AtomicUsize,
    since: Mutex<(Instant, Duration)>,
}

impl ConnectionActivity {
    fn new() -> Self {
        Self { requests: AtomicUsize::new(0), since: Mutex::new((Instant::now(), FIRST)) }
    }

    fn now(&self, allowed: Duration) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = (Instant::now(), allowed);
    }

    /// Returns true if the connection has been inactive for longer than allowed.
    fn is_over(&self) -> bool {
        let (since, allowed) = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.elapsed() > allowed
    }
}

/// A request in progress, until its response has been read or dropped.
struct BusyConnection(Arc<ConnectionActivity>);

impl BusyConnection {
    fn new(activity: &Arc<ConnectionActivity>) -> Self {
        activity.requests.fetch_add(1, Ordering::Relaxed);
        activity.now(MAX_RESPONSE_TIME);
        Self(activity.clone())
    }
}

impl Drop for BusyConnection {
    fn drop(&mut self) {
        let last = self.0.requests.fetch_sub(1, Ordering::Relaxed) == 1;
        self.0.now(if last { IDLE } else { MAX_RESPONSE_TIME });
    }
}

/// Answers the requests of a connection; `second` means HTTP/2.
async fn requests<S>(stream: S, second: bool, router: Router, ending: watch::Receiver<()>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let activity = Arc::new(ConnectionActivity::new());
    let activities = activity.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let busy = BusyConnection::new(&activities);
        let router = router.clone();
        // Boxed, so that connections without a request do not reserve memory for one.
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = SharedBody::new(body);
            let request = Request::from_parts(parts, Body::new(body.clone()));
            let mut response: Response = router.oneshot(request).await?;
            // With HTTP/2, a refusal ends only the stream of its request.
            if !second {
                body.finish(&mut response).await;
            }
            // The request counts as in progress until its response is sent.
            Ok::<_, std::convert::Infallible>(keep_until_sent(response, busy))
        })
    });
    let stream = TokioIo::new(stream);
    if second {
        let mut server = http2::Builder::new(TokioExecutor::new());
        server
            .timer(TokioTimer::new())
            .keep_alive_interval(IDLE)
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEADERS);
        let mut connection = Box::pin(server.serve_connection(stream, service));
        watched(connection.as_mut(), activity, ending).await;
    } else {
        // hyper's time limit for headers begins as soon as a connection is idle.
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE)
            .max_buf_size(HEADERS as usize)
            .serve_connection(stream, service);
        watched(pin!(connection), activity, ending).await;
    }
}

/// Serves a connection until it ends, exceeds its limits, or finishes during shutdown. The caller
/// pins it, so that this future does not contain a second one.
async fn watched<C>(
    mut connection: Pin<&mut C>,
    activity: Arc<ConnectionActivity>,
    mut ending: watch::Receiver<()>,
) where
    C: GracefulConnection<Error: std::fmt::Display>,
{
    let mut looks = tokio::time::interval(LOOK);
    let mut open = true;
    loop {
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection broke");
                }
                return;
            }
            // Only once: after the shutdown begins, the sender may be dropped, and `changed` would
            // return immediately.
            _ = ending.changed(), if open => {
                open = false;
                connection.as_mut().graceful_shutdown();
            }
            _ = looks.tick() => if activity.is_over() {
                return;
            }
        }
    }
}
