//! The first half of the device code grant (RFC 8628): the codes, and the page for entering the
//! short one. Polls are answered in `token.rs`.

use hyper::{Method, StatusCode};
use serde_json::json;

use super::error::{EntraError, answer};
use super::scopes;
use crate::auth::consent::CONSENT_HEADER;
use crate::auth::oauth::field;
use crate::auth::pages;
use crate::auth::tokens::authorization::{AuthorizationRequest, TokenIssuer};
use crate::http::{HttpRequest, HttpResponse};
use crate::state::RequestState;

/// Issues the codes of a device.
pub(in crate::auth) fn issue(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    let form = request.form();
    let authorization = match authorization(&form) {
        Ok(authorization) => authorization,
        Err(refusal) => return refusal.json(),
    };
    let mut sign_in = state.sign_in();
    let (device_code, user_code) = match sign_in.devices.issue(authorization) {
        Ok(codes) => codes,
        Err(error) => return EntraError::failure(error.message()).json(),
    };
    let tenant = request.path.first().map_or("common", String::as_str);
    let page = format!("{}/{tenant}/oauth2/deviceauth", request.base());
    let interval = sign_in.devices.interval;
    answer(
        StatusCode::OK,
        &json!({
            "user_code": user_code,
            "device_code": device_code,
            "verification_uri": page,
            "expires_in": sign_in.devices.lifetime.as_secs(),
            // Rounded up: a device that waits for whole seconds must never be too fast.
            "interval": interval.as_secs() + u64::from(interval.subsec_nanos() > 0),
            "message": format!(
                "To sign in, use a web browser to open the page {page} and enter the code \
                 {user_code} to authenticate."
            ),
        }),
    )
}

/// Reads a device's request.
fn authorization(form: &[(String, String)]) -> Result<AuthorizationRequest, EntraError> {
    let need = |name: &str| {
        let value = field(form, name).filter(|value| !value.is_empty());
        value.ok_or_else(|| EntraError::missing(name))
    };
    let client_id = need("client_id")?;
    let scopes = scopes::read(need("scope")?)?;
    let (issuer, offline) = (TokenIssuer::Microsoft, scopes.offline);
    Ok(AuthorizationRequest::direct(issuer, client_id, scopes.granted, offline))
}

/// Shows the page for entering the code, or handles its form. With the consent header, a single GET
/// request is enough.
pub(in crate::auth) fn page(state: &RequestState, request: &HttpRequest) -> HttpResponse {
    let form = request.form();
    let given = |name: &str| field(&form, name).or_else(|| request.param(name));
    // `otc` is the name of the field on Microsoft's own page.
    let user_code = given("user_code").or_else(|| given("otc")).unwrap_or_default();
    let hint = given("mailbox").or_else(|| given("login_hint")).unwrap_or_default();
    let decision = match request.header(CONSENT_HEADER) {
        Some(decision) => Some(decision),
        None if request.method == Method::POST => Some(given("decision").unwrap_or("allow")),
        None => None,
    };
    let Some(decision) = decision else {
        return pages::device(state, user_code, hint, None);
    };
    let complain = |why: &str| pages::device(state, user_code, hint, Some(why));
    let allowed = match (decision, state.mailbox(hint)) {
        ("allow", Some(mailbox)) => Some(mailbox.address.clone()),
        ("allow", None) => return complain("Choose a mailbox."),
        _ => None,
    };
    let allow = allowed.is_some();
    if !state.sign_in().devices.say(user_code, allowed) {
        return complain("That code didn’t work. Check the code and try again.");
    }
    let (title, sentence) = if allow {
        ("You have signed in", "You may close this page and go back to your device.")
    } else {
        ("You have not signed in", "The device was told that you declined.")
    };
    pages::message(StatusCode::OK, title, sentence)
}
