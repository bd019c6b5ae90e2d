//! The `report` table: what became of a message that was sent.
//!
//! Its objects are ours, made of the notification part of a message.

use super::CellKind::{Handle, Text};
use super::ColumnLevel::{Key, More};
use super::Service::Local;
use super::ValueSource::Path;
use super::{Table, TableColumn, TableName, field, table};

/// One row per recipient of a delivery status notification or a receipt.
pub const REPORT: Table = table(
    "report",
    "reports",
    1,
    "What a delivery report (RFC 3464) or a receipt (RFC 8098) says of one recipient.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("report").columns([
    field("message", Handle('m'), "Handle of the message with the report.")
        .level(Key)
        .sources(&[(Local, Path("message"))]),
    field(
        "kind",
        Text,
        "failed, delayed, delivered, relayed, expanded, read, deleted or another word of the report.",
    )
    .level(Key)
    .untrusted(20)
    .sources(&[(Local, Path("kind"))]),
    field("recipient", Text, "Whom the message was sent to.")
        .level(Key)
        .untrusted(120)
        .sources(&[(Local, Path("recipient"))]),
    field("status", Text, "Status code (RFC 3463); 5 is final, 4 may pass.")
        .untrusted(12)
        .sources(&[(Local, Path("status"))]),
    field("reason", Text, "What the receiving server answered.")
        .untrusted(160)
        .sources(&[(Local, Path("reason"))]),
    field("until", Text, "How long delivery is tried, as written.")
        .untrusted(40)
        .sources(&[(Local, Path("until"))]),
    field("server", Text, "The server or program that reports, or the one it spoke to.")
        .level(More)
        .untrusted(80)
        .sources(&[(Local, Path("server"))]),
]);
