//! The sender of a message and the notes on it, for callers that have an object and its table.

use serde_json::Value;

use super::context::RowContext;
use super::read::sender_warnings;
use super::sender_checks::{is_unchecked, sender_at};
use crate::schemas::{Table, ValueSource};
use crate::text::{MailAddress, Note};

/// Returns the notes on the sender of a message, from the columns that have warnings.
pub fn warnings(table: &Table, object: &Value, context: &RowContext) -> Vec<Note> {
    let sources = table.fields.iter().map(|field| field.source(context.api));
    sources
        .filter_map(|source| match source {
            ValueSource::SenderWarnings(path, opening, spam) => {
                Some(sender_warnings(object, path, (*opening, *spam), context))
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

/// Returns true for a message whose sender the provider has not checked, and whose folder is
/// known only by id.
pub fn needs_folder(table: &Table, object: &Value, context: &RowContext) -> bool {
    let mut sources = table.fields.iter().map(|field| field.source(context.api));
    sources.any(|source| {
        matches!(source, ValueSource::SenderWarnings(path, _, ValueSource::Names(_))
            if is_unchecked(object, path, context))
    })
}
