//! The `thread` table: one conversation, summed up.
//!
//! The objects it reads are `{id, messages: [oldest … newest]}`: Gmail answers
//! in that shape, and the Outlook adapter groups messages into it.

use super::CellKind::{Count, Handle, Text, Time, Words};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Microsoft};
use super::ValueSource::{
    Account, Address, Any, Column, Each, Either, EpochMs, Flags, Has, Header, HeaderAddresses, Is,
    Newest, Not, Oldest, Path, Provided, Rfc3339, Tally,
};
use super::message::{GMAIL_OPENING, GMAIL_SENDER, MIXED, OUTLOOK_OPENING, OUTLOOK_SENDER};
use super::{ColumnReader, Table, TableColumn, TableName, ValueSource, field, table};

/// One row per conversation.
pub const THREAD: Table = table(
    "thread",
    "threads",
    1,
    "One thread: who takes part, about what, and the state of its newest message.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("thread").columns([
    field("id", Handle('t'), "Handle of the thread; mail_read accepts it.")
        .level(Key)
        .sources(&[(Google, Path("id")), (Microsoft, Path("id"))]),
    field("date", Time, "When its newest message arrived; drafts do not count beside others.")
        .level(Key)
        .sources(&[
            (
                Google,
                Either(&[
                    Newest("messages", &Provided(&GMAIL_SENT, &EpochMs("internalDate"))),
                    Newest("messages", &EpochMs("internalDate")),
                ]),
            ),
            (
                Microsoft,
                Either(&[
                    Newest("messages", &Provided(&OUTLOOK_SENT, &Rfc3339("receivedDateTime"))),
                    Newest("messages", &Rfc3339("receivedDateTime")),
                ]),
            ),
        ]),
    field("people", Text, "Senders, oldest first, the first five and a count of the rest.")
        .level(Key)
        .untrusted(160)
        .sources(&[
            (
                Google,
                Either(&[
                    Each("messages", &Provided(&GMAIL_SENT, &GMAIL_SENDER)),
                    Each("messages", &GMAIL_SENDER),
                ]),
            ),
            (
                Microsoft,
                Either(&[
                    Each("messages", &Provided(&OUTLOOK_SENT, &OUTLOOK_SENDER)),
                    Each("messages", &OUTLOOK_SENDER),
                ]),
            ),
        ]),
    field("subject", Text, "Subject line of its oldest message.").level(Key).untrusted(72).sources(
        &[
            (Google, Oldest("messages", &Header("Subject"))),
            (Microsoft, Oldest("messages", &Path("subject"))),
        ],
    ),
    field("count", Count, "How many messages it has, without drafts.").sources(&[
        (Google, Tally("messages", &GMAIL_SENT)),
        (Microsoft, Tally("messages", &OUTLOOK_SENT)),
    ]),
    field("last", Text, "Who wrote its newest message; drafts do not count.")
        .untrusted(80)
        .sources(&[
            (Google, Newest("messages", &Provided(&GMAIL_SENT, &HeaderAddresses("From")))),
            (Microsoft, Newest("messages", &Provided(&OUTLOOK_SENT, &Address("from")))),
        ]),
    field("snippet", Text, "How its newest message begins; drafts do not count beside others.")
        .beginning(45)
        .sources(&[
            (
                Google,
                Either(&[
                    Newest("messages", &Provided(&GMAIL_SENT, &GMAIL_OPENING)),
                    Newest("messages", &GMAIL_OPENING),
                ]),
            ),
            (
                Microsoft,
                Either(&[
                    Newest("messages", &Provided(&OUTLOOK_SENT, &OUTLOOK_OPENING)),
                    Newest("messages", &OUTLOOK_OPENING),
                ]),
            ),
        ]),
    field(
        "flags",
        Words,
        "Any of, on any message: unread, starred, done, attachment, important, draft.",
    )
    .level(Key)
    .sources(&[(Google, Flags(GMAIL_FLAGS)), (Microsoft, Flags(OUTLOOK_FLAGS))]),
    field(
        "link",
        Text,
        "Its page in the web client; in Outlook, its newest message's. Only if named.",
    )
    .level(More)
    .on_request()
    .untrusted(400)
    .sources(&[
        (Google, Column(ColumnReader::Link("id"))),
        (
            Microsoft,
            Either(&[
                Newest("messages", &Provided(&OUTLOOK_SENT, &Path("webLink"))),
                Newest("messages", &Path("webLink")),
            ]),
        ),
    ]),
    field("account", Text, "Address of the account it is in.")
        .level(More)
        .ours()
        .sources(&[(Google, Account), (Microsoft, Account)]),
]);

/// Gmail's sign of a message that was sent or received.
const GMAIL_SENT: ValueSource = Not(&Has("labelIds", "DRAFT"));

/// Outlook's sign of such a message.
const OUTLOOK_SENT: ValueSource = Not(&Path("isDraft"));

const GMAIL_FLAGS: &[(&str, ValueSource)] = &[
    ("unread", Any("messages", &Has("labelIds", "UNREAD"))),
    ("starred", Any("messages", &Has("labelIds", "STARRED"))),
    ("attachment", Any("messages", &MIXED)),
    ("important", Any("messages", &Has("labelIds", "IMPORTANT"))),
    ("draft", Any("messages", &Has("labelIds", "DRAFT"))),
];

const OUTLOOK_FLAGS: &[(&str, ValueSource)] = &[
    ("unread", Any("messages", &Not(&Path("isRead")))),
    ("starred", Any("messages", &Is("flag/flagStatus", "flagged"))),
    ("done", Any("messages", &Is("flag/flagStatus", "complete"))),
    ("attachment", Any("messages", &Is("hasAttachments", "true"))),
    ("important", Any("messages", &Is("importance", "high"))),
    ("draft", Any("messages", &Is("isDraft", "true"))),
];
