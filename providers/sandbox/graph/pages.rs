//! Pages of Graph's lists, and the links between them.
//!
//! A link is the complete address of the request, with all options and the position of the next
//! page. Graph counts most lists by position (`$skip`), and only searches by a token
//! (`$skiptoken`).

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use super::error::{GraphError, invalid_page};
use super::params::{PreferHeader, QueryOptions};
use crate::http::HttpRequest;

/// The characters that are percent-encoded in addresses: all but the unreserved ones (RFC 3986,
/// 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The position of a page in its list.
#[derive(Debug)]
pub(super) struct PagePosition {
    /// The rows, counted from the beginning of the list.
    pub rows: Range<usize>,
    /// True if the link to the next page has a token instead of a position.
    by_token: bool,
}

/// Returns the page that a request asks for. A page has `default` rows unless the request says
/// otherwise.
pub(super) fn page(
    request: &HttpRequest,
    options: &QueryOptions<'_>,
    prefer: &PreferHeader,
    default: usize,
) -> Result<PagePosition, GraphError> {
    let size = options.top.or(prefer.page_size).unwrap_or(default);
    let by_token = options.search.is_some();
    let mut start = options.skip.unwrap_or_default();
    if let Some(token) = options.skiptoken {
        let place = place(token, &question(request)).ok_or_else(invalid_page)?;
        // Outside of searches a token is checked, but the position counts.
        if by_token {
            start = place;
        }
    }
    Ok(PagePosition { rows: start..start.saturating_add(size), by_token })
}

/// Returns the context URL of an answer of a mailbox. `of` is the path to its entities; `single` is
/// true for one entity.
pub(super) fn context(
    request: &HttpRequest,
    options: &QueryOptions<'_>,
    mailbox: &str,
    (of, single): (&str, bool),
) -> String {
    let selected = match &options.select {
        Some(names) => format!("({})", names.join(",")),
        None => String::new(),
    };
    format!(
        "{}/v1.0/$metadata#users('{}')/{of}{selected}{}",
        request.base(),
        utf8_percent_encode(mailbox, ENCODED),
        if single { "/$entity" } else { "" }
    )
}

/// Returns the address of a message in Outlook on the web.
pub(super) fn web_link(id: &str) -> String {
    let id = utf8_percent_encode(id, ENCODED);
    format!("https://outlook.office365.com/owa/?ItemID={id}&exvsurl=1&viewmodel=ReadMessageItem")
}

/// Returns the path of a request, percent-encoded.
pub(super) fn path(request: &HttpRequest) -> String {
    let parts = request.path.iter();
    let parts = parts.map(|part| utf8_percent_encode(part, ENCODED).to_string());
    parts.collect::<Vec<_>>().join("/")
}

/// Returns the address of an event in Outlook on the web.
pub(super) fn event_link(id: &str) -> String {
    let id = utf8_percent_encode(id, ENCODED);
    format!("https://outlook.office365.com/owa/?itemid={id}&exvsurl=1&path=/calendar/item")
}

/// Returns the link to the next page.
pub(super) fn link(request: &HttpRequest, page: &PagePosition) -> String {
    let encode = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
    // All other options are repeated, because a client follows the link without adding any.
    let parameters =
        request.query.iter().filter(|(name, _)| !matches!(name.as_str(), "$skip" | "$skiptoken"));
    let mut query: Vec<String> =
        parameters.map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    query.push(if page.by_token {
        format!("%24skiptoken={}", token(page.rows.end, &question(request)))
    } else {
        format!("%24skip={}", page.rows.end)
    });
    format!("{}/{}?{}", request.base(), path(request), query.join("&"))
}

/// Returns a hash of the path and all options that change the list, to which a token belongs.
fn question(request: &HttpRequest) -> [u8; 8] {
    let mut hash = Sha256::new();
    for part in &request.path {
        hash.update(part);
        hash.update("/");
    }
    for (name, value) in &request.query {
        if !matches!(name.as_str(), "$skip" | "$skiptoken") {
            hash.update(format!("{name}={value}&"));
        }
    }
    let digest = hash.finalize();
    digest.first_chunk().copied().unwrap_or_default()
}

fn token(start: usize, question: &[u8; 8]) -> String {
    let start = u64::try_from(start).unwrap_or(u64::MAX);
    URL_SAFE_NO_PAD.encode([*question, start.to_be_bytes()].concat())
}

/// Returns the position in a token, if it belongs to this list.
fn place(token: &str, question: &[u8; 8]) -> Option<usize> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let start = bytes.strip_prefix(question)?;
    usize::try_from(u64::from_be_bytes(start.try_into().ok()?)).ok()
}
