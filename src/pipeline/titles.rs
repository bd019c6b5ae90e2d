//! Titles of events and subjects of messages, cut for notes and outcomes.

pub(super) mod logged;

use daysheet_core::text::{self, quoted};

/// The number of columns of a title in a line of ours.
pub(super) const TITLE: usize = 60;

/// Shortens untrusted text for a line of ours.
pub(crate) fn short(text: &str) -> String {
    match text::clip(text::cell(text), TITLE).0 {
        empty if empty.is_empty() => "(no title)".to_owned(),
        title => title,
    }
}

/// The names of an item in the answer of a call.
#[derive(Debug, Clone)]
pub(crate) struct ItemNames {
    /// The name in outcomes, such as `e3 Lunch`.
    pub(crate) outcome: String,
    /// The name in front of notes, in which text of others is quoted.
    pub(crate) note: String,
}

impl ItemNames {
    /// Returns the names of an item that is called `name`, and has no handle yet.
    pub(crate) fn of_new(name: &str) -> Self {
        Self { outcome: name.to_owned(), note: quoted(name).to_string() }
    }
}
