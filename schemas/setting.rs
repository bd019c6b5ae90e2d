//! The `setting` table: how a mailbox is set up.
//!
//! Gmail keeps settings under addresses of their own; its adapter puts the
//! answers under the keys `vacation` and `language`. Graph has one object.

use super::Kind::Text;
use super::Level::Key;
use super::Source::{Account, First, Is, Path};
use super::{Field, Source, Table, field, table};

/// One row per account.
pub const SETTING: Table = table("setting", "settings", 1, "How one mailbox is set up.", FIELDS);

const FIELDS: &[Field] = &[
    field("account", Text, "Address of the account.")
        .level(Key)
        .ours()
        .gmail(Account)
        .outlook(Account),
    field("auto_reply", Text, "on, scheduled or off.")
        .ours()
        .gmail(First(GMAIL_REPLY, "off"))
        .outlook(First(OUTLOOK_REPLY, "off")),
    field("language", Text, "Language of the user, as a BCP 47 tag.")
        .settable()
        .untrusted(40)
        .gmail(Path("language/displayLanguage"))
        .outlook(Path("language/locale")),
    field("time_zone", Text, "Zone of the mailbox, in the provider's words; Gmail has none.")
        .settable()
        .untrusted(60)
        .outlook(Path("timeZone")),
];

const GMAIL_REPLY: &[(&str, Source)] = &[("on", Is("vacation/enableAutoReply", "true"))];

const OUTLOOK_REPLY: &[(&str, Source)] = &[
    ("on", Is("automaticRepliesSetting/status", "alwaysEnabled")),
    ("scheduled", Is("automaticRepliesSetting/status", "scheduled")),
];
