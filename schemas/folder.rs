//! The `folder` table: one place or label that messages are kept under.

use super::CellKind::{Count, Handle, Text};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Microsoft};
use super::ValueSource::{Account, Names, Path};
use super::{Table, TableColumn, TableName, field, table};

/// One row per mail folder or Gmail label.
pub const FOLDER: Table = table(
    "folder",
    "folders",
    1,
    "One mail folder (Outlook) or label (Gmail), with its counts.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("folder").columns([
    field("id", Handle('f'), "Handle of the folder; `folder` arguments accept it or the name.")
        .level(Key)
        .sources(&[(Google, Path("id")), (Microsoft, Path("id"))]),
    field("name", Text, "Name, with `/` between levels.")
        .level(Key)
        .settable()
        .untrusted(100)
        .sources(&[(Google, Path("name")), (Microsoft, Names("id"))]),
    field(
        "kind",
        Text,
        "`system` (the provider's own; left out if empty, except the inbox) or `user`.",
    )
    .ours()
    .sources(&[(Google, Path("type")), (Microsoft, Path("kind"))]),
    field("unread", Count, "Unread messages in it.")
        .sources(&[(Google, Path("messagesUnread")), (Microsoft, Path("unreadItemCount"))]),
    field("total", Count, "Messages in it.")
        .sources(&[(Google, Path("messagesTotal")), (Microsoft, Path("totalItemCount"))]),
    field("account", Text, "Address of the account it is in.")
        .level(More)
        .ours()
        .sources(&[(Google, Account), (Microsoft, Account)]),
]);
