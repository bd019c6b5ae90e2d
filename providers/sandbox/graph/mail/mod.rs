//! Mail that is written through Graph: which writes there are, who may, and
//! what all of them share.
//!
//! What each write does is in a file of its own: drafts, sending, moving,
//! attachments, folders, rules, settings. A write changes the mailbox and is
//! answered from the state that comes of it.

mod body;
pub(super) mod categories;
pub(super) mod contacts;
mod drafts;
mod flag;
mod folders_write;
mod moving;
mod quote;
pub(super) mod read;
pub(super) mod rules;
pub(super) mod send;
mod settings;
pub(super) mod upload;

use hyper::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::answer::Asked;
use super::error::{Refusal, conflict, denied, not_found};
use super::exchange::Store;
use super::exchange::folders;
use super::exchange::office::{Notes, Office};
use super::pages;
use super::params::{Options, Prefer};
use super::{Body, Reply};
use crate::providers::sandbox::auth::tokens::Access;
use crate::providers::sandbox::http::Request;
use crate::providers::sandbox::state::State;
use crate::providers::sandbox::store::letter::Letter;
use crate::providers::sandbox::store::mailbox::change::Change;
use drafts::How;
use read::message;

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

/// A write that was let in, and the mailbox it is for.
pub(super) struct Desk<'a> {
    /// All there is.
    pub state: &'a State,
    /// The request.
    pub request: &'a Request,
    /// What its token allows.
    pub access: &'a Access,
    /// Whose mailbox it is.
    pub address: String,
    /// Its preferences.
    pub prefer: &'a Prefer,
    /// The folder that a message is looked for in.
    folder: Option<&'a str>,
}

