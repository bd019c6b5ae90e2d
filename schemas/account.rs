//! The `account` table: who is signed in.

use super::CellKind::Text;
use super::ColumnLevel::{Key, More};
use super::Service::Local;
use super::ValueSource::Path;
use super::{Table, TableColumn, TableName, field, table};

/// One row per account that was ever signed in and not removed.
pub const ACCOUNT: Table =
    table("account", "accounts", 1, "One signed-in account and the state of its sign-in.", FIELDS);

const FIELDS: &[TableColumn] = &TableName("account").columns([
    field("email", Text, "Address of the account; `account` arguments accept it.")
        .level(Key)
        .ours()
        .sources(&[(Local, Path("email"))]),
    field("provider", Text, "google or microsoft.").ours().sources(&[(Local, Path("provider"))]),
    field(
        "status",
        Text,
        "ok; expired or revoked (sign in again); waiting (for the sign-in page); or failed.",
    )
    .ours()
    .sources(&[(Local, Path("status"))]),
    field("problem", Text, "Why the sign-in failed or stopped working.")
        .untrusted(200)
        .sources(&[(Local, Path("problem"))]),
    field("via", Text, "Who signed in, for a mailbox shared with them.")
        .level(More)
        .ours()
        .sources(&[(Local, Path("via"))]),
    field("scopes", Text, "OAuth scopes the sign-in grants.")
        .level(More)
        .ours()
        .sources(&[(Local, Path("scopes"))]),
    field("added", Text, "Date of the sign-in.")
        .level(More)
        .ours()
        .sources(&[(Local, Path("added"))]),
]);
