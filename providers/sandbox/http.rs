//! HTTP requests and answers as read and written by the server.

use hyper::body::Bytes;
use hyper::header::HeaderMap;
use hyper::{Method, StatusCode};
use percent_encoding::percent_decode_str;

/// A complete, parsed request.
#[derive(Debug, Clone)]
pub(crate) struct HttpRequest {
    /// The method.
    pub method: Method,
    /// The path's segments, percent-decoded, without the empty one before the first slash.
    pub path: Vec<String>,
    /// The query's pairs in order.
    pub query: Vec<(String, String)>,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl HttpRequest {
    /// Parses a request. `path` and `query` are still encoded.
    pub fn new(method: Method, path: &str, query: &str, headers: HeaderMap, body: Bytes) -> Self {
        Self {
            path: path
                .trim_start_matches('/')
                .split('/')
                // Decoded after splitting: an encoded slash belongs to its segment.
                .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
                .collect(),
            query: pairs(query.as_bytes()),
            method,
            headers,
            body,
        }
    }

    /// Returns the first value of a query parameter.
    pub fn param(&self, name: &str) -> Option<&str> {
        let (_, value) = self.query.iter().find(|(key, _)| key == name)?;
        Some(value)
    }

    /// Returns the pairs of a form in the body.
    pub fn form(&self) -> Vec<(String, String)> {
        pairs(&self.body)
    }

    /// Returns true if the request can change something. Queries sent by POST and batches of reads
    /// only cannot.
    pub fn is_write(&self) -> bool {
        let last = self.path.last().map(String::as_str);
        match (self.method == Method::GET, last) {
            (true, _) | (_, Some("freeBusy" | "getSchedule")) => false,
            (_, Some("$batch")) => {
                let body: serde_json::Value =
                    serde_json::from_slice(&self.body).unwrap_or_default();
                let parts = body.get("requests").and_then(serde_json::Value::as_array);
                let reads = |part: &serde_json::Value| part.get("method") == Some(&"GET".into());
                !parts.into_iter().flatten().all(reads)
            }
            _ => true,
        }
    }

    /// Returns the base URL that the request was sent to.
    pub fn base(&self) -> String {
        format!("http://{}", self.header("host").unwrap_or("127.0.0.1"))
    }

    /// Returns a header's value if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// An answer that has not been sent yet.
pub(crate) struct HttpResponse {
    /// The status.
    pub status: StatusCode,
    /// Header fields other than `Content-Type` and `Content-Length`.
    pub(super) headers: Vec<(&'static str, String)>,
    /// The media type of the body.
    pub(super) content_type: &'static str,
    /// The body.
    pub(super) body: Vec<u8>,
}

impl HttpResponse {
    /// Returns an answer with serialised JSON.
    pub fn json(status: StatusCode, body: Vec<u8>) -> Self {
        Self::new(status, "application/json; charset=UTF-8", body)
    }

    /// Returns an answer with bytes of a media type.
    pub fn new(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status, headers: Vec::new(), content_type, body }
    }

    /// Returns an answer without a body.
    pub fn empty(status: StatusCode) -> Self {
        Self::new(status, "", Vec::new())
    }

    /// Returns an HTML page, which may not be framed and loads nothing.
    pub fn html(status: StatusCode, page: String) -> Self {
        Self::new(status, "text/html; charset=UTF-8", page.into_bytes()).with(
            "content-security-policy",
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        )
    }

    /// Returns a redirect to `location`.
    pub fn redirect(location: impl Into<String>) -> Self {
        Self::html(StatusCode::FOUND, String::new()).with("location", location)
    }

    /// Adds a header field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Returns the pairs of a query or form.
fn pairs(text: &[u8]) -> Vec<(String, String)> {
    url::form_urlencoded::parse(text).into_owned().collect()
}
