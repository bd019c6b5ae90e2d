//! All tables and all lists of `lookup`, with the tables that only `lookup` shows.
//!
//! A table that only `lookup` shows is declared entirely in this file.

use super::CellKind::{Count, Flag, Text};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Local, Microsoft};
use super::TextForm::ZoneName;
use super::ValueSource::{Account, Converted, Either, First, Is, Path, There};
use super::{
    ACCOUNT, ATTACHMENT, ATTACHMENT_TEXT, AUTO_REPLY, BODY, BUSY, CALENDAR, CATEGORY, CHANGE,
    CLASH, CONTACT, EVENT, FOLDER, INSIDE, INVITATION, MESSAGE, MODIFIED, OUTCOME, REPORT, ROOM,
    RULE, SENDER, SLOT, THREAD, Table, TableColumn, TableName, ValueSource, field, table,
};

/// Every table, in the order of the docs.
pub const TABLES: &[&Table] = &[
    &MESSAGE, &THREAD, &SENDER, &BODY, &ATTACHMENT, &ATTACHMENT_TEXT, &INSIDE, &FOLDER, &CATEGORY,
    &CONTACT, &ROOM, &ALIAS, &SIGNATURE, &SETTING, &RULE, &AUTO_REPLY, &EVENT, &CALENDAR, &BUSY,
    &SLOT, &CLASH, &INVITATION, &REPORT, &CHANGE, &ACCOUNT, &MODIFIED, &OUTCOME, &SCHEMA,
];

/// Returns the table called `name`, singular or plural.
pub fn find(name: &str) -> Option<&'static Table> {
    TABLES.iter().copied().find(|table| table.name == name || table.plural == name)
}

/// One list of `lookup`.
#[derive(Debug)]
pub struct LookupListing {
    /// The table of its rows.
    pub table: &'static Table,
    /// Its source.
    pub origin: ListOrigin,
}

/// The source of a list of `lookup`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOrigin {
    /// A mailbox, identified by the table.
    Mailbox,
    /// A mailbox's settings, each of which has its own method.
    Settings,
    /// The calendars of an account.
    Calendars,
    /// Daysheet itself.
    Local,
}

/// Every list of `lookup` by the word that selects it, in the order of the docs. A word with the
/// same rows as the previous one is another name for that list.
pub const LISTINGS: &[(&str, &LookupListing)] = &[
    ("folders", &listing(&FOLDER, ListOrigin::Mailbox)),
    ("labels", &listing(&CATEGORY, ListOrigin::Mailbox)),
    ("categories", &listing(&CATEGORY, ListOrigin::Mailbox)),
    ("calendars", &listing(&CALENDAR, ListOrigin::Calendars)),
    ("rooms", &listing(&ROOM, ListOrigin::Calendars)),
    ("contacts", &listing(&CONTACT, ListOrigin::Mailbox)),
    ("aliases", &listing(&ALIAS, ListOrigin::Mailbox)),
    ("signatures", &listing(&SIGNATURE, ListOrigin::Settings)),
    ("rules", &listing(&RULE, ListOrigin::Settings)),
    ("auto_reply", &listing(&AUTO_REPLY, ListOrigin::Settings)),
    ("settings", &listing(&SETTING, ListOrigin::Mailbox)),
    ("accounts", &listing(&ACCOUNT, ListOrigin::Local)),
    ("schemas", &listing(&SCHEMA, ListOrigin::Local)),
];

const fn listing(table: &'static Table, origin: ListOrigin) -> LookupListing {
    LookupListing { table, origin }
}

impl LookupListing {
    /// Returns true for the contacts of a mailbox, which are searched by name or address.
    pub fn is_people(&self) -> bool {
        *self.table == CONTACT
    }
}

/// Lists with the same rows from the same source are equal.
impl PartialEq for LookupListing {
    fn eq(&self, other: &Self) -> bool {
        self.table == other.table && self.origin == other.origin
    }
}

impl Eq for LookupListing {}

/// One row per address that the user can send from.
///
/// Graph returns a mailbox's addresses as texts such as `SMTP:mira@example.com`, with the main
/// one in capitals; the Outlook adapter converts each to an object `{address, primary}`.
pub const ALIAS: Table =
    table("alias", "aliases", 1, "One address the user can send mail as.", ALIAS_FIELDS);

