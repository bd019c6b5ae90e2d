//! The `outcome` table: what a call that changes something has done.

use super::Api::Local;
use super::Kind::Text;
use super::Level::Key;
use super::Source::Path;
use super::{Field, In, Table, field, table};

/// One row per thing that a call was to change.
pub const OUTCOME: Table =
    table("outcome", "outcomes", 1, "The result of one requested change.", FIELDS);

const FIELDS: &[Field] = &In("outcome").columns([
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
