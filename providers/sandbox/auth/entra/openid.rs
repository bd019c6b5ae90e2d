//! OpenID Connect at Microsoft's sign-in: discovery of the endpoints, and ID tokens.
//!
//! Client libraries fetch the endpoints first, and read the account from the ID token. It is
//! unsigned: a client that gets it directly from the token endpoint may rely on TLS instead of the
//! signature (OpenID Connect Core, 3.1.3.7).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::error::answer;
use crate::graph::ids::MailboxIds;
use crate::http::{HttpRequest, HttpResponse};
use crate::state::RequestState;

/// The tenant of personal accounts, to which all mailboxes belong.
const TENANT: &str = "9188040d-6c67-4c5b-b112-36a304b66dad";

/// The hosts of the sign-in, the preferred one first.
const HOSTS: [&str; 4] =
    ["login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"];

/// Returns the discovery document of a tenant.
pub(in crate::auth) fn configuration(_: &RequestState, request: &HttpRequest) -> HttpResponse {
    let base = request.base();
    let tenant = request.path.first().map_or("common", String::as_str);
    let endpoint = |name: &str| format!("{base}/{tenant}/oauth2/v2.0/{name}");
    answer(
        StatusCode::OK,
        &json!({
            // The endpoints are on loopback, but the issuer is Microsoft's: it has to equal `iss`
            // of the ID token (OpenID Connect Discovery, 4.3).
            "issuer": issuer(),
            "authorization_endpoint": endpoint("authorize"),
            "token_endpoint": endpoint("token"),
            "device_authorization_endpoint": endpoint("devicecode"),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "subject_types_supported": ["pairwise"],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
        }),
    )
}

/// Returns the hosts that count as one sign-in (instance discovery). Microsoft's libraries check
/// their authority against it.
pub(in crate::auth) fn instance(_: &RequestState, request: &HttpRequest) -> HttpResponse {
    let [network, cache, ..] = HOSTS;
    answer(
        StatusCode::OK,
        &json!({
            "tenant_discovery_endpoint":
                format!("{}/common/v2.0/.well-known/openid-configuration", request.base()),
            "api-version": "1.1",
            "metadata": [
                { "preferred_network": network, "preferred_cache": cache, "aliases": HOSTS },
            ],
        }),
    )
}

/// Returns an ID token that tells a client who signed in, issued at `now` and valid for this many
/// seconds.
pub(super) fn id_token(address: &str, client: &str, now: Timestamp, seconds: u64) -> String {
    let now = u64::try_from(now.as_second()).unwrap_or_default();
    let owner = MailboxIds::new(address);
    let claims = json!({
        "ver": "2.0",
        "iss": issuer(),
        "aud": client,
        "sub": owner.mailbox(),
        "oid": owner.mailbox(),
        "tid": TENANT,
        "preferred_username": address,
        "name": address,
        "iat": now,
        "nbf": now,
        "exp": now + seconds,
    });
    format!("{}.{}.", encoded(&json!({ "typ": "JWT", "alg": "none" })), encoded(&claims))
}

/// Returns the account as `client_info`, which Microsoft's libraries request and key their cache
/// by.
pub(super) fn client_info(address: &str) -> String {
    encoded(&json!({ "uid": MailboxIds::new(address).mailbox(), "utid": TENANT }))
}

/// Returns the issuer of all ID tokens.
fn issuer() -> String {
    let [network, ..] = HOSTS;
    format!("https://{network}/{TENANT}/v2.0")
}

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}
