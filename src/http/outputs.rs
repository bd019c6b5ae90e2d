//! Shortened answers in full, over plain HTTP: `/outputs/{hash}`.
//!
//! The same as the tool `output_read` and the resource, for programs, in the format that the
//! request prefers. A hash that is another's, unknown or malformed is not found, in the same
//! words.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::negotiate::{Form, STC, choose};
use crate::app::App;
use crate::encode::Format;
use crate::encode::stc::Version;
use crate::error::{Error, Kind, Result};
use crate::outputs::parse_id;
use crate::server::Watch;
use crate::tools;

/// The header of the size of STC, as a part of the size of the same JSON.
const RATIO: &str = "x-stc-ratio";
/// The header of the version of STC.
const VERSION: &str = "x-stc-version";

/// Returns the output with this hash of the person whose app it is.
pub async fn read(app: &App, watch: &dyn Watch, hash: &str, headers: &HeaderMap) -> Response {
    let mut response = respond(app, watch, hash, headers).await.unwrap_or_else(refusal);
    // Whatever the response is, another request may have another.
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
    response
}

async fn respond(
    app: &App,
    watch: &dyn Watch,
    hash: &str,
    headers: &HeaderMap,
) -> Result<Response> {
    let _permit = watch.admit().await?;
    let Some(form) = choose(headers) else {
        return Ok(unacceptable());
    };
    let pipeline = &app.pipeline;
    let offered = tools::find("output_read")
        .is_some_and(|tool| tool.is_offered(app.config.access, &app.config.tools));
    let Some(hash) = parse_id(hash).filter(|_| offered) else {
        return Ok(not_found());
    };
    if !pipeline.has_output(hash).await? {
        return Ok(not_found());
    }
    let tag = tag(hash, form);
    if matches(headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response());
    }
    let head = [
        (CONTENT_TYPE, form.content_type().to_owned()),
        (ETAG, tag),
        // Nobody else may keep mail, and the person asks whether they may still read it.
        (CACHE_CONTROL, "private, no-cache".to_owned()),
        (X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    if matches!(form, Form::Text | Form::Toon) {
        return Ok((head, pipeline.output_text(hash).await?.to_string()).into_response());
    }
    let Some(document) = pipeline.output_document(hash).await? else {
        return Ok(unacceptable());
    };
    let json = document.encode(Format::Json);
    if form == Form::Json {
        return Ok((head, json).into_response());
    }
    let stc = document.encode(Format::Stc(Version::One));
    let ratio = format!("{:.2}", stc.len() as f64 / json.len().max(1) as f64);
    let stc_head = [(RATIO, ratio), (VERSION, Version::One.number().to_string())];
    let mut response = (head, stc_head, stc).into_response();
    if form == Form::Coded {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(STC));
    }
    Ok(response)
}

/// Returns the tag of one form: forms differ, so one tag for all would be wrong.
fn tag(hash: &str, form: Form) -> String {
    match form {
        Form::Text | Form::Toon => format!("\"{hash}\""),
        Form::Json => format!("\"{hash}-json\""),
        Form::Stc | Form::Coded => format!("\"{hash}-stc\""),
    }
}

/// Returns true if the reader has the form with this tag.
fn matches(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

fn not_found() -> Response {
    let what = "there is no such output, or it expired: use the id from the notes of an answer\n";
    (StatusCode::NOT_FOUND, what).into_response()
}

fn unacceptable() -> Response {
    let what = "available are text/plain and text/toon and, unless the call changed something, \
                application/json, application/stc+json and the encoding stc\n";
    (StatusCode::NOT_ACCEPTABLE, what).into_response()
}

/// Returns the response for an error.
pub(super) fn refusal(error: Error) -> Response {
    let status = match error.kind() {
        Kind::NotFound => return not_found(),
        Kind::Conflict => StatusCode::GONE,
        Kind::RateLimited(_) => StatusCode::TOO_MANY_REQUESTS,
        Kind::Store => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_GATEWAY,
    };
    let mut response = (status, format!("{error}\n")).into_response();
    if let Kind::RateLimited(Some(wait)) = error.kind() {
        response.headers_mut().insert(RETRY_AFTER, wait.as_secs().into());
    }
    response
}
