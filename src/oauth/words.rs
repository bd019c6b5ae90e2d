//! OAuth's error codes in words, each with what to do next.
//!
//! The codes come from RFC 6749 and from the providers' consent pages;
//! Microsoft's numbers are in `entra.rs`. It stops at words: whether an account changes its status over one is decided in
//! `accounts.rs`.

use super::entra::End;
use super::said::Said;
use super::{Ended, Service};
use crate::config::TENANTS;
use crate::error::{Error, Kind};

/// A refusal of a sign-in in words, from a token endpoint or from the redirect.
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

/// Why a refused refresh is the end of the grant; nothing if it is not, and the
/// next refresh may go well.
pub(super) fn end(service: &Service, said: &Said) -> Option<Ended> {
    // The first is RFC 6749's; the others are OpenID Connect's, and say that
    // nothing but a person at the sign-in page can help.
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

/// Microsoft's number of the error, if there is one, between two texts.
fn numbered(said: &Said, before: &str, after: &str) -> String {
    said.number.map(|number| format!("{before}AADSTS{number}{after}")).unwrap_or_default()
}

/// A next step with the command and the page it speaks of.
fn filled(service: &Service, next: &str) -> String {
    next.replace("{add}", &add(service)).replace("{setup}", service.setup)
}

/// Nobody has said which OAuth client to use.
pub(super) fn no_client(service: &Service) -> Error {
    Error::new(Kind::Auth, format!("no OAuth client for {} is set", service.title))
        .next(format!("set {}; {} says how to get one", service.client_id, service.setup))
}

/// The code from the consent page is not good, or no longer.
fn used_code(service: &Service) -> Error {
    Error::new(
        Kind::Auth,
        format!("{} refused the sign-in's code: it was already used or has expired", service.title),
    )
    .next(format!("run {} again", add(service)))
}

/// The sign-in worked, and would last an hour.
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

/// What came back does not belong to the sign-in that was begun.
pub(super) fn wrong_state(service: &Service) -> Error {
    Error::new(Kind::Auth, "this answers another sign-in (wrong state)")
        .next(format!("use the newest address shown, or run {} again", add(service)))
}

/// Nobody came back from the consent page.
pub(super) fn timed_out(service: &Service, minutes: u64) -> Error {
    Error::new(Kind::Auth, format!("nobody signed in within {minutes} minutes"))
        .next(format!("run {} again", add(service)))
}

/// What was pasted is not the address that the consent page led to.
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

/// Only one provider says what a tenant is.
pub(super) fn no_tenants(service: &Service) -> Error {
    Error::argument(format!("{} has no tenants", service.title)).next("leave out the tenant")
}

/// That is no tenant.
pub(super) fn no_such_tenant() -> Error {
    Error::argument("that is not a tenant").next(format!("use {TENANTS}"))
}

/// The provider has no device flow, or none that helps.
pub(super) fn no_device_flow(service: &Service) -> Error {
    Error::argument(format!("{}'s device flow does not support mail scopes", service.title)).next(
        format!(
            "sign in through a browser: `daysheet account add {} --no-browser` takes the address \
             the page ends on, pasted from any machine",
            service.name
        ),
    )
}

/// The account's grant has ended; the words that are kept with the account.
/// `again` is the command that signs it in again.
pub(crate) fn grant_ended(service: &Service, email: &str, ended: &Ended, again: &str) -> Error {
    Error::new(
        Kind::Auth,
        format!("the {} grant of {email} was refused ({})", service.title, ended.reason),
    )
    .next(format!("run {again}"))
}

/// The command that signs in.
fn add(service: &Service) -> String {
    format!("`daysheet account add {}`", service.name)
}

/// A code we do not know, fit to be shown: codes are short words of few letters.
fn tame(code: &str) -> String {
    let word: String = code
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'))
        .take(40)
        .collect();
    if word.is_empty() { "without a reason".to_owned() } else { word }
}
