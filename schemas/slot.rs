//! The `slot` table: times at which a meeting could be held.

use super::Kind::{Count, End, Start, Text};
use super::Level::Key;
use super::Source::{GoogleWhen, Path, Until};
use super::{Field, Source, Table, field, table};

/// One row per slot, the best first.
pub const SLOT: Table =
    table("slot", "slots", 1, "One time at which a meeting could be held.", FIELDS);

const FIELDS: &[Field] = &[
    field("start", Start, "When it would begin.").level(Key).local(START),
    field("end", End, "When it would end; the time alone on the same day.")
        .level(Key)
        .local(Until(&START, &GoogleWhen("end"))),
    field("free", Count, "How many of those asked about are free.").local(Path("free")),
    field("missing", Text, "Who is not, or only perhaps, and why.")
        .untrusted(160)
        .local(Path("missing")),
];

const START: Source = GoogleWhen("start");
