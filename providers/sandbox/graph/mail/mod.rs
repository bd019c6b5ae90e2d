//! Mail that is written through Graph: which writes there are, and who may.
//!
//! What each write does is in a file of its own: drafts, sending, moving,
//! attachments, folders, rules, settings; what all share is in `context.rs`. A write changes the mailbox and is
//! answered from the state that comes of it.

mod body;
pub(super) mod categories;
pub(super) mod contacts;
mod context;
mod drafts;
pub(super) mod file;
mod flag;
mod folders_write;
mod moving;
mod quote;
pub(super) mod read;
pub(super) mod rules;
pub(super) mod send;
mod settings;
pub(super) mod upload;

use hyper::Method;

use super::access::let_in;
use super::error::Refusal;
use super::params::Prefer;
use super::response::Reply;
use crate::auth::tokens::Access;
use crate::http::Request;
use crate::state::State;
use context::Context;
use quote::How;

/// A write, with the ids of its path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Call<'a> {
    /// A draft is made, in a folder.
    Create(Option<&'a str>),
    Change(&'a str),
    Delete(&'a str),
    Erase(&'a str),
    Move(&'a str),
    Copy(&'a str),
    /// An answer is made, and sent at once where that is said.
    Answer(&'a str, How, bool),
    Send(&'a str),
    SendMail,
    Attach(&'a str),
    Detach(&'a str, &'a str),
    Session(&'a str),
    CreateFolder(Option<&'a str>),
    ChangeFolder(&'a str),
    DeleteFolder(&'a str),
    MoveFolder(&'a str),
    CreateRule(&'a str),
    ChangeRule(&'a str, &'a str),
    DeleteRule(&'a str, &'a str),
    Settings,
    CreateCategory,
    ChangeCategory(&'a str),
    DeleteCategory(&'a str),
    CreateContact,
    ChangeContact(&'a str),
    DeleteContact(&'a str),
}

impl<'a> Call<'a> {
    /// The write of a path below the user, and the folder that a message is
    /// looked for in. `Err` are the methods of a path that has this one not.
    pub fn of(
        method: &Method,
        path: &[&'a str],
    ) -> Option<Result<(Self, Option<&'a str>), &'static str>> {
        let (path, folder): (Vec<&'a str>, _) = match path {
            ["mailFolders", folder, "messages", rest @ ..] if !rest.is_empty() => {
                (["messages"].iter().chain(rest).copied().collect(), Some(*folder))
            }
            path => (path.to_vec(), None),
        };
        let calls = Self::calls(&path)?;
        let found = calls.iter().find(|(known, _)| known == method);
        Some(match found {
            Some((_, call)) => Ok((*call, folder)),
            None => Err(allowed(&path)),
        })
    }

    /// The writes of a path by their methods; nothing for a path that has none.
    fn calls(path: &[&'a str]) -> Option<Vec<(Method, Self)>> {
        const POST: Method = Method::POST;
        const PATCH: Method = Method::PATCH;
        const DELETE: Method = Method::DELETE;
        Some(match *path {
            ["messages"] => vec![(POST, Self::Create(None))],
            ["mailFolders", folder, "messages"] => vec![(POST, Self::Create(Some(folder)))],
            ["sendMail"] | ["microsoft.graph.sendMail"] => vec![(POST, Self::SendMail)],
            ["messages", id] => vec![(PATCH, Self::Change(id)), (DELETE, Self::Delete(id))],
            ["messages", id, "attachments"] => vec![(POST, Self::Attach(id))],
            ["messages", id, "attachments", "createUploadSession"] => {
                vec![(POST, Self::Session(id))]
            }
            ["messages", id, "attachments", part] => vec![(DELETE, Self::Detach(id, part))],
            ["messages", id, action] => {
                let action = action.strip_prefix("microsoft.graph.").unwrap_or(action);
                let call = match action {
                    "move" => Self::Move(id),
                    "copy" => Self::Copy(id),
                    "permanentDelete" => Self::Erase(id),
                    "send" => Self::Send(id),
                    "createReply" => Self::Answer(id, How::Reply, false),
                    "createReplyAll" => Self::Answer(id, How::ReplyAll, false),
                    "createForward" => Self::Answer(id, How::Forward, false),
                    "reply" => Self::Answer(id, How::Reply, true),
                    "replyAll" => Self::Answer(id, How::ReplyAll, true),
                    "forward" => Self::Answer(id, How::Forward, true),
                    _ => return None,
                };
                vec![(POST, call)]
            }
            ["mailFolders"] => vec![(POST, Self::CreateFolder(None))],
            ["mailFolders", id] => {
                vec![(PATCH, Self::ChangeFolder(id)), (DELETE, Self::DeleteFolder(id))]
            }
            ["mailFolders", id, "childFolders"] => vec![(POST, Self::CreateFolder(Some(id)))],
            ["mailFolders", id, "move"] => vec![(POST, Self::MoveFolder(id))],
            ["mailFolders", id, "messageRules"] => vec![(POST, Self::CreateRule(id))],
            ["mailFolders", id, "messageRules", rule] => {
                vec![(PATCH, Self::ChangeRule(id, rule)), (DELETE, Self::DeleteRule(id, rule))]
            }
            ["mailboxSettings"] => vec![(PATCH, Self::Settings)],
            ["outlook", "masterCategories"] => vec![(POST, Self::CreateCategory)],
            ["outlook", "masterCategories", id] => {
                vec![(PATCH, Self::ChangeCategory(id)), (DELETE, Self::DeleteCategory(id))]
            }
            ["contacts"] => vec![(POST, Self::CreateContact)],
            ["contacts", id] => {
                vec![(PATCH, Self::ChangeContact(id)), (DELETE, Self::DeleteContact(id))]
            }
            _ => return None,
        })
    }

    /// The permissions of which one is enough, for one's own mailbox and for
    /// another's.
    fn permissions(&self) -> [&'static [&'static str]; 2] {
        match self {
            Self::Send(_) | Self::SendMail | Self::Answer(_, _, true) => {
                [&["Mail.Send"], &["Mail.Send.Shared"]]
            }
            Self::CreateRule(_)
            | Self::ChangeRule(..)
            | Self::DeleteRule(..)
            | Self::Settings
            | Self::CreateCategory
            | Self::ChangeCategory(_)
            | Self::DeleteCategory(_) => [&["MailboxSettings.ReadWrite"], &[]],
            Self::CreateContact | Self::ChangeContact(_) | Self::DeleteContact(_) => {
                [&["Contacts.ReadWrite"], &["Contacts.ReadWrite.Shared"]]
            }
            _ => [&["Mail.ReadWrite"], &["Mail.ReadWrite.Shared"]],
        }
    }
}

/// The methods of a path.
fn allowed(path: &[&str]) -> &'static str {
    match path {
        ["messages" | "mailFolders" | "contacts"]
        | ["mailFolders", _, "messages" | "childFolders" | "messageRules"]
        | ["messages", _, "attachments"]
        | ["outlook", "masterCategories"] => "GET, POST",
        ["messages" | "mailFolders" | "contacts", _]
        | ["mailFolders", _, "messageRules", _]
        | ["outlook", "masterCategories", _] => "GET, PATCH, DELETE",
        ["messages", _, "attachments", name] if *name != "createUploadSession" => "GET, DELETE",
        ["mailboxSettings"] => "GET, PATCH",
        _ => "POST",
    }
}

/// Carries a write out.
pub(super) fn carry_out(
    state: &State,
    request: &Request,
    user: Option<&str>,
    access: &Access,
    (call, folder): (Call<'_>, Option<&str>),
) -> Result<Reply, Refusal> {
    let store = let_in(state, access, user, call.permissions())?;
    let prefer = Prefer::read(request);
    let context = Context {
        state,
        request,
        access,
        address: store.mailbox.address.clone(),
        prefer: &prefer,
        folder,
    };
    let reply = match call {
        Call::Create(folder) => drafts::create(&context, folder),
        Call::Change(id) => drafts::change(&context, id),
        Call::Answer(id, how, false) => drafts::answer(&context, id, how),
        Call::Answer(id, how, true) => send::answer(&context, id, how),
        Call::Send(id) => send::send(&context, id),
        Call::SendMail => send::send_mail(&context),
        Call::Delete(id) => moving::delete(&context, id),
        Call::Erase(id) => moving::erase(&context, id),
        Call::Move(id) => moving::relocate(&context, id),
        Call::Copy(id) => moving::copy(&context, id),
        Call::Attach(id) => upload::attach(&context, id),
        Call::Detach(id, part) => upload::detach(&context, id, part),
        Call::Session(id) => upload::begin(&context, id),
        Call::CreateFolder(parent) => folders_write::create(&context, parent),
        Call::ChangeFolder(id) => folders_write::rename(&context, id),
        Call::DeleteFolder(id) => folders_write::delete(&context, id),
        Call::MoveFolder(id) => folders_write::relocate(&context, id),
        Call::CreateRule(folder) => rules::create(&context, folder),
        Call::ChangeRule(folder, id) => rules::change(&context, folder, id),
        Call::DeleteRule(folder, id) => rules::delete(&context, folder, id),
        Call::Settings => settings::change(&context),
        Call::CreateCategory => categories::create(&context),
        Call::ChangeCategory(id) => categories::change(&context, id),
        Call::DeleteCategory(id) => categories::delete(&context, id),
        Call::CreateContact => contacts::create(&context),
        Call::ChangeContact(id) => contacts::change(&context, id),
        Call::DeleteContact(id) => contacts::delete(&context, id),
    }?;
    Ok(Reply { applied: prefer.applied.clone(), ..reply })
}
