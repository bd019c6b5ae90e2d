//! The `rule` table: automatic actions on incoming mail.
//!
//! Rules cross the port as a plain type, so the rows are made from our own objects.

use super::CellKind::{Flag, Handle, Text};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Local, Microsoft};
use super::ValueSource::{Account, Path};
use super::{Table, TableColumn, TableName, field, table};

/// One row per rule (Outlook) or filter (Gmail).
pub const RULE: Table =
    table("rule", "rules", 1, "One rule (Outlook) or filter (Gmail) for incoming mail.", FIELDS);

const FIELDS: &[TableColumn] = &TableName("rule").columns([
    field("id", Handle('r'), "Handle of the rule; `manage` accepts it.")
        .level(Key)
        .sources(&[(Local, Path("id"))]),
    field("name", Text, "Name; Gmail's have none.")
        .settable()
        .untrusted(100)
        .sources(&[(Local, Path("name"))]),
    field("when", Text, "Which messages, as a search query.")
        .settable()
        .untrusted(400)
        .sources(&[(Local, Path("when"))]),
    field(
        "then",
        Text,
        "Actions, any of: read star archive trash never_spam important label:NAME (Outlook: \
         category:NAME) move:NAME; forward:ADDRESS is shown but cannot be set.",
    )
    .settable()
    .untrusted(240)
    .sources(&[(Local, Path("then"))]),
    field("enabled", Flag, "False while switched off; Outlook only.")
        .settable()
        .sources(&[(Local, Path("enabled"))]),
    field("stop", Flag, "True if later rules are skipped; Outlook only.")
        .level(More)
        .settable()
        .sources(&[(Local, Path("stop"))]),
    field("other", Text, "Parts not shown in other columns; such a rule cannot be changed.")
        .untrusted(240)
        .sources(&[(Local, Path("other"))]),
    field("account", Text, "Address of the account it belongs to.").level(More).ours().sources(&[
        (Google, Account),
        (Microsoft, Account),
        (Local, Account),
    ]),
]);
