//! Explanations of OAuth's error codes, with a next step for each.
//!
//! The codes are RFC 6749's and those of the providers' consent pages; Microsoft's numbers are in
//! `entra.rs`. `accounts.rs` decides whether an account's status changes.

use daysheet_core::error::{Error, ErrorKind};

use super::entra::RefusalMeaning;
use super::error_response::OAuthErrorResponse;
use super::providers::OAuthProvider;
use crate::config::TENANTS;

/// Explains a refused sign-in, from a token endpoint or from the redirect.
pub(super) fn sign_in_error(provider: &OAuthProvider, response: &OAuthErrorResponse) -> Error {
    let title = provider.title;
    let auth = |message: String| Error::new(ErrorKind::Auth, message);
    if let Some(known) = (provider.explain)(response) {
        return auth(format!(
            "{title} refused the sign-in: {}{}",
            known.why,
            with_number(response, " (", ")")
        ))
        .next(fill_in(provider, known.next));
    }
    match response.error.as_str() {
        "invalid_grant" if response.number.is_none() => used_code(provider),
        "access_denied" => auth(format!("the consent was denied on {title}'s page"))
            .next(format!("run {} again and allow the access", add(provider))),
        "admin_policy_enforced" | "org_internal" => {
            auth(format!("the organisation of this {title} account does not allow this app"))
                .next("ask its administrator to allow the OAuth client, or use another account")
        }
        "invalid_client" | "unauthorized_client" | "deleted_client" | "disabled_client" => auth(
            format!("{title} does not accept the OAuth client{}", with_number(response, " (", ")")),
        )
        .next(format!(
            "check {} and its secret; {} says where to get them",
            provider.client_id, provider.setup
        )),
        "redirect_uri_mismatch" => auth(format!(
            "{title} does not allow this OAuth client to redirect to {}",
            provider.redirect_host
        ))
        .next(format!(
            "use an OAuth client of the type `Desktop app`; {} says how",
            provider.setup
        )),
        "invalid_scope" => auth(format!("{title} does not know a requested scope"))
            .next(format!("enable the APIs for the project; {} says how", provider.setup)),
        "server_error" | "temporarily_unavailable" => {
            auth(format!("{title} has a problem{}", with_number(response, " (", ")")))
                .next("try again later")
        }
        other => auth(format!(
            "{title} refused the sign-in ({}{})",
            tame(other),
            with_number(response, ", ", "")
        ))
        .next(format!("run {} again", add(provider))),
    }
}

/// The end of a grant.
#[derive(Debug)]
pub(crate) struct GrantEnd {
    /// True if the provider reported a withdrawal rather than a possible expiry.
    pub(crate) revoked: bool,
    /// The reason, in words.
    reason: String,
}

/// Returns the end of the grant, if a refused refresh means that; `None` if the next refresh may
/// succeed.
pub(super) fn end(provider: &OAuthProvider, response: &OAuthErrorResponse) -> Option<GrantEnd> {
    // The first code is RFC 6749's. The others are OpenID Connect's, and require the person to sign
    // in again.
    let coded = matches!(
        response.error.as_str(),
        "invalid_grant" | "interaction_required" | "consent_required" | "login_required"
    );
    let known = (provider.explain)(response);
    if !coded || known.is_some_and(|known| known.end == RefusalMeaning::Never) {
        return None;
    }
    let why = known.map_or_else(
        || format!("expired or revoked; {}", provider.ends),
        |known| known.why.to_owned(),
    );
    Some(GrantEnd {
        revoked: known.map_or(response.revoked, |known| known.end == RefusalMeaning::Withdrawn),
        reason: format!("{why}{}", with_number(response, "; ", "")),
    })
}

/// Returns Microsoft's number of the error between two texts; empty without a number.
fn with_number(response: &OAuthErrorResponse, before: &str, after: &str) -> String {
    response.number.map(|number| format!("{before}AADSTS{number}{after}")).unwrap_or_default()
}

