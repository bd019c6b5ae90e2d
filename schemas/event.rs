//! The `event` table: one appointment, meeting or all-day entry of a calendar.
//!
//! Google's events do not name their calendar, and Graph's recurrence patterns are not RRULEs.
//! The adapters put the keys `calendarId` (both) and `recurrenceRule` (Outlook) into the objects.

use super::CellKind::{Count, End, Handle, Start, Text, Time, Words};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Microsoft};
use super::TextForm::{Markup, ZoneName};
use super::ValueSource::{
    Account, Any, Column, Converted, Each, Either, First, Flags, GoogleWhen, GraphWhen, Is, Join,
    Names, Oldest, Path, Provided, Rfc3339, There, Until,
};
use super::{ColumnReader, GuestNames, Table, TableColumn, TableName, ValueSource, field, table};

/// One row per event, or per occurrence of a recurring one.
pub const EVENT: Table = table(
    "event",
    "events",
    1,
    "One event of a calendar, or one occurrence of a recurring one.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("event").columns([
    field("id", Handle('e'), "Handle of the event; calendar_save and calendar_respond accept it.")
        .level(Key)
        .sources(&[
            (Google, Column(ColumnReader::EventId { calendar: "calendarId", event: "id" })),
            (Microsoft, Path("id")),
        ]),
    field(
        "start",
        Start,
        "When it starts, with the weekday; date only if all-day; behind ` = ` the local time \
         where the event's own zone differs.",
    )
    .level(Key)
    .sources(&[
        (Google, Column(ColumnReader::Start { time: &GOOGLE_START, zone: &GOOGLE_ZONE })),
        (Microsoft, Column(ColumnReader::Start { time: &GRAPH_START, zone: &GRAPH_ZONE })),
    ]),
    field(
        "end",
        End,
        "When it ends; time only if on the start day; for all-day events, the last day.",
    )
    .level(Key)
    .sources(&[
        (Google, Until(&GOOGLE_START, &GoogleWhen("end"))),
        (Microsoft, Until(&GRAPH_START, &GraphWhen("end", "isAllDay"))),
    ]),
    field("title", Text, "Title.")
        .level(Key)
        .untrusted(72)
        .sources(&[(Google, Path("summary")), (Microsoft, Path("subject"))]),
    field("where", Text, "Place, as written.").untrusted(40).sources(&[
        (Google, Path("location")),
        (Microsoft, Either(&[Path("location/displayName")])),
    ]),
    field("organizer", Text, "Organizer; `me` if it is you.")
        .untrusted(60)
        .sources(&[(Google, Column(GOOGLE_ORGANIZER)), (Microsoft, Column(GRAPH_ORGANIZER))]),
    field(
        "people",
        Text,
        "Guests and their answers: + yes, - no, ~ maybe, ? none; * optional; `me` is you; the \
         first five and a count of the rest, all with detail: full; null without guests.",
    )
    .untrusted(120)
    .sources(&[
        (Google, Column(ColumnReader::People(&GOOGLE_GUESTS))),
        (Microsoft, Column(ColumnReader::People(&GRAPH_GUESTS))),
    ]),
    field(
        "flags",
        Words,
        "Any of: recurring, online, free, tentative, oof, focus, elsewhere, private, cancelled; \
         comment, proposal: of a guest, in attendees.",
    )
    .level(Key)
    .sources(&[(Google, Flags(GOOGLE_FLAGS)), (Microsoft, Flags(GRAPH_FLAGS))]),
    field("organizer_address", Text, "Address of the organizer.")
        .level(More)
        .untrusted(120)
        .sources(&[
            (Google, Path("organizer/email")),
            (Microsoft, Path("organizer/emailAddress/address")),
        ]),
    field("calendar", Text, "Name of its calendar; `main` for the account's main one.")
        .level(More)
        .untrusted(60)
        .sources(&[(Google, Names("calendarId")), (Microsoft, Names("calendarId"))]),
    field("link", Text, "Link to join the online meeting; `page` is the event's own.")
        .level(More)
        .untrusted(300)
        .sources(&[
            (
                Google,
                Either(&[Path("hangoutLink"), Each("conferenceData/entryPoints", &Path("uri"))]),
            ),
            (Microsoft, Either(&[Path("onlineMeeting/joinUrl"), Path("onlineMeetingUrl")])),
        ]),
    field("page", Text, "Its page in the web client; `link` joins the meeting. Only if named.")
        .level(More)
        .on_request()
        .untrusted(400)
        .sources(&[(Google, Path("htmlLink")), (Microsoft, Path("webLink"))]),
    field("series", Handle('e'), "Handle of the series it is an occurrence of.")
        .level(More)
        .sources(&[
            (
                Google,
                Column(ColumnReader::EventId { calendar: "calendarId", event: "recurringEventId" }),
            ),
            (Microsoft, Path("seriesMasterId")),
        ]),
    field(
        "repeats",
        Text,
        "Recurrence rule of the series, as RRULE (RFC 5545), without cancelled occurrences.",
    )
    .level(More)
    .untrusted(240)
    .sources(&[
        (Google, Column(ColumnReader::Repeats("recurrence"))),
        (Microsoft, Path("recurrenceRule")),
    ]),
    field(
        "attendees",
        Text,
        "Everybody invited, as `Name <address>`, answer, and comment or proposed time; the first \
         five and a count of the rest.",
    )
    .level(More)
    .untrusted(400)
    .sources(&[
        (Google, Column(ColumnReader::Attendees(&GOOGLE_GUESTS))),
        (Microsoft, Column(ColumnReader::Attendees(&GRAPH_GUESTS))),
    ]),
    field("show", Text, "busy, free, tentative, oof, focus or elsewhere.")
        .level(More)
        .ours()
        .sources(&[(Google, First(GOOGLE_SHOW, "busy")), (Microsoft, First(GRAPH_SHOW, "busy"))]),
    field("visibility", Text, "default, public, private or confidential.")
        .level(More)
        .ours()
        .sources(&[
            (Google, First(GOOGLE_VISIBILITY, "default")),
            (Microsoft, First(GRAPH_VISIBILITY, "default")),
        ]),
    field(
        "reminder",
        Count,
        "Reminder, in minutes before the start; null for none or the calendar's default.",
    )
    .level(More)
    .sources(&[
        (Google, Oldest("reminders/overrides", &Path("minutes"))),
        (Microsoft, Provided(&Is("isReminderOn", "true"), &Path("reminderMinutesBeforeStart"))),
    ]),
    field("category", Text, "Colour (Google) or categories (Outlook).")
        .level(More)
        .untrusted(80)
        .sources(&[(Google, First(GOOGLE_COLOURS, "")), (Microsoft, Join("categories"))]),
    field("zone", Text, "The event's own time zone; times here are in the document's zone.")
        .level(More)
        .untrusted(60)
        .sources(&[(Google, GOOGLE_ZONE), (Microsoft, GRAPH_ZONE)]),
    field("notes", Text, "How its description begins.").level(More).untrusted(120).sources(&[
        (Google, Converted("description", Markup)),
        (Microsoft, Either(&[Converted("body/content", Markup), Path("bodyPreview")])),
    ]),
    field("updated", Time, "When it was last changed.")
        .level(More)
        .sources(&[(Google, Rfc3339("updated")), (Microsoft, Rfc3339("lastModifiedDateTime"))]),
    field("uid", Text, "Its iCalendar UID, the same in every calendar it is in.")
        .level(More)
        .untrusted(300)
        .sources(&[(Google, Path("iCalUID")), (Microsoft, Path("iCalUId"))]),
    field("account", Text, "Address of the account it is in.")
        .level(More)
        .ours()
        .sources(&[(Google, Account), (Microsoft, Account)]),
]);

