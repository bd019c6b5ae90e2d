//! The `schema` table: the registry, listed as rows of itself.

use super::Kind::{Count, Text};
use super::Level::Key;
use super::Source::Path;
use super::{Field, Table, field, table};

/// One row per table of the registry.
pub const SCHEMA: Table = table(
    "schema",
    "schemas",
    1,
    "One table of the registry; `daysheet://schema/NAME` has it in full.",
    FIELDS,
);

const FIELDS: &[Field] = &[
    field("name", Text, "Name of the table.").level(Key).ours().local(Path("name")),
    field("version", Count, "Raised when a column is renamed, removed or retyped.")
        .local(Path("version")),
    field("columns", Text, "Its columns; those in parentheses come only when asked for.")
        .ours()
        .local(Path("columns")),
    field("doc", Text, "What a row is.").ours().local(Path("doc")),
];
