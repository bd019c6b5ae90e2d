//! Microsoft's sign-in (Entra ID, the OAuth 2.0 endpoints of version 2.0).
//!
//! Here are its addresses, its tenants and what an administrator may demand.
//! The browser's half is in `authorize.rs`, the device's in
//! `device.rs`, the tokens' in `token.rs`. As with Google's, nobody
//! is asked for a password, and all else is checked as the service checks it.

mod authorize;
mod device;
mod error;
mod ids;
pub(crate) mod policy;
mod scopes;
mod token;

use hyper::{Method, StatusCode};
use serde_json::json;

use crate::http::{Answer, Request};
use crate::state::State;
use error::{Refusal, answer as json_answer};
use ids::Tenant;

/// Answers the paths of the sign-in; `None` for any other.
pub(crate) fn answer(state: &State, request: &Request, path: &[&str]) -> Option<Answer> {
    let (name, place) = match path {
        [tenant, "oauth2", "v2.0", "authorize"] => (tenant, Place::Authorize),
        [tenant, "oauth2", "v2.0", "consent"] => (tenant, Place::Consent),
        [tenant, "oauth2", "v2.0", "token"] => (tenant, Place::Token),
        [tenant, "oauth2", "v2.0", "devicecode"] => (tenant, Place::DeviceCode),
        [tenant, "oauth2", "deviceauth"] => (tenant, Place::DevicePage),
        [tenant, "v2.0", ".well-known", "openid-configuration"] => (tenant, Place::Configuration),
        _ => return None,
    };
    let get = matches!(request.method, Method::GET | Method::HEAD);
    let post = request.method == Method::POST;
    let for_people = matches!(place, Place::Authorize | Place::Consent | Place::DevicePage);
    let Some(tenant) = Tenant::read(name) else {
        let unknown = unknown_tenant(name);
        return Some(match for_people {
            true => unknown.page(request),
            false => unknown.json(request),
        });
    };
    Some(match place {
        Place::Authorize if get => authorize::ask(state, request),
        Place::Consent if post => authorize::consent(state, request),
        Place::Token if post => token::answer(state, request, tenant),
        Place::DeviceCode if post => device::issue(state, request, name),
        Place::DevicePage if get || post => device::page(state, request),
        Place::Configuration if get => configuration(request, name, tenant),
        Place::Token | Place::DeviceCode => {
            Refusal::only_post(request.method.as_str()).json(request)
        }
        _ => return None,
    })
}

/// What stands at an address below a tenant.
enum Place {
    Authorize,
    Consent,
    Token,
    DeviceCode,
    DevicePage,
    Configuration,
}

/// A tenant that is none.
fn unknown_tenant(name: &str) -> Refusal {
    Refusal::new(
        "invalid_request",
        90_002,
        format!(
            "Tenant '{name}' not found. Check to make sure you have the correct tenant ID and are \
             signing into the correct cloud. Check with your subscription administrator, this may \
             happen if there are no active subscriptions for the tenant."
        ),
    )
}

/// Where things are (OpenID Connect Discovery 1.0).
fn configuration(request: &Request, name: &str, tenant: Tenant<'_>) -> Answer {
    let base = ids::base(request);
    // The service leaves a gap where the tenant is not known yet.
    let id = tenant.id().unwrap_or_else(|| "{tenantid}".to_owned());
    let at = |path: &str| format!("{base}/{name}/oauth2/v2.0/{path}");
    json_answer(
        StatusCode::OK,
        &json!({
            "issuer": format!("{base}/{id}/v2.0"),
            "authorization_endpoint": at("authorize"),
            "token_endpoint": at("token"),
            "device_authorization_endpoint": at("devicecode"),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": [
                "authorization_code",
                "refresh_token",
                token::DEVICE_GRANT,
            ],
            "code_challenge_methods_supported": ["S256"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "request_uri_parameter_supported": false,
        }),
    )
}
