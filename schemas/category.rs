//! The `category` table: one mark that the user can put on messages.

use super::Api::{Gmail, Outlook};
use super::Kind::Text;
use super::Level::{Key, More};
use super::Source::{Account, Path};
use super::{Field, In, Table, field, table};

/// One row per user label (Gmail) or category (Outlook).
pub const CATEGORY: Table = table(
    "category",
    "categories",
    1,
    "One label (Gmail) or category (Outlook) for the user's messages.",
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
        .sources(&[(Outlook, Path("color"))]),
    field("account", Text, "Address of the account it belongs to.")
        .level(More)
        .ours()
        .sources(&[(Gmail, Account), (Outlook, Account)]),
]);
