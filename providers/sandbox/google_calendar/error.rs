//! Google Calendar's error bodies: the older of Google's two JSON shapes, without a canonical
//! status.

use hyper::StatusCode;
use serde_json::json;

use crate::http::HttpResponse;
use crate::json::merge;
use crate::refusals::refusals;

/// Returns an error with the domain and reason that clients read. `place` is the kind and name of
/// the faulty parameter or header, if there is one.
fn error(
    code: StatusCode,
    domain: &str,
    reason: &str,
    place: &[&str],
    message: String,
) -> HttpResponse {
    let mut entry = json!({ "domain": domain, "reason": reason, "message": message });
    if let [kind, name] = place {
        merge(&mut entry, json!({ "locationType": kind, "location": name }));
    }
    let body = json!({
        "error": { "errors": [entry], "code": code.as_u16(), "message": message },
    });
    HttpResponse::json(code, serde_json::to_vec_pretty(&body).unwrap_or_default())
}

// The words: domain, reason, and the faulty parameter or header.
refusals! { error => HttpResponse, &str;
    invalid(message): BAD_REQUEST, "global", "invalid", &[]; "{message}";
    bad_value(field): BAD_REQUEST, "global", "invalid", &[]; "Invalid value for: {field}";
    invalid_parameter(name, message): BAD_REQUEST, "global", "invalidParameter",
        &["parameter", name]; "{message}";
    missing(message): BAD_REQUEST, "global", "required", &[]; "{message}";
    bad(message): BAD_REQUEST, "global", "badRequest", &[]; "{message}";
    parse_error: BAD_REQUEST, "global", "parseError", &[]; "Parse Error";
    rule_broken(reason, message): BAD_REQUEST, "calendar", reason, &[]; "{message}";
    empty_range: BAD_REQUEST, "calendar", "timeRangeEmpty", &["parameter", "timeMax"];
        "The specified time range is empty.";
    access(needed): FORBIDDEN, "calendar", "requiredAccessLevel", &[];
        "You need to have {needed} access to this calendar.";
    not_organizer: FORBIDDEN, "calendar", "forbiddenForNonOrganizer", &[];
        "Shared properties can only be changed by the organizer of the event.";
    not_found: NOT_FOUND, "global", "notFound", &[]; "Not Found";
    duplicate: CONFLICT, "global", "duplicate", &[]; "The requested identifier already exists.";
    already_deleted: GONE, "global", "deleted", &[]; "Resource has been deleted";
    sync_over: GONE, "calendar", "fullSyncRequired", &["parameter", "syncToken"];
        "Sync token is no longer valid, a full sync is required.";
    condition: PRECONDITION_FAILED, "global", "conditionNotMet", &["header", "If-Match"];
        "Precondition Failed";
}
