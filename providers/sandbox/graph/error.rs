//! Graph's refusals: one JSON shape, with the codes of several services in it.
//!
//! A refusal is made without knowing whether it goes out by itself or inside a
//! batch, so it is plain data here; `graph/mod.rs` and `batch.rs` put it on
//! the wire. The codes are as mixed as the real ones: the front end's
//! (`BadRequest`, `RequestBroker--ParseUri`) and Exchange's (`Error…`).

use std::fmt::Display;

use hyper::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::faults::DrawnFault;
use crate::http::HttpResponse;

/// An error on its way out.
#[derive(Debug)]
pub(crate) struct GraphError {
    /// The status.
    pub status: StatusCode,
    /// The word for programs.
    pub code: &'static str,
    /// The sentence for people.
    pub message: String,
    /// Headers beyond the standing ones.
    pub headers: Vec<(&'static str, String)>,
}

impl GraphError {
    /// A refusal without headers of its own.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), headers: Vec::new() }
    }

    /// The same with one more header.
    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The same with the word that a second later will do.
    pub fn again_soon(self) -> Self {
        self.with("retry-after", "1")
    }

    /// The body of a response at `now`, under the request's two ids.
    pub fn body(&self, request_id: &str, client_request_id: &str, now: Timestamp) -> Value {
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

/// Makes the refusals: each with what its message is made of, its status, code and message.
macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident$(($($part:ident),*))?: $status:ident, $code:literal, $message:literal;)*) => {
        $($(#[$doc])* pub(super) fn $name($($($part: impl Display),*)?) -> GraphError {
            GraphError::new(StatusCode::$status, $code, format!($message))
        })*
    };
}

