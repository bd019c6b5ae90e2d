//! Names of tables in documents: those that a document gives a part of a table,
//! and those of rows that were lowered to fewer columns.

use super::{ColumnLevel, EVENT, MESSAGE, TABLES, Table};

/// The events of a brief of today; of another range they have the table's own name.
pub const TODAY: &str = "today";
/// Those of tomorrow.
pub const TOMORROW: &str = "tomorrow";
/// Those of the day after another day.
pub const NEXT_DAY: &str = "next_day";
/// Invitations that the reader has not answered.
pub const INVITED: &str = "invited";
/// Its mail that waits for the reader.
pub const NEEDS_ME: &str = "needs_me";
/// Drafts that wait to be sent.
pub const DRAFTS: &str = "drafts";
/// Its other unread mail.
pub const UNREAD: &str = "unread";

/// The names under which documents have tables besides their plurals.
pub const SECTIONS: &[(&str, &Table)] = &[
    (TODAY, &EVENT),
    (TOMORROW, &EVENT),
    (NEXT_DAY, &EVENT),
    (INVITED, &EVENT),
    (NEEDS_ME, &MESSAGE),
    (DRAFTS, &MESSAGE),
    (UNREAD, &MESSAGE),
];

/// The table whose rows stand under `name` in a document, which may be lowered
/// to fewer columns than others of it.
pub fn find_in_document(name: &str) -> Option<&'static Table> {
    let lowered = [ColumnLevel::Key, ColumnLevel::Core]
        .into_iter()
        .find_map(|level| name.strip_suffix(level.detail())?.strip_suffix('_'));
    let name = lowered.unwrap_or(name);
    let section = SECTIONS.iter().find(|(section, _)| *section == name);
    let plural = TABLES.iter().copied().find(|table| table.plural == name);
    plural.or(section.map(|(_, table)| *table))
}
