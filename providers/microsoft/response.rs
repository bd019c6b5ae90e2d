//! Reading of Graph's responses: bytes with a cap, JSON, the parts of a batch, and errors.
//!
//! No requests are made here. Messages contain at most the first line of Graph's own error text.

use std::collections::HashMap;
use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::refusals::{
    RefusalMeaning, RefusalSigns, RefusalStage, known_refusal,
};
use daysheet_core::text::quoted_words;
use jiff::Timestamp;
use serde_json::Value;

use crate::limiter::{RateLimiter, retry_after};
use crate::net::{self, LARGE, ResponsePermit};

/// The maximum size of a response, in bytes.
pub const MAX_ANSWER: usize = 32 << 20;
/// The message of the error for a missing permission.
pub const DENIED: &str = "the sign-in does not allow this";
/// The beginning of the message about a response beyond its cap.
const TOO_LONG: &str = "Outlook's response is longer than";

/// A complete response.
pub struct GraphResponse {
    status: u16,
    retry_after: Option<Duration>,
    body: Vec<u8>,
    /// The turn of a long response, held until it has been parsed.
    _turn: Option<ResponsePermit>,
}

/// Reads a response of at most `most` unpacked bytes. Long ones count against the limiter's share.
pub async fn read(
    mut answer: reqwest::Response,
    most: usize,
    limiter: &RateLimiter,
) -> Result<GraphResponse> {
    let status = answer.status().as_u16();
    let retry_after = answer
        .headers()
        .get(reqwest::header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| retry_after(value, limiter.clock().now()));
    let mut body = Vec::new();
    let mut turn = None;
    while let Some(some) = answer.chunk().await.map_err(|error| connection_error(&error))? {
        if body.len() + some.len() > most {
            return Err(Error::argument(format!("{TOO_LONG} {most} bytes"))
                .next("ask for fewer items, or for body=headers"));
        }
        // Before the body grows further: the turn limits how many long responses are in memory.
        if body.len() + some.len() > LARGE && turn.is_none() {
            turn = net::turn(limiter.share()).await;
        }
        body.extend_from_slice(&some);
    }
    Ok(GraphResponse { status, retry_after, body, _turn: turn })
}

/// Returns true for the error of [`read`] about a response that is too long.
pub fn too_long(error: &Error) -> bool {
    error.message().starts_with(TOO_LONG)
}

impl GraphResponse {
    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the response's JSON, or the error of its status.
    pub fn json(self) -> Result<Value> {
        if (200..300).contains(&self.status) {
            return parse(&self.body);
        }
        Err(self.error())
    }

    /// Returns the response's JSON, `None` for an empty body, or the error of its status.
    pub fn some_json(self) -> Result<Option<Value>> {
        if (200..300).contains(&self.status) && self.body.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        self.json().map(Some)
    }

    /// Returns the response's bytes, or the error of its status.
    pub fn bytes(self) -> Result<Vec<u8>> {
        if (200..300).contains(&self.status) {
            return Ok(self.body);
        }
        Err(self.error())
    }

    fn error(&self) -> Error {
        // Error bodies are not always JSON; the status alone has to do.
        let body = serde_json::from_slice(&self.body).unwrap_or_default();
        error_of(self.status, self.retry_after, &body)
    }
}

/// Returns the responses to the parts of a batch, by their numeric id; `now` is the time of
/// arrival.
pub fn sub_answers(mut envelope: Value, now: Timestamp) -> Result<HashMap<usize, Result<Value>>> {
    match envelope.get_mut("responses").map(Value::take) {
        Some(Value::Array(parts)) => {
            Ok(parts.into_iter().filter_map(|part| sub_answer(part, now)).collect())
        }
        _ => Err(no_json()),
    }
}

/// Returns the items of a list's response and the link to the next page.
pub fn page(mut answer: Value) -> Result<(Vec<Value>, Option<String>)> {
    let Some(Value::Array(items)) = answer.get_mut("value").map(Value::take) else {
        return Err(not_ours("list"));
    };
    Ok(match answer.get_mut("@odata.nextLink").map(Value::take) {
        Some(Value::String(link)) => (items, Some(link)),
        _ => (items, None),
    })
}

/// Returns the error for JSON of an unexpected shape. Read as empty, it would turn a broken service
/// into an empty mailbox.
pub fn not_ours(what: &str) -> Error {
    Error::new(ErrorKind::Provider(502), format!("Outlook did not answer with a valid {what}"))
        .next("try again in a minute")
}

