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
pub(super) mod quote;
pub(super) mod read;
pub(super) mod rules;
pub(super) mod send;
mod settings;
pub(super) mod upload;

use super::access::let_in;
use super::error::GraphError;
use super::params::Prefer;
use super::response::GraphResponse;
use crate::auth::tokens::Access;
use crate::http::Request;
use crate::state::State;
use context::Context;
use quote::ReplyKind;

/// A write, with the ids of its path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Call<'a> {
    /// A draft is made.
    Create,
    Change(&'a str),
    Delete(&'a str),
    Erase(&'a str),
    Move(&'a str),
    Copy(&'a str),
    /// A draft is made that answers a message.
    Answer(&'a str, ReplyKind),
    Send(&'a str),
    Attach(&'a str),
    Detach(&'a str, &'a str),
    Session(&'a str),
    CreateFolder(Option<&'a str>),
    ChangeFolder(&'a str),
    DeleteFolder(&'a str),
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

impl Call<'_> {
    /// The permissions of which one is enough, for one's own mailbox and for
    /// another's.
    fn permissions(&self) -> [&'static [&'static str]; 2] {
        match self {
            Self::Send(_) => [&["Mail.Send"], &["Mail.Send.Shared"]],
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

/// Carries a write out.
pub(super) fn handle(
    state: &State,
    request: &Request,
    user: Option<&str>,
    access: &Access,
    call: Call<'_>,
) -> Result<GraphResponse, GraphError> {
    let store = let_in(state, access, user, call.permissions())?;
    let prefer = Prefer::read(request);
    let context =
        Context { state, request, access, address: store.mailbox.address.clone(), prefer: &prefer };
    let reply = match call {
        Call::Create => drafts::create(&context),
        Call::Change(id) => drafts::change(&context, id),
        Call::Answer(id, how) => drafts::answer(&context, id, how),
        Call::Send(id) => send::send(&context, id),
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
    Ok(GraphResponse { applied: prefer.applied.clone(), ..reply })
}
