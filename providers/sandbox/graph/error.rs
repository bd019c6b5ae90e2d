//! Graph's errors: one JSON shape, with the codes of several services.
//!
//! Errors are plain data, because they occur alone and in batches; `graph.rs` and `batch.rs`
//! turn them into responses. As at Graph, the codes are a mixture of the front end's (`BadRequest`,
//! `RequestBroker--ParseUri`) and Exchange's (`Error…`).

use std::fmt::Display;

use hyper::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::faults::DrawnFault;
use crate::http::HttpResponse;
use crate::refusals::refusals;

/// An error response.
#[derive(Debug)]
pub(crate) struct GraphError {
    /// The status.
    pub status: StatusCode,
    /// The code, for programs.
    pub code: &'static str,
    /// The sentence, for people.
    pub message: String,
    /// Headers beyond the usual ones.
    pub headers: Vec<(&'static str, String)>,
}

impl GraphError {
    /// Creates an error without headers.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), headers: Vec::new() }
    }

    /// Adds a header.
    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Adds `Retry-After` with one second.
    pub fn again_soon(self) -> Self {
        self.with("retry-after", "1")
    }

    /// Returns the body of the error at `now`, with the request's two ids.
    pub fn body(&self, request_id: &str, client_request_id: &str, now: Timestamp) -> Value {
        // The date is UTC, but without a `Z`, as Graph writes it.
        let date = now.strftime("%Y-%m-%dT%H:%M:%S").to_string();
        json!({
            "error": {
                "code": self.code,
                "message": self.message,
                "innerError": {
                    "date": date,
                    "request-id": request_id,
                    "client-request-id": client_request_id,
                },
            },
        })
    }
}

// The word: the code.
refusals! { GraphError::new => GraphError, impl Display;
    unsupported_filter: BAD_REQUEST, "ErrorInvalidUrlQueryFilter";
        "The query filter contains one or more invalid nodes.";
    inefficient: BAD_REQUEST, "InefficientFilter";
        "The restriction or sort order is too complex for this operation.";
    invalid_page: BAD_REQUEST, "ErrorInvalidUrlQuery";
        "The query parameter '$skiptoken' is invalid or has expired.";
    malformed_id: BAD_REQUEST, "ErrorInvalidIdMalformed"; "Id is malformed.";
    not_found: NOT_FOUND, "ErrorItemNotFound"; "The specified object was not found in the store.";
    not_allowed: METHOD_NOT_ALLOWED, "Request_BadRequest";
        "Specified HTTP method is not allowed for the request target.";
    invalid_property: BAD_REQUEST, "ErrorPropertyValidationFailure";
        "At least one property failed validation.";
    invalid_recipients: BAD_REQUEST, "ErrorInvalidRecipients";
        "At least one recipient isn't valid.";
    not_draft: BAD_REQUEST, "ErrorInvalidPropertySet"; "Set action is invalid for property.";
    send_as_denied: FORBIDDEN, "ErrorSendAsDenied";
        "The account has no right to send mail on behalf of the specified account.";
    distinguished_folder: BAD_REQUEST, "ErrorDeleteDistinguishedFolder";
        "Distinguished folders cannot be deleted, moved or renamed.";
    folder_not_found: NOT_FOUND, "ErrorFolderNotFound";
        "The specified folder could not be found in the store.";
    category_exists: CONFLICT, "CategoryNameDuplicate";
        "A category with the specified name already exists.";
    attachment_too_large: PAYLOAD_TOO_LARGE, "RequestEntityTooLarge";
        "The attachment is larger than the limit for this request.";
    no_session: NOT_FOUND, "ErrorItemNotFound"; "The upload session was not found.";
    range_refused: RANGE_NOT_SATISFIABLE, "ErrorInvalidRange";
        "The content range of the request is not the one that is expected next.";
    folder_exists: CONFLICT, "ErrorFolderExists";
        "A folder with the specified name already exists.";
    crossing: BAD_REQUEST, "ErrorOccurrenceCrossingBoundary";
        "Modified occurrence is crossing or overlapping adjacent occurrence.";
    conflict: PRECONDITION_FAILED, "ErrorIrresolvableConflict";
        "The change key passed in the request is not the current one of the item.";
    sync_state_lost: GONE, "SyncStateNotFound";
        "The sync state generation is not found; the client has to start over.";
    denied: FORBIDDEN, "ErrorAccessDenied"; "Access is denied. Check credentials and try again.";
    too_large: PAYLOAD_TOO_LARGE, "BadRequest"; "Maximum request length exceeded.";
    bad_request(message): BAD_REQUEST, "BadRequest"; "{message}";
    unreadable(message): BAD_REQUEST, "RequestBroker--ParseUri"; "{message}";
    no_property(name, kind): BAD_REQUEST, "RequestBroker--ParseUri";
        "Could not find a property named '{name}' on type 'microsoft.graph.{kind}'.";
    invalid_filter(why): BAD_REQUEST, "BadRequest"; "Invalid filter clause: {why}";
    unsupported_order(name): BAD_REQUEST, "ErrorInvalidUrlQuery";
        "The property '{name}' does not support sorting.";
    invalid_user(user): NOT_FOUND, "ErrorInvalidUser"; "The requested user '{user}' is invalid.";
    no_segment(segment): BAD_REQUEST, "BadRequest";
        "Resource not found for the segment '{segment}'.";
    unknown_zone(name): BAD_REQUEST, "TimeZoneNotSupportedException";
        "A valid TimeZone value must be specified. The following TimeZone value is not supported: \
         '{name}'.";
    invalid_parameter(message): BAD_REQUEST, "ErrorInvalidParameter"; "{message}";
    invalid_request(why): BAD_REQUEST, "ErrorInvalidRequest";
        "Your request can't be completed. {why}";
    rule_refused(why): BAD_REQUEST, "ErrorInboxRulesValidationError";
        "A validation error occurred while executing a rule operation. {why}";
    unreadable_body: BAD_REQUEST, "BadRequest";
        "Unable to read JSON request payload. Please ensure Content-Type header is set and payload \
         is of valid JSON format.";
    wrong_body(message): BAD_REQUEST, "RequestBodyRead"; "{message}";
    sync_state_malformed: BAD_REQUEST, "SyncStateInvalid"; "The sync state is badly formed.";
    too_many: TOO_MANY_REQUESTS, "TooManyRequests"; "Too many requests. Please retry again later.";
    too_many_at_once: TOO_MANY_REQUESTS, "ApplicationThrottled";
        "Application is over its MailboxConcurrency limit.";
    internal: INTERNAL_SERVER_ERROR, "InternalServerError";
        "An internal server error occurred. The operation failed.";
    busy: SERVICE_UNAVAILABLE, "ErrorServerBusy"; "The server is busy. Please try again later.";
    overdue: GATEWAY_TIMEOUT, "UnknownError"; "";
    search_with_filter: BAD_REQUEST, "SearchWithFilter";
        "The query parameter '$filter' is not supported with '$search'.";
    search_with_order: BAD_REQUEST, "SearchWithOrderBy";
        "The query parameter '$orderby' is not supported with '$search'.";
    not_in_view_delta: BAD_REQUEST, "ErrorInvalidUrlQuery";
        "The following parameters are not supported with change tracking over the 'CalendarView' \
         resource: '$orderby, $filter, $select, $expand, $search, $top'.";
    invalid_mime: BAD_REQUEST, "ErrorMimeContentInvalid"; "Invalid MIME content.";
}

