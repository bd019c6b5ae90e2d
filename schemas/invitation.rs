//! The `invitation` table: meetings that came by mail.
//!
//! Its objects are ours, made of the iCalendar part of a message.

use super::CellKind::{End, Handle, Start, Text};
use super::ColumnLevel::{Key, More};
use super::Service::Local;
use super::ValueSource::{Address, Column, GoogleWhen, Join, Path, Until};
use super::{ColumnReader, GuestNames, Table, TableColumn, TableName, ValueSource, field, table};

/// One row per event of a message's calendar part.
pub const INVITATION: Table = table(
    "invitation",
    "invitations",
    1,
    "A meeting invitation in a message; calendar_respond answers it.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("invitation").columns([
    field("message", Handle('m'), "Handle of the message.")
        .level(Key)
        .sources(&[(Local, Path("message"))]),
    field(
        "kind",
        Text,
        "request, cancel, reply, counter, publish or another method of iTIP (RFC 5546).",
    )
    .level(Key)
    .untrusted(20)
    .sources(&[(Local, Path("kind"))]),
    field("start", Start, "When it starts; date only if all-day.")
        .level(Key)
        .sources(&[(Local, START)]),
    field("end", End, "When it ends; time only if on the start day.")
        .level(Key)
        .sources(&[(Local, Until(&START, &GoogleWhen("end")))]),
    field("title", Text, "Title.").level(Key).untrusted(72).sources(&[(Local, Path("title"))]),
    field("where", Text, "Place, as written.").untrusted(40).sources(&[(Local, Path("where"))]),
    field("organizer", Text, "Organizer.").untrusted(80).sources(&[(Local, Address("organizer"))]),
    field(
        "people",
        Text,
        "Guests and their answers, as in the calendar if its event is there at that time.",
    )
    .untrusted(120)
    .sources(&[(Local, Column(ColumnReader::People(&GUESTS)))]),
    field("event", Handle('e'), "Handle of the event in your calendar, if any.")
        .sources(&[(Local, Path("event"))]),
    field("clashes", Text, "Your other events at that time.")
        .untrusted(160)
        .sources(&[(Local, Join("clashes"))]),
    field("repeats", Text, "Recurrence rule, as RRULE (RFC 5545).")
        .level(More)
        .untrusted(240)
        .sources(&[(Local, Path("repeats"))]),
]);

const START: ValueSource = GoogleWhen("start");

const GUESTS: GuestNames = GuestNames {
    list: "people",
    name: "name",
    address: "address",
    answer: "answer",
    me: "me",
    organizer: ("organizer", "true"),
    optional: ("optional", "true"),
    room: ("room", "true"),
    comment: "",
    proposed: "",
};
