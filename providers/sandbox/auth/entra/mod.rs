//! Microsoft's sign-in (Entra ID, the OAuth 2.0 endpoints of version 2.0).
//!
//! Here are its addresses, its tenants and what an administrator may demand.
//! The browser's half is in `authorize.rs`, the device's in
//! `device.rs`, the tokens' in `token.rs`. As with Google's, nobody
//! is asked for a password, and all else is checked as the service checks it.

mod authorize;
mod device;
mod error;
mod scopes;
mod token;

use crate::http::{Request, Response};
use crate::routes::routes;
use crate::state::State;
use error::EntraError;

/// What a route leads to.
struct EntraCall<'a> {
    /// The tenant of its path.
    tenant: &'a str,
    /// True for what is shown to people.
    page: bool,
    /// What it does.
    handle: fn(&State, &Request) -> Response,
}

routes! { EntraCall below "" {
    "GET" [tenant, "oauth2", "v2.0", "authorize"] => {
        EntraCall { tenant, page: true, handle: authorize::ask }
    },
    "POST" [tenant, "oauth2", "v2.0", "consent"] => {
        EntraCall { tenant, page: true, handle: authorize::consent }
    },
    "POST" [tenant, "oauth2", "v2.0", "token"] => {
        EntraCall { tenant, page: false, handle: token::answer }
    },
    "POST" [tenant, "oauth2", "v2.0", "devicecode"] => {
        EntraCall { tenant, page: false, handle: device::issue }
    },
    "GET" [tenant, "oauth2", "deviceauth"] => EntraCall { tenant, page: true, handle: device::page },
    "POST" [tenant, "oauth2", "deviceauth"] => EntraCall { tenant, page: true, handle: device::page },
}}

/// Answers the paths of the sign-in; `None` for any other.
pub(crate) fn answer(state: &State, request: &Request, path: &[&str]) -> Option<Response> {
    let (name, call) = route(request.method.as_str(), path)?;
    if !is_tenant(call.tenant) {
        let unknown = unknown_tenant(call.tenant);
        return Some(match call.page {
            true => unknown.page(),
            false => unknown.json(),
        });
    }
    let answer = (call.handle)(state, request);
    if answer.status.as_u16() < 400 {
        state.hit(name);
    }
    Some(answer)
}

/// A tenant that is none.
fn unknown_tenant(name: &str) -> EntraError {
    let text = format!("Tenant '{name}' not found. Check to make sure you have the correct one.");
    EntraError::new("invalid_request", 90_002, text)
}

/// True for a path segment that names a tenant: by a word, its GUID or a domain.
fn is_tenant(segment: &str) -> bool {
    let any = ["common", "organizations", "consumers"];
    any.iter().any(|name| name.eq_ignore_ascii_case(segment))
        || is_guid(segment)
        || is_domain(segment)
}

/// True for 8-4-4-4-12 hexadecimal digits.
fn is_guid(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}

/// True for a domain name of two labels or more.
fn is_domain(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= 253 && text.contains('.') && text.split('.').all(label)
}
