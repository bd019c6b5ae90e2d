//! The sender of a message and the notes on it, for callers that have an object and its table.

use serde_json::Value;

use super::context::RowContext;
use super::read::sender_warnings;
use super::sender_checks::{is_unchecked, sender_at};
use crate::schemas::{ColumnReader, Service, Table, ValueSource};
use crate::text::{MailAddress, Note};

/// The sources of a column with warnings about the sender, as in [`ColumnReader::Warn`].
struct WarningSources {
    /// The path of the list of header fields.
    headers: &'static str,
    /// The beginning of the text.
    text: ValueSource,
    /// The label for spam, or the folder.
    spam: ValueSource,
}

/// Returns the sources of the table's columns with warnings about the sender.
fn warning_sources(table: &Table, api: Service) -> impl Iterator<Item = WarningSources> {
    table.fields.iter().filter_map(move |field| match field.source(api) {
        ValueSource::Column(ColumnReader::Warn { headers, text, spam }) => {
            Some(WarningSources { headers, text: *text, spam: *spam })
        }
        _ => None,
    })
}

/// Returns the notes on the sender of a message, from the columns that have warnings.
pub fn warnings(table: &Table, object: &Value, context: &RowContext) -> Vec<Note> {
    warning_sources(table, context.api)
        .flat_map(|WarningSources { headers, text, spam }| {
            sender_warnings(object, headers, text, spam, context)
        })
        .map(|warning| warning.note)
        .collect()
}

/// Returns the sender of a message from the header field From; `None` if there is none.
pub fn sender(table: &Table, object: &Value, context: &RowContext) -> Option<MailAddress> {
    sender_at(object, warning_sources(table, context.api).next()?.headers)
}

/// Returns true for a message whose sender the provider has not checked, and whose folder is
/// known only by id.
pub fn needs_folder(table: &Table, object: &Value, context: &RowContext) -> bool {
    warning_sources(table, context.api).any(|sources| {
        matches!(sources.spam, ValueSource::Names(_))
            && is_unchecked(object, sources.headers, context)
    })
}
