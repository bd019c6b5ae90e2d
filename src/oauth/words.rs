//! OAuth's error codes in words, each with what to do next.
//!
//! The codes come from RFC 6749 and from the providers' consent pages. It stops
//! at words: whether an account changes its status over one is decided in
//! `accounts.rs`.

use super::Service;
use crate::error::{Error, Kind};

/// An error code in words. `code` is the provider's, from its token endpoint or
/// from the redirect.
pub(super) fn refused(service: &Service, code: &str) -> Error {
    let title = service.title;
    let auth = |message: String| Error::new(Kind::Auth, message);
    match code {
        "access_denied" => auth(format!("the consent was denied on {title}'s page"))
            .next(format!("run {} again and allow the access", add(service))),
        "admin_policy_enforced" | "org_internal" => auth(format!(
            "the organisation of this {title} account does not allow this app"
        ))
        .next("ask its administrator to allow the OAuth client, or use another account"),
        "invalid_client" | "unauthorized_client" | "deleted_client" | "disabled_client" => {
            auth(format!("{title} does not accept the OAuth client")).next(format!(
                "check {} and its secret; {} says where they come from",
                service.client_id, service.setup
            ))
        }
        "redirect_uri_mismatch" => auth(format!(
            "{title} does not allow this OAuth client to come back to 127.0.0.1"
        ))
        .next(format!(
            "use an OAuth client of the type `Desktop app`; {} says how",
            service.setup
        )),
        "invalid_scope" => {
            auth(format!("{title} does not know a scope that was asked for")).next(format!(
                "switch the APIs on for the project; {} says how",
                service.setup
            ))
        }
        "server_error" | "temporarily_unavailable" => {
            auth(format!("{title} has a problem")).next("try again later")
        }
        other => auth(format!("{title} refused the sign-in ({})", tame(other)))
            .next(format!("run {} again", add(service))),
    }
}

/// Nobody has said which OAuth client to use.
pub(super) fn no_client(service: &Service) -> Error {
    Error::new(
        Kind::Auth,
        format!("no OAuth client for {} is set", service.title),
    )
    .next(format!(
        "set {}; {} says how to get one",
        service.client_id, service.setup
    ))
}

/// The code from the consent page is not good, or no longer.
pub(super) fn used_code(service: &Service) -> Error {
    Error::new(
        Kind::Auth,
        format!(
            "{} refused the sign-in's code: it was used before or has expired",
            service.title
        ),
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
    .next(format!(
        "remove this app at {} and run {} again",
        service.grants,
        add(service)
    ))
}

/// What came back does not belong to the sign-in that was begun.
pub(super) fn wrong_state(service: &Service) -> Error {
    Error::new(
        Kind::Auth,
        "this is not the answer to the sign-in that was started (wrong state)",
    )
    .next(format!(
        "use the newest address that was shown, or run {} again",
        add(service)
    ))
}

/// Nobody came back from the consent page.
pub(super) fn timed_out(service: &Service, minutes: u64) -> Error {
    Error::new(
        Kind::Auth,
        format!("nobody signed in within {minutes} minutes"),
    )
    .next(format!("run {} again", add(service)))
}

/// What was pasted is not the address that the consent page led to.
pub(super) fn not_a_redirect(redirect: &str) -> Error {
    Error::new(
        Kind::Auth,
        "that is not the address the sign-in ended on; a code alone is not enough, because \
         nothing shows which sign-in it belongs to",
    )
    .next(format!(
        "paste the whole address from the browser's address bar, beginning with {redirect}"
    ))
}

/// The account's grant has ended; the words that are kept with the account.
pub(crate) fn grant_ended(service: &Service, email: &str) -> Error {
    Error::new(
        Kind::Auth,
        format!(
            "the {} grant of {email} was refused (expired or revoked; {})",
            service.title, service.ends
        ),
    )
    .next(format!("run {}", add(service)))
}

/// The command that signs in.
fn add(service: &Service) -> String {
    format!("`daysheet account add {}`", service.name)
}

/// The error code in an answer's body, if it is one of OAuth's.
pub(super) fn error_code(body: &[u8]) -> Option<String> {
    let json: serde_json::Value = serde_json::from_slice(body).ok()?;
    Some(json.get("error")?.as_str()?.to_owned())
}

/// A code we do not know, fit to be shown: codes are short words of few letters.
fn tame(code: &str) -> String {
    let word: String = code
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'))
        .take(40)
        .collect();
    if word.is_empty() {
        "without a reason".to_owned()
    } else {
        word
    }
}
