//! The `clash` table: two events of one person that overlap.

use super::Api::Local;
use super::Kind::{End, Handle, Start, Text};
use super::Level::Key;
use super::Source::{GoogleWhen, Path, Until};
use super::{Field, In, Source, Table, field, table};

/// One row per overlap, in order of time.
pub const CLASH: Table =
    table("clash", "clashes", 1, "Two overlapping events that both take the user's time.", FIELDS);

const FIELDS: &[Field] = &In("clash").columns([
    field("id", Handle('e'), "Handle of the event that starts first; calendar_search accepts it.")
        .level(Key)
        .sources(&[(Local, Path("id"))]),
    field("start", Start, "When they overlap.").level(Key).sources(&[(Local, START)]),
    field("end", End, "When the first of them ends; time only if on the same day.")
        .level(Key)
        .sources(&[(Local, Until(&START, &GoogleWhen("end")))]),
    field("title", Text, "Title of the first event.")
        .level(Key)
        .untrusted(64)
        .sources(&[(Local, Path("title"))]),
    field("with", Handle('e'), "Handle of the other event.")
        .level(Key)
        .sources(&[(Local, Path("with"))]),
    field("with_title", Text, "Title of the other event.")
        .level(Key)
        .untrusted(64)
        .sources(&[(Local, Path("with_title"))]),
]);

const START: Source = GoogleWhen("start");
