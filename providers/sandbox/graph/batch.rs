//! Graph's batches: up to twenty requests in one, each answered individually.
//!
//! Each part fails by itself, also by injected faults; the batch succeeds if it can be read. The
//! answers are in reverse order, because Graph promises no order.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::access;
use super::error::{self, GraphError, bad_request, not_allowed};
use super::response::{GraphBody, GraphResponse};
use crate::faults::DrawnFault;
use crate::http::HttpRequest;
use crate::state::RequestState;

/// The maximum number of requests in a batch.
const MAX_ITEMS: usize = 20;

/// Answers one part of a batch, a request with its path.
type PartHandler = fn(&RequestState, &HttpRequest, &[&str]) -> Result<GraphResponse, GraphError>;

/// Answers a batch, with `handle` for its parts.
pub(super) fn handle(
    state: &RequestState,
    request: &HttpRequest,
    handle: PartHandler,
) -> Result<GraphResponse, GraphError> {
    // A batch without a valid token is refused as a whole.
    access::access(state, &request.headers)?;
    if request.method != Method::POST {
        return Err(not_allowed());
    }
    let unreadable = |why: &str| bad_request(format!("Invalid batch payload format. {why}"));
    let body: Value =
        serde_json::from_slice(&request.body).map_err(|_| unreadable("The body is no JSON."))?;
    let items = body.get("requests").and_then(Value::as_array);
    let items = items.filter(|items| !items.is_empty());
    let items = items.ok_or_else(|| unreadable("There are no requests."))?;
    if items.len() > MAX_ITEMS {
        return Err(bad_request(format!(
            "Number of batch request steps exceeds the max value of {MAX_ITEMS}."
        )));
    }
    // All parts are read before the first is carried out: a malformed part refuses the whole batch.
    let items: Vec<BatchItem> = items.iter().map(item).collect::<Result<_, GraphError>>()?;
    // Ids are compared without regard to case, as Graph does.
    let mut ids: Vec<String> = items.iter().map(|item| item.id.to_lowercase()).collect();
    ids.sort_unstable();
    if ids.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err(unreadable("Two requests have the same id."));
    }
    let mut responses: Vec<Value> =
        items.into_iter().map(|item| response(state, request, item, handle)).collect();
    // Clients must match answers by `id`; reversing them exposes those that go by position.
    responses.reverse();
    Ok(GraphResponse::new(GraphBody::Json(json!({ "responses": responses }))))
}

/// A part of a batch.
struct BatchItem {
    id: String,
    method: Method,
    url: String,
    headers: HeaderMap,
    body: Bytes,
}

/// Reads a part of a batch.
fn item(item: &Value) -> Result<BatchItem, GraphError> {
    let wrong = |what: &str| bad_request(format!("Invalid batch payload format. {what}"));
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let id = text("id").filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| wrong("A request has no id."))?;
    let method = text("method").map(str::to_ascii_uppercase);
    let method = method.and_then(|name| Method::from_bytes(name.as_bytes()).ok());
    let methods = [Method::GET, Method::POST, Method::PATCH, Method::PUT, Method::DELETE];
    let method = method.filter(|method| methods.contains(method));
    // Absolute URLs are refused. A query may contain `//`, such as in a search for an address.
    let path = |url: &str| url.split('?').next().unwrap_or_default().to_owned();
    let url = text("url").filter(|url| !path(url).is_empty() && !path(url).contains("//"));
    let mut headers = HeaderMap::new();
    for (name, value) in item.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let name = HeaderName::from_bytes(name.as_bytes()).ok();
        let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok());
        let (name, value) = name.zip(value).ok_or_else(|| wrong("A header is none."))?;
        headers.insert(name, value);
    }
    let method = method.ok_or_else(|| wrong("A request has no method."))?;
    let body = item.get("body").filter(|body| !body.is_null());
    // Graph demands a body and its type even of actions that take no parameters.
    let writes = [Method::POST, Method::PATCH, Method::PUT].contains(&method);
    let typed = headers.contains_key("content-type");
    if writes && (body.is_none() || !typed) {
        return Err(bad_request(format!(
            "Write request id : {id} does not contain Content-Type header or body."
        )));
    }
    if body.is_some() && !typed {
        return Err(wrong("A body has no Content-Type."));
    }
    Ok(BatchItem {
        id: id.to_owned(),
        method,
        url: url.ok_or_else(|| wrong("A request has no relative url."))?.to_owned(),
        body: body.map(|body| bytes(body, &headers)).unwrap_or_default(),
        headers,
    })
}

/// Returns the body of a part: JSON as text, or a string of another type unchanged.
fn bytes(body: &Value, headers: &HeaderMap) -> Bytes {
    let kind = headers.get("content-type");
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    match body {
        Value::String(text) if !kind.contains("json") => text.clone().into(),
        body => body.to_string().into(),
    }
}

/// Answers a part of a batch.
fn response(
    state: &RequestState,
    outer: &HttpRequest,
    item: BatchItem,
    handle: PartHandler,
) -> Value {
    let mut headers = item.headers;
    // The batch's token counts, even if a part has one of its own; the host is for links.
    for name in ["authorization", "host"] {
        if let Some(value) = outer.headers.get(name) {
            headers.insert(name, value.clone());
        }
    }
    let (path, query) = item.url.split_once('?').unwrap_or((&item.url, ""));
    let path = format!("v1.0/{}", path.trim_start_matches('/'));
    let request = HttpRequest::new(item.method, &path, query, headers, item.body);
    let path: Vec<&str> = request.path.iter().skip(1).map(String::as_str).collect();
    let fault = state.item_fault().map(|fault| {
        // A connection cannot break inside a batch; the closest error of a part is a gateway
        // timeout.
        error::fault(fault).or_else(|| error::fault(DrawnFault::Timeout))
    });
    let result = match fault.flatten() {
        Some(refusal) => Err(refusal),
        None => handle(state, &request, &path),
    };
    let mut headers = Map::new();
    let mut put = |name: &str, value: String| headers.insert(name.to_owned(), value.into());
    let (status, body) = match result {
        Ok(reply) => {
            let json = reply.json();
            for (name, value) in reply.headers() {
                put(&header_name(name), value);
            }
            let body = match reply.body {
                GraphBody::Nothing => None,
                GraphBody::Json(value) => {
                    put("Content-Type", json.to_owned());
                    Some(value)
                }
                // Bodies other than JSON are base64 within a batch's JSON.
                GraphBody::Bytes(kind, bytes) => {
                    put("Content-Type", kind.to_owned());
                    Some(STANDARD.encode(bytes).into())
                }
            };
            (reply.status, body)
        }
        Err(refusal) => {
            let id = state.graph.request_id();
            put("Content-Type", "application/json".to_owned());
            for (name, value) in &refusal.headers {
                put(&header_name(name), value.clone());
            }
            (refusal.status, Some(refusal.body(&id, &id, state.clock.now())))
        }
    };
    let mut response = Map::new();
    response.insert("id".to_owned(), item.id.into());
    response.insert("status".to_owned(), status.as_u16().into());
    response.insert("headers".to_owned(), headers.into());
    response.extend(body.map(|body| ("body".to_owned(), body)));
    response.into()
}

/// Returns a header's name in its usual case: `Retry-After`.
fn header_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = true;
    for char in name.chars() {
        out.push(if upper { char.to_ascii_uppercase() } else { char });
        upper = char == '-';
    }
    out
}
