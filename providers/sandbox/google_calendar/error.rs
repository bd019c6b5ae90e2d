//! Google Calendar's error bodies: the older of Google's two JSON shapes,
//! without a status word.

use hyper::StatusCode;
use serde_json::json;

use crate::google::error::merge;
use crate::http::HttpResponse;

/// An error with the domain and the word that clients go by. `place` is where the
/// fault lies, a parameter or a header, and its name.
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

/// Makes the refusals: each with what its message is made of, its status, domain, word
/// and message, and where the fault lies.
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
    /// 400: a value that is no good.
    invalid(message): BAD_REQUEST, "global", "invalid", "{message}";
    /// 400 for a value that a field cannot have.
    bad_value(field): BAD_REQUEST, "global", "invalid", "Invalid value for: {field}";
    /// 400: a value of a parameter that is no good.
    invalid_parameter(name, message): BAD_REQUEST, "global", "invalidParameter", "{message}",
        "parameter" name;
    /// 400: something that has to be there is not.
    missing(message): BAD_REQUEST, "global", "required", "{message}";
    /// 400: what is not done, with the reason in words.
    bad(message): BAD_REQUEST, "global", "badRequest", "{message}";
    /// 400: a body that is no JSON object.
    parse_error(): BAD_REQUEST, "global", "parseError", "Parse Error";
    /// 400: a rule of calendars is broken.
    rule_broken(reason, message): BAD_REQUEST, "calendar", reason, "{message}";
    /// 400: the end is before the start.
    empty_range(): BAD_REQUEST, "calendar", "timeRangeEmpty",
        "The specified time range is empty.", "parameter" "timeMax";
    /// 403: the calendar may not be used like that.
    access(needed): FORBIDDEN, "calendar", "requiredAccessLevel",
        "You need to have {needed} access to this calendar.";
    /// 403: only the organizer may change that.
    not_organizer(): FORBIDDEN, "calendar", "forbiddenForNonOrganizer",
        "Shared properties can only be changed by the organizer of the event.";
    /// 404: no such calendar or event.
    not_found(): NOT_FOUND, "global", "notFound", "Not Found";
    /// 409: the id is taken.
    duplicate(): CONFLICT, "global", "duplicate", "The requested identifier already exists.";
    /// 410: it was deleted before.
    already_deleted(): GONE, "global", "deleted", "Resource has been deleted";
    /// 410: the sync token is too old.
    sync_over(): GONE, "calendar", "fullSyncRequired",
        "Sync token is no longer valid, a full sync is required.", "parameter" "syncToken";
    /// 412: it has changed since the client read it.
    condition(): PRECONDITION_FAILED, "global", "conditionNotMet", "Precondition Failed",
        "header" "If-Match";
}
