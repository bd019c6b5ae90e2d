//! Uploads to Gmail: drafts too large for JSON, sent as bytes in pieces.
//!
//! A session keeps the request that opened it. With the last piece, that request is carried out.

use hyper::{Method, StatusCode};

use super::resources::DRAFT;
use super::sessions::UploadSession;
use super::{COMPOSE, GmailCall, handle, write};
use crate::auth::google::bearer;
use crate::auth::random::random;
use crate::google::error;
use crate::http::{HttpRequest, HttpResponse};
use crate::routes::routes;
use crate::state::RequestState;

/// The maximum size of a message, in bytes.
const MAX_MESSAGE: usize = 36_700_160;

/// The unit of pieces: all but the last one are a multiple of it.
const UNIT: usize = 256 << 10;

/// The media type of uploads.
const MESSAGE_TYPE: &str = "message/rfc822";

routes! { GmailCall below "/upload/gmail/v1/users/me" {
    "POST" ["drafts"] => write(COMPOSE, &DRAFT, &DRAFT, |context| context.make_draft()),
    "PUT" ["drafts", id] => {
        write(COMPOSE, &DRAFT, &DRAFT, move |context| context.update_draft(id))
    },
}}

/// Answers requests below `/upload/gmail`.
pub(crate) fn answer(state: &RequestState, request: HttpRequest) -> HttpResponse {
    let answered = match request.param("upload_id").map(str::to_owned) {
        Some(id) => piece(state, &request, &id),
        None => open(state, request),
    };
    answered.unwrap_or_else(|refused| refused)
}

/// Opens a session for the pieces of a message.
fn open(state: &RequestState, request: HttpRequest) -> Result<HttpResponse, HttpResponse> {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    let ["upload", "gmail", "v1", "users", _, rest @ ..] = path.as_slice() else {
        return Err(error::no_method());
    };
    route(request.method.as_str(), rest).ok_or_else(error::no_method)?;
    if request.param("uploadType") != Some("resumable") {
        return Err(error::invalid("Invalid upload request"));
    }
    bearer(state, &request)?;
    if let Some(kind) = request.header("x-upload-content-type") {
        check_message_type(kind)?;
    }
    let length = request.header("x-upload-content-length");
    let length: Option<usize> = length.and_then(|text| text.parse().ok());
    // Refused by the declared length, before any piece is sent.
    if length.is_some_and(|length| length > MAX_MESSAGE) {
        return Err(error::too_large(&MAX_MESSAGE.to_string()));
    }
    let failed = |_| error::failed_precondition("No upload id");
    let id = random("ABPtcP", 24).map_err(failed)?;
    let (base, path) = (request.base(), request.path.join("/"));
    let location = format!("{base}/{path}?uploadType=resumable&upload_id={id}");
    state.uploads.open(id.clone(), UploadSession { request, data: Vec::new() });
    Ok(HttpResponse::empty(StatusCode::OK)
        .with("location", location)
        .with("x-guploader-uploadid", id))
}

/// Accepts a piece, or reports the progress of the upload.
fn piece(
    state: &RequestState,
    request: &HttpRequest,
    id: &str,
) -> Result<HttpResponse, HttpResponse> {
    if request.method != Method::PUT {
        return Err(error::no_method());
    }
    let session = state.uploads.remove(id);
    let mut session = session.ok_or_else(error::not_found)?;
    let range = request.header("content-range").unwrap_or_default();
    let size = session.data.len();
    let taken = span(range, size, request.body.len());
    // A refused piece does not end the session.
    let Some((skip, total)) = taken else {
        state.uploads.open(id.to_owned(), session);
        return Err(error::invalid("Failed to parse Content-Range header."));
    };
    session.data.extend_from_slice(request.body.get(skip..).unwrap_or_default());
    let whole = total.is_some_and(|total| session.data.len() >= total);
    if session.data.len() > MAX_MESSAGE {
        return Err(error::too_large(&MAX_MESSAGE.to_string()));
    }
    if !whole {
        // An empty body asks for the progress, so only actual pieces have to be whole units.
        let far = session.data.len();
        let odd = !request.body.is_empty() && far % UNIT != 0;
        if odd {
            session.data.truncate(size);
        }
        state.uploads.open(id.to_owned(), session);
        if odd {
            return Err(error::invalid("Chunks other than the last are multiples of 256 KiB."));
        }
        // Google's protocol uses 308 for an incomplete upload, without a location.
        let answer = HttpResponse::empty(StatusCode::PERMANENT_REDIRECT);
        return Ok(match far.checked_sub(1) {
            Some(last) => answer.with("range", format!("bytes=0-{last}")),
            None => answer,
        });
    }
    // The request that opened the session is carried out, with its own token.
    let UploadSession { request, data } = session;
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    let ["upload", "gmail", "v1", "users", user, rest @ ..] = path.as_slice() else {
        return Err(error::no_method());
    };
    let routed = route(request.method.as_str(), rest).ok_or_else(error::no_method)?;
    handle(state, &request, user, &routed, Some(data))
}

/// Returns the number of bytes of a piece that are already present, and the total length if it is
/// known. `None` for a range that does not continue the upload.
fn span(range: &str, there: usize, length: usize) -> Option<(usize, Option<usize>)> {
    if range.is_empty() {
        // No range: the rest in one piece.
        return Some((0, Some(there + length)));
    }
    let (span, total) = range.strip_prefix("bytes ")?.split_once('/')?;
    let total: Option<usize> = match total {
        "*" => None,
        total => Some(total.parse().ok()?),
    };
    // A query for the progress has no body.
    if span == "*" {
        return (length == 0).then_some((0, total));
    }
    let (first, last) = span.split_once('-')?;
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    // A client whose last answer was lost sends bytes again that are already present.
    let skip = there.checked_sub(first)?;
    let fits = last.checked_sub(first)? + 1 == length;
    let inside = total.is_none_or(|total| last < total);
    (fits && inside).then_some((skip, total))
}

/// Refuses media types other than a message.
fn check_message_type(kind: &str) -> Result<(), HttpResponse> {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case(MESSAGE_TYPE) {
        Ok(())
    } else {
        Err(error::invalid(&format!(
            "Media type '{kind}' is not supported. Valid media types: [{MESSAGE_TYPE}]"
        )))
    }
}