/// 401: missing or expired token.
pub(super) fn unauthenticated(token: &str) -> GraphError {
    let message = match token {
        "" => "Access token is empty.",
        _ => "Lifetime validation failed, the token is expired.",
    };
    GraphError::new(StatusCode::UNAUTHORIZED, "InvalidAuthenticationToken", message).with(
        "www-authenticate",
        "Bearer realm=\"\", \
         authorization_uri=\"https://login.microsoftonline.com/common/oauth2/authorize\", \
         client_id=\"00000003-0000-0000-c000-000000000000\"",
    )
}

/// Returns the error of an injected fault; `None` for those without Graph's shape, such as an HTML
/// page or a broken connection.
pub(super) fn fault(fault: DrawnFault) -> Option<GraphError> {
    match fault {
        DrawnFault::TooMany => Some(too_many().again_soon()),
        DrawnFault::Forbidden => Some(denied()),
        DrawnFault::Server => Some(internal()),
        DrawnFault::Unavailable => Some(busy().again_soon()),
        DrawnFault::Timeout => Some(overdue()),
        _ => None,
    }
}

/// 502: HTML page of the gateway in front of Graph.
pub(super) fn gateway_page() -> HttpResponse {
    page(StatusCode::BAD_GATEWAY, "The web server reported a bad gateway error.")
}

/// 411: body without a length, which Graph's front end refuses unread.
pub(crate) fn length_required() -> HttpResponse {
    page(
        StatusCode::LENGTH_REQUIRED,
        "HTTP Error 411. The request must be chunked or have a content length.",
    )
}

fn page(status: StatusCode, sentence: &str) -> HttpResponse {
    let word = status.canonical_reason().unwrap_or_default();
    HttpResponse::html(
        status,
        format!(
            "<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\">\r\n\
             <html><head><title>{word}</title></head>\r\n\
             <body><h2>{word}</h2>\r\n<hr><p>{sentence}</p>\r\n</body></html>\r\n"
        ),
    )
}
