//! The `category` table: one mark that the user can put on messages.

use super::Api::{Gmail, Outlook};
use super::Kind::{Count, Text};
use super::Level::{Key, More};
use super::Source::{Account, Path};
use super::{Field, In, Table, field, table};

/// One row per user label (Gmail) or category (Outlook).
pub const CATEGORY: Table = table(
    "category",
    "labels",
    1,
    "One label (Gmail) or category (Outlook, with its presets) for the user's messages.",
    FIELDS,
);

const FIELDS: &[Field] = &In("category").columns([
    field("name", Text, "Name, for `label:` and `category:` in a query.")
        .level(Key)
        .settable()
        .untrusted(100)
        .sources(&[(Gmail, Path("name")), (Outlook, Path("displayName"))]),
    field("color", Text, "Colour, in the provider's words.")
        .settable()
        .level(More)
        .untrusted(20)
        .sources(&[(Gmail, Path("color/backgroundColor")), (Outlook, Path("color"))]),
    field("unread", Count, "Unread messages with it; Gmail only.")
        .level(More)
        .sources(&[(Gmail, Path("messagesUnread"))]),
    // Outlook counts by a request for each, which the adapter adds.
    field("total", Count, "Messages with it.")
        .sources(&[(Gmail, Path("messagesTotal")), (Outlook, Path("total"))]),
    field("account", Text, "Address of the account it belongs to.")
        .level(More)
        .ours()
        .sources(&[(Gmail, Account), (Outlook, Account)]),
]);
