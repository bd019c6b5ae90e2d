//! Google's batches: requests to one API as the parts of a `multipart/mixed` request.
//!
//! Each part is carried out like a request of its own, with the header fields of the batch where it
//! has none of its own. Parts are answered in order, under the ids they came with.

use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};

use super::error;
use crate::http::{HttpRequest, HttpResponse};

/// The name of the route.
pub(crate) const ROUTE: &str = "POST /batch";

/// The maximum number of requests in a batch.
const MAX_REQUESTS: usize = 100;

/// The boundary of the answer.
const BOUNDARY: &str = "batch_Xq1Z0sandbox8Vw4";

/// The content type of the answer.
const TYPE: &str = "multipart/mixed; boundary=batch_Xq1Z0sandbox8Vw4";

/// Answers a batch. `carry_out` answers one part.
pub(crate) fn answer(
    request: &HttpRequest,
    carry_out: impl Fn(&HttpRequest) -> HttpResponse,
) -> HttpResponse {
    let Some(boundary) = boundary(request) else {
        return error::parse_error("Failed to parse batch request, error: No boundary");
    };
    // Line ends may be CRLF or LF; the parts are read with LF only.
    let text = String::from_utf8_lossy(&request.body).replace("\r\n", "\n");
    let border = format!("--{boundary}");
    let parts: Vec<&str> =
        text.split(&border).skip(1).take_while(|part| !part.starts_with("--")).collect();
    // Gmail accepts 100 requests in a batch.
    if parts.len() > MAX_REQUESTS {
        let message = format!("The batch request is too large: at most {MAX_REQUESTS} requests.");
        return error::invalid(&message);
    }
    let mut body = Vec::new();
    for part in parts {
        let Some((id, inner)) = read(request, part) else {
            return error::parse_error("Failed to parse batch request, error: No HTTP request");
        };
        write(&mut body, id, carry_out(&inner));
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    HttpResponse::new(StatusCode::OK, TYPE, body)
}

/// Returns the boundary of a batch, or `None` if the request is not one.
fn boundary(request: &HttpRequest) -> Option<&str> {
    let kind = request.header("content-type")?.strip_prefix("multipart/mixed")?;
    let value = kind.split(';').find_map(|pair| pair.trim().strip_prefix("boundary="))?;
    Some(value.trim_matches('"')).filter(|value| !value.is_empty())
}

/// Reads a part's id and request.
fn read<'a>(whole: &HttpRequest, part: &'a str) -> Option<(Option<&'a str>, HttpRequest)> {
    let (about, http) = part.trim_start().split_once("\n\n")?;
    let (_, id) = fields(about).find(|(name, _)| name.eq_ignore_ascii_case("content-id")).unzip();
    let (head, body) = http.trim_start().split_once("\n\n").unwrap_or((http, ""));
    let (line, head) = head.trim().split_once('\n').unwrap_or((head.trim(), ""));
    let [method, target, _version]: [&str; 3] =
        line.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    // The token is sent once for the whole batch; content headers describe the batch, not its
    // parts.
    let mut headers = whole.headers.clone();
    headers.remove(CONTENT_TYPE);
    headers.remove(CONTENT_LENGTH);
    // Clients name the real API's host in inner requests; the sandbox's own stays in place.
    for (name, value) in fields(head).filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
        headers.insert(name.parse::<HeaderName>().ok()?, HeaderValue::from_str(value).ok()?);
    }
    let method = method.parse::<Method>().ok()?;
    let body = body.trim().as_bytes().to_vec().into();
    Some((id, HttpRequest::new(method, path, query, headers, body)))
}

/// Returns header fields as names and values.
fn fields(head: &str) -> impl Iterator<Item = (&str, &str)> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.map(|(name, value)| (name.trim(), value.trim()))
}

/// Writes the answer to a part.
fn write(body: &mut Vec<u8>, id: Option<&str>, answer: HttpResponse) {
    let mut head = format!("--{BOUNDARY}\r\nContent-Type: application/http\r\n");
    if let Some(id) = id {
        // Google prefixes the ids of answers; the closing bracket is still part of the id.
        let id = id.trim_start_matches('<');
        head.push_str(&format!("Content-ID: <response-{id}\r\n"));
    }
    head.push_str(&format!("\r\nHTTP/1.1 {}\r\n", answer.status));
    if !answer.content_type.is_empty() {
        head.push_str(&format!("Content-Type: {}\r\n", answer.content_type));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", answer.body.len()));
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&answer.body);
    body.extend_from_slice(b"\r\n");
}
