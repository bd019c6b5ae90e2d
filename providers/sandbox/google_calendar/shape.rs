//! The types of Google Calendar's answers, for the `fields` mask, and the
//! parameters and scopes of its methods.

use crate::google::fields::Shape;

static REMINDER: Shape = Shape(&[("method", None), ("minutes", None)]);

static TIME: Shape = Shape(&[("date", None), ("dateTime", None), ("timeZone", None)]);

static PERSON: Shape =
    Shape(&[("id", None), ("email", None), ("displayName", None), ("self", None)]);

static KEY: Shape = Shape(&[("type", None)]);

static CONFERENCE: Shape = Shape(&[
    (
        "createRequest",
        Some(&Shape(&[
            ("requestId", None),
            ("conferenceSolutionKey", Some(&KEY)),
            ("status", Some(&Shape(&[("statusCode", None)]))),
        ])),
    ),
    (
        "entryPoints",
        Some(&Shape(&[
            ("entryPointType", None),
            ("entryPointFeatures", None),
            ("uri", None),
            ("label", None),
            ("pin", None),
            ("accessCode", None),
            ("meetingCode", None),
            ("passcode", None),
            ("password", None),
            ("regionCode", None),
        ])),
    ),
    ("conferenceSolution", Some(&Shape(&[("key", Some(&KEY)), ("name", None), ("iconUri", None)]))),
    ("conferenceId", None),
    ("signature", None),
    ("notes", None),
    ("parameters", None),
]);

/// The type of an event.
pub(super) static EVENT: Shape = Shape(&[
    ("kind", None),
    ("etag", None),
    ("id", None),
    ("status", None),
    ("htmlLink", None),
    ("created", None),
    ("updated", None),
    ("summary", None),
    ("description", None),
    ("location", None),
    ("colorId", None),
    ("eventLabelId", None),
    ("creator", Some(&PERSON)),
    ("organizer", Some(&PERSON)),
    ("start", Some(&TIME)),
    ("end", Some(&TIME)),
    ("endTimeUnspecified", None),
    ("recurrence", None),
    ("recurringEventId", None),
    ("originalStartTime", Some(&TIME)),
    ("transparency", None),
    ("visibility", None),
    ("iCalUID", None),
    ("sequence", None),
    (
        "attendees",
        Some(&Shape(&[
            ("id", None),
            ("email", None),
            ("displayName", None),
            ("organizer", None),
            ("self", None),
            ("resource", None),
            ("optional", None),
            ("responseStatus", None),
            ("comment", None),
            ("additionalGuests", None),
            ("asyncOperation", None),
        ])),
    ),
    ("attendeesOmitted", None),
    ("extendedProperties", Some(&Shape(&[("private", None), ("shared", None)]))),
    ("hangoutLink", None),
    ("conferenceData", Some(&CONFERENCE)),
    ("gadget", None),
    ("anyoneCanAddSelf", None),
    ("guestsCanInviteOthers", None),
    ("guestsCanModify", None),
    ("guestsCanSeeOtherGuests", None),
    ("privateCopy", None),
    ("locked", None),
    ("reminders", Some(&Shape(&[("useDefault", None), ("overrides", Some(&REMINDER))]))),
    ("source", Some(&Shape(&[("url", None), ("title", None)]))),
    ("attachments", None),
    ("birthdayProperties", None),
    ("workingLocationProperties", None),
    ("outOfOfficeProperties", None),
    ("focusTimeProperties", None),
    ("eventType", None),
]);

/// The type of a list of events.
pub(super) static EVENTS: Shape = Shape(&[
    ("kind", None),
    ("etag", None),
    ("summary", None),
    ("description", None),
    ("updated", None),
    ("timeZone", None),
    ("accessRole", None),
    ("defaultReminders", Some(&REMINDER)),
    ("nextPageToken", None),
    ("nextSyncToken", None),
    ("items", Some(&EVENT)),
]);

static CONFERENCES: Shape = Shape(&[("allowedConferenceSolutionTypes", None)]);

