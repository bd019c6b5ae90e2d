//! Sign-in at Google and Microsoft: the routes of both.

mod consent;
mod entra;
pub(super) mod google;
mod oauth;
mod pages;
pub(super) mod random;
pub(super) mod tokens;

use entra::{authorize, device, openid, token};

use super::http::{HttpRequest, HttpResponse};
use super::routes::routes;
use super::state::RequestState;

/// The handler of a route.
struct SignInCall<'a>(&'a dyn Fn(&RequestState, &HttpRequest) -> HttpResponse);

routes! { SignInCall below "" {
    "GET" ["o", "oauth2", "v2", "auth"] => SignInCall(&google::ask),
    "POST" ["o", "oauth2", "v2", "consent"] => SignInCall(&google::consent),
    "POST" ["token"] => SignInCall(&google::token),
    "POST" ["revoke"] => SignInCall(&google::revoke),
    "GET" [_tenant, "oauth2", "v2.0", "authorize"] => SignInCall(&authorize::ask),
    "POST" [_tenant, "oauth2", "v2.0", "consent"] => SignInCall(&authorize::consent),
    "POST" [_tenant, "oauth2", "v2.0", "token"] => SignInCall(&token::answer),
    "POST" [_tenant, "oauth2", "v2.0", "devicecode"] => SignInCall(&device::issue),
    "GET" [_tenant, "v2.0", ".well-known", "openid-configuration"] => {
        SignInCall(&openid::configuration)
    },
    "GET" ["common", "discovery", "instance"] => SignInCall(&openid::instance),
    "GET" [_tenant, "oauth2", "deviceauth"] => SignInCall(&device::page),
    "POST" [_tenant, "oauth2", "deviceauth"] => SignInCall(&device::page),
}}

/// Answers the paths of both sign-ins; `None` for any other path.
pub(super) fn answer(
    state: &RequestState,
    request: &HttpRequest,
    path: &[&str],
) -> Option<HttpResponse> {
    let (name, call) = route(request.method.as_str(), path)?;
    let answer = call.0(state, request);
    if answer.status.as_u16() < 400 {
        state.hit(name);
    }
    Some(answer)
}
