//! The rest of a request's body when its response is ready, as with a request that was refused by
//! its headers alone.
//!
//! hyper closes a connection whose request has not been read to its end, without telling the
//! client, which may already be sending the next request on it. A short rest is therefore read,
//! and a long or slow one closes the connection with `connection: close` (RFC 9112, 9.6).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderValue};

/// The longest rest of a body that is read, in bytes.
const MAX_LEN: usize = 64 << 10;
/// How long the rest of a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(1);

/// The body of a request, of which each clone reads what the others have left.
#[derive(Clone)]
pub struct SharedBody(Arc<Mutex<Incoming>>);

impl SharedBody {
    /// Shares a body.
    pub fn new(body: Incoming) -> Self {
        Self(Arc::new(Mutex::new(body)))
    }

    /// Reads the rest of the body, so that the connection of an HTTP/1.1 request can take another
    /// one. If the rest is too long or too slow, the response says that the connection ends.
    pub async fn finish(mut self, response: &mut Response) {
        let rest = async {
            let mut length = 0;
            while length <= MAX_LEN {
                match self.frame().await {
                    Some(Ok(frame)) => length += frame.data_ref().map_or(0, Bytes::len),
                    Some(Err(_)) => return false,
                    None => return true,
                }
            }
            false
        };
        if !tokio::time::timeout(PATIENCE, rest).await.unwrap_or(false) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

impl Body for SharedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let mut body = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut *body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}
