//! The types of what clients send for calendars: events, calendars, and the
//! parameters of actions; those for mail are in `mail.rs`. Bodies are held against them in
//! `read.rs`.

/// A type by its name, and the names and types of its members.
macro_rules! shape {
    ($of:literal; $($name:literal: $kind:expr),+ $(,)?) => {
        $crate::graph::types::shape($of, &[$(($name, $kind)),+])
    };
}

pub(super) mod mail;
pub(super) mod read;

/// A type.
pub(crate) enum Type {
    Text,
    Truth,
    Number,
    Day,
    Instant,
    /// A word of a list, whatever its case.
    Word(&'static [&'static str]),
    Many(&'static Type),
    Of(&'static Shape),
}

/// A type with members.
pub(crate) struct Shape {
    /// Its name below `microsoft.graph`.
    pub name: &'static str,
    /// True when the names of members are read whatever their case.
    pub loose: bool,
    /// Its members.
    pub members: &'static [(&'static str, Type)],
}

pub(super) const fn shape(name: &'static str, members: &'static [(&'static str, Type)]) -> Shape {
    Shape { name, loose: false, members }
}

pub(super) const fn action(members: &'static [(&'static str, Type)]) -> Shape {
    Shape { name: "action", loose: true, members }
}

use Type::{Day, Instant, Many, Number, Of, Text, Truth, Word};

pub(super) const WEEKDAYS: Type =
    Word(&["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]);

const PROVIDERS: Type =
    Word(&["unknown", "teamsForBusiness", "skypeForBusiness", "skypeForConsumer"]);

pub(super) static TIME: Shape =
    shape("dateTimeTimeZone", &[("dateTime", Text), ("timeZone", Text)]);

static SLOT: Shape = shape("timeSlot", &[("start", Of(&TIME)), ("end", Of(&TIME))]);

pub(super) static ADDRESS: Shape = shape("emailAddress", &[("name", Text), ("address", Text)]);

pub(super) static RECIPIENT: Shape = shape("recipient", &[("emailAddress", Of(&ADDRESS))]);

static STATUS: Shape = shape! { "responseStatus";
    "response": Word(&[
        "none", "organizer", "tentativelyAccepted", "accepted", "declined", "notResponded",
    ]),
    "time": Instant,
};

static ATTENDEE: Shape = shape! { "attendee";
    "emailAddress": Of(&ADDRESS), "type": Word(&["required", "optional", "resource"]),
    "status": Of(&STATUS), "proposedNewTime": Of(&SLOT),
};

pub(super) static BODY: Shape =
    shape("itemBody", &[("contentType", Word(&["text", "html"])), ("content", Text)]);

static PLACE: Shape = shape("location", &[("displayName", Text)]);

static PATTERN: Shape = shape! { "recurrencePattern";
    "type": Word(&[
        "daily", "weekly", "absoluteMonthly", "relativeMonthly", "absoluteYearly", "relativeYearly",
    ]),
    "interval": Number, "month": Number, "dayOfMonth": Number, "daysOfWeek": Many(&WEEKDAYS),
    "firstDayOfWeek": WEEKDAYS, "index": Word(&["first", "second", "third", "fourth", "last"]),
};

static RANGE: Shape = shape! { "recurrenceRange";
    "type": Word(&["endDate", "noEnd", "numbered"]), "startDate": Day, "endDate": Day,
    "recurrenceTimeZone": Text, "numberOfOccurrences": Number,
};

static RECURRENCE: Shape =
    shape("patternedRecurrence", &[("pattern", Of(&PATTERN)), ("range", Of(&RANGE))]);

static ONLINE: Shape = shape("onlineMeetingInfo", &[("joinUrl", Text)]);

/// An event; what is only read may be sent too, and is passed over.
pub(super) static EVENT: Shape = shape! { "event";
    "id": Text, "createdDateTime": Instant, "lastModifiedDateTime": Instant, "changeKey": Text,
    "categories": Many(&Text), "transactionId": Text, "originalStart": Instant,
    "originalStartTimeZone": Text, "originalEndTimeZone": Text, "iCalUId": Text,
    "reminderMinutesBeforeStart": Number, "isReminderOn": Truth, "hasAttachments": Truth,
    "subject": Text, "bodyPreview": Text, "importance": Word(&["low", "normal", "high"]),
    "sensitivity": Word(&["normal", "personal", "private", "confidential"]), "isAllDay": Truth,
    "isCancelled": Truth, "isOrganizer": Truth, "responseRequested": Truth, "seriesMasterId": Text,
    "showAs": Word(&["unknown", "free", "tentative", "busy", "oof", "workingElsewhere"]),
    "type": Word(&["singleInstance", "occurrence", "exception", "seriesMaster"]), "webLink": Text,
    "isOnlineMeeting": Truth, "onlineMeetingProvider": PROVIDERS, "onlineMeeting": Of(&ONLINE),
    "onlineMeetingUrl": Text,
    "allowNewTimeProposals": Truth, "isDraft": Truth, "responseStatus": Of(&STATUS),
    "body": Of(&BODY), "start": Of(&TIME), "end": Of(&TIME), "location": Of(&PLACE),
    "recurrence": Of(&RECURRENCE), "attendees": Many(&Of(&ATTENDEE)), "organizer": Of(&RECIPIENT),
    "cancelledOccurrences": Many(&Text),
};

/// A calendar.
pub(super) static CALENDAR: Shape = shape! { "calendar";
    "id": Text, "name": Text, "isDefaultCalendar": Truth, "canShare": Truth, "canEdit": Truth,
    "owner": Of(&ADDRESS),
};

/// The parameters of `accept`.
pub(super) static ACCEPT: Shape = action(&[("comment", Text), ("sendResponse", Truth)]);

/// The parameters of `decline` and `tentativelyAccept`.
pub(super) static DECLINE: Shape =
    action(&[("comment", Text), ("sendResponse", Truth), ("proposedNewTime", Of(&SLOT))]);

/// The parameters of `cancel`.
pub(super) static CANCEL: Shape = action(&[("comment", Text)]);

/// The parameters of `forward`.
pub(super) static FORWARD: Shape =
    action(&[("comment", Text), ("toRecipients", Many(&Of(&RECIPIENT)))]);

/// The parameters of `getSchedule`.
pub(super) static SCHEDULE: Shape = action(&[
    ("schedules", Many(&Text)),
    ("startTime", Of(&TIME)),
    ("endTime", Of(&TIME)),
    ("availabilityViewInterval", Number),
]);
