//! Checks of a message's sender, of one object.
//!
//! Header fields are judged in [`sender_auth`]. This module reads them, and adds warnings that
//! need the whole object: spam that was not checked, and the beginning of the text.

use serde_json::Value;

use super::context::RowContext;
use super::headers::field_values;
use super::reader::ReadValue;
use crate::schemas::wire;
use crate::text::payment::names_new_account;
use crate::text::sender_auth::{self, AuthResults, SenderHeaders, SenderWarning};
use crate::text::{self, MailAddress, orders};

/// The word for a message with orders to an assistant.
pub const INJECTION: &str = "injection";
/// The note for such a message.
pub const ORDERS: &str = "it has orders to an assistant, which may be hidden from people";

/// The word for a message that names a new account for payments.
pub const PAYMENT: &str = "payment";
/// The note for such a message.
pub const NEW_ACCOUNT: &str =
    "it names a new account for payments: check that with the payee by other means";

/// Returns the sender from the header field From in the list at a path.
pub(super) fn sender_at(object: &Value, path: &str) -> Option<MailAddress> {
    let (from, _) = wire::SENDER;
    let senders = text::address_list(field_values(object, path, from).next()?);
    senders.into_iter().next().filter(|one| !one.email.is_empty())
}

/// Returns true for a message from another person without results of the provider's own checks.
pub(super) fn is_unchecked(object: &Value, path: &str, context: &RowContext) -> bool {
    let others = |one: MailAddress| !one.email.eq_ignore_ascii_case(context.address);
    own_results(object, path, context).is_none() && sender_at(object, path).is_some_and(others)
}

/// Returns the results of the provider's own checks in words.
fn own_results(object: &Value, path: &str, context: &RowContext) -> Option<String> {
    let results = field_values(object, path, wire::RESULTS).next()?;
    AuthResults::read(results, context.api.receivers())?.line()
}

/// Reads the results of the checks of the sender.
pub(super) fn auth(object: &Value, path: &str, context: &RowContext) -> ReadValue {
    if let Some(line) = own_results(object, path, context) {
        return ReadValue::Text(line);
    }
    if !is_unchecked(object, path, context) {
        return ReadValue::Nothing;
    }
    // A sender can forge a result that says everything passed, but has no reason to forge a
    // failure.
    let results = field_values(object, path, wire::RESULTS).next();
    let claims = results.map(|value| AuthResults::read_claims(value).failures());
    ReadValue::Text(match claims {
        None => "not checked".to_owned(),
        Some(None) => "not checked; another server's results are not trusted".to_owned(),
        Some(Some(failures)) => format!("not checked; another server reports {failures}"),
    })
}

/// Returns the warnings about the sender of a message and the beginning of its text. `in_spam` is
/// true for a message in the spam folder.
pub(super) fn warnings_at(
    object: &Value,
    path: &str,
    in_spam: bool,
    opening: Option<&str>,
    context: &RowContext,
) -> Vec<SenderWarning> {
    let mut found = header_warnings(object, path, context);
    if in_spam && is_unchecked(object, path, context) {
        found.push(SenderWarning {
            word: "unchecked",
            note: "the provider has not checked the sender".into(),
        });
    }
    let Some(text) = opening else {
        return found;
    };
    if orders::gives_orders(text) {
        found.push(SenderWarning { word: INJECTION, note: ORDERS.into() });
    }
    // A message without a readable sender is judged like one from another person.
    let is_others = || {
        sender_at(object, path).is_none_or(|one| !one.email.eq_ignore_ascii_case(context.address))
    };
    if names_new_account(text) && is_others() {
        found.push(SenderWarning { word: PAYMENT, note: NEW_ACCOUNT.into() });
    }
    found
}

/// Returns the warnings that header fields alone give.
fn header_warnings(object: &Value, path: &str, context: &RowContext) -> Vec<SenderWarning> {
    let first = |name: &str| field_values(object, path, name).next();
    let (from, reply_to) = wire::SENDER;
    let heads = SenderHeaders {
        results: first(wire::RESULTS),
        receivers: context.api.receivers(),
        from: first(from),
        second_from: field_values(object, path, from).nth(1),
        reply_to: first(reply_to),
    };
    sender_auth::warnings(&heads, context.address)
}
