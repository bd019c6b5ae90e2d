//! Explains OAuth's error codes, each with the next step.
//!
//! The codes come from RFC 6749 and from the providers' consent pages; Microsoft's numbers are in
//! `entra.rs`. `accounts.rs` decides whether an account changes its status.

use super::entra::End;
use super::said::Said;
use super::{Ended, Service};
use crate::config::TENANTS;
use crate::error::{Error, Kind};

/// Explains a refusal of a sign-in, from a token endpoint or from the redirect.
pub(super) fn refused(service: &Service, said: &Said) -> Error {
    let title = service.title;
    let auth = |message: String| Error::new(Kind::Auth, message);
    if let Some(trouble) = (service.explain)(said) {
        return auth(format!(
            "{title} refused the sign-in: {}{}",
            trouble.why,
            numbered(said, " (", ")")
        ))
        .next(filled(service, trouble.next));
    }
    match said.error.as_str() {
        "invalid_grant" if said.number.is_none() => used_code(service),
        "access_denied" => auth(format!("the consent was denied on {title}'s page"))
            .next(format!("run {} again and allow the access", add(service))),
        "admin_policy_enforced" | "org_internal" => {
            auth(format!("the organisation of this {title} account does not allow this app"))
                .next("ask its administrator to allow the OAuth client, or use another account")
        }
        "invalid_client" | "unauthorized_client" | "deleted_client" | "disabled_client" => {
            auth(format!("{title} does not accept the OAuth client{}", numbered(said, " (", ")")))
                .next(format!(
                    "check {} and its secret; {} says where to get them",
                    service.client_id, service.setup
                ))
        }
        "redirect_uri_mismatch" => auth(format!(
            "{title} does not allow this OAuth client to redirect to {}",
            service.redirect_host
        ))
        .next(format!("use an OAuth client of the type `Desktop app`; {} says how", service.setup)),
        "invalid_scope" => auth(format!("{title} does not know a requested scope"))
            .next(format!("enable the APIs for the project; {} says how", service.setup)),
        "server_error" | "temporarily_unavailable" => {
            auth(format!("{title} has a problem{}", numbered(said, " (", ")")))
                .next("try again later")
        }
        other => auth(format!(
            "{title} refused the sign-in ({}{})",
            tame(other),
            numbered(said, ", ", "")
        ))
        .next(format!("run {} again", add(service))),
    }
}

/// Returns why a refused refresh is the end of the grant; `None` if it is not, and the
/// next refresh may succeed.
pub(super) fn end(service: &Service, said: &Said) -> Option<Ended> {
    // The first is RFC 6749's; the others are OpenID Connect's, and mean that the
    // person has to sign in again.
    let coded = matches!(
        said.error.as_str(),
        "invalid_grant" | "interaction_required" | "consent_required" | "login_required"
    );
    let trouble = (service.explain)(said);
    if !coded || trouble.is_some_and(|trouble| trouble.end == End::Never) {
        return None;
    }
    let why = trouble.map_or_else(
        || format!("expired or revoked; {}", service.ends),
        |trouble| trouble.why.to_owned(),
    );
    Some(Ended {
        revoked: trouble.map_or(said.revoked, |trouble| trouble.end == End::Withdrawn),
        reason: format!("{why}{}", numbered(said, "; ", "")),
    })
}

/// Returns Microsoft's number of the error, if there is one, between two texts.
fn numbered(said: &Said, before: &str, after: &str) -> String {
    said.number.map(|number| format!("{before}AADSTS{number}{after}")).unwrap_or_default()
}

/// Fills the command and the page into a next step.
fn filled(service: &Service, next: &str) -> String {
    next.replace("{add}", &add(service)).replace("{setup}", service.setup)
}

/// Returns the error that no OAuth client is set.
pub(super) fn no_client(service: &Service) -> Error {
    Error::new(Kind::Auth, format!("no OAuth client for {} is set", service.title))
        .next(format!("set {}; {} says how to get one", service.client_id, service.setup))
}

/// Returns the error that the code from the consent page is invalid, or no longer valid.
fn used_code(service: &Service) -> Error {
    Error::new(
        Kind::Auth,
        format!("{} refused the sign-in's code: it was already used or has expired", service.title),
    )
    .next(format!("run {} again", add(service)))
}

/// Returns the error that the sign-in succeeded, but would last only an hour.
pub(super) fn no_refresh_token(service: &Service) -> Error {
    Error::new(
        Kind::Auth,
        format!(
            "{} returned no refresh token, so the sign-in would end within the hour",
            service.title
        ),
    )
    .next(format!("remove this app at {} and run {} again", service.grants, add(service)))
}

/// Returns the error for a response to another sign-in.
pub(super) fn wrong_state(service: &Service) -> Error {
    Error::new(Kind::Auth, "this answers another sign-in (wrong state)")
        .next(format!("use the newest address shown, or run {} again", add(service)))
}

/// Returns the error that the consent page was not completed in time.
pub(super) fn timed_out(service: &Service, minutes: u64) -> Error {
    Error::new(Kind::Auth, format!("nobody signed in within {minutes} minutes"))
        .next(format!("run {} again", add(service)))
}

/// Returns the error for a pasted text that is not the address of the redirect.
pub(super) fn not_a_redirect(redirect: &str) -> Error {
    Error::new(
        Kind::Auth,
        "that is not the address the sign-in ended on; a code alone does not show which sign-in it \
         belongs to",
    )
    .next(format!(
        "paste the whole address from the browser's address bar, beginning with {redirect}"
    ))
}

/// Returns the error that the provider has no tenants.
pub(super) fn no_tenants(service: &Service) -> Error {
    Error::argument(format!("{} has no tenants", service.title)).next("leave out the tenant")
}

/// Returns the error for an invalid tenant.
pub(super) fn no_such_tenant() -> Error {
    Error::argument("that is not a tenant").next(format!("use {TENANTS}"))
}

/// Returns the error that the provider has no usable device flow.
pub(super) fn no_device_flow(service: &Service) -> Error {
    Error::argument(format!("{}'s device flow does not support mail scopes", service.title)).next(
        format!(
            "sign in through a browser: `daysheet account add {} --no-browser` takes the address \
             the page ends on, pasted from any machine",
            service.name
        ),
    )
}

/// Returns the error that the account's grant has ended, which is stored with the
/// account. `again` is the command that signs it in again.
pub(crate) fn grant_ended(service: &Service, email: &str, ended: &Ended, again: &str) -> Error {
    Error::new(
        Kind::Auth,
        format!("the {} grant of {email} was refused ({})", service.title, ended.reason),
    )
    .next(format!("run {again}"))
}

/// Returns the command that signs in.
fn add(service: &Service) -> String {
    format!("`daysheet account add {}`", service.name)
}

/// Returns an unknown code if it is safe to show: codes are short words of few letters.
fn tame(code: &str) -> String {
    let word: String = code
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'))
        .take(40)
        .collect();
    if word.is_empty() { "without a reason".to_owned() } else { word }
}