const ALIAS_FIELDS: &[TableColumn] = &TableName("alias").columns([
    field("email", Text, "The address.")
        .level(Key)
        .untrusted(120)
        .sources(&[(Google, Path("sendAsEmail")), (Microsoft, Path("address"))]),
    field("name", Text, "Name that recipients see.")
        .untrusted(80)
        .sources(&[(Google, Path("displayName"))]),
    field("primary", Flag, "True for the mailbox's own address.")
        .sources(&[(Google, Is("isPrimary", "true")), (Microsoft, Is("primary", "true"))]),
    field("account", Text, "Address of the account it belongs to.")
        .level(More)
        .ours()
        .sources(&[(Google, Account), (Microsoft, Account)]),
]);

/// One row per account: the settings of its mailbox.
///
/// Gmail has a separate resource for each setting; its adapter puts the responses under the keys
/// `vacation` and `language`. Graph has one object.
pub const SETTING: Table =
    table("setting", "settings", 1, "Settings of one mailbox.", SETTING_FIELDS);

const SETTING_FIELDS: &[TableColumn] = &TableName("setting").columns([
    field("account", Text, "Address of the account.")
        .level(Key)
        .ours()
        .sources(&[(Google, Account), (Microsoft, Account)]),
    field("auto_reply", Text, "on, scheduled or off.")
        .ours()
        .sources(&[(Google, First(GMAIL_REPLY, "off")), (Microsoft, First(OUTLOOK_REPLY, "off"))]),
    field("language", Text, "Language of the user, as a BCP 47 tag.")
        .settable()
        .untrusted(40)
        .sources(&[
            (Google, Path("language/displayLanguage")),
            (Microsoft, Path("language/locale")),
        ]),
    field("time_zone", Text, "Time zone of the mailbox; Gmail has none.")
        .settable()
        .untrusted(60)
        .sources(&[(Microsoft, Converted("timeZone", ZoneName))]),
]);

const GMAIL_REPLY: &[(&str, ValueSource)] = &[
    ("scheduled", Either(&[There("vacation/startTime"), There("vacation/endTime")])),
    ("on", Is("vacation/enableAutoReply", "true")),
];

const OUTLOOK_REPLY: &[(&str, ValueSource)] = &[
    ("on", Is("automaticRepliesSetting/status", "alwaysEnabled")),
    ("scheduled", Is("automaticRepliesSetting/status", "scheduled")),
];

/// One row per table: the registry in its own form.
pub const SCHEMA: Table = table(
    "schema",
    "schemas",
    1,
    "One table of the registry; `daysheet://schema/NAME` has it in full.",
    SCHEMA_FIELDS,
);

const SCHEMA_FIELDS: &[TableColumn] = &TableName("schema").columns([
    field("name", Text, "Name of the table.").level(Key).ours().sources(&[(Local, Path("name"))]),
    field("version", Count, "Raised when a column is renamed, removed or retyped.")
        .sources(&[(Local, Path("version"))]),
    field("columns", Text, "Its columns; those in parentheses only on request.")
        .ours()
        .sources(&[(Local, Path("columns"))]),
    field("doc", Text, "What a row is.").ours().sources(&[(Local, Path("doc"))]),
]);

/// One row per signature of an address. Graph does not expose signatures; they are stored by
/// Daysheet or in the settings, so the pipeline makes the objects.
pub const SIGNATURE: Table = table(
    "signature",
    "signatures",
    1,
    "The signature of one address the user can send mail as.",
    SIGNATURE_FIELDS,
);

const SIGNATURE_FIELDS: &[TableColumn] = &TableName("signature").columns([
    field("email", Text, "The address.").level(Key).ours().sources(&[(Local, Path("email"))]),
    field("text", Text, "Its text; empty if it has none.").ours().sources(&[(Local, Path("text"))]),
    field("source", Text, "Where it is from: provider, daysheet or settings.")
        .ours()
        .sources(&[(Local, Path("source"))]),
    field("account", Text, "Address of the account it belongs to.").level(More).ours().sources(&[
        (Google, Account),
        (Microsoft, Account),
        (Local, Account),
    ]),
]);
