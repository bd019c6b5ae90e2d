//! Google Calendar's error bodies: the older of Google's two JSON shapes, without a canonical
//! status.

use hyper::StatusCode;
use serde_json::json;

use crate::google::error::merge;
use crate::http::HttpResponse;

/// Returns an error with the domain and reason that clients read. `place` is the faulty parameter
/// or header: its kind and name.
fn error(
    code: StatusCode,
    domain: &str,
    reason: &str,
    message: &str,
    place: Option<(&str, &str)>,
) -> HttpResponse {
    let mut entry = json!({ "domain": domain, "reason": reason, "message": message });
    if let Some((kind, name)) = place {
        merge(&mut entry, json!({ "locationType": kind, "location": name }));
    }
    let body = json!({
        "error": { "errors": [entry], "code": code.as_u16(), "message": message },
    });
    HttpResponse::json(code, serde_json::to_vec_pretty(&body).unwrap_or_default())
}

/// Defines refusals: for each its parameters, HTTP status, domain, reason, message, and the faulty
/// parameter or header.
macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident($($part:ident),*):
        $status:ident, $domain:literal, $reason:expr, $message:literal
        $(, $kind:literal $place:expr)?;
    )*) => {
        $($(#[$doc])* pub(super) fn $name($($part: &str),*) -> HttpResponse {
            let place: &[(&str, &str)] = &[$(($kind, $place))?];
            error(StatusCode::$status, $domain, $reason, &format!($message), place.first().copied())
        })*
    };
}

refusals! {
    /// 400: invalid value.
    invalid(message): BAD_REQUEST, "global", "invalid", "{message}";
    /// 400: invalid value of a field.
    bad_value(field): BAD_REQUEST, "global", "invalid", "Invalid value for: {field}";
    /// 400: invalid value of a parameter.
    invalid_parameter(name, message): BAD_REQUEST, "global", "invalidParameter", "{message}",
        "parameter" name;
    /// 400: missing value.
    missing(message): BAD_REQUEST, "global", "required", "{message}";
    /// 400: unsupported request, with the reason in words.
    bad(message): BAD_REQUEST, "global", "badRequest", "{message}";
    /// 400: a body that is not a JSON object.
    parse_error(): BAD_REQUEST, "global", "parseError", "Parse Error";
    /// 400: violated rule for calendars.
    rule_broken(reason, message): BAD_REQUEST, "calendar", reason, "{message}";
    /// 400: the end precedes the start.
    empty_range(): BAD_REQUEST, "calendar", "timeRangeEmpty",
        "The specified time range is empty.", "parameter" "timeMax";
    /// 403: insufficient access to the calendar.
    access(needed): FORBIDDEN, "calendar", "requiredAccessLevel",
        "You need to have {needed} access to this calendar.";
    /// 403: a change that only the organizer may make.
    not_organizer(): FORBIDDEN, "calendar", "forbiddenForNonOrganizer",
        "Shared properties can only be changed by the organizer of the event.";
    /// 404: unknown calendar or event.
    not_found(): NOT_FOUND, "global", "notFound", "Not Found";
    /// 409: the id is taken.
    duplicate(): CONFLICT, "global", "duplicate", "The requested identifier already exists.";
    /// 410: already deleted.
    already_deleted(): GONE, "global", "deleted", "Resource has been deleted";
    /// 410: expired sync token.
    sync_over(): GONE, "calendar", "fullSyncRequired",
        "Sync token is no longer valid, a full sync is required.", "parameter" "syncToken";
    /// 412: changed since the client read it.
    condition(): PRECONDITION_FAILED, "global", "conditionNotMet", "Precondition Failed",
        "header" "If-Match";
}
