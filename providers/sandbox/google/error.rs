//! Google's error bodies: one JSON shape for most APIs, and HTML pages.
//!
//! This file has the shapes and fixed texts. The code that reads a request decides which error to
//! return.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::faults::DrawnFault;
use crate::http::HttpResponse;
use crate::json::{merge, present};
use crate::refusals::refusals;

/// Returns an error in Google's JSON shape.
///
/// `reason` is the older word (`notFound`), `status` the canonical one (`NOT_FOUND`). Clients read
/// either.
fn error(code: StatusCode, status: &str, reason: &str, message: String) -> HttpResponse {
    detailed(code, status, &message, json!({ "reason": reason }), None)
}

/// Returns an error whose entry in `errors` has more than a reason.
fn detailed(
    code: StatusCode,
    status: &str,
    message: &str,
    entry: Value,
    details: Option<Value>,
) -> HttpResponse {
    let mut first = json!({ "message": message, "domain": "global" });
    merge(&mut first, entry);
    let error = present(json!({
        "code": code.as_u16(),
        "message": message,
        "errors": [first],
        "status": status,
        "details": details,
    }));
    let body = serde_json::to_vec_pretty(&json!({ "error": error })).unwrap_or_default();
    HttpResponse::json(code, body)
}

// The words: canonical status and reason.
refusals! { error => HttpResponse, &str;
    invalid(message): BAD_REQUEST, "INVALID_ARGUMENT", "invalidArgument"; "{message}";
    parse_error(message): BAD_REQUEST, "INVALID_ARGUMENT", "parseError"; "{message}";
    failed_precondition(message): BAD_REQUEST, "FAILED_PRECONDITION", "failedPrecondition";
        "{message}";
    forbidden(message): FORBIDDEN, "PERMISSION_DENIED", "forbidden"; "{message}";
    not_found: NOT_FOUND, "NOT_FOUND", "notFound"; "Requested entity was not found.";
    no_method: NOT_FOUND, "NOT_FOUND", "notFound"; "Method not found.";
    conflict(message): CONFLICT, "ABORTED", "aborted"; "{message}";
    too_large(most): PAYLOAD_TOO_LARGE, "INVALID_ARGUMENT", "uploadTooLarge";
        "Request payload size exceeds the limit: {most} bytes.";
    internal: INTERNAL_SERVER_ERROR, "INTERNAL", "backendError"; "Internal error encountered.";
    unavailable: SERVICE_UNAVAILABLE, "UNAVAILABLE", "backendError";
        "The service is currently unavailable.";
    overdue: GATEWAY_TIMEOUT, "DEADLINE_EXCEEDED", "backendError";
        "Deadline expired before operation could complete.";
}

/// 400: an unknown query parameter.
pub(super) fn unknown_name(name: &str) -> HttpResponse {
    let message = format!(
        "Invalid JSON payload received. Unknown name \"{name}\": Cannot bind query parameter. \
         Field '{name}' could not be found in request message."
    );
    bad_field("", &message)
}

/// 400: an unknown name in the body.
pub(super) fn unknown_field(at: &str, name: &str) -> HttpResponse {
    let place = match at {
        "" => String::new(),
        _ => format!(" at '{at}'"),
    };
    let message = format!(
        "Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field."
    );
    bad_field(at, &message)
}

/// 400: a query parameter of a wrong type.
pub(crate) fn invalid_value(field: &str, kind: &str, value: &str) -> HttpResponse {
    bad_field(field, &format!("Invalid value at '{field}' ({kind}), \"{value}\""))
}

/// 400 with the details that Google's front end adds for a field.
pub(super) fn bad_field(field: &str, message: &str) -> HttpResponse {
    let field = (!field.is_empty()).then_some(field);
    let violation = present(json!({ "field": field, "description": message }));
    detailed(
        StatusCode::BAD_REQUEST,
        "INVALID_ARGUMENT",
        message,
        json!({ "reason": "invalid" }),
        Some(json!([{
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [violation],
        }])),
    )
}

