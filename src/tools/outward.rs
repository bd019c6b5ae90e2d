//! The arguments of `calendar_delete`, `calendar_respond` and `manage`.

use serde_json::{Map, Value};

use super::args::CallArguments;
use super::kinds::{
    ACCOUNT, LIST, NEEDED, NEEDED_IDS, SETTINGS, SWITCH, TEXT, choice, needed, some_of, tool,
};
use super::save::{MAX_EVENTS, SeriesScope};
use crate::error::{Error, Result};
use crate::provider::calendar::{GuestNotice, InvitationAnswer};
use crate::words;

tool! {
    /// Delete events; a meeting you organize is cancelled.
    calendar_delete(Outward, Organize) => CalendarDelete(CalendarDelete::checked);
    pub struct CalendarDelete {
        ids: Vec<String> = NEEDED_IDS,
        scope: Option<SeriesScope> = choice(),
        /// To the guests; Outlook only
        message: Option<String> = TEXT,
        notify: Option<GuestNotice> = choice(),
        dry_run: bool = SWITCH,
        ..format
    }
}

tool! {
    /// Accept, decline or answer an invitation, by event or message; or forward it.
    calendar_respond(Outward, Send) => CalendarRespond(CalendarRespond::checked);
    pub struct CalendarRespond {
        /// Event or message id
        id: String = NEEDED,
        response: InvitationReply = needed(),
        scope: Option<SeriesScope> = some_of(&["this", "series"]),
        // To the organizer, or with what is forwarded.
        comment: Option<String> = TEXT,
        /// Another time: start, or start/end
        propose: Option<String> = TEXT,
        /// Forward to
        to: Vec<String> = LIST,
        notify: Option<GuestNotice> = some_of(&["all", "none"]),
        ..format
    }
}

words! {
    /// What to do with an invitation.
    #[expect(missing_docs, reason = "the words say it")]
    pub enum InvitationReply {
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

impl InvitationReply {
    /// Returns the answer that it is, unless the invitation is sent on.
    pub const fn answer(self) -> Option<InvitationAnswer> {
        match self {
            Self::Accept => Some(InvitationAnswer::Accepted),
            Self::Decline => Some(InvitationAnswer::Declined),
            Self::Tentative => Some(InvitationAnswer::Tentative),
            Self::Forward => None,
        }
    }
}

impl CalendarDelete {
    fn checked(self, _: &CallArguments) -> Result<Self> {
        match self.ids.len() {
            0..=MAX_EVENTS => Ok(self),
            many => Err(Error::argument(format!("{many} events are more than {MAX_EVENTS}"))
                .next("delete them in several calls")),
        }
    }
}

impl CalendarRespond {
    fn checked(self, _: &CallArguments) -> Result<Self> {
        match (self.response, self.to.is_empty()) {
            (InvitationReply::Forward, true) => {
                Err(Error::argument("forwarding needs `to`").next("give addresses in `to`"))
            }
            (
                InvitationReply::Accept | InvitationReply::Decline | InvitationReply::Tentative,
                false,
            ) => Err(Error::argument("`to` is for response=forward")
                .next("leave it out: the organizer gets the answer")),
            _ => Ok(self),
        }
    }

    /// True to notify the organizer, which is the default.
    pub fn notifies(&self) -> bool {
        self.notify != Some(GuestNotice::Nobody)
    }
}
