//! The `clash` table: two events of one person that overlap.

use super::Api::Local;
use super::Kind::{End, Handle, Start, Text};
use super::Level::Key;
use super::Source::{GoogleWhen, Path, Until};
use super::{Field, In, Source, Table, field, table};

/// One row per overlap, in order of time.
pub const CLASH: Table = table(
    "clash",
    "clashes",
    1,
    "Two events that overlap and both take the reader's time.",
    FIELDS,
);

const FIELDS: &[Field] = &In("clash").columns([
    field("id", Handle('e'), "Handle of the event that begins first; calendar_search accepts it.")
        .level(Key)
        .sources(&[(Local, Path("id"))]),
    field("start", Start, "When both are on.").level(Key).sources(&[(Local, START)]),
    field("end", End, "When the first of them is over; the time alone on the same day.")
        .level(Key)
        .sources(&[(Local, Until(&START, &GoogleWhen("end")))]),
    field("title", Text, "What the first event is called.")
        .level(Key)
        .untrusted(64)
        .sources(&[(Local, Path("title"))]),
    field("with", Handle('e'), "Handle of the other event.")
        .level(Key)
        .sources(&[(Local, Path("with"))]),
    field("with_title", Text, "What the other event is called.")
        .level(Key)
        .untrusted(64)
        .sources(&[(Local, Path("with_title"))]),
]);

const START: Source = GoogleWhen("start");
