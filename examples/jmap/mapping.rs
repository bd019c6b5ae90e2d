//! Maps JMAP's objects to our columns; messages have the form that `objects.rs` gives them.

use daysheet_core::schemas::ValueSource::{
    Addresses, Any, Column, Each, First, Flags, Has, Is, Names, Newest, Oldest, Path, Rfc3339,
    Tally, There,
};
use daysheet_core::schemas::{ColumnMapping, ColumnReader, ValueSource};

/// The columns of JMAP's objects.
pub static MAPPING: ColumnMapping = ColumnMapping {
    name: "jmap",
    receivers: &[],
    tables: &[
        ("message", MESSAGE),
        ("thread", THREAD),
        ("sender", SENDER),
        ("attachment", ATTACHMENT),
        ("folder", FOLDER),
    ],
};

const MESSAGE: &[(&str, ValueSource)] = &[
    ("id", Path("id")),
    ("date", Rfc3339("receivedAt")),
    ("from", Addresses("from")),
    ("subject", Path("subject")),
    ("snippet", Path("preview")),
    ("flags", Flags(FLAGS)),
    ("to", Addresses("to")),
    ("cc", Addresses("cc")),
    ("thread", Path("threadId")),
    ("folder", Names("mailboxIds")),
    ("size", Path("size")),
    ("has_attachments", Path("hasAttachment")),
    ("message_id", Path("header:Message-ID")),
];

const FLAGS: &[(&str, ValueSource)] = &[
    ("unread", Is("unread", "true")),
    ("starred", Has("keywords", "$flagged")),
    ("attachment", Is("hasAttachment", "true")),
    ("important", Has("keywords", "$important")),
    ("draft", Has("keywords", "$draft")),
];

const THREAD: &[(&str, ValueSource)] = &[
    ("id", Path("id")),
    ("date", Newest("messages", &Rfc3339("receivedAt"))),
    ("people", Each("messages", &Addresses("from"))),
    ("subject", Oldest("messages", &Path("subject"))),
    ("count", Column(ColumnReader::Count("messages"))),
    ("snippet", Newest("messages", &Path("preview"))),
    ("flags", Flags(THREAD_FLAGS)),
];

const SENDER: &[(&str, ValueSource)] = &[
    ("from", Newest("messages", &Addresses("from"))),
    ("count", Column(ColumnReader::Count("messages"))),
    ("unread", Tally("messages", &Is("unread", "true"))),
    ("date", Newest("messages", &Rfc3339("receivedAt"))),
    ("subject", Newest("messages", &Path("subject"))),
    ("id", Path("id")),
];

const THREAD_FLAGS: &[(&str, ValueSource)] = &[
    ("unread", Any("messages", &Is("unread", "true"))),
    ("starred", Any("messages", &Has("keywords", "$flagged"))),
    ("attachment", Any("messages", &Is("hasAttachment", "true"))),
    ("important", Any("messages", &Has("keywords", "$important"))),
    ("draft", Any("messages", &Has("keywords", "$draft"))),
];

const ATTACHMENT: &[(&str, ValueSource)] = &[
    ("id", Path("id")),
    ("message", Path("message")),
    ("name", Path("name")),
    ("type", Path("type")),
    ("size", Path("size")),
];

const FOLDER: &[(&str, ValueSource)] = &[
    ("id", Path("id")),
    ("name", Names("id")),
    ("kind", First(&[("system", There("role")), ("user", There("id"))], "")),
    ("unread", Path("unreadEmails")),
    ("total", Path("totalEmails")),
];