fn sub_answer(mut part: Value, now: Timestamp) -> Option<(usize, Result<Value>)> {
    // The ids and statuses of a batch's parts are sent as texts or as numbers.
    let number = |value: &Value| match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    let at = usize::try_from(number(part.get("id")?)?).ok()?;
    let status = u16::try_from(number(part.get("status")?)?).ok()?;
    let body = part.get_mut("body").map(Value::take).unwrap_or_default();
    if (200..300).contains(&status) {
        return Some((at, Ok(body)));
    }
    let headers = part.get("headers").and_then(Value::as_object);
    let retry_after = headers
        .into_iter()
        .flatten()
        .find(|(name, _)| name.eq_ignore_ascii_case("retry-after"))
        .and_then(|(_, value)| match value {
            Value::String(text) => retry_after(text, now),
            other => other.as_u64().map(Duration::from_secs),
        });
    Some((at, Err(error_of(status, retry_after, &body))))
}

fn parse(body: &[u8]) -> Result<Value> {
    serde_json::from_slice(body).map_err(|error| {
        if error.is_eof() {
            Error::new(ErrorKind::Network, "Outlook's response broke off")
        } else {
            no_json()
        }
    })
}

fn no_json() -> Error {
    Error::new(ErrorKind::Provider(502), "Outlook's response is a page or other non-JSON")
}

/// Returns the error of a failed connection. Its own text is dropped, because it may contain a URL.
pub fn connection_error(error: &reqwest::Error) -> Error {
    if error.is_timeout() {
        return Error::new(ErrorKind::Timeout, "Outlook did not answer in time");
    }
    let message = if error.is_connect() {
        "Outlook could not be reached"
    } else if error.is_body() || error.is_decode() {
        "Outlook's response broke off"
    } else {
        "the connection to Outlook broke"
    };
    Error::new(ErrorKind::Network, message)
}

/// Converts Graph's error response to an error of ours. Graph's codes vary in upper and lower case.
fn error_of(status: u16, retry_after: Option<Duration>, body: &Value) -> Error {
    let error = body.get("error").unwrap_or(&Value::Null);
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let code = text("code");
    let is = |known: &[&str]| known.iter().any(|known| code.eq_ignore_ascii_case(known));
    // Graph's message may quote names by others.
    let summary = text("message").lines().next().unwrap_or_default().trim_end_matches('.');
    let message = match (summary, code) {
        ("", "") => format!("Outlook answered with status {status}"),
        ("", summary) | (summary, _) => {
            format!("Outlook answered with status {status}: {}", quoted_words(summary))
        }
    };
    let known = known_refusal(&RefusalSigns {
        provider: "microsoft",
        stage: RefusalStage::Call,
        number: None,
        words: [code, ""],
        description: summary,
    });
    // Graph uses the codes of denied access with other statuses for other problems.
    let known = known.filter(|known| status == 403 || known.end != RefusalMeaning::Withdrawn);
    match status {
        429 => Error::new(ErrorKind::RateLimited(retry_after), message),
        // Graph also throttles with these two statuses, and then says for how long.
        503 | 509 if retry_after.is_some() => {
            Error::new(ErrorKind::RateLimited(retry_after), message)
        }
        400..=499 if let Some(known) = known => {
            let kind = match known.end {
                RefusalMeaning::Withdrawn => ErrorKind::Auth,
                _ => ErrorKind::Provider(status),
            };
            Error::new(kind, known.why).next(known.next)
        }
        404 => Error::new(ErrorKind::NotFound, "Outlook has no such item"),
        409 | 412 if status == 412 || is(&["ErrorIrresolvableConflict"]) => {
            Error::new(ErrorKind::Conflict, "it was changed meanwhile")
                .next("read it again, and repeat the change if it still fits")
        }
        // Exchange answers ids of another form with 400 instead of 404.
        400 if is(&[
            "ErrorItemNotFound",
            "ErrorInvalidIdMalformed",
            "ErrorInvalidId",
            "ErrorInvalidIdEmpty",
            "ErrorInvalidMailboxItemId",
            "ErrorInvalidIdNotAnItemAttachmentId",
        ]) =>
        {
            Error::new(ErrorKind::NotFound, "Outlook has no such item")
        }
        400 if is(&["ErrorOccurrenceCrossingBoundary"]) => Error::new(
            ErrorKind::Argument,
            "Outlook moves no occurrence to or past the day of another one of its series",
        )
        .next("choose a time between both, or delete it and create a single event"),
        300..=399 => Error::new(
            ErrorKind::Provider(status),
            "Outlook answered with a redirect, which is not followed",
        )
        .next("check the setting endpoints.graph (DAYSHEET_GRAPH_URL)"),
        status => Error::new(ErrorKind::Provider(status), message),
    }
}
