//! The full text of shortened answers, over plain HTTP: `/outputs/{hash}`.
//!
//! Programs read them here, in the format that the request prefers. The tool `output_read` and the
//! resource return the same content. Unknown, malformed and other people's hashes all get the same
//! response: not found.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    RETRY_AFTER, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use daysheet_core::encode::stc;
use daysheet_core::encode::{Document, Format, json};
use daysheet_core::error::{Error, ErrorKind, Result};
use futures_util::stream;

use super::lifetime::keep_until_sent;
use super::negotiate::{STC, TextForm, choose};
use crate::app::App;
use crate::outputs::parse_id;
use crate::server::RequestWatch;
use crate::tools;

/// The number of bytes of a response that are sent at once.
const PIECE: usize = 16 * 1024;
/// The number of seconds after which a failed request may be repeated.
const AGAIN: u64 = 5;

/// The header with the size of STC, as a fraction of the size of the same JSON.
const RATIO: &str = "x-stc-ratio";
/// The header with the version of STC.
const VERSION: &str = "x-stc-version";

/// Returns the output with this hash from the app's own person.
pub async fn read(
    app: &App,
    watch: &dyn RequestWatch,
    hash: &str,
    headers: &HeaderMap,
) -> Response {
    let response = async {
        // Reading an output counts as a call, although no tool runs.
        let _permit = watch.admit().await?;
        let response = respond(app, hash, headers).await?;
        // Slow readers hold a bounded amount of memory and no place for calls.
        let reading = watch.reads()?;
        Ok::<_, Error>(keep_until_sent(response, reading))
    };
    let mut response = response.await.unwrap_or_else(refusal);
    // The preference of the request decides even about errors.
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
    response
}

async fn respond(app: &App, hash: &str, headers: &HeaderMap) -> Result<Response> {
    let Some(form) = choose(headers) else {
        return Ok(unacceptable());
    };
    let pipeline = &app.pipeline;
    // If the settings disable the tool, they disable this route.
    let offered = tools::find("output_read")
        .is_some_and(|tool| tool.is_offered(app.config.access, &app.config.tools));
    let Some(hash) = parse_id(hash).filter(|_| offered) else {
        return Ok(not_found());
    };
    if !pipeline.has_output(hash).await? {
        return Ok(not_found());
    }
    let tag = tag(hash, form);
    // Only the person may cache mail, and must revalidate it, because access may be revoked.
    let cached = (CACHE_CONTROL, "private, no-cache".to_owned());
    if matches(headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [cached, (ETAG, tag)]).into_response());
    }
    let head = [(CONTENT_TYPE, form.content_type().to_owned()), (ETAG, tag), cached];
    if matches!(form, TextForm::Text | TextForm::Toon) {
        // Sent from its buffer, without a copy.
        let text = Arc::<[u8]>::from(pipeline.output_text(hash).await?);
        return Ok((head, whole(Bytes::from_owner(text))).into_response());
    }
    let Some(document) = pipeline.output_document(hash).await? else {
        return Ok(unacceptable());
    };
    if form == TextForm::Json {
        return Ok((head, in_pieces(rows(document))).into_response());
    }
    // The ratio is a header, so the text must be complete before it is sent.
    let text = Format::Stc.encode(&document);
    let json: usize = json::parts(document).map(|part| part.len()).sum();
    let ratio = format!("{:.2}", text.len() as f64 / json.max(1) as f64);
    let stc_head = [(RATIO, ratio), (VERSION, stc::VERSION.to_string())];
    let mut response = (head, stc_head, whole(text.into())).into_response();
    if form == TextForm::Coded {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(STC));
    }
    Ok(response)
}

/// Returns a document as JSON, whose rows are written on demand.
fn rows(document: Document) -> impl Iterator<Item = Bytes> + Send {
    let mut parts = json::parts(document);
    std::iter::from_fn(move || {
        let mut piece = String::new();
        while piece.len() < PIECE
            && let Some(part) = parts.next()
        {
            piece += &part;
        }
        (!piece.is_empty()).then(|| piece.into())
    })
}

/// Returns the length and the body of a complete text.
fn whole(mut all: Bytes) -> ([(HeaderName, HeaderValue); 1], Body) {
    let length = [(CONTENT_LENGTH, all.len().into())];
    let next = move || (!all.is_empty()).then(|| all.split_to(all.len().min(PIECE)));
    (length, in_pieces(std::iter::from_fn(next)))
}

/// Returns a body that is produced at its reader's speed, without blocking a thread. It ends once
/// the reader has received nearly all of it. A body in one piece would end immediately, while the
/// connection's buffer still holds it.
fn in_pieces(pieces: impl Iterator<Item = Bytes> + Send + 'static) -> Body {
    Body::from_stream(stream::iter(pieces.map(Ok::<_, Infallible>)))
}

/// Returns the entity tag of a form. The forms have different tags because their bytes differ.
fn tag(hash: &str, form: TextForm) -> String {
    match form {
        TextForm::Text | TextForm::Toon => format!("\"{hash}\""),
        TextForm::Json => format!("\"{hash}-json\""),
        TextForm::Stc | TextForm::Coded => format!("\"{hash}-stc\""),
    }
}

/// Returns true if the client already has the form with this tag.
fn matches(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    // `If-None-Match` uses the weak comparison (RFC 9110, 13.1.2).
    tags.any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

fn not_found() -> Response {
    let what =
        "this output does not exist or has expired: use the id from the notes of an answer\n";
    (StatusCode::NOT_FOUND, what).into_response()
}

fn unacceptable() -> Response {
    let what = "available types: text/plain, text/toon and, unless the call changed something, \
                application/json and application/stc+json, and the encoding stc\n";
    (StatusCode::NOT_ACCEPTABLE, what).into_response()
}

/// Returns the response for an error.
pub(super) fn refusal(error: Error) -> Response {
    let (status, wait) = match error.kind() {
        ErrorKind::NotFound => return not_found(),
        ErrorKind::Conflict => (StatusCode::GONE, None),
        ErrorKind::RateLimited(wait) => {
            (StatusCode::TOO_MANY_REQUESTS, Some(wait.map_or(AGAIN, |wait| wait.as_secs())))
        }
        ErrorKind::Store => (StatusCode::SERVICE_UNAVAILABLE, Some(AGAIN)),
        ErrorKind::Timeout => (StatusCode::GATEWAY_TIMEOUT, None),
        ErrorKind::Internal => (StatusCode::INTERNAL_SERVER_ERROR, None),
        _ => (StatusCode::BAD_GATEWAY, None),
    };
    let what = match error.kind() {
        // The error may contain the address of the database.
        ErrorKind::Store => {
            tracing::warn!(%error, "an output could not be read");
            "the server's database cannot be used now: repeat the request in a few seconds".into()
        }
        _ => error.to_string(),
    };
    let mut response = (status, format!("{what}\n")).into_response();
    if let Some(wait) = wait {
        response.headers_mut().insert(RETRY_AFTER, wait.into());
    }
    response
}
