//! Explanations of OAuth's error codes, with a next step for each.
//!
//! The known refusals are in the table of `daysheet_core::provider::refusals`. `accounts.rs` decides
//! whether an account's status changes.

use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::refusals::{
    KnownRefusal, RefusalMeaning, RefusalSigns, RefusalStage, known_refusal,
};

use super::authority::TokenAuthority;
use super::error_response::{OAuthErrorResponse, RefusalFields};
use super::providers::OAuthProvider;

/// Explains a refused sign-in, from a token endpoint or from the redirect.
pub(super) fn sign_in_error(authority: &TokenAuthority, response: &OAuthErrorResponse) -> Error {
    let provider = authority.provider;
    let title = provider.title;
    let auth = |message: String| Error::new(ErrorKind::Auth, message);
    match known(provider, RefusalStage::SignIn, response) {
        Some(known) => auth(format!(
            "{title} refused the sign-in: {}{}",
            known.why,
            with_number(response, " (", ")")
        ))
        .next(fill_in(authority, known, &format!("run {}", add(provider)))),
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

/// Returns the next step for the refusal of a grant, which `message` of ours describes. Only one of
/// Microsoft's numbers leads to another step than `again`, the way to sign in again.
fn cure(authority: &TokenAuthority, message: &str, again: &str) -> String {
    let description = RefusalFields { description: message, ..RefusalFields::default() };
    let response = OAuthErrorResponse::new(&description);
    let known = known(authority.provider, RefusalStage::Refresh, &response);
    match known.filter(|_| response.number.is_some()) {
        Some(known) => fill_in(authority, known, again),
        None => again.to_owned(),
    }
}

/// Returns Microsoft's number of the error between two texts; empty without a number.
fn with_number(response: &OAuthErrorResponse, before: &str, after: &str) -> String {
    response.number.map(|number| format!("{before}AADSTS{number}{after}")).unwrap_or_default()
}

/// Returns the next step with its commands and pages. `again` is the way to sign in again.
fn fill_in(authority: &TokenAuthority, known: &KnownRefusal, again: &str) -> String {
    let provider = authority.provider;
    let consent = authority.admin_consent.as_ref();
    let next = known.next.replace("run {add}", again);
    next.replace("{consent}", consent.map_or("the organisation's pages", |page| page.as_str()))
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

/// Returns the error for an account whose grant has ended. Its message is stored with the account.
/// `again` says how to sign it in again.
pub(crate) fn grant_ended(
    authority: &TokenAuthority,
    email: &str,
    ended: &GrantEnd,
    again: &str,
) -> Error {
    let title = authority.provider.title;
    let what = format!("the {title} grant of {email} was refused ({})", ended.reason);
    grant_ended_earlier(authority, what, again)
}

/// Returns the error for an account whose grant has ended, with its stored message.
pub(crate) fn grant_ended_earlier(
    authority: &TokenAuthority,
    message: String,
    again: &str,
) -> Error {
    let next = cure(authority, &message, again);
    Error::new(ErrorKind::Auth, message).next(next)
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
