//! The `event` table: one appointment, meeting or all-day entry of a calendar.
//!
//! Its rows are made of events, not of the services' JSON: each column is a property of an event.
//! The sources name the paths that the adapters read for it, and so have to request.

use super::CellKind::{Count, End, Handle, Start, Text, Time, Words};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Microsoft};
use super::ValueSource::{Account, Event};
use super::{Table, TableColumn, TableName, field, table};

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
        .sources(&[(Google, Event(&["calendarId", "id"])), (Microsoft, Event(&["id"]))]),
    field(
        "start",
        Start,
        "When it starts, with the weekday; date only if all-day; behind ` = ` the local time \
         where the event's own zone differs.",
    )
    .level(Key)
    .sources(&[
        (Google, Event(&["start", "originalStartTime"])),
        (Microsoft, Event(&["start", "isAllDay", "originalStartTimeZone"])),
    ]),
    field(
        "end",
        End,
        "When it ends; time only if on the start day; for all-day events, the last day.",
    )
    .level(Key)
    .sources(&[(Google, Event(&["end"])), (Microsoft, Event(&["end", "isAllDay"]))]),
    field("title", Text, "Title.")
        .level(Key)
        .untrusted(72)
        .sources(&[(Google, Event(&["summary"])), (Microsoft, Event(&["subject"]))]),
    field("where", Text, "Place, as written.")
        .untrusted(40)
        .sources(&[(Google, Event(&["location"])), (Microsoft, Event(&["location/displayName"]))]),
    field("organizer", Text, "Organizer; `me` if it is you.").untrusted(60).sources(&[
        (Google, Event(&["organizer/self", "organizer/displayName", "organizer/email"])),
        (
            Microsoft,
            Event(&[
                "isOrganizer",
                "organizer/emailAddress/name",
                "organizer/emailAddress/address",
            ]),
        ),
    ]),
    field(
        "people",
        Text,
        "Guests and their answers: + yes, - no, ~ maybe, ? none; * optional; `me` is you; the \
         first five and a count of the rest, all with detail: full; null without guests.",
    )
    .untrusted(120)
    .sources(&[
        (Google, Event(&["attendees/email", "attendees/responseStatus"])),
        (Microsoft, Event(&["attendees"])),
    ]),
    field(
        "flags",
        Words,
        "Any of: recurring, online, free, tentative, oof, focus, elsewhere, private, cancelled; \
         comment, proposal: of a guest, in attendees.",
    )
    .level(Key)
    .sources(&[
        (
            Google,
            Event(&[
                "recurringEventId",
                "recurrence",
                "hangoutLink",
                "conferenceData/entryPoints",
                "transparency",
                "eventType",
                "visibility",
                "status",
                "attendees/comment",
            ]),
        ),
        (
            Microsoft,
            Event(&[
                "seriesMasterId", "recurrenceRule", "isOnlineMeeting", "showAs", "sensitivity",
                "isCancelled", "attendees",
            ]),
        ),
    ]),
    field("organizer_address", Text, "Address of the organizer.")
        .level(More)
        .untrusted(120)
        .sources(&[
            (Google, Event(&["organizer/email"])),
            (Microsoft, Event(&["organizer/emailAddress/address"])),
        ]),
    field("calendar", Text, "Name of its calendar; `main` for the account's main one.")
        .level(More)
        .untrusted(60)
        .sources(&[(Google, Event(&["calendarId"])), (Microsoft, Event(&["calendarId"]))]),
    field("link", Text, "Link to join the online meeting; `page` is the event's own.")
        .level(More)
        .untrusted(300)
        .sources(&[
            (Google, Event(&["hangoutLink", "conferenceData/entryPoints"])),
            (Microsoft, Event(&["onlineMeeting/joinUrl", "onlineMeetingUrl"])),
        ]),
    field("page", Text, "Its page in the web client; `link` joins the meeting. Only if named.")
        .level(More)
        .on_request()
        .untrusted(400)
        .sources(&[(Google, Event(&["htmlLink"])), (Microsoft, Event(&["webLink"]))]),
    field("series", Handle('e'), "Handle of the series it is an occurrence of.")
        .level(More)
        .sources(&[
            (Google, Event(&["calendarId", "recurringEventId"])),
            (Microsoft, Event(&["seriesMasterId"])),
        ]),
    field(
        "repeats",
        Text,
        "Recurrence rule of the series, as RRULE (RFC 5545), without cancelled occurrences.",
    )
    .level(More)
    .untrusted(240)
    .sources(&[(Google, Event(&["recurrence"])), (Microsoft, Event(&["recurrenceRule"]))]),
    field(
        "attendees",
        Text,
        "Everybody invited, as `Name <address>`, answer, and comment or proposed time; the first \
         five and a count of the rest, all with detail: full.",
    )
    .level(More)
    .untrusted(400)
    .sources(&[
        (Google, Event(&["attendees/email", "attendees/responseStatus", "attendees/comment"])),
        (Microsoft, Event(&["attendees"])),
    ]),
    field("show", Text, "busy, free, tentative, oof, focus or elsewhere.")
        .level(More)
        .ours()
        .sources(&[
            (Google, Event(&["eventType", "transparency", "status"])),
            (Microsoft, Event(&["showAs"])),
        ]),
    field("visibility", Text, "default, public, private or confidential.")
        .level(More)
        .ours()
        .sources(&[(Google, Event(&["visibility"])), (Microsoft, Event(&["sensitivity"]))]),
    field(
        "reminder",
        Count,
        "Reminder, in minutes before the start; null for none or the calendar's default.",
    )
    .level(More)
    .sources(&[
        (Google, Event(&["reminders/overrides/minutes"])),
        (Microsoft, Event(&["isReminderOn", "reminderMinutesBeforeStart"])),
    ]),
    field("category", Text, "Colour (Google) or categories (Outlook).")
        .level(More)
        .untrusted(80)
        .sources(&[(Google, Event(&["colorId"])), (Microsoft, Event(&["categories"]))]),
    field("zone", Text, "The event's own time zone; times here are in the document's zone.")
        .level(More)
        .untrusted(60)
        .sources(&[
            (Google, Event(&["start/timeZone"])),
            (Microsoft, Event(&["originalStartTimeZone"])),
        ]),
    field("notes", Text, "How its description begins.").level(More).untrusted(120).sources(&[
        (Google, Event(&["description"])),
        (Microsoft, Event(&["body/content", "bodyPreview"])),
    ]),
    field("updated", Time, "When it was last changed.")
        .level(More)
        .sources(&[(Google, Event(&["updated"])), (Microsoft, Event(&["lastModifiedDateTime"]))]),
    field("uid", Text, "Its iCalendar UID, the same in every calendar it is in.")
        .level(More)
        .untrusted(300)
        .sources(&[(Google, Event(&["iCalUID"])), (Microsoft, Event(&["iCalUId"]))]),
    field("account", Text, "Address of the account it is in.")
        .level(More)
        .ours()
        .sources(&[(Google, Account), (Microsoft, Account)]),
]);
