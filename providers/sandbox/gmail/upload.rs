//! Uploads to Gmail: letters as bytes rather than as text in JSON; in one
//! request (`media`), beside their JSON (`multipart`), or in pieces
//! (`resumable`).
//!
//! A letter that is whole goes to the same methods as one in JSON
//! (`write.rs`). A session that takes pieces remembers the request that
//! opened it, and is carried out as that one with the last piece.

use hyper::body::Bytes;
use hyper::{Method, StatusCode};

use super::sessions::Session;
use super::write::{self, Call};
use crate::auth::google::bearer;
use crate::auth::tokens::random;
use crate::google::error;
use crate::http::{Answer, Request};
use crate::state::State;
use crate::store::mime::{self, Part};

/// The largest letter that is taken.
const LARGEST: usize = 36_700_160;

/// Pieces but the last are of a multiple of this.
const UNIT: usize = 256 << 10;

/// What is uploaded.
const LETTER: &str = "message/rfc822";

/// Answers what comes below `/upload/gmail`.
pub(crate) fn answer(state: &State, request: &Request, path: &[&str]) -> Answer {
    carry_out(state, request, path).unwrap_or_else(|refused| refused)
}

fn carry_out(state: &State, request: &Request, path: &[&str]) -> Result<Answer, Answer> {
    if let Some(id) = request.param("upload_id") {
        return piece(state, request, id);
    }
    let ["v1", "users", user, rest @ ..] = path else {
        return Err(error::no_method());
    };
    let call = Call::of(&request.method, rest).filter(Call::takes_upload);
    let call = call.ok_or_else(error::no_method)?;
    match request.param("uploadType") {
        Some("media") => {
            is_letter(request.header("content-type").unwrap_or_default())?;
            let bare = with_body(request, Bytes::new());
            write::carry_out(state, &bare, user, &call, Some(request.body.to_vec()))
        }
        Some("multipart") => {
            let (metadata, letter) = parts(request)?;
            let bare = with_body(request, metadata.into());
            write::carry_out(state, &bare, user, &call, Some(letter))
        }
        Some("resumable") => open(state, request),
        _ => Err(error::invalid("Invalid upload request")),
    }
}

/// Opens a session for the pieces of a letter.
fn open(state: &State, request: &Request) -> Result<Answer, Answer> {
    bearer(state, request)?;
    if let Some(kind) = request.header("x-upload-content-type") {
        is_letter(kind)?;
    }
    let length = request.header("x-upload-content-length");
    let length: Option<usize> = length.and_then(|text| text.parse().ok());
    if length.is_some_and(|length| length > LARGEST) {
        return Err(error::too_large(LARGEST));
    }
    let failed = |_| error::failed_precondition("No upload id");
    let id = random("ABPtcP", 24).map_err(failed)?;
    let host = request.header("host").unwrap_or("127.0.0.1");
    let path = format!("/{}", request.path.join("/"));
    let location = format!("http://{host}{path}?uploadType=resumable&upload_id={id}");
    let session = Session {
        method: request.method.clone(),
        path,
        query: request.query.clone(),
        headers: request.headers.clone(),
        metadata: request.body.clone(),
        data: Vec::new(),
    };
    state.uploads.open(id.clone(), session);
    Ok(Answer::empty(StatusCode::OK).with("location", location).with("x-guploader-uploadid", id))
}

