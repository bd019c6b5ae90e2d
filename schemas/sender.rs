//! The `sender` table: a summary of one sender's matching messages.
//!
//! Its objects are `{id, messages: [oldest … newest]}`, like those of threads; `id` is the newest
//! message's.

use super::CellKind::{Count, Handle, Text, Time};
use super::ColumnLevel::Key;
use super::Service::{Google, Microsoft};
use super::ValueSource::{Account, Column, Has, Header, Newest, Not, Path, Rfc3339, Tally};
use super::message::{GMAIL_SENDER, OUTLOOK_SENDER};
use super::wire::{GRAPH_HEADERS, HEADERS};
use super::{ColumnReader, Table, TableColumn, TableName, ValueSource, field, table};

/// One row per sender, and per account if there are several.
pub const SENDER: Table = table(
    "sender",
    "senders",
    1,
    "One sender: how many of their messages match, and how to leave their mailing list.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("sender").columns([
    field(
        "id",
        Handle('m'),
        "Handle of their newest match; mail_modify do=unsubscribe accepts it.",
    )
    .level(Key)
    .sources(&[(Google, Path("id")), (Microsoft, Path("id"))]),
    field("from", Text, "Sender, as `Name <address>`.").level(Key).untrusted(80).sources(&[
        (Google, Newest("messages", &GMAIL_SENDER)),
        (Microsoft, Newest("messages", &OUTLOOK_SENDER)),
    ]),
    field("count", Count, "How many of their messages match.")
        .level(Key)
        .sources(&[(Google, COUNT), (Microsoft, COUNT)]),
    field("unread", Count, "How many of these are unread.").sources(&[
        (Google, Tally("messages", &Has("labelIds", "UNREAD"))),
        (Microsoft, Tally("messages", &Not(&Path("isRead")))),
    ]),
    field("date", Time, "When that arrived or was sent.").sources(&[
        (Google, Newest("messages", &ValueSource::EpochMs("internalDate"))),
        (Microsoft, Newest("messages", &Rfc3339("receivedDateTime"))),
    ]),
    field("subject", Text, "Its subject line.").untrusted(72).sources(&[
        (Google, Newest("messages", &Header("Subject"))),
        (Microsoft, Newest("messages", &Path("subject"))),
    ]),
    field(
        "unsubscribe",
        Text,
        "How do=unsubscribe leaves their mailing list: one-click, mail (by a draft), or page (the \
         user has to open it). No column if there is no list.",
    )
    .ours()
    .sparse()
    .sources(&[
        (Google, Newest("messages", &Column(ColumnReader::Unsubscribe(HEADERS)))),
        (Microsoft, Newest("messages", &Column(ColumnReader::Unsubscribe(GRAPH_HEADERS)))),
    ]),
    field("account", Text, "Address of the account they wrote to.")
        .ours()
        .sources(&[(Google, Account), (Microsoft, Account)]),
]);

/// The number of the sender's messages.
const COUNT: ValueSource = Column(ColumnReader::Count("messages"));