/// Fills the command and the page into a next step.
fn fill_in(provider: &OAuthProvider, next: &str) -> String {
    next.replace("{add}", &add(provider)).replace("{setup}", provider.setup)
}

/// Returns the error for a missing OAuth client.
pub(super) fn no_client(provider: &OAuthProvider) -> Error {
    Error::new(ErrorKind::Auth, format!("no OAuth client for {} is set", provider.title))
        .next(format!("set {}; {} says how to get one", provider.client_id, provider.setup))
}

/// Returns the error for a code from the consent page that is invalid, or no longer valid.
fn used_code(provider: &OAuthProvider) -> Error {
    Error::new(
        ErrorKind::Auth,
        format!(
            "{} refused the sign-in's code: it was already used or has expired",
            provider.title
        ),
    )
    .next(format!("run {} again", add(provider)))
}

/// Returns the error for a sign-in without a refresh token, which would last only an hour.
pub(super) fn no_refresh_token(provider: &OAuthProvider) -> Error {
    Error::new(
        ErrorKind::Auth,
        format!(
            "{} returned no refresh token, so the sign-in would end within the hour",
            provider.title
        ),
    )
    .next(format!("remove this app at {} and run {} again", provider.grants, add(provider)))
}

/// Returns the error for a response to another sign-in.
pub(super) fn wrong_state(provider: &OAuthProvider) -> Error {
    Error::new(ErrorKind::Auth, "this answers another sign-in (wrong state)")
        .next(format!("use the newest address shown, or run {} again", add(provider)))
}

/// Returns the error for a consent page that was not completed in time.
pub(super) fn timed_out(provider: &OAuthProvider, minutes: u64) -> Error {
    Error::new(ErrorKind::Auth, format!("nobody signed in within {minutes} minutes"))
        .next(format!("run {} again", add(provider)))
}

/// Returns the error for a pasted text other than the address of the redirect.
pub(super) fn not_a_redirect(redirect: &str) -> Error {
    Error::new(
        ErrorKind::Auth,
        "that is not the address the sign-in ended on; a code alone does not show which sign-in it \
         belongs to",
    )
    .next(format!(
        "paste the whole address from the browser's address bar, beginning with {redirect}"
    ))
}

/// Returns the error for a tenant at a provider without tenants.
pub(super) fn no_tenants(provider: &OAuthProvider) -> Error {
    Error::argument(format!("{} has no tenants", provider.title)).next("leave out the tenant")
}

/// Returns the error for an invalid tenant.
pub(super) fn no_such_tenant() -> Error {
    Error::argument("that is not a tenant").next(format!("use {TENANTS}"))
}

/// Returns the error for a provider without a usable device flow.
pub(super) fn no_device_flow(provider: &OAuthProvider) -> Error {
    Error::argument(format!("{}'s device flow does not support mail scopes", provider.title)).next(
        format!(
            "sign in through a browser: `daysheet account add {} --no-browser` takes the address \
             the page ends on, pasted from any machine",
            provider.name
        ),
    )
}

/// Returns the error for an account whose grant has ended, which is stored with the account.
/// `again` says how to sign it in again.
pub(crate) fn grant_ended(
    provider: &OAuthProvider,
    email: &str,
    ended: &GrantEnd,
    again: &str,
) -> Error {
    Error::new(
        ErrorKind::Auth,
        format!("the {} grant of {email} was refused ({})", provider.title, ended.reason),
    )
    .next(again)
}

/// Returns the command that signs in.
fn add(provider: &OAuthProvider) -> String {
    format!("`daysheet account add {}`", provider.name)
}

/// Returns an unknown code in a form that is safe to show.
fn tame(code: &str) -> String {
    let word: String = code
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        .take(40)
        .collect();
    if word.is_empty() { "without a reason".to_owned() } else { word }
}
