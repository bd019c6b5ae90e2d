//! The `room` table: one room or other resource that can be booked for a meeting.
//!
//! Google's objects are entries of the calendar list, Microsoft's are places; rooms that
//! only events name are objects of ours.

use super::CellKind::{Count, Text};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Local, Microsoft};
use super::ValueSource::{Account, Either, Path};
use super::{Table, TableColumn, TableName, field, table};

/// One row per room.
pub const ROOM: Table = table(
    "room",
    "rooms",
    1,
    "One room or other resource that can be booked; a guest by its address.",
    FIELDS,
);

const FIELDS: &[TableColumn] =
    &TableName("room").columns([
        field("name", Text, "Name of the room.").level(Key).untrusted(80).sources(&[
            (Google, Either(&[Path("summaryOverride"), Path("summary")])),
            (Microsoft, Path("displayName")),
            (Local, Path("name")),
        ]),
        field("email", Text, "Address, for `people` and `who`.").level(Key).untrusted(120).sources(
            &[(Google, Path("id")), (Microsoft, Path("emailAddress")), (Local, Path("email"))],
        ),
        field("building", Text, "Building; Outlook only.")
            .untrusted(80)
            .sources(&[(Microsoft, Path("building"))]),
        field("floor", Text, "Floor; Outlook only.")
            .level(More)
            .untrusted(40)
            .sources(&[(Microsoft, Path("floorLabel"))]),
        field("seats", Count, "How many people it holds; Outlook only.")
            .sources(&[(Microsoft, Path("capacity"))]),
        // Counted by the pipeline in the account's own events.
        field("used", Count, "Events of the account it is booked for, 90 days back and ahead.")
            .sources(&[(Google, Path("used")), (Microsoft, Path("used")), (Local, Path("used"))]),
        field("account", Text, "Address of the account that sees it.")
            .level(More)
            .ours()
            .sources(&[(Google, Account), (Microsoft, Account), (Local, Account)]),
    ]);
