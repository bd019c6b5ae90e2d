//! The `inside` table: files within a file, such as the members of an archive.

use super::CellKind::{Count, Handle, Text, Words};
use super::ColumnLevel::Key;
use super::Service::Local;
use super::ValueSource::{Flags, Path, There};
use super::{Table, TableColumn, TableName, field, table};

/// One row per file within a file.
pub const INSIDE: Table = table(
    "inside",
    "inside",
    1,
    "One file within an attachment: a member of an archive, or a file attached to a message.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("inside").columns([
    field("of", Handle('a'), "Handle of the attachment.")
        .level(Key)
        .sources(&[(Local, Path("of"))]),
    field("part", Text, "Id by which mail_attachment as=text reads it: a3/2.")
        .level(Key)
        .ours()
        .sources(&[(Local, Path("part"))]),
    field("name", Text, "Name, with its folders.")
        .level(Key)
        .untrusted(160)
        .sources(&[(Local, Path("name"))]),
    field("size", Count, "Size in bytes.").sources(&[(Local, Path("size"))]),
    field("flags", Words, "Any of: folder, encrypted.").sources(&[(
        Local,
        Flags(&[("folder", There("folder")), ("encrypted", There("encrypted"))]),
    )]),
]);
