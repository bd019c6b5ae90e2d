//! The types of request bodies for mail: messages and their parts, and the parameters of actions.
//! Bodies are checked against them in `read.rs`.

use PropertyType::{Instant, Many, Number, Of, Text, Truth, Word};

use super::{ADDRESS, BODY, ObjectType, PropertyType, RECIPIENT, TIME, WEEKDAYS, action, object};

/// The importance of a message.
const IMPORTANCE: PropertyType = Word(&["low", "normal", "high"]);

static FLAG: ObjectType = object! { "followupFlag";
    "flagStatus": Word(&["notFlagged", "complete", "flagged"]), "startDateTime": Of(&TIME),
    "dueDateTime": Of(&TIME),
};

static HEADER: ObjectType = object("internetMessageHeader", &[("name", Text), ("value", Text)]);

static PROPERTY: ObjectType =
    object("singleValueLegacyExtendedProperty", &[("id", Text), ("value", Text)]);

/// A file attachment.
pub(crate) static ATTACHMENT: ObjectType = object! { "fileAttachment";
    "id": Text, "lastModifiedDateTime": Instant, "name": Text, "contentType": Text, "size": Number,
    "isInline": Truth, "contentId": Text, "contentLocation": Text, "contentBytes": Text,
};

/// A message. Read-only properties are accepted and ignored, as Graph does.
pub(crate) static MESSAGE: ObjectType = object! { "message";
    "id": Text, "createdDateTime": Instant, "lastModifiedDateTime": Instant, "changeKey": Text,
    "categories": Many(&Text), "receivedDateTime": Instant, "sentDateTime": Instant,
    "hasAttachments": Truth, "internetMessageId": Text, "subject": Text, "bodyPreview": Text,
    "importance": IMPORTANCE, "parentFolderId": Text, "conversationId": Text, "isRead": Truth,
    "isDraft": Truth, "webLink": Text, "inferenceClassification": Text,
    "internetMessageHeaders": Many(&Of(&HEADER)), "body": Of(&BODY),
    "sender": Of(&RECIPIENT), "from": Of(&RECIPIENT), "toRecipients": Many(&Of(&RECIPIENT)),
    "ccRecipients": Many(&Of(&RECIPIENT)), "bccRecipients": Many(&Of(&RECIPIENT)),
    "replyTo": Many(&Of(&RECIPIENT)), "flag": Of(&FLAG), "attachments": Many(&Of(&ATTACHMENT)),
    "singleValueExtendedProperties": Many(&Of(&PROPERTY)),
};

/// The parameters of `createReply`, `createReplyAll` and `createForward`: the properties that
/// should differ from those that Exchange chooses.
pub(crate) static ANSWER: ObjectType = action(&[("message", Of(&MESSAGE))]);

/// The parameters of `move` and `copy`.
pub(crate) static MOVE: ObjectType = action(&[("destinationId", Text)]);

static ATTACHMENT_ITEM: ObjectType = object! { "attachmentItem";
    "attachmentType": Word(&["file", "item", "reference"]), "name": Text, "size": Number,
    "contentType": Text, "contentId": Text, "isInline": Truth,
};

/// The parameters of `createUploadSession`.
pub(crate) static UPLOAD: ObjectType = action(&[("attachmentItem", Of(&ATTACHMENT_ITEM))]);

/// A folder.
pub(crate) static FOLDER: ObjectType = object! { "mailFolder";
    "id": Text, "displayName": Text, "parentFolderId": Text, "childFolderCount": Number,
    "unreadItemCount": Number, "totalItemCount": Number, "isHidden": Truth,
};

static SIZES: ObjectType = object("sizeRange", &[("minimumSize", Number), ("maximumSize", Number)]);

static PREDICATES: ObjectType = object! { "messageRulePredicates";
    "bodyContains": Many(&Text), "bodyOrSubjectContains": Many(&Text), "categories": Many(&Text),
    "fromAddresses": Many(&Of(&RECIPIENT)), "hasAttachments": Truth, "headerContains": Many(&Text),
    "importance": IMPORTANCE, "isAutomaticReply": Truth, "isSigned": Truth,
    "recipientContains": Many(&Text), "senderContains": Many(&Text),
    "sensitivity": Word(&["normal", "personal", "private", "confidential"]), "sentOnlyToMe": Truth,
    "sentToAddresses": Many(&Of(&RECIPIENT)), "subjectContains": Many(&Text),
    "withinSizeRange": Of(&SIZES),
};

static ACTIONS: ObjectType = object! { "messageRuleActions";
    "assignCategories": Many(&Text), "copyToFolder": Text, "delete": Truth,
    "forwardAsAttachmentTo": Many(&Of(&RECIPIENT)), "forwardTo": Many(&Of(&RECIPIENT)),
    "markAsRead": Truth, "markImportance": IMPORTANCE, "moveToFolder": Text,
    "permanentDelete": Truth, "redirectTo": Many(&Of(&RECIPIENT)), "stopProcessingRules": Truth,
};

/// An inbox rule.
pub(crate) static RULE: ObjectType = object! { "messageRule";
    "id": Text, "displayName": Text, "sequence": Number, "isEnabled": Truth, "hasError": Truth,
    "isReadOnly": Truth, "conditions": Of(&PREDICATES), "actions": Of(&ACTIONS),
    "exceptions": Of(&PREDICATES),
};

static REPLIES: ObjectType = object! { "automaticRepliesSetting";
    "status": Word(&["disabled", "alwaysEnabled", "scheduled"]),
    "externalAudience": Word(&["none", "contactsOnly", "all"]), "scheduledStartDateTime": Of(&TIME),
    "scheduledEndDateTime": Of(&TIME), "internalReplyMessage": Text, "externalReplyMessage": Text,
};

static LANGUAGE: ObjectType = object("localeInfo", &[("locale", Text), ("displayName", Text)]);

static ZONE: ObjectType = object("timeZoneBase", &[("name", Text)]);

static HOURS: ObjectType = object! { "workingHours";
    "daysOfWeek": Many(&WEEKDAYS), "startTime": Text, "endTime": Text, "timeZone": Of(&ZONE),
};

/// The settings of a mailbox.
pub(crate) static SETTINGS: ObjectType = object! { "mailboxSettings";
    "timeZone": Text, "automaticRepliesSetting": Of(&REPLIES), "language": Of(&LANGUAGE),
    "workingHours": Of(&HOURS),
};

/// A category.
pub(crate) static CATEGORY: ObjectType = object! { "outlookCategory";
    "id": Text, "displayName": Text,
    "color": Word(&[
        "none", "preset0", "preset1", "preset2", "preset3", "preset4", "preset5", "preset6",
        "preset7", "preset8", "preset9", "preset10", "preset11", "preset12", "preset13", "preset14",
        "preset15", "preset16", "preset17", "preset18", "preset19", "preset20", "preset21",
        "preset22", "preset23", "preset24",
    ]),
};

/// A contact.
pub(crate) static CONTACT: ObjectType = object! { "contact";
    "id": Text, "createdDateTime": Instant, "lastModifiedDateTime": Instant, "changeKey": Text,
    "categories": Many(&Text), "parentFolderId": Text, "displayName": Text,
    "emailAddresses": Many(&Of(&ADDRESS)), "companyName": Text, "jobTitle": Text,
    "businessPhones": Many(&Text), "mobilePhone": Text,
};
