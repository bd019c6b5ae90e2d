//! `calendar_delete`, `calendar_respond` and `manage`, as asked for.

use serde_json::{Map, Value};

use super::args::Args;
use super::save::{Scope, notify, scope};
use crate::error::{Error, Result};
use crate::provider::calendar::{Answer, Notify};

/// A deletion as asked for.
#[derive(Debug, Clone)]
pub struct Delete {
    /// The event.
    pub id: String,
    /// How much of a recurring event.
    pub scope: Option<Scope>,
    /// A word to those who were asked.
    pub message: Option<String>,
    /// Who is told.
    pub notify: Option<Notify>,
}

/// An answer to an invitation as asked for.
#[derive(Debug, Clone)]
pub struct Respond {
    /// The event, or the message that the invitation came in.
    pub id: String,
    /// What to do.
    pub response: Reply,
    /// How much of a recurring event.
    pub scope: Option<Scope>,
    /// A word to the organizer, or with what is forwarded.
    pub comment: Option<String>,
    /// Another time, as written: a start, or a start and an end between which
    /// there is a slash.
    pub propose: Option<String>,
    /// Whom to forward it to.
    pub to: Vec<String>,
    /// True to tell the organizer; so unless said otherwise.
    pub notify: bool,
}

/// What to do with an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Answer it.
    Answer(Answer),
    /// Send it on.
    Forward,
}

/// A change of how things are set up, as asked for.
#[derive(Debug, Clone)]
pub struct Manage {
    /// What it is about.
    pub kind: ManageKind,
    /// What to do.
    pub op: ManageOp,
    /// The thing, by name or id.
    pub id: Option<String>,
    /// The new name.
    pub name: Option<String>,
    /// Columns of the kind's table that are to be so.
    pub set: Map<String, Value>,
    /// The zone of a new calendar.
    pub tz: Option<String>,
    /// The account by address.
    pub account: Option<String>,
    /// True to change nothing and tell what would happen.
    pub dry_run: bool,
}

/// What is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManageKind {
    /// A calendar.
    Calendar,
    /// A folder of Outlook, a label of Gmail.
    Folder,
    /// What messages are marked with: a label of Gmail, a category of Outlook.
    Category,
    /// What is done with mail that comes in.
    Rule,
    /// A contact.
    Contact,
    /// The answer that is sent by itself.
    AutoReply,
    /// What stands below letters.
    Signature,
    /// Language and zone.
    Settings,
}

/// What to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManageOp {
    /// Make one.
    Create,
    /// Change what is said of it.
    Update,
    /// Call it otherwise.
    Rename,
    /// Delete it.
    Delete,
    /// Do what it says with what is there already: rules.
    Run,
}

pub(super) fn delete(args: &Args) -> Result<Delete> {
    Ok(Delete {
        id: args.text("id")?.unwrap_or_default(),
        scope: scope(args)?,
        message: args.text("message")?,
        notify: notify(args)?,
    })
}

pub(super) fn respond(args: &Args) -> Result<Respond> {
    let to = args.list("to")?.unwrap_or_default();
    let response = match args.choice("response")? {
        Some("decline") => Reply::Answer(Answer::Declined),
        Some("tentative") => Reply::Answer(Answer::Tentative),
        Some("forward") => Reply::Forward,
        _ => Reply::Answer(Answer::Accepted),
    };
    match (response, to.is_empty()) {
        (Reply::Forward, true) => {
            return Err(Error::argument("forwarding needs `to`").next("give addresses in `to`"));
        }
        (Reply::Answer(_), false) => {
            return Err(Error::argument("`to` is for response=forward")
                .next("leave it out: the organizer gets the answer"));
        }
        _ => {}
    }
    Ok(Respond {
        id: args.text("id")?.unwrap_or_default(),
        response,
        scope: scope(args)?,
        comment: args.text("comment")?,
        propose: args.text("propose")?,
        to,
        notify: notify(args)? != Some(Notify::Nobody),
    })
}

pub(super) fn manage(args: &Args) -> Result<Manage> {
    Ok(Manage {
        kind: match args.choice("kind")? {
            Some("folder") => ManageKind::Folder,
            Some("label" | "category") => ManageKind::Category,
            Some("rule") => ManageKind::Rule,
            Some("contact") => ManageKind::Contact,
            Some("auto_reply") => ManageKind::AutoReply,
            Some("signature") => ManageKind::Signature,
            Some("settings") => ManageKind::Settings,
            _ => ManageKind::Calendar,
        },
        set: args.object("set")?.unwrap_or_default(),
        op: match args.choice("op")? {
            Some("rename") => ManageOp::Rename,
            Some("delete") => ManageOp::Delete,
            Some("update") => ManageOp::Update,
            Some("run") => ManageOp::Run,
            _ => ManageOp::Create,
        },
        id: args.text("id")?,
        name: args.text("name")?,
        tz: args.text("tz")?,
        account: args.text("account")?,
        dry_run: args.switch("dry_run")?,
    })
}
