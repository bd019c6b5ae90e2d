//! People: the account's owner, and recipients.
//!
//! The addresses in mail header fields are left to `headers.rs`, the guests of meetings to
//! `event.rs`.

use serde_json::Value;

use super::context::RowContext;
use super::member::ListMember;
use super::reader::{ReadValue, RowReader};
use crate::schemas::wire;
use crate::text::MailAddress;

/// Returns the label of the account.
pub(super) fn account(context: &RowContext) -> ReadValue {
    ReadValue::Text(context.account.to_owned())
}

/// Returns the account's owner.
pub(super) fn owner(context: &RowContext) -> ReadValue {
    ReadValue::List(vec![ListMember::text(context.address)])
}

/// Reads the Graph recipient at a path.
pub(super) fn recipient(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    match reader.seen(object, path).and_then(to_recipient) {
        Some(person) => ReadValue::List(vec![person]),
        None => ReadValue::Nothing,
    }
}

/// Reads the list of Graph recipients at a path.
pub(super) fn recipients(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    match reader.seen(object, path) {
        Some(Value::Array(list)) => ReadValue::List(list.iter().filter_map(to_recipient).collect()),
        other => reader.unexpected(other),
    }
}

/// Returns the member for a Graph recipient; `None` if it has neither name nor address.
fn to_recipient(value: &Value) -> Option<ListMember> {
    let inner = value.get(wire::RECIPIENT)?;
    let (name, address) = wire::ADDRESS;
    let part = |key| inner.get(key).and_then(Value::as_str);
    let person = MailAddress::new(part(name), part(address).unwrap_or_default());
    let known = person.name.is_some() || !person.email.is_empty();
    known.then(|| ListMember::person(&person, ""))
}
