//! The `alias` table: one address that the user can send as.
//!
//! Graph gives a mailbox's addresses as a list of texts such as
//! `SMTP:mira@example.com`, the main one in capitals; the Outlook adapter makes
//! an object `{address, primary}` of each.

use super::Api::{Gmail, Outlook};
use super::Kind::{Flag, Text};
use super::Level::{Key, More};
use super::Source::{Account, Is, Path};
use super::{Field, In, Table, field, table};

/// One row per address.
pub const ALIAS: Table =
    table("alias", "aliases", 1, "One address the user can send mail as.", FIELDS);

const FIELDS: &[Field] = &In("alias").columns([
    field("email", Text, "The address.")
        .level(Key)
        .untrusted(120)
        .sources(&[(Gmail, Path("sendAsEmail")), (Outlook, Path("address"))]),
    field("name", Text, "Name that recipients see.")
        .untrusted(80)
        .sources(&[(Gmail, Path("displayName"))]),
    field("primary", Flag, "True for the mailbox's own address.")
        .sources(&[(Gmail, Is("isPrimary", "true")), (Outlook, Is("primary", "true"))]),
    field("account", Text, "Address of the account it belongs to.")
        .level(More)
        .ours()
        .sources(&[(Gmail, Account), (Outlook, Account)]),
]);
