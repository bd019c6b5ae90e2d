//! The `calendar` table: the calendars an account can see.

use super::CellKind::{Flag, Handle, Text};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Microsoft};
use super::TextForm::ZoneName;
use super::ValueSource::{Account, Converted, Either, First, Is, Path, There};
use super::{Table, TableColumn, TableName, ValueSource, field, table};

/// One row per calendar.
pub const CALENDAR: Table =
    table("calendar", "calendars", 1, "One calendar that an account can see.", FIELDS);

const FIELDS: &[TableColumn] = &TableName("calendar").columns([
    field(
        "id",
        Handle('c'),
        "Handle of the calendar; calendar_search and calendar_save accept it.",
    )
    .level(Key)
    .sources(&[(Google, Path("id")), (Microsoft, Path("id"))]),
    field("name", Text, "Name; `main` for the main one.").level(Key).untrusted(80).sources(&[
        (Google, Either(&[Path("summaryOverride"), Path("summary")])),
        (Microsoft, Path("name")),
    ]),
    field("access", Text, "owner, writer, reader, or busy if only busy times are visible.")
        .ours()
        .sources(&[
            (Google, First(GOOGLE_ACCESS, "reader")),
            (Microsoft, First(GRAPH_ACCESS, "reader")),
        ]),
    field("main", Flag, "True for the calendar used when none is named.")
        .sources(&[(Google, There("primary")), (Microsoft, Is("isDefaultCalendar", "true"))]),
    field("zone", Text, "Its time zone; in Outlook, that of the mailbox.").untrusted(60).sources(
        &[(Google, Converted("timeZone", ZoneName)), (Microsoft, Converted("timeZone", ZoneName))],
    ),
    field("owner", Text, "Its owner, if known.")
        .level(More)
        .untrusted(120)
        .sources(&[(Microsoft, Path("owner/address"))]),
    field("account", Text, "Address of the account that sees it.")
        .level(More)
        .ours()
        .sources(&[(Google, Account), (Microsoft, Account)]),
]);

const GOOGLE_ACCESS: &[(&str, ValueSource)] = &[
    ("owner", Is("accessRole", "owner")),
    ("writer", Is("accessRole", "writer")),
    ("busy", Is("accessRole", "freeBusyReader")),
];

const GRAPH_ACCESS: &[(&str, ValueSource)] =
    &[("owner", Is("canShare", "true")), ("writer", Is("canEdit", "true"))];
