//! Values that live as long as a response: permits and counts of requests in progress.

use axum::body::Body;
use axum::response::Response;
use http_body_util::BodyExt;

/// Keeps a value until the response has been sent or dropped.
pub(super) fn keep_until_sent(response: Response, kept: impl Send + 'static) -> Response {
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _ = &kept;
            frame
        }))
    })
}
