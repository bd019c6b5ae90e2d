//! Ids and addresses of pages that are made of several values.

use serde_json::Value;

use super::reader::{ReadValue, RowReader};
use crate::schemas::wire;

/// Reads the page of a thread in Gmail's web client, from the id of the thread at a path.
pub(super) fn link(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    let address = reader.context.address;
    reader.scalar(object, path).map_text(|id| gmail_page(address, &id))
}

/// Returns the address of a thread in Gmail's web client for this account.
fn gmail_page(address: &str, id: &str) -> String {
    let (start, thread) = wire::GMAIL_PAGE;
    let address: String = url::form_urlencoded::byte_serialize(address.as_bytes()).collect();
    format!("{start}{address}{thread}{id}")
}
