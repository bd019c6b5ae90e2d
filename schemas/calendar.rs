//! The `calendar` table: the calendars an account can see.

use super::Kind::{Flag, Handle, Text};
use super::Level::{Key, More};
use super::Source::{Account, Either, First, Is, Path, There, Zone};
use super::{Field, Source, Table, field, table};

/// One row per calendar.
pub const CALENDAR: Table =
    table("calendar", "calendars", 1, "One calendar that an account can see.", FIELDS);

const FIELDS: &[Field] = &[
    field(
        "id",
        Handle('c'),
        "Handle of the calendar; calendar_search and calendar_save accept it.",
    )
    .level(Key)
    .gmail(Path("id"))
    .outlook(Path("id")),
    field("name", Text, "What it is called.")
        .level(Key)
        .untrusted(80)
        .gmail(Either(&[Path("summaryOverride"), Path("summary")]))
        .outlook(Path("name")),
    field("access", Text, "owner, writer, reader, or busy where only busy times are shown.")
        .ours()
        .gmail(First(GOOGLE_ACCESS, "reader"))
        .outlook(First(GRAPH_ACCESS, "reader")),
    field("main", Flag, "True for the calendar that is meant when none is named.")
        .gmail(There("primary"))
        .outlook(Is("isDefaultCalendar", "true")),
    field("zone", Text, "Its time zone; Outlook's have that of the mailbox.")
        .untrusted(60)
        .gmail(Zone("timeZone"))
        .outlook(Zone("timeZone")),
    field("owner", Text, "Whose it is, where that is told.")
        .level(More)
        .untrusted(120)
        .outlook(Path("owner/address")),
    field("account", Text, "Address of the account that sees it.")
        .level(More)
        .ours()
        .gmail(Account)
        .outlook(Account),
];

const GOOGLE_ACCESS: &[(&str, Source)] = &[
    ("owner", Is("accessRole", "owner")),
    ("writer", Is("accessRole", "writer")),
    ("busy", Is("accessRole", "freeBusyReader")),
];

const GRAPH_ACCESS: &[(&str, Source)] =
    &[("owner", Is("canShare", "true")), ("writer", Is("canEdit", "true"))];
