//! The `invitation` table: meetings that came by mail.
//!
//! Its objects are ours, made of the iCalendar part of a message.

use super::Kind::{End, Handle, Start, Text};
use super::Level::{Key, More};
use super::Source::{Address, GoogleWhen, Guests, Join, Path, Until};
use super::{Field, GuestNames, Source, Table, field, table};

/// One row per event of a message's calendar part.
pub const INVITATION: Table = table(
    "invitation",
    "invitations",
    1,
    "A meeting that a message is about; calendar_respond answers it.",
    FIELDS,
);

const FIELDS: &[Field] = &[
    field("message", Handle('m'), "Handle of the message.").level(Key).local(Path("message")),
    field(
        "kind",
        Text,
        "request, cancel, reply, counter, publish or another method of iTIP (RFC 5546).",
    )
    .level(Key)
    .untrusted(20)
    .local(Path("kind")),
    field("start", Start, "When it starts; the date alone when it is all-day.")
        .level(Key)
        .local(START),
    field("end", End, "When it ends; the time alone on the day it starts.")
        .level(Key)
        .local(Until(&START, &GoogleWhen("end"))),
    field("title", Text, "What it is called.").level(Key).untrusted(72).local(Path("title")),
    field("where", Text, "Place, as it was written.").untrusted(40).local(Path("where")),
    field("organizer", Text, "Who called it.").untrusted(80).local(Address("organizer")),
    field("people", Text, "Who is asked, and the answers, as in events.")
        .untrusted(120)
        .local(Guests(&GUESTS, true)),
    field("event", Handle('e'), "The event in your calendar, if it is there.").local(Path("event")),
    field("clashes", Text, "What else you have at that time.")
        .untrusted(160)
        .local(Join("clashes")),
    field("repeats", Text, "The rule of a recurring one, as RRULE (RFC 5545).")
        .level(More)
        .untrusted(240)
        .local(Path("repeats")),
];

const START: Source = GoogleWhen("start");

const GUESTS: GuestNames = GuestNames {
    list: "people",
    name: "name",
    address: "address",
    answer: "answer",
    me: "me",
    organizer: ("organizer", "true"),
    room: ("room", "true"),
};
