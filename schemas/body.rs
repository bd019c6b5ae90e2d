//! The `body` table: the location and the length of a message's text in an answer.
//!
//! The text itself is never a cell: it is in a fenced block after the document, or in the field
//! `text` of the row in JSON.

use super::CellKind::{Count, Handle, Text};
use super::ColumnLevel::Key;
use super::Service::Local;
use super::ValueSource::Path;
use super::{Table, TableColumn, TableName, field, table};

/// One row per message whose body was requested.
pub const BODY: Table = table(
    "body",
    "bodies",
    2,
    "The text of one message: which block holds it and how much is shown.",
    FIELDS,
);

/// The column with the block of a text.
pub(super) const BLOCK: TableColumn = field(
    "block",
    Text,
    "Name of the block below that holds the text; null when there is no text.",
)
.level(Key)
.ours()
.sources(&[(Local, Path("block"))]);

/// The column with the length of a text.
pub(super) const CHARS: TableColumn = field("chars", Count, "Characters in the whole text.")
    .level(Key)
    .sources(&[(Local, Path("chars"))]);

/// The column with the length of the shown text.
pub(super) const SHOWN: TableColumn =
    field("shown", Count, "Characters shown.").level(Key).sources(&[(Local, Path("shown"))]);

const FIELDS: &[TableColumn] = &TableName("body").columns([
    field("id", Handle('m'), "Handle of the message.")
        .level(Key)
        .sources(&[(Local, Path("message"))]),
    BLOCK,
    field("type", Text, "Source of the text: plain, html, mixed, raw or headers.")
        .ours()
        .sources(&[(Local, Path("type"))]),
    CHARS,
    SHOWN,
]);
