//! The `schema` table: the registry, listed as rows of itself.

use super::Api::Local;
use super::Kind::{Count, Text};
use super::Level::Key;
use super::Source::Path;
use super::{Field, In, Table, field, table};

/// One row per table of the registry.
pub const SCHEMA: Table = table(
    "schema",
    "schemas",
    1,
    "One table of the registry; `daysheet://schema/NAME` has it in full.",
    FIELDS,
);

const FIELDS: &[Field] = &In("schema").columns([
    field("name", Text, "Name of the table.").level(Key).ours().sources(&[(Local, Path("name"))]),
    field("version", Count, "Raised when a column is renamed, removed or retyped.")
        .sources(&[(Local, Path("version"))]),
    field("columns", Text, "Its columns; those in parentheses only on request.")
        .ours()
        .sources(&[(Local, Path("columns"))]),
    field("doc", Text, "What a row is.").ours().sources(&[(Local, Path("doc"))]),
]);
