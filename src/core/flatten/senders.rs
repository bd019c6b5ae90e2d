//! The sender of a message, and warnings about them.
//!
//! Header fields are judged in [`sender_auth`]. This module reads them, and adds warnings that
//! need the whole object: spam that was not checked, and the beginning of the text.

use serde_json::Value;

use super::{ReadValue, RowContext, RowReader, headers};
use crate::schemas::{Table, ValueSource, wire};
use crate::text::payment::names_new_account;
use crate::text::sender_auth::{self, AuthResults, SenderHeaders, SenderWarning};
use crate::text::{self, MailAddress, Note, orders};

/// The word for a message with orders to an assistant.
pub const INJECTION: &str = "injection";
/// The note for such a message.
pub const ORDERS: &str = "it has orders to an assistant, which may be hidden from people";

/// The word for a message that names a new account for payments.
pub const PAYMENT: &str = "payment";
/// The note for such a message.
pub const NEW_ACCOUNT: &str =
    "it names a new account for payments: check that with the payee by other means";

/// Returns the notes on the sender of a message, from the columns that have warnings.
pub fn warnings(table: &Table, object: &Value, context: &RowContext) -> Vec<Note> {
    let sources = table.fields.iter().map(|field| field.source(context.api));
    sources
        .filter_map(|source| match source {
            ValueSource::SenderWarnings(path, opening, spam) => {
                Some(warnings_at(object, path, (*opening, *spam), context))
            }
            _ => None,
        })
        .flatten()
        .map(|warning| warning.note)
        .collect()
}

/// Returns the sender of a message from the header field From; `None` if there is none.
pub fn sender(table: &Table, object: &Value, context: &RowContext) -> Option<MailAddress> {
    let mut sources = table.fields.iter().map(|field| field.source(context.api));
    let path = sources.find_map(|source| match source {
        ValueSource::SenderWarnings(path, ..) => Some(path),
        _ => None,
    })?;
    sender_at(object, path)
}

fn sender_at(object: &Value, path: &str) -> Option<MailAddress> {
    let (from, _) = wire::SENDER;
    let senders = text::address_list(headers(object, path, from).next()?);
    senders.into_iter().next().filter(|one| !one.email.is_empty())
}

/// Returns true for a message whose sender the provider has not checked, and whose folder is
/// known only by id.
pub fn needs_folder(table: &Table, object: &Value, context: &RowContext) -> bool {
    let mut sources = table.fields.iter().map(|field| field.source(context.api));
    sources.any(|source| {
        matches!(source, ValueSource::SenderWarnings(path, _, ValueSource::Names(_))
            if is_unchecked(object, path, context))
    })
}

/// Returns true for a message from another person without results of the provider's own checks.
pub(super) fn is_unchecked(object: &Value, path: &str, context: &RowContext) -> bool {
    let receivers = context.api.receivers();
    let results = headers(object, path, wire::RESULTS).next();
    let results = results.and_then(|value| AuthResults::read(value, receivers)?.line());
    let others = |one: MailAddress| !one.email.eq_ignore_ascii_case(context.address);
    results.is_none() && sender_at(object, path).is_some_and(others)
}

/// Returns the warnings about the sender of a message and the beginning of its text.
pub(super) fn warnings_at(
    object: &Value,
    path: &str,
    (opening, spam): (ValueSource, ValueSource),
    context: &RowContext,
) -> Vec<SenderWarning> {
    let first = |name: &str| headers(object, path, name).next();
    let (from, reply_to) = wire::SENDER;
    let heads = SenderHeaders {
        results: first(wire::RESULTS),
        receivers: context.api.receivers(),
        from: first(from),
        second_from: headers(object, path, from).nth(1),
        reply_to: first(reply_to),
    };
    let mut found = sender_auth::warnings(&heads, context.address);
    let mut reader = RowReader::new(context);
    // Outlook has a folder's name here, Gmail a label, which is true or false.
    let in_spam = match reader.read(object, spam) {
        ReadValue::Text(folder) => folder == "spam",
        ReadValue::Flag(flag) => flag,
        _ => false,
    };
    if in_spam && is_unchecked(object, path, context) {
        found.push(SenderWarning {
            word: "unchecked",
            note: "the provider has not checked the sender".into(),
        });
    }
    let ReadValue::Text(text) = reader.read(object, opening) else {
        return found;
    };
    if orders::gives_orders(&text) {
        found.push(SenderWarning { word: INJECTION, note: ORDERS.into() });
    }
    // A message without a readable sender is judged like one from another person.
    let is_others = || {
        sender_at(object, path).is_none_or(|one| !one.email.eq_ignore_ascii_case(context.address))
    };
    if names_new_account(&text) && is_others() {
        found.push(SenderWarning { word: PAYMENT, note: NEW_ACCOUNT.into() });
    }
    found
}
