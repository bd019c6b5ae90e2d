//! The `rule` table: what is done by itself with mail that comes in.
//!
//! Rules cross the port as a plain type; the rows are made from objects of ours.

use super::Api::{Gmail, Local, Outlook};
use super::Kind::{Flag, Handle, Text};
use super::Level::{Key, More};
use super::Source::{Account, Path};
use super::{Field, In, Table, field, table};

/// One row per rule (Outlook) or filter (Gmail).
pub const RULE: Table = table(
    "rule",
    "rules",
    1,
    "One rule (Outlook) or filter (Gmail) for mail that comes in.",
    FIELDS,
);

const FIELDS: &[Field] = &In("rule").columns([
    field("id", Handle('r'), "Handle of the rule; `manage` accepts it.")
        .level(Key)
        .sources(&[(Local, Path("id"))]),
    field("name", Text, "What it is called; Gmail's have no name.")
        .settable()
        .untrusted(100)
        .sources(&[(Local, Path("name"))]),
    field("when", Text, "Which messages, in the search language.")
        .settable()
        .untrusted(400)
        .sources(&[(Local, Path("when"))]),
    field(
        "then",
        Text,
        "What is done, which of: read star archive trash never_spam important label:NAME \
         move:NAME; forward:ADDRESS is shown and cannot be set.",
    )
    .settable()
    .untrusted(240)
    .sources(&[(Local, Path("then"))]),
    field("enabled", Flag, "False while it is switched off: Outlook only.")
        .settable()
        .sources(&[(Local, Path("enabled"))]),
    field("stop", Flag, "True if no later rule is looked at: Outlook only.")
        .level(More)
        .settable()
        .sources(&[(Local, Path("stop"))]),
    field("other", Text, "What it says besides; such a rule is shown and not changed.")
        .untrusted(240)
        .sources(&[(Local, Path("other"))]),
    field("account", Text, "Address of the account it belongs to.").level(More).ours().sources(&[
        (Gmail, Account),
        (Outlook, Account),
        (Local, Account),
    ]),
]);
