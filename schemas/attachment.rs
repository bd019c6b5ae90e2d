//! The `attachment` table: one file that came with a message.
//!
//! The provider's own attachment ids are long and, in Gmail, short-lived; the
//! adapters give each file the lasting id `MESSAGE/PART` (Gmail) or
//! `MESSAGE:ATTACHMENT` (Outlook, whose ids hold slashes) instead.

use super::Kind::{Count, Handle, Text};
use super::Level::Key;
use super::Source::Path;
use super::{Field, Table, field, table};

/// One row per attached file.
pub const ATTACHMENT: Table =
    table("attachment", "attachments", 1, "One file attached to a message.", FIELDS);

const FIELDS: &[Field] = &[
    field("id", Handle('a'), "Handle of the attachment.")
        .level(Key)
        .gmail(Path("id"))
        .outlook(Path("id")),
    field("message", Handle('m'), "Handle of the message it came with.")
        .level(Key)
        .gmail(Path("message"))
        .outlook(Path("message")),
    field("name", Text, "File name.")
        .level(Key)
        .untrusted(120)
        .gmail(Path("filename"))
        .outlook(Path("name")),
    field("type", Text, "Media type, as the sender states it.")
        .untrusted(80)
        .gmail(Path("mimeType"))
        .outlook(Path("contentType")),
    field("size", Count, "Size in bytes.").gmail(Path("body/size")).outlook(Path("size")),
];