const GOOGLE_START: ValueSource = GoogleWhen("start");
const GRAPH_START: ValueSource = GraphWhen("start", "isAllDay");
const GOOGLE_ZONE: ValueSource = Converted("start/timeZone", ZoneName);
const GRAPH_ZONE: ValueSource = Converted("originalStartTimeZone", ZoneName);

const GOOGLE_ORGANIZER: ColumnReader = ColumnReader::Organizer {
    me: &Is("organizer/self", "true"),
    name: "organizer/displayName",
    email: "organizer/email",
};

const GRAPH_ORGANIZER: ColumnReader = ColumnReader::Organizer {
    me: &Is("isOrganizer", "true"),
    name: "organizer/emailAddress/name",
    email: "organizer/emailAddress/address",
};

/// Google's names for the properties of an attendee.
const GOOGLE_GUESTS: GuestNames = GuestNames {
    list: "attendees",
    name: "displayName",
    address: "email",
    answer: "responseStatus",
    me: "self",
    organizer: ("organizer", "true"),
    optional: ("optional", "true"),
    room: ("resource", "true"),
    comment: "comment",
    proposed: "",
};

/// Graph's names for the properties of an attendee. Guests are identified only by address.
const GRAPH_GUESTS: GuestNames = GuestNames {
    list: "attendees",
    name: "emailAddress/name",
    address: "emailAddress/address",
    answer: "status/response",
    me: "",
    organizer: ("status/response", "organizer"),
    optional: ("type", "optional"),
    room: ("type", "resource"),
    comment: "",
    proposed: "proposedNewTime",
};