/// The type of a calendar.
pub(super) static CALENDAR: Shape = Shape(&[
    ("kind", None),
    ("etag", None),
    ("id", None),
    ("summary", None),
    ("description", None),
    ("location", None),
    ("timeZone", None),
    ("dataOwner", None),
    ("conferenceProperties", Some(&CONFERENCES)),
    ("autoAcceptInvitations", None),
    ("labelProperties", None),
    ("workingHours", None),
]);

/// The type of a calendar in somebody's list.
pub(super) static ENTRY: Shape = Shape(&[
    ("kind", None),
    ("etag", None),
    ("id", None),
    ("summary", None),
    ("summaryOverride", None),
    ("description", None),
    ("location", None),
    ("timeZone", None),
    ("dataOwner", None),
    ("colorId", None),
    ("backgroundColor", None),
    ("foregroundColor", None),
    ("hidden", None),
    ("selected", None),
    ("accessRole", None),
    ("defaultReminders", Some(&REMINDER)),
    (
        "notificationSettings",
        Some(&Shape(&[("notifications", Some(&Shape(&[("type", None), ("method", None)])))])),
    ),
    ("primary", None),
    ("deleted", None),
    ("conferenceProperties", Some(&CONFERENCES)),
    ("autoAcceptInvitations", None),
]);

/// The type of somebody's list of calendars.
pub(super) static ENTRIES: Shape = Shape(&[
    ("kind", None),
    ("etag", None),
    ("nextPageToken", None),
    ("nextSyncToken", None),
    ("items", Some(&ENTRY)),
]);

/// The type of busy times; below, its keys are ids.
pub(super) static BUSY: Shape = Shape(&[
    ("kind", None),
    ("timeMin", None),
    ("timeMax", None),
    ("groups", None),
    ("calendars", None),
]);

/// The type of an answer without a body.
pub(super) static NOTHING: Shape = Shape(&[]);

/// Parameters of the list of events.
pub(super) const LIST: &[&str] = &[
    "iCalUID",
    "maxResults",
    "orderBy",
    "pageToken",
    "showDeleted",
    "singleEvents",
    "syncToken",
    "timeMax",
    "timeMin",
];

/// Parameters of writing an event.
pub(super) const WRITE: &[&str] = &[
    "alwaysIncludeEmail",
    "conferenceDataVersion",
    "eventLabelVersion",
    "maxAttendees",
    "sendNotifications",
    "sendUpdates",
    "supportsAttachments",
];

/// Parameters of taking an event over from elsewhere.
pub(super) const IMPORT: &[&str] =
    &["conferenceDataVersion", "eventLabelVersion", "supportsAttachments"];

/// Parameters of deleting an event.
pub(super) const DELETE: &[&str] = &["sendNotifications", "sendUpdates"];

/// Parameters of the lists of calendars and of settings.
pub(super) const ENTRIES_LIST: &[&str] = &["maxResults", "pageToken"];

/// Scopes that let events be read, without what stands before them.
pub(super) const READ_EVENTS: &[&str] = &[
    "calendar",
    "calendar.readonly",
    "calendar.app.created",
    "calendar.events",
    "calendar.events.readonly",
    "calendar.events.owned",
    "calendar.events.owned.readonly",
];

/// Scopes that let events be written.
pub(super) const WRITE_EVENTS: &[&str] =
    &["calendar", "calendar.app.created", "calendar.events", "calendar.events.owned"];

/// Scopes that let calendars be written.
pub(super) const WRITE_CALENDARS: &[&str] =
    &["calendar", "calendar.app.created", "calendar.calendars"];

/// Scopes that let the list of calendars be read.
pub(super) const READ_ENTRIES: &[&str] = &[
    "calendar",
    "calendar.readonly",
    "calendar.app.created",
    "calendar.calendarlist",
    "calendar.calendarlist.readonly",
];

/// Scopes that let busy times be read.
pub(super) const READ_BUSY: &[&str] =
    &["calendar", "calendar.readonly", "calendar.freebusy", "calendar.events.freebusy"];
