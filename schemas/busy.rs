//! The `busy` table: times at which people are not free.
//!
//! Both services return intervals grouped by person, so the adapters put the address under the
//! key `who` of each interval.

use super::CellKind::{End, Start, Text};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Local, Microsoft};
use super::ValueSource::{First, GoogleWhen, GraphWhen, Is, Path, Until};
use super::{Table, TableColumn, TableName, ValueSource, field, table};

/// One row per interval.
pub const BUSY: Table =
    table("busy", "busy", 1, "One period in which somebody is not free.", FIELDS);

const FIELDS: &[TableColumn] = &TableName("busy").columns([
    field("who", Text, "Address of the person or room.").level(Key).untrusted(80).sources(&[
        (Google, Path("who")),
        (Microsoft, Path("who")),
        (Local, Path("who")),
    ]),
    field("start", Start, "When it starts.").level(Key).sources(&[
        (Google, GOOGLE_START),
        (Microsoft, GRAPH_START),
        (Local, GOOGLE_START),
    ]),
    field("end", End, "When it ends; time only if on the same day.").level(Key).sources(&[
        (Google, Until(&GOOGLE_START, &GoogleWhen("end"))),
        (Microsoft, Until(&GRAPH_START, &GraphWhen("end"))),
        (Local, Until(&GOOGLE_START, &GoogleWhen("end"))),
    ]),
    field("show", Text, "busy, tentative, oof or elsewhere; Google says busy for all.")
        .ours()
        .sources(&[
            (Google, First(&[], "busy")),
            (Microsoft, First(GRAPH_STATUS, "busy")),
            (Local, Path("show")),
        ]),
]);

/// The title of an interval's event, if it may be seen. It is shown in notes and in no row.
pub const BUSY_TITLE: TableColumn = field("title", Text, "Title of the event.")
    .level(More)
    .untrusted(64)
    .sources(&[(Microsoft, Path("subject"))]);

const GOOGLE_START: ValueSource = GoogleWhen("start");
const GRAPH_START: ValueSource = GraphWhen("start");

const GRAPH_STATUS: &[(&str, ValueSource)] = &[
    ("tentative", Is("status", "tentative")),
    ("oof", Is("status", "oof")),
    ("elsewhere", Is("status", "workingElsewhere")),
];
