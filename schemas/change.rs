//! The `change` table: what has happened since a cursor.

use super::Kind::Text;
use super::Level::Key;
use super::Source::{Address, Either, Path};
use super::{Field, Table, field, table};

/// One row per message or event.
pub const CHANGE: Table = table(
    "change",
    "changes",
    1,
    "One message or event that is new, changed or gone, or a draft that was sent or deleted.",
    FIELDS,
);

const FIELDS: &[Field] = &[
    field("id", Text, "Handle of the message or event.").level(Key).ours().local(Path("id")),
    field("change", Text, "new, changed or gone; of drafts, sent or deleted.")
        .level(Key)
        .ours()
        .local(Path("change")),
    field("when", Text, "When it arrived, or when the event starts.").ours().local(Path("when")),
    field("who", Text, "Sender or organizer.")
        .untrusted(60)
        .local(Either(&[Address("who"), Path("who")])),
    field("title", Text, "Subject or title; of what is gone, as it was shown lately.")
        .untrusted(72)
        .local(Path("title")),
    field("flags", Text, "Its flags.").ours().local(Path("flags")),
    field("account", Text, "Address of the account it is in.").ours().local(Path("account")),
];
