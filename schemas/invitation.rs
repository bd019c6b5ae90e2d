//! The `invitation` table: meetings that came by mail.
//!
//! Its rows are made of the events in the iCalendar part of a message, compared with the calendar.

use super::CellKind::{End, Handle, Start, Text};
use super::ColumnLevel::{Key, More};
use super::Service::Local;
use super::ValueSource::Event;
use super::{Table, TableColumn, TableName, field, table};

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
        .sources(&[(Local, Event(&["the message"]))]),
    field(
        "kind",
        Text,
        "request, cancel, reply, counter, publish or another method of iTIP (RFC 5546).",
    )
    .level(Key)
    .untrusted(20)
    .sources(&[(Local, Event(&["METHOD"]))]),
    field("start", Start, "When it starts; date only if all-day.")
        .level(Key)
        .sources(&[(Local, Event(&["DTSTART"]))]),
    field("end", End, "When it ends; time only if on the start day.")
        .level(Key)
        .sources(&[(Local, Event(&["DTEND"]))]),
    field("title", Text, "Title.")
        .level(Key)
        .untrusted(72)
        .sources(&[(Local, Event(&["SUMMARY"]))]),
    field("where", Text, "Place, as written.")
        .untrusted(40)
        .sources(&[(Local, Event(&["LOCATION"]))]),
    field("organizer", Text, "Organizer.").untrusted(80).sources(&[(Local, Event(&["ORGANIZER"]))]),
    field(
        "people",
        Text,
        "Guests and their answers, as in the calendar if its event is there at that time.",
    )
    .untrusted(120)
    .sources(&[(Local, Event(&["ATTENDEE"]))]),
    field("event", Handle('e'), "Handle of the event in your calendar, if any.")
        .sources(&[(Local, Event(&["the calendar"]))]),
    field("clashes", Text, "Your other events at that time.")
        .untrusted(160)
        .sources(&[(Local, Event(&["the calendar"]))]),
    field("repeats", Text, "Recurrence rule, as RRULE (RFC 5545).")
        .level(More)
        .untrusted(240)
        .sources(&[(Local, Event(&["RRULE"]))]),
]);
