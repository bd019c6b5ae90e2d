//! The arguments of `calendar_delete`, `calendar_respond` and `manage`.

use serde_json::{Map, Value};

use super::args::Args;
use super::kinds::{
    ACCOUNT, LIST, NEEDED, NEEDED_IDS, SETTINGS, SWITCH, TEXT, choice, needed, some_of, tool,
};
use super::save::{MOST_EVENTS, Scope};
use crate::error::{Error, Result};
use crate::provider::calendar::{Answer, Notify};
use crate::words;

tool! {
    /// Delete events; a meeting you organize is cancelled.
    calendar_delete(Outward, Organize) => Delete(Delete::checked);
    pub struct Delete {
        ids: Vec<String> = NEEDED_IDS,
        scope: Option<Scope> = choice(),
        /// To the guests; Outlook only
        message: Option<String> = TEXT,
        notify: Option<Notify> = choice(),
        dry_run: bool = SWITCH,
        ..format
    }
}

tool! {
    /// Accept, decline or answer an invitation, by event or message; or forward it.
    calendar_respond(Outward, Send) => Respond(Respond::checked);
    pub struct Respond {
        /// Event or message id
        id: String = NEEDED,
        response: Reply = needed(),
        scope: Option<Scope> = some_of(&["this", "series"]),
        // To the organizer, or with what is forwarded.
        comment: Option<String> = TEXT,
        /// Another time: start, or start/end
        propose: Option<String> = TEXT,
        /// Forward to
        to: Vec<String> = LIST,
        notify: Option<Notify> = some_of(&["all", "none"]),
        ..format
    }
}

words! {
    /// What to do with an invitation.
    #[expect(missing_docs, reason = "the words say it")]
    pub enum Reply {
        Accept = "accept",
        Decline = "decline",
        Tentative = "tentative",
        /// Send it on.
        Forward = "forward",
    }
}

tool! {
    /// Create, update, delete or run: folders, labels, categories, rules, contacts, calendars;
    /// update auto_reply (out of office), signature, settings.
    manage(Outward, Organize) => Manage;
    pub struct Manage {
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
        ..format
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

impl Reply {
    /// Returns the answer that it is, unless the invitation is sent on.
    pub const fn answer(self) -> Option<Answer> {
        match self {
            Self::Accept => Some(Answer::Accepted),
            Self::Decline => Some(Answer::Declined),
            Self::Tentative => Some(Answer::Tentative),
            Self::Forward => None,
        }
    }
}

impl Delete {
    fn checked(self, _: &Args) -> Result<Self> {
        match self.ids.len() {
            0..=MOST_EVENTS => Ok(self),
            many => Err(Error::argument(format!("{many} events are more than {MOST_EVENTS}"))
                .next("delete them in several calls")),
        }
    }
}

impl Respond {
    fn checked(self, _: &Args) -> Result<Self> {
        match (self.response, self.to.is_empty()) {
            (Reply::Forward, true) => {
                Err(Error::argument("forwarding needs `to`").next("give addresses in `to`"))
            }
            (Reply::Accept | Reply::Decline | Reply::Tentative, false) => {
                Err(Error::argument("`to` is for response=forward")
                    .next("leave it out: the organizer gets the answer"))
            }
            _ => Ok(self),
        }
    }

    /// True to notify the organizer, which is the default.
    pub fn notifies(&self) -> bool {
        self.notify != Some(Notify::Nobody)
    }
}