/// 400: a `fields` mask with a name that the answer does not have.
pub(super) fn invalid_fields(selection: &str) -> HttpResponse {
    detailed(
        StatusCode::BAD_REQUEST,
        "INVALID_ARGUMENT",
        &format!("Invalid field selection {selection}"),
        json!({
            "reason": "invalidParameter",
            "location": "fields",
            "locationType": "parameter",
        }),
        None,
    )
}

/// 401: missing or expired token.
pub(crate) fn unauthenticated() -> HttpResponse {
    let message = "Request had invalid authentication credentials. Expected OAuth 2 access token, \
                   login cookie or other valid authentication credential. See \
                   https://developers.google.com/identity/sign-in/web/devconsole-project.";
    detailed(
        StatusCode::UNAUTHORIZED,
        "UNAUTHENTICATED",
        message,
        json!({
            "message": "Invalid Credentials",
            "reason": "authError",
            "location": "Authorization",
            "locationType": "header",
        }),
        None,
    )
    .with(
        "www-authenticate",
        "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\"",
    )
}

/// 403: a valid token without the scope that this method needs.
pub(crate) fn insufficient_scopes(service: &str) -> HttpResponse {
    detailed(
        StatusCode::FORBIDDEN,
        "PERMISSION_DENIED",
        "Request had insufficient authentication scopes.",
        json!({ "message": "Insufficient Permission", "reason": "insufficientPermissions" }),
        Some(json!([{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
            "domain": "googleapis.com",
            "metadata": { "service": service },
        }])),
    )
}

/// 403: a `Host` other than this machine.
pub(crate) fn not_local() -> HttpResponse {
    page(StatusCode::FORBIDDEN, "The sandbox answers to 127.0.0.1 and localhost only.")
}

/// 404 outside the APIs.
pub(crate) fn not_found_page() -> HttpResponse {
    page(
        StatusCode::NOT_FOUND,
        "The requested URL was not found on this server. That’s all we know.",
    )
}

/// Returns the answer to an injected fault, in Google's wording.
pub(crate) fn fault(fault: DrawnFault) -> HttpResponse {
    match fault {
        DrawnFault::TooMany => {
            let message = "Quota exceeded for quota metric 'Queries' and limit 'Queries per \
                           minute per user' of service 'gmail.googleapis.com' for consumer \
                           'project_number:1'.";
            rate_limited(StatusCode::TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED", message)
                .with("retry-after", "1")
        }
        DrawnFault::Forbidden => {
            rate_limited(StatusCode::FORBIDDEN, "PERMISSION_DENIED", "Rate Limit Exceeded")
        }
        DrawnFault::Server => internal(),
        DrawnFault::Unavailable => unavailable(),
        DrawnFault::Timeout => overdue(),
        // All others but `Html` are handled in `server.rs` and have no answer of their own.
        _ => page(
            StatusCode::BAD_GATEWAY,
            "The server encountered a temporary error and could not complete your request. \
             Please try again in 30 seconds. That’s all we know.",
        ),
    }
}

/// Returns a refusal due to a rate limit.
fn rate_limited(code: StatusCode, status: &str, message: &str) -> HttpResponse {
    let entry = json!({ "domain": "usageLimits", "reason": "rateLimitExceeded" });
    detailed(code, status, message, entry, None)
}

/// Returns the page that the sign-in shows if it cannot redirect.
pub(crate) fn error_page(error: &str, why: &str) -> HttpResponse {
    page(
        StatusCode::BAD_REQUEST,
        &format!("Access blocked: authorization error. Error 400: {error}. {why}"),
    )
}

/// Returns Google's error page with a status and a sentence.
pub(super) fn page(status: StatusCode, sentence: &str) -> HttpResponse {
    let code = status.as_u16();
    let word = status.canonical_reason().unwrap_or_default();
    let sentence = html_escape::encode_text(sentence);
    HttpResponse::html(
        status,
        format!(
            "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n\
             <title>Error {code} ({word})!!1</title>\n\
             <p><b>{code}.</b> <ins>That’s an error.</ins>\n<p>{sentence}\n"
        ),
    )
}
