//! The `modified` table: what `mail_modify` changed of each message.

use super::CellKind::{Handle, Text};
use super::ColumnLevel::Key;
use super::Service::Local;
use super::ValueSource::{Account, Path};
use super::{Table, TableColumn, TableName, field, table};

/// One row per message that was changed, if there are few.
pub const MODIFIED: Table =
    table("modified", "modified", 1, "What was changed of one message.", FIELDS);

const FIELDS: &[TableColumn] = &TableName("modified").columns([
    field("id", Handle('m'), "Handle of the message.").level(Key).sources(&[(Local, Path("id"))]),
    field("subject", Text, "Subject line.")
        .level(Key)
        .untrusted(72)
        .sources(&[(Local, Path("subject"))]),
    field("before", Text, "What was changed of its folder, labels, flag and reading, before.")
        .level(Key)
        .untrusted(120)
        .sources(&[(Local, Path("before"))]),
    field("after", Text, "The same, after.")
        .level(Key)
        .untrusted(120)
        .sources(&[(Local, Path("after"))]),
    field("account", Text, "Address of the account it is in.").ours().sources(&[(Local, Account)]),
]);
