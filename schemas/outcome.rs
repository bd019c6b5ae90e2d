//! The `outcome` table: what a call that changes something has done.

use super::Kind::Text;
use super::Level::Key;
use super::Source::Path;
use super::{Field, Table, field, table};

/// One row per thing that a call was to change.
pub const OUTCOME: Table =
    table("outcome", "outcomes", 1, "What became of one thing that a call was to change.", FIELDS);

const FIELDS: &[Field] = &[
    field("item", Text, "What was to change: a handle, a name or an address.")
        .level(Key)
        .ours()
        .local(Path("item")),
    field("op", Text, "What was asked for.").level(Key).ours().local(Path("op")),
    field(
        "result",
        Text,
        "done, planned, unchanged, waiting, refused, skipped, failed, or unknown: it may be done.",
    )
    .level(Key)
    .ours()
    .local(Path("result")),
    field("detail", Text, "What to know or to do next.").ours().local(Path("detail")),
];
