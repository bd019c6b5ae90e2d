//! The `attachment_text` table: which text of a file stands where in the answer.
//!
//! The text itself is never a cell, as in the table `body`.

use super::CellKind::{Handle, Text};
use super::ColumnLevel::Key;
use super::Service::Local;
use super::ValueSource::Path;
use super::body::{BLOCK, CHARS, SHOWN};
use super::{Table, TableColumn, TableName, field, table};

/// One row per text: a file has one, and a workbook one for each sheet.
pub const ATTACHMENT_TEXT: Table = table(
    "attachment_text",
    "texts",
    1,
    "One text read from an attachment: a file, or a sheet of it.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("attachment_text").columns([
    field("id", Handle('a'), "Handle of the attachment.")
        .level(Key)
        .sources(&[(Local, Path("id"))]),
    field("part", Text, "The file inside it: `2` is read as a3/2.")
        .level(Key)
        .sparse()
        .ours()
        .sources(&[(Local, Path("part"))]),
    field("name", Text, "File name.").level(Key).untrusted(120).sources(&[(Local, Path("name"))]),
    BLOCK,
    field("kind", Text, "What the file is, whatever its name: pdf, docx, xlsx, text or another.")
        .level(Key)
        .ours()
        .sources(&[(Local, Path("kind"))]),
    field("sheet", Text, "Name of the sheet.")
        .sparse()
        .untrusted(80)
        .sources(&[(Local, Path("sheet"))]),
    field("range", Text, "The part of a long file that was read, such as pages 1-100 of 412.")
        .sparse()
        .ours()
        .sources(&[(Local, Path("range"))]),
    CHARS,
    SHOWN,
]);