const GOOGLE_FLAGS: &[(&str, ValueSource)] = &[
    ("recurring", Either(&[There("recurringEventId"), There("recurrence")])),
    ("online", Either(&[There("hangoutLink"), There("conferenceData/entryPoints")])),
    ("free", Is("transparency", "transparent")),
    ("tentative", Is("status", "tentative")),
    ("oof", Is("eventType", "outOfOffice")),
    ("focus", Is("eventType", "focusTime")),
    ("elsewhere", Is("eventType", "workingLocation")),
    (
        "private",
        Either(&[
            Provided(&Is("visibility", "private"), &There("visibility")),
            Provided(&Is("visibility", "confidential"), &There("visibility")),
        ]),
    ),
    ("cancelled", Is("status", "cancelled")),
    ("comment", Any("attendees", &There("comment"))),
];

const GRAPH_FLAGS: &[(&str, ValueSource)] = &[
    ("recurring", Either(&[There("seriesMasterId"), There("recurrenceRule")])),
    ("online", Is("isOnlineMeeting", "true")),
    ("free", Is("showAs", "free")),
    ("tentative", Is("showAs", "tentative")),
    ("oof", Is("showAs", "oof")),
    ("elsewhere", Is("showAs", "workingElsewhere")),
    (
        "private",
        Either(&[
            Provided(&Is("sensitivity", "private"), &There("sensitivity")),
            Provided(&Is("sensitivity", "confidential"), &There("sensitivity")),
        ]),
    ),
    ("cancelled", Is("isCancelled", "true")),
    ("proposal", Any("attendees", &There("proposedNewTime"))),
];

const GOOGLE_SHOW: &[(&str, ValueSource)] = &[
    ("oof", Is("eventType", "outOfOffice")),
    ("focus", Is("eventType", "focusTime")),
    ("elsewhere", Is("eventType", "workingLocation")),
    ("free", Is("transparency", "transparent")),
    ("tentative", Is("status", "tentative")),
];

const GRAPH_SHOW: &[(&str, ValueSource)] = &[
    ("oof", Is("showAs", "oof")),
    ("elsewhere", Is("showAs", "workingElsewhere")),
    ("free", Is("showAs", "free")),
    ("tentative", Is("showAs", "tentative")),
];

const GOOGLE_VISIBILITY: &[(&str, ValueSource)] = &[
    ("public", Is("visibility", "public")),
    ("private", Is("visibility", "private")),
    ("confidential", Is("visibility", "confidential")),
];

const GRAPH_VISIBILITY: &[(&str, ValueSource)] = &[
    ("private", Is("sensitivity", "private")),
    ("private", Is("sensitivity", "personal")),
    ("confidential", Is("sensitivity", "confidential")),
];

/// The names that Google Calendar shows for the numbers of its colours.
const GOOGLE_COLOURS: &[(&str, ValueSource)] = &[
    ("lavender", Is("colorId", "1")),
    ("sage", Is("colorId", "2")),
    ("grape", Is("colorId", "3")),
    ("flamingo", Is("colorId", "4")),
    ("banana", Is("colorId", "5")),
    ("tangerine", Is("colorId", "6")),
    ("peacock", Is("colorId", "7")),
    ("graphite", Is("colorId", "8")),
    ("blueberry", Is("colorId", "9")),
    ("basil", Is("colorId", "10")),
    ("tomato", Is("colorId", "11")),
];
