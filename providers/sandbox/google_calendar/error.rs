//! Google Calendar's error bodies: the older of Google's two JSON shapes,
//! without a status word.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use crate::http::Response;

/// Where the fault lies: `parameter` or `header`, and its name.
type ErrorLocation<'a> = Option<(&'a str, &'a str)>;

/// An error with the domain and the word that clients go by.
fn error(
    code: StatusCode,
    domain: &str,
    reason: &str,
    message: &str,
    place: ErrorLocation<'_>,
) -> Response {
    let mut entry = Map::new();
    let mut put = |key: &str, value: &str| entry.insert(key.to_owned(), value.into());
    put("domain", domain);
    put("reason", reason);
    put("message", message);
    if let Some((kind, name)) = place {
        put("locationType", kind);
        put("location", name);
    }
    let entry = Value::Object(entry);
    let body = json!({
        "error": { "errors": [entry], "code": code.as_u16(), "message": message },
    });
    Response::json(code, serde_json::to_vec_pretty(&body).unwrap_or_default())
}

/// 400: a value that is no good.
pub(super) fn invalid(message: &str) -> Response {
    error(StatusCode::BAD_REQUEST, "global", "invalid", message, None)
}

/// 400: a value of a parameter that is no good.
pub(super) fn invalid_parameter(name: &str, message: &str) -> Response {
    let place = Some(("parameter", name));
    let (code, reason) = (StatusCode::BAD_REQUEST, "invalidParameter");
    error(code, "global", reason, message, place)
}

/// 400: something that has to be there is not.
pub(super) fn required(message: &str) -> Response {
    error(StatusCode::BAD_REQUEST, "global", "required", message, None)
}

/// 400: what is not even understood.
pub(super) fn bad_request() -> Response {
    bad("Bad Request")
}

/// 400: what is not done, with the reason in words.
pub(super) fn bad(message: &str) -> Response {
    error(StatusCode::BAD_REQUEST, "global", "badRequest", message, None)
}

/// 400: a body that is no JSON object.
pub(super) fn unparsed() -> Response {
    let (code, message) = (StatusCode::BAD_REQUEST, "Parse Error");
    error(code, "global", "parseError", message, None)
}

/// 400: a rule of calendars is broken.
pub(super) fn rule_broken(reason: &str, message: &str) -> Response {
    error(StatusCode::BAD_REQUEST, "calendar", reason, message, None)
}

/// 400: the end is before the start.
pub(super) fn empty_range() -> Response {
    let message = "The specified time range is empty.";
    let place = Some(("parameter", "timeMax"));
    let (code, reason) = (StatusCode::BAD_REQUEST, "timeRangeEmpty");
    error(code, "calendar", reason, message, place)
}

/// 403: the calendar may not be used like that.
pub(super) fn access(needed: &str) -> Response {
    let message = format!("You need to have {needed} access to this calendar.");
    let (code, reason) = (StatusCode::FORBIDDEN, "requiredAccessLevel");
    error(code, "calendar", reason, &message, None)
}

/// 403: only the organizer may change that.
pub(super) fn not_organizer() -> Response {
    let message = "Shared properties can only be changed by the organizer of the event.";
    let (code, reason) = (StatusCode::FORBIDDEN, "forbiddenForNonOrganizer");
    error(code, "calendar", reason, message, None)
}

/// 404: no such calendar or event.
pub(super) fn not_found() -> Response {
    error(StatusCode::NOT_FOUND, "global", "notFound", "Not Found", None)
}

/// 409: the id is taken.
pub(super) fn duplicate() -> Response {
    let message = "The requested identifier already exists.";
    error(StatusCode::CONFLICT, "global", "duplicate", message, None)
}

/// 410: it was deleted before.
pub(super) fn deleted() -> Response {
    let message = "Resource has been deleted";
    error(StatusCode::GONE, "global", "deleted", message, None)
}

/// 410: the sync token is too old.
pub(super) fn sync_over() -> Response {
    let message = "Sync token is no longer valid, a full sync is required.";
    let place = Some(("parameter", "syncToken"));
    let (code, reason) = (StatusCode::GONE, "fullSyncRequired");
    error(code, "calendar", reason, message, place)
}

/// 412: it has changed since the client read it.
pub(super) fn condition() -> Response {
    let (code, message) = (StatusCode::PRECONDITION_FAILED, "Precondition Failed");
    let place = Some(("header", "If-Match"));
    error(code, "global", "conditionNotMet", message, place)
}

/// 400 for a value that a field cannot have.
pub(super) fn bad_value(field: &str) -> Response {
    invalid(&format!("Invalid value for: {field}"))
}
