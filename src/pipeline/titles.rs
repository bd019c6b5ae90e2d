//! Titles of events and subjects of messages, cut for the notes that quote them.

use daysheet_core::text;

/// The number of columns of a title in a line of ours.
pub(super) const TITLE: usize = 60;

/// Shortens untrusted text for a line of ours.
pub(crate) fn short(text: &str) -> String {
    match text::clip(text::cell(text), TITLE).0 {
        empty if empty.is_empty() => "(no title)".to_owned(),
        title => title,
    }
}
