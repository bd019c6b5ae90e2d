//! The `change` table: messages and events that have changed since a cursor.

use super::CellKind::Text;
use super::ColumnLevel::Key;
use super::Service::Local;
use super::ValueSource::{Address, Either, Path};
use super::{Table, TableColumn, TableName, field, table};

/// One row per message or event.
pub const CHANGE: Table = table(
    "change",
    "changes",
    1,
    "One message or event that is new, changed or gone, or a draft that was sent or deleted. A \
     series is one row, unless only single occurrences have changed.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("change").columns([
    field("id", Text, "Handle of the message or event.")
        .level(Key)
        .ours()
        .sources(&[(Local, Path("id"))]),
    field("change", Text, "new, sent, changed or gone; for drafts, deleted.")
        .level(Key)
        .ours()
        .sources(&[(Local, Path("change"))]),
    field(
        "what",
        Text,
        "What differs, such as `read`, `archived`, `labelled X`, `moved from X`, `time (was …)`, \
         `place`, `guests`, `moved …` and `cancelled …` (occurrences); `details` for other properties; null \
         if the earlier state is unknown.",
    )
    .level(Key)
    .untrusted(100)
    .sources(&[(Local, Path("what"))]),
    field("when", Text, "When it arrived, or when the event starts.")
        .ours()
        .sources(&[(Local, Path("when"))]),
    field("who", Text, "Sender or organizer.")
        .untrusted(60)
        .sources(&[(Local, Either(&[Address("who"), Path("who")]))]),
    field("title", Text, "Subject or title; if gone, as last shown.")
        .untrusted(72)
        .sources(&[(Local, Path("title"))]),
    field("folder", Text, "Folder it is in now; of an event, its calendar.")
        .untrusted(60)
        .sources(&[(Local, Path("folder"))]),
    field("flags", Text, "Its flags.").ours().sources(&[(Local, Path("flags"))]),
    field("account", Text, "Address of the account it is in.")
        .ours()
        .sources(&[(Local, Path("account"))]),
]);
