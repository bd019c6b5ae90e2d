//! Writes to mail: the methods, and their permissions.
//!
//! Drafts, sending, moving, attachments, folders, rules and settings each have a file of their own;
//! all share `context.rs`. A write changes the mailbox, and is answered from the state after it.

mod body;
pub(super) mod categories;
pub(super) mod contacts;
mod context;
mod drafts;
pub(super) mod file;
mod flag;
mod folders_write;
mod moving;
pub(super) mod read;
pub(super) mod reply_body;
pub(super) mod rules;
pub(super) mod send;
mod settings;
pub(super) mod upload;

use context::MailContext;
use reply_body::ReplyKind;

use super::access::let_in;
use super::error::GraphError;
use super::params::PreferHeader;
use super::response::GraphResponse;
use crate::auth::tokens::TokenAccess;
use crate::http::HttpRequest;
use crate::state::RequestState;

/// A write, with the ids of its path.
#[derive(Debug, Clone, Copy)]
pub(super) enum WriteCall<'a> {
    /// Creates a draft.
    Create,
    Change(&'a str),
    Delete(&'a str),
    Erase(&'a str),
    Move(&'a str),
    Copy(&'a str),
    /// Creates a draft that replies to or forwards a message.
    Reply(&'a str, ReplyKind),
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

impl WriteCall<'_> {
    /// Returns the permissions for one's own mailbox and for another person's. Any one of them is
    /// enough.
    fn permissions(&self) -> [&'static [&'static str]; 2] {
        match self {
            // Sending needs no permission to write, and writing does not include sending.
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

/// Carries out a write.
pub(super) fn handle(
    state: &RequestState,
    request: &HttpRequest,
    user: Option<&str>,
    access: &TokenAccess,
    call: WriteCall<'_>,
) -> Result<GraphResponse, GraphError> {
    let store = let_in(state, access, user, call.permissions())?;
    let prefer = PreferHeader::read(request);
    let context = MailContext {
        state,
        request,
        access,
        address: store.mailbox.address.clone(),
        prefer: &prefer,
    };
    let reply = match call {
        WriteCall::Create => drafts::create(&context),
        WriteCall::Change(id) => drafts::change(&context, id),
        WriteCall::Reply(id, how) => drafts::answer(&context, id, how),
        WriteCall::Send(id) => send::send(&context, id),
        WriteCall::Delete(id) => moving::delete(&context, id),
        WriteCall::Erase(id) => moving::erase(&context, id),
        WriteCall::Move(id) => moving::relocate(&context, id),
        WriteCall::Copy(id) => moving::copy(&context, id),
        WriteCall::Attach(id) => upload::attach(&context, id),
        WriteCall::Detach(id, part) => upload::detach(&context, id, part),
        WriteCall::Session(id) => upload::begin(&context, id),
        WriteCall::CreateFolder(parent) => folders_write::create(&context, parent),
        WriteCall::ChangeFolder(id) => folders_write::rename(&context, id),
        WriteCall::DeleteFolder(id) => folders_write::delete(&context, id),
        WriteCall::CreateRule(folder) => rules::create(&context, folder),
        WriteCall::ChangeRule(folder, id) => rules::change(&context, folder, id),
        WriteCall::DeleteRule(folder, id) => rules::delete(&context, folder, id),
        WriteCall::Settings => settings::change(&context),
        WriteCall::CreateCategory => categories::create(&context),
        WriteCall::ChangeCategory(id) => categories::change(&context, id),
        WriteCall::DeleteCategory(id) => categories::delete(&context, id),
        WriteCall::CreateContact => contacts::create(&context),
        WriteCall::ChangeContact(id) => contacts::change(&context, id),
        WriteCall::DeleteContact(id) => contacts::delete(&context, id),
    }?;
    Ok(GraphResponse { applied: prefer.applied.clone(), ..reply })
}
