//! The `slot` table: times at which a meeting could be held.

use super::CellKind::{Count, End, Start, Text};
use super::ColumnLevel::Key;
use super::Service::Local;
use super::ValueSource::{GoogleWhen, Path, Until};
use super::{Table, TableColumn, TableName, ValueSource, field, table};

/// One row per slot, or per stretch in which people are free.
pub const SLOT: Table = table("slot", "slots", 1, "One possible time for a meeting.", FIELDS);

const FIELDS: &[TableColumn] = &TableName("slot").columns([
    field("start", Start, "When it would start.").level(Key).sources(&[(Local, START)]),
    field("end", End, "When it would end; time only if on the same day.")
        .level(Key)
        .sources(&[(Local, Until(&START, &GoogleWhen("end")))]),
    field("free", Count, "How many of the people are free.").sources(&[(Local, Path("free"))]),
    field("missing", Text, "Who is not, or may not be, and why.")
        .untrusted(160)
        .sources(&[(Local, Path("missing"))]),
]);

const START: ValueSource = GoogleWhen("start");
