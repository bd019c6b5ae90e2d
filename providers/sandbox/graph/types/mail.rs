//! The types of what clients send for mail: messages and what belongs to them,
//! and the parameters of actions. Bodies are held against them in
//! `read.rs`.

use super::{ADDRESS, BODY, RECIPIENT, Shape, TIME, Type, WEEKDAYS, action, shape};

use Type::{Instant, Many, Number, Of, Text, Truth, Word};

/// How much something matters.
const IMPORTANCE: Type = Word(&["low", "normal", "high"]);

static FLAG: Shape = shape! { "followupFlag";
    "flagStatus": Word(&["notFlagged", "complete", "flagged"]), "startDateTime": Of(&TIME),
    "dueDateTime": Of(&TIME),
};

static PROPERTY: Shape =
    shape("singleValueLegacyExtendedProperty", &[("id", Text), ("value", Text)]);

/// An attachment that is a file.
pub(crate) static ATTACHMENT: Shape = shape! { "fileAttachment";
    "id": Text, "lastModifiedDateTime": Instant, "name": Text, "contentType": Text, "size": Number,
    "isInline": Truth, "contentId": Text, "contentLocation": Text, "contentBytes": Text,
};

/// A message; what is only read may be sent too, and is passed over.
pub(crate) static MESSAGE: Shape = shape! { "message";
    "id": Text, "createdDateTime": Instant, "lastModifiedDateTime": Instant, "changeKey": Text,
    "categories": Many(&Text), "receivedDateTime": Instant, "sentDateTime": Instant,
    "hasAttachments": Truth, "internetMessageId": Text, "subject": Text, "bodyPreview": Text,
    "importance": IMPORTANCE, "parentFolderId": Text, "conversationId": Text, "isRead": Truth,
    "isDraft": Truth, "webLink": Text, "inferenceClassification": Text, "body": Of(&BODY),
    "sender": Of(&RECIPIENT), "from": Of(&RECIPIENT), "toRecipients": Many(&Of(&RECIPIENT)),
    "ccRecipients": Many(&Of(&RECIPIENT)), "bccRecipients": Many(&Of(&RECIPIENT)),
    "replyTo": Many(&Of(&RECIPIENT)), "flag": Of(&FLAG), "attachments": Many(&Of(&ATTACHMENT)),
    "singleValueExtendedProperties": Many(&Of(&PROPERTY)),
};

/// The parameters of what makes a draft of a message: those that say nothing of
/// it, which is written afterwards.
pub(crate) static ANSWER: Shape = action(&[]);

/// The parameters of `move` and `copy`.
pub(crate) static MOVE: Shape = action(&[("destinationId", Text)]);

static ATTACHMENT_ITEM: Shape = shape! { "attachmentItem";
    "attachmentType": Word(&["file", "item", "reference"]), "name": Text, "size": Number,
    "contentType": Text, "contentId": Text, "isInline": Truth,
};

/// The parameters of `createUploadSession`.
pub(crate) static UPLOAD: Shape = action(&[("attachmentItem", Of(&ATTACHMENT_ITEM))]);

/// A folder.
pub(crate) static FOLDER: Shape = shape! { "mailFolder";
    "id": Text, "displayName": Text, "parentFolderId": Text, "childFolderCount": Number,
    "unreadItemCount": Number, "totalItemCount": Number, "isHidden": Truth,
};

static SIZES: Shape = shape("sizeRange", &[("minimumSize", Number), ("maximumSize", Number)]);

static PREDICATES: Shape = shape! { "messageRulePredicates";
    "bodyContains": Many(&Text), "bodyOrSubjectContains": Many(&Text), "categories": Many(&Text),
    "fromAddresses": Many(&Of(&RECIPIENT)), "hasAttachments": Truth, "headerContains": Many(&Text),
    "importance": IMPORTANCE, "isAutomaticReply": Truth, "isSigned": Truth,
    "recipientContains": Many(&Text), "senderContains": Many(&Text),
    "sensitivity": Word(&["normal", "personal", "private", "confidential"]), "sentOnlyToMe": Truth,
    "sentToAddresses": Many(&Of(&RECIPIENT)), "subjectContains": Many(&Text),
    "withinSizeRange": Of(&SIZES),
};

static ACTIONS: Shape = shape! { "messageRuleActions";
    "assignCategories": Many(&Text), "copyToFolder": Text, "delete": Truth,
    "forwardAsAttachmentTo": Many(&Of(&RECIPIENT)), "forwardTo": Many(&Of(&RECIPIENT)),
    "markAsRead": Truth, "markImportance": IMPORTANCE, "moveToFolder": Text,
    "permanentDelete": Truth, "redirectTo": Many(&Of(&RECIPIENT)), "stopProcessingRules": Truth,
};

/// A rule of the inbox.
pub(crate) static RULE: Shape = shape! { "messageRule";
    "id": Text, "displayName": Text, "sequence": Number, "isEnabled": Truth, "hasError": Truth,
    "isReadOnly": Truth, "conditions": Of(&PREDICATES), "actions": Of(&ACTIONS),
    "exceptions": Of(&PREDICATES),
};

static REPLIES: Shape = shape! { "automaticRepliesSetting";
    "status": Word(&["disabled", "alwaysEnabled", "scheduled"]),
    "externalAudience": Word(&["none", "contactsOnly", "all"]), "scheduledStartDateTime": Of(&TIME),
    "scheduledEndDateTime": Of(&TIME), "internalReplyMessage": Text, "externalReplyMessage": Text,
};

static LANGUAGE: Shape = shape("localeInfo", &[("locale", Text), ("displayName", Text)]);

static ZONE: Shape = shape("timeZoneBase", &[("name", Text)]);

static HOURS: Shape = shape! { "workingHours";
    "daysOfWeek": Many(&WEEKDAYS), "startTime": Text, "endTime": Text, "timeZone": Of(&ZONE),
};

/// The settings of a mailbox.
pub(crate) static SETTINGS: Shape = shape! { "mailboxSettings";
    "timeZone": Text, "automaticRepliesSetting": Of(&REPLIES), "language": Of(&LANGUAGE),
    "workingHours": Of(&HOURS),
};

/// A category.
pub(crate) static CATEGORY: Shape = shape! { "outlookCategory";
    "id": Text, "displayName": Text,
    "color": Word(&[
        "none", "preset0", "preset1", "preset2", "preset3", "preset4", "preset5", "preset6",
        "preset7", "preset8", "preset9", "preset10", "preset11", "preset12", "preset13", "preset14",
        "preset15", "preset16", "preset17", "preset18", "preset19", "preset20", "preset21",
        "preset22", "preset23", "preset24",
    ]),
};

/// A contact.
pub(crate) static CONTACT: Shape = shape! { "contact";
    "id": Text, "createdDateTime": Instant, "lastModifiedDateTime": Instant, "changeKey": Text,
    "categories": Many(&Text), "parentFolderId": Text, "displayName": Text,
    "emailAddresses": Many(&Of(&ADDRESS)), "companyName": Text, "jobTitle": Text,
    "businessPhones": Many(&Text), "mobilePhone": Text,
};
