//! The `setting` table: how a mailbox is set up.
//!
//! Gmail keeps settings under addresses of their own; its adapter puts the
//! answers under the keys `vacation` and `language`. Graph has one object.

use super::Api::{Gmail, Outlook};
use super::Kind::Text;
use super::Level::Key;
use super::Source::{Account, First, Is, Path};
use super::{Field, In, Source, Table, field, table};

/// One row per account.
pub const SETTING: Table = table("setting", "settings", 1, "Settings of one mailbox.", FIELDS);

const FIELDS: &[Field] = &In("setting").columns([
    field("account", Text, "Address of the account.")
        .level(Key)
        .ours()
        .sources(&[(Gmail, Account), (Outlook, Account)]),
    field("auto_reply", Text, "on, scheduled or off.")
        .ours()
        .sources(&[(Gmail, First(GMAIL_REPLY, "off")), (Outlook, First(OUTLOOK_REPLY, "off"))]),
    field("language", Text, "Language of the user, as a BCP 47 tag.")
        .settable()
        .untrusted(40)
        .sources(&[(Gmail, Path("language/displayLanguage")), (Outlook, Path("language/locale"))]),
    field("time_zone", Text, "Time zone of the mailbox, in the provider's words; Gmail has none.")
        .settable()
        .untrusted(60)
        .sources(&[(Outlook, Path("timeZone"))]),
]);

const GMAIL_REPLY: &[(&str, Source)] = &[("on", Is("vacation/enableAutoReply", "true"))];

const OUTLOOK_REPLY: &[(&str, Source)] = &[
    ("on", Is("automaticRepliesSetting/status", "alwaysEnabled")),
    ("scheduled", Is("automaticRepliesSetting/status", "scheduled")),
];
