//! The `clash` table: events of one person that overlap.

use super::CellKind::{Count, End, Flag, Handle, Start, Text};
use super::ColumnLevel::{Key, More};
use super::Service::Local;
use super::ValueSource::{GoogleWhen, Join, Path, Until};
use super::{Table, TableColumn, TableName, ValueSource, field, table};

/// One row per event that overlaps later ones, in order of time.
pub const CLASH: Table = table(
    "clash",
    "clashes",
    2,
    "An event and the later ones that overlap it, all competing for the user's time.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("clash").columns([
    field("id", Handle('e'), "Handle of the event that starts first.")
        .level(Key)
        .sources(&[(Local, Path("id"))]),
    field("start", Start, "When it starts.").level(Key).sources(&[(Local, START)]),
    field("end", End, "When it ends; time only if on the same day.")
        .level(Key)
        .sources(&[(Local, Until(&START, &GoogleWhen("end")))]),
    field("title", Text, "Its title.").level(Key).untrusted(64).sources(&[(Local, Path("title"))]),
    field("with", Text, "The events that it overlaps: handle, time and title of each.")
        .level(Key)
        .untrusted(440)
        .sources(&[(Local, Join("with"))]),
    field("guests", Count, "How many guests the first event has, without you.")
        .level(More)
        .sources(&[(Local, Path("guests"))]),
    field("movable", Flag, "True if you may move the first event for everyone.")
        .level(More)
        .sources(&[(Local, Path("movable"))]),
    field("calendar", Text, "Calendar of the first event.")
        .level(More)
        .untrusted(60)
        .sources(&[(Local, Path("calendar"))]),
    field("account", Text, "Address of the account it is in.")
        .level(More)
        .untrusted(80)
        .sources(&[(Local, Path("account"))]),
]);

const START: ValueSource = GoogleWhen("start");
