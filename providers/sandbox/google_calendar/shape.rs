//! The types of Google Calendar's answers, for the `fields` mask, and the parameters and scopes of
//! its methods.

use crate::google::fields::{FieldShape, shape};

static REMINDER: FieldShape = shape! { "method", "minutes" };

static TIME: FieldShape = shape! { "date", "dateTime", "timeZone" };

static PERSON: FieldShape = shape! { "id", "email", "displayName", "self" };

static KEY: FieldShape = shape! { "type" };

static CONFERENCE: FieldShape = shape! {
    "createRequest": &shape! {
        "requestId", "conferenceSolutionKey": &KEY, "status": &shape! { "statusCode" },
    },
    "entryPoints": &shape! { "entryPointType", "uri", "label", "pin", "password" },
    "conferenceSolution": &shape! { "key": &KEY, "name" }, "conferenceId", "signature", "notes",
    "parameters",
};

/// The type of an event.
pub(super) static EVENT: FieldShape = shape! {
    "kind", "etag", "id", "status", "htmlLink", "created", "updated", "summary", "description",
    "location", "colorId", "creator": &PERSON, "organizer": &PERSON, "start": &TIME, "end": &TIME,
    "recurrence", "recurringEventId", "originalStartTime": &TIME, "transparency", "visibility",
    "iCalUID", "sequence",
    "attendees": &shape! {
        "id", "email", "displayName", "organizer", "self", "resource", "optional", "responseStatus",
        "comment",
    },
    "attendeesOmitted", "hangoutLink", "conferenceData": &CONFERENCE, "guestsCanInviteOthers",
    "guestsCanModify", "locked", "reminders": &shape! { "useDefault", "overrides": &REMINDER },
    "source": &shape! { "url", "title" }, "attachments", "workingLocationProperties",
    "outOfOfficeProperties", "focusTimeProperties", "eventType",
};

/// The type of a list of events.
pub(super) static EVENTS: FieldShape = shape! {
    "kind", "etag", "summary", "description", "updated", "timeZone", "accessRole",
    "defaultReminders": &REMINDER, "nextPageToken", "nextSyncToken", "items": &EVENT,
};

/// The type of a calendar.
pub(super) static CALENDAR: FieldShape = shape! {
    "kind", "etag", "id", "summary", "description", "location", "timeZone", "workingHours",
};

/// The type of an entry of a person's calendar list.
pub(super) static ENTRY: FieldShape = shape! {
    "kind", "etag", "id", "summary", "summaryOverride", "description", "location", "timeZone",
    "colorId", "backgroundColor", "hidden", "selected", "accessRole", "defaultReminders": &REMINDER,
    "primary", "deleted",
};

/// The type of a person's calendar list.
pub(super) static ENTRIES: FieldShape = shape! {
    "kind", "etag", "nextPageToken", "nextSyncToken", "items": &ENTRY,
};

/// The type of busy times. The keys of its `calendars` are ids.
pub(super) static BUSY: FieldShape = shape! { "kind", "timeMin", "timeMax", "groups", "calendars" };

/// The type of an answer without a body.
pub(super) static NOTHING: FieldShape = FieldShape(&[]);

/// The parameters of the list of events.
pub(super) const LIST: &[&str] = &[
    "iCalUID", "maxResults", "orderBy", "pageToken", "showDeleted", "singleEvents", "syncToken",
    "timeMax", "timeMin", "timeZone",
];

/// The parameters of the list of a series' occurrences.
pub(super) const INSTANCES: &[&str] =
    &["maxResults", "pageToken", "showDeleted", "timeMax", "timeMin", "timeZone"];

/// The parameters of writing an event.
pub(super) const WRITE: &[&str] = &["conferenceDataVersion", "sendUpdates", "supportsAttachments"];

/// The parameters of importing an event.
pub(super) const IMPORT: &[&str] = &["conferenceDataVersion", "supportsAttachments"];

/// The parameters of deleting an event.
pub(super) const DELETE: &[&str] = &["sendUpdates"];

/// The parameters of the calendar list.
pub(super) const ENTRIES_LIST: &[&str] = &["maxResults", "pageToken"];

/// The scopes that allow reading events, without their common prefix.
pub(super) const READ_EVENTS: &[&str] = &[
    "calendar",
    "calendar.readonly",
    "calendar.app.created",
    "calendar.events",
    "calendar.events.readonly",
    "calendar.events.owned",
    "calendar.events.owned.readonly",
];

/// The scopes that allow writing events.
pub(super) const WRITE_EVENTS: &[&str] =
    &["calendar", "calendar.app.created", "calendar.events", "calendar.events.owned"];

/// The scopes that allow writing calendars.
pub(super) const WRITE_CALENDARS: &[&str] =
    &["calendar", "calendar.app.created", "calendar.calendars"];

/// The scopes that allow reading the calendar list.
pub(super) const READ_ENTRIES: &[&str] = &[
    "calendar",
    "calendar.readonly",
    "calendar.app.created",
    "calendar.calendarlist",
    "calendar.calendarlist.readonly",
];

/// The scopes that allow reading busy times.
pub(super) const READ_BUSY: &[&str] =
    &["calendar", "calendar.readonly", "calendar.freebusy", "calendar.events.freebusy"];