refusals! {
    /// 400: a good filter that the store does not carry out.
    unsupported_filter: BAD_REQUEST, "ErrorInvalidUrlQueryFilter",
        "The query filter contains one or more invalid nodes.";
    /// 400: a filter and an order that no index of the store serves together.
    inefficient: BAD_REQUEST, "InefficientFilter",
        "The restriction or sort order is too complex for this operation.";
    /// 400: a page's token that is too old, or of another list.
    invalid_page: BAD_REQUEST, "ErrorInvalidUrlQuery",
        "The query parameter '$skiptoken' is invalid or has expired.";
    /// 400: an id that is none.
    malformed_id: BAD_REQUEST, "ErrorInvalidIdMalformed", "Id is malformed.";
    /// 404: a well-formed id of nothing.
    not_found: NOT_FOUND, "ErrorItemNotFound",
        "The specified object was not found in the store.";
    /// 405: a method that a path does not have.
    not_allowed: METHOD_NOT_ALLOWED, "Request_BadRequest",
        "Specified HTTP method is not allowed for the request target.";
    /// 400: a property with a value that it cannot have.
    invalid_property: BAD_REQUEST, "ErrorPropertyValidationFailure",
        "At least one property failed validation.";
    /// 400: somebody without an address, or nobody at all.
    invalid_recipients: BAD_REQUEST, "ErrorInvalidRecipients",
        "At least one recipient isn't valid.";
    /// 400: what only a draft can be given, or done with.
    not_draft: BAD_REQUEST, "ErrorInvalidPropertySet", "Set action is invalid for property.";
    /// 403: a sender that one may not be.
    send_as_denied: FORBIDDEN, "ErrorSendAsDenied",
        "The account has no right to send mail on behalf of the specified account.";
    /// 400: a folder that every mailbox has, which stays as it is.
    distinguished_folder: BAD_REQUEST, "ErrorDeleteDistinguishedFolder",
        "Distinguished folders cannot be deleted, moved or renamed.";
    /// 404: a folder that is not there, where a message is to go.
    folder_not_found: NOT_FOUND, "ErrorFolderNotFound",
        "The specified folder could not be found in the store.";
    /// 409: a category's name that is taken.
    category_exists: CONFLICT, "CategoryNameDuplicate",
        "A category with the specified name already exists.";
    /// 413: a file that has to be sent up piece by piece.
    attachment_too_large: PAYLOAD_TOO_LARGE, "RequestEntityTooLarge",
        "The attachment is larger than the limit for this request.";
    /// 404: an upload that is over, or never was.
    no_session: NOT_FOUND, "ErrorItemNotFound", "The upload session was not found.";
    /// 416: a piece of a file that is not the next.
    range_refused: RANGE_NOT_SATISFIABLE, "ErrorInvalidRange",
        "The content range of the request is not the one that is expected next.";
    /// 409: a name that is taken.
    folder_exists: CONFLICT, "ErrorFolderExists",
        "A folder with the specified name already exists.";
    /// 400: an occurrence that would come to stand on another's day, or past it.
    crossing: BAD_REQUEST, "ErrorOccurrenceCrossingBoundary",
        "Modified occurrence is crossing or overlapping adjacent occurrence.";
    /// 412: somebody else was quicker.
    conflict: PRECONDITION_FAILED, "ErrorIrresolvableConflict",
        "The change key passed in the request is not the current one of the item.";
    /// 410: changes since a time that is forgotten.
    sync_state_lost: GONE, "SyncStateNotFound",
        "The sync state generation is not found; the client has to start over.";
    /// 403: a good token without the permission.
    denied: FORBIDDEN, "ErrorAccessDenied", "Access is denied. Check credentials and try again.";
    /// 413: a body beyond all measure.
    too_large: PAYLOAD_TOO_LARGE, "BadRequest", "Maximum request length exceeded.";
    /// 400 in the front end's name.
    bad_request(message): BAD_REQUEST, "BadRequest", "{message}";
    /// 400: a query option that cannot be read.
    unreadable(message): BAD_REQUEST, "RequestBroker--ParseUri", "{message}";
    /// 400: a property that a type does not have.
    no_property(name, kind): BAD_REQUEST, "RequestBroker--ParseUri",
        "Could not find a property named '{name}' on type 'microsoft.graph.{kind}'.";
    /// 400: a filter that is no filter.
    invalid_filter(why): BAD_REQUEST, "BadRequest", "Invalid filter clause: {why}";
    /// 400: an order that the store does not have.
    unsupported_order(name): BAD_REQUEST, "ErrorInvalidUrlQuery",
        "The property '{name}' does not support sorting.";
    /// 404: a user that is not in the directory.
    invalid_user(user): NOT_FOUND, "ErrorInvalidUser", "The requested user '{user}' is invalid.";
    /// 400: a path that leads nowhere.
    no_segment(segment): BAD_REQUEST, "BadRequest",
        "Resource not found for the segment '{segment}'.";
    /// 400: a zone that nobody knows.
    unknown_zone(name): BAD_REQUEST, "TimeZoneNotSupportedException",
        "A valid TimeZone value must be specified. The following TimeZone value is not supported: \
         '{name}'.";
    /// 400: a parameter that makes no sense.
    invalid_parameter(message): BAD_REQUEST, "ErrorInvalidParameter", "{message}";
    /// 400: a request that can be read and not be carried out.
    invalid_request(why): BAD_REQUEST, "ErrorInvalidRequest",
        "Your request can't be completed. {why}";
    /// 400: a rule that makes no sense.
    rule_refused(why): BAD_REQUEST, "ErrorInboxRulesValidationError",
        "A validation error occurred while executing a rule operation. {why}";
    /// 400: a body that is no JSON.
    unreadable_body: BAD_REQUEST, "BadRequest",
        "Unable to read JSON request payload. Please ensure Content-Type header is set and payload \
         is of valid JSON format.";
    /// 400: a body that is not what it has to be.
    wrong_body(message): BAD_REQUEST, "RequestBodyRead", "{message}";
    /// 400: a link to changes that is none, or not of this list.
    sync_state_malformed: BAD_REQUEST, "SyncStateInvalid", "The sync state is badly formed.";
    /// 429 on purpose.
    too_many: TOO_MANY_REQUESTS, "TooManyRequests", "Too many requests. Please retry again later.";
    /// 429: more requests at a time than a mailbox takes.
    too_many_at_once: TOO_MANY_REQUESTS, "ApplicationThrottled",
        "Application is over its MailboxConcurrency limit.";
    /// 500 on purpose.
    internal: INTERNAL_SERVER_ERROR, "InternalServerError",
        "An internal server error occurred. The operation failed.";
    /// 503 on purpose.
    busy: SERVICE_UNAVAILABLE, "ErrorServerBusy", "The server is busy. Please try again later.";
    /// 504 on purpose.
    overdue: GATEWAY_TIMEOUT, "UnknownError", "";
}

/// 400: an option that does not go with `$search`.
pub(super) fn not_with_search(option: &str) -> GraphError {
    let code = match option {
        "$filter" => "SearchWithFilter",
        _ => "SearchWithOrderBy",
    };
    let message = format!("The query parameter '{option}' is not supported with '$search'.");
    GraphError::new(StatusCode::BAD_REQUEST, code, message)
}

/// 401: no token, or not one that is good now.
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

/// A failure on purpose, where it has Graph's shape; a page for people, a
/// connection that breaks, have none.
pub(super) fn fault(fault: DrawnFault) -> Option<GraphError> {
    match fault {
        DrawnFault::TooMany => Some(too_many().again_soon()),
        DrawnFault::Forbidden => Some(denied()),
        DrawnFault::Server => Some(internal()),
        DrawnFault::Unavailable => Some(busy().again_soon()),
        DrawnFault::Timeout => Some(overdue()),
        DrawnFault::Html
        | DrawnFault::Reset
        | DrawnFault::Half
        | DrawnFault::Lost
        | DrawnFault::Gate
        | DrawnFault::Late
        | DrawnFault::Overdue => None,
    }
}

/// 502 as the gateway in front of Graph words it: a page for people.
pub(super) fn gateway_page() -> HttpResponse {
    page(StatusCode::BAD_GATEWAY, "The web server reported a bad gateway error.")
}

/// 411: a body without an end, which the real front end never looks into.
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
