//! The `attachment` table: one file that came with a message.
//!
//! The provider's own attachment ids are long and, in Gmail, short-lived; the
//! adapters give each file the lasting id `MESSAGE/PART` (Gmail) or
//! `MESSAGE:ATTACHMENT` (Outlook, whose ids hold slashes) instead.

use super::CellKind::{Count, Flag, Handle, Text};
use super::ColumnLevel::Key;
use super::Service::{Google, Microsoft};
use super::ValueSource::Path;
use super::{Table, TableColumn, TableName, field, table};

/// One row per attached file.
pub const ATTACHMENT: Table =
    table("attachment", "attachments", 1, "One file attached to a message.", FIELDS);

const FIELDS: &[TableColumn] = &TableName("attachment").columns([
    field("id", Handle('a'), "Handle of the attachment.")
        .level(Key)
        .sources(&[(Google, Path("id")), (Microsoft, Path("id"))]),
    field("message", Handle('m'), "Handle of its message.")
        .level(Key)
        .sources(&[(Google, Path("message")), (Microsoft, Path("message"))]),
    field("name", Text, "File name.")
        .level(Key)
        .untrusted(120)
        .sources(&[(Google, Path("filename")), (Microsoft, Path("name"))]),
    field("type", Text, "Media type, as the sender states it.")
        .untrusted(80)
        .sources(&[(Google, Path("mimeType")), (Microsoft, Path("contentType"))]),
    field("size", Count, "Size in bytes.")
        .sources(&[(Google, Path("body/size")), (Microsoft, Path("size"))]),
    field("inline", Flag, "True for a picture that the text shows.")
        .sparse()
        .sources(&[(Google, Path("inline")), (Microsoft, Path("inline"))]),
]);
