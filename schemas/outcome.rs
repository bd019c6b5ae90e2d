//! The `outcome` table: what a call that changes something has done.

use super::CellKind::Text;
use super::ColumnLevel::Key;
use super::Service::Local;
use super::ValueSource::Path;
use super::{Table, TableColumn, TableName, field, table};

/// One row per thing that a call was to change.
pub const OUTCOME: Table =
    table("outcome", "outcomes", 1, "The result of one requested change.", FIELDS);

const FIELDS: &[TableColumn] = &TableName("outcome").columns([
    field("item", Text, "What it was: a handle, a name or an address.")
        .level(Key)
        .ours()
        .sources(&[(Local, Path("item"))]),
    field("op", Text, "What was requested.").level(Key).ours().sources(&[(Local, Path("op"))]),
    field(
        "result",
        Text,
        "done, planned, unchanged, waiting, refused, skipped, failed, or unknown (perhaps done).",
    )
    .level(Key)
    .ours()
    .sources(&[(Local, Path("result"))]),
    field("detail", Text, "What to know or do next.").ours().sources(&[(Local, Path("detail"))]),
]);
