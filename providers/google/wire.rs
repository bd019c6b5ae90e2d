//! The transport of Google's generated clients.
//!
//! They read responses of any length and cannot be stopped. Their connections therefore end within
//! this process: this module receives their requests, sends them by the process's one client, and
//! reads the responses with a cap. It interprets neither.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use daysheet_core::choice::{WordChoice, words};
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::upstream::UpstreamShare;
use google_apis_common::Client;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client as Legacy;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tower_service::Service;

use crate::net::{self, FetchFailure, ResponsePermit};

/// The maximum size of a list or a single object, in bytes. The longest that are
/// requested, 2,500 events, have a kilobyte or two each.
pub const LISTS: usize = 8 << 20;
/// The maximum size of a list of ids, in bytes: 500 ids of 60 bytes each, with room to spare.
const IDS: usize = 256 << 10;
/// The maximum size of a message, in bytes as Gmail writes it.
pub const MESSAGES: usize = 64 << 20;
/// The maximum size of an attachment, in bytes as Gmail writes it: Base64 of the 50 MB
/// that it accepts.
pub const FILES: usize = 72 << 20;

/// The header field that marks a response of ours as incomplete.
const FAILED: &str = "daysheet-failed";

/// The buffer between the generated client and this module, in bytes.
const BUFFER: usize = 64 * 1024;

/// Opens the connections of a generated client.
#[derive(Debug, Clone)]
pub struct LoopbackConnector(UpstreamShare);

/// Returns the client for a generated hub; its long responses count against `share`.
pub fn client(share: UpstreamShare) -> Client<LoopbackConnector> {
    Legacy::builder(TokioExecutor::new()).build(LoopbackConnector(share))
}

words! {
    /// Why there is no whole answer.
    pub enum TransferFailure {
        /// No connection was made.
        Unreached = "unreached",
        /// It broke.
        Broken = "broken",
        /// It is longer than is read.
        Long = "long",
    }
}

impl TransferFailure {
    /// Reads the mark of a failed connection from response headers.
    pub fn from_headers(headers: &HeaderMap) -> Option<Self> {
        Self::from_word(headers.get(FAILED)?.to_str().ok()?)
    }

    /// Returns the mark as an error.
    pub fn error(self) -> Error {
        match self {
            Self::Unreached => Error::new(ErrorKind::Network, "Google could not be reached"),
            Self::Broken => Error::new(ErrorKind::Network, "the connection to Google broke"),
            Self::Long => Error::argument("Google's response is too long")
                .next("ask for fewer items, or for body=headers"),
        }
    }
}

impl From<&FetchFailure> for TransferFailure {
    fn from(failure: &FetchFailure) -> Self {
        match failure {
            FetchFailure::Unreached(_) => Self::Unreached,
            FetchFailure::Broken(_) => Self::Broken,
            FetchFailure::Long => Self::Long,
        }
    }
}

/// Returns the maximum size of the response to a request, in bytes.
fn most(uri: &Uri) -> usize {
    let path = uri.path();
    // Lists of messages and threads have only ids; the path of a single one continues with its id.
    if path.ends_with("/me/messages") || path.ends_with("/me/threads") { IDS } else { LISTS }
}

/// Forwards a request of the generated client to its real destination.
async fn pass(
    at: Uri,
    request: Request<Incoming>,
    share: UpstreamShare,
) -> Result<Response<ResponseBody>, Infallible> {
    let most = most(request.uri());
    let answered = match whole(at, request).await {
        Some(request) => net::exchange(request, most, Some(&share)).await,
        None => Err(FetchFailure::Broken("the request is missing".to_owned())),
    };
    Ok(match answered {
        Ok(net::WholeResponse { answer, turn }) => {
            let (mut parts, bytes) = answer.into_parts();
            // These fields describe the connection to Google; the body is complete by now.
            for header in [CONNECTION, TRANSFER_ENCODING, CONTENT_LENGTH] {
                parts.headers.remove(header);
            }
            // Only this module sets the mark, never a service.
            parts.headers.remove(FAILED);
            parts.version = hyper::Version::HTTP_11;
            Response::from_parts(parts, ResponseBody::new(bytes, turn))
        }
        Err(failure) => {
            tracing::debug!(?failure, "an incomplete response from Google");
            let mut answer = Response::new(ResponseBody::new(Vec::new(), None));
            // For an error, the generated client hands the headers to our delegate, which reads the
            // mark.
            *answer.status_mut() = StatusCode::BAD_GATEWAY;
            let word = HeaderValue::from_static(TransferFailure::from(&failure).word());
            answer.headers_mut().insert(FAILED, word);
            answer
        }
    })
}

/// Reads a request completely, and addresses it to `at`.
async fn whole(at: Uri, request: Request<Incoming>) -> Option<Request<Vec<u8>>> {
    let (mut parts, body) = request.into_parts();
    let mut uri = at.into_parts();
    uri.path_and_query = parts.uri.path_and_query().cloned();
    parts.uri = Uri::from_parts(uri).ok()?;
    // The client that sends the request sets these for its own connection.
    for header in [HOST, CONNECTION, TRANSFER_ENCODING, CONTENT_LENGTH] {
        parts.headers.remove(header);
    }
    let body = body.collect().await.ok()?.to_bytes();
    Some(Request::from_parts(parts, body.to_vec()))
}

impl Service<Uri> for LoopbackConnector {
    type Response = TokioIo<ClientEnd>;
    type Error = io::Error;
    type Future = Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, at: Uri) -> Self::Future {
        let (near, far) = tokio::io::duplex(BUFFER);
        let share = self.0.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| pass(at.clone(), request, share.clone()));
            // It ends when the generated client drops its end.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(far), service)
                .await;
        });
        ready(Ok(TokioIo::new(ClientEnd(near))))
    }
}

/// The end of the connection that the generated client holds.
#[derive(Debug)]
pub struct ClientEnd(DuplexStream);

impl Connection for ClientEnd {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for ClientEnd {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for ClientEnd {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// A response body, which keeps the turn of a long response until it has been passed on.
#[derive(Debug)]
struct ResponseBody {
    bytes: Full<Bytes>,
    _turn: Option<ResponsePermit>,
}

impl ResponseBody {
    fn new(bytes: Vec<u8>, turn: Option<ResponsePermit>) -> Self {
        Self { bytes: Full::new(Bytes::from(bytes)), _turn: turn }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.bytes).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.bytes.size_hint()
    }
}
