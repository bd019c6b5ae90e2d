//! Explanations of OAuth's error codes, with a next step for each.
//!
//! The known refusals are in the table of `daysheet_core::provider::refusals`. `accounts.rs` decides
//! whether an account's status changes.

use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::refusals::{
    KnownRefusal, RefusalMeaning, RefusalSigns, RefusalStage, known_refusal,
};

use super::error_response::{OAuthErrorResponse, RefusalFields};
use super::providers::{OAuthProvider, provider_named};
use crate::config::TENANTS;

/// Explains a refused sign-in, from a token endpoint or from the redirect.
pub(super) fn sign_in_error(provider: &OAuthProvider, response: &OAuthErrorResponse) -> Error {
    let title = provider.title;
    let auth = |message: String| Error::new(ErrorKind::Auth, message);
    match known(provider, RefusalStage::SignIn, response) {
        Some(known) => auth(format!(
            "{title} refused the sign-in: {}{}",
            known.why,
            with_number(response, " (", ")")
        ))
        .next(fill_in(provider, known.next)),
        None => auth(format!(
            "{title} refused the sign-in ({}{})",
            tame(&response.error),
            with_number(response, ", ", "")
        ))
        .next(format!("run {} again", add(provider))),
    }
}

/// Returns the known refusal that a response is.
pub(super) fn known(
    provider: &OAuthProvider,
    stage: RefusalStage,
    response: &OAuthErrorResponse,
) -> Option<&'static KnownRefusal> {
    known_refusal(&RefusalSigns {
        provider: provider.name,
        stage,
        number: response.number,
        // The more exact word precedes OAuth's code, which is `invalid_grant` for many problems.
        words: [&response.suberror, &response.error],
        description: response.phrase,
    })
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
    let known = known(provider, RefusalStage::Refresh, response);
    if !coded || known.is_some_and(|known| known.end == RefusalMeaning::Never) {
        return None;
    }
    let why = known.map_or_else(
        || format!("expired or revoked; {}", provider.ends),
        |known| known.why.to_owned(),
    );
    Some(GrantEnd {
        revoked: match known.map(|known| known.end) {
            None | Some(RefusalMeaning::AsDescribed) => response.revoked,
            Some(end) => end == RefusalMeaning::Withdrawn,
        },
        reason: format!("{why}{}", with_number(response, "; ", "")),
    })
}

/// Returns the next step for an error of ours that has one of Microsoft's numbers.
pub(crate) fn cure(provider: &str, message: &str) -> Option<String> {
    let provider = provider_named(provider).ok()?;
    let description = RefusalFields { description: message, ..RefusalFields::default() };
    let response = OAuthErrorResponse::new(&description);
    let known = response.number.and(known(provider, RefusalStage::Refresh, &response))?;
    Some(fill_in(provider, known.next))
}

/// Returns Microsoft's number of the error between two texts; empty without a number.
fn with_number(response: &OAuthErrorResponse, before: &str, after: &str) -> String {
    response.number.map(|number| format!("{before}AADSTS{number}{after}")).unwrap_or_default()
}

/// Fills the command and the page into a next step.
fn fill_in(provider: &OAuthProvider, next: &str) -> String {
    next.replace("{add}", &add(provider))
        .replace("{setup}", provider.setup)
        .replace("{client_id}", provider.client_id)
}

/// Returns the error for a missing OAuth client.
pub(super) fn no_client(provider: &OAuthProvider) -> Error {
    Error::new(ErrorKind::Auth, format!("no OAuth client for {} is set", provider.title))
        .next(format!("set {}; {} says how to get one", provider.client_id, provider.setup))
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
