//! The arguments of `manage`.

use daysheet_core::words;
use serde_json::{Map, Value};

use super::kinds::{ACCOUNT, SETTINGS, SWITCH, TEXT, needed, tool};
use super::view::AnswerView;

tool! {
    /// Create, update, delete or run: folders, labels, categories, rules, contacts, calendars;
    /// update auto_reply (out of office), signature, settings.
    manage(Outward, Organize) => Manage;
    pub struct ManageRequest {
        kind: ManageKind = needed(),
        op: ManageOp = needed(),
        /// Name or id
        id: Option<String> = TEXT,
        /// The new name
        name: Option<String> = TEXT,
        /// Columns as in lookup; rule: ["when=from:ann", "then=label:Ann archive"];
        /// auto_reply: status=on|off|scheduled
        set: Map<String, Value> = SETTINGS,
        // Of a new calendar, of the times of an automatic reply, or of the settings.
        tz: Option<String> = TEXT,
        /// Address; auto_reply: also several, or all
        account: Option<String> = ACCOUNT,
        dry_run: bool = SWITCH,
        ..AnswerView { format }
    }
}

words! {
    /// What is set up.
    pub enum ManageKind {
        /// A calendar.
        Calendar = "calendar",
        /// A folder, or a label where the provider has no folders.
        Folder = "folder",
        /// A mark on messages: a label or a category.
        Category = "label" | "category",
        /// A rule for incoming mail.
        Rule = "rule",
        /// A contact.
        Contact = "contact",
        /// The automatic reply.
        AutoReply = "auto_reply",
        /// The signature of messages.
        Signature = "signature",
        /// Language and zone.
        Settings = "settings",
    }
}

words! {
    /// What to do with it.
    pub enum ManageOp {
        /// Make one.
        Create = "create",
        /// Change its fields.
        Update = "update",
        /// Call it otherwise.
        Rename = "rename",
        /// Delete it.
        Delete = "delete",
        /// Apply it to existing messages: rules.
        Run = "run",
    }
}
