//! The unread rest of a request's body when its response is ready, for example after a refusal by
//! header fields alone.
//!
//! hyper closes a connection whose request was not read to its end, without notice to the client,
//! which may already be sending the next request. A short rest is therefore read, and a long or
//! slow one closes the connection with `connection: close` (RFC 9112, 9.6).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderValue};

/// The maximum rest of a body that is read, in bytes.
const MAX_LEN: usize = 64 << 10;
/// The time limit for the rest of a body.
const PATIENCE: Duration = Duration::from_secs(1);

/// The body of a request. Clones share it, and each reads on from the last position.
#[derive(Clone)]
pub struct SharedBody(Arc<Mutex<Incoming>>);

impl SharedBody {
    /// Shares a body.
    pub fn new(body: Incoming) -> Self {
        Self(Arc::new(Mutex::new(body)))
    }

    /// Reads the rest of the body, so that an HTTP/1.1 connection can take another request. If the
    /// rest is too long or too slow, the response announces the end of the connection.
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