/// Carries a write out.
pub(super) fn carry_out(
    state: &State,
    request: &Request,
    user: Option<&str>,
    access: &Access,
    (call, folder): (Call<'_>, Option<&str>),
) -> Result<Reply, Refusal> {
    let store = super::let_in(state, access, user, call.permissions())?;
    let prefer = Prefer::read(request);
    let desk = Desk {
        state,
        request,
        access,
        address: store.mailbox.address.clone(),
        prefer: &prefer,
        folder,
    };
    let reply = match call {
        Call::Create(folder) => drafts::create(&desk, folder),
        Call::Change(id) => drafts::change(&desk, id),
        Call::Answer(id, how, false) => drafts::answer(&desk, id, how),
        Call::Answer(id, how, true) => send::answer(&desk, id, how),
        Call::Send(id) => send::send(&desk, id),
        Call::SendMail => send::send_mail(&desk),
        Call::Delete(id) => moving::delete(&desk, id),
        Call::Erase(id) => moving::erase(&desk, id),
        Call::Move(id) => moving::relocate(&desk, id),
        Call::Copy(id) => moving::copy(&desk, id),
        Call::Attach(id) => upload::attach(&desk, id),
        Call::Detach(id, part) => upload::detach(&desk, id, part),
        Call::Session(id) => upload::begin(&desk, id),
        Call::CreateFolder(parent) => folders_write::create(&desk, parent),
        Call::ChangeFolder(id) => folders_write::rename(&desk, id),
        Call::DeleteFolder(id) => folders_write::delete(&desk, id),
        Call::MoveFolder(id) => folders_write::relocate(&desk, id),
        Call::CreateRule(folder) => rules::create(&desk, folder),
        Call::ChangeRule(folder, id) => rules::change(&desk, folder, id),
        Call::DeleteRule(folder, id) => rules::delete(&desk, folder, id),
        Call::Settings => settings::change(&desk),
        Call::CreateCategory => categories::create(&desk),
        Call::ChangeCategory(id) => categories::change(&desk, id),
        Call::DeleteCategory(id) => categories::delete(&desk, id),
        Call::CreateContact => contacts::create(&desk),
        Call::ChangeContact(id) => contacts::change(&desk, id),
        Call::DeleteContact(id) => contacts::delete(&desk, id),
    }?;
    Ok(Reply { applied: prefer.applied.clone(), ..reply })
}

impl<'a> Desk<'a> {
    /// The mailbox as it is now.
    pub fn store(&self) -> Result<Store<'a>, Refusal> {
        Store::of(self.state, &self.address).ok_or_else(denied)
    }

    /// The letter of an id, where the path says it is.
    pub fn letter(&self, id: &str) -> Result<&'a Letter, Refusal> {
        let store = self.store()?;
        let letter = store.letter(id)?;
        let folder = self.folder.map(|id| store.folder(id)).transpose()?;
        match folder.is_some_and(|folder| folder.number != folders::number_of(letter)) {
            true => Err(not_found()),
            false => Ok(letter),
        }
    }

    /// The letter of an id, unless somebody was quicker than who writes.
    pub fn current(&self, id: &str) -> Result<&'a Letter, Refusal> {
        let letter = self.letter(id)?;
        let wanted = self.request.header("if-match").map(str::trim);
        let key = self.store()?.change_key(letter);
        let same = |wanted: &str| {
            let wanted = wanted.strip_prefix("W/").unwrap_or(wanted);
            wanted == "*" || wanted.trim_matches('"') == key
        };
        match wanted.is_none_or(same) {
            true => Ok(letter),
            false => Err(conflict()),
        }
    }

    /// Changes the mailbox; the id of the letter that the change was about.
    pub fn change(&self, change: Change) -> Result<u64, Refusal> {
        let about = self.state.change(&self.address, |_| Some(change));
        about.ok_or_else(not_found)
    }

    /// Reads or changes what only this half keeps of the mailbox.
    pub fn with<T>(&self, then: impl FnOnce(&mut Office) -> T) -> T {
        self.state.graph.office(&self.address, then)
    }

    /// Notes something of a letter, now.
    pub fn note(&self, letter: u64, change: impl FnOnce(&mut Notes)) {
        self.with(|office| {
            office.note(letter, |notes| {
                notes.changed = Some(now());
                change(notes);
            });
        });
    }

    /// The address of something of the mailbox, as answers give it.
    pub fn location(&self, path: &str) -> Result<String, Refusal> {
        let base = pages::base(self.request);
        let user = self.store()?.ids().mailbox();
        Ok(format!("{base}/v1.0/users('{user}')/{path}"))
    }

    /// The answer with a message, as it is now.
    pub fn told(&self, id: u64, status: StatusCode) -> Result<Reply, Refusal> {
        let store = self.store()?;
        let letter = store.mailbox.letter(id).ok_or_else(not_found)?;
        let options = Options::default();
        let message = message::message(store, letter, &options, self.prefer)?;
        let id = store.message_id(letter, self.prefer.immutable);
        self.entity(message, "messages", &format!("messages('{id}')"), status)
    }

    /// The answer with an entity; `of` is the set it is one of.
    pub fn entity(
        &self,
        members: Map<String, Value>,
        of: &str,
        path: &str,
        status: StatusCode,
    ) -> Result<Reply, Refusal> {
        let store = self.store()?;
        let options = Options::default();
        let asked = Asked {
            state: self.state,
            request: self.request,
            store,
            options: &options,
            prefer: self.prefer,
            epoch: self.state.graph.epoch(),
        };
        let created = status == StatusCode::CREATED;
        let location = created.then(|| self.location(path)).transpose()?;
        Ok(Reply { status, location, ..Reply::of(asked.single(members, of)) })
    }
}

/// The time of now in milliseconds.
pub(super) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// The answer that all went well, with nothing to say.
pub(super) fn done() -> Reply {
    Reply::done(StatusCode::NO_CONTENT)
}

/// The answer that it will be done.
pub(super) fn accepted() -> Reply {
    Reply { status: StatusCode::ACCEPTED, ..Reply::of(Body::Nothing) }
}
