//! The types of request bodies for calendars: events, calendars, and the parameters of actions.
//! Those for mail are in `mail.rs`. Bodies are checked against them in `read.rs`.

/// A type with its name, and the names and types of its members.
macro_rules! object {
    ($of:literal; $($name:literal: $kind:expr),+ $(,)?) => {
        $crate::graph::types::object($of, &[$(($name, $kind)),+])
    };
}

pub(super) mod mail;
pub(super) mod read;

/// The type of a value.
pub(crate) enum PropertyType {
    Text,
    Truth,
    Number,
    Day,
    Instant,
    /// A word of an enumeration, in any case.
    Word(&'static [&'static str]),
    Many(&'static PropertyType),
    Of(&'static ObjectType),
}

/// A type with members.
pub(crate) struct ObjectType {
    /// The name below `microsoft.graph`.
    pub name: &'static str,
    /// True if the names of members are case-insensitive.
    pub loose: bool,
    /// The members, in the order in which Graph returns them.
    pub members: &'static [(&'static str, PropertyType)],
}

impl ObjectType {
    /// Returns the names of the members, in the order in which Graph returns them.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.members.iter().map(|(name, _)| *name)
    }
}

pub(super) const fn object(
    name: &'static str,
    members: &'static [(&'static str, PropertyType)],
) -> ObjectType {
    ObjectType { name, loose: false, members }
}

pub(super) const fn action(members: &'static [(&'static str, PropertyType)]) -> ObjectType {
    // Graph's documentation writes the parameters of actions in both cases: `Comment`, `comment`.
    ObjectType { name: "action", loose: true, members }
}

use PropertyType::{Day, Instant, Many, Number, Of, Text, Truth, Word};

pub(super) const WEEKDAYS: PropertyType =
    Word(&["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]);

const PROVIDERS: PropertyType =
    Word(&["unknown", "teamsForBusiness", "skypeForBusiness", "skypeForConsumer"]);

pub(super) static TIME: ObjectType =
    object("dateTimeTimeZone", &[("dateTime", Text), ("timeZone", Text)]);

static SLOT: ObjectType = object("timeSlot", &[("start", Of(&TIME)), ("end", Of(&TIME))]);

pub(super) static ADDRESS: ObjectType =
    object("emailAddress", &[("name", Text), ("address", Text)]);

pub(super) static RECIPIENT: ObjectType = object("recipient", &[("emailAddress", Of(&ADDRESS))]);

static STATUS: ObjectType = object! { "responseStatus";
    "response": Word(&[
        "none", "organizer", "tentativelyAccepted", "accepted", "declined", "notResponded",
    ]),
    "time": Instant,
};

static ATTENDEE: ObjectType = object! { "attendee";
    "emailAddress": Of(&ADDRESS), "type": Word(&["required", "optional", "resource"]),
    "status": Of(&STATUS), "proposedNewTime": Of(&SLOT),
};

pub(super) static BODY: ObjectType =
    object("itemBody", &[("contentType", Word(&["text", "html"])), ("content", Text)]);

static PLACE: ObjectType = object("location", &[("displayName", Text)]);

static PATTERN: ObjectType = object! { "recurrencePattern";
    "type": Word(&[
        "daily", "weekly", "absoluteMonthly", "relativeMonthly", "absoluteYearly", "relativeYearly",
    ]),
    "interval": Number, "month": Number, "dayOfMonth": Number, "daysOfWeek": Many(&WEEKDAYS),
    "firstDayOfWeek": WEEKDAYS, "index": Word(&["first", "second", "third", "fourth", "last"]),
};

static RANGE: ObjectType = object! { "recurrenceRange";
    "type": Word(&["endDate", "noEnd", "numbered"]), "startDate": Day, "endDate": Day,
    "recurrenceTimeZone": Text, "numberOfOccurrences": Number,
};

static RECURRENCE: ObjectType =
    object("patternedRecurrence", &[("pattern", Of(&PATTERN)), ("range", Of(&RANGE))]);

static ONLINE: ObjectType = object("onlineMeetingInfo", &[("joinUrl", Text)]);

/// An event. Read-only properties are accepted and ignored, as Graph does.
pub(super) static EVENT: ObjectType = object! { "event";
    "id": Text, "createdDateTime": Instant, "lastModifiedDateTime": Instant, "changeKey": Text,
    "categories": Many(&Text), "transactionId": Text, "originalStart": Instant,
    "originalStartTimeZone": Text, "originalEndTimeZone": Text, "iCalUId": Text,
    "reminderMinutesBeforeStart": Number, "isReminderOn": Truth, "hasAttachments": Truth,
    "subject": Text, "bodyPreview": Text, "importance": Word(&["low", "normal", "high"]),
    "sensitivity": Word(&["normal", "personal", "private", "confidential"]), "isAllDay": Truth,
    "isCancelled": Truth, "isOrganizer": Truth, "responseRequested": Truth, "seriesMasterId": Text,
    "showAs": Word(&["unknown", "free", "tentative", "busy", "oof", "workingElsewhere"]),
    "type": Word(&["singleInstance", "occurrence", "exception", "seriesMaster"]), "webLink": Text,
    "onlineMeetingUrl": Text, "isOnlineMeeting": Truth, "onlineMeetingProvider": PROVIDERS,
    "allowNewTimeProposals": Truth, "isDraft": Truth, "responseStatus": Of(&STATUS),
    "body": Of(&BODY), "start": Of(&TIME), "end": Of(&TIME), "location": Of(&PLACE),
    "recurrence": Of(&RECURRENCE), "attendees": Many(&Of(&ATTENDEE)), "organizer": Of(&RECIPIENT),
    "onlineMeeting": Of(&ONLINE), "cancelledOccurrences": Many(&Text),
};

/// A calendar.
pub(super) static CALENDAR: ObjectType = object! { "calendar";
    "id": Text, "name": Text, "isDefaultCalendar": Truth, "changeKey": Text, "canShare": Truth, "canEdit": Truth,
    "owner": Of(&ADDRESS),
};

/// The parameters of `accept`.
pub(super) static ACCEPT: ObjectType = action(&[("comment", Text), ("sendResponse", Truth)]);

/// The parameters of `decline` and `tentativelyAccept`.
pub(super) static DECLINE: ObjectType =
    action(&[("comment", Text), ("sendResponse", Truth), ("proposedNewTime", Of(&SLOT))]);

/// The parameters of `cancel`.
pub(super) static CANCEL: ObjectType = action(&[("comment", Text)]);

/// The parameters of `forward`.
pub(super) static FORWARD: ObjectType =
    action(&[("comment", Text), ("toRecipients", Many(&Of(&RECIPIENT)))]);

/// The parameters of `getSchedule`.
pub(super) static SCHEDULE: ObjectType = action(&[
    ("schedules", Many(&Text)),
    ("startTime", Of(&TIME)),
    ("endTime", Of(&TIME)),
    ("availabilityViewInterval", Number),
]);
