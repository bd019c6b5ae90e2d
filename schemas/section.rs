//! The names of tables in documents: names for a part of a table, and names for rows that were
//! lowered to fewer columns.

use super::{ColumnLevel, EVENT, MESSAGE, TABLES, Table};

/// The events of today in a brief. In a brief of another range, events have the table's own name.
pub const TODAY: &str = "today";
/// The events of tomorrow in a brief.
pub const TOMORROW: &str = "tomorrow";
/// The events of the next day, in a brief of another day.
pub const NEXT_DAY: &str = "next_day";
/// Invitations that the user has not answered.
pub const INVITED: &str = "invited";
/// Messages in a brief that need the user.
pub const NEEDS_ME: &str = "needs_me";
/// Drafts that have not been sent.
pub const DRAFTS: &str = "drafts";
/// Other unread messages in a brief.
pub const UNREAD: &str = "unread";

/// The names of tables in documents, in addition to their plurals.
pub const SECTIONS: &[(&str, &Table)] = &[
    (TODAY, &EVENT),
    (TOMORROW, &EVENT),
    (NEXT_DAY, &EVENT),
    (INVITED, &EVENT),
    (NEEDS_ME, &MESSAGE),
    (DRAFTS, &MESSAGE),
    (UNREAD, &MESSAGE),
];

/// Returns the table whose rows are called `name` in a document. The name may be that of rows
/// lowered to fewer columns.
pub fn find_in_document(name: &str) -> Option<&'static Table> {
    let lowered = [ColumnLevel::Key, ColumnLevel::Core]
        .into_iter()
        .find_map(|level| name.strip_suffix(level.detail())?.strip_suffix('_'));
    let name = lowered.unwrap_or(name);
    let section = SECTIONS.iter().find(|(section, _)| *section == name);
    let plural = TABLES.iter().copied().find(|table| table.plural == name);
    plural.or(section.map(|(_, table)| *table))
}