/// Takes a piece, or tells how far the upload is.
fn piece(state: &State, request: &Request, id: &str) -> Result<Answer, Answer> {
    // Google's own clients use either.
    if request.method != Method::PUT && request.method != Method::POST {
        return Err(error::no_method());
    }
    let session = state.uploads.take(id);
    let mut session = session.ok_or_else(error::not_found)?;
    let range = request.header("content-range").unwrap_or_default();
    let size = session.data.len();
    let taken = span(range, size, request.body.len());
    let Some((skip, total)) = taken else {
        state.uploads.open(id.to_owned(), session);
        return Err(error::invalid("Failed to parse Content-Range header."));
    };
    session.data.extend_from_slice(request.body.get(skip..).unwrap_or_default());
    let whole = total.is_some_and(|total| session.data.len() >= total);
    if session.data.len() > LARGEST {
        return Err(error::too_large(LARGEST));
    }
    if !whole {
        let far = session.data.len();
        let odd = !request.body.is_empty() && far % UNIT != 0;
        if odd {
            session.data.truncate(size);
        }
        state.uploads.open(id.to_owned(), session);
        if odd {
            return Err(error::invalid("Chunks other than the last are multiples of 256 KiB."));
        }
        let answer = Answer::empty(StatusCode::PERMANENT_REDIRECT);
        return Ok(match far.checked_sub(1) {
            Some(last) => answer.with("range", format!("bytes=0-{last}")),
            None => answer,
        });
    }
    let original = Request {
        method: session.method,
        path: Vec::new(),
        query: session.query,
        headers: session.headers,
        body: session.metadata,
    };
    let path: Vec<&str> = session.path.split('/').skip(1).collect();
    let ["upload", "gmail", "v1", "users", user, rest @ ..] = path.as_slice() else {
        return Err(error::no_method());
    };
    let call = Call::of(&original.method, rest).ok_or_else(error::no_method)?;
    write::carry_out(state, &original, user, &call, Some(session.data))
}

/// How much of a piece is there already, and how long the whole is where that
/// is known; nothing for a range that does not go on where the upload is.
fn span(range: &str, there: usize, length: usize) -> Option<(usize, Option<usize>)> {
    if range.is_empty() {
        // All that is left, in one piece.
        return Some((0, Some(there + length)));
    }
    let (span, total) = range.strip_prefix("bytes ")?.split_once('/')?;
    let total: Option<usize> = match total {
        "*" => None,
        total => Some(total.parse().ok()?),
    };
    if span == "*" {
        return (length == 0).then_some((0, total));
    }
    let (first, last) = span.split_once('-')?;
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    let skip = there.checked_sub(first)?;
    let fits = last.checked_sub(first)? + 1 == length;
    let inside = total.is_none_or(|total| last < total);
    (fits && inside).then_some((skip, total))
}

/// The JSON and the letter of a body of two parts.
fn parts(request: &Request) -> Result<(Vec<u8>, Vec<u8>), Answer> {
    let kind = request.header("content-type").unwrap_or_default();
    let mut whole = format!("Content-Type: {kind}\r\n\r\n").into_bytes();
    whole.extend_from_slice(&request.body);
    let body = Part::of_letter(&whole);
    let [json, letter] = body.parts.as_slice() else {
        return Err(error::invalid("Failed to parse multipart body: two parts are wanted."));
    };
    if json.mime_type != "application/json" {
        return Err(error::invalid("The first part of a multipart upload is application/json."));
    }
    is_letter(&letter.mime_type)?;
    let metadata = mime::slice(&whole, &json.body).to_vec();
    let letter = match letter.parts.first() {
        // The bytes as they are, however they are encoded.
        Some(_) => mime::slice(&whole, &letter.body).to_vec(),
        None => letter.decoded(&whole).into_owned(),
    };
    Ok((metadata, letter))
}

/// Refuses what is no letter by its media type.
fn is_letter(kind: &str) -> Result<(), Answer> {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    match kind.eq_ignore_ascii_case(LETTER) {
        true => Ok(()),
        false => Err(error::invalid(&format!(
            "Media type '{kind}' is not supported. Valid media types: [{LETTER}]"
        ))),
    }
}

/// The same request with another body.
fn with_body(request: &Request, body: Bytes) -> Request {
    Request {
        method: request.method.clone(),
        path: request.path.clone(),
        query: request.query.clone(),
        headers: request.headers.clone(),
        body,
    }
}
