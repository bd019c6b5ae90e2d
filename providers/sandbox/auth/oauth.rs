//! Checks and encodings that both sign-ins share: loopback redirects, PKCE and form fields.
//!
//! Errors are worded by each provider's sign-in.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use url::{Host, Url};

use crate::http::HttpResponse;

/// The length of an S256 challenge: SHA-256 in base64url without padding (RFC 7636, 4.2).
pub(super) const CHALLENGE: usize = 43;

/// Returns true if a redirect URI leads to a program on this machine: `http` on a loopback address
/// or `localhost`, without a fragment.
pub(super) fn is_loopback(uri: &str) -> bool {
    let Ok(uri) = Url::parse(uri) else {
        return false;
    };
    let local = match uri.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    // A fragment is not allowed in a redirect URI (RFC 6749, 3.1.2).
    local && uri.scheme() == "http" && uri.fragment().is_none()
}

/// Returns the S256 challenge of a verifier (RFC 7636, 4.2).
pub(super) fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

/// Returns the first value of a form's field.
pub(super) fn field<'a>(form: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let (_, value) = form.iter().find(|(key, _)| key == name)?;
    Some(value)
}

/// Redirects to the client. The query of its redirect URI is kept (RFC 6749, 3.1.2). Pairs with an
/// empty value are left out: a client that sent no `state` must not get one. `None` if the URI is
/// invalid.
pub(super) fn back(redirect_uri: &str, pairs: &[(&str, &str)]) -> Option<HttpResponse> {
    let mut uri = Url::parse(redirect_uri).ok()?;
    uri.query_pairs_mut().extend_pairs(pairs.iter().filter(|(_, value)| !value.is_empty()));
    Some(HttpResponse::redirect(uri))
}
